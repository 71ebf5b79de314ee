//! MCS-51 core with twelve clocks to a machine cycle.
//!
//! It is that of the 8051, 80C51BH and 80C31BH. The model has all 255 instructions, to the machine
//! cycle of the manual's table ([`timing`]).
//!
//! Source: Intel, *MCS 51 Microcontroller Family User's Manual* (order number 272383-002), chapters
//! "MCS 51 Family of Microcontrollers Architectural Overview", "MCS 51 Programmer's Guide and
//! Instruction Set" and "8051, 8052 and 80C51 Hardware Description".
//!
//! The four address spaces of the architecture lie one behind the other ([`memory`]): program
//! memory from 0, external data from 0x10000, internal data from 0x20000, special function
//! registers at 0x30080 to 0x300ff. Cycles are machine cycles.
//!
//! The model stops with a fault where the manual leaves behaviour open: opcode 0xA5, a division by
//! zero, `MOV A,ACC`, indirect addresses and stack pointers beyond the internal RAM. Interrupts,
//! timers and the serial port are not modelled: an access that would enable or start them is a
//! fault (`peripherals::intel::system`).

mod dataflow;
mod execute;
pub mod memory;
mod registers;
pub mod timing;

use crate::dataflow::CoreDataflow;
use crate::machine::{Core, Machine, new_peripherals};
use crate::{Fault, Mcu, Observer, Part, Register, ResetCause, Stop};
use memory::{INTERNAL, Memory, SPECIAL};
use registers::{Mcs51, P, REGISTERS};

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that this family cannot have.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    if let Some(spec) = part.peripherals.iter().find(|spec| !spec.model.starts_with("mcs51-")) {
        return Err(format!("{}: {}: {} is no model for an MCS-51", part.name, spec.name, spec.model));
    }
    let bus = new_peripherals(part, clock_hz)?;
    Ok(Box::new(Machine::new(part, Mcs51::new(Memory::new(part)?), bus)))
}

impl Core for Mcs51 {
    const REGISTERS: &'static [Register] = REGISTERS;
    const WIDTH: u8 = 1;
    const STACK_SPACE: u32 = INTERNAL;

    fn register(&self, index: usize) -> u32 {
        match index {
            0 => self.a.into(),
            1 => self.b.into(),
            2 => self.dptr.into(),
            3 => self.psw().into(),
            4 => self.sp.into(),
            5..13 => self.bank_register(index as u8 - 5).into(),
            _ => self.pc.into(),
        }
    }

    fn set_register(&mut self, index: usize, value: u32) {
        match index {
            0 => self.a = value as u8,
            1 => self.b = value as u8,
            2 => self.dptr = value as u16,
            3 => self.psw = value as u8 & !P,
            4 => self.sp = value as u8,
            5..13 => self.set_bank_register(index as u8 - 5, value as u8),
            _ => self.pc = value as u16,
        }
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        if address >= SPECIAL {
            return self.peek_special(address - SPECIAL, bytes);
        }
        self.memory.peek(address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        if address >= SPECIAL {
            return self.poke_special(address - SPECIAL, bytes);
        }
        self.memory.poke(address, bytes)
    }

    fn is_ram(&self, address: u32) -> bool {
        self.memory.is_ram(address)
    }

    fn clear_ram(&mut self) {
        self.memory.clear_ram();
    }

    /// Registers as in table "Reset Values of the SFRs".
    fn reset(machine: &mut Machine<Mcs51>, _cause: ResetCause) -> Result<(), Fault> {
        let core = &mut machine.core;
        (core.a, core.b, core.psw, core.sp, core.dptr, core.pc) = (0, 0, 0, 7, 0, 0);
        Ok(())
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        self.memory.mark(addresses);
    }

    fn execute<O: Observer>(machine: &mut Machine<Mcs51>, observer: &mut O) -> Result<Stop, Fault> {
        machine.run_loop(observer)
    }

    fn dataflow(&self) -> CoreDataflow {
        Mcs51::dataflow(self)
    }
}
