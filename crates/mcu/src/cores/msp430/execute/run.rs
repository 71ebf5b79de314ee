//! The loop over the instructions, low-power modes and interrupts.

use super::super::op::{Op, Opcode};
use super::super::registers::{ADDRESS_MASK, CPUOFF, Msp430, PC, SCG0, SP, SR, mode};
use super::super::timing;
use crate::machine::Machine;
use crate::memory::Page;
use crate::observe::dynamic;
use crate::{Fault, Flow, Observer, Step, Stop};

/// Address of the first interrupt vector; vector `n` stands `2 * n` bytes further. The reset vector
/// is the last.
const VECTORS: u32 = 0xff80;

/// The user and the system NMI, vectors 0xfffa and 0xfffc, which GIE does not hold back (SLAU208
/// and SLAU367, "(Non)Maskable Interrupts").
pub(in super::super) const NON_MASKABLE: u128 = 3 << 61;

impl Machine<Msp430> {
    /// The loop over the instructions.
    pub fn run_loop<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, Fault> {
        let mut first = true;
        loop {
            if self.cycles >= self.deadline
                && let Some(stop) = self.service(observer)?
            {
                return Ok(stop);
            }
            let pc = self.core.registers[PC];
            let known = self.core.program.knows(pc);
            if !known && !self.find(pc, first)? {
                return Ok(Stop::Address(pc));
            }
            let op = self.core.program.op(pc);
            first = false;
            if op.kind == Opcode::Jmp && op.source_value == pc && self.nothing_can_come() {
                return Ok(Stop::Halted);
            }
            if O::enabled() {
                // What the fetch of the instruction waited is its own.
                let waited = if known { 0 } else { self.core.fram.fetch_waits };
                let cycles = self.cycles - u64::from(waited);
                let step = Step { pc, sp: self.core.registers[SP], cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.step(observer, pc, op)?;
        }
    }

    /// As [`Msp430::find`], with what the fetch waits where the instruction lies in FRAM.
    #[cold]
    fn find(&mut self, pc: u32, ignore_breakpoint: bool) -> Result<bool, Fault> {
        let core = &mut self.core;
        let found = core.find(pc, ignore_breakpoint)?;
        core.fram.fetch_waits = 0;
        if found && core.memory.page(pc) == Page::Fram {
            core.program.mark_slow(pc);
            let length = core.program.op(pc).length;
            core.fram.fetch_waits = core.fram.fetch(pc, length.into(), self.bus.events.flash.wait_states);
            self.cycles += u64::from(core.fram.fetch_waits);
        }
        Ok(found)
    }

    #[inline(always)]
    fn step<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<(), Fault> {
        self.core.registers[PC] = (pc + u32::from(op.length)) & ADDRESS_MASK;
        if let Err(fault) = self.execute(observer, pc, op) {
            self.core.registers[PC] = pc;
            return Err(fault);
        }
        self.cycles += u64::from(op.cycles);
        self.instructions += 1;
        Ok(())
    }

    /// The low-power mode that the core is in, if it is one of which the current is known, and
    /// whether the main clock's source has to start again after it.
    pub fn low_power_mode(&self) -> Result<Option<(&'static str, bool)>, Fault> {
        let (pc, status) = (self.core.registers[PC], self.core.registers[SR]);
        if status & CPUOFF == 0 {
            return Ok(None);
        }
        let fault = |what: String| Err(Fault::Architecture { pc, address: status, what });
        let Some(mode) = mode(status) else {
            return fault("OSCOFF without SCG0 and SCG1 is no low-power mode of SLAU208's table".into());
        };
        for clock in mode.stops {
            if let Some(name) = self.bus.clock_needed(clock) {
                return fault(format!(
                    "{name} counts {clock} and keeps it running in {}, whose current is then not the data sheet's: \
                     stop it, give it a clock that this mode keeps, or sleep less deeply",
                    mode.name
                ));
            }
        }
        Ok(Some((mode.name, mode.wakes_slowly)))
    }

    /// Takes the one of the requests with the highest priority (SLAU208, section "Interrupt
    /// Acceptance").
    pub fn take_interrupt<O: Observer>(&mut self, requests: u128, observer: &mut O) -> Result<bool, Fault> {
        if let Some((_, true)) = self.low_power_mode()? {
            self.cycles += self.bus.power.wake_cycles;
        }
        let irq = (127 - requests.leading_zeros()) as u8;
        self.core.in_nmi |= NON_MASKABLE >> irq & 1 == 1;
        let return_to = self.core.registers[PC];
        let status = self.core.registers[SR] | return_to >> 16 << 12;
        self.push_word(observer, return_to, return_to & 0xffff, timing::INTERRUPT_CYCLES - 3)?;
        self.push_word(observer, return_to, status, timing::INTERRUPT_CYCLES - 2)?;
        self.core.registers[SR] &= SCG0;
        self.core.registers[PC] = self.core.memory.word(VECTORS + 2 * u32::from(irq)) & !1;
        self.cycles += u64::from(timing::INTERRUPT_CYCLES);
        let pc = self.core.registers[PC];
        self.bus.acknowledge_interrupt(irq, self.cycles, pc);
        self.bus.tick(self.cycles, pc, dynamic(observer));
        self.flow = Flow::Interrupt { return_to };
        Ok(true)
    }
}
