//! Bounds on a model's cycle counts against the part's: the `[[accuracy]]` tables of a target file.

use mcu::Part;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Bound on the deviation of a cycle count from the part's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Not at all: the manual's counts have no exceptions, and a second model takes the same.
    Exact,
    /// The largest difference from counts on silicon, in percent.
    Percent(f64),
    /// Nobody has published counts to compare with.
    Estimate,
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Exact => out.write_str("exact"),
            Bound::Percent(percent) => write!(out, "{percent} %"),
            Bound::Estimate => out.write_str("estimate"),
        }
    }
}

impl Bound {
    /// Mark behind a figure in a table, which the table's foot explains.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Bound::Exact => "",
            Bound::Percent(_) => "~",
            Bound::Estimate => "?",
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Bound {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bound".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "`exact`, `estimate`, or the largest difference from counts on silicon, such as `1.5 %`.",
            "type": "string",
            "pattern": r"^(exact|estimate|[0-9.]+ %)$",
        })
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "exact" => Ok(Bound::Exact),
            "estimate" => Ok(Bound::Estimate),
            _ => text
                .strip_suffix(" %")
                .and_then(|percent| percent.parse().ok())
                .filter(|percent: &f64| *percent > 0.0 && percent.is_finite())
                .map(Bound::Percent)
                .ok_or_else(|| {
                    D::Error::custom("a bound is \"exact\", \"estimate\" or a percentage, \"1.2 %\"")
                }),
        }
    }
}

/// A bound and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Name of the `[[memory]]` with the code that it holds for; anywhere else where absent.
    #[serde(default, skip_serializing)]
    pub memory: Option<String>,
    /// It holds for programs that do arithmetic in the floating-point unit, wherever they lie.
    #[serde(default, skip_serializing)]
    pub floating_point: bool,
    /// It holds for programs that have the flash's instruction cache off.
    #[serde(default, skip_serializing)]
    pub uncached: bool,
    /// It holds for code that computes and accesses no peripheral, such as `bench`'s operations.
    #[serde(default, skip_serializing)]
    pub computation: bool,
    /// As `computation`, where the flash has no wait states.
    #[serde(default, skip_serializing)]
    pub without_wait_states: bool,
    /// Bound on the deviation of the cycles.
    pub cycles: Bound,
    /// Against what they were compared.
    pub source: String,
}

impl Accuracy {
    /// The conditions that it is bound to, but for a memory, by their keys.
    fn conditions(&self) -> [(&'static str, bool); 4] {
        [
            ("floating_point", self.floating_point),
            ("uncached", self.uncached),
            ("computation", self.computation),
            ("without_wait_states", self.without_wait_states),
        ]
    }

    /// Returns true if it holds for all that no other entry names.
    #[must_use]
    pub fn is_general(&self) -> bool {
        self.memory.is_none() && self.conditions().iter().all(|(_, is_bound)| !is_bound)
    }

    /// An estimate, for all of a run, and why.
    pub(crate) fn estimate(source: String) -> Accuracy {
        Accuracy {
            memory: None,
            floating_point: false,
            uncached: false,
            computation: false,
            without_wait_states: false,
            cycles: Bound::Estimate,
            source,
        }
    }

    /// The foot of a table with figures of this accuracy; empty where they are exact.
    #[must_use]
    pub fn foot(&self) -> String {
        let mark = self.cycles.mark();
        match self.cycles {
            Bound::Exact => String::new(),
            Bound::Percent(_) => {
                format!("{mark} within {} of the part's cycles: {}", self.cycles, self.source)
            }
            Bound::Estimate => format!("{mark} an estimate: {}", self.source),
        }
    }
}

/// Checks the tables of a target file.
///
/// # Errors
/// A memory that the part does not have, two entries for one condition, two conditions of one
/// entry, or no entry for the rest.
pub(crate) fn check(stated: &[Accuracy], part: &Part) -> Result<(), String> {
    for name in stated.iter().filter_map(|accuracy| accuracy.memory.as_ref()) {
        if !part.memories.iter().any(|memory| memory.name == *name) {
            return Err(format!("[[accuracy]] names the memory {name}, which the part does not have"));
        }
    }
    let mut bound_to: Vec<&str> = Vec::new();
    for accuracy in stated {
        let keys = accuracy.conditions().into_iter().filter_map(|(key, is_bound)| is_bound.then_some(key));
        let before = bound_to.len();
        bound_to.extend(keys);
        let added = &bound_to[before..];
        if let Some(key) = added.iter().find(|key| bound_to[..before].contains(key)) {
            return Err(format!("at most one [[accuracy]] is of {key}"));
        }
        if added.len() + usize::from(accuracy.memory.is_some()) > 1 {
            return Err("an [[accuracy]] is of one memory or of one condition, not of two".into());
        }
    }
    if stated.iter().filter(|accuracy| accuracy.is_general()).count() != 1 {
        return Err(
            "one [[accuracy]] has to be without a memory: it holds for all that no other names".into()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    fn accuracy(text: &str) -> Result<Accuracy, toml::de::Error> {
        toml::from_str(&format!("cycles = '{text}'\nsource = 'a data sheet'"))
    }

    #[test]
    fn a_bound_is_read_and_written_alike() {
        for text in ["exact", "estimate", "1.2 %", "3 %"] {
            assert_eq!(accuracy(text).unwrap().cycles.to_string(), text);
        }
        for text in ["", "1.2", "-1 %", "0 %", "NaN %", "inf %", "about 1 %"] {
            let error = accuracy(text).unwrap_err().to_string();
            assert!(error.contains("a bound is \"exact\""), "{text}: {error}");
        }
    }

    #[test]
    fn the_foot_explains_the_mark() {
        assert_eq!(accuracy("exact").unwrap().foot(), "");
        assert_eq!(accuracy("3 %").unwrap().foot(), "~ within 3 % of the part's cycles: a data sheet");
        assert_eq!(accuracy("estimate").unwrap().foot(), "? an estimate: a data sheet");
    }

    #[test]
    fn the_bound_is_that_of_the_memory_with_the_code() {
        let target = Workspace::find().unwrap().target("stm32f407").unwrap();
        let of_flash = target.accuracy_at(0x0800_0100);
        assert!(matches!(of_flash.cycles, Bound::Percent(_)) && of_flash.memory.is_none());
        assert_eq!(target.accuracy_at(0x100), of_flash, "the flash's other address");
        assert_eq!(target.accuracy_at(0x2000_0000).cycles, Bound::Estimate);

        let samd21 = Workspace::find().unwrap().target("samd21").unwrap();
        let at = |clock_hz| {
            let point = samd21.operating_point(clock_hz, None).unwrap();
            samd21.accuracy_of_computation(0x100, &point).cycles
        };
        assert!(matches!(at(Some(24_000_000)), Bound::Percent(percent) if percent < 0.1), "no wait state");
        assert_ne!(at(Some(48_000_000)), at(Some(24_000_000)));
        assert_eq!(samd21.accuracy_at(0x100).cycles, at(Some(48_000_000)), "where the clock is not known");

        let general = accuracy("exact").unwrap();
        let of_eeprom = Accuracy { memory: Some("eeprom".into()), ..general.clone() };
        let problem = |stated: &[Accuracy]| check(stated, &target.part).unwrap_err();
        assert!(problem(&[general.clone(), of_eeprom]).contains("the memory eeprom"));
        assert!(problem(&[]).contains("without a memory"));
        let of_floats = Accuracy { floating_point: true, ..general.clone() };
        assert!(
            problem(&[general.clone(), of_floats.clone(), of_floats.clone()]).contains("of floating_point")
        );
        let uncached = Accuracy { uncached: true, ..general.clone() };
        assert!(problem(&[general.clone(), uncached.clone(), uncached.clone()]).contains("of uncached"));
        let in_memory = Accuracy { memory: Some("sram".into()), ..uncached };
        assert!(problem(&[general.clone(), in_memory]).contains("not of two"));
        let both = Accuracy { uncached: true, ..of_floats };
        assert!(problem(&[general.clone(), both]).contains("not of two"));
        assert!(problem(&[general.clone(), general]).contains("without a memory"));
    }
}
