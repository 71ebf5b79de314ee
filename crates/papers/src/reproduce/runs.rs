//! Runs of a paper's cells, each once.

use super::deliveries::{Delivered, Native};
use crate::modules::{Cost, ModuleWatcher};
use crate::paper::{Column, Line, Over, Paper, Part, What};
use energy::radio::Radio;
use firmware::Build;
use firmware::Firmware;
use firmware::symbols::Footprint;
use lab::harness::OperationRun;
use lab::operations::{Catalogue, Operation};
use lab::origin::Origin;
use lab::progress::Progress;
use lab::reference::random_case;
use lab::target::{OperatingPoint, Target};
use lab::workspace::Workspace;
use lab::{LabError, work};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seed of the random inputs.
pub(super) const SEED: u64 = 1;
/// Cycles after which an operation counts as endless.
const ENDLESS: u64 = 1_000_000_000;

/// Key of a firmware build. Clocks for which the flash needs the same wait states give the same
/// cycles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BuildKey {
    target: String,
    variant: String,
    wait_states: u8,
}

/// One operation of it, with the bytes that it works on where they are not the operation's default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    kind: BuildKey,
    op: String,
    bytes: Option<u16>,
}

impl Run {
    /// Returns the operation's variant.
    pub(super) fn variant(&self) -> &str {
        &self.kind.variant
    }

    pub(super) fn op(&self) -> &str {
        &self.op
    }

    /// Returns the name of its target.
    pub(super) fn target(&self) -> &String {
        &self.kind.target
    }
}

/// Subject of a cell: operations one after the other at a clock and a supply.
pub(super) struct Subject<'a> {
    pub(super) runs: Vec<Run>,
    /// Target of the runs.
    pub(super) target: &'a Target,
    /// At what clock and supply.
    pub(super) point: OperatingPoint,
}

/// Results of all runs of one operation.
pub(super) struct Sample {
    /// Of each run, from the call to the return.
    pub(super) cycles: Vec<u64>,
    pub(super) flash: i64,
    pub(super) ram: i64,
    pub(super) output: usize,
    /// Of the operation's code.
    pub(super) address: u32,
    /// Functions and tables by name and size, with how many of them there are: what two operations
    /// share is counted once.
    pieces: Pieces,
    /// Of one run; all runs of an operation take the same way.
    pub(super) modules: BTreeMap<String, Cost>,
    /// Cycles of a full round and of the last one.
    pub(super) rounds: Option<(f64, f64)>,
    pub(super) verified: bool,
}

impl Sample {
    /// Mean cycles.
    pub(super) fn cycles(&self) -> f64 {
        self.cycles.iter().map(|&cycles| cycles as f64).sum::<f64>() / self.cycles.len() as f64
    }
}

/// All that the cells of a paper are made of.
pub(super) struct Measured {
    targets: BTreeMap<String, Target>,
    /// The paper's radio.
    pub(super) radio: Option<Radio>,
    samples: BTreeMap<Run, Sample>,
    /// Program and source tree.
    pub(super) origin: Origin,
    /// Name and version of the compiler of each target that was run.
    pub(super) compilers: BTreeMap<String, String>,
    /// The targets of meter and collector.
    pub(super) delivery_targets: Vec<String>,
    /// True if somebody ended the work before all runs were done.
    pub(super) is_interrupted: bool,
    /// Messages between a meter and its collector.
    pub(super) delivered: Delivered,
    /// Times of the collector on this machine.
    pub(super) native: Native,
}

impl Measured {
    /// Returns the subject of a cell, or with `over` of its divisor; nothing where it is no
    /// measurement.
    ///
    /// # Errors
    /// [`LabError::Supply`] for a clock that the data sheet does not allow at that supply,
    /// [`LabError::Usage`] for one that the flash is too slow for.
    pub(super) fn subject(
        &self,
        paper: &Paper,
        line: &Line,
        column: &Column,
        over: Option<&Over>,
    ) -> Result<Option<Subject<'_>>, LabError> {
        let none = Over::default();
        let over = over.unwrap_or(&none);
        let (Some(target), Some(variant), Some(_)) = (
            line.target.as_ref().or(column.target.as_ref()),
            over.variant.as_ref().or(line.variant.as_ref()).or(column.variant.as_ref()),
            column.what,
        ) else {
            return Ok(None);
        };
        let Some(target) = self.targets.get(target).filter(|_| line.of != Part::Nothing) else {
            return Ok(None);
        };
        let clock_hz = line.clock_hz.or(column.clock_hz).or(paper.clock_hz);
        let supply_v = over.supply_v.or(line.supply_v).or(column.supply_v).or(paper.supply_v);
        let point = target.operating_point(clock_hz, supply_v)?;
        let ops = [&over.ops, &line.ops, &column.ops].into_iter().find(|ops| !ops.is_empty());
        let kind = BuildKey {
            target: target.name().to_owned(),
            variant: variant.clone(),
            wait_states: point.wait_states,
        };
        let run = |op: &String| Run { kind: kind.clone(), op: op.clone(), bytes: column.bytes };
        let runs = ops.into_iter().flatten().map(run).collect();
        Ok(Some(Subject { runs, target, point }))
    }

    /// Returns the runs of a cell at the wait states of its target's own clock, with that point;
    /// nothing where they are those of the cell.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a clock that the flash is too slow for.
    pub(super) fn waiting(
        &self,
        subject: &Subject<'_>,
    ) -> Result<Option<(Vec<Run>, OperatingPoint)>, LabError> {
        let point = subject.target.operating_point(None, None)?;
        let runs = subject.runs.iter().map(|run| Run {
            kind: BuildKey { wait_states: point.wait_states, ..run.kind.clone() },
            ..run.clone()
        });
        Ok((point.wait_states != subject.point.wait_states).then(|| (runs.collect(), point)))
    }

    /// Returns the runs that a cell is made of, each with its operating point.
    ///
    /// # Errors
    /// As [`Target::operating_point`].
    pub(super) fn needed(
        &self,
        paper: &Paper,
        line: &Line,
        column: &Column,
    ) -> Result<Vec<(Run, OperatingPoint)>, LabError> {
        let mut needed = Vec::new();
        for over in [None, line.over.as_ref()] {
            // A clock that the data sheet does not allow is no run; the cell will say so.
            let Ok(Some(subject)) = self.subject(paper, line, column, over) else { continue };
            let usual = subject.target.operating_point(None, None)?;
            let waiting =
                if column.what.is_some_and(What::is_of_cache) { self.waiting(&subject)? } else { None };
            let same = usual.wait_states == subject.point.wait_states;
            let point = if same { usual } else { subject.point };
            for (runs, point) in waiting.into_iter().chain([(subject.runs, point)]) {
                needed.extend(runs.into_iter().map(|run| (run, point)));
            }
        }
        Ok(needed)
    }

    /// Returns true if a cell needs a run that has no sample.
    pub(super) fn lacks_run(&self, paper: &Paper, line: &Line, column: &Column) -> bool {
        let needed = self.needed(paper, line, column);
        needed.is_ok_and(|runs| runs.iter().any(|(run, _)| !self.samples.contains_key(run)))
    }

    /// Returns the samples of a cell; nothing where there are none or one of them was wrong.
    pub(super) fn samples(&self, runs: &[Run]) -> Option<Vec<&Sample>> {
        let samples: Vec<&Sample> = runs
            .iter()
            .map(|run| self.samples.get(run).filter(|sample| sample.verified))
            .collect::<Option<_>>()?;
        (!samples.is_empty()).then_some(samples)
    }

    /// Name and version of the compilers of some targets, each once.
    pub(super) fn compilers_of<'a>(&self, targets: impl Iterator<Item = &'a String>) -> Option<String> {
        let mut compilers: Vec<&str> =
            targets.filter_map(|target| self.compilers.get(target).map(String::as_str)).collect();
        compilers.dedup();
        (!compilers.is_empty()).then(|| compilers.join(", "))
    }

    /// The runs whose outputs were wrong, as sentences.
    pub(super) fn wrong(&self) -> Vec<String> {
        let wrong = self.samples.iter().filter(|(_, sample)| !sample.verified);
        wrong
            .map(|(run, _)| format!("{} {} {} gave wrong outputs", run.kind.target, run.op, run.kind.variant))
            .collect()
    }
}

/// Firmware for the operations of one kind.
struct Set {
    operations: Vec<Operation>,
    build: Build,
}

/// Runs all that the paper's cells are about, or what of it was done when somebody ended the work.
///
/// # Errors
/// As [`super::run`].
pub(super) fn measure(
    workspace: &Workspace,
    paper: &Paper,
    progress: &dyn Progress,
) -> Result<Measured, LabError> {
    let radio = paper.radio.as_deref().map(|name| workspace.radio(name)).transpose()?;
    let targets = targets(workspace, paper)?;
    workspace.origin().look_up();
    let mut measured = Measured {
        targets,
        radio,
        samples: BTreeMap::new(),
        origin: workspace.origin().clone(),
        compilers: BTreeMap::new(),
        delivery_targets: Vec::new(),
        is_interrupted: false,
        delivered: Delivered::new(),
        native: Native::new(),
    };
    let (mut runs, mut points) = (BTreeSet::new(), BTreeMap::new());
    for (line, column) in cells(paper) {
        for (run, point) in measured.needed(paper, line, column)? {
            points.entry(run.kind.clone()).or_insert(point);
            runs.insert(run);
        }
    }
    let mut kinds: BTreeMap<&BuildKey, BTreeSet<&str>> = BTreeMap::new();
    for run in &runs {
        kinds.entry(&run.kind).or_default().insert(&run.op);
    }
    let catalogue = Catalogue::read(workspace)?;
    let kinds: Vec<_> = kinds.into_iter().collect();
    let built = AtomicUsize::new(0);
    let sets = work::each(&kinds, |(kind, ops)| {
        if progress.is_cancelled() {
            return Ok(None);
        }
        let done = built.fetch_add(1, Ordering::Relaxed);
        progress.report(done, kinds.len(), &format!("building for {} {}", kind.target, kind.variant));
        set(workspace, paper, &catalogue, &measured.targets[&kind.target], &points[*kind], kind, ops)
            .map(Some)
    })?;
    let sets: BTreeMap<&BuildKey, Option<Set>> = kinds.iter().map(|(kind, _)| *kind).zip(sets).collect();
    let list: Vec<&Run> = runs.iter().collect();
    let done = AtomicUsize::new(0);
    let samples = work::each(&list, |&run| {
        let Some(set) = sets[&run.kind].as_ref().filter(|_| !progress.is_cancelled()) else {
            return Ok(None);
        };
        let what = format!("{} {} {}", run.kind.target, run.op, run.kind.variant);
        progress.report(done.fetch_add(1, Ordering::Relaxed), list.len(), &what);
        sample(paper, &measured.targets[&run.kind.target], &points[&run.kind], set, run).map(Some)
    })?;
    progress.report(list.len(), list.len(), "");
    measured.is_interrupted = samples.iter().any(Option::is_none);
    let done = list.into_iter().cloned().zip(samples);
    measured.samples = done.filter_map(|(run, sample)| Some((run, sample?))).collect();
    Ok(measured)
}

/// Notes name and version of each target's compiler that was run.
///
/// # Errors
/// A target or a compiler that there is not.
pub(super) fn note_compilers(workspace: &Workspace, measured: &mut Measured) -> Result<(), LabError> {
    let names: BTreeSet<String> = measured.samples.keys().map(Run::target).cloned().collect();
    let delivered = if measured.delivered.is_empty() { &[][..] } else { &measured.delivery_targets[..] };
    for name in names.into_iter().chain(delivered.iter().cloned()) {
        let target = workspace.target(&name)?;
        let source = workspace.source(&target, &target.operating_point(None, None)?)?;
        measured.compilers.insert(name, firmware::compiler_version(&source)?);
    }
    Ok(())
}

/// Each row with each column.
fn cells(paper: &Paper) -> impl Iterator<Item = (&Line, &Column)> {
    paper.table.iter().flat_map(|table| {
        table.rows.iter().flat_map(move |line| table.columns.iter().map(move |column| (line, column)))
    })
}

fn targets(workspace: &Workspace, paper: &Paper) -> Result<BTreeMap<String, Target>, LabError> {
    let names = cells(paper).filter_map(|(line, column)| line.target.as_ref().or(column.target.as_ref()));
    let names: BTreeSet<&String> = names.collect();
    names.into_iter().map(|name| Ok((name.clone(), workspace.target(name)?))).collect()
}

fn set(
    workspace: &Workspace,
    paper: &Paper,
    catalogue: &Catalogue,
    target: &Target,
    point: &OperatingPoint,
    kind: &BuildKey,
    ops: &BTreeSet<&str>,
) -> Result<Set, LabError> {
    let mut operations = catalogue.built_as(target, &kind.variant)?;
    operations.retain(|operation| ops.contains(operation.name.as_str()));
    if let Some(missing) = ops.iter().find(|op| operations.iter().all(|operation| operation.name != **op)) {
        return Err(LabError::BadFile {
            path: format!("papers/{}.toml", paper.id).into(),
            problem: format!("{} has no operation '{missing}' in variant '{}'", target.name(), kind.variant),
        });
    }
    let names: Vec<&str> = ops.iter().copied().collect();
    let build = firmware::build(&workspace.source(target, point)?, &kind.variant, &names)?;
    Ok(Set { operations, build })
}

fn sample(
    paper: &Paper,
    target: &Target,
    point: &OperatingPoint,
    set: &Set,
    run: &Run,
) -> Result<Sample, LabError> {
    let Set { operations, build } = set;
    let read = |name: &str| Firmware::read(&build.image(name), target.part.core);
    let (firmware, empty) = (&read(&run.op)?, &read(firmware::EMPTY)?);
    let operation = operations
        .iter()
        .find(|operation| operation.name == run.op)
        .ok_or_else(|| LabError::Usage(format!("{} has no operation '{}'", target.name(), run.op)))?;
    let mut bench = OperationRun::start(target, firmware, operation, point.clock_hz, ENDLESS)?;
    let mut rng = StdRng::seed_from_u64(SEED);
    let bytes = usize::from(run.bytes.unwrap_or(operation.bytes));
    // Caches and prefetch buffers are warm afterwards, as in the papers' loops.
    bench.measure(&random_case(operation, bytes, &mut rng)?)?;
    let (mut cycles, mut stack, mut verified, mut output) = (Vec::new(), 0, true, 0);
    for _ in 0..paper.runs {
        let case = random_case(operation, bytes, &mut rng)?;
        let measurement = bench.measure(&case)?;
        cycles.push(measurement.cycles);
        stack = stack.max(measurement.stack);
        verified &= measurement.verified;
        output = case.outputs.iter().map(|(_, bytes)| bytes.len()).sum();
    }
    let mut watcher = ModuleWatcher::new(firmware, &paper.module);
    if !paper.module.is_empty() {
        bench.measure_observed(&random_case(operation, bytes, &mut rng)?, &mut watcher)?;
    }
    let rounds = match watcher.rounds() {
        [first, .., last] => {
            let full = (watcher.rounds().len() - 1) as f64;
            Some(((last - first) as f64 / full, (watcher.busy_until() - last) as f64))
        }
        _ => None,
    };
    let pieces = pieces(firmware.pieces(), empty.pieces());
    let (with, without): (Footprint, Footprint) = (firmware.footprint(), empty.footprint());
    let address = firmware.functions()[firmware.function(&operation.measure)?].address;
    Ok(Sample {
        address,
        cycles,
        flash: with.flash - without.flash,
        ram: with.ram - without.ram + i64::from(stack),
        output,
        pieces,
        modules: watcher.costs(),
        rounds,
        verified,
    })
}

/// Functions and tables by name and size, with how many of them there are: files may each have one
/// of their own.
type Pieces = BTreeMap<(String, u32), i64>;

/// Returns the pieces that an operation's program has and the empty one has not. The bench's own
/// variables and calls do not count.
fn pieces(with: &[(String, u32)], without: &[(String, u32)]) -> Pieces {
    let mut pieces = Pieces::new();
    for piece in with.iter().filter(|(name, _)| !name.starts_with("ws_bench_")) {
        *pieces.entry(piece.clone()).or_default() += 1;
    }
    for piece in without {
        if let Some(count) = pieces.get_mut(piece) {
            *count -= 1;
        }
    }
    pieces
}

/// Program memory of operations linked together, from what each adds alone.
pub(super) fn flash(samples: &[&Sample]) -> i64 {
    let together = samples.iter().map(|sample| sample.flash).sum::<i64>();
    together - shared(&samples.iter().map(|sample| &sample.pieces).collect::<Vec<_>>())
}

/// Bytes that are counted more often than once where each operation's are summed up.
fn shared(operations: &[&Pieces]) -> i64 {
    let mut counts: BTreeMap<&(String, u32), (i64, i64)> = BTreeMap::new();
    for (piece, &count) in operations.iter().flat_map(|pieces| pieces.iter()) {
        let (sum, most) = counts.entry(piece).or_default();
        *sum += count;
        *most = count.max(*most);
    }
    counts.iter().map(|((_, size), (sum, most))| (sum - most) * i64::from(*size)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hashes each have a table of their own that is called the same, one of them twice as
    /// large.
    #[test]
    fn shared_piece_is_counted_once_by_name_and_size() {
        let of = |names: &[(&str, u32)]| {
            let with: Vec<(String, u32)> =
                names.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
            pieces(&with, &[("start".to_owned(), 60)])
        };
        let sign =
            of(&[("start", 60), ("ws_bench_run", 44), ("constants", 128), ("constants", 256), ("sign", 10)]);
        let verify = of(&[("start", 60), ("ws_bench_run", 26), ("constants", 128), ("constants", 256)]);
        let hash = of(&[("start", 60), ("constants", 128), ("n", 32), ("n", 32)]);
        let other = of(&[("n", 32), ("constants", 64)]);
        assert_eq!(shared(&[&sign]), 0);
        assert_eq!(shared(&[&sign, &verify]), 384);
        assert_eq!(shared(&[&sign, &verify, &hash]), 512);
        assert_eq!(shared(&[&hash, &other]), 32);
    }
}
