//! Number of runs of an operation: fixed, or until more runs cannot tell more.

use crate::row::Cycles;

/// Number of runs of an operation, with other random inputs each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    Exactly(u32),
    /// Three times where all three take the same cycles. Otherwise at least five times, and until
    /// the mean's 95 % confidence interval (Student's t) reaches at most two percent of it to
    /// either side. Stopping at the first such n keeps the confidence in an interval of fixed width
    /// (Chow and Robbins, 1965). But no more than a hundred times, nor once the runs have taken 10⁹
    /// cycles.
    Enough,
}

/// Runs that tell whether the cycles vary.
const FIRST: usize = 3;
/// Runs from which a standard error is worth something.
const FEWEST: usize = 5;
/// Some operations would need thousands of runs; these stop here, and their row says how far they
/// got.
const MOST: usize = 100;
/// The same of long ones, in cycles of all runs: some seconds.
const MOST_CYCLES: u64 = 1_000_000_000;
/// Half of the mean's confidence interval, by the mean.
const HALF_WIDTH: f64 = 0.02;
/// Quantile 0.975 of Student's t with 4 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of
/// Statistical Methods, table 1.3.6.7.2).
const T_975: [f64; 27] = [
    2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101,
    2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Quantile 0.975 of Student's t for a mean of `runs`, at least [`FEWEST`]; of more than 31 that of
/// 31, which is larger.
fn t_975(runs: usize) -> f64 {
    T_975[(runs - FEWEST).min(T_975.len() - 1)]
}

impl Repetition {
    /// Returns true if no more runs are needed.
    #[must_use]
    pub fn is_met(self, cycles: &[u64]) -> bool {
        match self {
            Repetition::Exactly(runs) => cycles.len() >= runs as usize,
            Repetition::Enough if cycles.len() < FIRST => false,
            Repetition::Enough => {
                let taken = Cycles::of(cycles);
                let steady = cycles.len() == FIRST && taken.min == taken.max;
                let enough = cycles.len() >= FEWEST
                    && (relative_half_width(&taken, cycles.len()) <= HALF_WIDTH
                        || cycles.iter().sum::<u64>() >= MOST_CYCLES);
                steady || enough || cycles.len() >= MOST
            }
        }
    }

    /// The most runs that it may need.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Repetition::Exactly(runs) => runs as usize,
            Repetition::Enough => MOST,
        }
    }

    /// Of a row that was not run often enough to know its mean to two percent: half of the mean's
    /// 95 % confidence interval, by the mean.
    #[must_use]
    pub fn short_of(cycles: &Cycles, runs: usize) -> Option<f64> {
        (runs >= FEWEST).then(|| relative_half_width(cycles, runs)).filter(|&width| width > HALF_WIDTH)
    }
}

/// Half of the confidence interval of a mean of `runs`, at least [`FEWEST`], by the mean.
fn relative_half_width(cycles: &Cycles, runs: usize) -> f64 {
    if cycles.se == 0.0 { 0.0 } else { t_975(runs) * cycles.se / cycles.mean }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cycles of the runs that are made.
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
    fn constant_operation_is_run_three_times() {
        assert_eq!(taken(Repetition::Enough, std::iter::repeat(2078)).len(), 3);
        assert_eq!(taken(Repetition::Enough, std::iter::repeat(0)).len(), 3);
    }

    #[test]
    fn varying_operation_is_run_until_its_mean_is_known() {
        // A deviation of 0.1 %: five are more than enough.
        assert_eq!(taken(Repetition::Enough, [9_990, 10_010].into_iter().cycle()).len(), 5);
        // Of 4 %, alternating: t·sd/√n comes below 2 % of the mean at 19, where t is 2.101 (18
        // degrees of freedom).
        let runs = taken(Repetition::Enough, [9_600, 10_400].into_iter().cycle());
        let half_width = |runs: &[u64], t: f64| t * Cycles::of(runs).se / Cycles::of(runs).mean;
        assert_eq!(runs.len(), 19);
        assert!(half_width(&runs, 2.101) <= 0.02 && half_width(&runs[..18], 2.110) > 0.02);
        // The first two are equal, the third is not; and a single one that differs later is not
        // seen.
        assert!(taken(Repetition::Enough, [7, 7, 8].into_iter().cycle()).len() > 3);
    }

    #[test]
    fn it_ends_at_a_hundred() {
        assert_eq!(taken(Repetition::Enough, [1, 1_000].into_iter().cycle()).len(), 100);
    }

    #[test]
    fn runs_end_at_10_9_cycles_but_not_before_the_fifth() {
        let varying = |mean: u64| [mean - mean / 4, mean + mean / 4].into_iter().cycle();
        assert_eq!(taken(Repetition::Enough, varying(40_000_000)).len(), 26);
        assert_eq!(taken(Repetition::Enough, varying(400_000_000)).len(), 5);
    }

    #[test]
    fn interval_within_two_percent_has_no_remark() {
        let of = |cycles: &[u64]| Repetition::short_of(&Cycles::of(cycles), cycles.len());
        assert_eq!(of(&[7; 5]), None);
        assert_eq!(of(&[0; 5]), None);
        assert_eq!(of(&[1000, 1001, 1000, 1001, 1000]), None);
        // A deviation of 20/√19 of 100, by √20, by the quantile of 19 degrees of freedom.
        let wide = of(&[80, 120].repeat(10)).expect("more than two percent");
        assert!((wide - 0.2 / 19f64.sqrt() * 2.093).abs() < 1e-9, "{wide}");
        // Of fewer runs than five, which are asked for by number, nothing is said.
        assert_eq!(of(&[1, 1000]), None);
    }

    #[test]
    fn a_number_is_that_number() {
        assert_eq!(taken(Repetition::Exactly(10), std::iter::repeat(5)).len(), 10);
        assert_eq!(taken(Repetition::Exactly(1), [1, 1_000].into_iter().cycle()).len(), 1);
    }
}
