//! CPU of the R8C/Tiny series, with the instruction set of the M16C/60.
//!
//! The model has all instructions and addressing modes, both register banks, both stack pointers
//! and software interrupts, to the cycle of the manual's table ([`timing`]).
//!
//! Source: REJ09B0001, "R8C/Tiny Series Software Manual". What the manual calls undefined or does
//! not list as selectable stops with a fault: shifts by a register over more bits than it allows,
//! byte operands in `A0` and `A1` where only words can be chosen, single-step interrupts (flag D).
//! Quotient and remainder of a division that overflows are undefined, too, but O tells: the
//! registers then stay as they are.
//!
//! No hardware interrupt is modelled: no peripheral here requests one.

mod dataflow;
mod decode;
mod execute;
mod operation;
mod registers;
pub mod timing;

use crate::dataflow::CoreDataflow;
use crate::machine::{Core, Machine, new_peripherals};
use crate::memory::{Memory, Page};
use crate::{Fault, Mcu, Observer, Part, Register, ResetCause, Stop};
use registers::{ADDRESS_MASK, B, D, R8c, REGISTERS};

const RESET_VECTOR: u32 = 0xfffc;
/// The option function select register, in flash.
const OPTION_BYTE: u32 = 0xffff;
/// Its bit that keeps the watchdog stopped after reset.
const WDTON: u32 = 0x01;

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    let bus = new_peripherals(part, clock_hz)?;
    Ok(Box::new(Machine::new(part, R8c::new(Memory::new(part)?), bus)))
}

impl Core for R8c {
    const REGISTERS: &'static [Register] = REGISTERS;
    const WIDTH: u8 = 1;

    fn register(&self, index: usize) -> u32 {
        match index {
            0..8 => self.registers[index].into(),
            8 => self.usp.into(),
            9 => self.isp.into(),
            10 => self.sp().into(),
            11 => self.flg.into(),
            12 => self.intb,
            13 => self.pc,
            _ if (index - 14 >= 7) == (self.flg & B != 0) => self.registers[index % 7].into(),
            _ => self.other[index % 7].into(),
        }
    }

    fn set_register(&mut self, index: usize, value: u32) {
        match index {
            0..8 => self.registers[index] = value as u16,
            8 => self.usp = value as u16,
            9 => self.isp = value as u16,
            10 => self.set_sp(value as u16),
            11 => self.set_flg(value as u16),
            12 => self.intb = value & ADDRESS_MASK,
            13 => self.pc = value & ADDRESS_MASK,
            _ => *self.banked(index - 14) = value as u16,
        }
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.memory.peek(address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.program.changed(address, bytes.len());
        self.memory.poke(address, bytes)
    }

    fn instruction_length(&self, address: u32) -> Option<u32> {
        R8c::instruction_length(self, address)
    }

    fn is_ram(&self, address: u32) -> bool {
        self.memory.page(address) == Page::Ram
    }

    fn clear_ram(&mut self) {
        self.memory.clear_ram();
        self.program.clear();
    }

    fn check_image(&self) -> Result<(), Fault> {
        if self.memory.page(OPTION_BYTE) == Page::Flash && self.memory.byte(OPTION_BYTE) & WDTON == 0 {
            let what = "WDTON is 0: the watchdog runs after reset, which is not modelled".into();
            return Err(Fault::Peripheral { pc: 0, address: OPTION_BYTE, device: "OFS".into(), what });
        }
        Ok(())
    }

    fn reset(machine: &mut Machine<R8c>, _cause: ResetCause) -> Result<(), Fault> {
        let core = &mut machine.core;
        core.registers = [0; 8];
        core.other = [0; 7];
        (core.usp, core.isp, core.flg, core.intb) = (0, 0, 0, 0);
        core.pc = core.vector(RESET_VECTOR);
        Ok(())
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        self.program.set_breakpoints(addresses);
    }

    fn execute<O: Observer>(machine: &mut Machine<R8c>, observer: &mut O) -> Result<Stop, Fault> {
        machine.run_loop(observer)
    }

    fn interrupt<O: Observer>(machine: &mut Machine<R8c>, _observer: &mut O) -> Result<bool, Fault> {
        if machine.core.flg & D != 0 {
            let what = "flag D is set: a single-step interrupt comes here, which is not modelled".into();
            return Err(Fault::Architecture { pc: machine.core.pc, address: machine.core.flg.into(), what });
        }
        Ok(false)
    }

    fn dataflow(&self) -> CoreDataflow {
        R8c::dataflow(self)
    }
}
