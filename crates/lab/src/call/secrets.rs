//! `ct --call`: the check of a user's own function for constant time, built in several ways for
//! each part. The call is an operation whose inputs are its arguments, so that [`crate::ct`] checks
//! it.

use super::arguments::Call;
use super::numbers::{Number, draw, encoded};
use super::part::Built;
use super::slots::Slot;
use super::source::{GUARD, GUARD_BYTE};
use super::{Outputs, Request, Shared, targets, temporary};
use crate::ct::{self, Accepted, ConstantTimeRow, Subject, Verdict, WARM_UP, generator, warm_up_run};
use crate::operations::{InputBytes, Operation};
use crate::origin::Provenance;
use crate::progress::{Progress, go_on};
use crate::reference::Case;
use crate::repetition::Repetition;
use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, names, work};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Calls, with the builds and parts that they are checked on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Sources, headers, objects and static libraries.
    pub files: Vec<PathBuf>,
    /// `-I` and `-D`, for the host's compiler, too.
    #[serde(default)]
    pub options: Vec<String>,
    /// Names, patterns or files of targets; all where there is none.
    #[serde(default)]
    pub targets: Vec<String>,
    #[serde(rename = "call")]
    pub calls: Vec<SecretCall>,
    #[serde(rename = "build")]
    pub builds: Vec<Variant>,
}

/// A call and its secret arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretCall {
    /// The call, as for `measure --call`.
    pub call: String,
    /// Secret arguments: their names, or their places from 0 on.
    pub secret: Vec<String>,
}

/// A way to build it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name of its rows.
    pub name: String,
    /// The C compiler's command; each part's own where absent.
    pub compiler: Option<String>,
    /// Flags behind `-O2`.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl Matrix {
    /// Reads a file, whose paths are relative to it.
    ///
    /// # Errors
    /// [`LabError::File`], and [`LabError::BadFile`] with what is wrong.
    pub fn read(path: &Path) -> Result<Matrix, LabError> {
        let text =
            std::fs::read_to_string(path).map_err(|error| LabError::File { path: path.into(), error })?;
        let bad = |problem: String| LabError::BadFile { path: path.into(), problem };
        let mut matrix: Matrix = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if matrix.calls.is_empty() || matrix.builds.is_empty() {
            return Err(bad("it needs a [[call]] and a [[build]]".into()));
        }
        let mut seen: Vec<&str> = matrix.builds.iter().map(|build| build.name.as_str()).collect();
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(bad(format!("two builds have the name '{}'", pair[0])));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        matrix.files.iter_mut().for_each(|file| *file = folder.join(&*file));
        for option in &mut matrix.options {
            if let Some(include) = option.strip_prefix("-I") {
                *option = format!("-I{}", folder.join(include).display());
            }
        }
        Ok(matrix)
    }

    /// The parameters of a call, built in a way.
    fn request(&self, call: &SecretCall, build: &Variant, check: &ct::Request) -> Request {
        Request {
            files: self.files.clone(),
            call: call.call.clone(),
            targets: self.targets.clone(),
            options: self.options.clone(),
            flags: build.flags.clone(),
            runs: Repetition::Exactly(1),
            seed: check.seed,
            tolerance: 0.0,
            clock_hz: None,
            supply_v: None,
            max_cycles: check.max_cycles,
        }
    }
}

/// A call in one of its builds.
struct Cell<'a> {
    shared: Shared<'a>,
    build: &'a Variant,
    /// Places of the secret arguments.
    secrets: Vec<usize>,
    /// The host's outputs of the runs that warm; none where it has none.
    reference: Option<Outputs>,
}

/// Checks every call in every build on every part, and hands each row on as it is made, until no
/// more are wanted. Rows come by part, then by call, then by build. Returns remarks, too.
///
/// # Errors
/// A call that cannot be read or does not fit its function, a file that is not there, no target.
/// What goes wrong on one part is in its row.
pub fn run_each(
    workspace: &Workspace,
    matrix: &Matrix,
    check: &ct::Request,
    progress: &dyn Progress,
    mut take: impl FnMut(&ConstantTimeRow) -> ControlFlow<()>,
) -> Result<(Vec<ConstantTimeRow>, Vec<String>), LabError> {
    let pairs = matrix.calls.iter().flat_map(|call| matrix.builds.iter().map(move |build| (call, build)));
    let requests: Vec<_> =
        pairs.map(|(call, build)| (call, build, matrix.request(call, build, check))).collect();
    let (targets, mut remarks) = targets(workspace, &requests[0].2)?;
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for (call, build, request) in &requests {
        let known = cells.iter().find(|cell| cell.shared.request.call == call.call);
        let mut cell = match known {
            Some(cell) => Cell {
                shared: Shared { request, ..cell.shared.clone() },
                reference: cell.reference.clone(),
                secrets: cell.secrets.clone(),
                build,
            },
            None => Cell::new(workspace, request, call, build, &targets, &mut remarks)?,
        };
        cell.shared.sources.flags.clone_from(&build.flags);
        cell.shared.sources.compiler.clone_from(&build.compiler);
        cells.push(cell);
    }
    let (total, mut rows) = (targets.len() * cells.len(), Vec::new());
    for target in &targets {
        for cell in &cells {
            go_on(progress)?;
            let what = format!("{} {} {}", target.name(), cell.shared.call.function, cell.build.name);
            progress.report(rows.len(), total, &what);
            let row = cell.row(target, check);
            let more = take(&row);
            rows.push(row);
            if more.is_break() {
                return Ok((rows, remarks));
            }
        }
    }
    progress.report(total, total, "");
    Ok((rows, remarks))
}

impl<'a> Cell<'a> {
    fn new(
        workspace: &'a Workspace,
        request: &'a Request,
        call: &SecretCall,
        build: &'a Variant,
        targets: &[Target],
        remarks: &mut Vec<String>,
    ) -> Result<Cell<'a>, LabError> {
        let folder = temporary()?;
        let (mut shared, found) = Shared::new(workspace, request, targets, folder.path())?;
        let secrets = call.secret.iter().map(|name| argument(&shared.call, &found.signature.names, name));
        let secrets: Vec<usize> = secrets.collect::<Result<_, _>>()?;
        if secrets.is_empty() {
            return Err(LabError::Usage(format!("{}: name a secret argument of it", call.call)));
        }
        shared.inputs = (0..WARM_UP).map(|run| shared.draw(request.seed, warm_up_run(run))).collect();
        let reference = shared.reference(&found, folder.path(), remarks)?;
        if reference.is_none() {
            remarks.push(format!("outputs of {} are compared with nothing", shared.call.function));
        }
        Ok(Cell { shared, build, secrets, reference })
    }

    /// The row of a part.
    fn row(&self, target: &Target, check: &ct::Request) -> ConstantTimeRow {
        let Cell { shared, build, .. } = self;
        let new = |verdict| {
            ConstantTimeRow::new(target.name(), &shared.call.function, &build.name, check.seed, verdict)
        };
        let origin = shared.workspace.origin();
        let provenance = |compiler| Provenance::new(origin, &target.text, compiler, Some(check.seed));
        let built = match shared.build(target) {
            Ok(built) => built,
            Err(error) => {
                let what = Some(error.to_string());
                return ConstantTimeRow { what, provenance: Some(provenance(None)), ..new(Verdict::Failed) };
            }
        };
        let provenance = Some(provenance(Some(built.compiler_and_flags())));
        match self.checked(target, &built, check) {
            Ok(row) => {
                let is_uncompared = row.verdict == Verdict::Constant && !self.is_compared();
                let verdict = if is_uncompared { Verdict::Uncompared } else { row.verdict };
                ConstantTimeRow { verdict, provenance, ..row }
            }
            Err(error) => {
                ConstantTimeRow { what: Some(error.to_string()), provenance, ..new(Verdict::Failed) }
            }
        }
    }

    /// Returns true if the host gave outputs to compare with.
    fn is_compared(&self) -> bool {
        self.reference.is_some() && self.shared.plan.slots.iter().any(|slot| slot.is_output)
    }

    fn checked(
        &self,
        target: &Target,
        built: &Built,
        check: &ct::Request,
    ) -> Result<ConstantTimeRow, LabError> {
        let Cell { shared, build, secrets, reference } = self;
        let layout = Layout {
            sizes: shared.sizes(target, built)?,
            names: shared.plan.slots.iter().map(|slot| name(slot)).collect(),
            big_endian: target.part.core.is_big_endian(),
        };
        let mut operation = Operation::of_call(&shared.call.function, &built.measured);
        let mut named = BTreeMap::new();
        for ((slot, name), size) in shared.plan.slots.iter().zip(&layout.names).zip(&layout.sizes) {
            if slot.content.is_none() {
                continue;
            }
            let guard = if slot.is_guarded { GUARD } else { 0 };
            let bytes = InputBytes { input: (*name).into(), from: guard, length: Some(size * slot.count) };
            if !secrets.iter().any(|secret| is_of(slot, *secret)) {
                operation.fixed.push(InputBytes { from: 0, length: None, ..bytes });
                continue;
            }
            operation.by_value |= !slot.is_guarded;
            named.insert(slot.label.clone(), bytes);
        }
        operation.secret = named;
        let subject = Subject {
            target,
            clock_hz: built.point.clock_hz,
            firmware: &built.firmware,
            operation: &operation,
            variant: &build.name,
            checks_stack: true,
        };
        let case = |run| {
            let expected = (0..WARM_UP).find(|number| warm_up_run(*number) == run);
            let outputs = reference.as_ref().and_then(|outputs| Some(&outputs[expected? as usize]));
            shared.case(&layout, &shared.draw(check.seed, run), outputs)
        };
        ct::check_by(work::processors(), &subject, check, &Accepted::default(), &case)
    }
}

/// The place of an argument, by its name or its number from 0 on.
fn argument(call: &Call, parameters: &[String], given: &str) -> Result<usize, LabError> {
    let count = call.arguments.len();
    if let Ok(place) = given.parse::<usize>() {
        return match place < count {
            true => Ok(place),
            false => Err(LabError::Usage(format!(
                "{} has no argument {given}: they are 0 to {}",
                call.function,
                count.saturating_sub(1)
            ))),
        };
    }
    let place = parameters.iter().take(count).position(|name| name == given);
    place.ok_or_else(|| {
        let known = parameters.iter().map(String::as_str).filter(|name| !name.is_empty());
        LabError::UnknownName {
            what: "argument",
            name: given.into(),
            suggestion: names::suggestion(given, known),
        }
    })
}

/// Returns true if a slot is an argument's, or of a member of it.
fn is_of(slot: &Slot, argument: usize) -> bool {
    let rest = slot.symbol.strip_prefix(&format!("ws_bench_a{argument}"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// A slot's name in a case. It lives as long as the program, as the names of all cases do.
fn name(slot: &Slot) -> &'static str {
    slot.symbol.strip_prefix("ws_bench_").unwrap_or(&slot.symbol).to_owned().leak()
}

/// Slots of a call on a part.
struct Layout {
    /// Bytes of an element of each.
    sizes: Vec<usize>,
    names: Vec<&'static str>,
    big_endian: bool,
}

impl Shared<'_> {
    /// Draws the arguments of a run.
    fn draw(&self, seed: u64, run: u32) -> Vec<Vec<Number>> {
        let mut rng = generator(seed, run);
        self.plan.slots.iter().map(|slot| draw(slot, &mut rng)).collect()
    }

    /// A case of these arguments, with the outputs that they should give.
    fn case(
        &self,
        layout: &Layout,
        inputs: &[Vec<Number>],
        outputs: Option<&Vec<Vec<Number>>>,
    ) -> Result<Case, LabError> {
        let mut case = Case::default();
        for (index, slot) in self.plan.slots.iter().enumerate() {
            let bytes = |numbers: &[Number]| bytes_of(slot, layout.sizes[index], layout.big_endian, numbers);
            if slot.content.is_some() {
                case.inputs.push((layout.names[index], bytes(&inputs[index])?));
            }
            if let Some(outputs) = outputs.filter(|_| slot.is_output) {
                case.outputs.push((layout.names[index], bytes(&outputs[index])?));
            }
        }
        Ok(case)
    }
}

/// The bytes of a slot with its guards.
fn bytes_of(slot: &Slot, size: usize, big_endian: bool, numbers: &[Number]) -> Result<Vec<u8>, LabError> {
    let guard = if slot.is_guarded { &[GUARD_BYTE; GUARD][..] } else { &[] };
    let mut bytes = guard.to_vec();
    for number in numbers {
        let fits = encoded(*number, size, big_endian);
        bytes.extend(fits.ok_or_else(|| {
            let Slot { label, spelled, .. } = slot;
            LabError::Unfinished(format!(
                "{label}: {number} does not fit into {spelled}, which has {size} bytes here"
            ))
        })?);
    }
    bytes.extend(guard);
    Ok(bytes)
}
