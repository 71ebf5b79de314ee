//! Limit of a figure: a maximum, or a maximal growth.

use super::Figure;
use crate::units;

/// The most that a figure may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So much.
    Most(f64),
    /// So much more than before, as a share of what it was.
    Growth(f64),
}

impl Limit {
    /// Reads `+1%`, or as much of the figure as a person writes: `20000`, `24kB`, `2mJ`.
    ///
    /// # Errors
    /// A sentence with the notation of such a limit.
    pub fn read(figure: Figure, text: &str) -> Result<Limit, String> {
        if let Some(growth) = text.strip_prefix('+') {
            return Ok(Limit::Growth(units::growth(growth)?));
        }
        Ok(Limit::Most(match figure {
            Figure::Cycles => units::count(text)? as f64,
            Figure::Flash | Figure::Ram | Figure::Stack => units::bytes(text)?,
            Figure::Energy => units::joules(text)?,
        }))
    }

    /// Returns true if a figure is past it. A new figure has not grown; one that was nothing has,
    /// whatever it is now.
    #[must_use]
    pub fn is_passed(&self, before: Option<f64>, after: Option<f64>) -> bool {
        // A share of a share of a cycle is rounding, and no growth.
        const ROUNDING: f64 = 1e-9;
        match (*self, before, after) {
            (Limit::Most(most), _, Some(after)) => after > most,
            (Limit::Growth(share), Some(before), Some(after)) => {
                after - before > before * share + before * ROUNDING
            }
            (_, _, None) | (Limit::Growth(_), None, _) => false,
        }
    }

    /// The limit, for a person.
    #[must_use]
    pub fn text(&self, figure: Figure) -> String {
        match self {
            Limit::Most(most) => figure.text(*most),
            Limit::Growth(share) => format!("+{} %", output::significant(share * 100.0, 4)),
        }
    }

    /// Explains a figure that is past it.
    pub(super) fn passed_text(&self, figure: Figure, before: Option<f64>, after: Option<f64>) -> String {
        let (name, limit) = (figure.name(), self.text(figure));
        let text = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| figure.text(value));
        match (self, before, after) {
            (Limit::Most(_), ..) => format!("{name} {}, limit {limit}", text(after)),
            (Limit::Growth(_), Some(then), Some(now)) if then != 0.0 => {
                let percent = (now - then) / then * 100.0;
                format!("{name} grew by {percent:.2} % ({} to {}), limit {limit}", text(before), text(after))
            }
            (Limit::Growth(_), ..) => {
                format!("{name} grew ({} to {}), limit {limit}", text(before), text(after))
            }
        }
    }
}
