//! A function of a user's own, without a board: compiled for each part, called with given or drawn
//! arguments, and its outputs compared with a build for the host.

mod arguments;
mod compile;
mod host;
mod numbers;
mod part;
pub mod secrets;
mod slots;
mod source;

pub use arguments::Call;

use crate::accuracy::Accuracy;
use crate::energy_accuracy::EnergyAccuracy;
use crate::origin::Provenance;
use crate::progress::{Progress, go_on};
use crate::repetition::Repetition;
use crate::row::Cycles;
use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, work};
use compile::Sources;
use firmware::kit::Kit;
use host::Found;
use numbers::Number;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use slots::{Plan, Slot};
use source::Declared;
use std::path::{Path, PathBuf};

/// Returns true if a file is one to compile, and no firmware.
#[must_use]
pub fn is_source(path: &Path) -> bool {
    compile::is_source(path)
}

/// Parameters of a measured call.
#[derive(Clone, Debug)]
pub struct Request {
    /// Sources, headers, objects and static libraries.
    pub files: Vec<PathBuf>,
    /// The call as it was written.
    pub call: String,
    /// Names, patterns or files of targets; all where there is none.
    pub targets: Vec<String>,
    /// `-I` and `-D`, for the host's compiler, too.
    pub options: Vec<String>,
    /// Further flags of the parts' compilers.
    pub flags: Vec<String>,
    /// Calls that count.
    pub runs: Repetition,
    /// Seed of what is drawn.
    pub seed: u64,
    /// Share by which floating-point outputs may differ.
    pub tolerance: f64,
    /// Core clock in Hz; each target's default where absent.
    pub clock_hz: Option<u64>,
    /// Supply in volts; each target's default where absent.
    pub supply_v: Option<f64>,
    /// Cycles after which a call counts as endless.
    pub max_cycles: u64,
}

/// A part's cost of the call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallRow {
    /// The call, as it was written.
    pub call: String,
    /// Target name.
    pub target: String,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Calls that count; one more goes before them.
    pub runs: u32,
    /// From the call to the return; absent, as all figures, where there are none.
    pub cycles: Option<Cycles>,
    /// Bound on the cycles against the part's.
    pub accuracy: Option<Accuracy>,
    /// Mean time, in seconds.
    pub time_s: Option<f64>,
    /// Mean energy, in joules.
    pub energy_j: Option<f64>,
    /// Bound on the energy against the part's, beside that of its cycles.
    pub energy_accuracy: Option<EnergyAccuracy>,
    /// The memory whose current that is.
    pub memory: Option<String>,
    /// Program memory of the function and all that it calls, in bytes.
    pub flash_bytes: Option<i64>,
    /// Their static RAM, in bytes.
    pub ram_bytes: Option<i64>,
    /// Deepest stack use, in bytes.
    pub stack_bytes: Option<u32>,
    /// SHA-256 of the outputs of the first three calls that count, by value, so that parts with the
    /// same outputs have the same.
    pub outputs: Option<String>,
    /// The outputs were compared with another build's, and equal.
    pub verified: bool,
    /// Name and version of the compiler, and its flags.
    pub compiler: String,
    /// Seed of what was drawn.
    pub seed: u64,
    /// Why there are no figures, or what is wrong with the outputs.
    pub problem: Option<String>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

impl CallRow {
    /// Without figures.
    fn new(workspace: &Workspace, request: &Request, target: &Target) -> CallRow {
        CallRow {
            call: request.call.clone(),
            target: target.name().into(),
            clock_hz: request.clock_hz.unwrap_or(target.part.default_clock_hz),
            supply_v: request.supply_v.unwrap_or(target.supply.default_v),
            runs: 0,
            cycles: None,
            accuracy: None,
            time_s: None,
            energy_j: None,
            energy_accuracy: None,
            memory: None,
            flash_bytes: None,
            ram_bytes: None,
            stack_bytes: None,
            outputs: None,
            verified: false,
            compiler: String::new(),
            seed: request.seed,
            problem: None,
            provenance: Provenance::new(workspace.origin(), &target.text, None, Some(request.seed)),
        }
    }
}

/// Rows of a call, and what is said of them.
#[derive(Debug)]
pub struct Called {
    pub rows: Vec<CallRow>,
    /// Remarks on all of it, for a person.
    pub remarks: Vec<String>,
    /// Why it was run on no part.
    pub failure: Option<String>,
}

impl Called {
    /// Rows of what did not come to be run on any part.
    fn not_begun(
        workspace: &Workspace,
        request: &Request,
        targets: &[Target],
        remarks: Vec<String>,
        error: &LabError,
    ) -> Called {
        let row = |target| {
            let problem = Some(error.to_string());
            CallRow { problem, ..CallRow::new(workspace, request, target) }
        };
        Called { rows: targets.iter().map(row).collect(), remarks, failure: Some(error.to_string()) }
    }

    /// Returns true if every part gave the right outputs.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.problem.is_none())
    }
}

/// Outputs of each run, by slot.
type Outputs = Vec<Vec<Vec<Number>>>;

/// Outputs of a part, and the bytes of an element of each slot there.
type OfPart = (Outputs, Vec<usize>);

/// Data that all parts share.
#[derive(Clone)]
struct Shared<'a> {
    workspace: &'a Workspace,
    request: &'a Request,
    call: Call,
    sources: Sources,
    plan: Plan,
    /// The program's C.
    harness: String,
    /// Sources that it includes.
    included: Vec<PathBuf>,
    /// Arguments of each run, the one that does not count first.
    inputs: Vec<Vec<Vec<Number>>>,
}

/// Compiles, runs and compares.
///
/// # Errors
/// A call that cannot be read or does not fit its function, a file that is not there, no target,
/// and what the host's compiler has to say. What goes wrong on one part is in its row.
pub fn run(workspace: &Workspace, request: &Request, progress: &dyn Progress) -> Result<Called, LabError> {
    let (targets, mut remarks) = targets(workspace, request)?;
    let folder = temporary()?;
    let (mut shared, found) = Shared::new(workspace, request, &targets, folder.path())?;
    shared.inputs = inputs(&shared.plan, request)?;
    let reference = match shared.reference(&found, folder.path(), &mut remarks) {
        Ok(reference) => reference,
        Err(error) if error.is_usage() => return Err(error),
        // What does not work on the host has a row without figures on each part.
        Err(error) => return Ok(Called::not_begun(workspace, request, &targets, remarks, &error)),
    };
    remarks.extend(shared.plan.not_compared.iter().map(|what| format!("not compared: {what}")));
    let rows = work::each(&targets, |target| {
        go_on(progress)?;
        progress.report(0, targets.len(), target.name());
        Ok(shared.row(target))
    })?;
    progress.report(targets.len(), targets.len(), "");
    let rows = shared.compared(rows, reference.as_ref());
    let drawn = shared.plan.slots.iter().any(|slot| slot.is_drawn());
    remarks.push(shared.summary(&rows, reference.is_some(), drawn));
    Ok(Called { rows, remarks, failure: None })
}

/// The targets with a compiler, and a remark on those without.
fn targets(workspace: &Workspace, request: &Request) -> Result<(Vec<Target>, Vec<String>), LabError> {
    let all = workspace.targets_with_operations(&request.targets)?;
    workspace.calibration_is_of(all.iter().map(Target::name))?;
    let (mut targets, mut remarks) = (Vec::new(), Vec::new());
    for target in all {
        if target.toolchain()?.has_c() {
            targets.push(target);
        } else {
            remarks.push(format!("{} is skipped: there is no C compiler for it", target.name()));
        }
    }
    match targets.is_empty() {
        true => Err(LabError::Usage(format!("{}; choose another --target", remarks.join("; ")))),
        false => Ok((targets, remarks)),
    }
}

fn kit(workspace: &Workspace, request: &Request, target: &Target) -> Result<Kit, LabError> {
    let point = target.operating_point(request.clock_hz, request.supply_v)?;
    Ok(Kit::build(&workspace.source(target, &point)?)?)
}

fn temporary() -> Result<tempfile::TempDir, LabError> {
    tempfile::Builder::new()
        .prefix("wattseal-call-")
        .tempdir()
        .map_err(|error| LabError::File { path: std::env::temp_dir(), error })
}

fn has_assembly(sources: &Sources) -> bool {
    let is_assembly =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("s"));
    sources.sources.iter().any(is_assembly)
}

/// Numbers of all calls together.
const MOST_NUMBERS: usize = 1 << 24;

/// Arguments of as many calls as the repetition may need, and of one that does not count.
fn inputs(plan: &Plan, request: &Request) -> Result<Vec<Vec<Vec<Number>>>, LabError> {
    let calls = request.runs.most() + 1;
    let numbers: usize = plan.slots.iter().map(|slot| slot.count).sum();
    if numbers.saturating_mul(calls) > MOST_NUMBERS {
        return Err(LabError::Usage(format!(
            "{numbers} numbers in each of {calls} calls are too many; give fewer --runs, or shorter arrays"
        )));
    }
    let mut rng = StdRng::seed_from_u64(request.seed);
    Ok((0..calls).map(|_| plan.slots.iter().map(|slot| numbers::draw(slot, &mut rng)).collect()).collect())
}

impl<'a> Shared<'a> {
    /// Reads the call and finds its function's types; the inputs are still to be drawn.
    fn new(
        workspace: &'a Workspace,
        request: &'a Request,
        targets: &[Target],
        folder: &Path,
    ) -> Result<(Shared<'a>, Found), LabError> {
        let call = Call::parse(&request.call)?;
        let sources = Sources::new(&request.files, &request.options, &request.flags)?;
        let kit = || {
            let kits = targets.iter().filter_map(|target| kit(workspace, request, target).ok());
            kits.into_iter().find(|kit| !kit.is_sdcc())
        };
        let found = host::find(&sources, &call.function, folder, kit)?;
        let plan = Plan::new(&call, &found.signature)?;
        let declared = Declared { files: &found.files, function: &call.function };
        let harness = declared.harness(&plan);
        let included: Vec<PathBuf> =
            found.files.iter().filter(|file| !sources.headers.contains(file)).cloned().collect();
        Ok((Shared { workspace, request, call, sources, plan, harness, included, inputs: Vec::new() }, found))
    }

    /// The host's outputs; none where it cannot run the function, with a remark.
    fn reference(
        &self,
        found: &Found,
        folder: &Path,
        remarks: &mut Vec<String>,
    ) -> Result<Option<Outputs>, LabError> {
        let sources = &self.sources;
        if let Some(said) = &found.not_on_host {
            let first = said.lines().find(|line| line.contains("error")).unwrap_or("");
            remarks.push(format!(
                "the host's compiler does not take it, so parts are compared with each other alone: {first}"
            ));
            return Ok(None);
        }
        if !sources.objects.is_empty() || has_assembly(sources) {
            let what = "objects, libraries and assembly are of one part";
            remarks.push(format!("{what}: outputs are compared between parts, and not with the host"));
            return Ok(None);
        }
        host::write(&folder.join(sources.named("harness")), &self.harness)?;
        let program = host::build(sources, folder, &self.call.function, &self.included)?;
        host::run(&program, &self.plan, &self.inputs).map(Some)
    }
}

impl Shared<'_> {
    /// A part's row, and its outputs where it has any.
    fn row(&self, target: &Target) -> (CallRow, OfPart) {
        let mut row = CallRow::new(self.workspace, self.request, target);
        match self.measure(target, &mut row) {
            Ok(outputs) => (row, outputs),
            Err(error) => {
                let said = error.to_string();
                let named = format!("{}: ", row.target);
                row.problem = Some(said.strip_prefix(&named).unwrap_or(&said).to_owned());
                (row, (Vec::new(), Vec::new()))
            }
        }
    }

    /// Compares the outputs of each part with the host's, or with those of the first part that has
    /// any.
    fn compared(&self, rows: Vec<(CallRow, OfPart)>, reference: Option<&Outputs>) -> Vec<CallRow> {
        let with_outputs = |(row, _): &&(CallRow, OfPart)| row.problem.is_none();
        let first =
            rows.iter().find(with_outputs).map(|(row, (outputs, _))| (row.target.clone(), outputs.clone()));
        let (name, against) = match (reference, first) {
            (Some(outputs), _) => ("the host".to_owned(), outputs.clone()),
            (None, Some(first)) => first,
            (None, None) => return rows.into_iter().map(|(row, _)| row).collect(),
        };
        let several = rows.iter().filter(with_outputs).count() > 1;
        rows.into_iter()
            .map(|(mut row, outputs)| {
                if row.problem.is_none() {
                    row.problem = self.difference(&outputs, &against, &row.target, &name);
                    row.verified = row.problem.is_none() && (reference.is_some() || several);
                }
                row
            })
            .collect()
    }

    /// The first difference between outputs, as a sentence.
    fn difference(
        &self,
        (outputs, sizes): &OfPart,
        against: &Outputs,
        target: &str,
        other: &str,
    ) -> Option<String> {
        for (run, (ours, theirs)) in outputs.iter().zip(against).enumerate() {
            for (index, slot) in self.plan.slots.iter().enumerate() {
                let (ours, theirs) = (&ours[index], &theirs[index]);
                let differs = |(ours, theirs): (&Number, &Number)| !ours.is(*theirs, self.request.tolerance);
                let Some(at) = ours.iter().zip(theirs).position(differs) else { continue };
                let element = if slot.count > 1 { format!("[{at}]") } else { String::new() };
                let call = if run == 0 { "the first call".into() } else { format!("call {}", run + 1) };
                return Some(format!(
                    "{}{element} differs: {} on {target}, {} on {other}, after {call} with seed {}{}",
                    slot.label,
                    ours[at],
                    theirs[at],
                    self.request.seed,
                    reason(slot, sizes[index], ours[at], theirs[at])
                ));
            }
        }
        None
    }

    fn summary(&self, rows: &[CallRow], with_host: bool, drawn: bool) -> String {
        let good = rows.iter().filter(|row| row.problem.is_none()).count();
        let outputs = self.plan.slots.iter().filter(|slot| slot.is_output).count();
        let compared = match (outputs, with_host, rows.len()) {
            (0, ..) => "it has no outputs to compare".to_owned(),
            (_, true, _) => format!("outputs equal to the host's on {good} of {} parts", rows.len()),
            (_, false, 1) => "outputs compared with nothing".to_owned(),
            (_, false, _) => format!("outputs equal on {good} of {} parts", rows.len()),
        };
        let seed = match drawn {
            true => format!("arguments drawn with --seed {}; ", self.request.seed),
            false => String::new(),
        };
        let tolerance = match self.request.tolerance {
            0.0 => String::new(),
            share => format!(", floating-point numbers within a share of {share}"),
        };
        format!("{seed}{compared}{tolerance}")
    }
}

/// The explanation of a difference, where there is one.
fn reason(slot: &Slot, bytes: usize, ours: Number, theirs: Number) -> String {
    let spelled = &slot.spelled;
    match (ours, theirs) {
        (Number::Float(_), _) if bytes != slot.scalar.host_bytes() => {
            format!("; {spelled} has {bytes} bytes there; --tolerance 1e-6 lets it differ by such a share")
        }
        (Number::Float(_), _) if ours.is(theirs, 1e-3) => {
            "; --tolerance 1e-6 lets it differ by such a share".into()
        }
        (Number::Integer(_), _) if numbers::encoded(theirs, bytes, false).is_none() => {
            format!("; {spelled} has {bytes} bytes there, and {} on the host", slot.scalar.host_bytes())
        }
        _ => String::new(),
    }
}
