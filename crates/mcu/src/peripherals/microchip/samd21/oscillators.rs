//! The system controller (SYSCTRL): oscillators, DFLL48M, FDPLL96M and the brown-out detector's
//! register. DS40001882F section 17.8.
//!
//! Reserved places read as zero. INTFLAG is set as PCLKSR rises; its interrupts are refused.
//!
//! XOSC32K is ready after the start-up time that the program sets (table 17-9). The other
//! oscillators are ready and DFLL48M has locked at once. In open loop DFLL48M is taken to run at 48
//! MHz, as with the values that the factory has found for it.

use super::dpll::{self, Dpll};
use crate::clock::rescaled;
use crate::peripherals::register::{merged_word, part_of_word};

const OSCULP32K_HZ: u64 = 32_768;
const OSC8M_HZ: u64 = 8_000_000;
const DFLL_HZ: u64 = 48_000_000;

/// The index of the register at an offset in bytes.
const fn word(offset: usize) -> usize {
    offset / 4
}

// The registers.
const INTENCLR: usize = word(0x00);
const INTENSET: usize = word(0x04);
const INTFLAG: usize = word(0x08);
const PCLKSR: usize = word(0x0c);
const XOSC: usize = word(0x10);
const XOSC32K: usize = word(0x14);
const OSC32K: usize = word(0x18);
const OSCULP32K: usize = word(0x1c);
const OSC8M: usize = word(0x20);
const DFLLCTRL: usize = word(0x24);
const DFLLVAL: usize = word(0x28);
const DFLLMUL: usize = word(0x2c);
const DFLLSYNC: usize = word(0x30);
const BOD33: usize = word(0x34);
const DPLLCTRLA: usize = word(0x44);
const DPLLRATIO: usize = word(0x48);
const DPLLCTRLB: usize = word(0x4c);
const DPLLSTATUS: usize = word(0x50);
const WORDS: usize = word(0x54);
/// Bytes of the block, as the memory map has it.
pub(super) const SIZE: u32 = 0x400;

/// Masks of what can be written, and values after a reset.
const LAYOUT: [(usize, u32, u32); 15] = [
    (XOSC, 0xffc6, 0x0080),
    (XOSC32K, 0x17fe, 0x0080),
    (OSC32K, 0x007f_17ce, 0x003f_0080),
    (OSCULP32K, 0x9f, 0x1f),
    (OSC8M, 0xcfff_03c2, 0x8707_0382),
    (DFLLCTRL, 0x0ffe, 0x0080),
    (DFLLVAL, 0xffff, 0),
    (DFLLMUL, 0xffff_ffff, 0),
    (DFLLSYNC, 0, 0),
    (BOD33, 0x003f_f35e, 0),
    (word(0x3c), 0x2040, 0),      // VREG
    (word(0x40), 0x07ff_0006, 0), // VREF
    (DPLLCTRLA, 0xc2, 0x80),
    (DPLLRATIO, 0x000f_0fff, 0),
    (DPLLCTRLB, 0x07ff_173f, 0),
];

/// GENCTRL.SRC: FDPLL96M.
pub(super) const FDPLL: u32 = 8;

/// XOSC, XOSC32K, OSC32K, OSC8M, DFLLCTRL: on.
const ENABLE: u32 = 1 << 1;
/// DFLLCTRL: closed loop, correction by USB.
const MODE: u32 = 1 << 2;
const USBCRM: u32 = 1 << 5;

/// PCLKSR and the interrupts at the same places.
const INTERRUPTS: u32 = 0x0003_8fff;
const XOSC32KRDY: u32 = 1 << 1;
const OSC32KRDY: u32 = 1 << 2;
const OSC8MRDY: u32 = 1 << 3;
const DFLLRDY: u32 = 1 << 4;
const DFLLLCKF: u32 = 1 << 6;
const DFLLLCKC: u32 = 1 << 7;
const BOD33RDY: u32 = 1 << 9;
const DPLLLCKR: u32 = 1 << 15;

/// DPLLCTRLB.REFCLK: XOSC32K, XOSC, GCLK_DPLL.
const REFCLK_SHIFT: u32 = 4;
const REFCLK_XOSC32K: u32 = 0;
const REFCLK_GCLK: u32 = 2;

/// Table 17-9: cycles of OSCULP32K by XOSC32K.STARTUP; three of XOSC32K follow.
const STARTUP: [u64; 8] = [1, 32, 2048, 4096, 16384, 32768, 65536, 131_072];

/// The registers.
#[derive(Clone)]
pub(super) struct Oscillators {
    words: [u32; WORDS],
    crystal_hz: u64,
    clock_hz: u64,
    /// The cycle from which on XOSC32K is ready.
    xosc32k_ready: u64,
    dpll: Dpll,
    /// INTFLAG, and PCLKSR as it was looked at last.
    flags: u32,
    seen: u32,
}

impl Oscillators {
    /// After power-up, with a crystal of `crystal_hz` at XOSC32K.
    pub fn new(crystal_hz: u64, clock_hz: u64) -> Oscillators {
        let mut words = [0; WORDS];
        for (index, _, reset) in LAYOUT {
            words[index] = reset;
        }
        let dpll = Dpll::new();
        let mut oscillators =
            Oscillators { words, crystal_hz, clock_hz, xosc32k_ready: 0, dpll, flags: 0, seen: 0 };
        oscillators.seen = oscillators.status(0);
        oscillators
    }

    /// After another reset than one of the power: the sources of 32 kHz go on (section 16.6.2.7).
    pub fn reset(&mut self, now: u64) {
        let after = Oscillators::new(self.crystal_hz, self.clock_hz);
        let before = std::mem::replace(self, after);
        for kept in [XOSC32K, OSC32K, OSCULP32K] {
            self.words[kept] = before.words[kept];
        }
        self.xosc32k_ready = before.xosc32k_ready;
        self.seen = self.status(now);
    }

    /// The core's clock from cycle `now` on.
    pub fn set_clock(&mut self, clock_hz: u64, now: u64) {
        if self.xosc32k_ready > now {
            self.xosc32k_ready = rescaled(self.xosc32k_ready, now, self.clock_hz, clock_hz);
        }
        self.dpll.set_clock(self.clock_hz, clock_hz, now);
        self.clock_hz = clock_hz;
    }

    fn on(&self, index: usize) -> bool {
        self.words[index] & ENABLE != 0
    }

    /// The frequency of a source of a generator (GENCTRL.SRC), 0 where it stands still; `reference`
    /// is that of DFLL48M.
    pub fn source_hz(&self, source: u32, reference: impl Fn() -> u64) -> u64 {
        match source {
            3 => OSCULP32K_HZ,
            4 if self.on(OSC32K) => OSCULP32K_HZ,
            5 if self.on(XOSC32K) => self.crystal_hz,
            6 if self.on(OSC8M) => OSC8M_HZ >> (self.words[OSC8M] >> 8 & 3),
            7 if self.on(DFLLCTRL) => {
                let control = self.words[DFLLCTRL];
                if control & MODE == 0 || control & USBCRM != 0 {
                    DFLL_HZ
                } else {
                    reference() * u64::from(self.words[DFLLMUL] & 0xffff)
                }
            }
            FDPLL => self.dpll.output_hz(),
            _ => 0,
        }
    }

    /// Tells FDPLL96M its generic clocks' frequencies, and that a generator in use is given it
    /// (`requested`). A sentence where it cannot be.
    pub fn follow_dpll(
        &mut self,
        gclk_hz: u64,
        timer_hz: u64,
        requested: bool,
        now: u64,
    ) -> Result<(), String> {
        let control_b = self.words[DPLLCTRLB];
        let (reference_hz, reference_from) = match control_b >> REFCLK_SHIFT & 3 {
            REFCLK_XOSC32K if self.on(XOSC32K) => (self.crystal_hz, self.xosc32k_ready),
            REFCLK_GCLK => (gclk_hz, now),
            _ => (0, now),
        };
        self.dpll.follow(&dpll::Inputs {
            control_a: self.words[DPLLCTRLA],
            ratio: self.words[DPLLRATIO],
            control_b,
            reference_hz,
            reference_from,
            timer_hz,
            requested,
            clock_hz: self.clock_hz,
            now,
        })
    }

    /// The cycle at which FDPLL96M locks, if it is about to.
    pub fn due(&self) -> Option<u64> {
        self.dpll.due()
    }

    /// It is cycle `now`.
    pub fn advance(&mut self, now: u64) {
        self.dpll.advance(now);
    }

    fn status(&self, now: u64) -> u32 {
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        let locked = self.on(DFLLCTRL) && self.words[DFLLCTRL] & MODE != 0;
        DFLLRDY
            | flag(self.on(XOSC32K) && now >= self.xosc32k_ready, XOSC32KRDY)
            | flag(self.on(OSC32K), OSC32KRDY)
            | flag(self.on(OSC8M), OSC8MRDY)
            | flag(locked, DFLLLCKF | DFLLLCKC)
            | flag(self.on(BOD33), BOD33RDY)
            | flag(self.dpll.is_locked(), DPLLLCKR)
    }

    /// Sets INTFLAG where PCLKSR has risen.
    fn follow_status(&mut self, now: u64) {
        let status = self.status(now);
        self.flags |= status & !self.seen;
        self.seen = status;
    }

    pub fn read(&mut self, offset: u32, size: u8, now: u64) -> u32 {
        self.follow_status(now);
        let word = match offset as usize / 4 {
            PCLKSR => self.seen,
            INTFLAG => self.flags,
            DPLLSTATUS => self.dpll.status(self.words[DPLLCTRLA]),
            index => self.words.get(index).copied().unwrap_or(0),
        };
        part_of_word(word, offset, size)
    }

    /// A write; a sentence where it cannot be.
    pub fn write(&mut self, offset: u32, size: u8, value: u32, now: u64) -> Result<(), String> {
        self.follow_status(now);
        let index = offset as usize / 4;
        let held = if index <= INTFLAG { 0 } else { self.words.get(index).copied().unwrap_or(0) };
        let word = merged_word(held, offset, size, value);
        match index {
            INTENSET if word & INTERRUPTS != 0 => {
                return Err("SYSCTRL_INTENSET: its interrupts are not modelled".into());
            }
            INTFLAG => self.flags &= !word,
            INTENCLR | INTENSET | PCLKSR | DPLLSTATUS => {}
            XOSC if word & ENABLE != 0 => return Err("XOSC is not modelled".into()),
            _ => {
                let Some((_, mask, _)) = LAYOUT.iter().find(|row| row.0 == index) else {
                    return if word == 0 { Ok(()) } else { Err("a reserved place".into()) };
                };
                let before = self.words[index];
                self.words[index] = word & mask;
                if index == XOSC32K && self.on(XOSC32K) && before & ENABLE == 0 {
                    let cycles = STARTUP[(word >> 8 & 7) as usize];
                    let crystal = 3 * self.clock_hz / self.crystal_hz.max(1);
                    self.xosc32k_ready = now + cycles * self.clock_hz / OSCULP32K_HZ + crystal;
                }
            }
        }
        self.follow_status(now);
        Ok(())
    }
}
