//! The faults of a campaign that are chosen.

use super::change::Model;
use super::fault_space::FaultSpace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Parts of a plan at least, where there are as many faults: workers share them.
pub(super) const PARTS: u64 = 32;
/// The most faults that are kept at once in a file.
const BLOCK_MAX: u64 = 1024;

/// The faults that are chosen, by their numbers.
pub(super) struct Plan {
    /// Faults before each step, and of all.
    before: Vec<u64>,
    /// The numbers that were drawn; where absent, all.
    drawn: Option<Vec<u64>>,
}

impl Plan {
    /// All faults, or a sample of them. Where `occurrences` are given, those at the first and the
    /// last times of each instruction, of that number.
    pub fn new(space: &FaultSpace<'_>, occurrences: Option<u64>, sample: Option<u64>, seed: u64) -> Plan {
        let (mut before, mut total) = (vec![0], 0);
        let reads_vary = space.models.contains(&Model::Load);
        let mut by_length: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        let mut left: HashMap<u32, u64> = HashMap::new();
        for step in &space.reference.steps {
            *left.entry(step.pc).or_default() += 1;
        }
        let all = left.clone();
        for (step, known) in space.reference.steps.iter().enumerate() {
            let rest = left.entry(known.pc).or_default();
            let from_end = *rest;
            *rest = rest.saturating_sub(1);
            let from_begin = all.get(&known.pc).copied().unwrap_or_default() - from_end;
            let is_chosen = occurrences.is_none_or(|count| from_begin < count || from_end <= count);
            let count = || space.changes(step).len() as u64;
            total += match (is_chosen, reads_vary) {
                (false, _) => 0,
                (true, true) => count(),
                (true, false) => *by_length.entry(space.length(step)).or_insert_with(count),
            };
            before.push(total);
        }
        let drawn = sample.filter(|count| *count < total).map(|count| sampled(total, count, seed));
        Plan { before, drawn }
    }

    /// Number of faults that are chosen.
    pub fn len(&self) -> u64 {
        self.drawn.as_ref().map_or(self.total(), |drawn| drawn.len() as u64)
    }

    /// Number of faults that there are.
    pub fn total(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    pub fn is_sample(&self) -> bool {
        self.drawn.is_some()
    }

    /// Faults that are kept at once.
    fn block(&self) -> u64 {
        self.len().div_ceil(PARTS).clamp(1, BLOCK_MAX)
    }

    /// Number of such blocks.
    pub fn blocks(&self) -> u64 {
        self.len().div_ceil(self.block())
    }

    pub fn range_of(&self, block: u64) -> Range<u64> {
        block * self.block()..((block + 1) * self.block()).min(self.len())
    }

    /// Step of a chosen fault, and its number there.
    pub fn at(&self, index: u64) -> (usize, usize) {
        let number = self.drawn.as_ref().map_or(index, |drawn| drawn[index as usize]);
        let step = self.before.partition_point(|before| *before <= number) - 1;
        (step, (number - self.before[step]) as usize)
    }
}

/// Different numbers below `total`, in their order (Floyd's algorithm).
fn sampled(total: u64, count: u64, seed: u64) -> Vec<u64> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut found = BTreeSet::new();
    for last in total - count..total {
        let number = random.random_range(0..=last);
        if !found.insert(number) {
            found.insert(last);
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_has_different_numbers_and_repeats_itself() {
        let sample = sampled(1_000, 300, 7);
        assert_eq!((sample.len(), sampled(1_000, 300, 7) == sample), (300, true));
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]) && sample[299] < 1_000);
        assert_ne!(sampled(1_000, 300, 8), sample);
        assert_eq!(sampled(5, 5, 1), [0, 1, 2, 3, 4]);
    }
}
