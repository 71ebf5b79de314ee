//! RISC-V as in WCH's QingKe V2A.
//!
//! It is RV32EC with `Zicsr`, `Zifencei` and the compressed byte and halfword instructions `xw`. It
//! has only machine mode, two stages, and no cache.
//!
//! Exceptions by mistake (illegal instructions, misaligned accesses, addresses without memory or
//! registers) stop the run with a fault. `ecall` and interrupts are taken through `mtvec` in its
//! three modes. Not modelled, and faults: hardware stacking of an interrupt (HPE), nested handlers,
//! interrupts without a vector table (VTF), standby.

mod dataflow;
mod decode;
mod execute;
mod registers;
mod timing;

use crate::dataflow::CoreDataflow;
use crate::machine::{Core, Machine, new_peripherals};
use crate::memory::Page;
use crate::{Fault, Mcu, Observer, Part, Register, ResetCause, Stop};
use registers::{MIE, MPIE, REGISTERS, RiscV, fold};

/// The registers of [`REGISTERS`] that are numbered: `x1` to `x15`.
const NUMBERED: usize = 15;

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    let bus = new_peripherals(part, clock_hz)?;
    Ok(Box::new(Machine::new(part, RiscV::new(part)?, bus)))
}

impl Core for RiscV {
    const REGISTERS: &'static [Register] = REGISTERS;
    const WIDTH: u8 = 4;

    fn register(&self, index: usize) -> u32 {
        match index {
            0..NUMBERED => self.x[index + 1],
            15 => self.pc,
            16 => self.mstatus,
            17 => self.mtvec,
            18 => self.mscratch,
            19 => self.mepc,
            _ => self.mcause,
        }
    }

    fn set_register(&mut self, index: usize, value: u32) {
        match index {
            0..NUMBERED => self.x[index + 1] = value,
            15 => {
                self.pc = value & !1;
                self.sleeping = false;
                let from_flash = self.in_flash(self.pc);
                self.fetch.restart(from_flash);
            }
            16 => self.mstatus = value & (MIE | MPIE),
            17 => self.mtvec = value & !0x3fc,
            18 => self.mscratch = value,
            19 => self.mepc = value & !1,
            _ => self.mcause = value,
        }
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.memory.peek(fold(address), bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.program.changed(fold(address), bytes.len());
        self.memory.poke(fold(address), bytes)
    }

    fn is_ram(&self, address: u32) -> bool {
        self.memory.page(fold(address)) == Page::Ram
    }

    fn clear_ram(&mut self) {
        self.memory.clear_ram();
        self.program.clear();
    }

    /// The core starts at address 0 (CH32V003RM, figure 1-1): flash.
    fn reset(machine: &mut Machine<RiscV>, _cause: ResetCause) -> Result<(), Fault> {
        let now = machine.cycles;
        let core = &mut machine.core;
        core.x = [0; 16];
        core.pc = 0;
        (core.mstatus, core.mtvec, core.mscratch, core.mepc, core.mcause) = (0, 0, 0, 0, 0);
        core.intsyscr = 0;
        core.sleeping = false;
        core.enabled = 0;
        core.handlers.clear();
        core.fetch.reset(now, true);
        Ok(())
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        let folded: Vec<u32> = addresses.iter().map(|&address| fold(address)).collect();
        self.program.set_breakpoints(&folded);
    }

    fn execute<O: Observer>(machine: &mut Machine<RiscV>, observer: &mut O) -> Result<Stop, Fault> {
        machine.run_loop(observer)
    }

    fn interrupt_mask(&self) -> u128 {
        if self.mstatus & MIE != 0 || self.sleeping { self.enabled } else { 0 }
    }

    fn interrupt<O: Observer>(machine: &mut Machine<RiscV>, _observer: &mut O) -> Result<bool, Fault> {
        machine.take_interrupt()
    }

    fn dataflow(&self) -> CoreDataflow {
        RiscV::dataflow(self)
    }

    fn is_asleep(&self) -> bool {
        self.sleeping
    }

    fn sleeping(machine: &mut Machine<RiscV>) -> Result<Option<&'static str>, Fault> {
        Ok(machine.core.is_asleep().then_some("sleep"))
    }
}
