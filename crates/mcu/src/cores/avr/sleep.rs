//! Sleep modes: what they stop, and how long it takes to wake from them.
//!
//! ATmega328P data sheet DS40002061, chapters 9 (start-up times) and 10 (table 10-1, active clock
//! domains and wake-up sources). In all modes but idle the I/O clock stands still: timers keep
//! their counts and outputs. Interrupts that are requested in spite of that wake the core: those of
//! pins, the watchdog, in ADC noise reduction the converter and the EEPROM.

use super::fuses::StartUp;
use super::memory::{BailOut, InstructionStart};
use super::opcode::Opcode;
use super::registers::Avr;
use super::sleep_modes::{ADC_NOISE_REDUCTION, EXTENDED_STANDBY, IDLE, POWER_DOWN, POWER_SAVE, SLEEP_MODES};
use super::timing;
use crate::machine::Machine;
use crate::observe::dynamic;
use crate::{Fault, Observer};

/// From standby "the device wakes up in six clock cycles" (10.7).
const STANDBY_CYCLES: u64 = 6;

impl<const WORDS: usize> Machine<Avr<WORDS>> {
    /// `SLEEP`.
    pub(super) fn sleep<O: Observer>(
        &mut self,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        let pc = at.pc * 2;
        let Some(register) = self.core.sleep_register else {
            return self.raise(Fault::Opcode { pc, bytes: vec![0x88, 0x95] });
        };
        let setting = self.bus.read(register.address, 1, at.cycles, pc, dynamic(observer));
        let setting = self.kept(setting)?;
        self.recheck();
        if setting & register.enable == 0 {
            return Ok(());
        }
        let mode = register.mode_of(setting);
        let for_ever = !self.core.flags.i && !self.bus.has_running_watchdog();
        let refused = mode.map_or_else(
            || {
                Some(format!(
                    "sleep mode bits {:#04x} are reserved, or not modelled",
                    setting & register.mode
                ))
            },
            |mode| self.refused(mode).filter(|_| !for_ever),
        );
        if let Some(what) = refused {
            let device = "sleep".into();
            return self.raise(Fault::Peripheral { pc, address: register.address, device, what });
        }
        self.core.sleeping = true;
        self.core.sleep_mode = mode.unwrap_or(IDLE);
        if self.core.sleep_mode != IDLE {
            let name = SLEEP_MODES[self.core.sleep_mode];
            self.bus.sleep(name, at.cycles + timing::cycles::<WORDS>(Opcode::Sleep), pc);
        }
        Ok(())
    }

    /// Returns the reason for which the core cannot sleep in a mode: the mode would stop a module's
    /// work, with an outcome that the data sheet leaves open, or the start-up time is unknown.
    fn refused(&self, mode: usize) -> Option<String> {
        let stopped: &[&str] = match mode {
            IDLE => &[],
            ADC_NOISE_REDUCTION => &["clkI/O"],
            // Timer 2 would go on from the main clock, of which the current is not known.
            POWER_SAVE | EXTENDED_STANDBY => &["clkI/O", "clkADC", "clkT2"],
            _ => &["clkI/O", "clkADC"],
        };
        let name = SLEEP_MODES[mode];
        if let Some(device) = stopped.iter().find_map(|clock| self.bus.clock_needed(clock)) {
            return Some(format!("{name} would stop {device} in what it does: sleep idle, or stop it"));
        }
        let starts = matches!(mode, POWER_DOWN | POWER_SAVE);
        (starts && self.core.programmed.start_up() == StartUp::Unknown)
            .then(|| format!("the start-up time after {name} is not known for this fuse CKSEL"))
    }

    /// An interrupt ends the sleep: the cycles until the clock is there.
    pub(super) fn wake(&mut self) -> u64 {
        let start_up = match (self.core.sleep_mode, self.core.programmed.start_up()) {
            (IDLE | ADC_NOISE_REDUCTION, _) => 0,
            (POWER_DOWN | POWER_SAVE, StartUp::Cycles(cycles)) => cycles,
            _ => STANDBY_CYCLES,
        };
        self.core.sleeping = false;
        self.bus.wake(self.cycles + start_up, self.core.pc * 2);
        start_up
    }
}
