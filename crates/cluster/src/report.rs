//! What came of a run, for a person and for a program.

use crate::check::Checked;
use crate::parts::{Harm, Kind};
use output::{Format, OutputError, csv, json, table};
use serde::Serialize;
use std::path::PathBuf;

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterResult {
    pub seed: u64,
    pub seconds: f64,
    /// Of the client that the cluster is checked with.
    pub meters: usize,
    /// What was done to parts, and of that, how often one was killed.
    pub harms: usize,
    pub killed: usize,
    /// Reports that meters sent again.
    pub resent: u64,
    /// The longest time to an acknowledgement.
    pub longest_s: f64,
    /// How often PostgreSQL said who has which partition, and how often that was another one than before.
    pub partitions_looked: u64,
    pub partitions_changed: u64,
    #[serde(flatten)]
    pub checked: Checked,
    pub harmed: Vec<Harmed>,
    /// Everything that must not be.
    #[serde(rename = "all_wrong")]
    pub wrong: Vec<String>,
    /// Where the logs of all parts are kept, where something was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<PathBuf>,
}

/// What meters noticed of one thing that is done to one kind of part.
#[derive(Clone, Debug, Serialize)]
pub struct Harmed {
    pub part: Kind,
    pub harm: Harm,
    pub times: usize,
    /// Of the reports that were under way while the part was away: the longest time to the acknowledgement; the median and the longest of
    /// all times.
    pub wait_median_s: f64,
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
    /// Whether everything that was acknowledged is stored once and as it was sent, no command was done twice, and nothing else was wrong.
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
    text += &format!(
        "{} harms in {:.0} s, seed {}: {acknowledged} readings were acknowledged, {stored} are stored; lost {lost}, double {double}, altered {altered}\n",
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
