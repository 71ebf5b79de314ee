//! The generic clock controller (GCLK): nine generators and the modules' choices among them.
//! DS40001882F section 15.8.
//!
//! A write holds at once: STATUS.SYNCBUSY is never set. Reserved places read as zero.

use super::oscillators::{FDPLL, Oscillators};
use crate::peripherals::register::{merged_word, part_of_word};

const GENERATORS: usize = 9;
/// Modules, by GCLK_CLKCTRL.ID; the last is TC6 and TC7 (table 15-7), and the others are reserved:
/// programs switch them all off.
const MODULES: usize = 0x40;
const LAST_MODULE: usize = 0x24;

/// GENCTRL: source, on, what DIV means.
const SRC_SHIFT: u32 = 8;
const GENEN: u32 = 1 << 16;
const DIVSEL: u32 = 1 << 20;
const GENCTRL_MASK: u32 = 0x003f_1f0f;
const GENDIV_MASK: u32 = 0x00ff_ff0f;
/// GENCTRL after a reset: generator 0 on OSC8M, generator 2 on OSCULP32K (sections 15.8.4, 18.5.3).
const GENCTRL_0: u32 = GENEN | 6 << SRC_SHIFT;
const GENCTRL_2: u32 = GENEN | 3 << SRC_SHIFT | 2;

/// CLKCTRL: generator, on; after a reset the watchdog has generator 2 (section 15.8.3).
const GEN_SHIFT: u32 = 8;
const CLKEN: u32 = 1 << 14;
const WRTLOCK: u32 = 1 << 15;
const CLKCTRL_MASK: u32 = 0xcf3f;
const WDT_ID: usize = 3;
const CLKCTRL_WDT: u32 = CLKEN | 2 << GEN_SHIFT | WDT_ID as u32;

const CTRL: u32 = 0x0;
const CLKCTRL: u32 = 0x2;
const GENCTRL: u32 = 0x4;
const GENDIV: u32 = 0x8;
const GENDIV_END: u32 = 0xc;
/// Bytes of the block, as the memory map has it.
pub(super) const SIZE: u32 = 0x400;

/// GCLK_CLKCTRL.ID of the reference of DFLL48M.
pub(super) const DFLL_ID: usize = 0;
/// The reference of FDPLL96M and the clock that counts its lock time.
pub(super) const FDPLL_ID: usize = 1;
pub(super) const FDPLL_32K_ID: usize = 2;

/// The registers.
#[derive(Clone)]
pub(super) struct Generators {
    modules: [u32; MODULES],
    control: [u32; GENERATORS],
    division: [u32; GENERATORS],
    /// Indices of the registers that are read: the last IDs that were written to CLKCTRL, GENCTRL,
    /// GENDIV.
    chosen: [usize; 3],
}

impl Generators {
    pub fn new() -> Generators {
        let mut generators = Generators {
            modules: std::array::from_fn(|id| id as u32),
            control: std::array::from_fn(|id| id as u32),
            division: std::array::from_fn(|id| id as u32),
            chosen: [0; 3],
        };
        generators.control[0] = GENCTRL_0;
        generators.control[2] = GENCTRL_2;
        generators.modules[WDT_ID] = CLKCTRL_WDT;
        generators
    }

    /// After CTRL.SWRST, or another reset than one of the power: what is write-locked stays
    /// (section 15.6.3.4).
    pub fn reset(&mut self) {
        let mut after = Generators::new();
        for (kept, module) in after.modules.iter_mut().zip(&self.modules) {
            if module & WRTLOCK != 0 {
                *kept = *module;
            }
        }
        for generator in (0..GENERATORS).filter(|generator| self.is_locked(*generator)) {
            after.control[generator] = self.control[generator];
            after.division[generator] = self.division[generator];
        }
        *self = after;
    }

    /// True for the generator of a module that is write-locked; the core's cannot be locked.
    fn is_locked(&self, generator: usize) -> bool {
        let locked = self.modules.iter().filter(|module| **module & WRTLOCK != 0);
        generator != 0
            && locked.map(|module| module >> GEN_SHIFT & 15).any(|given| given as usize == generator)
    }

    /// The frequency of a generator; 0 where it stands still.
    pub fn generator_hz(&self, index: usize, oscillators: &Oscillators) -> u64 {
        let (Some(control), Some(division)) = (self.control.get(index), self.division.get(index)) else {
            return 0;
        };
        if control & GENEN == 0 {
            return 0;
        }
        let source_hz = match control >> SRC_SHIFT & 31 {
            // Generator 1 can be the source of the others.
            2 if index != 1 => self.generator_hz(1, oscillators),
            source => oscillators.source_hz(source, || self.module_hz(DFLL_ID, oscillators)),
        };
        // Section 15.8.5: generator 1 divides by 16 bits, 2 by five, the others by eight.
        let bits = match index {
            1 => 16,
            2 => 5,
            _ => 8,
        };
        let division = u64::from(division >> 8) & ((1 << bits) - 1);
        if control & DIVSEL != 0 { source_hz >> (division + 1).min(63) } else { source_hz / division.max(1) }
    }

    /// The source of a generator that is on (GENCTRL.SRC), through generator 1, too.
    pub fn source(&self, index: usize) -> Option<u32> {
        let control = *self.control.get(index)?;
        match control >> SRC_SHIFT & 31 {
            _ if control & GENEN == 0 => None,
            2 if index != 1 => self.source(1),
            source => Some(source),
        }
    }

    /// True where the core or a module has a clock that is made of this source.
    pub fn wants(&self, source: u32) -> bool {
        let modules = self.modules.iter().filter(|module| **module & CLKEN != 0);
        let mut generators = modules.map(|module| (module >> GEN_SHIFT & 15) as usize).chain([0]);
        generators.any(|generator| self.source(generator) == Some(source))
    }

    /// The frequency of a module's generic clock.
    pub fn module_hz(&self, id: usize, oscillators: &Oscillators) -> u64 {
        let control = self.modules[id];
        if control & CLKEN == 0 {
            return 0;
        }
        let generator = (control >> GEN_SHIFT & 15) as usize;
        // The reference of DFLL48M cannot be made of DFLL48M, nor that of FDPLL96M of FDPLL96M.
        let source = self.control.get(generator).map_or(0, |control| control >> SRC_SHIFT & 31);
        let circular = match id {
            DFLL_ID => source == 7 || source == 2,
            FDPLL_ID => self.source(generator) == Some(FDPLL),
            _ => false,
        };
        if circular { 0 } else { self.generator_hz(generator, oscillators) }
    }

    /// The frequencies of all modules' generic clocks.
    pub fn modules_hz(&self, oscillators: &Oscillators) -> Vec<u64> {
        (0..MODULES).map(|id| self.module_hz(id, oscillators)).collect()
    }

    pub fn read(&self, offset: u32, size: u8) -> u32 {
        let word = match offset & !3 {
            CTRL => self.modules[self.chosen[0]] << 16,
            GENCTRL => self.control[self.chosen[1]],
            GENDIV => self.division[self.chosen[2]],
            _ => 0,
        };
        part_of_word(word, offset, size)
    }

    /// Gives a module its clock, unless it is write-locked.
    fn set_module(&mut self, id: usize, value: u32) -> Result<(), String> {
        if id > LAST_MODULE && value & CLKEN != 0 {
            return Err(format!("CLKCTRL.ID {id:#x}: no such module"));
        }
        if self.modules[id] & WRTLOCK == 0 {
            self.modules[id] = value & CLKCTRL_MASK;
        }
        Ok(())
    }

    /// A write; a sentence where it cannot be.
    pub fn write(&mut self, offset: u32, size: u8, value: u32) -> Result<(), String> {
        match offset {
            CTRL => {
                // CTRL.SWRST; a word has CLKCTRL, too.
                if value & 1 != 0 {
                    self.reset();
                }
                if size == 4 {
                    self.write(CLKCTRL, 2, value >> 16)?;
                }
            }
            // STATUS is read-only.
            0x1 => {}
            CLKCTRL => {
                let id = (value & 0x3f) as usize;
                self.chosen[0] = id;
                if size >= 2 {
                    self.set_module(id, value)?;
                }
            }
            0x3 => self.set_module(self.chosen[0], value << 8 | self.chosen[0] as u32)?,
            GENCTRL..GENDIV_END => {
                let which = if offset < GENDIV { 1 } else { 2 };
                let locked =
                    std::array::from_fn::<bool, GENERATORS, _>(|generator| self.is_locked(generator));
                let (registers, mask) = if which == 1 {
                    (&mut self.control, GENCTRL_MASK)
                } else {
                    (&mut self.division, GENDIV_MASK)
                };
                if offset & 3 == 0 {
                    let id = (value & 15) as usize;
                    if id >= GENERATORS {
                        return Err(format!("generator {id}: there are nine"));
                    }
                    self.chosen[which] = id;
                }
                // A write of the byte with the ID alone chooses what is read.
                if (size >= 2 || offset & 3 != 0) && !locked[self.chosen[which]] {
                    let register = &mut registers[self.chosen[which]];
                    *register = merged_word(*register, offset, size, value) & mask;
                }
            }
            _ if value == 0 => {}
            _ => return Err("a reserved place".into()),
        }
        Ok(())
    }
}
