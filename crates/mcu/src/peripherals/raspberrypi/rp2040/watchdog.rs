//! Watchdog, its scratch registers, and the tick that it and the timer count: section 4.7.

use super::Write;
use crate::ResetCause;

const CTRL: u32 = 0x00;
const LOAD: u32 = 0x04;
const REASON: u32 = 0x08;
const SCRATCH0: u32 = 0x0c;
const SCRATCH7: u32 = 0x28;
const TICK: u32 = 0x2c;

/// CTRL.
const TIME: u32 = 0x00ff_ffff;
const PAUSES: u32 = 7 << 24;
const ENABLE: u32 = 1 << 30;
const TRIGGER: u32 = 1 << 31;
/// TICK.
const CYCLES: u32 = 0x1ff;
const TICK_ENABLE: u32 = 1 << 9;
const RUNNING: u32 = 1 << 10;
/// Appendix B, RP2040-E1: the counter is decremented twice for each tick.
const DECREMENTS: u128 = 2;

/// The registers.
#[derive(Clone)]
pub(super) struct Watchdog {
    control: u32,
    tick: u32,
    reason: u32,
    scratch: [u32; 8],
    /// Rest of the count at cycle `since`, and 1/(core clock) parts of it that have gone by.
    left: u32,
    since: u64,
    carry: u128,
    clock_hz: u64,
    tick_hz: u64,
}

impl Watchdog {
    pub fn new(clock_hz: u64) -> Watchdog {
        Watchdog {
            control: PAUSES,
            tick: TICK_ENABLE,
            reason: 0,
            scratch: [0; 8],
            left: 0,
            since: 0,
            carry: 0,
            clock_hz,
            tick_hz: 0,
        }
    }

    /// The tick for a reference; 0 while it does not run.
    pub fn tick_hz(&self, reference_hz: u64) -> u64 {
        let on = self.tick & TICK_ENABLE != 0;
        reference_hz.checked_div(if on { (self.tick & CYCLES).into() } else { 0 }).unwrap_or(0)
    }

    fn counts(&self) -> bool {
        self.control & ENABLE != 0 && self.tick_hz != 0
    }

    fn advance(&mut self, now: u64) {
        let elapsed = u128::from(now.saturating_sub(self.since));
        self.since = self.since.max(now);
        if self.counts() {
            let parts = self.carry + elapsed * u128::from(self.tick_hz) * DECREMENTS;
            let clock = u128::from(self.clock_hz.max(1));
            self.left = u128::from(self.left).saturating_sub(parts / clock) as u32;
            self.carry = parts % clock;
        }
    }

    /// The clocks are these from cycle `now` on.
    pub fn set_clocks(&mut self, clock_hz: u64, tick_hz: u64, now: u64) {
        self.advance(now);
        self.carry = self.carry * u128::from(clock_hz) / u128::from(self.clock_hz.max(1));
        self.clock_hz = clock_hz;
        self.tick_hz = tick_hz;
    }

    /// The cycle at which it resets the part.
    pub fn due(&self) -> Option<u64> {
        let rate = u128::from(self.tick_hz) * DECREMENTS;
        let parts = (u128::from(self.left) * u128::from(self.clock_hz)).saturating_sub(self.carry);
        self.counts().then(|| self.since.saturating_add(parts.div_ceil(rate) as u64))
    }

    /// True where it resets the part now.
    pub fn expired(&mut self, now: u64) -> bool {
        self.advance(now);
        let expired = self.counts() && self.left == 0;
        if expired {
            self.reason = 1;
        }
        expired
    }

    /// Resets all but the scratch registers and the cause (section 4.7.6).
    pub fn reset(&mut self, cause: ResetCause) {
        let kept = std::mem::replace(self, Watchdog::new(self.clock_hz));
        if matches!(cause, ResetCause::Watchdog | ResetCause::Software) {
            self.scratch = kept.scratch;
            self.reason = kept.reason;
        }
    }

    pub fn read(&mut self, register: u32, now: u64) -> Option<u32> {
        self.advance(now);
        Some(match register {
            CTRL => self.control | self.left & TIME,
            LOAD => 0,
            REASON => self.reason,
            SCRATCH0..=SCRATCH7 => self.scratch[((register - SCRATCH0) / 4) as usize],
            TICK => {
                let running = self.tick & TICK_ENABLE != 0 && self.tick & CYCLES != 0;
                self.tick | if running { RUNNING } else { 0 }
            }
            _ => return None,
        })
    }

    /// True where the part is to be reset.
    pub fn write(&mut self, register: u32, write: Write, now: u64) -> Option<bool> {
        self.advance(now);
        match register {
            CTRL => {
                let control = write.onto(self.control);
                self.control = control & (ENABLE | PAUSES);
                if control & TRIGGER != 0 {
                    self.reason = 2;
                    return Some(true);
                }
            }
            LOAD => {
                self.left = write.value & TIME;
                self.carry = 0;
            }
            REASON => {}
            SCRATCH0..=SCRATCH7 => {
                let scratch = &mut self.scratch[((register - SCRATCH0) / 4) as usize];
                *scratch = write.onto(*scratch);
            }
            TICK => self.tick = write.onto(self.tick) & (CYCLES | TICK_ENABLE),
            _ => return None,
        }
        Some(false)
    }

    /// True where it will reset the part if nobody does anything.
    pub fn is_on(&self) -> bool {
        self.control & ENABLE != 0
    }
}
