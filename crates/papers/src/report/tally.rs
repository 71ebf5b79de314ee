//! Counts of a paper's published figures by how ours compare.

use crate::reproduce::PaperRow;

/// Number of published figures, each counted once, by our figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Ours is within 10 %.
    pub(crate) within: usize,
    /// Ours is lower, and less of it is better: cycles, bytes, times, energies.
    pub(crate) better: usize,
    /// Ours is higher, and less of it is better.
    pub(crate) worse: usize,
    /// Ours is lower; neither is better: deviations, shares, voltages, clocks.
    pub(crate) other_lower: usize,
    /// Ours is higher; neither is better.
    pub(crate) other_higher: usize,
    /// Ours is derived or quoted.
    pub(crate) derived: usize,
    /// There is none of ours.
    pub(crate) missing: usize,
}

impl Tally {
    /// The published figures of some cells, without those that count elsewhere or not at all.
    pub(crate) fn of(rows: &[PaperRow]) -> Tally {
        let mut tally = Tally::default();
        rows.iter().filter(|row| row.compares).for_each(|row| tally.add(row));
        tally
    }

    /// One cell, whether it counts or not.
    pub(crate) fn of_cell(row: &PaperRow) -> Tally {
        let mut tally = Tally::default();
        tally.add(row);
        tally
    }

    fn add(&mut self, row: &PaperRow) {
        if row.published.is_none() {
            return;
        }
        *match (row.kind, row.ratio) {
            (None, _) => &mut self.missing,
            (Some(kind), _) if !kind.reproduces() => &mut self.derived,
            (_, Some(0.9..=1.1)) => &mut self.within,
            (_, Some(..0.9)) if row.is_cost => &mut self.better,
            (_, Some(..0.9)) => &mut self.other_lower,
            (_, Some(_)) if row.is_cost => &mut self.worse,
            // A published zero gives no ratio: ours is zero too, or anything else.
            (_, None) if row.measured == Some(0.0) => &mut self.within,
            _ => &mut self.other_higher,
        } += 1;
    }

    /// Number of published figures.
    pub(crate) fn count(&self) -> usize {
        let Tally { within, better, worse, other_lower, other_higher, derived, missing } = self;
        within + better + worse + other_lower + other_higher + derived + missing
    }

    /// All counts, as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let (count, within, missing) = (self.count(), self.within, self.missing);
        let (lower, higher) = (self.better + self.other_lower, self.worse + self.other_higher);
        format!(
            "{count} published figures are compared: ours is within 10 % in {within}, lower in {lower}, higher \
             in {higher}, derived or quoted in {}, missing in {missing}",
            self.derived
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::FigureKind;
    use crate::report::shape::tests::cell;

    #[test]
    fn published_zero_is_met_by_zero_alone() {
        let zero = |measured| PaperRow { ratio: None, ..cell("", "", Some(0.0), Some(measured)) };
        assert_eq!(Tally::of(&[zero(0.0)]), Tally { within: 1, ..Tally::default() });
        assert_eq!(Tally::of(&[zero(0.001)]), Tally { other_higher: 1, ..Tally::default() });
    }

    #[test]
    fn repeated_figure_counts_once() {
        let repeated = PaperRow { compares: false, ..cell("", "", Some(1.0), Some(1.0)) };
        assert_eq!(Tally::of(std::slice::from_ref(&repeated)), Tally::default());
        assert_eq!(Tally::of_cell(&repeated), Tally { within: 1, ..Tally::default() });
    }

    #[test]
    fn derived_figures_count_as_no_reproduction() {
        let rows = [
            (Some(1.05), Some(FigureKind::Measured), true),
            (Some(0.5), Some(FigureKind::Modelled), true),
            (Some(0.5), Some(FigureKind::Modelled), false),
            (Some(1.0), Some(FigureKind::Derived), true),
            (None, None, true),
        ];
        let rows = rows.map(|(ratio, kind, is_cost)| PaperRow {
            ratio,
            kind,
            is_cost,
            ..cell("", "", Some(1.0), None)
        });
        let tally = Tally::of(&rows);
        assert_eq!(
            tally,
            Tally { within: 1, better: 1, other_lower: 1, derived: 1, missing: 1, ..Tally::default() }
        );
        assert_eq!(
            tally.sentence(),
            "5 published figures are compared: ours is within 10 % in 1, lower in 2, higher in 0, derived or \
             quoted in 1, missing in 1"
        );
    }
}
