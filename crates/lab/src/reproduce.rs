//! `reproduce`: a paper's tables, each published figure beside the one measured here.

use crate::bench::{Bench, Progress};
use crate::elf::{Firmware, Footprint};
use crate::modules::{Cost, ModuleWatcher};
use crate::operations::{Catalogue, Operation};
use crate::paper::{Column, Line, Paper, Part, Table, What};
use crate::reference::random_case;
use crate::target::{House, OperatingPoint, Target};
use crate::{LabError, firmware};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Random inputs for each figure.
const RUNS: u32 = 20;
/// Where they begin.
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
    /// Measured over published.
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

/// One operation on one target in one variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    target: String,
    variant: String,
    op: String,
}

/// What all runs of one operation gave.
struct Sample {
    /// Mean, from the call to the return.
    cycles: f64,
    seconds_per_cycle: f64,
    power_w: f64,
    flash: i64,
    ram: i64,
    /// Functions and tables by name, with their sizes: what two operations share is counted once.
    symbols: BTreeMap<String, u32>,
    /// Of one run; all runs of an operation take the same way.
    modules: BTreeMap<String, Cost>,
    /// Cycles of a full round and of the last one.
    rounds: Option<(f64, f64)>,
    verified: bool,
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
        .map(|(run, _)| format!("{} {} {} gave wrong outputs", run.target, run.op, run.variant))
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
        let run = |op: &String| Run { target: target.clone(), variant: variant.clone(), op: op.clone() };
        ops.iter().map(run).collect::<Vec<Run>>()
    };
    (runs(variant), line.over.as_ref().map(runs).unwrap_or_default())
}

fn measure(house: &House, paper: &Paper, progress: &dyn Progress) -> Result<BTreeMap<Run, Sample>, LabError> {
    let mut builds: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for table in &paper.table {
        for (line, column) in
            table.rows.iter().flat_map(|line| table.columns.iter().map(move |column| (line, column)))
        {
            let (runs, over) = runs_of(line, column);
            for run in runs.into_iter().chain(over) {
                builds.entry((run.target, run.variant)).or_default().insert(run.op);
            }
        }
    }
    let catalogue = Catalogue::read(house)?;
    let builds: Vec<_> = builds.into_iter().collect();
    let total = builds.iter().map(|(_, ops)| ops.len()).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some(((target, variant), ops)) = builds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = samples(house, paper, &catalogue, target, variant, ops, &|what| {
                progress.report(done.fetch_add(1, Ordering::Relaxed), total, what);
            });
            results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    progress.report(total, total, "");
    let mut all = BTreeMap::new();
    for result in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        all.extend(result?);
    }
    Ok(all)
}

fn samples(
    house: &House,
    paper: &Paper,
    catalogue: &Catalogue,
    target: &str,
    variant: &str,
    ops: &BTreeSet<String>,
    progress: &dyn Fn(&str),
) -> Result<Vec<(Run, Sample)>, LabError> {
    let target = house.target(target)?;
    let malformed = |problem: String| LabError::BadFile {
        path: house.root().join("papers").join(format!("{}.toml", paper.id)),
        problem,
    };
    if !target.toolchain.variants.iter().any(|known| known == variant) {
        return Err(malformed(format!("{} has no variant '{variant}'", target.name())));
    }
    let point = target.operating_point(paper.clock_hz, paper.supply_v)?;
    let operations = catalogue.of(&target)?;
    let names: Vec<&str> = ops.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for name in &names {
        let operation = operations
            .iter()
            .find(|operation| operation.name == *name)
            .ok_or_else(|| malformed(format!("{} has no operation '{name}'", target.name())))?;
        found.push(operation);
    }
    let build = firmware::build(house, &target, &point, variant, &names)?;
    let empty = Firmware::read(&build.image(firmware::EMPTY), target.part.core)?;
    found
        .into_iter()
        .map(|operation| {
            progress(&format!("{} {} {variant}", target.name(), operation.name));
            let firmware = Firmware::read(&build.image(&operation.name), target.part.core)?;
            let run =
                Run { target: target.name().into(), variant: variant.into(), op: operation.name.clone() };
            Ok((run, sample(paper, &target, &point, operation, &firmware, &empty)?))
        })
        .collect()
}

fn sample(
    paper: &Paper,
    target: &Target,
    point: &OperatingPoint,
    operation: &Operation,
    firmware: &Firmware,
    empty: &Firmware,
) -> Result<Sample, LabError> {
    let mut bench = Bench::start(target, firmware, operation, point.clock_hz, ENDLESS)?;
    let mut rng = StdRng::seed_from_u64(SEED);
    let bytes = usize::from(operation.bytes);
    // Caches and prefetch buffers are warm afterwards, as in the papers' loops.
    bench.measure(&random_case(operation, bytes, &mut rng)?)?;
    let (mut cycles, mut stack, mut verified) = (0, 0, true);
    for _ in 0..RUNS {
        let measurement = bench.measure(&random_case(operation, bytes, &mut rng)?)?;
        cycles += measurement.cycles;
        stack = stack.max(measurement.stack);
        verified &= measurement.verified;
    }
    let mut watcher = ModuleWatcher::new(firmware, &paper.module);
    bench.measure_observed(&random_case(operation, bytes, &mut rng)?, &mut watcher)?;
    let rounds = match watcher.rounds() {
        [first, .., last] => {
            let full = (watcher.rounds().len() - 1) as f64;
            Some(((last - first) as f64 / full, (watcher.busy_until() - last) as f64))
        }
        _ => None,
    };
    let in_image = |address: u32| {
        firmware.image().segments.iter().any(|segment| {
            address.checked_sub(segment.address).is_some_and(|offset| (offset as usize) < segment.bytes.len())
        })
    };
    let symbols = firmware
        .symbols()
        .iter()
        .filter(|(name, symbol)| in_image(symbol.address) && !empty.symbols().contains_key(*name))
        .map(|(name, symbol)| (name.clone(), symbol.size))
        .collect();
    let (with, without): (Footprint, Footprint) = (firmware.footprint(), empty.footprint());
    Ok(Sample {
        cycles: cycles as f64 / f64::from(RUNS),
        seconds_per_cycle: target.seconds_per_cycle(point),
        power_w: point.power_w,
        flash: with.flash - without.flash,
        ram: with.ram - without.ram + i64::from(stack),
        symbols,
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
        ratio: measured.zip(published).map(|(measured, published)| measured / published),
        note: notes.join(" "),
        notes,
    }
}

/// How many SI units the unit of a column is.
fn scale(unit: &str) -> f64 {
    match unit {
        "kB" => 1e3,
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
        Part::Operation => Some(sample.cycles),
        Part::Iteration => sample.rounds.map(|rounds| rounds.0),
        Part::LastIteration => sample.rounds.map(|rounds| rounds.1),
        Part::Others => {
            let modules: u64 = sample.modules.values().map(|cost| cost.cycles).sum();
            (modules > 0).then_some(sample.cycles - modules as f64)
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

/// Program memory of operations linked together, from what each adds alone.
fn flash(samples: &[&Sample]) -> i64 {
    let mut shared: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (name, size) in samples.iter().flat_map(|sample| &sample.symbols) {
        let entry = shared.entry(name).or_insert((0, i64::from(*size)));
        entry.0 += 1;
    }
    let twice: i64 = shared.values().map(|(times, size)| (times - 1) * size).sum();
    samples.iter().map(|sample| sample.flash).sum::<i64>() - twice
}
