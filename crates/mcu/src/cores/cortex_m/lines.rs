//! Lines that a flash accelerator keeps (STM32F4, STM32L4+, nRF52840).
//!
//! Only the numbers of the lines are kept; the bytes are the memory's.

/// A fully associative set of lines; the least recently used makes room (RM0090, section 3.5.2).
#[derive(Clone)]
pub(super) struct Lines {
    /// Line numbers; [`NONE`] where there is none.
    lines: Vec<u32>,
    /// By line: when it was last used.
    used: Vec<u64>,
    /// By the low bits of a line number: where the line was last found. A guess, so that most are
    /// found at once.
    guesses: [u8; 256],
    now: u64,
}

const NONE: u32 = u32::MAX;

impl Lines {
    /// Room for `count` lines, at most 256.
    pub fn new(count: usize) -> Lines {
        Lines { lines: vec![NONE; count], used: vec![0; count], guesses: [0; 256], now: 0 }
    }

    pub fn clear(&mut self) {
        self.lines.fill(NONE);
        self.used.fill(0);
    }

    #[inline]
    fn find(&mut self, line: u32) -> Option<usize> {
        let guess = usize::from(self.guesses[line as usize & 255]);
        if self.lines.get(guess) == Some(&line) {
            return Some(guess);
        }
        let found = self.lines.iter().position(|&kept| kept == line)?;
        self.guesses[line as usize & 255] = found as u8;
        Some(found)
    }

    /// Returns true if the line is there, without using it.
    #[inline]
    pub fn contains(&mut self, line: u32) -> bool {
        self.find(line).is_some()
    }

    /// Returns true if the line is there; it then becomes the most recently used.
    #[inline]
    pub fn hit(&mut self, line: u32) -> bool {
        let Some(found) = self.find(line) else { return false };
        self.now += 1;
        self.used[found] = self.now;
        true
    }

    /// Puts the line in, as the most recently used.
    pub fn fill(&mut self, line: u32) {
        if self.hit(line) {
            return;
        }
        let Some(oldest) = (0..self.used.len()).min_by_key(|&at| self.used[at]) else { return };
        self.now += 1;
        self.lines[oldest] = line;
        self.used[oldest] = self.now;
        self.guesses[line as usize & 255] = oldest as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn the_least_recently_used_line_makes_room() {
        let mut lines = Lines::new(2);
        lines.fill(1);
        // The same low bits: a guess that fails.
        lines.fill(257);
        assert!(lines.hit(1));
        assert!(lines.contains(257));
        lines.fill(3);
        assert!(lines.hit(1) && lines.hit(3) && !lines.hit(257));
        lines.clear();
        assert!(!lines.contains(1) && !lines.contains(3));
    }
}
