//! What happens between instructions: limits, peripherals, sleep, interrupts.

use super::decode::Kind;
use super::execute::Place;
use super::memory::BailOut;
use super::{Avr, SLEEP_MODES, timing};
use crate::observe::dynamic;
use crate::{Fault, Flow, Observer, ResetCause, Stop};

/// What comes next at an instruction boundary.
pub(super) enum Boundary {
    Run(Flow),
    Stop(Stop),
    /// The instruction budget is used up.
    Spent,
}

impl Avr {
    /// Whether no interrupt can come any more, whatever happens.
    pub(super) fn no_interrupt_can_come(&self) -> bool {
        let nothing_comes = self.bus.requests == 0 && self.bus.due == u64::MAX && !self.bus.board.attended;
        nothing_comes || !self.state.flags.i && !self.bus.will_reset()
    }

    /// `SLEEP`.
    pub(super) fn sleep<O: Observer>(&mut self, at: Place, observer: &mut O) -> Result<(), BailOut> {
        let pc = u32::from(at.pc) * 2;
        let Some(register) = self.sleep_register else {
            return self.raise(Fault::Opcode { pc, bytes: vec![0x88, 0x95] });
        };
        let setting = self.bus.read(register.address, 1, at.cycles, pc, dynamic(observer));
        let setting = self.kept(setting)?;
        self.recheck();
        if setting & register.enable == 0 {
            return Ok(());
        }
        let bits = setting & register.mode;
        let noise_reduction = Some(bits) == register.adc;
        let stopped = if noise_reduction { self.bus.clock_needed("clkI/O") } else { None };
        let refused = match stopped {
            _ if !self.state.flags.i && !self.bus.will_reset() => None,
            None if noise_reduction || bits == 0 => None,
            None => {
                Some(format!("sleep mode bits {bits:#04x}: only idle and ADC noise reduction are modelled"))
            }
            Some(name) => {
                Some(format!("ADC noise reduction would stop {name} in what it does: sleep idle, or stop it"))
            }
        };
        if let Some(what) = refused {
            let device = "sleep".into();
            return self.raise(Fault::Peripheral { pc, address: register.address, device, what });
        }
        self.sleeping = true;
        self.sleep_mode = usize::from(noise_reduction);
        if noise_reduction {
            self.bus.asleep(SLEEP_MODES[1], at.cycles + timing::cycles(Kind::Sleep), pc);
        }
        Ok(())
    }

    /// Sets the horizon as [`Avr::boundary`] would, if there is nothing for it to do.
    #[inline(always)]
    pub(super) fn skip_boundary(&mut self, limit: u64, budget: u64) {
        let horizon = limit.min(self.bus.due);
        let waiting = self.state.flags.i && self.bus.requests != 0;
        let busy = self.sleeping || self.bus.stall != 0 || waiting || budget != u64::MAX;
        if !busy && self.cycles < horizon {
            if std::mem::take(&mut self.delay) {
                self.blocked_until = self.instructions + 1;
            }
            self.horizon = horizon;
        }
    }

    /// What happens between two instructions: ticks of peripherals, limits, sleep, interrupts.
    #[inline(never)]
    pub(super) fn boundary<O: Observer>(
        &mut self,
        limit: u64,
        budget: u64,
        mut flow: Flow,
        observer: &mut O,
    ) -> Result<Boundary, BailOut> {
        if self.delay {
            self.delay = false;
            self.blocked_until = self.instructions + 1;
        }
        self.cycles += std::mem::take(&mut self.bus.stall);
        loop {
            let pc = u32::from(self.pc) * 2;
            if self.bus.due <= self.cycles {
                self.bus.tick(self.cycles, pc, dynamic(observer));
                if self.bus.events.take_expiry() {
                    self.reset_running(ResetCause::Watchdog);
                    flow = Flow::Start;
                    continue;
                }
            }
            if self.cycles >= limit {
                return Ok(Boundary::Stop(Stop::Cycles));
            }
            if self.instructions >= budget {
                return Ok(Boundary::Spent);
            }
            if self.state.flags.i && self.bus.requests != 0 && self.instructions >= self.blocked_until {
                return self.interrupt(limit, observer);
            }
            if !self.sleeping {
                let waiting = self.state.flags.i && self.bus.requests != 0;
                self.horizon = if waiting || budget != u64::MAX { 0 } else { limit.min(self.bus.due) };
                return Ok(Boundary::Run(flow));
            }
            if self.no_interrupt_can_come() {
                return Ok(Boundary::Stop(Stop::Halted));
            }
            let awake = self.bus.due.min(limit).max(self.cycles);
            if awake == u64::MAX {
                // Attended, but this run has no limit at which somebody could act.
                return Ok(Boundary::Stop(Stop::Halted));
            }
            self.asleep[self.sleep_mode] += awake - self.cycles;
            self.cycles = awake;
        }
    }

    /// Enters the interrupt of the lowest vector that is requested.
    fn interrupt<O: Observer>(&mut self, limit: u64, observer: &mut O) -> Result<Boundary, BailOut> {
        let irq = self.bus.requests.trailing_zeros() as u8;
        let at = Place { pc: self.pc, cycles: self.cycles };
        let mut length = timing::INTERRUPT;
        if self.sleeping {
            length += timing::WAKE;
        }
        self.push_address::<O, false>(self.pc, at, length, observer)?;
        let return_to = u32::from(self.pc) * 2;
        self.sleeping = false;
        self.bus.taken(irq);
        self.state.flags.i = false;
        self.cycles += length;
        // Vectors are two words apart on parts with more than 8 kB of flash.
        self.pc = u16::from(irq) * 2;
        self.horizon = if self.cycles >= limit { 0 } else { limit.min(self.bus.due) };
        Ok(Boundary::Run(Flow::Interrupt { return_to }))
    }
}
