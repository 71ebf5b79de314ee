//! `scenarios/configured.toml`: which configurations a node has, and for how long it is simulated.

use crate::harvest::scenario::SchemeName;
use crate::scenario::text;
use lab::LabError;
use lab::workspace::Workspace;
use serde::Deserialize;
use std::path::Path;

/// A node with a choice of configurations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfiguredScenario {
    /// Title, in a line.
    pub title: String,
    /// The harvested node's scenario that all else is of: panel, storage, regulator, radio, sun.
    pub node: String,
    /// Duration in days.
    pub days: f64,
    /// The day of the year that it begins with: 1 to 365.
    pub start_day: u16,
    /// Configurations, and when the node changes between them.
    pub choice: Choice,
}

/// Configurations of a node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Signature schemes, the strongest first.
    pub schemes: Vec<SchemeName>,
    /// Clocks of the processor, in Hz. Each has the lowest of `supplies_v` that allows it.
    pub clocks_hz: Vec<u64>,
    /// Voltages that the regulator can be set to, in volts.
    pub supplies_v: Vec<f64>,
    /// Time over which the rate of the stored energy is looked at, and for which what is stored
    /// must last at that rate, in seconds.
    pub horizon_s: f64,
    /// Share of the storage's highest voltage from which energy is free: sun would be lost.
    pub full: f64,
}

impl ConfiguredScenario {
    /// Reads a scenario's file, named by its path or, where it is one of the project's, by its
    /// name; `None` where it describes something else.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest name; [`LabError::Usage`] with the file, the
    /// field and what is allowed.
    pub fn read(workspace: &Workspace, name: &Path) -> Result<Option<ConfiguredScenario>, LabError> {
        let (path, text) = text(workspace, name)?;
        if !toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("choice")) {
            return Ok(None);
        }
        let read = ConfiguredScenario::from_toml(&text);
        read.map(Some).map_err(|problem| LabError::Usage(format!("{}: {problem}", path.display())))
    }

    /// Reads a scenario.
    ///
    /// # Errors
    /// A sentence with the field and what is allowed.
    pub fn from_toml(text: &str) -> Result<ConfiguredScenario, String> {
        let scenario: ConfiguredScenario = toml::from_str(text).map_err(|error| error.to_string())?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// A sentence with the field and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let Choice { schemes, clocks_hz, supplies_v, horizon_s, full } = &self.choice;
        let problems = [
            (self.days <= 0.0 || !(..=366.0).contains(&self.days), "days must be above 0 and at most 366"),
            (!(1..=365).contains(&self.start_day), "start_day must be 1 to 365"),
            (schemes.is_empty(), "choice.schemes needs at least one scheme"),
            (clocks_hz.is_empty(), "choice.clocks_hz needs at least one clock"),
            (supplies_v.is_empty(), "choice.supplies_v needs at least one voltage"),
            (!(60.0..=1e9).contains(horizon_s), "choice.horizon_s must be 60 to 1e9"),
            (*full <= 0.0 || !(..=1.0).contains(full), "choice.full must be above 0 and at most 1"),
        ];
        match problems.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, problem)) => Err((*problem).to_owned()),
            None => Ok(()),
        }
    }
}
