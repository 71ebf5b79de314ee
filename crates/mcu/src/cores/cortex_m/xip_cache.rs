//! The one bus of the Cortex-M0+ before the serial flash of an RP2040: how many cycles each access waits. RP2040 datasheet, section
//! 2.6.3: a cache of 16 kB in lines of eight bytes, two ways, which answers at once; four addresses of the flash, of which the first
//! looks and fills, the second looks only, the third fills only, and the fourth does neither.
//!
//! The data sheet does not say which way is replaced nor when the core goes on: here the way not used last, and when the whole line is
//! there. The serial interface reads a word at a time (CTRLR1.NDF as all boot code sets it), so a line is two reads.
//!
//! The moments at which instructions are fetched are those of [`super::line_cache`].

use crate::FlashSettings;

/// The four addresses of the flash, each of so many bytes.
const FLASH: std::ops::Range<u32> = 0x1000_0000..0x1400_0000;
const FLASH_SIZE: u32 = 0x0100_0000;

const LINE_BYTES: u32 = 8;
const WORDS_OF_LINE: u32 = LINE_BYTES / 4;
const SETS: usize = 1024;

/// Lines at the same place: one above the number of each, 0 for none; the one used last comes first.
type Set = [u32; 2];

/// The bus and the flash behind it.
#[derive(Clone)]
pub(super) struct XipCache {
    settings: FlashSettings,
    sets: Box<[Set; SETS]>,
    /// The line of the last access, as in a set: it is in the cache and was used last.
    last: u32,
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
        let line = (address & (FLASH_SIZE - 1)) / LINE_BYTES + 1;
        if line == self.last && address < FLASH.start + FLASH_SIZE {
            0
        } else {
            self.find_line(address, line)
        }
    }

    #[inline(never)]
    fn find_line(&mut self, address: u32, line: u32) -> u32 {
        let alias = (address - FLASH.start) / FLASH_SIZE;
        let (looks, fills) = (alias & 2 == 0, alias & 1 == 0);
        let word = self.settings.word_cycles;
        if !self.settings.cached {
            return word;
        }
        let set = &mut self.sets[line as usize % SETS];
        let way = set.iter().position(|held| *held == line);
        if let Some(way) = way
            && looks
        {
            if way == 1 {
                set.swap(0, 1);
            }
            self.last = line;
            return 0;
        }
        if !fills {
            return word;
        }
        if way != Some(0) {
            *set = [line, set[0]];
        }
        self.last = line;
        WORDS_OF_LINE.saturating_mul(word)
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
