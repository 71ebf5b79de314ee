//! The sleep modes, and the register that chooses one.
//!
//! ATmega328P data sheet DS40002061, chapter 10.

/// The sleep modes, by their names in target files.
pub(super) const SLEEP_MODES: [&str; 6] =
    ["idle", "adc-noise-reduction", "power-down", "power-save", "standby", "extended-standby"];
/// Indices in [`SLEEP_MODES`].
pub(super) const IDLE: usize = 0;
pub(super) const ADC_NOISE_REDUCTION: usize = 1;
pub(super) const POWER_DOWN: usize = 2;
pub(super) const POWER_SAVE: usize = 3;
pub(super) const EXTENDED_STANDBY: usize = 5;
/// The settings with the mode bits of all but idle.
pub(super) const MODE_SETTINGS: [&str; 5] =
    ["sleep_adc", "sleep_power_down", "sleep_power_save", "sleep_standby", "sleep_extended_standby"];

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
    pub(super) fn mode_of(&self, setting: u32) -> Option<usize> {
        match setting & self.mode {
            0 => Some(IDLE),
            bits => Some(1 + self.modes.iter().position(|mode| *mode == Some(bits))?),
        }
    }
}
