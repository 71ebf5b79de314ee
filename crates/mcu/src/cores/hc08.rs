//! CPU08, the processor of the Motorola (Freescale) MC68HC08 and MC68HC908.
//!
//! The model has all its instructions and addressing modes, to the bus cycle of the manual's opcode
//! map ([`timing`]).
//!
//! Sources: *M68HC08 Central Processor Unit Reference Manual* (CPU08RM); the same instruction set
//! summary and opcode map stand in the chapter "Central Processor Unit" of each part's data sheet
//! and in the *M68HC08 Family Reference Guide* (M68HC08RG).
//!
//! One cycle is one bus cycle. No instruction's length depends on its data, and the flash of these
//! parts keeps up with the bus, so that the map is the whole truth about time. What the manual
//! leaves open stops with a fault: opcodes that it does not have, a division whose quotient does
//! not fit, a decimal adjustment of what is no sum of decimal digits. No source of interrupts is
//! modelled: of what `CLI` lets in, nothing ever comes; the IRQ pin is high, unasserted. `STOP`,
//! and `WAIT` with the watchdog (COP) off, therefore end the program.

mod dataflow;
mod decode;
mod execute;
mod registers;
pub mod timing;

use crate::dataflow::CoreDataflow;
use crate::machine::{Core, Machine, new_peripherals};
use crate::memory::{Memory, Page};
use crate::{Fault, Mcu, Observer, Part, Register, ResetCause, Stop};
use registers::{Hc08, I, ONES, REGISTERS, Sleep};

const RESET_VECTOR: u16 = 0xfffe;
/// The stack pointer after a reset.
const RESET_SP: u16 = 0x00ff;

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    let bus = new_peripherals(part, clock_hz)?;
    let config = part.peripherals.iter().find(|spec| spec.model == "hc08-config");
    let core = Hc08::new(Memory::new(part)?, config.map(|spec| spec.base as u16));
    Ok(Box::new(Machine::new(part, core, bus)))
}

impl Core for Hc08 {
    const REGISTERS: &'static [Register] = REGISTERS;
    const WIDTH: u8 = 1;

    fn register(&self, index: usize) -> u32 {
        match index {
            0 => self.a.into(),
            1 => (self.hx >> 8).into(),
            2 => (self.hx & 0xff).into(),
            3 => self.sp.into(),
            4 => self.pc.into(),
            _ => self.ccr.into(),
        }
    }

    fn set_register(&mut self, index: usize, value: u32) {
        match index {
            0 => self.a = value as u8,
            1 => self.hx = (value as u16) << 8 | self.hx & 0xff,
            2 => self.hx = self.hx & 0xff00 | value as u16 & 0xff,
            3 => self.sp = value as u16,
            4 => {
                self.pc = value as u16;
                self.sleep = Sleep::Awake;
            }
            _ => self.ccr = value as u8 | ONES,
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
        Hc08::instruction_length(self, address)
    }

    fn is_ram(&self, address: u32) -> bool {
        self.memory.page(address) == Page::Ram
    }

    fn clear_ram(&mut self) {
        self.memory.clear_ram();
        self.program.clear();
    }

    fn reset(machine: &mut Machine<Hc08>, _cause: ResetCause) -> Result<(), Fault> {
        let core = &mut machine.core;
        // CPU08RM, "CPU Registers": H is cleared; A, X and the flags but I are indeterminate.
        core.a = 0;
        core.hx = 0;
        core.sp = RESET_SP;
        core.ccr = ONES | I;
        core.pc = core.word(RESET_VECTOR);
        core.sleep = Sleep::Awake;
        Ok(())
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        self.program.set_breakpoints(addresses);
    }

    fn execute<O: Observer>(machine: &mut Machine<Hc08>, observer: &mut O) -> Result<Stop, Fault> {
        machine.run_loop(observer)
    }

    fn is_asleep(&self) -> bool {
        self.sleep != Sleep::Awake
    }

    fn sleeping(machine: &mut Machine<Hc08>) -> Result<Option<&'static str>, Fault> {
        Ok(match machine.core.sleep {
            Sleep::Awake => None,
            Sleep::Wait => Some("wait"),
            Sleep::Stop => Some("stop"),
        })
    }

    fn dataflow(&self) -> CoreDataflow {
        Hc08::dataflow(self)
    }
}
