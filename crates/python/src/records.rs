//! Commands whose rows are records.

use crate::convert::{answer, names, optional, places, quantity, workspace};
use crate::errors::{Error, UsageError, exception};
use crate::wait::wait;
use lab::bench::{Earlier, MAX_CYCLES};
use lab::delivery::KeptDeliveries;
use lab::progress::Progress;
use lab::repetition::Repetition;
use lab::selection::Choice;
use lab::traces::TraceFiles;
use lab::units;
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use papers::paper::Paper;
use papers::reproduce::{PaperRecord, Reproduction, run};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cycles of a run whose secrets are followed, unless others are asked for.
const MAX_CYCLES_FOLLOWED: u64 = 1_000_000_000;

/// Of whom nobody sees how far the work is.
struct Unseen<'a>(&'a AtomicBool);

impl Progress for Unseen<'_> {
    fn report(&self, _: usize, _: usize, _: &str) {}
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn calibrated(workspace: Workspace, path: Option<PathBuf>) -> PyResult<Workspace> {
    let Some(path) = path else { return Ok(workspace) };
    workspace.calibrated(&path).map_err(|error| exception(&error))
}

/// The names of all targets.
#[pyfunction]
pub fn targets() -> PyResult<Vec<String>> {
    workspace()?.target_names().map_err(|error| exception(&error))
}

/// Measures the cost of each operation on each target: the records of ``wattseal bench --format
/// json``.
///
/// Names and patterns
/// (``"stm32*"``), one or several; with none, the README's tables. Raises ``Error`` where an output
/// was wrong.
#[pyfunction]
#[pyo3(signature = (*, targets=None, ops=None, variants=None, all=false, bytes=None, runs=None, clock=None, supply=None,
    calibration=None, max_cycles=None, seed=1, cold=false, fresh=false, cache=None))]
#[expect(clippy::too_many_arguments, reason = "the options of the command")]
pub fn bench<'py>(
    py: Python<'py>,
    targets: Option<&Bound<'py, PyAny>>,
    ops: Option<&Bound<'py, PyAny>>,
    variants: Option<&Bound<'py, PyAny>>,
    all: bool,
    bytes: Option<u16>,
    runs: Option<u32>,
    clock: Option<&Bound<'py, PyAny>>,
    supply: Option<&Bound<'py, PyAny>>,
    calibration: Option<PathBuf>,
    max_cycles: Option<&Bound<'py, PyAny>>,
    seed: u64,
    cold: bool,
    fresh: bool,
    cache: Option<PathBuf>,
) -> PyResult<Bound<'py, PyList>> {
    let (targets, operations, variants) = (names(targets)?, names(ops)?, names(variants)?);
    let unchosen = !all && targets.is_empty() && operations.is_empty() && variants.is_empty();
    let request = lab::bench::Request {
        choice: if unchosen { Choice::Tables } else { Choice::Matching { targets, operations, variants } },
        bytes,
        runs: runs.map_or(Repetition::Enough, Repetition::Exactly),
        clock_hz: optional("clock", clock, units::frequency)?,
        supply_v: optional("supply", supply, units::volts)?,
        max_cycles: optional("max_cycles", max_cycles, units::count)?.unwrap_or(MAX_CYCLES),
        seed,
        cold,
        earlier: if fresh { Earlier::Replaced } else { Earlier::Taken },
    };
    let workspace = calibrated(workspace()?.cached_in(cache), calibration)?;
    workspace.origin().look_up();
    let rows = wait(py, |interrupted| lab::bench::run(&workspace, &request, &Unseen(interrupted)))?;
    let wrong = rows.iter().filter(|row| !row.verified).count();
    let problem = (wrong > 0).then(|| {
        Error::new_err(format!("{wrong} of {} rows gave wrong outputs; their costs mean nothing", rows.len()))
    });
    answer(py, &rows, problem)
}

/// Runs ELF files from reset: the records of ``wattseal measure --format json``, whose options
/// these are.
///
/// Raises ``Error``, with the records as its ``records``, where a run failed or what was asked for
/// did not come about.
#[pyfunction]
#[pyo3(signature = (*elf, target, functions=None, until=None, calls=None, pin=None, marker=None, max_cycles=None, clock=None,
    crystal=None, supply=None, calibration=None, lenient=false, stubs=None, input=None, uart=None, flamegraph=None, vcd=None,
    trace=None, lcov=None))]
#[expect(clippy::too_many_arguments, reason = "the options of the command")]
pub fn measure<'py>(
    py: Python<'py>,
    elf: Vec<PathBuf>,
    target: String,
    functions: Option<&Bound<'py, PyAny>>,
    until: Option<&Bound<'py, PyAny>>,
    calls: Option<u64>,
    pin: Option<String>,
    marker: Option<&Bound<'py, PyAny>>,
    max_cycles: Option<&Bound<'py, PyAny>>,
    clock: Option<&Bound<'py, PyAny>>,
    crystal: Option<&Bound<'py, PyAny>>,
    supply: Option<&Bound<'py, PyAny>>,
    calibration: Option<PathBuf>,
    lenient: bool,
    stubs: Option<&Bound<'py, PyAny>>,
    input: Option<PathBuf>,
    uart: Option<String>,
    flamegraph: Option<PathBuf>,
    vcd: Option<PathBuf>,
    trace: Option<PathBuf>,
    lcov: Option<PathBuf>,
) -> PyResult<Bound<'py, PyList>> {
    let traces = TraceFiles { vcd, events: trace, lcov, current: None };
    if elf.is_empty() {
        return Err(UsageError::new_err("which firmware? Give an ELF file, or several"));
    }
    if elf.len() > 1 && (flamegraph.is_some() || traces != TraceFiles::default()) {
        return Err(UsageError::new_err("flamegraph, vcd, trace and lcov are of one ELF file; give one"));
    }
    if calls == Some(0) {
        return Err(UsageError::new_err("calls must be at least 1"));
    }
    let workspace = calibrated(workspace()?, calibration)?;
    workspace.origin().look_up();
    let request = |elf: PathBuf| -> PyResult<lab::measure::Request> {
        Ok(lab::measure::Request {
            setup: Setup {
                clock_hz: optional("clock", clock, units::frequency)?,
                crystal_hz: optional("crystal", crystal, units::frequency)?,
                supply_v: optional("supply", supply, units::volts)?,
                lenient,
                stubs: names(stubs)?,
                ..Setup::new(elf, &target)
            },
            functions: names(functions)?,
            until: places(until)?.pop(),
            calls,
            pin: pin.clone(),
            marker: places(marker)?.pop(),
            max_cycles: max_cycles
                .map_or(Ok(MAX_CYCLES), |given| quantity("max_cycles", given, units::count))?,
            flamegraph: flamegraph.clone(),
            traces: traces.clone(),
            listing: None,
            input: input.clone(),
            uart: uart.clone(),
        })
    };
    let (mut rows, mut problem) = (Vec::new(), None);
    for elf in elf {
        let request = request(elf)?;
        let result = wait(py, |interrupted| lab::measure::run(&workspace, &request, interrupted, None))?;
        problem = problem.or(result.failure.as_ref().map(exception));
        rows.extend(result.rows);
        rows.push(result.program);
    }
    answer(py, &rows, problem)
}

/// The instructions of a function through which secrets show, by a branch, an address or their
/// time: the records of ``wattseal ct FIRMWARE.elf --format json``, whose options these are.
///
/// Raises ``Error``, with the records as its ``records``, where nothing is known of a secret: the
/// function was not called, no instruction read the secret, or the run failed.
#[pyfunction]
#[pyo3(signature = (elf, *, target, function, secrets, public=None, declassified=None, calls=10, max_cycles=None, clock=None,
    stubs=None))]
#[expect(clippy::too_many_arguments, reason = "the options of the command")]
pub fn ct<'py>(
    py: Python<'py>,
    elf: PathBuf,
    target: String,
    function: String,
    secrets: &Bound<'py, PyAny>,
    public: Option<&Bound<'py, PyAny>>,
    declassified: Option<&Bound<'py, PyAny>>,
    calls: u64,
    max_cycles: Option<&Bound<'py, PyAny>>,
    clock: Option<&Bound<'py, PyAny>>,
    stubs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let request = lab::ct::firmware::Request {
        setup: Setup {
            clock_hz: optional("clock", clock, units::frequency)?,
            stubs: names(stubs)?,
            ..Setup::new(elf, &target)
        },
        function,
        secrets: names(Some(secrets))?,
        secret_registers: Vec::new(),
        secret_arguments: Vec::new(),
        public: names(public)?,
        declassified: names(declassified)?,
        calls,
        max_cycles: optional("max_cycles", max_cycles, units::count)?.unwrap_or(MAX_CYCLES_FOLLOWED),
    };
    if request.secrets.is_empty() {
        return Err(UsageError::new_err("which bytes are secret? Give secrets, such as \"key:16\""));
    }
    let workspace = workspace()?;
    let checked = wait(py, |_| lab::ct::firmware::run(&workspace, &request))?;
    let unread = checked.reads.unread();
    let problem = match &checked.failure {
        Some(failure) => Some(exception(failure)),
        None => (!unread.is_empty()).then(|| Error::new_err(unread.join("; "))),
    };
    answer(py, &checked.leaks, problem)
}

/// A paper's tables, or those of ``all``: the records of ``wattseal reproduce --format json``.
#[pyfunction]
#[pyo3(signature = (paper, *, cache=None))]
pub fn reproduce<'py>(py: Python<'py>, paper: &str, cache: Option<PathBuf>) -> PyResult<Bound<'py, PyList>> {
    let workspace = workspace()?.cached_in(cache);
    let papers = wait(py, |interrupted| {
        let deliveries = KeptDeliveries(&sim::link::LinkBenchmark);
        let reproduce = |paper: &Paper| run(&workspace, paper, &deliveries, &Unseen(interrupted));
        Paper::named(&workspace, paper)?.iter().map(reproduce).collect::<Result<Vec<Reproduction>, _>>()
    })?;
    let rows: Vec<PaperRecord> = papers.iter().flat_map(Reproduction::records).collect();
    let wrong: Vec<&str> = papers.iter().flat_map(|paper| &paper.wrong).map(String::as_str).collect();
    let problem = (!wrong.is_empty()).then(|| Error::new_err(wrong.join("; ")));
    answer(py, &rows, problem)
}
