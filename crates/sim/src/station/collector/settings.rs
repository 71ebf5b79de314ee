//! Collector's settings in a scenario, and its counts.

use serde::Deserialize;
use std::collections::BTreeMap;
use wire::meter::Suite;

/// The collector, as a scenario says it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectorSettings {
    /// From receive_mode to sending and back, in milliseconds: the radio's and its driver's.
    #[serde(default = "one")]
    pub turnaround_ms: f64,
    /// Time to open and store a message, in milliseconds, by suite: none, aes128-gcm, aes256-gcm,
    /// ecies, ecies-ecdsa, ascon-aead128, aes256-gcm-rekeyed.
    #[serde(default = "processing")]
    pub processing_ms: [f64; Suite::ALL.len()],
    /// Mean time from one crash to the next, in seconds; none where absent. At every second crash a
    /// report has just been stored and not acknowledged, or, where keys are renewed, at half of
    /// these a key is being stored.
    pub crash_every_s: Option<f64>,
    /// Time until it comes back, in seconds.
    #[serde(default = "two")]
    pub restart_s: f64,
    /// Mean time from one command to the next, whatever the meter, in seconds; none where absent.
    pub command_every_s: Option<f64>,
    /// The suites that meters are told to change to now and then, beside reading status, setting
    /// the time, and reboots.
    #[serde(default)]
    pub change_suites: Vec<Suite>,
    /// Mean time from one renewal of a key that is ordered to the next, of any meter with the suite
    /// for it, in seconds; none where absent.
    pub renew_every_s: Option<f64>,
    /// Time to make a meter's keys durable, in milliseconds.
    #[serde(default = "twenty")]
    pub store_keys_ms: f64,
}

fn one() -> f64 {
    1.0
}

fn two() -> f64 {
    2.0
}

fn twenty() -> f64 {
    20.0
}

/// The paper's (kalns2016) ratios of what its collector takes to open: about 1, 5 and 9 for
/// AES-GCM, ECIES, ECIES and ECDSA; that 1 is a millisecond is chosen, and that Ascon is as
/// AES-GCM.
fn processing() -> [f64; Suite::ALL.len()] {
    [1.0, 1.0, 1.0, 5.0, 9.0, 1.0, 1.0]
}

impl CollectorSettings {
    /// One that does not fail, gives no commands, and computes in no time.
    #[must_use]
    pub fn faultless() -> CollectorSettings {
        CollectorSettings {
            turnaround_ms: 0.0,
            processing_ms: [0.0; Suite::ALL.len()],
            crash_every_s: None,
            restart_s: 0.0,
            command_every_s: None,
            change_suites: Vec::new(),
            renew_every_s: None,
            store_keys_ms: 0.0,
        }
    }
}

/// Counts of the collector.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectorCounts {
    /// Commands given.
    pub commands: u64,
    /// Of these, answered.
    pub answered: u64,
    /// From a command's first sending to its answer, in seconds, by suite.
    #[serde(skip)]
    pub answer_s: BTreeMap<Suite, Vec<f64>>,
    /// Packets that meters sent and that were refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Packets that the attacker sent and that were refused, by reason.
    pub attacks_refused: BTreeMap<&'static str, u64>,
    /// Packets that the attacker sent and that were nothing new: reports that are stored already,
    /// pieces.
    pub attacks_ignored: u64,
    /// Reports and answers that the attacker delivered: their makers had sent them.
    pub attacks_delivered: u64,
    /// Reports that came again.
    pub repeated: u64,
    /// Packets that came while it sent or was down.
    pub deaf: u64,
    /// Crashes.
    pub crashes: u64,
    /// Of these, between storing a report and acknowledging it.
    pub crashes_before_acknowledging: u64,
    /// Of these, while a meter's keys were being stored.
    pub crashes_storing_keys: u64,
    /// Of the commands, orders to renew a key.
    pub renewals: u64,
    /// Images given for meters.
    pub updates: u64,
    /// Of these, that run, and have reported in.
    pub updates_run: u64,
    /// Of these, whose starts on trial were used up: they are given again.
    pub updates_gone_back: u64,
}
