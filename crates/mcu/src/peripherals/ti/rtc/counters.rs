//! The two prescalers and the counter behind them.
//!
//! They are not stepped: their values follow from the cycle.

use super::super::clocks::{self, Clocks};

/// Clock source of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// SMCLK or ACLK, which stands for the crystal, too.
    Clock(clocks::Source),
    /// The counter before it, divided by two to the power of this.
    Before(u32),
}

/// A counter.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub source: Source,
    pub held: bool,
}

/// RT0PS, RT1PS and the counter or calendar, which never begin anew here: the registers show their
/// lowest bits.
#[derive(Clone)]
pub struct Counters {
    pub clocks: Clocks,
    pub stages: [Stage; 3],
    /// Their values at cycle `since`.
    pub values: [u64; 3],
    since: u64,
}

impl Counters {
    /// All stand still at 0.
    pub fn new(clocks: Clocks) -> Counters {
        let stage = Stage { source: Source::Clock(clocks::Source::Aclk), held: true };
        Counters { clocks, stages: [stage; 3], values: [0; 3], since: 0 }
    }

    fn at(&self, number: usize, cycle: u64) -> u64 {
        let Stage { source, held } = self.stages[number];
        let counted = match source {
            _ if held => 0,
            Source::Clock(clock) => {
                self.clocks.count(clock, cycle).saturating_sub(self.clocks.count(clock, self.since))
            }
            Source::Before(shift) => {
                let before = number - 1;
                (self.at(before, cycle) >> shift) - (self.values[before] >> shift)
            }
        };
        self.values[number] + counted
    }

    /// They hold what they do at this cycle; returns that.
    pub fn advance(&mut self, cycle: u64) -> [u64; 3] {
        self.values = std::array::from_fn(|number| self.at(number, cycle));
        self.since = self.since.max(cycle);
        self.values
    }

    /// The cycle at which one of them comes to a value that is ahead.
    pub fn when(&self, number: usize, value: u64) -> Option<u64> {
        let Stage { source, held } = self.stages[number];
        let more = value.checked_sub(self.values[number]).filter(|more| *more > 0 && !held)?;
        match source {
            Source::Clock(clock) => Some(self.clocks.after(clock, more, self.since)),
            Source::Before(shift) => {
                let before = number - 1;
                self.when(before, ((self.values[before] >> shift) + more) << shift)
            }
        }
    }

    /// The cycle at which one of them next comes to a multiple of two to the power of this.
    pub fn when_multiple(&self, number: usize, shift: u32) -> Option<u64> {
        self.when(number, ((self.values[number] >> shift) + 1) << shift)
    }

    /// The clock that one of them counts, if one does.
    pub fn clock_needed(&self) -> Option<&'static str> {
        let running = |clock: &clocks::Source| {
            self.stages.iter().any(|stage| !stage.held && stage.source == Source::Clock(*clock))
        };
        [clocks::Source::Smclk, clocks::Source::Aclk].into_iter().find(running).map(clocks::Source::name)
    }
}
