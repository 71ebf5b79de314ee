//! Errors with which a model stops.

use thiserror::Error;

/// A model stops with a fault where the real part would misbehave, or where the model does not know
/// what the real part would do. It never guesses and never carries on silently.
///
/// `pc` is the address of the instruction that was executing, in the address space of its ELF file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// An opcode that the core does not have, or that is not modelled.
    #[error("no such instruction at {pc:#07x} (bytes {bytes:02x?})")]
    Opcode {
        /// Address of the instruction.
        pc: u32,
        /// The bytes found there, in memory order.
        bytes: Vec<u8>,
    },
    /// An access to an address where the part has neither memory nor a modelled register.
    #[error("{kind} of {size} byte(s) at {address:#010x}, where nothing is modelled (pc {pc:#07x})")]
    Unmapped {
        /// Address of the instruction.
        pc: u32,
        /// The address accessed.
        address: u32,
        /// Bytes: 1, 2, 4 or 8.
        size: u8,
        /// `read`, `write` or `fetch`.
        kind: &'static str,
    },
    /// An access to a modelled register in a way that is not modelled or not allowed.
    #[error("{device}: {what} (address {address:#010x}, pc {pc:#07x})")]
    Peripheral {
        /// Address of the instruction.
        pc: u32,
        /// The register's address.
        address: u32,
        /// The peripheral's name in the target file.
        device: String,
        /// The operation that was tried.
        what: String,
    },
    /// An access to a bit-band alias cannot be made to the word behind it (DDI 0403E,
    /// "Bit-banding").
    #[error("{fault}; the program used the bit-band alias {alias:#010x} of a bit there")]
    BitBand {
        /// The address in the program.
        alias: u32,
        /// The fault of the access to the word.
        fault: Box<Fault>,
    },
    /// The architecture forbids the access: misalignment, a write to flash, execution from where
    /// none is possible.
    #[error("{what} (address {address:#010x}, pc {pc:#07x})")]
    Architecture {
        /// Address of the instruction.
        pc: u32,
        /// The address accessed, or the value at fault.
        address: u32,
        /// The rule that was broken.
        what: String,
    },
    /// The reset handler returned to where nobody had called it, after `main` had.
    #[error("the reset handler returned (pc {pc:#07x})")]
    Returned {
        /// Address of the instruction that returned.
        pc: u32,
    },
    /// The image has bytes where the part has no memory.
    #[error("the image has {size} byte(s) at {address:#010x}, where {part} has no memory")]
    Load {
        /// First address of the segment.
        address: u32,
        /// Its length in bytes.
        size: u32,
        /// The part's name.
        part: String,
    },
}

/// The device that a fault names where the private peripheral bus of a Cortex-M refuses an access.
pub const SYSTEM_CONTROL_SPACE: &str = "system control space";

/// A fault whose handler the core entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnteredFault {
    /// Its exception: `HardFault`, `MemManage`, `BusFault` or `UsageFault`.
    pub exception: &'static str,
    /// The program's fault.
    pub fault: Fault,
    /// The cycles after the entry.
    pub cycles: u64,
}

impl Fault {
    /// The instruction at fault, where there is one.
    #[must_use]
    pub fn pc(&self) -> Option<u32> {
        match self {
            Fault::Opcode { pc, .. }
            | Fault::Unmapped { pc, .. }
            | Fault::Peripheral { pc, .. }
            | Fault::Architecture { pc, .. }
            | Fault::Returned { pc } => Some(*pc),
            Fault::BitBand { fault, .. } => fault.pc(),
            Fault::Load { .. } => None,
        }
    }
}
