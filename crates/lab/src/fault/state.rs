//! A campaign's results in a file, so that it goes on where it was interrupted.
//!
//! The first line says which campaign it is; each further one has the results of a block of faults,
//! and a check of them and of the first line. A line that was not written whole is written again.

use super::fault_space::FaultSpace;
use super::plan::Plan;
use super::results::{Counts, Results, Tally};
use crate::LabError;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Text of a file that is none of ours.
const FOREIGN: &str = "it is no state of a campaign; give --state another file";

/// A file with the results of a campaign.
pub(super) struct State {
    path: PathBuf,
    file: Mutex<File>,
    /// Its first line.
    head: String,
    /// Results that it had, by block.
    pub results: BTreeMap<u64, Results>,
    failure: OnceLock<String>,
}

impl State {
    /// Opens a file, or makes one, for the campaign that `header` describes.
    ///
    /// # Errors
    /// A file that cannot be read or written, that another campaign uses, is of another one, is
    /// damaged, or is none of these. It stays as it is.
    pub fn open(
        path: &Path,
        header: &Map<String, Value>,
        space: &FaultSpace<'_>,
        plan: &Plan,
    ) -> Result<State, LabError> {
        let unusable = |error| LabError::File { path: path.into(), error };
        let bad = |problem: String| LabError::BadFile { path: path.into(), problem };
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(unusable)?;
        file.try_lock().map_err(|_| {
            bad("another campaign uses it; wait for that, or give --state another file".into())
        })?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(unusable)?;
        let head = format!("{}\n", Value::Object(header.clone()));
        let mut results = BTreeMap::new();
        // The last line may have been cut off.
        let kept = match text.iter().rposition(|byte| *byte == b'\n') {
            None if !head.as_bytes().starts_with(&text) => return Err(bad(FOREIGN.into())),
            None => {
                file.seek(SeekFrom::Start(0)).map_err(unusable)?;
                file.write_all(head.as_bytes()).map_err(unusable)?;
                head.len()
            }
            Some(last) => {
                let mut lines = text[..last].split(|byte| *byte == b'\n');
                check(lines.next().unwrap_or_default(), header).map_err(bad)?;
                for (number, line) in (2..).zip(lines) {
                    let found = parsed(line, &head, space, plan);
                    let is_new = found.is_some_and(|(block, found)| results.insert(block, found).is_none());
                    if !is_new {
                        let said = "its faults are run again; or delete the file, to begin anew";
                        return Err(bad(format!("line {number} is damaged; delete the line, and {said}")));
                    }
                }
                last + 1
            }
        };
        file.set_len(kept as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(unusable)?;
        Ok(State { path: path.into(), file: Mutex::new(file), head, results, failure: OnceLock::new() })
    }

    /// Adds the results of a block. A failure ends the campaign.
    pub fn add(&self, block: u64, results: &Results, space: &FaultSpace<'_>) {
        let json = written(block, results, space).to_string();
        let line = format!("{json} {}\n", checksum(&self.head, &json));
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
fn check(first: &[u8], header: &Map<String, Value>) -> Result<(), String> {
    let found: Map<String, Value> = serde_json::from_slice(first).map_err(|_| FOREIGN.to_owned())?;
    let other = header.keys().chain(found.keys()).find(|name| found.get(*name) != header.get(*name));
    let Some(name) = other else { return Ok(()) };
    let [had, wanted] = [&found, header].map(|fields| fields.get(name).unwrap_or(&Value::Null));
    Err(format!(
        "it is the state of another campaign: {name} is {had} there, and {wanted} here; give --state another file"
    ))
}

/// Check of a line behind the first one.
fn checksum(head: &str, json: &str) -> String {
    format!("{:x}", Sha256::digest([head, json].concat()))[..16].to_owned()
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

/// Reads a line: a block of the plan, with each of its faults.
fn parsed(line: &[u8], head: &str, space: &FaultSpace<'_>, plan: &Plan) -> Option<(u64, Results)> {
    let (json, check) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    if check != checksum(head, json) {
        return None;
    }
    let line: Value = serde_json::from_str(json).ok()?;
    let block = line.get("block")?.as_u64().filter(|block| *block < plan.blocks())?;
    let (mut results, mut faults) = (Results::default(), 0_u64);
    for tally in line.get("tallies")?.as_array()? {
        let (pc, counts, bypass): (u32, [u64; 6], Option<String>) =
            serde_json::from_value(tally.clone()).ok()?;
        faults = counts.iter().try_fold(faults, |sum, count| sum.checked_add(*count))?;
        let bypass = match bypass {
            Some(id) => Some(space.named(&id)?),
            None => None,
        };
        results.tallies.insert(pc, Tally { counts: Counts(counts), bypass });
    }
    results.bypasses = serde_json::from_value(line.get("bypasses")?.clone()).ok()?;
    let range = plan.range_of(block);
    (faults == range.end - range.start).then_some((block, results))
}
