//! Cycles of the Cortex-M0: DDI 0432C, table 3-1.
//!
//! The multiplier takes a single cycle, as the STM32F0's does (PM0215).
//!
//! One bus carries instructions and data, and the table counts it in; it holds at no wait states.
//! With wait states [`SharedBus`] is followed.

use super::super::flash::FlashRegisters;
use super::super::op::{Op, Opcode};
use super::super::shared_bus::SharedBus;
use super::{Exception, Retired, Timing};
use crate::{Fault, GateRegister, Part, ResetCause};
use std::ops::Range;

/// The timing of a Cortex-M0 behind the flash interface of an STM32F0.
#[derive(Clone)]
pub struct M0 {
    bus: SharedBus,
    registers: FlashRegisters,
    /// The flash has wait states: accesses can wait.
    waits: bool,
}

impl M0 {
    /// Ends an instruction of `cycles` that accesses `count` words from `data` up.
    #[inline(always)]
    fn end(&mut self, op: &Op, address: u32, cycles: u32, data: u32, count: u32) -> u32 {
        if self.waits { cycles + self.bus.execute(address, op.length, cycles, data, count) } else { cycles }
    }

    /// Cycles that a branch to `target` waits.
    #[inline(always)]
    fn branch(&mut self, target: u32) -> u32 {
        if self.waits { self.bus.branch(target) } else { 0 }
    }
}

impl Timing for M0 {
    type Note = ();

    const FETCHES: bool = false;

    fn new(part: &Part, clock_hz: u64) -> Result<Self, String> {
        let registers = FlashRegisters::new(part, clock_hz)?;
        Ok(M0 { bus: SharedBus::default(), registers, waits: false })
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.bus.reset(self.registers.settings());
        self.waits = false;
    }

    fn classify(&self, op: &mut Op, _address: u32) -> Self::Note {
        op.cycles = match op.inner {
            Opcode::Bl => 4,
            Opcode::Mrs | Opcode::Msr | Opcode::Dmb | Opcode::Dsb | Opcode::Isb => 4,
            Opcode::Wfi | Opcode::Wfe => 2,
            _ => 1,
        };
    }

    #[inline(always)]
    fn retire(&mut self, op: &Op, _note: &(), address: u32, outcome: Retired) -> u32 {
        match outcome {
            Retired::Plain
            | Retired::Skipped
            | Retired::NotTaken
            | Retired::Multiply { .. }
            | Retired::Divide { .. } => self.end(op, address, 1, 0, 0),
            Retired::System => self.end(op, address, u32::from(op.cycles), 0, 0),
            Retired::Branch { target } => {
                let cycles = if op.inner == Opcode::Bl { 4 } else { 3 };
                self.end(op, address, cycles, 0, 0) + self.branch(target)
            }
            Retired::Load { address: data, count, .. } | Retired::Store { address: data, count, .. } => {
                self.end(op, address, 1 + u32::from(count), data, u32::from(count))
            }
            Retired::LoadBranch { address: data, count, target, .. } => {
                self.end(op, address, 4 + u32::from(count), data, u32::from(count)) + self.branch(target)
            }
        }
    }

    /// DDI 0432C section 3.6: 16 cycles from the interrupt to the handler's first instruction. The
    /// manual gives no figure for the way back; it loads the same eight words and is taken to last
    /// as long, tail-chaining to save both transfers of the frame.
    fn exception(&mut self, step: Exception, _sp: u32, target: u32) -> u32 {
        let cycles = match step {
            Exception::Entry | Exception::Return => 16,
            Exception::TailChain => 6,
        };
        self.bus.idle(u64::from(cycles));
        cycles + self.branch(target)
    }

    fn idle(&mut self, cycles: u64) {
        self.bus.idle(cycles);
    }

    fn registers(&self) -> Range<u32> {
        self.registers.range()
    }

    fn read_register(&mut self, address: u32, size: u8, pc: u32) -> Result<u32, Fault> {
        self.registers.read(address, size, pc)
    }

    fn rtc_clock(&self) -> (u64, bool) {
        self.registers.rtc_clock()
    }

    fn module_clocks(&self) -> Vec<u64> {
        self.registers.module_clocks()
    }

    fn gates(&self) -> &'static [GateRegister] {
        self.registers.rcc.gates()
    }

    fn gate_register(&self, offset: u32) -> u32 {
        self.registers.rcc.read(offset)
    }

    fn set_reset_cause(&mut self, cause: ResetCause) {
        self.registers.set_reset_cause(cause);
    }

    fn core_clock_hz(&self) -> Option<u64> {
        self.registers.core_clock_hz()
    }

    fn bus_dividers(&self) -> (u64, u64) {
        self.registers.bus_dividers()
    }

    fn write_register(&mut self, address: u32, size: u8, value: u32, pc: u32) -> Result<(), Fault> {
        let changed = self.registers.write(address, size, value, pc)?;
        let settings = self.registers.settings();
        if changed.settings {
            self.bus.apply(settings);
        }
        self.waits = settings.wait_states != 0;
        Ok(())
    }
}
