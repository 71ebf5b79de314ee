//! Looking on while a machine runs.

/// How execution came to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The first instruction of this run, or after a reset within it.
    Start,
    /// From the instruction before it in memory, or within a repeated instruction.
    Next,
    /// A jump or taken branch.
    Jump,
    /// A call; `return_to` is the address it will return to.
    Call {
        /// Where the matching return goes.
        return_to: u32,
    },
    /// A return from a subroutine.
    Return,
    /// An interrupt or exception was entered; `return_to` is the interrupted instruction.
    Interrupt {
        /// Where the matching return goes.
        return_to: u32,
    },
    /// A return from an interrupt or exception.
    InterruptReturn,
}

/// An instruction is about to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its address, as in the ELF file (AVR: byte address; Thumb: bit 0 clear).
    pub pc: u32,
    /// The stack pointer before it executes (AVR: a data-space address without the ELF's 0x800000).
    pub sp: u32,
    /// Cycles since reset up to its start: all that came before is included.
    pub cycles: u64,
    /// How execution came here.
    pub flow: Flow,
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A data read (instruction fetches are not reported).
    Read,
    /// A data write.
    Write,
}

/// A data access by an instruction, in ELF addresses (AVR data space: from 0x800000).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The instruction.
    pub pc: u32,
    /// First byte accessed.
    pub address: u32,
    /// Bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// Read or write.
    pub kind: AccessKind,
    /// The value read or written, zero-extended.
    pub value: u64,
    /// Cycles since reset at the start of the instruction.
    pub cycles: u64,
}

/// A pin of a port changed its output level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinEdge<'a> {
    /// The port's name in the target file: `PORTB`, `P1`, `GPIOD`.
    pub port: &'a str,
    /// The bit, from 0.
    pub pin: u8,
    /// The new level.
    pub high: bool,
    /// Cycles since reset at the end of the instruction that changed it.
    pub cycles: u64,
}

/// Looks on while a machine runs. Every method does nothing unless overridden.
///
/// `Machine::run` without an observer is compiled apart: what is not looked at costs nothing.
pub trait Observer {
    /// An instruction is about to execute.
    fn step(&mut self, step: &Step) {
        let _ = step;
    }
    /// An instruction read or wrote data.
    fn access(&mut self, access: &Access) {
        let _ = access;
    }
    /// An output pin changed.
    fn pin(&mut self, edge: &PinEdge<'_>) {
        let _ = edge;
    }
    /// A byte left a UART, complete at `cycles`.
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        let _ = (port, byte, cycles);
    }
}

/// Looks at nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

/// Someone who looks on, or no one; compiled apart.
pub(crate) trait Watch {
    /// Whether there is someone.
    const ON: bool;
    /// Who it is.
    fn observer(&mut self) -> Option<&mut (dyn Observer + '_)>;
    /// Tells of an instruction.
    fn step(&mut self, step: &Step) {
        if let Some(observer) = self.observer() {
            observer.step(step);
        }
    }
    /// Tells of an access.
    fn access(&mut self, access: &Access) {
        if let Some(observer) = self.observer() {
            observer.access(access);
        }
    }
}

/// No one looks on.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    const ON: bool = false;
    fn observer(&mut self) -> Option<&mut (dyn Observer + '_)> {
        None
    }
}

/// An observer looks on.
pub(crate) struct Watched<'a>(pub &'a mut dyn Observer);

impl Watch for Watched<'_> {
    const ON: bool = true;
    fn observer(&mut self) -> Option<&mut (dyn Observer + '_)> {
        Some(&mut *self.0)
    }
}
