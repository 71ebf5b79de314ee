//! CONFIG1 of an MC68HC908, and the watchdog (COP) that it turns off.
//!
//! MC68HC908AP Family data sheet, Rev. 4, chapters "Configuration and Mask Option Registers" and
//! 19, "Computer Operating Properly (COP)". The register can be written once after each reset;
//! further writes change nothing. After a reset the COP runs, on a clock of its own (ICLK, 88 kHz),
//! and resets the part after 2^13 - 2^4 or 2^18 - 2^4 of its periods. Serving it is not modelled: a
//! program turns it off (COPD) within the shorter of the two times, or is reset.

use crate::{
    ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, ResetCause, Roles, Spec, WatchdogTimer,
};

/// COP disable.
const COPD: u8 = 0x01;
const AFTER_RESET: u8 = 0x00;
/// The shorter time-out, in periods of ICLK.
const TIME_OUT: u64 = (1 << 13) - (1 << 4);
/// Typical, at 5 V.
const ICLK_HZ: u64 = 88_000;

/// CONFIG1 and the COP.
#[derive(Clone)]
pub struct Config {
    name: String,
    address: u32,
    value: u8,
    written: bool,
    /// The time-out in bus cycles.
    time_out: u64,
    /// The bus cycle of the last reset.
    since: u64,
}

impl Config {
    /// The register at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Config {
        Config {
            name: spec.name.clone(),
            address: spec.base,
            value: AFTER_RESET,
            written: false,
            time_out: TIME_OUT,
            since: 0,
        }
    }
}

impl Peripheral for Config {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.address..self.address + 1)
    }

    fn read(&mut self, _address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        Ok(self.value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if std::mem::replace(&mut self.written, true) {
            return Ok(());
        }
        self.value = value as u8;
        if self.value & COPD == 0 {
            return context.refuse(
                &self.name,
                address,
                "the COP stays on for good without COPD, and serving it is not modelled",
            );
        }
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        (!self.written).then_some(self.since + self.time_out)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        context.events.request_reset(ResetCause::Watchdog);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.time_out = TIME_OUT * clock_hz / ICLK_HZ;
        }
    }

    fn reset(&mut self) {
        self.reset_by(ResetCause::PowerOn, 0);
    }

    fn reset_by(&mut self, _cause: ResetCause, now: u64) {
        self.value = AFTER_RESET;
        self.written = false;
        self.since = now;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Config {
    fn is_running(&self) -> bool {
        !self.written
    }
}
