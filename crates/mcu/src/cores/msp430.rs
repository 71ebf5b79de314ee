//! MSP430X core (CPUX, second version) of the MSP430F5xx.
//!
//! The model has all MSP430 and MSP430X instructions, interrupts and sleep, to the cycle of the
//! manual's tables ([`timing`]).
//!
//! The model stops with a fault where the manual leaves behaviour open: opcodes and extension words
//! it calls reserved, `PUSHM` over PC or SP, a register-indexed address on the constant generator.
//! Flash is read at full speed: the F5xx flash keeps up with MCLK up to the part's highest clock;
//! FRAM waits ([`fram`]). Waking from LPM2, LPM3 and LPM4 takes the time that the data sheet gives
//! for the supervisor's setting before the interrupt's own cycles; it counts as running. A
//! peripheral that counts a clock keeps it running in every low-power mode (SLAU208, chapter UCS,
//! section "Module Oscillator and Clock Requests"), and the part draws more than in that mode, so
//! such a sleep is a fault.

mod dataflow;
pub mod decode;
mod execute;
mod fram;
pub mod op;
mod registers;
pub mod timing;

use crate::dataflow::CoreDataflow;
use crate::machine::{Core, Machine, new_peripherals};
use crate::memory::{Memory, Page};
use crate::{BusAccess, Fault, Mcu, Observer, Part, Register, ResetCause, Stop};
use execute::NON_MASKABLE;
use registers::{ADDRESS_MASK, CPUOFF, GIE, Msp430, PC, REGISTERS, SP, SR, SR_BITS};

const RESET_VECTOR: u32 = 0xfffe;

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    let bus = new_peripherals(part, clock_hz)?;
    Ok(Box::new(Machine::new(part, Msp430::new(Memory::new(part)?, fram::Fram::new(part)?), bus)))
}

impl Core for Msp430 {
    const REGISTERS: &'static [Register] = REGISTERS;
    const WIDTH: u8 = 2;

    fn register(&self, index: usize) -> u32 {
        self.registers[Msp430::number(index)]
    }

    fn set_register(&mut self, index: usize, value: u32) {
        let register = Msp430::number(index);
        self.registers[register] = match register {
            // Bit 0 of PC and SP is always 0.
            PC | SP => value & ADDRESS_MASK & !1,
            SR => value & SR_BITS,
            _ => value & ADDRESS_MASK,
        };
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.memory.peek(address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.program.changed(address, bytes.len());
        self.memory.poke(address, bytes)
    }

    fn is_ram(&self, address: u32) -> bool {
        self.memory.page(address) == Page::Ram
    }

    fn clear_ram(&mut self) {
        self.memory.clear_ram();
        self.program.clear();
    }

    fn reset(machine: &mut Machine<Msp430>, _cause: ResetCause) -> Result<(), Fault> {
        machine.core.registers = [0; 16];
        machine.core.in_nmi = false;
        machine.core.registers[PC] = machine.core.memory.word(RESET_VECTOR) & !1;
        Ok(())
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        self.program.set_breakpoints(addresses);
    }

    fn execute<O: Observer>(machine: &mut Machine<Msp430>, observer: &mut O) -> Result<Stop, Fault> {
        machine.run_loop(observer)
    }

    fn interrupt_mask(&self) -> u128 {
        let maskable = if self.registers[SR] & GIE == 0 { 0 } else { !NON_MASKABLE };
        maskable | if self.in_nmi { 0 } else { NON_MASKABLE }
    }

    fn non_maskable(&self) -> u128 {
        NON_MASKABLE
    }

    fn interrupt<O: Observer>(machine: &mut Machine<Msp430>, observer: &mut O) -> Result<bool, Fault> {
        match machine.bus.requests & machine.core.interrupt_mask() {
            0 => Ok(false),
            requests => machine.take_interrupt(requests, observer),
        }
    }

    fn dataflow(&self) -> CoreDataflow {
        Msp430::dataflow(self)
    }

    fn access(machine: &mut Machine<Msp430>, access: &BusAccess) -> Result<Option<u32>, Fault> {
        machine.access_memory(access)
    }

    fn is_asleep(&self) -> bool {
        self.registers[SR] & CPUOFF != 0
    }

    fn sleeping(machine: &mut Machine<Msp430>) -> Result<Option<&'static str>, Fault> {
        if !machine.core.is_asleep() {
            return Ok(None);
        }
        Ok(machine.low_power_mode()?.map(|(mode, _)| mode))
    }
}
