//! Claims of a paper: a sentence of its text, and the cells that show whether it holds. In the file
//! a reason has cells in braces, which stand for the figures of the run ([`crate::reason`]).

use crate::reason;
use serde::{Deserialize, Serialize};

/// Claim of a paper's text.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim, as one sentence.
    pub text: String,
    /// Place of the claim in the paper.
    pub at: String,
    /// Verdict: by the conditions on the cells where the file states some and the cells have
    /// figures, by judgement elsewhere.
    pub verdict: Verdict,
    /// Cells that show it, as `TABLE/ROW/COLUMN`.
    #[serde(default)]
    pub cells: Vec<String>,
    /// The verdict's reason, with figures.
    pub because: String,
    /// Conditions on the cells, which the claim asserts.
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub shows: Vec<Condition>,
    /// True if the conditions are about the paper's own figures instead of ours.
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub by_published: bool,
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "does not hold")]
    DoesNotHold,
    #[serde(rename = "depends")]
    Depends,
    #[serde(rename = "cannot be tested")]
    CannotBeTested,
    /// A run without a figure that the conditions need. No file states it.
    #[serde(rename = "not shown in this run", skip_deserializing)]
    NotShown,
}

/// Condition on cells' figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Condition {
    /// The figures rise strictly in this order.
    Less(Vec<String>),
    /// The first figure over the second is within the range.
    Ratio { of: [String; 2], from: Option<f64>, to: Option<f64> },
    /// The figure is within the range.
    Figure { of: String, from: Option<f64>, to: Option<f64> },
}

impl Verdict {
    /// The verdicts that a file can state, in the order in which they are counted.
    pub const ALL: [Verdict; 4] =
        [Verdict::Holds, Verdict::DoesNotHold, Verdict::Depends, Verdict::CannotBeTested];

    /// The verdict's words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Depends => "depends",
            Verdict::CannotBeTested => "cannot be tested",
            Verdict::NotShown => "not shown in this run",
        }
    }
}

impl Condition {
    /// The cells that it is about.
    fn cells(&self) -> &[String] {
        match self {
            Condition::Less(cells) => cells,
            Condition::Ratio { of, .. } => of,
            Condition::Figure { of, .. } => std::slice::from_ref(of),
        }
    }

    /// Returns true if it is met; nothing where a cell has no figure.
    fn is_met(&self, figure: impl Fn(&str) -> Option<f64>) -> Option<bool> {
        let figures: Vec<f64> = self.cells().iter().map(|name| figure(name)).collect::<Option<_>>()?;
        let within = |value: f64, from: &Option<f64>, to: &Option<f64>| {
            from.is_none_or(|from| value >= from) && to.is_none_or(|to| value <= to)
        };
        Some(match self {
            Condition::Less(_) => figures.windows(2).all(|pair| pair[0] < pair[1]),
            Condition::Ratio { from, to, .. } => within(figures[0] / figures[1], from, to),
            Condition::Figure { from, to, .. } => within(figures[0], from, to),
        })
    }
}

impl Claim {
    /// The verdict with its basis: the cells of the run, the paper's own figures, or a judgement.
    #[must_use]
    pub fn finding(&self) -> String {
        let name = self.verdict.name();
        match self.verdict {
            Verdict::CannotBeTested | Verdict::NotShown => name.to_owned(),
            _ if self.shows.is_empty() => format!("{name}, by judgement"),
            _ if self.by_published => format!("{name}, by the paper's own figures"),
            _ => name.to_owned(),
        }
    }

    /// Adds the cells of conditions and reason to those that the file names, and checks the claim.
    /// `has_cell` tells whether the paper has a cell of that name, `has_text` whether it has
    /// sentences of its own.
    ///
    /// # Errors
    /// A sentence on a cell that the paper has not or on an open brace, a verdict without cells, a
    /// condition that cannot fail, or a sentence made from the published figures that these same
    /// figures prove.
    pub(crate) fn complete(&mut self, has_text: bool, has_cell: impl Fn(&str) -> bool) -> Result<(), String> {
        let place = format!("the claim '{}'", self.text);
        let of_reason = reason::cells(&self.because).map_err(|problem| format!("{place}: {problem}"))?;
        for cell in self.shows.iter().flat_map(Condition::cells).cloned().chain(of_reason) {
            if !self.cells.contains(&cell) {
                self.cells.push(cell);
            }
        }
        if let Some(cell) = self.cells.iter().find(|cell| !has_cell(cell)) {
            return Err(format!("{place}: there is no cell '{cell}'"));
        }
        if !has_text && self.by_published && self.verdict == Verdict::Holds {
            return Err(format!("{place} is made from the published figures, which cannot prove it"));
        }
        match self.verdict {
            Verdict::CannotBeTested if !self.shows.is_empty() => {
                return Err(format!("{place} cannot be tested and has a condition"));
            }
            Verdict::CannotBeTested => {}
            _ if self.cells.is_empty() => return Err(format!("{place} names no cell")),
            _ => {}
        }
        let is_empty = |condition: &Condition| match condition {
            Condition::Less(cells) => cells.len() < 2,
            Condition::Ratio { from, to, .. } | Condition::Figure { from, to, .. } => {
                from.is_none() && to.is_none()
            }
        };
        match self.shows.iter().any(is_empty) {
            true => Err(format!("{place} has a condition that cannot fail")),
            false => Ok(()),
        }
    }

    /// Returns the verdict of the conditions: all, none or some of them are met. Returns nothing
    /// where there are none, or where a cell has no figure.
    fn derived(&self, figure: impl Fn(&str) -> Option<f64>) -> Option<Verdict> {
        let met: Vec<bool> =
            self.shows.iter().map(|condition| condition.is_met(&figure)).collect::<Option<_>>()?;
        match (met.contains(&true), met.contains(&false)) {
            (false, false) => None,
            (true, false) => Some(Verdict::Holds),
            (false, true) => Some(Verdict::DoesNotHold),
            (true, true) => Some(Verdict::Depends),
        }
    }

    /// Returns the claim with the verdict of its cells, and a sentence if the file has another one.
    /// `figure` returns the figure of a cell by its name. A cell without a figure is wrong, but in
    /// an interrupted run.
    pub(crate) fn judged(
        &self,
        figure: impl Fn(&str) -> Option<f64>,
        is_interrupted: bool,
    ) -> (Claim, Option<String>) {
        let missing = self.shows.iter().flat_map(Condition::cells).find(|cell| figure(cell).is_none());
        if let Some(cell) = missing {
            let wrong = format!("the claim '{}' is not shown: the cell '{cell}' has no figure", self.text);
            let claim = Claim { verdict: Verdict::NotShown, ..self.clone() };
            return (claim, (!is_interrupted).then_some(wrong));
        }
        let verdict = self.derived(figure).unwrap_or(self.verdict);
        let wrong = (verdict != self.verdict).then(|| {
            let (stated, derived) = (self.verdict.name(), verdict.name());
            format!("the claim '{}' has the verdict '{stated}'; by its cells it is '{derived}'", self.text)
        });
        (Claim { verdict, ..self.clone() }, wrong)
    }
}

/// Counts of claims by their verdicts, as a sentence.
#[must_use]
pub fn summary(claims: &[Claim]) -> String {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let [holds, fails, depends, untested] = Verdict::ALL.map(count);
    let verb = |count, one, many| if count == 1 { one } else { many };
    let missing = match count(Verdict::NotShown) {
        0 => String::new(),
        missing => format!(", {missing} not shown in this run"),
    };
    format!(
        "claims: {holds} {}, {fails} {}, {depends} {}, {untested} cannot be tested{missing}",
        verb(holds, "holds", "hold"),
        verb(fails, "does not", "do not"),
        verb(depends, "depends", "depend")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(condition: &Condition) -> Option<bool> {
        let figures = [("one", 1.0), ("two", 2.0), ("three", 3.0)];
        condition.is_met(|name| figures.iter().find(|(known, _)| *known == name).map(|figure| figure.1))
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn conditions_compare_the_figures_of_their_cells() {
        assert_eq!(met(&Condition::Less(names(&["one", "two", "three"]))), Some(true));
        assert_eq!(met(&Condition::Less(names(&["one", "three", "two"]))), Some(false));
        assert_eq!(met(&Condition::Less(names(&["one", "one"]))), Some(false));
        assert_eq!(met(&Condition::Less(names(&["one", "four"]))), None);
        let ratio = |from, to| Condition::Ratio { of: ["three".into(), "two".into()], from, to };
        assert_eq!(met(&ratio(Some(1.5), Some(1.5))), Some(true));
        assert_eq!(met(&ratio(Some(1.6), None)), Some(false));
        assert_eq!(met(&ratio(None, Some(1.4))), Some(false));
        let figure = |from, to| Condition::Figure { of: "two".into(), from, to };
        assert_eq!(met(&figure(Some(2.0), None)), Some(true));
        assert_eq!(met(&figure(None, Some(1.9))), Some(false));
    }

    fn claim(verdict: Verdict) -> Claim {
        Claim {
            text: "Less.".into(),
            at: String::new(),
            verdict,
            cells: Vec::new(),
            because: String::new(),
            shows: Vec::new(),
            by_published: false,
        }
    }

    #[test]
    fn figures_decide_the_verdict_and_a_stated_one_is_checked() {
        let at_least = |from| Condition::Figure { of: "cell".into(), from: Some(from), to: None };
        let judged = |froms: &[f64], figure| {
            let shows = froms.iter().copied().map(at_least).collect();
            let (claim, wrong) = Claim { shows, ..claim(Verdict::Holds) }.judged(|_| figure, false);
            (claim.verdict, wrong.is_some())
        };
        assert_eq!(judged(&[1.0, 2.0], Some(3.0)), (Verdict::Holds, false));
        assert_eq!(judged(&[1.0, 2.0], Some(1.5)), (Verdict::Depends, true));
        assert_eq!(judged(&[1.0, 2.0], Some(0.5)), (Verdict::DoesNotHold, true));
        // A claim without a condition keeps what the file states.
        assert_eq!(judged(&[], Some(1.0)), (Verdict::Holds, false));
        assert_eq!(judged(&[], None), (Verdict::Holds, false));
    }

    #[test]
    fn claim_without_a_figure_is_wrong_in_a_whole_run() {
        let shows = vec![Condition::Figure { of: "cell".into(), from: Some(1.0), to: None }];
        let claim = Claim { shows, ..claim(Verdict::Holds) };
        let (judged, wrong) = claim.judged(|_| None, true);
        assert_eq!((judged.verdict, wrong), (Verdict::NotShown, None));
        assert_eq!(
            summary(&[judged]),
            "claims: 0 hold, 0 do not, 0 depend, 0 cannot be tested, 1 not shown in this run"
        );
        let (judged, wrong) = claim.judged(|_| None, false);
        assert_eq!(judged.verdict, Verdict::NotShown);
        assert!(wrong.is_some_and(|wrong| wrong.contains("the cell 'cell' has no figure")));
    }

    #[test]
    fn finding_says_its_basis() {
        let shows = vec![Condition::Figure { of: "cell".into(), from: Some(1.0), to: None }];
        let shown = Claim { shows, ..claim(Verdict::Holds) };
        assert_eq!(shown.finding(), "holds");
        let published = Claim { by_published: true, ..shown };
        assert_eq!(published.finding(), "holds, by the paper's own figures");
        assert_eq!(claim(Verdict::Depends).finding(), "depends, by judgement");
        assert_eq!(claim(Verdict::CannotBeTested).finding(), "cannot be tested");
    }

    #[test]
    fn summary_counts_each_verdict() {
        let claims = [Verdict::Holds, Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeTested];
        assert_eq!(summary(&claims.map(claim)), "claims: 2 hold, 1 does not, 0 depend, 1 cannot be tested");
    }
}
