//! Crystal oscillator (XOSC), ring oscillator (ROSC) and the two PLLs: sections 2.16, 2.17 and
//! 2.18.
//!
//! The crystal is stable after the start-up delay that the program sets. The ring oscillator runs
//! at its typical frequency; a PLL has locked at once.

use super::Write;
use crate::clock::rescaled;
use crate::peripherals::register::{Register, Registers};

const CTRL: u32 = 0x00;
/// CTRL.ENABLE of both oscillators.
const ENABLE_SHIFT: u32 = 12;
const ENABLE: u32 = 0xfab;
const DISABLE: u32 = 0xd1e;
const ENABLED: u32 = 1 << 12;
const BADWRITE: u32 = 1 << 24;
const STABLE: u32 = 1 << 31;

/// DORMANT of both: a power-up and an invalid write select WAKE.
const WAKE: u32 = 0x7761_6b65;
const DORMANT: u32 = 0x636f_6d61;
const NOT_MODELLED: &str = "DORMANT, COUNT: dormant mode and its counter are not modelled";

// XOSC.
const XOSC_STATUS: u32 = 0x04;
const XOSC_DORMANT: u32 = 0x08;
const XOSC_STARTUP: u32 = 0x0c;
const XOSC_COUNT: u32 = 0x1c;
const STARTUP_MASK: u32 = 0x0010_3fff;
const STARTUP_X4: u32 = 1 << 20;
/// STARTUP.DELAY counts so many cycles of the crystal.
const DELAY_UNIT: u64 = 256;

// ROSC.
const ROSC_FREQA: u32 = 0x04;
const ROSC_FREQB: u32 = 0x08;
const ROSC_DORMANT: u32 = 0x0c;
const ROSC_DIV: u32 = 0x10;
const ROSC_PHASE: u32 = 0x14;
const ROSC_STATUS: u32 = 0x18;
const ROSC_RANDOMBIT: u32 = 0x1c;
const ROSC_COUNT: u32 = 0x20;
/// CTRL.FREQ_RANGE after a reset.
const FREQ_RANGE: u32 = 0xaa0;
/// The ring's stages by CTRL.FREQ_RANGE: LOW, MEDIUM and HIGH leave out those before stage 0, 2 and
/// 4 (SVD). A reset leaves LOW.
const STAGES: u64 = 8;
const RANGES: [(u32, u64); 4] = [(FREQ_RANGE, STAGES), (0xfa4, STAGES), (0xfa5, 6), (0xfa7, 4)];
const DIV_PASS: u32 = 0xaa0;
const DIV_RUNNING: u32 = 1 << 16;
/// Section 2.17.2: 6.5 MHz typically at boot, with the divider's 16 of a reset.
const ROSC_UNDIVIDED_HZ: u64 = 6_500_000 * 16;

// A PLL.
const PLL_CS: u32 = 0x00;
const PLL_PWR: u32 = 0x04;
const PLL_FBDIV: u32 = 0x08;
const PLL_PRIM: u32 = 0x0c;
const LOCK: u32 = 1 << 31;
const BYPASS: u32 = 1 << 8;
const PWR_MASK: u32 = 0x2d;
/// PWR: the VCO, the post dividers and all of it powered down.
const VCOPD: u32 = 1 << 5;
const POSTDIVPD: u32 = 1 << 3;
const PD: u32 = 1 << 0;

/// The registers of a PLL (section 2.18.4).
const PLL: &[Register] = &[
    Register::new(PLL_CS, BYPASS | 0x3f).with_reset(1),
    Register::new(PLL_PWR, PWR_MASK).with_reset(PWR_MASK),
    Register::new(PLL_FBDIV, 0xfff),
    Register::new(PLL_PRIM, 0x0007_7000).with_reset(0x0007_7000),
];

/// One of the two.
#[derive(Clone)]
pub(super) struct Pll(Registers);

impl Pll {
    /// As after a reset.
    pub fn new() -> Pll {
        Pll(Registers::new(PLL))
    }

    fn locked(&self, reference_hz: u64) -> bool {
        self.0[PLL_PWR] & (VCOPD | PD) == 0 && reference_hz != 0 && (16..=320).contains(&self.0[PLL_FBDIV])
    }

    /// The output for a reference (section 2.18.1): FREF / REFDIV * FBDIV / (POSTDIV1 * POSTDIV2).
    pub fn hz(&self, reference_hz: u64) -> u64 {
        let divider = u64::from(self.0[PLL_CS] & 0x3f).max(1);
        if self.0[PLL_CS] & BYPASS != 0 {
            return reference_hz / divider;
        }
        if !self.locked(reference_hz) || self.0[PLL_PWR] & POSTDIVPD != 0 {
            return 0;
        }
        let post = |shift: u32| u64::from(self.0[PLL_PRIM] >> shift & 7).max(1);
        reference_hz * u64::from(self.0[PLL_FBDIV]) / (divider * post(16) * post(12))
    }

    pub fn read(&self, register: u32, reference_hz: u64) -> Option<u32> {
        let locked = register == PLL_CS && self.locked(reference_hz);
        self.0.get(register).map(|word| if locked { word | LOCK } else { word })
    }

    /// A write; a sentence where it cannot be.
    pub fn write(&mut self, register: u32, write: Write) -> Result<(), &'static str> {
        if self.0.get(register).is_none() {
            return super::reserved(write);
        }
        self.0.write(register, |before| write.onto(before))
    }
}

/// The registers of XOSC, ROSC and the PLLs.
#[derive(Clone)]
pub(super) struct Oscillators {
    crystal_hz: u64,
    clock_hz: u64,
    xosc_control: u32,
    xosc_startup: u32,
    xosc_on: bool,
    xosc_bad: bool,
    /// The cycle from which on it is stable.
    xosc_stable: u64,
    rosc_on: bool,
    rosc_control: u32,
    rosc_divider: u32,
    rosc_phase: u32,
    rosc_bad: bool,
    /// The state behind RANDOMBIT: the bits are a sequence, the same in every run.
    random: u32,
    /// PLL_SYS and PLL_USB.
    pub plls: [Pll; 2],
}

impl Oscillators {
    /// After power-up, with a crystal of `crystal_hz`.
    pub fn new(crystal_hz: u64, clock_hz: u64) -> Oscillators {
        Oscillators {
            crystal_hz,
            clock_hz,
            xosc_control: 0,
            xosc_startup: 0,
            xosc_on: false,
            xosc_bad: false,
            xosc_stable: 0,
            rosc_on: true,
            rosc_control: FREQ_RANGE,
            rosc_divider: DIV_PASS + 16,
            rosc_phase: 8,
            rosc_bad: false,
            random: 1,
            plls: [Pll::new(), Pll::new()],
        }
    }

    /// The core's clock from cycle `now` on.
    pub fn set_clock(&mut self, clock_hz: u64, now: u64) {
        if self.xosc_stable > now {
            self.xosc_stable = rescaled(self.xosc_stable, now, self.clock_hz, clock_hz);
        }
        self.clock_hz = clock_hz;
    }

    pub fn xosc_hz(&self) -> u64 {
        if self.xosc_on { self.crystal_hz } else { 0 }
    }

    pub fn rosc_hz(&self) -> u64 {
        let divider = match self.rosc_divider.wrapping_sub(DIV_PASS) {
            divider @ 1..=31 => divider,
            _ => 32,
        };
        let range = RANGES.iter().find(|(range, _)| *range == self.rosc_control & 0xfff);
        let stages = range.map_or(STAGES, |(_, stages)| *stages);
        if self.rosc_on { ROSC_UNDIVIDED_HZ * STAGES / (stages * u64::from(divider)) } else { 0 }
    }

    /// The outputs of PLL_SYS and PLL_USB.
    pub fn pll_hz(&self, index: usize) -> u64 {
        self.plls[index].hz(self.xosc_hz())
    }

    pub fn read_xosc(&self, register: u32, now: u64) -> Option<u32> {
        Some(match register {
            CTRL => self.xosc_control,
            XOSC_STATUS => {
                let stable = self.xosc_hz() != 0 && now >= self.xosc_stable;
                (if self.xosc_on { ENABLED } else { 0 })
                    | (if stable { STABLE } else { 0 })
                    | (if self.xosc_bad { BADWRITE } else { 0 })
            }
            XOSC_STARTUP => self.xosc_startup,
            XOSC_DORMANT => WAKE,
            // COUNT stands still.
            _ => return None,
        })
    }

    /// Writes an ENABLE field; false for a value that is none.
    fn enable(field: u32, on: &mut bool) -> bool {
        match field {
            ENABLE => *on = true,
            DISABLE => *on = false,
            0 => {}
            _ => return false,
        }
        true
    }

    /// A write of XOSC; a sentence where it cannot be.
    pub fn write_xosc(&mut self, register: u32, write: Write, now: u64) -> Result<(), &'static str> {
        match register {
            CTRL => {
                self.xosc_control = write.onto(self.xosc_control) & 0x00ff_ffff;
                let was_on = self.xosc_on;
                self.xosc_bad |= !Self::enable(self.xosc_control >> ENABLE_SHIFT, &mut self.xosc_on);
                if self.xosc_on && !was_on {
                    let times = if self.xosc_startup & STARTUP_X4 != 0 { 4 } else { 1 };
                    let delay = u64::from(self.xosc_startup & 0x3fff) * DELAY_UNIT * times;
                    let cycles = delay * self.clock_hz / self.crystal_hz.max(1);
                    self.xosc_stable = now + cycles;
                }
            }
            // BADWRITE is cleared by a one.
            XOSC_STATUS => self.xosc_bad &= write.value & BADWRITE == 0,
            XOSC_STARTUP => self.xosc_startup = write.onto(self.xosc_startup) & STARTUP_MASK,
            XOSC_DORMANT if write.onto(WAKE) != DORMANT => {}
            XOSC_COUNT if write.onto(0) & 0xff == 0 => {}
            XOSC_DORMANT | XOSC_COUNT => return Err(NOT_MODELLED),
            _ => return super::reserved(write),
        }
        Ok(())
    }

    pub fn read_rosc(&mut self, register: u32) -> Option<u32> {
        Some(match register {
            CTRL => self.rosc_control,
            ROSC_DORMANT => WAKE,
            ROSC_DIV => self.rosc_divider,
            ROSC_PHASE => self.rosc_phase,
            ROSC_STATUS => {
                let running = if self.rosc_on { STABLE | ENABLED | DIV_RUNNING } else { 0 };
                running | if self.rosc_bad { BADWRITE } else { 0 }
            }
            ROSC_RANDOMBIT => {
                // A xorshift generator.
                self.random ^= self.random << 13;
                self.random ^= self.random >> 17;
                self.random ^= self.random << 5;
                self.random & 1
            }
            _ => return None,
        })
    }

    pub fn write_rosc(&mut self, register: u32, write: Write) -> Result<(), &'static str> {
        match register {
            CTRL => {
                self.rosc_control = write.onto(self.rosc_control) & 0x00ff_ffff;
                self.rosc_bad |= !Self::enable(self.rosc_control >> ENABLE_SHIFT, &mut self.rosc_on);
                if !RANGES.iter().any(|(range, _)| *range == self.rosc_control & 0xfff) {
                    return Err("FREQ_RANGE is none of LOW, MEDIUM and HIGH");
                }
            }
            ROSC_FREQA | ROSC_FREQB if write.value & 0x7777 == 0 => {}
            ROSC_FREQA | ROSC_FREQB => {
                return Err("FREQA, FREQB: the frequency with other drive strengths is not known");
            }
            ROSC_DIV => self.rosc_divider = write.onto(self.rosc_divider) & 0xfff,
            ROSC_PHASE => self.rosc_phase = write.onto(self.rosc_phase) & 0xfff,
            ROSC_STATUS => self.rosc_bad &= write.value & BADWRITE == 0,
            ROSC_DORMANT if write.onto(WAKE) != DORMANT => {}
            ROSC_COUNT if write.onto(0) & 0xff == 0 => {}
            ROSC_DORMANT | ROSC_COUNT => return Err(NOT_MODELLED),
            ROSC_RANDOMBIT => {}
            _ => return super::reserved(write),
        }
        Ok(())
    }
}
