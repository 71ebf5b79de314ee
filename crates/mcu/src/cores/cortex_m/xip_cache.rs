//! Wait states of the Cortex-M0+'s one bus before the serial flash of an RP2040.
//!
//! RP2040 datasheet, section 2.6.3: a cache of 16 kB in lines of eight bytes, two ways, which
//! answers at once; four addresses of the flash, of which the first looks and fills, the second
//! looks only, the third fills only, and the fourth does neither.
//!
//! The halves of a line are valid by themselves, and a miss reads one word: the serial interface
//! makes transfers of 32 bits at most ("8 bytes with an upper/lower valid bit", L. Wren, who
//! designed it, in raspberrypi/pico-feedback, issue 307). Its reporter saw both halves filled for
//! instructions "sometimes", never for data: here that is the fetch of the next word, which the
//! core makes.
//!
//! It is not published which way is replaced: here the way not used last.
//!
//! The moments at which instructions are fetched are those of [`super::line_cache`].

use crate::FlashSettings;

/// The four addresses of the flash, each of `FLASH_SIZE` bytes.
const FLASH: std::ops::Range<u32> = 0x1000_0000..0x1400_0000;
const FLASH_SIZE: u32 = 0x0100_0000;

const LINE_BYTES: u32 = 8;
const SETS: usize = 1024;

/// A line that is held: one above its number, shifted by two, and a bit for each of its words that
/// is valid. 0 for none.
type Line = u32;

const VALID: Line = 3;

/// Lines at the same place; the one used last comes first.
type Set = [Line; 2];

/// The bus and the flash behind it.
#[derive(Clone)]
pub(super) struct XipCache {
    settings: FlashSettings,
    sets: Box<[Set; SETS]>,
    /// The line of the last access, as in its set: it was used last.
    last: Line,
}

impl XipCache {
    pub fn new() -> XipCache {
        XipCache { settings: FlashSettings::default(), sets: Box::new([[0; 2]; SETS]), last: 0 }
    }

    /// Takes over what the program has set.
    pub fn apply(&mut self, settings: FlashSettings) {
        if settings.invalidations != self.settings.invalidations {
            *self.sets = [[0; 2]; SETS];
        }
        if settings != self.settings {
            self.last = 0;
        }
        self.settings = settings;
    }

    /// A read of a word: how long it waits.
    #[inline(always)]
    fn read(&mut self, address: u32) -> u32 {
        if !FLASH.contains(&address) {
            return 0;
        }
        let line = ((address & (FLASH_SIZE - 1)) / LINE_BYTES + 1) << 2;
        let word = 1 << (address >> 2 & 1);
        // Three of the addresses take the long way: a hit there depends on more.
        if self.last & (!VALID | word) == line | word && address < FLASH.start + FLASH_SIZE {
            0
        } else {
            self.find_word(address, line, word)
        }
    }

    /// The same, for a word that is not in the line of the last access.
    #[inline(never)]
    fn find_word(&mut self, address: u32, line: Line, word: Line) -> u32 {
        let alias = (address - FLASH.start) / FLASH_SIZE;
        let (looks, fills) = (alias & 2 == 0, alias & 1 == 0);
        let miss = self.settings.word_cycles;
        if !self.settings.cached {
            return miss;
        }
        let set = &mut self.sets[(line >> 2) as usize % SETS];
        let way = set.iter().position(|held| held & !VALID == line);
        let hit = looks && way.is_some_and(|way| set[way] & word != 0);
        if !hit && !fills {
            return miss;
        }
        match way {
            Some(0) => {}
            Some(_) => set.swap(0, 1),
            None => *set = [line, set[0]],
        }
        set[0] |= word;
        self.last = set[0];
        if hit { 0 } else { miss }
    }

    /// The instruction at `address` accesses `count` words from `data` up: cycles that it waits.
    #[inline(always)]
    pub fn execute(&mut self, address: u32, length: u8, data: u32, count: u32) -> u32 {
        let next = (address & !3).wrapping_add(4);
        let mut waits = if address & 2 == 0 || length == 4 { self.read(next) } else { 0 };
        for word in 0..count {
            waits = waits.saturating_add(self.read(data.wrapping_add(4 * word)));
        }
        waits
    }

    /// The instruction just executed goes on at `target`: cycles that this waits.
    #[inline(always)]
    pub fn branch(&mut self, target: u32) -> u32 {
        let waits = self.read(target);
        if target & 2 == 0 { waits } else { waits.saturating_add(self.read((target & !3).wrapping_add(4))) }
    }
}
