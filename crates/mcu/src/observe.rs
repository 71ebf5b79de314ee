//! Looking on while a machine runs.

use crate::{ClockChange, Taint, Trace};

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

/// A port drives other pins than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinDirections<'a> {
    /// The port's name in the target file.
    pub port: &'a str,
    /// The pins that it drives from now on, a bit each.
    pub driven: u32,
    /// Cycles since reset, as in [`PinEdge::cycles`].
    pub cycles: u64,
}

/// The core sleeps for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepInterval {
    /// The mode's name as the target file's `[[supply.sleep]]` has it; `None` where the family's modes are not told apart.
    pub mode: Option<&'static str>,
    /// Cycles since reset at which it begins.
    pub from: u64,
    /// Cycles since reset up to which it sleeps at least: it may sleep on, as the next interval says.
    pub to: u64,
    /// What it goes on with if no interrupt comes. An interrupt's handler that puts the core to sleep by its return has returned.
    pub next: Step,
}

/// The output of a digital-to-analog converter changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DacStep<'a> {
    /// The converter's name in the target file.
    pub device: &'a str,
    /// Which of its channels, from 1.
    pub channel: u8,
    /// The new voltage; none while the channel is off.
    pub volts: Option<f64>,
    /// Cycles since reset at the change.
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
    /// The condition of the instruction under way does not hold: it does nothing (Cortex-M, in an IT block).
    fn skipped(&mut self) {}
    /// Instructions from here on have the registers of this bank (R8C, 8051); also told at the beginning of a run.
    fn bank(&mut self, bank: u8) {
        let _ = bank;
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
    /// A port may drive other pins than before. Ports of the R8C, the 8051 and the 68HC08 do not say.
    fn directions(&mut self, directions: &PinDirections<'_>) {
        let _ = directions;
    }
    /// The core sleeps.
    fn sleep(&mut self, interval: &SleepInterval) {
        let _ = interval;
    }
    /// The part was reset within a run, at this many cycles.
    fn reset(&mut self, cycles: u64) {
        let _ = cycles;
    }
    /// The core's clock changed; never where it was given from outside.
    fn clock(&mut self, change: &ClockChange) {
        let _ = change;
    }
    /// A byte left a UART, complete at `cycles`.
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        let _ = (port, byte, cycles);
    }
    /// The output of a digital-to-analog converter changed.
    fn analog(&mut self, step: &DacStep<'_>) {
        let _ = step;
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
    /// Another such.
    Taint(&'a mut Taint),
    /// Another.
    Other(&'a mut dyn Observer),
}

impl Observer for AnyObserver<'_> {
    #[inline]
    fn step(&mut self, step: &Step) {
        match self {
            AnyObserver::Trace(trace) => trace.step(step),
            AnyObserver::Taint(taint) => taint.step(step),
            AnyObserver::Other(observer) => observer.step(step),
        }
    }
    #[inline(never)]
    fn access(&mut self, access: &Access) {
        match self {
            AnyObserver::Trace(trace) => trace.access(access),
            AnyObserver::Taint(taint) => taint.access(access),
            AnyObserver::Other(observer) => observer.access(access),
        }
    }
    fn skipped(&mut self) {
        match self {
            AnyObserver::Trace(_) => {}
            AnyObserver::Taint(taint) => taint.skipped(),
            AnyObserver::Other(observer) => observer.skipped(),
        }
    }
    fn bank(&mut self, bank: u8) {
        match self {
            AnyObserver::Trace(_) => {}
            AnyObserver::Taint(taint) => taint.bank(bank),
            AnyObserver::Other(observer) => observer.bank(bank),
        }
    }
    // Neither a trace nor a taint tracker is told of these.
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
    fn directions(&mut self, directions: &PinDirections<'_>) {
        if let AnyObserver::Other(observer) = self {
            observer.directions(directions);
        }
    }
    fn sleep(&mut self, interval: &SleepInterval) {
        if let AnyObserver::Other(observer) = self {
            observer.sleep(interval);
        }
    }
    fn reset(&mut self, cycles: u64) {
        if let AnyObserver::Other(observer) = self {
            observer.reset(cycles);
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
    fn analog(&mut self, step: &DacStep<'_>) {
        if let AnyObserver::Other(observer) = self {
            observer.analog(step);
        }
    }
}

/// An observer as peripherals are told of it: `None` for one that wants to be told nothing.
#[inline(always)]
pub(crate) fn dynamic<O: Observer>(observer: &mut O) -> Option<&mut (dyn Observer + '_)> {
    if O::enabled() { Some(observer) } else { None }
}
