//! `scenarios/network*.toml`: a network of meters to be simulated. `docs/how-to/simulate.md`
//! explains each field.

use crate::attacker::AttackerSettings;
use crate::scenario::text;
use crate::station::collector::{CollectorSettings, UpdateSettings};
use crate::supply::PowerCuts;
use lab::LabError;
use lab::workspace::Workspace;
use serde::Deserialize;
use std::path::Path;
use wire::meter::Suite;

/// Meters at most: an address for each node, and names of 16 bits.
const MOST_METERS: u32 = 10_000;

/// A network, as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkScenario {
    /// Title, in a line.
    pub title: String,
    /// Duration in hours.
    #[serde(default = "one")]
    pub hours: f64,
    /// Seed of its random numbers.
    #[serde(default = "first")]
    pub seed: u64,
    /// The time of day at which it begins, in hours.
    #[serde(default)]
    pub begins_h: f64,
    /// The meters, group by group.
    pub meters: Vec<MeterGroup>,
    /// The radio channels: one for each kind of radio.
    pub channel: ChannelSettings,
    /// The collector.
    pub collector: CollectorSettings,
    /// Images of the firmware for host meters; without it they have no bootloader.
    pub updates: Option<UpdateSettings>,
    /// Somebody who attacks.
    pub attacker: Option<AttackerSettings>,
    /// Losses of power.
    pub cuts: Option<PowerCuts>,
    /// Expectations of the meters.
    #[serde(default)]
    pub expect: Expect,
}

/// Node of a meter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum MeterNode {
    /// The firmware built for the host, with an RFM12B.
    Host,
    /// The firmware on the models of a board, by its name.
    Board(String),
}

impl From<String> for MeterNode {
    fn from(name: String) -> MeterNode {
        if name == "host" { MeterNode::Host } else { MeterNode::Board(name) }
    }
}

/// Meters that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterGroup {
    /// Number of meters.
    pub count: u32,
    /// Node of the meters: `host`, or a board.
    pub node: MeterNode,
    pub suite: Suite,
    /// Between two measurements, in seconds.
    pub interval_s: u16,
}

/// Impairments of packets on radio channels.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    /// From a sender to its receivers, in milliseconds.
    #[serde(default = "one")]
    pub latency_ms: f64,
    /// Share of the packets that a receiver does not get.
    #[serde(default)]
    pub loss: f64,
    /// Share of the bits that are wrong.
    #[serde(default)]
    pub bit_error_rate: f64,
    /// Share of the packets that a receiver gets twice.
    #[serde(default)]
    pub duplicate: f64,
    /// Share of the packets that a receiver gets late.
    #[serde(default)]
    pub reorder: f64,
    /// Range of the delay, least and most, in milliseconds.
    #[serde(default = "later")]
    pub later_ms: [f64; 2],
}

/// Expectations of the meters.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// From power-up to the first bit on the air, in seconds.
    pub back_within_s: f64,
    /// Error of the energy, relative.
    pub energy_error: f64,
    /// For how long, after the end, reports may still come on a faultless channel, in seconds.
    pub settle_s: f64,
}

impl Default for Expect {
    fn default() -> Expect {
        Expect { back_within_s: 15.0, energy_error: 0.01, settle_s: 900.0 }
    }
}

fn one() -> f64 {
    1.0
}

fn first() -> u64 {
    1
}

fn later() -> [f64; 2] {
    [5.0, 200.0]
}

impl NetworkScenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// A sentence with the field and what is allowed.
    pub fn from_toml(text: &str) -> Result<NetworkScenario, String> {
        let scenario: NetworkScenario = toml::from_str(text).map_err(|error| error.to_string())?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Reads a scenario's file, named by its path or, where it is one of the project's, by its
    /// name; `None` where it describes something else than a network.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest name; [`LabError::Usage`] with the file, the
    /// field and what is allowed.
    pub fn read(workspace: &Workspace, name: &Path) -> Result<Option<NetworkScenario>, LabError> {
        let (path, text) = text(workspace, name)?;
        if !NetworkScenario::is_one(&text) {
            return Ok(None);
        }
        let read = NetworkScenario::from_toml(&text);
        read.map(Some).map_err(|problem| LabError::Usage(format!("{}: {problem}", path.display())))
    }

    /// Returns true if a file describes a network, false for a harvested node.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("meters"))
    }

    /// Number of meters.
    #[must_use]
    pub fn meters(&self) -> u32 {
        self.meters.iter().map(|group| group.count).sum()
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// A sentence with the field and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let change_suites = &self.collector.change_suites;
        let without = change_suites.iter().find(|suite| !suite.has_pieces());
        if let (Some(suite), true) = (without, self.updates.is_some()) {
            return Err(format!(
                "collector.change_suites has {suite}, in which no image is sent; where there are [updates] each has to have pieces"
            ));
        }
        for (field, value, least, most, unit) in self.bounds() {
            if !(least..=most).contains(&value) {
                return Err(format!("{field} is {value}; allowed is {least} to {most} ({unit})"));
            }
        }
        Ok(())
    }

    /// Fields with their values, the least and the most that is allowed, and the unit.
    fn bounds(&self) -> Vec<(&'static str, f64, f64, f64, &'static str)> {
        let (channel, collector) = (&self.channel, &self.collector);
        let attacker =
            self.attacker.unwrap_or(AttackerSettings { packets_per_hour: 0.0, jam_share: 0.0, jam_s: 1.0 });
        let cuts = self.cuts.unwrap_or(PowerCuts::NONE);
        let mut rows = vec![
            ("hours", self.hours, 1e-3, 24.0 * 366.0, "hours"),
            ("begins_h", self.begins_h, 0.0, 24.0, "o'clock"),
            ("meters.count, all together,", f64::from(self.meters()), 1.0, f64::from(MOST_METERS), "meters"),
            ("channel.latency_ms", channel.latency_ms, 0.4, 20.0, "milliseconds; a byte takes 0.162"),
            ("channel.loss", channel.loss, 0.0, 0.9, "a share"),
            ("channel.bit_error_rate", channel.bit_error_rate, 0.0, 0.01, "a share"),
            ("channel.duplicate", channel.duplicate, 0.0, 1.0, "a share"),
            ("channel.reorder", channel.reorder, 0.0, 1.0, "a share"),
            (
                "channel.later_ms, the least,",
                channel.later_ms[0],
                0.0,
                channel.later_ms[1],
                "milliseconds, up to the most",
            ),
            ("channel.later_ms, the most,", channel.later_ms[1], 0.0, 60_000.0, "milliseconds"),
            ("collector.turnaround_ms", collector.turnaround_ms, 0.0, 50.0, "milliseconds"),
            ("collector.restart_s", collector.restart_s, 0.0, 3600.0, "seconds"),
            (
                "collector.crash_every_s",
                collector.crash_every_s.unwrap_or(3600.0),
                10.0,
                1e9,
                "seconds on average",
            ),
            (
                "collector.command_every_s",
                collector.command_every_s.unwrap_or(3600.0),
                0.1,
                1e9,
                "seconds on average",
            ),
            (
                "collector.renew_every_s",
                collector.renew_every_s.unwrap_or(3600.0),
                0.1,
                1e9,
                "seconds on average",
            ),
            ("collector.store_keys_ms", collector.store_keys_ms, 0.0, 10_000.0, "milliseconds"),
            ("attacker.packets_per_hour", attacker.packets_per_hour, 0.0, 1e6, "packets an hour"),
            ("attacker.jam_share", attacker.jam_share, 0.0, 0.9, "a share of the time"),
            ("attacker.jam_s", attacker.jam_s, 1e-3, 3600.0, "seconds on average"),
            ("cuts.per_day", cuts.per_day, 0.0, 86_400.0, "cuts a day and meter"),
            ("cuts.while_writing", cuts.while_writing, 0.0, 1.0, "a share"),
            ("cuts.off_s, the least,", cuts.off_s[0], 1e-3, cuts.off_s[1], "seconds, up to the most"),
            ("cuts.off_s, the most,", cuts.off_s[1], 1e-3, 86_400.0, "seconds"),
            ("expect.back_within_s", self.expect.back_within_s, 0.1, 3600.0, "seconds"),
            ("expect.energy_error", self.expect.energy_error, 0.0, 1.0, "a share"),
            ("expect.settle_s", self.expect.settle_s, 0.0, 1e6, "seconds"),
        ];
        if let Some(updates) = self.updates {
            rows.extend([
                ("updates.every_s", updates.every_s, 0.1, 1e9, "seconds on average"),
                ("updates.piece_every_ms", updates.piece_every_ms as f64, 1.0, 60_000.0, "milliseconds"),
                (
                    "updates.program_bytes",
                    f64::from(updates.program_bytes),
                    4.0,
                    15_000.0,
                    "bytes; a slot has 16 KiB",
                ),
            ]);
        }
        for takes_ms in collector.processing_ms {
            rows.push(("collector.processing_ms", takes_ms, 0.0, 10_000.0, "milliseconds"));
        }
        for group in &self.meters {
            rows.push(("meters.interval_s", f64::from(group.interval_s), 1.0, 65_535.0, "seconds"));
        }
        rows
    }
}
