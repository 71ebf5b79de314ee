//! Sets of lines with replacement.
//!
//! They are the flash accelerator of the STM32F7 and the caches of its Cortex-M7. A set knows only
//! which lines are there; the bytes are always the memory's own.

/// Action of the program on the caches through the system control space (Cortex-M7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheControl {
    /// CCR was written: the instruction and data cache enable bits.
    Enable {
        /// CCR.IC.
        instruction: bool,
        /// CCR.DC.
        data: bool,
    },
    /// ICIALLU: all of the instruction cache is invalid.
    InvalidateInstruction,
    /// ICIMVAU: the line with this address is invalid in the instruction cache.
    InvalidateInstructionLine(u32),
    /// DCIMVAC, DCCMVAC, DCCIMVAC, DCCMVAU by address.
    DataLine {
        /// An address in the line.
        address: u32,
        /// Written back where dirty.
        clean: bool,
        /// Invalid afterwards.
        invalidate: bool,
    },
    /// DCISW, DCCSW, DCCISW by set and way.
    DataSetWay {
        /// The register's value (ARM DDI 0403, B3.2.x: way from bit 31 down, set from the line size
        /// up).
        value: u32,
        /// Written back where dirty.
        clean: bool,
        /// Invalid afterwards.
        invalidate: bool,
    },
    /// BPIALL: branch predictions forgotten.
    InvalidateBranches,
}

/// A cache of `sets` times `ways` lines. The least recently used line of a set is replaced.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    ways: usize,
    set_mask: u32,
    line_shift: u32,
    /// By set: line numbers plus one, the most recently used first; 0 where there is none.
    lines: Vec<u32>,
    /// By set, beside `lines`: whether the line has been written since it was read.
    dirty: Vec<bool>,
}

impl Cache {
    /// `sets` and `line_bytes` are powers of two.
    pub fn new(sets: usize, ways: usize, line_bytes: u32) -> Cache {
        Cache {
            ways,
            set_mask: sets as u32 - 1,
            line_shift: line_bytes.trailing_zeros(),
            lines: vec![0; sets * ways],
            dirty: vec![false; sets * ways],
        }
    }

    pub fn clear(&mut self) {
        self.lines.fill(0);
        self.dirty.fill(false);
    }

    fn slots(&self, address: u32) -> (usize, u32) {
        let line = address >> self.line_shift;
        ((line & self.set_mask) as usize * self.ways, line + 1)
    }

    /// Returns true if the line with `address` is there; it then becomes the most recently used.
    #[inline]
    pub fn hit(&mut self, address: u32) -> bool {
        let (first, tag) = self.slots(address);
        if self.lines[first] == tag {
            return true;
        }
        let set = &self.lines[first..first + self.ways];
        let Some(way) = set.iter().position(|&line| line == tag) else { return false };
        self.lines[first..=first + way].rotate_right(1);
        self.dirty[first..=first + way].rotate_right(1);
        true
    }

    /// Puts the line with `address` in, as the most recently used. Whether the line that made room
    /// was dirty.
    pub fn fill(&mut self, address: u32) -> bool {
        let (first, tag) = self.slots(address);
        let last = first + self.ways;
        self.lines[first..last].rotate_right(1);
        self.dirty[first..last].rotate_right(1);
        let evicted = self.lines[first] != 0 && self.dirty[first];
        self.lines[first] = tag;
        self.dirty[first] = false;
        evicted
    }

    /// Marks the line with `address`, which is the most recently used of its set, as written.
    pub fn mark_dirty(&mut self, address: u32) {
        let (first, tag) = self.slots(address);
        if self.lines[first] == tag {
            self.dirty[first] = true;
        }
    }

    /// Cleans and drops the line with `address`. Whether it was there and dirty.
    pub fn maintain(&mut self, address: u32, clean: bool, invalidate: bool) -> bool {
        let (first, tag) = self.slots(address);
        let Some(way) = self.lines[first..first + self.ways].iter().position(|&line| line == tag) else {
            return false;
        };
        self.maintain_slot(first + way, clean, invalidate)
    }

    /// Cleans and drops the line in `way` of `set`: which way a line is in is not kept, so the ways
    /// are counted in the order of last use. A program that goes through all ways of a set, as they
    /// all do, sees no difference.
    pub fn maintain_set_way(&mut self, set: u32, way: usize, clean: bool, invalidate: bool) -> bool {
        let slot = (set & self.set_mask) as usize * self.ways + way % self.ways;
        self.maintain_slot(slot, clean, invalidate)
    }

    fn maintain_slot(&mut self, slot: usize, clean: bool, invalidate: bool) -> bool {
        let was = self.dirty[slot];
        if clean || invalidate {
            self.dirty[slot] = false;
        }
        if invalidate {
            self.lines[slot] = 0;
        }
        was
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;

    #[test]
    fn the_least_recently_used_line_makes_room() {
        let mut cache = Cache::new(1, 2, 16);
        assert!(!cache.hit(0x100));
        cache.fill(0x100);
        cache.fill(0x200);
        assert!(cache.hit(0x10c));
        cache.fill(0x300);
        assert!(cache.hit(0x100) && cache.hit(0x300) && !cache.hit(0x200));
    }

    #[test]
    fn a_written_line_is_told_when_it_is_evicted_or_cleaned() {
        let mut cache = Cache::new(2, 1, 32);
        cache.fill(0x40);
        cache.mark_dirty(0x44);
        assert!(cache.fill(0x80));
        cache.mark_dirty(0x80);
        assert!(cache.maintain(0x80, true, false));
        assert!(!cache.maintain(0x80, true, true));
        assert!(!cache.hit(0x80));
    }
}
