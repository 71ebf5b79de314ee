//! Wait states of the Cortex-M0+'s one bus before the flash of a SAM D21.
//!
//! The core has a single AHB-Lite interface for instructions and data (DDI 0484C section 1.1) and
//! stands while an access waits. It fetches words: the next one when the first halfword of a word
//! executes; a branch fetches its target, and the next word right after where the target is the
//! second halfword. These moments are those of the Cortex-M0; nobody has published others.
//!
//! DS40001882F section 22.6.7: the cache is direct-mapped, eight lines of 64 bits. Section 22.8.2,
//! CTRLB.READMODE: what a hit and what a miss wait.

use crate::{FlashSettings, ReadMode};

/// First address that is not the flash.
const FLASH_END: u32 = 0x2000_0000;

/// Lines, and bytes of one.
const LINES: u32 = 8;
const LINE_BYTES: u32 = 8;

/// The bus and the flash behind it.
#[derive(Clone, Default)]
pub(super) struct LineCache {
    settings: FlashSettings,
    /// One above the number of the line that each holds; 0 for none.
    lines: [u32; LINES as usize],
}

impl LineCache {
    /// Takes over what the program has set.
    pub fn apply(&mut self, settings: FlashSettings) {
        if settings != self.settings {
            *self = LineCache { settings, ..LineCache::default() };
        }
    }

    /// A read of the flash: how long it waits.
    fn read(&mut self, address: u32) -> u32 {
        if address >= FLASH_END {
            return 0;
        }
        let wait_states = u32::from(self.settings.wait_states);
        if !self.settings.cached {
            return wait_states;
        }
        let number = address / LINE_BYTES;
        let line = &mut self.lines[(number % LINES) as usize];
        let hit = std::mem::replace(line, number + 1) == number + 1;
        match self.settings.read_mode {
            ReadMode::Deterministic => wait_states,
            _ if hit => 0,
            ReadMode::NoMissPenalty => wait_states,
            ReadMode::LowPower => wait_states + 1,
        }
    }

    /// The instruction at `address` accesses `count` words from `data` up: cycles that it waits.
    /// Not inlined, so that programs without wait states do not carry it.
    #[inline(never)]
    pub fn execute(&mut self, address: u32, length: u8, data: u32, count: u32) -> u32 {
        let next = (address & !3).wrapping_add(4);
        let mut waits = if address & 2 == 0 || length == 4 { self.read(next) } else { 0 };
        for word in 0..count {
            waits += self.read(data.wrapping_add(4 * word));
        }
        waits
    }

    /// The instruction just executed goes on at `target`: cycles that this waits.
    #[inline(never)]
    pub fn branch(&mut self, target: u32) -> u32 {
        let waits = self.read(target);
        if target & 2 == 0 { waits } else { waits + self.read((target & !3).wrapping_add(4)) }
    }
}
