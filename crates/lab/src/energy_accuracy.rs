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

/// A program, or a way to run programs, whose current was published beside the one that stands for
/// all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProgramCurrent {
    /// Its name, and the part that ran it where that is another: `while(1) on a SAM C21`.
    pub program: String,
    /// Its current over the one that stands for all programs.
    pub times: f64,
    /// Document and table of the two currents.
    pub source: String,
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
    /// Programs whose currents were published; absent where one current stands for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramCurrent>,
}

impl EnergyAccuracy {
    /// Of a target file that says nothing.
    pub(crate) fn unknown() -> EnergyAccuracy {
        EnergyAccuracy {
            max_hz: None,
            energy: EnergyBound::Estimate,
            source: "the target file does not say how far its currents may be off".into(),
            programs: Vec::new(),
        }
    }

    /// The program that draws least by what was published, if that is less than what stands for
    /// all.
    #[must_use]
    pub fn least_program(&self) -> Option<&ProgramCurrent> {
        let least = self.programs.iter().min_by(|a, b| a.times.total_cmp(&b.times));
        least.filter(|program| program.times < 1.0)
    }

    /// The program that draws most, if that is more than what stands for all.
    #[must_use]
    pub fn most_program(&self) -> Option<&ProgramCurrent> {
        let most = self.programs.iter().max_by(|a, b| a.times.total_cmp(&b.times));
        most.filter(|program| program.times > 1.0)
    }

    /// Returns the outermost published programs, as a clause without a full stop. None where no
    /// program's current was found.
    #[must_use]
    pub fn program_range(&self) -> Option<String> {
        let ends = [self.least_program(), self.most_program()];
        let ends = ends.into_iter().flatten().map(|end| format!("{} ({})", end.times, end.program));
        let ends: Vec<String> = ends.collect();
        (!ends.is_empty())
            .then(|| format!("published programs draw {} times this current", ends.join(" to ")))
    }

    /// The foot of a table with energies of this accuracy.
    #[must_use]
    pub fn foot(&self) -> String {
        let (mark, source) = (self.energy.mark(), &self.source);
        let foot = match self.energy {
            EnergyBound::Percent(percent) => {
                format!("energy {mark} within {percent} % of what others measured: {source}")
            }
            EnergyBound::LowBy(percent) => {
                format!("energy {mark} front page, may be low by {percent} %: {source}")
            }
            EnergyBound::Estimate => format!("energy {mark} an estimate: {source}"),
        };
        match self.program_range() {
            Some(range) => format!("{foot}; {range}"),
            None => foot,
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
    let mut programs = stated.iter().flat_map(|entry| &entry.programs);
    if let Some(wrong) = programs.find(|program| !(program.times.is_finite() && program.times > 0.0)) {
        return Err(format!(
            "[[energy_accuracy]] has {} times the current for '{}'; it must be a number above zero",
            wrong.times, wrong.program
        ));
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

    fn with_programs(times: &[f64]) -> EnergyAccuracy {
        let program = |&times| ProgramCurrent { program: format!("p{times}"), times, source: "t".into() };
        EnergyAccuracy { programs: times.iter().map(program).collect(), ..accuracy("estimate").unwrap() }
    }

    #[test]
    fn program_range_has_the_outermost_programs() {
        let range = |times: &[f64]| with_programs(times).program_range();
        let both = "published programs draw 0.63 (p0.63) to 1.31 (p1.31) times this current";
        assert_eq!(range(&[0.81, 0.63, 1.31, 1.29]).as_deref(), Some(both));
        let one = "published programs draw 0.83 (p0.83) times this current";
        assert_eq!(range(&[0.83]).as_deref(), Some(one));
        assert_eq!(range(&[]), None);
        let foot = with_programs(&[0.83]).foot();
        assert_eq!(foot, format!("energy ? an estimate: a data sheet; {one}"));
    }

    #[test]
    fn program_current_of_nothing_is_refused() {
        let supply = Workspace::find().unwrap().target("stm32f407").unwrap().supply;
        assert_eq!(check(&[with_programs(&[0.5])], &supply), Ok(()));
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = check(&[with_programs(&[0.5, wrong])], &supply).unwrap_err();
            assert!(error.contains("must be a number above zero"), "{error}");
        }
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
