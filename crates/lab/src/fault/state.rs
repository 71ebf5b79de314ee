//! A campaign's results in a file, so that it goes on where it was interrupted.
//!
//! The first line says which campaign it is; each further one has the results of a block of faults.
//! A line that was not written whole is written again.

use super::fault_space::FaultSpace;
use super::results::{Counts, Results, Tally};
use crate::LabError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A file with the results of a campaign.
pub(super) struct State {
    path: PathBuf,
    file: Mutex<File>,
    /// Results that it had, by block.
    pub results: BTreeMap<u64, Results>,
    failure: OnceLock<String>,
}

impl State {
    /// Opens a file, or makes one, for the campaign that `header` describes.
    ///
    /// # Errors
    /// A file that cannot be read or written, that another campaign uses, is of another one, or is
    /// none of these.
    pub fn open(path: &Path, header: &Map<String, Value>, space: &FaultSpace<'_>) -> Result<State, LabError> {
        let unusable = |error| LabError::File { path: path.into(), error };
        let bad = |problem: String| LabError::BadFile { path: path.into(), problem };
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(unusable)?;
        file.try_lock().map_err(|_| bad("another campaign uses it".into()))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(unusable)?;
        // The last line may have been cut off.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let text =
            std::str::from_utf8(&text[..whole]).map_err(|_| bad("it is no state of a campaign".into()))?;
        let mut lines = text.lines();
        let mut results_of = BTreeMap::new();
        match lines.next() {
            None => {
                file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(unusable)?;
                let line = format!("{}\n", Value::Object(header.clone()));
                file.write_all(line.as_bytes()).map_err(unusable)?;
            }
            Some(first) => {
                check(first, header).map_err(bad)?;
                for (number, line) in (2..).zip(lines) {
                    let (block, results) = parsed(line, space).ok_or_else(|| {
                        bad(format!("line {number} is damaged; delete the file to begin anew"))
                    })?;
                    results_of.insert(block, results);
                }
                file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(unusable)?;
            }
        }
        Ok(State { path: path.into(), file: Mutex::new(file), results: results_of, failure: OnceLock::new() })
    }

    /// Adds the results of a block. A failure ends the campaign.
    pub fn add(&self, block: u64, results: &Results, space: &FaultSpace<'_>) {
        let line = format!("{}\n", written(block, results, space));
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.has_failed()
            && let Err(error) = file.write_all(line.as_bytes())
        {
            let said = format!(
                "{}: {error}; it has what was found, and the same command goes on",
                self.path.display()
            );
            let _ = self.failure.set(said);
        }
    }

    pub fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Reason why results could not be added, for a person.
    pub fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }
}

/// Compares a file's first line with that of a campaign.
fn check(first: &str, header: &Map<String, Value>) -> Result<(), String> {
    let found: Map<String, Value> =
        serde_json::from_str(first).map_err(|_| "it is no state of a campaign".to_owned())?;
    let other = header.iter().find(|(name, value)| found.get(*name) != Some(value));
    let Some((name, wanted)) = other else { return Ok(()) };
    let had = found.get(name).unwrap_or(&Value::Null);
    Err(format!("it is the state of another campaign: {name} is {had} there, and {wanted} here"))
}

fn written(block: u64, results: &Results, space: &FaultSpace<'_>) -> Value {
    let tallies: Vec<Value> = results
        .tallies
        .iter()
        .map(|(pc, tally)| {
            let bypass = tally.bypass.map(|(step, change)| space.id(step, change));
            json!([pc, tally.counts.0, bypass])
        })
        .collect();
    json!({ "block": block, "tallies": tallies, "bypasses": results.bypasses })
}

fn parsed(line: &str, space: &FaultSpace<'_>) -> Option<(u64, Results)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let mut results = Results::default();
    for tally in line.get("tallies")?.as_array()? {
        let (pc, counts, bypass): (u32, [u64; 6], Option<String>) =
            serde_json::from_value(tally.clone()).ok()?;
        // More than any campaign has, so that no sum of a damaged file overflows.
        if counts.iter().any(|count| *count > u64::from(u32::MAX)) {
            return None;
        }
        let bypass = match bypass {
            Some(id) => Some(space.named(&id)?),
            None => None,
        };
        results.tallies.insert(pc, Tally { counts: Counts(counts), bypass });
    }
    results.bypasses = serde_json::from_value(line.get("bypasses")?.clone()).ok()?;
    Some((line.get("block")?.as_u64()?, results))
}
