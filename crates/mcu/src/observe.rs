//! Looking on while a machine runs.

use crate::{ClockChange, Taint, Trace};

/// Control flow to an instruction.
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
        /// Address to which the matching return goes.
        return_to: u32,
    },
    /// A return from a subroutine.
    Return,
    /// An interrupt or exception was entered; `return_to` is the interrupted instruction.
    Interrupt {
        /// Address to which the matching return goes.
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
    /// Control flow to this instruction.
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
    /// The mode's name as the target file's `[[supply.sleep]]` has it.
    pub mode: &'static str,
    /// Cycles since reset at which it begins.
    pub from: u64,
    /// Cycles since reset up to which it sleeps at least: it may sleep on, as the next interval
    /// says.
    pub to: u64,
    /// Next step if no interrupt comes. An interrupt's handler that puts the core to sleep by its
    /// return has returned.
    pub next: Step,
}

/// The output of a digital-to-analog converter changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DacStep<'a> {
    /// The converter's name in the target file.
    pub device: &'a str,
    /// Channel, from 1.
    pub channel: u8,
    /// The new voltage; none while the channel is off.
    pub volts: Option<f64>,
    /// Cycles since reset at the change.
    pub cycles: u64,
}

/// Looks on while a machine runs. Every method does nothing unless overridden.
///
/// The loops over the instructions are compiled for no observer, too: with [`NoObserver`] looking
/// on costs nothing.
pub trait Observer {
    /// Returns true if the observer wants reports; calls to one that does not are compiled out.
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
    /// The condition of the instruction under way does not hold: it does nothing (Cortex-M, in an
    /// IT block).
    fn skipped(&mut self) {}
    /// Instructions from here on have the registers of this bank (R8C, 8051); also told at the
    /// beginning of a run.
    fn bank(&mut self, bank: u8) {
        let _ = bank;
    }
    /// An interrupt was taken, whose handler's first instruction is the next step; it found the
    /// stack pointer `sp`, as a [`Step`] has it. A return from it to another one changes tasks. An
    /// instruction that calls a handler itself says nothing.
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
    /// A port may drive other pins than before. Ports of the R8C, the 8051 and the 68HC08 do not
    /// say.
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

/// Tells another observer everything, but of the steps only those that follow on a control transfer
/// (anything but [`Flow::Next`]) or a move of the stack pointer, and the one before each; and the
/// last of all, when this is dropped.
///
/// The others say nothing to who follows calls, and are the most by far.
pub struct ControlTransfers<'a> {
    observer: &'a mut dyn Observer,
    /// Of the last step, told or not; of none before the first.
    sp: Option<u32>,
    /// The last step was not told. Its fields are kept one by one: a processor that has just stored
    /// them so waits for them when they are copied together.
    held: bool,
    pc: u32,
    cycles: u64,
}

impl<'a> ControlTransfers<'a> {
    /// Of the next run, for this observer.
    #[must_use]
    pub fn of(observer: &'a mut dyn Observer) -> Self {
        ControlTransfers { observer, sp: None, held: false, pc: 0, cycles: 0 }
    }

    fn tell_held(&mut self) {
        if let (true, Some(sp)) = (std::mem::take(&mut self.held), self.sp) {
            self.observer.step(&Step { pc: self.pc, sp, cycles: self.cycles, flow: Flow::Next });
        }
    }
}

impl Drop for ControlTransfers<'_> {
    fn drop(&mut self) {
        self.tell_held();
    }
}

impl Observer for ControlTransfers<'_> {
    fn step(&mut self, step: &Step) {
        if matches!(step.flow, Flow::Next) && self.sp == Some(step.sp) {
            self.held = true;
            self.pc = step.pc;
            self.cycles = step.cycles;
            return;
        }
        self.tell_held();
        self.sp = Some(step.sp);
        self.observer.step(step);
    }
    fn skipped(&mut self) {
        self.observer.skipped();
    }
    fn bank(&mut self, bank: u8) {
        self.observer.bank(bank);
    }
    fn interrupt(&mut self, sp: u32) {
        self.observer.interrupt(sp);
    }
    fn access(&mut self, access: &Access) {
        self.observer.access(access);
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.observer.pin(edge);
    }
    fn directions(&mut self, directions: &PinDirections<'_>) {
        self.observer.directions(directions);
    }
    fn sleep(&mut self, interval: &SleepInterval) {
        self.observer.sleep(interval);
    }
    fn reset(&mut self, cycles: u64) {
        self.observer.reset(cycles);
    }
    fn clock(&mut self, change: &ClockChange) {
        self.observer.clock(change);
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.observer.uart(port, byte, cycles);
    }
    fn analog(&mut self, step: &DacStep<'_>) {
        self.observer.analog(step);
    }
}

/// Any observer. The loops over the instructions are compiled for this one and for [`NoObserver`]:
/// each takes as long to build as all peripherals do.
pub(crate) enum AnyObserver<'a> {
    /// A trace, which gets too many reports for a table call: that would cost a fifth.
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Vec<u32>);

    impl Observer for Told {
        fn step(&mut self, step: &Step) {
            self.0.push(step.pc);
        }
        fn interrupt(&mut self, sp: u32) {
            self.0.push(sp);
        }
    }

    #[test]
    fn control_transfers_have_the_step_before_and_the_very_last() {
        let mut told = Told(Vec::new());
        let mut filter = ControlTransfers::of(&mut told);
        let mut cycles = 0;
        let mut step = |pc, sp, flow| {
            cycles += 1;
            filter.step(&Step { pc, sp, cycles, flow });
        };
        step(1, 100, Flow::Start);
        step(2, 100, Flow::Next);
        step(3, 100, Flow::Next);
        step(20, 98, Flow::Call { return_to: 4 });
        step(21, 98, Flow::Next);
        step(22, 97, Flow::Next);
        step(23, 97, Flow::Next);
        step(24, 97, Flow::Next);
        step(25, 97, Flow::Next);
        step(20, 97, Flow::Jump);
        step(21, 97, Flow::Next);
        filter.interrupt(97);
        filter.step(&Step { pc: 22, sp: 97, cycles: 99, flow: Flow::Next });
        drop(filter);
        assert_eq!(told.0, [1, 3, 20, 21, 22, 25, 20, 97, 22]);
    }
}
