//! Looking on while a machine runs.

use crate::{ClockChange, Trace};

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
/// The loops over the instructions are compiled for no observer, too: with [`NoObserver`] looking on costs nothing.
pub trait Observer {
    /// Whether it wants to be told anything.
    #[must_use]
    fn enabled() -> bool
    where
        Self: Sized,
    {
        true
    }
    /// An instruction is about to execute.
    fn step(&mut self, step: &Step) {
        let _ = step;
    }
    /// An interrupt was taken, whose handler's first instruction is the next step; it found the stack pointer `sp`, as a [`Step`] has
    /// it. A return from it to another one changes tasks. An instruction that calls a handler itself says nothing.
    fn interrupt(&mut self, sp: u32) {
        let _ = sp;
    }
    /// An instruction read or wrote data.
    fn access(&mut self, access: &Access) {
        let _ = access;
    }
    /// An output pin changed.
    fn pin(&mut self, edge: &PinEdge<'_>) {
        let _ = edge;
    }
    /// The core's clock changed; never where it was given from outside.
    fn clock(&mut self, change: &ClockChange) {
        let _ = change;
    }
    /// A byte left a UART, complete at `cycles`.
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        let _ = (port, byte, cycles);
    }
}

/// Observes nothing.
pub struct NoObserver;

impl Observer for NoObserver {
    fn enabled() -> bool {
        false
    }
}

/// Any observer. The loops over the instructions are compiled for this one and for [`NoObserver`]: each takes as long to build as all
/// peripherals do.
pub(crate) enum AnyObserver<'a> {
    /// One that is told so often that a call through a table would cost a fifth.
    Trace(&'a mut Trace),
    /// Another.
    Other(&'a mut dyn Observer),
}

impl Observer for AnyObserver<'_> {
    #[inline]
    fn step(&mut self, step: &Step) {
        match self {
            AnyObserver::Trace(trace) => trace.step(step),
            AnyObserver::Other(observer) => observer.step(step),
        }
    }
    #[inline(never)]
    fn access(&mut self, access: &Access) {
        match self {
            AnyObserver::Trace(trace) => trace.access(access),
            AnyObserver::Other(observer) => observer.access(access),
        }
    }
    // A trace is told nothing of these.
    fn interrupt(&mut self, sp: u32) {
        if let AnyObserver::Other(observer) = self {
            observer.interrupt(sp);
        }
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if let AnyObserver::Other(observer) = self {
            observer.pin(edge);
        }
    }
    fn clock(&mut self, change: &ClockChange) {
        if let AnyObserver::Other(observer) = self {
            observer.clock(change);
        }
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        if let AnyObserver::Other(observer) = self {
            observer.uart(port, byte, cycles);
        }
    }
}

/// An observer as peripherals are told of it: `None` for one that wants to be told nothing.
#[inline(always)]
pub(crate) fn dynamic<O: Observer>(observer: &mut O) -> Option<&mut (dyn Observer + '_)> {
    if O::enabled() { Some(observer) } else { None }
}
