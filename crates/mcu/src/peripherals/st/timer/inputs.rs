//! The inputs at a timer's pins: the levels behind the filters.
//!
//! RM0090 section 18.4.7 (ICxF), 18.4.3 (ETF). A filter lets a level through that has stayed for
//! all its samples; when within a period of the sampling clock a level changes is left out.

use super::pins::INPUTS;

/// ICxF and ETF: the sampling clock's periods in tDTS (1: in those of the timer's clock), and how
/// many samples.
const FILTERS: [(u64, u64); 16] = [
    (0, 0),
    (1, 2),
    (1, 4),
    (1, 8),
    (2, 6),
    (2, 8),
    (4, 6),
    (4, 8),
    (8, 6),
    (8, 8),
    (16, 5),
    (16, 6),
    (16, 8),
    (32, 5),
    (32, 6),
    (32, 8),
];

/// Cycles that a level has to stay for a filter `setting`, of a timer's clock and of tDTS, both in
/// cycles of the core's.
pub(super) fn filter_cycles(setting: u32, clock: u64, dts: u64) -> u64 {
    let (periods, samples) = FILTERS[(setting & 15) as usize];
    periods * samples * if periods > 1 { dts } else { clock }
}

/// The inputs that somebody listens to.
#[derive(Clone, Default)]
pub(super) struct Inputs {
    /// A bit for each that is listened to.
    pub used: u8,
    at_pin: [bool; INPUTS],
    level: [bool; INPUTS],
    /// The cycle at which a level at the pin comes through the filter.
    through: [Option<u64>; INPUTS],
}

impl Inputs {
    /// The inputs that are listened to from now on; one that was not before has its level without
    /// an edge.
    pub fn listen(&mut self, used: u8, level: impl Fn(usize) -> bool) {
        for index in (0..INPUTS).filter(|index| used >> index & 1 == 1) {
            if self.used >> index & 1 == 0 {
                self.at_pin[index] = level(index);
                self.level[index] = self.at_pin[index];
                self.through[index] = None;
            }
        }
        self.used = used;
    }

    /// The level at a pin at `now`, which needs `filter` cycles.
    pub fn set(&mut self, index: usize, level: bool, filter: u64, now: u64) {
        if self.at_pin[index] != level {
            self.at_pin[index] = level;
            self.through[index] = (level != self.level[index]).then_some(now + filter);
        }
    }

    /// The timer's clock stood still for these cycles.
    pub fn delay(&mut self, cycles: u64) {
        self.through.iter_mut().flatten().for_each(|at| *at += cycles);
    }

    /// The level behind the filter.
    pub fn level(&self, index: usize) -> bool {
        self.level[index]
    }

    /// The cycle of the next edge.
    pub fn due(&self) -> Option<u64> {
        self.through.iter().flatten().copied().min()
    }

    /// The next edge up to `now`: its cycle, the input and its new level.
    pub fn edge(&mut self, now: u64) -> Option<(u64, usize, bool)> {
        let at = self.due().filter(|at| *at <= now)?;
        let index = self.through.iter().position(|through| *through == Some(at))?;
        self.through[index] = None;
        self.level[index] = self.at_pin[index];
        Some((at, index, self.level[index]))
    }
}
