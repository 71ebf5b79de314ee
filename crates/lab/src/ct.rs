//! `ct`: checks that neither time nor path of an operation depends on its secrets. It does so in
//! two ways: by runs with random secrets, and by following them through one run ([`dependence`]).
//!
//! Every run begins in the same state of the machine: a snapshot taken where the firmware waits for
//! inputs. A few runs before it have warmed caches, prefetch buffers and branch prediction. Only
//! the inputs differ. All runs must have the same instruction addresses, from the first instruction
//! of the measured function to its return. Each instruction must take the same cycles, and the data
//! addresses, sizes and directions must be equal.

mod accepted;
mod convention;
mod declared;
mod dependence;
mod difference;
pub mod firmware;
mod reads;

pub use accepted::Accepted;
pub use dependence::Dependence;
pub use reads::{Reads, SecretRead};

use self::dependence::Followed;
use self::difference::{Finding, Record, finding};
use self::firmware::LeakRow;
use crate::harness::OperationRun;
use crate::operations::{Catalogue, InputBytes, Operation, VARIANTS};
use crate::origin::Provenance;
use crate::pipeline;
use crate::progress::{Progress, go_on};
use crate::reference::{Case, random_case};
use crate::target::{OperatingPoint, Target};
use crate::workspace::Workspace;
use crate::{LabError, names, work};
use ::firmware::Firmware;
use mcu::{Leak, Tables, Trace};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Runs that warm the machine before its snapshot is taken; their outputs are verified. Branch
/// prediction has settled after the second.
pub(crate) const WARM_UP: u32 = 2;

/// Default runs for a row: the most, and the fewest of an operation that would take more than
/// [`ENOUGH_CYCLES`] in the most.
const MOST: u32 = 200;
const FEWEST: u32 = 3;
/// In cycles of all runs of a row: some seconds.
const ENOUGH_CYCLES: u64 = 200_000_000;

/// Prefix of the tables that AES reads at secret places, in C (behind `ws_`) and in the kernels of
/// all ports. They lie where an access takes the same time at every address
/// (`device/crypto/table.h`), so that neither time nor path depends on the entry.
const SECRET_TABLE: &str = "secret_table_";

/// Parameters of the check.
#[derive(Clone, Debug)]
pub struct Request {
    /// Patterns of targets; all where empty.
    pub targets: Vec<String>,
    /// Patterns of operations; all where empty.
    pub operations: Vec<String>,
    /// Patterns of variants; all where empty.
    pub variants: Vec<String>,
    /// Runs with random secrets for each row; of one the secrets are followed, and nothing is
    /// compared. Where absent 200, or as many as take 2·10⁸ cycles, but at least 3.
    pub runs: Option<u32>,
    /// Seed of the random inputs.
    pub seed: u64,
    /// Cycles after which one operation counts as endless.
    pub max_cycles: u64,
    /// Operations on public data are checked, too.
    pub public: bool,
    /// Counts the choice of an AES table's entry as a dependence, too.
    pub strict: bool,
}

/// Verdict on an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All runs were the same, and nothing depends on a secret but what is accepted.
    Constant,
    /// Two runs differ.
    Variable,
    /// All runs were the same, but what comes next, where something is read or written or how long
    /// it takes depends on a secret.
    Dependent,
    /// As `constant`, but the outputs were compared with nothing.
    Uncompared,
    /// Of a secret no byte was read: the check says nothing of it.
    Unread,
    /// The operation has no secrets, and was not looked at.
    Public,
    /// It does not give what it should; nothing else was looked at.
    Wrong,
    /// It was not built, or did not run to its end: nothing was looked at.
    Failed,
}

/// In what two runs differ first, or what depends on a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// The next instruction.
    Branch,
    /// The address of data that is read or written.
    Address,
    /// The time that the instruction takes.
    Time,
}

impl Difference {
    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Difference::Branch => "branch",
            Difference::Address => "address",
            Difference::Time => "time",
        }
    }
}

/// The check of one operation, built in one way for one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConstantTimeRow {
    /// Target name.
    pub target: String,
    /// Operation name.
    pub op: String,
    /// Variant of the build.
    pub variant: String,
    /// Verdict on the row.
    pub verdict: Verdict,
    /// Runs whose secrets were followed or compared: 1 of an operation that rejects, 0 where
    /// nothing was looked at.
    pub runs: u32,
    /// Seed of their inputs.
    pub seed: u64,
    /// Of the first run: cycles within the function.
    pub cycles: u64,
    /// Of the first run: instructions.
    pub instructions: u64,
    /// Of the first run: data accesses.
    pub accesses: u64,
    /// Tables of AES, separated by blanks: which of their entries was read was not compared.
    pub tables: String,
    /// In what a run differs from the first one.
    pub differs: Option<Difference>,
    /// Place of the first difference: function and source line.
    pub place: Option<String>,
    /// Address of the instruction.
    pub pc: Option<u32>,
    /// The run that does; the first one is 0.
    pub run: Option<u32>,
    /// Action there in the differing run and in the first run; or the secrets that were not read;
    /// or why nothing was looked at.
    pub what: Option<String>,
    /// Bytes of the secrets, with what was made of them before the function was called.
    pub secret_bytes: u32,
    /// Of them, those that an instruction of the function read.
    pub secret_bytes_read: u32,
    /// Instructions that read one.
    pub readers: u32,
    /// The instructions of the first run that depend on a secret, by address.
    pub leaks: Vec<Dependence>,
    /// Origin of the row; absent of one that was checked by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// One operation's firmware on its target.
pub struct Subject<'a> {
    pub target: &'a Target,
    pub clock_hz: u64,
    /// The firmware, built for both.
    pub firmware: &'a Firmware,
    /// The operation that it calls.
    pub operation: &'a Operation,
    pub variant: &'a str,
    /// Refuses a stack that meets the variables, also where the outputs are right. At `O0` the
    /// spare bytes of the project's own buffers may lie in its way.
    pub checks_stack: bool,
}

/// Builds and checks all that is asked for, on all processors of the host.
///
/// # Errors
/// As [`run_each`]'s.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    progress: &dyn Progress,
) -> Result<Vec<ConstantTimeRow>, LabError> {
    run_each(workspace, request, progress, |_| ControlFlow::Continue(()))
}

/// As [`run`], and hands each row on as it is made, until no more are wanted. Rows come by target,
/// then by operation, then by variant.
///
/// # Errors
/// The first error: an unknown name, a build or a model that failed. A leak or a wrong output is no
/// error but a row that says so.
pub fn run_each(
    workspace: &Workspace,
    request: &Request,
    progress: &dyn Progress,
    mut take: impl FnMut(&ConstantTimeRow) -> ControlFlow<()>,
) -> Result<Vec<ConstantTimeRow>, LabError> {
    if request.runs == Some(0) {
        return Err(LabError::Usage("--runs must be at least 1, whose secrets are followed".into()));
    }
    let catalogue = Catalogue::read(workspace)?;
    let accepted = Accepted::read(workspace, &catalogue)?;
    let (sets, asked) = request.programs(workspace, &catalogue)?;
    let total = asked.len();
    if total == 0 {
        return Err(LabError::Usage(
            "no target has such an operation in such a variant; without --op or --variant, bench shows what there is"
                .into(),
        ));
    }
    let begun = AtomicUsize::new(0);
    let workers = if total < work::processors() { work::processors() } else { 1 };
    let set_of: Vec<usize> = asked.iter().map(|(set, _)| *set).collect();
    let mut rows = Vec::new();
    pipeline::run(
        sets.len(),
        &set_of,
        |set| {
            go_on(progress)?;
            let Set { target, point, variant, built } = &sets[set];
            let what = format!("building {} {variant}", target.name());
            progress.report(begun.load(Ordering::Relaxed), total, &what);
            let names: Vec<&str> = built.iter().map(String::as_str).collect();
            let source = workspace.source(target, point)?;
            let build = ::firmware::build(&source, variant, &names)?;
            let compiler = Some(::firmware::compiler_version(&source)?);
            Ok((build, Provenance::new(workspace.origin(), &target.text, compiler, Some(request.seed))))
        },
        |row, (build, provenance)| {
            go_on(progress)?;
            let (set, operation) = &asked[row];
            let Set { target, point, variant, .. } = &sets[*set];
            let what = format!("{} {} {variant}", target.name(), operation.name);
            progress.report(begun.fetch_add(1, Ordering::Relaxed), total, &what);
            let provenance = Some(provenance.clone());
            if !request.checks(operation) {
                let row = ConstantTimeRow::new(
                    target.name(),
                    &operation.name,
                    variant,
                    request.seed,
                    Verdict::Public,
                );
                return Ok(ConstantTimeRow { provenance, ..row });
            }
            let subject = Subject {
                target,
                clock_hz: point.clock_hz,
                firmware: &Firmware::read(&build.image(&operation.name), target.part.core)?,
                operation,
                variant,
                checks_stack: false,
            };
            let case = |run| case(operation, request.seed, run);
            let row = check_by(workers, &subject, request, &accepted, &case)?;
            Ok(ConstantTimeRow { provenance, ..row })
        },
        |row| {
            let more = take(&row);
            rows.push(row);
            more
        },
    )?;
    progress.report(total, total, "");
    accepted.all_needed(workspace, &catalogue, &rows)?;
    Ok(rows)
}

impl Request {
    /// The programs to build, and the operations to check, each with the place of its program.
    fn programs(
        &self,
        workspace: &Workspace,
        catalogue: &Catalogue,
    ) -> Result<(Vec<Set>, Vec<AskedOperation>), LabError> {
        let names = catalogue.names();
        let chosen = names::select("operation", &self.operations, &names)?;
        let variants = names::select("variant", &self.variants, &VARIANTS)?;
        let mut sets = Vec::new();
        let mut asked: Vec<AskedOperation> = Vec::new();
        for target in workspace.targets_with_operations(&self.targets)? {
            let point = target.operating_point(None, None)?;
            let first = asked.len();
            for &variant in &variants {
                let mut operations = catalogue.built_as(&target, variant)?;
                operations.retain(|operation| chosen.contains(&operation.name.as_str()));
                if operations.is_empty() {
                    continue;
                }
                let checked = operations.iter().filter(|operation| self.checks(operation));
                let built = checked.map(|operation| operation.name.clone()).collect();
                asked.extend(operations.into_iter().map(|operation| (sets.len(), operation)));
                sets.push(Set { target: target.clone(), point, variant, built });
            }
            // Sets are in the order of variants.
            asked[first..].sort_by_key(|(set, operation)| {
                (names.iter().position(|name| *name == operation.name), *set)
            });
        }
        Ok((sets, asked))
    }
}

/// An operation, with the place of its program.
type AskedOperation = (usize, Operation);

/// The programs of one target in one variant.
struct Set {
    target: Target,
    point: OperatingPoint,
    variant: &'static str,
    /// Of the operations that are checked.
    built: Vec<String>,
}

impl Request {
    /// Returns true if an operation is checked.
    fn checks(&self, operation: &Operation) -> bool {
        self.public || !operation.public
    }
}

/// Returns the number of runs of an operation whose run takes `cycles`. `asked` overrides the
/// default; an operation that rejects has only the run whose secrets are followed.
fn runs(asked: Option<u32>, rejects: bool, cycles: u64) -> u32 {
    let enough = u32::try_from(ENOUGH_CYCLES / cycles.max(1)).map_or(MOST, |fit| fit.clamp(FEWEST, MOST));
    if rejects { 1 } else { asked.unwrap_or(enough) }
}

impl ConstantTimeRow {
    pub(crate) fn new(target: &str, op: &str, variant: &str, seed: u64, verdict: Verdict) -> ConstantTimeRow {
        ConstantTimeRow {
            target: target.into(),
            op: op.into(),
            variant: variant.into(),
            verdict,
            runs: 0,
            seed,
            cycles: 0,
            instructions: 0,
            accesses: 0,
            tables: String::new(),
            differs: None,
            place: None,
            pc: None,
            run: None,
            what: None,
            secret_bytes: 0,
            secret_bytes_read: 0,
            readers: 0,
            leaks: Vec::new(),
            provenance: None,
        }
    }
}

/// A run's own generator, so that one run can be had again without the others.
pub(crate) fn generator(seed: u64, run: u32) -> StdRng {
    let mut state = [0; 32];
    state[..8].copy_from_slice(&seed.to_le_bytes());
    state[8..12].copy_from_slice(&run.to_le_bytes());
    StdRng::from_seed(state)
}

/// The inputs of a run.
fn case(operation: &Operation, seed: u64, run: u32) -> Result<Case, LabError> {
    random_case(operation, usize::from(operation.bytes), &mut generator(seed, run))
}

/// The number of a run that warms, the first one 0.
pub(crate) fn warm_up_run(number: u32) -> u32 {
    u32::MAX - number
}

/// Checks one operation. `case` gives the inputs of each run, `accepted` the dependences that are
/// accepted.
///
/// # Errors
/// A fault of the model, an endless operation, inputs that do not fit, or that there are none.
pub fn check(
    subject: &Subject<'_>,
    request: &Request,
    accepted: &Accepted,
    case: &(dyn Fn(u32) -> Result<Case, LabError> + Sync),
) -> Result<ConstantTimeRow, LabError> {
    check_by(work::processors(), subject, request, accepted, case)
}

/// As [`check`], by `workers` threads.
pub(crate) fn check_by(
    workers: usize,
    subject: &Subject<'_>,
    request: &Request,
    accepted: &Accepted,
    case: &(dyn Fn(u32) -> Result<Case, LabError> + Sync),
) -> Result<ConstantTimeRow, LabError> {
    let Subject { target, clock_hz, firmware, operation, variant, checks_stack } = *subject;
    let mut bench = OperationRun::start(target, firmware, operation, clock_hz, request.max_cycles)?;
    let (mut return_to, mut cycles) = (0, 0);
    // Where nothing is compared, one run tells whether the outputs are right.
    let warm_up = if operation.rejects || request.runs == Some(1) { 1 } else { WARM_UP };
    for run in 0..warm_up {
        let measurement = bench.measure(&case(warm_up_run(run))?)?;
        if checks_stack || !measurement.verified {
            bench.check_stack(measurement.stack)?;
        }
        if !measurement.verified {
            return Ok(ConstantTimeRow::new(
                target.name(),
                &operation.name,
                variant,
                request.seed,
                Verdict::Wrong,
            ));
        }
        (return_to, cycles) = (measurement.return_to, measurement.cycles);
    }
    let runs = runs(request.runs, operation.rejects, cycles);
    let first = case(0)?;
    let case = |run| -> Result<Case, LabError> { Ok(held(case(run)?, &first, &operation.fixed)) };
    let named = if request.strict { Vec::new() } else { tables(firmware)? };
    let tables = Tables::new(named.iter().map(|(_, range)| range.clone()).collect());
    let plain = bench.fork().trace(&first, return_to, &tables)?;
    let read = named.iter().enumerate().filter(|(index, _)| plain.has_read(*index));
    let read: Vec<&str> = read.map(|(_, (name, _))| *name).collect();
    let Followed { leaks, reads } =
        dependence::find(bench.fork(), subject, &first, return_to, &tables, accepted)?;
    let other = first_other(workers, &bench, return_to, runs, &plain, &tables, &case)?;
    let is_constant = leaks.iter().all(|leak| leak.accepted.is_some());
    let unread = reads.unread();
    let verdict = match (is_constant, unread.as_slice()) {
        (false, _) => Verdict::Dependent,
        (true, []) => Verdict::Constant,
        (true, _) => Verdict::Unread,
    };
    let mut row = ConstantTimeRow {
        what: (verdict == Verdict::Unread).then(|| unread.join("; ")),
        secret_bytes: reads.bytes,
        secret_bytes_read: reads.read,
        readers: reads.readers(),
        runs,
        tables: read.join(" "),
        leaks,
        cycles: plain.cycles(),
        instructions: plain.instructions(),
        accesses: plain.accesses(),
        ..ConstantTimeRow::new(target.name(), &operation.name, variant, request.seed, verdict)
    };
    let Some((run, other)) = other else { return Ok(row) };
    // The part that the two have in common up to here is not compared again.
    let same = plain.checkpoints().iter().zip(other.checkpoints()).take_while(|(a, b)| a == b).count();
    let from = (same as u64).saturating_sub(1) * Trace::INTERVAL;
    let record = |case: &Case| -> Result<Record, LabError> {
        let mut record = Record::new(from, &tables);
        let end = bench.fork().observe_call(case, return_to, &mut record)?;
        record.end(end);
        Ok(record)
    };
    let found = finding(firmware, run, &record(&first)?, &record(&case(run)?)?);
    row.verdict = Verdict::Variable;
    row.run = Some(run);
    if let Some(Finding { differs, pc, what }) = found {
        row.differs = Some(differs);
        row.pc = Some(pc);
        row.place = Some(firmware.place(pc).trim_start_matches(" in ").to_owned());
        row.what = Some(what);
    }
    Ok(row)
}

/// The tables of AES in a firmware, with the addresses of each; an operation without AES has none.
fn tables(firmware: &Firmware) -> Result<Vec<(&str, Range<u32>)>, LabError> {
    let marked = |name: &&String| name.strip_prefix("ws_").unwrap_or(name).starts_with(SECRET_TABLE);
    firmware
        .symbols()
        .keys()
        .filter(marked)
        .map(|name| {
            let symbol = firmware.symbol(name)?;
            Ok((name.as_str(), symbol.address..symbol.address.saturating_add(symbol.size)))
        })
        .collect()
}

/// `case` with the inputs that are to be the same in all runs, whole or, as `key+32`, from an
/// offset on. Its outputs are then no longer what is expected.
fn held(mut case: Case, first: &Case, fixed: &[InputBytes]) -> Case {
    for fixed in fixed {
        let held = first.inputs.iter().find(|(other, _)| *other == fixed.input);
        let bytes = case.inputs.iter_mut().find(|(other, _)| *other == fixed.input);
        if let (Some((_, held)), Some((_, bytes))) = (held, bytes) {
            bytes.truncate(fixed.from);
            bytes.extend(held.iter().skip(fixed.from));
        }
    }
    case
}

/// A leak with its place and the names of its secrets.
fn row_of(firmware: &Firmware, secrets: &[&str], leak: &Leak) -> LeakRow {
    let shown = secrets.iter().enumerate().filter(|(index, _)| leak.labels >> index & 1 != 0);
    // Functions that the linker left out keep their addresses, from 0 on.
    let around = firmware.function_at(leak.pc).map(|index| firmware.functions()[index].name.as_str());
    let mut inlined = firmware.inlined(leak.pc);
    if inlined.pop().as_deref() != around {
        inlined.clear();
    }
    LeakRow {
        inlined: inlined.join(" "),
        kind: leak.kind.into(),
        place: firmware.place(leak.pc).trim_start_matches(" in ").to_owned(),
        pc: leak.pc,
        secrets: shown.map(|(_, secret)| *secret).collect::<Vec<_>>().join(" "),
        times: leak.count,
    }
}

/// Returns the first run from 1 on whose trace is not the plain one; searches with `workers`
/// threads.
fn first_other(
    workers: usize,
    bench: &OperationRun<'_>,
    return_to: u32,
    runs: u32,
    plain: &Trace,
    tables: &Tables,
    case: &(dyn Fn(u32) -> Result<Case, LabError> + Sync),
) -> Result<Option<(u32, Trace)>, LabError> {
    let next = AtomicU32::new(1);
    let workers: Vec<OperationRun<'_>> = (0..workers).map(|_| bench.fork()).collect();
    let worker = |bench: OperationRun<'_>| {
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= runs {
                return Ok(None);
            }
            let trace = bench.fork().trace(&case(run)?, return_to, tables)?;
            if trace.fingerprint() != plain.fingerprint() {
                // Runs before this one are under way or done; later ones are of no interest.
                next.fetch_max(runs, Ordering::Relaxed);
                return Ok(Some((run, trace)));
            }
        }
    };
    let found: Vec<Result<Option<(u32, Trace)>, LabError>> = std::thread::scope(|scope| {
        let handles: Vec<_> = workers.into_iter().map(|bench| scope.spawn(|| worker(bench))).collect();
        let joined = handles.into_iter().map(|handle| handle.join());
        joined.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let found: Vec<Option<(u32, Trace)>> = found.into_iter().collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().min_by_key(|(run, _)| *run))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: u8, nonce: u8) -> Case {
        Case { inputs: vec![("key", vec![key; 4]), ("nonce", vec![nonce; 2])], ..Case::default() }
    }

    #[test]
    fn a_long_operation_is_run_less_often() {
        let often = |cycles| runs(None, false, cycles);
        assert_eq!(
            [0, 1_000_000, 1_010_000, 50_000_000, 80_000_000, u64::MAX].map(often),
            [200, 200, 198, 4, 3, 3]
        );
        assert_eq!(runs(Some(5), false, u64::MAX), 5);
        assert_eq!(runs(Some(5), true, 1), 1);
    }

    #[test]
    fn public_inputs_stay_as_in_the_first_run() {
        let fixed = |text: &str| InputBytes::try_from(text.to_owned()).unwrap();
        let held = |text: &str| held(of(1, 2), &of(7, 8), &[fixed(text)]).inputs;
        assert_eq!(held("nonce"), [("key", vec![1; 4]), ("nonce", vec![8; 2])]);
        assert_eq!(held("key+3"), [("key", vec![1, 1, 1, 7]), ("nonce", vec![2; 2])]);
        assert_eq!(held("aad"), of(1, 2).inputs);
    }
}
