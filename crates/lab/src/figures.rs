//! Measured figures, kept: what operations cost, by the content of all that decides it. What is not there, or not
//! whole, is measured.

use crate::bench::{self, Progress, Request, Row};
use crate::target::{House, OperatingPoint, Target};
use crate::{LabError, firmware};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What an operation costs, whatever the clock, as long as the flash has as many wait states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Mean cycles.
    pub cycles: f64,
    /// Program memory, in bytes.
    pub flash_bytes: i64,
    /// Static RAM, in bytes.
    pub ram_bytes: i64,
    /// Deepest stack, in bytes.
    pub stack_bytes: u32,
}

/// Which figure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Target name.
    pub target: String,
    /// Flash wait states.
    pub wait_states: u8,
    /// How the operation is built.
    pub variant: String,
    /// The operation.
    pub op: String,
    /// Bytes of message.
    pub bytes: u16,
}

/// What a figure is measured with.
pub struct Wanted<'a> {
    /// The microcontroller.
    pub target: &'a Target,
    /// An operating point with the wait states in question.
    pub point: OperatingPoint,
    /// How the operation is built.
    pub variant: &'a str,
    /// The operation.
    pub op: &'a str,
    /// Bytes of message.
    pub bytes: u16,
}

impl Wanted<'_> {
    /// Which figure that is.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            target: self.target.name().into(),
            wait_states: self.point.wait_states,
            variant: self.variant.into(),
            op: self.op.into(),
            bytes: self.bytes,
        }
    }
}

/// Random inputs for a figure, after one that does not count. Most operations take the same time whatever the input.
const RUNS: u32 = 3;
/// As `bench` has it.
const MAX_CYCLES: u64 = 1_000_000_000;

/// The figures asked for: kept ones where they are there and whole, measured ones otherwise, which are then kept.
///
/// # Errors
/// As [`bench::run`]; [`LabError::Protocol`] for an operation with wrong outputs. A folder that cannot be written to is
/// none: what is measured is then not kept.
pub fn get(
    house: &House,
    wanted: &[Wanted],
    progress: &dyn Progress,
) -> Result<HashMap<Key, Figure>, LabError> {
    let mut found = HashMap::new();
    let mut missing: Vec<(&Wanted, PathBuf)> = Vec::new();
    let mut contents = Contents::new(house)?;
    for one in wanted {
        let key = one.key();
        let path = house.figures_cache().join(contents.name(one)?);
        match read(&path) {
            Some(figure) => {
                found.insert(key, figure);
            }
            None => missing.push((one, path)),
        }
    }
    measure(house, &missing, progress, &mut found)?;
    Ok(found)
}

/// Measures in groups of one target, operating point and message length, because that is what a bench does at a time.
fn measure(
    house: &House,
    missing: &[(&Wanted, PathBuf)],
    progress: &dyn Progress,
    found: &mut HashMap<Key, Figure>,
) -> Result<(), LabError> {
    type Group<'a> = (OperatingPoint, BTreeSet<&'a str>, BTreeSet<&'a str>);
    let mut groups: BTreeMap<(&str, u8, u16), Group> = BTreeMap::new();
    let mut paths: HashMap<Key, &Path> = HashMap::new();
    for (one, path) in missing {
        let (_, variants, ops) = groups
            .entry((one.target.name(), one.point.wait_states, one.bytes))
            .or_insert_with(|| (one.point, BTreeSet::new(), BTreeSet::new()));
        variants.insert(one.variant);
        ops.insert(one.op);
        paths.insert(one.key(), path);
    }
    let total = missing.len();
    let mut done = 0;
    for ((target, wait_states, bytes), (point, variants, ops)) in groups {
        let request = Request {
            targets: vec![target.into()],
            operations: ops.iter().map(|&op| op.to_owned()).collect(),
            variants: variants.iter().map(|&variant| variant.to_owned()).collect(),
            bytes: Some(bytes),
            runs: RUNS,
            clock_hz: Some(point.clock_hz),
            supply_v: Some(point.supply_v),
            max_cycles: MAX_CYCLES,
            seed: 1,
            cold: false,
        };
        let rows = bench::run(&house.uncalibrated(), &request, &Part { all: progress, before: done, total })?;
        for row in &rows {
            let key = Key {
                target: row.target.clone(),
                wait_states,
                variant: row.variant.clone(),
                op: row.op.clone(),
                bytes,
            };
            let figure = figure(row)?;
            // Something may have been measured along the way that nobody asked for; it has no place.
            if let Some(path) = paths.get(&key) {
                keep(path, &figure);
                done += 1;
            }
            found.insert(key, figure);
        }
    }
    progress.report(total, total, "");
    Ok(())
}

fn figure(row: &Row) -> Result<Figure, LabError> {
    if !row.verified {
        return Err(LabError::Protocol {
            what: format!("{} {} {}", row.target, row.op, row.variant),
            problem: "gave wrong outputs, so its cost means nothing; wattseal bench shows the rows".into(),
        });
    }
    Ok(Figure {
        cycles: row.cycles.mean,
        flash_bytes: row.flash_bytes,
        ram_bytes: row.ram_bytes,
        stack_bytes: row.stack_bytes,
    })
}

/// The progress of one bench as that of all.
struct Part<'a> {
    all: &'a dyn Progress,
    before: usize,
    total: usize,
}

impl Progress for Part<'_> {
    fn report(&self, done: usize, total: usize, what: &str) {
        // The end is told once, after the last one.
        if done < total {
            self.all.report((self.before + done).min(self.total.saturating_sub(1)), self.total, what);
        }
    }
}

/// A figure's file: a line with the hash of the rest, so that a damaged one is known.
fn read(path: &Path) -> Option<Figure> {
    let text = std::fs::read_to_string(path).ok()?;
    let (hash, body) = text.split_once('\n')?;
    if hash != hex(&Sha256::digest(body)) {
        return None;
    }
    serde_json::from_str(body).ok()
}

/// Whole or not at all: another process may be reading. Nothing depends on its being kept.
fn keep(path: &Path, figure: &Figure) {
    let Ok(body) = serde_json::to_string(figure) else { return };
    let text = format!("{}\n{body}", hex(&Sha256::digest(&body)));
    let Some(folder) = path.parent() else { return };
    let draft = path.with_extension(std::process::id().to_string());
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&draft, text))
        .and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Names of figures by the content of what decides them: this program, the sources under `device/`, the target file,
/// the compiler.
struct Contents<'a> {
    house: &'a House,
    program: [u8; 32],
    targets: HashMap<String, [u8; 32]>,
}

impl<'a> Contents<'a> {
    fn new(house: &'a House) -> Result<Self, LabError> {
        let failed = |error| LabError::File { path: "/proc/self/exe".into(), error };
        let path = std::env::current_exe().map_err(failed)?;
        let program = std::fs::read(&path).map_err(|error| LabError::File { path, error })?;
        Ok(Contents { house, program: Sha256::digest(program).into(), targets: HashMap::new() })
    }

    /// The file of a figure, below the folder of figures.
    fn name(&mut self, wanted: &Wanted) -> Result<PathBuf, LabError> {
        let target = wanted.target.name();
        if !self.targets.contains_key(target) {
            let compiler = Path::new(&wanted.target.toolchain.compiler);
            let sources = firmware::content(self.house, wanted.target, compiler)?;
            let mut digest = Sha256::new();
            digest.update(self.program);
            digest.update(sources);
            self.targets.insert(target.to_owned(), digest.finalize().into());
        }
        let folder = hex(&self.targets[target][..8]);
        let Wanted { variant, op, bytes, point, .. } = wanted;
        Ok(Path::new(&folder).join(format!("{target}-{}-{variant}-{op}-{bytes}.json", point.wait_states)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_figure_is_no_figure() {
        let folder = std::env::temp_dir().join(format!("wattseal-figures-{}", std::process::id()));
        let path = folder.join("a.json");
        let figure = Figure { cycles: 2_372_103.0, flash_bytes: 28_168, ram_bytes: 1_074, stack_bytes: 300 };
        assert_eq!(read(&path), None, "nothing is there yet");
        keep(&path, &figure);
        assert_eq!(read(&path), Some(figure));
        let text = std::fs::read_to_string(&path).unwrap();
        for damaged in [text.replace("2372103", "2372104"), text[..text.len() - 3].into(), String::new()] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read(&path), None);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
