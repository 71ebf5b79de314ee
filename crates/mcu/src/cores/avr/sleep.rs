//! Sleep modes: what they stop, and how long it takes to wake from them.
//!
//! ATmega328P data sheet DS40002061, chapters 9 (start-up times) and 10 (table 10-1, active clock
//! domains and wake-up sources). In all modes but idle the I/O clock stands still: timers keep
//! their counts and outputs. Interrupts that are requested in spite of that wake the core: those of
//! pins, the watchdog, in ADC noise reduction the converter and the EEPROM.

use super::fuses::StartUp;
use super::memory::{BailOut, InstructionStart};
use super::registers::Avr;
use super::timing;
use crate::machine::Machine;
use crate::observe::dynamic;
use crate::{Fault, Observer};

use super::decode::Opcode;

/// The sleep modes, by their names in target files.
pub(super) const SLEEP_MODES: [&str; 6] =
    ["idle", "adc-noise-reduction", "power-down", "power-save", "standby", "extended-standby"];
/// Indices in [`SLEEP_MODES`].
const IDLE: usize = 0;
const ADC_NOISE_REDUCTION: usize = 1;
const POWER_DOWN: usize = 2;
const POWER_SAVE: usize = 3;
const EXTENDED_STANDBY: usize = 5;
/// The settings with the mode bits of all but idle.
pub(super) const MODE_SETTINGS: [&str; 5] =
    ["sleep_adc", "sleep_power_down", "sleep_power_save", "sleep_standby", "sleep_extended_standby"];

/// From standby "the device wakes up in six clock cycles" (10.7).
const STANDBY_CYCLES: u64 = 6;

/// The register that decides what `SLEEP` does (SMCR, MCUCR).
#[derive(Clone, Copy)]
pub struct SleepRegister {
    pub address: u32,
    /// The bit SE.
    pub enable: u32,
    /// The bits SM2..SM0; all clear means idle.
    pub mode: u32,
    /// Those bits for the modes of [`MODE_SETTINGS`] that the part has.
    pub modes: [Option<u32>; 5],
}

impl SleepRegister {
    /// The place in [`SLEEP_MODES`] of what is set.
    fn mode_of(&self, setting: u32) -> Option<usize> {
        match setting & self.mode {
            0 => Some(IDLE),
            bits => Some(1 + self.modes.iter().position(|mode| *mode == Some(bits))?),
        }
    }
}

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
