//! `reproduce`: a paper's tables, each published figure beside the one measured here.

use crate::bench::{Bench, Progress};
use crate::elf::{Firmware, Footprint};
use crate::firmware::Build;
use crate::modules::{Cost, ModuleWatcher};
use crate::operations::{Catalogue, Operation};
use crate::paper::{Column, Line, Paper, Part, Table, What};
use crate::reference::random_case;
use crate::target::{House, OperatingPoint, Target};
use crate::{LabError, firmware, work};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the random inputs begin.
const SEED: u64 = 1;
/// Cycles after which an operation counts as endless.
const ENDLESS: u64 = 1_000_000_000;

/// A cell of a paper's table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The paper.
    pub paper: String,
    /// Its table.
    pub table: String,
    /// The row's heading.
    pub row: String,
    /// The column's heading.
    pub column: String,
    /// Unit of both figures.
    pub unit: String,
    /// The paper's figure, where it has one.
    pub published: Option<f64>,
    /// Ours, where there is one.
    pub measured: Option<f64>,
    /// Measured over published, unless that is zero.
    pub ratio: Option<f64>,
    /// What does not add up in the paper, or what a reader must know.
    pub note: String,
    /// The same, each remark for itself.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A paper reproduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The title and where it was published.
    pub title: String,
    /// The tables' names with their titles.
    pub tables: Vec<(String, String)>,
    /// All cells.
    pub rows: Vec<Row>,
    /// Runs whose output was wrong, as sentences; their figures are left out.
    pub wrong: Vec<String>,
}

/// How firmware is built: target, variant, clock where it is not the paper's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    target: String,
    variant: String,
    clock_hz: Option<u64>,
}

/// One operation of it on so many bytes, where that is not the operation's default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    kind: Kind,
    op: String,
    bytes: Option<u16>,
}

/// What all runs of one operation gave.
struct Sample {
    /// Of each run, from the call to the return.
    cycles: Vec<u64>,
    seconds_per_cycle: f64,
    power_w: f64,
    flash: i64,
    ram: i64,
    output: usize,
    /// Functions and tables by name and size, with how many of them there are: what two operations share is counted once.
    pieces: Pieces,
    /// Of one run; all runs of an operation take the same way.
    modules: BTreeMap<String, Cost>,
    /// Cycles of a full round and of the last one.
    rounds: Option<(f64, f64)>,
    verified: bool,
}

impl Sample {
    /// Mean cycles.
    fn cycles(&self) -> f64 {
        self.cycles.iter().map(|&cycles| cycles as f64).sum::<f64>() / self.cycles.len() as f64
    }
}

/// Reproduces one paper, or every one where `name` is `all`.
///
/// # Errors
/// As [`run`].
pub fn run_named(house: &House, name: &str, progress: &dyn Progress) -> Result<Vec<Outcome>, LabError> {
    if name == "all" {
        return Paper::names(house)?.iter().map(|name| run(house, name, progress)).collect();
    }
    Ok(vec![run(house, name, progress)?])
}

/// Measures all that the paper's tables ask for.
///
/// # Errors
/// A paper that does not exist, or whose file names a target, a variant or an operation that does not; a build or a
/// model that failed. Wrong outputs are no error: see [`Outcome::wrong`].
pub fn run(house: &House, name: &str, progress: &dyn Progress) -> Result<Outcome, LabError> {
    let paper = Paper::read(house, name)?;
    let samples = measure(house, &paper, progress)?;
    let mut rows = Vec::new();
    for table in &paper.table {
        for line in &table.rows {
            rows.extend(table.columns.iter().map(|column| cell(&paper, table, line, column, &samples)));
        }
    }
    let wrong = samples
        .iter()
        .filter(|(_, sample)| !sample.verified)
        .map(|(run, _)| format!("{} {} {} gave wrong outputs", run.kind.target, run.op, run.kind.variant))
        .collect();
    Ok(Outcome {
        title: format!("{}. {}", paper.title, paper.published_in),
        tables: paper.table.iter().map(|table| (table.name.clone(), table.title.clone())).collect(),
        rows,
        wrong,
    })
}

/// The runs that a cell is about, and those that it is divided by.
fn runs_of(line: &Line, column: &Column) -> (Vec<Run>, Vec<Run>) {
    let (Some(target), Some(variant), Some(_)) = (
        line.target.as_ref().or(column.target.as_ref()),
        line.variant.as_ref().or(column.variant.as_ref()),
        column.what,
    ) else {
        return (Vec::new(), Vec::new());
    };
    if line.of == Part::Nothing {
        return (Vec::new(), Vec::new());
    }
    let ops = if line.ops.is_empty() { &column.ops } else { &line.ops };
    let runs = |variant: &String| {
        let kind = Kind { target: target.clone(), variant: variant.clone(), clock_hz: line.clock_hz };
        let run = |op: &String| Run { kind: kind.clone(), op: op.clone(), bytes: column.bytes };
        ops.iter().map(run).collect::<Vec<Run>>()
    };
    (runs(variant), line.over.as_ref().map(runs).unwrap_or_default())
}

/// Firmware for the operations of one kind.
struct Set {
    target: Target,
    point: OperatingPoint,
    operations: Vec<Operation>,
    build: Build,
}

fn measure(house: &House, paper: &Paper, progress: &dyn Progress) -> Result<BTreeMap<Run, Sample>, LabError> {
    let mut runs = BTreeSet::new();
    for table in &paper.table {
        for (line, column) in
            table.rows.iter().flat_map(|line| table.columns.iter().map(move |column| (line, column)))
        {
            let (of_cell, over) = runs_of(line, column);
            runs.extend(of_cell.into_iter().chain(over));
        }
    }
    let mut kinds: BTreeMap<&Kind, BTreeSet<&str>> = BTreeMap::new();
    for run in &runs {
        kinds.entry(&run.kind).or_default().insert(&run.op);
    }
    let catalogue = Catalogue::read(house)?;
    let kinds: Vec<_> = kinds.into_iter().collect();
    let built = AtomicUsize::new(0);
    let sets = work::each(&kinds, |(kind, ops)| {
        let done = built.fetch_add(1, Ordering::Relaxed);
        progress.report(done, kinds.len(), &format!("building for {} {}", kind.target, kind.variant));
        set(house, paper, &catalogue, kind, ops)
    })?;
    let sets: BTreeMap<&Kind, Set> = kinds.iter().map(|(kind, _)| *kind).zip(sets).collect();
    let list: Vec<&Run> = runs.iter().collect();
    let done = AtomicUsize::new(0);
    let samples = work::each(&list, |&run| {
        let what = format!("{} {} {}", run.kind.target, run.op, run.kind.variant);
        progress.report(done.fetch_add(1, Ordering::Relaxed), list.len(), &what);
        sample(paper, &sets[&run.kind], run)
    })?;
    progress.report(list.len(), list.len(), "");
    Ok(list.into_iter().cloned().zip(samples).collect())
}

fn set(
    house: &House,
    paper: &Paper,
    catalogue: &Catalogue,
    kind: &Kind,
    ops: &BTreeSet<&str>,
) -> Result<Set, LabError> {
    let target = house.target(&kind.target)?;
    let point = target.operating_point(kind.clock_hz.or(paper.clock_hz), paper.supply_v)?;
    let mut operations = catalogue.built_as(&target, &kind.variant)?;
    operations.retain(|operation| ops.contains(operation.name.as_str()));
    if let Some(missing) = ops.iter().find(|op| operations.iter().all(|operation| operation.name != **op)) {
        return Err(LabError::BadFile {
            path: house.root().join("papers").join(format!("{}.toml", paper.id)),
            problem: format!("{} has no operation '{missing}' in variant '{}'", target.name(), kind.variant),
        });
    }
    let names: Vec<&str> = ops.iter().copied().collect();
    let build = firmware::build(house, &target, &point, &kind.variant, &names)?;
    Ok(Set { target, point, operations, build })
}

fn sample(paper: &Paper, set: &Set, run: &Run) -> Result<Sample, LabError> {
    let Set { target, point, operations, build } = set;
    let read = |name: &str| Firmware::read(&build.image(name), target.part.core);
    let (firmware, empty) = (&read(&run.op)?, &read(firmware::EMPTY)?);
    let operation = operations
        .iter()
        .find(|operation| operation.name == run.op)
        .ok_or_else(|| LabError::Usage(format!("{} has no operation '{}'", target.name(), run.op)))?;
    let mut bench = Bench::start(target, firmware, operation, point.clock_hz, ENDLESS)?;
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
    Ok(Sample {
        cycles,
        seconds_per_cycle: target.seconds_per_cycle(point),
        power_w: point.power_w,
        flash: with.flash - without.flash,
        ram: with.ram - without.ram + i64::from(stack),
        output,
        pieces,
        modules: watcher.costs(),
        rounds,
        verified,
    })
}

fn cell(paper: &Paper, table: &Table, line: &Line, column: &Column, samples: &BTreeMap<Run, Sample>) -> Row {
    let published = table
        .published_column(column)
        .and_then(|index| line.published.get(index))
        .copied()
        .filter(|figure| !figure.is_nan());
    let (runs, over) = runs_of(line, column);
    let figure = |runs: &[Run]| figure(paper, line, column, runs, samples);
    let measured = figure(&runs).and_then(|measured| match over.is_empty() {
        true => Some(measured),
        false => figure(&over).map(|over| measured / over),
    });
    let measured = measured.map(|figure| figure / scale(&column.unit));
    let notes: Vec<String> = [&table.note, &column.note, &line.note]
        .into_iter()
        .chain(line.notes.get(&column.name))
        .filter(|note| !note.is_empty())
        .cloned()
        .collect();
    Row {
        paper: paper.id.clone(),
        table: table.name.clone(),
        row: line.name.clone(),
        column: column.name.clone(),
        unit: column.unit.clone(),
        published,
        measured,
        ratio: ratio(measured, published),
        note: notes.join(" "),
        notes,
    }
}

/// Measured over published, where there are both and the latter is not nothing.
fn ratio(measured: Option<f64>, published: Option<f64>) -> Option<f64> {
    let (measured, published) = measured.zip(published).filter(|(_, published)| *published != 0.0)?;
    Some(measured / published)
}

/// How many SI units the unit of a column is.
fn scale(unit: &str) -> f64 {
    match unit {
        "kB" => 1e3,
        "KiB" => 1024.0,
        "ms" | "mJ" | "mW" => 1e-3,
        "µs" | "µJ" => 1e-6,
        _ => 1.0,
    }
}

fn figure(
    paper: &Paper,
    line: &Line,
    column: &Column,
    runs: &[Run],
    samples: &BTreeMap<Run, Sample>,
) -> Option<f64> {
    let samples: Vec<&Sample> =
        runs.iter().map(|run| samples.get(run).filter(|sample| sample.verified)).collect::<Option<_>>()?;
    let first = samples.first()?;
    let cycles = |sample: &Sample| match &line.of {
        Part::Nothing => None,
        Part::Operation => Some(sample.cycles()),
        Part::Iteration => sample.rounds.map(|rounds| rounds.0),
        Part::LastIteration => sample.rounds.map(|rounds| rounds.1),
        Part::Others => {
            let modules: u64 = sample.modules.values().map(|cost| cost.cycles).sum();
            (modules > 0).then_some(sample.cycles() - modules as f64)
        }
        Part::Modules => {
            let modules: u64 = sample.modules.values().map(|cost| cost.cycles).sum();
            (modules > 0).then_some(modules as f64)
        }
        Part::Module(name) => {
            let executions = paper.module.get(name)?.executions;
            sample.modules.get(name).map(|cost| cost.cycles as f64 / f64::from(executions))
        }
    };
    let copies = |name: &str, cost: &Cost| cost.copies(paper.module.get(name)?.executions);
    let of_all = |figure: &dyn Fn(&Sample) -> Option<f64>| samples.iter().map(|sample| figure(sample)).sum();
    match column.what? {
        What::Cycles => of_all(&cycles),
        What::Time => of_all(&|sample| Some(cycles(sample)? * sample.seconds_per_cycle)),
        What::Deviation => deviation(&samples),
        What::Error => Some(deviation(&samples)? / f64::from(paper.runs).sqrt()),
        What::Power => Some(first.power_w),
        What::Output => Some(samples.iter().map(|sample| sample.output as f64).sum()),
        What::Energy => of_all(&|sample| Some(cycles(sample)? * sample.seconds_per_cycle * sample.power_w)),
        What::Ram => samples.iter().map(|sample| sample.ram).max().map(|bytes| bytes as f64),
        What::Flash => match &line.of {
            Part::Operation => Some(flash(&samples) as f64),
            Part::Modules => {
                let bytes: u32 = first.modules.values().map(|cost| cost.bytes).sum();
                (bytes > 0).then_some(f64::from(bytes))
            }
            Part::Module(name) => {
                first.modules.get(name).and_then(|cost| Some(f64::from(cost.bytes) / copies(name, cost)?))
            }
            _ => None,
        },
        What::Executions => match &line.of {
            Part::Module(name) => first.modules.get(name).map(|cost| f64::from(cost.entries)),
            _ => None,
        },
        What::Copies => match &line.of {
            Part::Module(name) => first.modules.get(name).and_then(|cost| copies(name, cost)),
            _ => None,
        },
    }
}

/// Standard deviation of the time of operations one after the other, as that of a population, in seconds.
fn deviation(samples: &[&Sample]) -> Option<f64> {
    let runs = samples.iter().map(|sample| sample.cycles.len()).min().filter(|&runs| runs > 0)?;
    // Whole cycles, so that no rounding passes for a deviation.
    let totals: Vec<u64> =
        (0..runs).map(|run| samples.iter().map(|sample| sample.cycles[run]).sum()).collect();
    let mean = totals.iter().sum::<u64>() as f64 / runs as f64;
    let squares: f64 = totals.iter().map(|&total| (total as f64 - mean).powi(2)).sum();
    Some((squares / runs as f64).sqrt() * samples.first()?.seconds_per_cycle)
}

/// Functions and tables by name and size, with how many of them there are: files may each have one of their own.
type Pieces = BTreeMap<(String, u32), i64>;

/// What an operation's program has and the empty one has not; the bench's own variables and calls do not count.
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
fn flash(samples: &[&Sample]) -> i64 {
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

    /// Two hashes each have a table of their own that is called the same, one of them twice as large.
    #[test]
    fn what_operations_share_is_counted_once_by_name_and_size() {
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
