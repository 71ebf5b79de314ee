//! `scenarios/harvest*.toml`: a harvested node to be simulated. `docs/how-to/simulate.md` explains
//! each field.

use crate::scenario::text;
use crate::supply::harvest::Step;
use crate::supply::{Charger, Regulator};
use energy::storage::Capacitor;
use energy::sun::Panel;
use lab::LabError;
use lab::reference::curve::Curve;
use lab::workspace::Workspace;
use serde::Deserialize;
use std::path::Path;
use wire::node::{Config, Scheme};

/// Longest step of a running processor for each farad, in seconds: at 50 mA, more than processor
/// and radio draw, it takes 0.1 V.
const AWAKE_S_PER_F: f64 = 2.0;
/// Maximum of the trace's samples.
const MOST_SAMPLES: f64 = 1e7;

/// A harvested node and what is around it, as the file describes them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Title, in a line.
    pub title: String,
    /// Duration in days.
    #[serde(default = "one_day")]
    pub days: f64,
    /// Seed of its random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// The node.
    pub node: NodeSettings,
    /// The server.
    pub server: ServerSettings,
    /// Impairments of packets on the air.
    #[serde(default)]
    pub channel: Channel,
    /// The sun.
    pub sun: SunSettings,
    /// The panel and the converter's efficiency.
    pub panel: Panel,
    /// The harvester's control.
    pub charger: Charger,
    /// The storage.
    pub capacitor: Capacitor,
    /// Voltage of the storage at the beginning, in volts.
    pub start_v: f64,
    /// Between storage and rail.
    pub regulator: Regulator,
    /// Steps of time.
    #[serde(default)]
    pub step: Step,
}

/// Trigger of the node's signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It sends a signed reading at intervals.
    Periodic,
    /// It waits for the server's challenges and signs them.
    Asynchronous,
}

/// Signature scheme of a node, as a scenario names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum SchemeName {
    /// ECDSA with secp160r1 and SHA-1.
    #[serde(rename = "ecdsa-secp160r1")]
    Secp160r1,
    /// ECDSA with P-256 and SHA-256.
    #[serde(rename = "ecdsa-p256")]
    P256,
}

impl SchemeName {
    /// The operation of `device/ops.toml` that signs.
    #[must_use]
    pub fn signing(self) -> &'static str {
        match self {
            SchemeName::Secp160r1 => "ecdsa-secp160r1-sign",
            SchemeName::P256 => "ecdsa-p256-sign",
        }
    }
}

/// The node's hardware and what its firmware is told.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// The target's name.
    pub target: String,
    /// Variant of the firmware.
    pub variant: String,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// The radio's name.
    pub radio: String,
    /// Trigger of its signatures.
    pub mode: Mode,
    /// Signature scheme.
    pub scheme: SchemeName,
    /// Between two readings, in whole seconds (periodic mode), or between two looks at the storage
    /// while it holds too little (asynchronous mode).
    pub interval_s: u16,
    /// The stored voltage from which it signs, in volts; from the sizing equation (6.1) where
    /// absent.
    pub threshold_v: Option<f64>,
    /// E_ov of (6.1), in joules: what must be left for the harvester beside twice a message's
    /// energy.
    #[serde(default = "paper_s_overhead")]
    pub overhead_j: f64,
    /// Asynchronous mode: from one listening to the next, in milliseconds; 0 without a pause.
    #[serde(default = "a_second")]
    pub listen_every_ms: u16,
    /// Asynchronous mode: for how long it listens each time, in milliseconds.
    #[serde(default = "five_milliseconds")]
    pub listen_for_ms: u16,
    /// Asynchronous mode: the radio listens by turns by itself, and the processor sleeps.
    #[serde(default)]
    pub wake_on_radio: bool,
}

/// Behaviour of the server.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// Asynchronous mode: the mean of the exponentially distributed time from the end of one
    /// challenge to the next, in seconds.
    pub gap_s: Option<f64>,
    /// Asynchronous mode: from a challenge to the end of its answer, in seconds. Periodic mode: how
    /// much later than an interval after the last reading the next one may come.
    pub deadline_s: f64,
}

/// Impairments of packets on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Share of the packets that are lost, either way: 0 to below 1.
    #[serde(default)]
    pub loss: f64,
}

/// Source of the irradiance: a file, or a clear sky.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SunSettings {
    /// A file of irradiance under `scenarios/sun`.
    pub file: Option<String>,
    /// A clear sky at this latitude, in degrees, north positive.
    pub latitude_deg: Option<f64>,
    /// The day of the year that it begins with: 1 to 365.
    pub start_day: u16,
    /// Share of the irradiance that reaches the panel: window glass, shade, a tilt away from the
    /// sun.
    #[serde(default = "whole")]
    pub share: f64,
}

fn one_day() -> f64 {
    1.0
}

fn one() -> u64 {
    1
}

fn whole() -> f64 {
    1.0
}

fn paper_s_overhead() -> f64 {
    energy::sizing::HARVESTER_OVERHEAD_J
}

fn a_second() -> u16 {
    1000
}

/// Two copies of a challenge and the start of the receiver: `device/node/node.h`.
fn five_milliseconds() -> u16 {
    5
}

impl Scenario {
    /// Reads a scenario's file, named by its path or, where it is one of the project's, by its
    /// name.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest name; [`LabError::Usage`] with the file, the
    /// field and what is allowed.
    pub fn read(workspace: &Workspace, name: &Path) -> Result<Scenario, LabError> {
        let (path, text) = text(workspace, name)?;
        Scenario::from_toml(&text)
            .map_err(|problem| LabError::Usage(format!("{}: {problem}", path.display())))
    }

    /// Reads a scenario.
    ///
    /// # Errors
    /// A sentence with the field and what is allowed.
    pub fn from_toml(text: &str) -> Result<Scenario, String> {
        let scenario: Scenario = toml::from_str(text).map_err(|error| error.to_string())?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Returns the node's signature scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        match self.node.scheme {
            SchemeName::Secp160r1 => Scheme::Secp160r1,
            SchemeName::P256 => Scheme::P256,
        }
    }

    /// The curve of its signatures.
    #[must_use]
    pub fn curve(&self) -> Curve {
        match self.node.scheme {
            SchemeName::Secp160r1 => Curve::Secp160r1,
            SchemeName::P256 => Curve::P256,
        }
    }

    /// For how long a challenge is repeated, so that one copy meets the node's receiver, in
    /// seconds; 0 where it is on without a pause.
    #[must_use]
    pub fn repeats_s(&self) -> f64 {
        let (every_ms, for_ms) = (self.node.listen_every_ms, self.node.listen_for_ms);
        if every_ms == 0 { 0.0 } else { (f64::from(every_ms) + f64::from(for_ms)) / 1e3 }
    }

    /// The highest threshold that the storage can hold and the node's converter measure, in volts.
    #[must_use]
    pub fn highest_threshold_v(&self) -> f64 {
        self.capacitor.max_v.min(f64::from(Config::MV_MAX) / 1e3)
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// A sentence with the field and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let regulator = &self.regulator;
        let rows = [
            ("days", self.days, 1e-5, 366.0, "days"),
            ("node.interval_s", f64::from(self.node.interval_s), 1.0, 65_535.0, "seconds"),
            ("node.overhead_j", self.node.overhead_j, 0.0, 1e3, "joules"),
            ("node.listen_for_ms", f64::from(self.node.listen_for_ms), 1.0, 1_000.0, "milliseconds"),
            ("node.listen_every_ms", f64::from(self.node.listen_every_ms), 0.0, 60_000.0, "milliseconds"),
            ("server.deadline_s", self.server.deadline_s, 1e-3, 86_400.0, "seconds"),
            ("channel.loss", self.channel.loss, 0.0, 0.99, "a share"),
            ("sun.start_day", f64::from(self.sun.start_day), 1.0, 365.0, "the day of the year"),
            ("sun.share", self.sun.share, 0.0, 10.0, "a share"),
            ("charger.overhead_a", self.charger.overhead_a, 0.0, 1.0, "amperes"),
            ("charger.minimum_v", self.charger.minimum_v, 0.0, self.capacitor.max_v, "volts"),
            ("start_v", self.start_v, 0.0, self.capacitor.max_v, "volts, at most capacitor.max_v"),
            ("panel.rated_w", self.panel.rated_w, 0.0, 1e3, "watts"),
            ("capacitor.capacitance_f", self.capacitor.capacitance_f, 1e-3, 1e4, "farads"),
            ("capacitor.esr_ohm", self.capacitor.esr_ohm, 0.0, 1e4, "ohms"),
            ("capacitor.leakage_a", self.capacitor.leakage_a, 0.0, 1.0, "amperes"),
            ("regulator.output_v", regulator.output_v, 0.5, 20.0, "volts"),
            ("regulator.dropout_v", regulator.dropout_v, 0.0, 5.0, "volts"),
            ("regulator.quiescent_a", regulator.quiescent_a, 0.0, 1.0, "amperes"),
            ("regulator.turn_off_v", regulator.turn_off_v, 0.5, self.capacitor.max_v, "volts"),
            (
                "regulator.turn_on_v",
                regulator.turn_on_v,
                regulator.turn_off_v,
                self.capacitor.max_v,
                "volts, from regulator.turn_off_v to capacitor.max_v",
            ),
            (
                "step.awake_s",
                self.step.awake_s,
                1e-5,
                (AWAKE_S_PER_F * self.capacitor.capacitance_f).min(0.1),
                "seconds; a step while the processor runs may cost a small capacitor a tenth of a volt, not more",
            ),
            ("step.asleep_s", self.step.asleep_s, 1e-3, 60.0, "seconds"),
            (
                "step.sample_s",
                self.step.sample_s,
                (self.days * 86_400.0 / MOST_SAMPLES).max(1e-3),
                86_400.0,
                "seconds; ten million samples of so many days at most",
            ),
        ];
        for (field, value, least, most, unit) in rows {
            if !(least..=most).contains(&value) {
                return Err(format!("{field} is {value}; allowed is {least} to {most} ({unit})"));
            }
        }
        self.panel.check().map_err(|error| format!("panel.{error}"))?;
        self.capacitor.check().map_err(|error| format!("capacitor.{error}"))?;
        self.check_modes()?;
        self.check_sun()
    }

    /// Refuses a threshold, a deadline or a gap that the node's mode does not allow.
    fn check_modes(&self) -> Result<(), String> {
        if let Some(threshold_v) = self.node.threshold_v
            && !(0.0..=self.highest_threshold_v()).contains(&threshold_v)
        {
            let max_v = self.highest_threshold_v();
            return Err(format!(
                "node.threshold_v is {threshold_v}; allowed is 0 to {max_v} (volts, at most capacitor.max_v and what \
                 the node's converter measures)"
            ));
        }
        if self.node.wake_on_radio && self.node.mode == Mode::Periodic {
            return Err(
                "node.wake_on_radio is for asynchronous mode alone; leave it out in periodic mode".into()
            );
        }
        if self.node.wake_on_radio && !self.has_own_turns() {
            return Err(format!(
                "node.listen_for_ms is {} of a node.listen_every_ms of {}; with node.wake_on_radio allowed is 2 ms and more, at \
                 most 12 % of listen_every_ms up to 1,900 ms and 1.8 % above, and with 13 ms at most half of it",
                self.node.listen_for_ms, self.node.listen_every_ms
            ));
        }
        if self.node.mode == Mode::Asynchronous && self.server.deadline_s <= self.repeats_s() {
            return Err(format!(
                "server.deadline_s is {}, but a challenge is repeated for {} s (node.listen_every_ms and \
                 node.listen_for_ms) before the server listens; allowed is more than that",
                self.server.deadline_s,
                self.repeats_s()
            ));
        }
        match (self.node.mode, self.server.gap_s) {
            (Mode::Asynchronous, None) => {
                Err("server.gap_s is missing; in asynchronous mode the server needs a mean gap in seconds"
                    .into())
            }
            (Mode::Periodic, Some(_)) => {
                Err("server.gap_s is for asynchronous mode alone; leave it out in periodic mode".into())
            }
            (_, Some(gap_s)) if !(1e-3..=1e7).contains(&gap_s) => {
                Err(format!("server.gap_s is {gap_s}; allowed is 0.001 to 10000000 (seconds)"))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if the CC2500 can listen so by itself: what `find_turns` in
    /// `device/ports/shared/cc2500.c` finds settings for, and a little less.
    fn has_own_turns(&self) -> bool {
        let (every_ms, for_ms) = (f64::from(self.node.listen_every_ms), f64::from(self.node.listen_for_ms));
        let share = if every_ms <= 1900.0 { 0.12 } else { 0.018 };
        for_ms >= 2.0 && for_ms <= share * every_ms && 2.0 * (for_ms + 13.0) <= every_ms
    }

    fn check_sun(&self) -> Result<(), String> {
        match (&self.sun.file, self.sun.latitude_deg) {
            (Some(_), None) => Ok(()),
            (None, Some(degrees)) if (-90.0..=90.0).contains(&degrees) => Ok(()),
            (None, Some(degrees)) => {
                Err(format!("sun.latitude_deg is {degrees}; allowed is -90 to 90 (degrees)"))
            }
            _ => Err("sun needs either file or latitude_deg".into()),
        }
    }
}
