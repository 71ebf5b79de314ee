//! Cached costs of operations, by the content of all that decides them. Missing or incomplete
//! entries are measured.

use crate::LabError;
use crate::bench::{self, Earlier, MAX_CYCLES, Request};
use crate::progress::Progress;
use crate::repetition::Repetition;
use crate::result_cache::{Content, keep, read};
use crate::row::BenchRow;
use crate::selection::Choice;
use crate::target::{OperatingPoint, Target};
use crate::workspace::Workspace;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Cost of an operation at any clock with the same number of wait states.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Target name.
    pub target: String,
    /// Flash wait states.
    pub wait_states: u8,
    pub variant: String,
    pub op: String,
    /// Bytes of message.
    pub bytes: u16,
}

/// Conditions under which a figure is measured.
pub struct Wanted<'a> {
    /// The microcontroller.
    pub target: &'a Target,
    /// An operating point with the wait states in question.
    pub point: OperatingPoint,
    pub variant: &'a str,
    pub op: &'a str,
    /// Bytes of message.
    pub bytes: u16,
}

impl Wanted<'_> {
    /// Returns the figure's key.
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

/// The figures asked for: kept ones where they are there and whole, measured ones otherwise, which
/// are then kept.
///
/// # Errors
/// As [`bench::run`]; [`LabError::Protocol`] for an operation with wrong outputs. A folder that
/// cannot be written to is none: what is measured is then not kept.
pub fn get(
    workspace: &Workspace,
    wanted: &[Wanted],
    progress: &dyn Progress,
) -> Result<HashMap<Key, Figure>, LabError> {
    let mut found = HashMap::new();
    let mut missing: Vec<(&Wanted, PathBuf)> = Vec::new();
    let mut contents = Contents::new(workspace)?;
    let kept = workspace.figures_cache()?;
    for one in wanted {
        let key = one.key();
        let path = kept.join(contents.name(one)?);
        match read(&path) {
            Some(figure) => {
                found.insert(key, figure);
            }
            None => missing.push((one, path)),
        }
    }
    measure(workspace, &missing, progress, &mut found)?;
    Ok(found)
}

/// Measures in groups of one target, operating point and message length, because that is what a
/// bench does at a time.
fn measure(
    workspace: &Workspace,
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
            choice: Choice::Matching {
                targets: vec![target.into()],
                operations: ops.iter().map(|&op| op.to_owned()).collect(),
                variants: variants.iter().map(|&variant| variant.to_owned()).collect(),
            },
            bytes: Some(bytes),
            // As `bench`, so that both have the same mean.
            runs: Repetition::Enough,
            clock_hz: Some(point.clock_hz),
            supply_v: Some(point.supply_v),
            max_cycles: MAX_CYCLES,
            seed: 1,
            cold: false,
            // They are kept here, for all clocks with the same wait states.
            earlier: Earlier::Ignored,
        };
        let rows =
            bench::run(&workspace.uncalibrated(), &request, &Part { all: progress, before: done, total })?;
        for row in &rows {
            let key = Key {
                target: row.target.clone(),
                wait_states,
                variant: row.variant.clone(),
                op: row.op.clone(),
                bytes,
            };
            let figure = figure(row)?;
            // Something may have been measured along the way that nobody asked for; it has no
            // place.
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

fn figure(row: &BenchRow) -> Result<Figure, LabError> {
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

    fn is_cancelled(&self) -> bool {
        self.all.is_cancelled()
    }
}

/// Names of figures by the content of what decides them: this program, the sources under `device/`,
/// the target file, the compiler.
struct Contents<'a> {
    workspace: &'a Workspace,
    program: Content,
    targets: HashMap<String, String>,
}

impl<'a> Contents<'a> {
    fn new(workspace: &'a Workspace) -> Result<Self, LabError> {
        Ok(Contents { workspace, program: Content::of_this_program()?, targets: HashMap::new() })
    }

    /// The file of a figure, below the folder of figures.
    fn name(&mut self, wanted: &Wanted) -> Result<PathBuf, LabError> {
        let target = wanted.target.name();
        if !self.targets.contains_key(target) {
            let compiler = Path::new(&wanted.target.toolchain()?.compiler);
            let source = self.workspace.source(wanted.target, &wanted.point)?;
            let mut content = self.program.clone();
            content.bytes(&firmware::content(&source, compiler)?);
            self.targets.insert(target.to_owned(), content.name());
        }
        let folder = &self.targets[target][..16];
        let Wanted { variant, op, bytes, point, .. } = wanted;
        Ok(Path::new(folder).join(format!("{target}-{}-{variant}-{op}-{bytes}.json", point.wait_states)))
    }
}
