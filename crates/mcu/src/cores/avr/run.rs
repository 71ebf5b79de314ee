//! The run of a program: the fast path and the slow one, breakpoints, interrupts.

use super::execute::Exit;
use super::memory::{BailOut, InstructionStart};
use super::opcode::{Op, Opcode};
use super::registers::Avr;
use super::timing;
use crate::machine::Machine;
use crate::{Fault, Flow, NoObserver, Observer, Stop};
use std::sync::Arc;

impl<const WORDS: usize> Machine<Avr<WORDS>> {
    /// The loop over the instructions.
    pub(super) fn run_loop<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, Fault> {
        if let Some(stop) = self.pass_breakpoint(observer)? {
            return Ok(stop);
        }
        let mut program: Arc<[Op; WORDS]> = Arc::clone(&self.core.program);
        loop {
            if let Some(stop) = self.service(observer)? {
                return Ok(stop);
            }
            let mut exit = Exit::Slow;
            while !O::enabled() && self.cycles < self.deadline {
                exit = self.execute::<NoObserver, true>(&program, &mut NoObserver);
                if exit == Exit::DeadlineNear {
                    break;
                }
                self.deadline = 0;
                if exit == Exit::Slow {
                    exit = self.slow_path(program[self.core.pc as usize % WORDS]);
                    if exit == Exit::Deadline {
                        self.skip_service();
                    }
                }
            }
            if exit == Exit::Slow || exit == Exit::DeadlineNear && self.cycles < self.deadline {
                exit = self.execute::<O, false>(&program, observer);
            }
            match exit {
                Exit::Deadline | Exit::Slow | Exit::DeadlineNear => {}
                Exit::Stop(stop) => return Ok(stop),
                Exit::Fault => return Err(self.taken_fault()),
            }
            if !Arc::ptr_eq(&program, &self.core.program) {
                // `SPM` has changed it.
                program = Arc::clone(&self.core.program);
            }
        }
    }

    /// The first instruction of a run is executed although there is a breakpoint at it.
    fn pass_breakpoint<O: Observer>(&mut self, observer: &mut O) -> Result<Option<Stop>, Fault> {
        let here = self.core.pc;
        if !self.core.breakpoints.contains(&here) {
            return Ok(None);
        }
        if let Some(stop) = self.service(observer)? {
            return Ok(Some(stop));
        }
        let all = std::mem::take(&mut self.core.breakpoints);
        let others: Vec<u32> = all.iter().copied().filter(|breakpoint| *breakpoint != here).collect();
        self.core.place_breakpoints(others);
        let program = Arc::clone(&self.core.program);
        self.recheck();
        let exit = self.execute::<O, false>(&program, observer);
        drop(program);
        self.core.place_breakpoints(all);
        match exit {
            Exit::Stop(stop) => Ok(Some(stop)),
            Exit::Fault => Err(self.taken_fault()),
            Exit::Deadline | Exit::Slow | Exit::DeadlineNear => Ok(None),
        }
    }

    /// Executes the instruction that the fast path was left for, if it is one of those that it is
    /// left for most: [`Exit::Deadline`] then, and [`Exit::Slow`] where it is another.
    #[inline(always)]
    fn slow_path(&mut self, op: Op) -> Exit {
        let at = InstructionStart { pc: self.core.pc, cycles: self.cycles };
        let length = timing::cycles::<WORDS>(op.kind);
        let register = usize::from(op.a);
        let behind = |words: u32| Ok((at.pc + words) % WORDS as u32);
        let next = match op.kind {
            Opcode::In | Opcode::Lds => {
                self.load::<NoObserver, false>(op.b, at, &mut NoObserver).and_then(|value| {
                    self.core.data[register] = value;
                    behind(if op.kind == Opcode::In { 1 } else { 2 })
                })
            }
            Opcode::Out | Opcode::Sts => {
                let done = self.store::<NoObserver, false>(
                    op.b,
                    self.core.data[register],
                    at,
                    length,
                    &mut NoObserver,
                );
                done.and_then(|()| behind(if op.kind == Opcode::Out { 1 } else { 2 }))
            }
            Opcode::Bset | Opcode::Bclr if op.a == 7 => {
                let before = std::mem::replace(&mut self.core.flags.i, op.kind == Opcode::Bset);
                self.interrupts_changed(before);
                behind(1)
            }
            Opcode::Reti => self.pop_address::<NoObserver, false>(at, &mut NoObserver).inspect(|_| {
                self.core.flags.i = true;
                self.core.delay = true;
            }),
            Opcode::Sleep => self.sleep(at, &mut NoObserver).and_then(|()| behind(1)),
            _ => return Exit::Slow,
        };
        let Ok(next) = next else { return Exit::Fault };
        self.core.pc = next;
        self.cycles += length;
        self.instructions += 1;
        Exit::Deadline
    }

    fn taken_fault(&mut self) -> Fault {
        let pc = self.core.pc * 2;
        let unexplained = || Fault::Architecture { pc, address: pc, what: "the model lost its fault".into() };
        self.fault.take().unwrap_or_else(unexplained)
    }

    /// Sets the deadline as [`Machine::service`] would, if there is nothing for it to do.
    #[inline(always)]
    fn skip_service(&mut self) {
        let deadline = self.limit.min(self.bus.due);
        let waiting = self.core.flags.i && self.bus.requests != 0;
        let busy = self.core.sleeping || self.bus.stall != 0 || waiting;
        if !busy && self.cycles < deadline {
            self.settle_delay();
            self.deadline = deadline;
        }
    }

    /// The instruction just executed may let one more go first before any interrupt.
    #[inline(always)]
    pub(super) fn settle_delay(&mut self) {
        if std::mem::take(&mut self.core.delay) {
            self.interrupts_from = self.instructions + 1;
        }
    }

    /// Enters the interrupt of the lowest vector that is requested.
    pub(super) fn take_interrupt<O: Observer>(&mut self, observer: &mut O) -> Result<bool, Fault> {
        if !self.core.flags.i || self.bus.requests == 0 {
            return Ok(false);
        }
        if self.core.programmed.keeps_interrupts(self.core.pc * 2) {
            // Looked at again after the next instruction.
            self.interrupts_from = self.instructions + 1;
            return Ok(false);
        }
        let irq = self.bus.requests.trailing_zeros() as u8;
        let at = InstructionStart { pc: self.core.pc, cycles: self.cycles };
        let mut length = timing::interrupt(WORDS);
        if self.core.sleeping {
            length += timing::wake(WORDS) + self.wake();
        }
        if let Err(BailOut) = self.push_address::<O, false>(self.core.pc, at, length, observer) {
            return Err(self.taken_fault());
        }
        self.flow = Flow::Interrupt { return_to: self.core.pc * 2 };
        self.bus.acknowledge_interrupt(irq, self.cycles, self.core.pc * 2);
        self.core.flags.i = false;
        self.cycles += length;
        self.core.pc = u32::from(irq) * self.core.vector_words;
        Ok(true)
    }
}
