//! Counts of a paper's published figures by how ours compare.

use crate::reproduce::PaperRow;

/// Number of cells with a published figure, by our figure.
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
    pub(crate) fn of(rows: &[PaperRow]) -> Tally {
        let mut tally = Tally::default();
        for row in rows.iter().filter(|row| row.published.is_some()) {
            *match (row.ratio, row.kind) {
                (Some(ratio), Some(kind)) if kind.reproduces() => match (ratio, row.is_cost) {
                    (0.9..=1.1, _) => &mut tally.within,
                    (..0.9, true) => &mut tally.better,
                    (..0.9, false) => &mut tally.other_lower,
                    (_, true) => &mut tally.worse,
                    (_, false) => &mut tally.other_higher,
                },
                (_, Some(_)) => &mut tally.derived,
                (_, None) => &mut tally.missing,
            } += 1;
        }
        tally
    }

    /// Number of cells with a published figure.
    pub(crate) fn count(&self) -> usize {
        let Tally { within, better, worse, other_lower, other_higher, derived, missing } = self;
        within + better + worse + other_lower + other_higher + derived + missing
    }

    /// All counts, as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let (count, within, missing) = (self.count(), self.within, self.missing);
        let (lower, higher) = (self.better + self.other_lower, self.worse + self.other_higher);
        format!(
            "{count} cells with a published figure: ours is within 10 % in {within}, lower in {lower}, higher \
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
            "5 cells with a published figure: ours is within 10 % in 1, lower in 2, higher in 0, derived or \
             quoted in 1, missing in 1"
        );
    }
}
