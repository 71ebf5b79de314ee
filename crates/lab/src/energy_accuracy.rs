//! Bounds on energies against the part's: the `[[energy_accuracy]]` tables of a target file.

use energy::Supply;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Bound on an energy's deviation from the part's, beside that of its cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EnergyBound {
    /// The largest difference of the currents from those that others measured on silicon, in
    /// percent.
    Percent(f64),
    /// Only the front page of a data sheet, which may be too low by up to this, in percent.
    LowBy(f64),
    /// A typical current with which nobody's measurement was compared.
    Estimate,
}

impl fmt::Display for EnergyBound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnergyBound::Percent(percent) => write!(out, "{percent} %"),
            EnergyBound::LowBy(percent) => write!(out, "low by {percent} %"),
            EnergyBound::Estimate => out.write_str("estimate"),
        }
    }
}

impl EnergyBound {
    /// The mark behind an energy in a table, which the table's foot explains.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            EnergyBound::Percent(_) => "~",
            EnergyBound::LowBy(_) | EnergyBound::Estimate => "?",
        }
    }
}

impl Serialize for EnergyBound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EnergyBound {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EnergyBound".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "`estimate`; the largest difference from currents that others measured, such as `29 %`; \
                or by how much a front page's current may be too low, such as `low by 50 %`.",
            "type": "string",
            "pattern": r"^(estimate|(low by )?[0-9.]+ %)$",
        })
    }
}

impl<'de> Deserialize<'de> for EnergyBound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "estimate" {
            return Ok(EnergyBound::Estimate);
        }
        let (is_low, number) = match text.strip_prefix("low by ") {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let percent: Option<f64> = number.strip_suffix(" %").and_then(|percent| percent.parse().ok());
        let percent = percent.filter(|percent| *percent > 0.0 && percent.is_finite());
        let bound = percent.map(if is_low { EnergyBound::LowBy } else { EnergyBound::Percent });
        bound.ok_or_else(|| {
            D::Error::custom(
                "an energy's bound is \"estimate\", a percentage, \"29 %\", or how much too low, \"low by 50 %\"",
            )
        })
    }
}

/// A bound, where it holds and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EnergyAccuracy {
    /// The highest clock that it holds for, in Hz; any above the other entries' where absent.
    #[serde(default, skip_serializing)]
    pub max_hz: Option<f64>,
    /// Bound on the deviation of the energy, beside that of the cycles.
    pub energy: EnergyBound,
    /// Against what the currents were compared, or why they could not be.
    pub source: String,
}

impl EnergyAccuracy {
    /// Of a target file that says nothing.
    pub(crate) fn unknown() -> EnergyAccuracy {
        EnergyAccuracy {
            max_hz: None,
            energy: EnergyBound::Estimate,
            source: "the target file does not say how far its currents may be off".into(),
        }
    }

    /// The foot of a table with energies of this accuracy.
    #[must_use]
    pub fn foot(&self) -> String {
        let (mark, source) = (self.energy.mark(), &self.source);
        match self.energy {
            EnergyBound::Percent(percent) => {
                format!("energy {mark} within {percent} % of what others measured: {source}")
            }
            EnergyBound::LowBy(percent) => {
                format!("energy {mark} front page, may be low by {percent} %: {source}")
            }
            EnergyBound::Estimate => format!("energy {mark} an estimate: {source}"),
        }
    }
}

/// The entry that holds at a clock.
pub(crate) fn at(stated: &[EnergyAccuracy], clock_hz: f64) -> EnergyAccuracy {
    // A kilohertz of slack, as the limits of the supply have.
    let holds = |entry: &&EnergyAccuracy| entry.max_hz.is_none_or(|max_hz| clock_hz <= max_hz + 1e3);
    stated.iter().find(holds).or(stated.last()).cloned().unwrap_or_else(EnergyAccuracy::unknown)
}

/// Checks the tables of a target file.
///
/// # Errors
/// Entries whose clocks do not rise, or a last one that does not hold for the highest clock.
pub(crate) fn check(stated: &[EnergyAccuracy], supply: &Supply) -> Result<(), String> {
    let limit = |entry: &EnergyAccuracy| entry.max_hz.unwrap_or(f64::INFINITY);
    if !stated.windows(2).all(|pair| limit(&pair[0]) < limit(&pair[1])) {
        return Err("[[energy_accuracy]] has entries that do not rise in max_hz".into());
    }
    let highest_hz = supply.max_clock_hz(supply.max_v);
    match stated.last().map(limit) {
        Some(last_hz) if last_hz + 1e3 < highest_hz => Err(format!(
            "[[energy_accuracy]] says nothing of clocks above {} MHz; leave max_hz out of the last entry",
            last_hz / 1e6
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    fn accuracy(text: &str) -> Result<EnergyAccuracy, toml::de::Error> {
        toml::from_str(&format!("energy = '{text}'\nsource = 'a data sheet'"))
    }

    #[test]
    fn a_bound_is_read_and_written_alike() {
        for text in ["estimate", "29 %", "1.5 %", "low by 50 %"] {
            assert_eq!(accuracy(text).unwrap().energy.to_string(), text);
        }
        for text in ["", "exact", "29", "-1 %", "0 %", "NaN %", "low by inf %", "low by", "high by 5 %"] {
            let error = accuracy(text).unwrap_err().to_string();
            assert!(error.contains("an energy's bound is"), "{text}: {error}");
        }
    }

    #[test]
    fn the_foot_explains_the_mark() {
        let foot = |text: &str| accuracy(text).unwrap().foot();
        assert_eq!(foot("29 %"), "energy ~ within 29 % of what others measured: a data sheet");
        assert_eq!(foot("low by 50 %"), "energy ? front page, may be low by 50 %: a data sheet");
        assert_eq!(foot("estimate"), "energy ? an estimate: a data sheet");
    }

    #[test]
    fn the_bound_is_that_of_the_clock() {
        let slow = EnergyAccuracy { max_hz: Some(26e6), ..accuracy("low by 50 %").unwrap() };
        let fast = accuracy("29 %").unwrap();
        let both = [slow.clone(), fast.clone()];
        assert_eq!((at(&both, 26e6), at(&both, 27e6)), (slow.clone(), fast.clone()));
        assert_eq!(at(&[], 1e6), EnergyAccuracy::unknown());

        let supply = Workspace::find().unwrap().target("stm32f407").unwrap().supply;
        assert_eq!(check(&both, &supply), Ok(()));
        assert!(check(&[fast, slow.clone()], &supply).unwrap_err().contains("do not rise"));
        assert!(check(&[slow], &supply).unwrap_err().contains("nothing of clocks above 26 MHz"));
    }

    /// An energy without a word on how true it is would look like a measured one.
    #[test]
    fn every_target_of_the_project_says_how_true_its_energies_are() {
        let workspace = Workspace::find().unwrap();
        for name in workspace.target_names().unwrap() {
            let target = workspace.target(&name).unwrap();
            assert!(!target.energy_accuracy.is_empty(), "targets/{name}.toml has no [[energy_accuracy]]");
        }
    }
}
