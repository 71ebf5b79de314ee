//! Result of a run, for a person and for a program.

use crate::chaos::check::Checked;
use crate::chaos::parts::{Harm, Kind};
use output::{Format, OutputError, csv, json, table};
use serde::Serialize;
use std::path::PathBuf;

/// Result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterResult {
    pub seed: u64,
    pub seconds: f64,
    /// Of the client that the cluster is checked with.
    pub meters: usize,
    /// Number of harms to parts, and of kills among them.
    pub harms: usize,
    pub killed: usize,
    /// By how much this machine was too slow for the models of those with their firmware, in
    /// seconds.
    pub behind_s: f64,
    /// Reports that meters sent again.
    pub resent: u64,
    /// The longest time to an acknowledgement.
    pub longest_s: f64,
    /// Messages of the gateway that was taken over.
    pub hostile_messages: u64,
    /// Number of PostgreSQL's answers on the partitions' holders, and of changes among them.
    pub partitions_looked: u64,
    pub partitions_changed: u64,
    #[serde(flatten)]
    pub checked: Checked,
    pub harmed: Vec<Harmed>,
    /// Everything that must not be.
    #[serde(rename = "all_wrong")]
    pub wrong: Vec<String>,
    /// Folder of all parts' logs, where something was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<PathBuf>,
}

/// Observations of the meters on one harm to one kind of part.
#[derive(Clone, Debug, Serialize)]
pub struct Harmed {
    pub part: Kind,
    pub harm: Harm,
    pub times: usize,
    /// Median of the waits of all these harms. A wait is the longest time to the acknowledgement of
    /// a report that was under way meanwhile.
    pub wait_median_s: f64,
    /// Longest of these waits.
    pub wait_longest_s: f64,
    #[serde(skip)]
    waits_s: Vec<f64>,
}

impl Harmed {
    pub(super) fn new((part, harm): (Kind, Harm), waited_s: f64) -> Harmed {
        let mut new =
            Harmed { part, harm, times: 0, wait_median_s: 0.0, wait_longest_s: 0.0, waits_s: Vec::new() };
        new.add(waited_s);
        new
    }

    pub(super) fn add(&mut self, waited_s: f64) {
        let at = self.waits_s.partition_point(|known| *known < waited_s);
        self.waits_s.insert(at, waited_s);
        self.times = self.waits_s.len();
        self.wait_median_s = self.waits_s[self.times / 2];
        self.wait_longest_s = self.waits_s[self.times - 1];
    }
}

impl ClusterResult {
    /// Returns true if every acknowledged report is stored once and as it was sent, no command was
    /// done twice, and nothing else was wrong.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.wrong.is_empty() && self.checked.acknowledged > 0
    }
}

/// # Errors
/// None in practice.
pub fn report(result: &ClusterResult, format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(std::slice::from_ref(result)),
        Format::Csv => csv(&result.harmed),
        Format::Table => Ok(text(result)),
    }
}

fn text(result: &ClusterResult) -> String {
    let Checked { acknowledged, stored, lost, double, altered, .. } = &result.checked;
    let mut text = String::new();
    if !result.harmed.is_empty() {
        let mut rows = table(&["part", "what", "times", "waited: median", "longest"], 2);
        for harmed in &result.harmed {
            let seconds = |s: f64| if s > 0.0 { format!("{s:.1} s") } else { "< 0.5 s".into() };
            rows.add_row([
                harmed.part.name().to_owned(),
                harmed.harm.name().to_owned(),
                harmed.times.to_string(),
                seconds(harmed.wait_median_s),
                seconds(harmed.wait_longest_s),
            ]);
        }
        text += &format!(
            "{rows}\nwaited: the slowest acknowledgement of a report that was under way meanwhile\n\n"
        );
    }
    text += &firmware(result);
    text += &format!(
        "{} harms in {:.0} s, seed {}: {acknowledged} readings were acknowledged, {stored} are stored; of those acknowledged lost {lost}, double {double}, altered {altered}\n",
        result.harms, result.seconds, result.seed
    );
    text += &format!(
        "meters sent {} reports again; the longest time to an acknowledgement was {:.1} s\n",
        result.resent, result.longest_s
    );
    let Checked { commands, commands_in_doubt, commands_done, commands_twice, .. } = &result.checked;
    text += &format!(
        "{} commands were given ({commands_in_doubt} of them to who was killed meanwhile), {commands_done} done, {commands_twice} more than once\n",
        commands + commands_in_doubt
    );
    if result.hostile_messages > 0 {
        text += &format!("the hostile gateway sent {} messages\n", result.hostile_messages);
    }
    text += &format!(
        "partitions, as PostgreSQL has them: looked {} times, {} changes of their holders\n",
        result.partitions_looked, result.partitions_changed
    );
    for wrong in &result.wrong {
        text += &format!("wrong: {wrong}\n");
    }
    if let Some(logs) = &result.logs {
        text += &format!("the logs of all parts are in {}\n", logs.display());
    }
    text
}

/// The meters with their firmware.
fn firmware(result: &ClusterResult) -> String {
    let all = &result.checked.firmware_meters;
    if all.is_empty() {
        return String::new();
    }
    let titles = [
        "meter",
        "its firmware on",
        "suite",
        "measured",
        "acknowledged",
        "stored",
        "no room",
        "sent again",
        "longest",
    ];
    let mut rows = table(&titles, 3);
    for meter in all {
        rows.add_row([
            meter.meter.to_string(),
            meter.runs_on(),
            meter.suite.to_owned(),
            meter.measurements.to_string(),
            meter.acknowledged.to_string(),
            meter.stored.to_string(),
            meter.lost.to_string(),
            meter.resent.to_string(),
            format!("{:.1} s", meter.longest_s),
        ]);
    }
    let pace = match result.behind_s {
        behind_s if behind_s > 0.0 => format!("the models fell behind the clock by {behind_s:.1} s in all"),
        _ => "the models kept pace with the clock".to_owned(),
    };
    format!(
        "{rows}\nno room: given up by the meter before anybody acknowledged them, as it counts them; {pace}\n\n"
    )
}
