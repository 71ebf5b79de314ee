//! Clock generators (CLOCKS): section 2.15. A clock changes as soon as it is told to. Inputs by
//! pins (GPIN), measurements of the frequency counter and resuscitation are refused.

use super::oscillators::Oscillators;
use super::{CLK_PERI, CLK_REF, CLK_SYS, Write};

/// Generators, GPOUT0 to RTC, and bytes of the registers of one: CTRL, DIV, SELECTED.
const GENERATORS: usize = 10;
const GENERATOR: u32 = 0x0c;
const END: u32 = GENERATOR * GENERATORS as u32;
const RESUS_CTRL: u32 = 0x78;
const RESUS_STATUS: u32 = 0x7c;
/// The frequency counter: its settings from FC0_REF_KHZ to FC0_INTERVAL, then FC0_SRC.
const FC0: u32 = 0x80;
const FC0_SRC: u32 = 0x94;
const FC0_RESULT: u32 = 0x9c;
/// Bits of each setting, and its value after a reset.
const FC0_SETTINGS: [(u32, u32); 5] =
    [(0x000f_ffff, 0), (0x01ff_ffff, 0), (0x01ff_ffff, 0x01ff_ffff), (0x7, 1), (0xf, 8)];
const WAKE_EN0: u32 = 0xa0;
const WAKE_EN1: u32 = 0xa4;
const SLEEP_EN0: u32 = 0xa8;
const SLEEP_EN1: u32 = 0xac;
const ENABLED0: u32 = 0xb0;
const ENABLED1: u32 = 0xb4;
const INTR: u32 = 0xb8;
const INTE: u32 = 0xbc;
const INTF: u32 = 0xc0;
const INTS: u32 = 0xc4;

/// CTRL of GPOUT0 to 3, REF, SYS, PERI, USB, ADC, RTC: what can be written.
const CTRL_MASKS: [u32; GENERATORS] = [
    0x0013_1de0,
    0x0013_1de0,
    0x0013_1de0,
    0x0013_1de0,
    0x63,
    0xe1,
    0xce0,
    0x0013_0ce0,
    0x0013_0ce0,
    0x0013_0ce0,
];
/// DIV of them.
const DIV_MASKS: [u32; GENERATORS] =
    [u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0x300, u32::MAX, 0, 0x300, 0x300, u32::MAX];
const ENABLE: u32 = 1 << 11;
const KILL: u32 = 1 << 10;
/// The clocks of WAKE_EN1 and the like: 15 of them.
const EN1_MASK: u32 = 0x7fff;
/// RESUS_CTRL after a reset.
const RESUS_RESET: u32 = 0xff;
const RESUS_ENABLE: u32 = 1 << 8;
const RESUS_FRCE: u32 = 1 << 12;

/// The registers.
#[derive(Clone)]
pub(super) struct Clocks {
    controls: [u32; GENERATORS],
    dividers: [u32; GENERATORS],
    resuscitation: u32,
    /// FC0_REF_KHZ to FC0_INTERVAL.
    counter: [u32; FC0_SETTINGS.len()],
}

/// The source of a clock.
#[derive(Clone, Copy)]
enum Source {
    PllSys,
    PllUsb,
    Rosc,
    Xosc,
    Clock(usize),
    /// An input pin, or nothing.
    None,
}

impl Clocks {
    /// As after power-up: all of the ring oscillator.
    pub fn new() -> Clocks {
        Clocks {
            controls: [0; GENERATORS],
            dividers: [0x100; GENERATORS],
            resuscitation: RESUS_RESET,
            counter: FC0_SETTINGS.map(|(_, reset)| reset),
        }
    }

    /// CTRL.SRC and AUXSRC of a generator, from the tables of section 2.15.7.
    fn source(&self, index: usize) -> Source {
        use Source::{Clock, None, PllSys, PllUsb, Rosc, Xosc};
        let control = self.controls[index];
        let pick = |from: &[Source], field: u32| from.get(field as usize).copied().unwrap_or(None);
        match (index, control & 3) {
            (CLK_REF, 0) => Rosc,
            (CLK_REF, 1) => pick(&[PllUsb], control >> 5 & 3),
            (CLK_REF, 2) => Xosc,
            (CLK_REF, _) => None,
            (CLK_SYS, 0) => Clock(CLK_REF),
            (CLK_SYS, _) => pick(&[PllSys, PllUsb, Rosc, Xosc], control >> 5 & 7),
            (CLK_PERI, _) => pick(&[Clock(CLK_SYS), PllSys, PllUsb, Rosc, Xosc], control >> 5 & 7),
            (7.., _) => pick(&[PllUsb, PllSys, Rosc, Xosc], control >> 5 & 7),
            _ => {
                let clock = Clock;
                let list = [
                    PllSys,
                    None,
                    None,
                    PllUsb,
                    Rosc,
                    Xosc,
                    clock(5),
                    clock(7),
                    clock(8),
                    clock(9),
                    clock(4),
                ];
                pick(&list, control >> 5 & 15)
            }
        }
    }

    /// The frequency of a clock; 0 for one that stands still.
    pub fn hz(&self, index: usize, oscillators: &Oscillators) -> u64 {
        let on = matches!(index, CLK_REF | CLK_SYS) || self.controls[index] & (ENABLE | KILL) == ENABLE;
        if !on {
            return 0;
        }
        let source_hz = match self.source(index) {
            Source::PllSys => oscillators.pll_hz(0),
            Source::PllUsb => oscillators.pll_hz(1),
            Source::Rosc => oscillators.rosc_hz(),
            Source::Xosc => oscillators.xosc_hz(),
            Source::Clock(other) => self.hz(other, oscillators),
            Source::None => 0,
        };
        if DIV_MASKS[index] == 0 {
            return source_hz;
        }
        let divider = u64::from(self.dividers[index]);
        // INT of 0 divides by the most: 4 for two bits, 65,536 for 24.
        let divider = match (divider >> 8, DIV_MASKS[index]) {
            (0, 0x300) => 4 << 8,
            (0, _) => 1 << 24,
            _ => divider,
        };
        (source_hz << 8) / divider
    }

    pub fn read(&self, register: u32) -> u32 {
        match register {
            0..END => {
                let index = (register / GENERATOR) as usize;
                match register % GENERATOR {
                    0 => self.controls[index],
                    4 => self.dividers[index] & DIV_MASKS[index],
                    _ if index == CLK_REF => 1 << (self.controls[index] & 3),
                    _ if index == CLK_SYS => 1 << (self.controls[index] & 1),
                    _ => 1,
                }
            }
            RESUS_CTRL => self.resuscitation,
            RESUS_STATUS => 0,
            WAKE_EN0 | SLEEP_EN0 | ENABLED0 => u32::MAX,
            WAKE_EN1 | SLEEP_EN1 | ENABLED1 => EN1_MASK,
            FC0..FC0_SRC => self.counter[((register - FC0) / 4) as usize],
            // FC0_SRC, FC0_STATUS, FC0_RESULT, INTR to INTS.
            _ => 0,
        }
    }

    pub fn write(&mut self, register: u32, write: Write) -> Result<(), &'static str> {
        match register {
            0..END => {
                let index = (register / GENERATOR) as usize;
                match register % GENERATOR {
                    0 => {
                        self.controls[index] = write.onto(self.controls[index]) & CTRL_MASKS[index];
                    }
                    4 => self.dividers[index] = write.onto(self.dividers[index]) & DIV_MASKS[index],
                    _ => {}
                }
            }
            RESUS_CTRL => {
                self.resuscitation = write.onto(self.resuscitation) & 0x0001_11ff;
                if self.resuscitation & (RESUS_ENABLE | RESUS_FRCE) != 0 {
                    return Err("CLK_SYS_RESUS_CTRL: resuscitation of clk_sys is not modelled");
                }
            }
            RESUS_STATUS | ENABLED0 | ENABLED1 => {}
            WAKE_EN0 | SLEEP_EN0 if write.onto(u32::MAX) == u32::MAX => {}
            WAKE_EN1 | SLEEP_EN1 if write.onto(EN1_MASK) & EN1_MASK == EN1_MASK => {}
            WAKE_EN0..=SLEEP_EN1 => {
                return Err("WAKE_EN, SLEEP_EN: stopping the clocks of single blocks is not modelled");
            }
            INTE | INTF if write.onto(0) & 1 != 0 => return Err("INTE, INTF: its interrupt is not modelled"),
            INTR..=INTS => {}
            FC0..FC0_SRC => {
                let index = ((register - FC0) / 4) as usize;
                self.counter[index] = write.onto(self.counter[index]) & FC0_SETTINGS[index].0;
            }
            FC0_SRC if write.onto(0) & 0xff != 0 => {
                return Err("FC0_SRC: the frequency counter is not modelled");
            }
            FC0_SRC..=FC0_RESULT => {}
            _ => return super::reserved(write),
        }
        Ok(())
    }
}
