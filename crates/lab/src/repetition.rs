//! How often an operation is run: a number, or until more runs cannot tell more.

use crate::row::Cycles;

/// How often an operation is run, with other random inputs each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// So many times.
    Exactly(u32),
    /// Three times where all three take the same cycles. Otherwise at least ten times, and until the standard error of the
    /// mean is at most one percent of it, but no more than a hundred times (Chow and Robbins, 1965: stopping at the
    /// first such n keeps the confidence in an interval of fixed width).
    Enough,
}

/// Runs that tell whether the cycles vary.
const FIRST: usize = 3;
/// Runs from which a standard error is worth something.
const FEWEST: usize = 10;
/// What some operations would need thousands for is not waited for; their row's standard error says how far they got.
const MOST: usize = 100;
/// Standard error of the mean, by the mean.
const RELATIVE_ERROR: f64 = 0.01;

impl Repetition {
    /// Whether what these runs took is all that is needed.
    #[must_use]
    pub fn is_met(self, cycles: &[u64]) -> bool {
        match self {
            Repetition::Exactly(runs) => cycles.len() >= runs as usize,
            Repetition::Enough if cycles.len() < FIRST => false,
            Repetition::Enough => {
                let Cycles { mean, se, min, max, .. } = Cycles::of(cycles);
                let steady = cycles.len() == FIRST && min == max;
                steady || cycles.len() >= MOST || (cycles.len() >= FEWEST && se <= RELATIVE_ERROR * mean)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these runs are made, and what they took.
    fn taken(repetition: Repetition, all: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut cycles = Vec::new();
        for one in all {
            cycles.push(one);
            if repetition.is_met(&cycles) {
                break;
            }
        }
        cycles
    }

    #[test]
    fn what_does_not_vary_is_run_three_times() {
        assert_eq!(taken(Repetition::Enough, std::iter::repeat(2078)).len(), 3);
        assert_eq!(taken(Repetition::Enough, std::iter::repeat(0)).len(), 3);
    }

    #[test]
    fn what_varies_is_run_until_its_mean_is_known_to_one_percent() {
        // A deviation of 0.1 %: ten are more than enough.
        assert_eq!(taken(Repetition::Enough, [9_990, 10_010].into_iter().cycle()).len(), 10);
        // Of 4 %, alternating: sd/√n is 1 % of the mean at sixteen and a bit.
        let runs = taken(Repetition::Enough, [9_600, 10_400].into_iter().cycle());
        let Cycles { mean, se, .. } = Cycles::of(&runs);
        assert!(se <= 0.01 * mean);
        let Cycles { mean, se, .. } = Cycles::of(&runs[..runs.len() - 1]);
        assert!((11..=18).contains(&runs.len()) && se > 0.01 * mean, "{}", runs.len());
        // The first two are equal, the third is not; and a single one that differs later is not seen.
        assert!(taken(Repetition::Enough, [7, 7, 8].into_iter().cycle()).len() > 3);
    }

    #[test]
    fn it_ends_at_a_hundred() {
        assert_eq!(taken(Repetition::Enough, [1, 1_000].into_iter().cycle()).len(), 100);
    }

    #[test]
    fn a_number_is_that_number() {
        assert_eq!(taken(Repetition::Exactly(10), std::iter::repeat(5)).len(), 10);
        assert_eq!(taken(Repetition::Exactly(1), [1, 1_000].into_iter().cycle()).len(), 1);
    }
}
