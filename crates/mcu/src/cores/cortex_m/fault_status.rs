//! Faults that the core takes itself, and the registers that say which.
//!
//! DDI 0403E, B3.2.15 to B3.2.18: CFSR, HFSR, MMFAR, BFAR.

use crate::{EnteredFault, Fault};

/// Operation that an instruction cannot carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trap {
    /// There is no such instruction.
    Undefined,
    /// A branch to this address would leave Thumb state.
    State(u32),
    /// The floating-point unit is off or absent.
    Coprocessor,
    /// An access is misaligned.
    Unaligned,
    /// A division by zero with CCR.DIV_0_TRP.
    DivideByZero,
    /// The bus has nothing at this address, or keeps it from the program.
    Read(u32),
    /// As [`Trap::Read`] of a store, which the core does not wait for.
    Write,
    /// The bus has no instruction at this address.
    Fetch(u32),
    /// The MPU forbids a data access.
    Forbidden(u32),
    /// The MPU or the default memory map forbids execution at this address.
    ForbiddenFetch(u32),
    /// SVC at a priority that does not allow it.
    Blocked,
}

/// The fault status registers.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultStatus {
    /// CFSR.
    pub configurable: u32,
    /// HFSR.
    pub hard: u32,
    /// MMFAR.
    pub memory_address: u32,
    /// BFAR.
    pub bus_address: u32,
}

/// Faults taken by the part's own handlers.
#[derive(Clone, Debug, Default)]
pub(super) struct Traps {
    /// Faults enter their handlers; otherwise they end the run.
    pub enter: bool,
    /// Trap of the instruction under way, where it has no [`Fault`] of its own.
    pub cause: Option<Trap>,
    /// The faults whose handlers were entered, the first ones.
    pub entered: Vec<EnteredFault>,
    /// The last of them.
    pub last: Option<Fault>,
}
