//! The fractional digital phase-locked loop (FDPLL96M) of the system controller: DS40001882,
//! sections 17.6.8 and 17.8.17 to 17.8.20.
//!
//! DPLLSTATUS.CLKRDY comes with LOCK. The lock time without LTIME is on the line between the
//! typical ones for the lowest and the highest reference (section 37.13.7); the data sheet has them
//! for an output of 96 MHz and says of others that filter and frequency make a difference, but not
//! which.

use crate::clock::rescaled;

/// DPLLCTRLA.
const ENABLE: u32 = 1 << 1;
const ONDEMAND: u32 = 1 << 7;
/// DPLLRATIO: LDR, LDRFRAC.
const LDR: u32 = 0xfff;
const LDRFRAC_SHIFT: u32 = 16;
/// DPLLCTRLB.
const WUF: u32 = 1 << 3;
const LTIME_SHIFT: u32 = 8;
/// DPLLSTATUS: LOCK and CLKRDY.
const LOCKED: u32 = 1 << 0 | 1 << 1;
const ENABLED: u32 = 1 << 2;

/// Section 37.13.7: reference and output, in Hz.
const REFERENCE_HZ: std::ops::RangeInclusive<u64> = 32_000..=2_000_000;
const OUTPUT_HZ: std::ops::RangeInclusive<u64> = 48_000_000..=96_000_000;
/// Section 37.13.7: the typical lock times, from 2 MHz and from 32 kHz.
const LOCK_FAST: LockTime = LockTime { period_ps: 500_000, lock_ps: 25_000_000 };
const LOCK_SLOW: LockTime = LockTime { period_ps: 31_250_000, lock_ps: 1_300_000_000 };
const SECOND_PS: u64 = 1_000_000_000_000;

/// A row of the table of lock times.
struct LockTime {
    /// Of the reference.
    period_ps: u64,
    lock_ps: u64,
}

/// The source of CK; another one begins another acquisition.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Setting {
    reference_hz: u64,
    ratio: u32,
    lock_time: u32,
}

/// The state of the loop.
#[derive(Clone)]
pub(super) struct Dpll {
    running: Option<Setting>,
    /// The cycle at which it has locked.
    locks: u64,
    locked: bool,
}

/// The registers that it follows, and what is around it.
pub(super) struct Inputs {
    pub control_a: u32,
    pub ratio: u32,
    pub control_b: u32,
    /// The frequency of CLK_FDPLL96M_REF, 0 where it stands still, and the cycle from which on it
    /// runs.
    pub reference_hz: u64,
    pub reference_from: u64,
    /// GCLK_FDPLL96M_32K, in Hz.
    pub timer_hz: u64,
    /// Somebody wants the output.
    pub requested: bool,
    pub clock_hz: u64,
    pub now: u64,
}

impl Dpll {
    pub fn new() -> Dpll {
        Dpll { running: None, locks: 0, locked: false }
    }

    /// The output's frequency in Hz; 0 until it has locked.
    pub fn output_hz(&self) -> u64 {
        self.running.filter(|_| self.locked).map_or(0, Setting::output_hz)
    }

    /// DPLLSTATUS.
    pub fn status(&self, control_a: u32) -> u32 {
        let enabled = if control_a & ENABLE != 0 { ENABLED } else { 0 };
        enabled | if self.locked { LOCKED } else { 0 }
    }

    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// The cycle at which it locks, if it is about to.
    pub fn due(&self) -> Option<u64> {
        self.running.filter(|_| !self.locked).map(|_| self.locks)
    }

    pub fn advance(&mut self, now: u64) {
        self.locked |= self.due().is_some_and(|locks| locks <= now);
    }

    /// The core's clock is another one from cycle `now` on.
    pub fn set_clock(&mut self, before_hz: u64, clock_hz: u64, now: u64) {
        self.locks = rescaled(self.locks, now, before_hz, clock_hz);
    }

    /// Takes over clocks and settings, which may have changed; an error says what cannot be.
    /// Section 17.6.8.6: another ratio clears LOCK, too.
    pub fn follow(&mut self, inputs: &Inputs) -> Result<(), String> {
        let Inputs { control_a, ratio, control_b, reference_hz, .. } = *inputs;
        let on = control_a & ENABLE != 0 && (control_a & ONDEMAND == 0 || inputs.requested);
        if !on || reference_hz == 0 {
            *self = Dpll::new();
            return Ok(());
        }
        let setting = Setting { reference_hz, ratio, lock_time: control_b >> LTIME_SHIFT & 7 };
        if self.running == Some(setting) {
            return Ok(());
        }
        if control_b & WUF != 0 {
            return Err(
                "FDPLL96M's wake-up fast mode is not modelled: its clock before the lock has no frequency \
                        that is known"
                    .into(),
            );
        }
        if !REFERENCE_HZ.contains(&reference_hz) {
            return Err(format!("FDPLL96M takes 32 kHz to 2 MHz, but its reference has {reference_hz} Hz"));
        }
        let output_hz = setting.output_hz();
        if !OUTPUT_HZ.contains(&output_hz) {
            return Err(format!("FDPLL96M makes 48 to 96 MHz, but is set to {} MHz", output_hz as f64 / 1e6));
        }
        let lock_ps = setting.lock_ps(inputs.timer_hz)?;
        let cycles = u128::from(lock_ps) * u128::from(inputs.clock_hz) / u128::from(SECOND_PS);
        self.running = Some(setting);
        self.locks = inputs.reference_from.max(inputs.now) + cycles as u64;
        self.locked = false;
        Ok(())
    }
}

impl Setting {
    /// Section 17.6.8.3: the reference times LDR + 1 + LDRFRAC / 16.
    fn output_hz(self) -> u64 {
        self.reference_hz * u64::from(((self.ratio & LDR) + 1) * 16 + (self.ratio >> LDRFRAC_SHIFT)) / 16
    }

    /// From the start to the lock: a time that GCLK_FDPLL96M_32K counts (DPLLCTRLB.LTIME), or what
    /// it takes.
    fn lock_ps(self, timer_hz: u64) -> Result<u64, String> {
        match self.lock_time {
            0 => {
                let beyond = (SECOND_PS / self.reference_hz).saturating_sub(LOCK_FAST.period_ps);
                let slower = LOCK_SLOW.lock_ps - LOCK_FAST.lock_ps;
                let periods = LOCK_SLOW.period_ps - LOCK_FAST.period_ps;
                Ok(LOCK_FAST.lock_ps + beyond * slower / periods)
            }
            1..=3 => Err("DPLLCTRLB.LTIME 1 to 3 are reserved".into()),
            _ if timer_hz == 0 => Err("DPLLCTRLB.LTIME needs GCLK_FDPLL96M_32K, which stands still".into()),
            // 8 to 11 ms.
            time => Ok((u64::from(time) + 4) * SECOND_PS / 1000),
        }
    }
}
