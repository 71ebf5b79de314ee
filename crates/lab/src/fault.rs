//! `fault`: campaigns of fault injection over any firmware on the models.
//!
//! A run without a fault goes from reset to a good marker, and notes each instruction of a window.
//! Each fault then begins at one of them: the machine as it was there is copied, changed, and run
//! on to a marker, to its end or to a limit of cycles. A skipped instruction takes no time, and the
//! pipeline knows nothing of it. A change of a register, a flag or a word is a bit, once.

mod campaign;
mod change;
mod fault_space;
mod length;
mod markers;
mod plan;
mod pruning;
mod quiet;
mod reference;
mod replay;
mod results;
mod rows;
mod state;
mod walker;

pub use change::Model;
pub use markers::Marker;
pub use results::{Counts, Outcome};

use crate::LabError;
use crate::origin::Provenance;
use crate::program::Outside;
use crate::progress::Progress;
use crate::result_cache::Content;
use crate::user_firmware::{Setup, UserFirmware, reservations};
use crate::workspace::Workspace;
use campaign::Campaign;
use change::Layout;
use fault_space::FaultSpace;
use markers::Markers;
use plan::Plan;
use pruning::Pruning;
use reference::Reference;
use rows::{Rows, blank};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use state::State;
use std::net::TcpListener;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// A run hangs after this many times the cycles of one without a fault, and [`HANG_CYCLES`].
const HANG_TIMES: u64 = 2;
/// Room for a way that a run without a fault does not take.
const HANG_CYCLES: u64 = 50_000;
/// A campaign that takes longer says so before it begins.
const LONG: Duration = Duration::from_secs(30);

/// The instructions at which faults begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Window {
    /// The first call of this function, to its return.
    Function(String),
    /// From the first time at a symbol to the next time at another.
    Between { from: String, to: String },
    /// Cycles since reset.
    Cycles(Range<u64>),
}

/// Parameters of a campaign.
#[derive(Clone, Debug)]
pub struct Request {
    pub setup: Setup,
    pub window: Window,
    pub models: Vec<Model>,
    /// Markers at which the program withstood.
    pub good: Vec<Marker>,
    /// Markers at which the attack succeeded.
    pub bad: Vec<Marker>,
    /// The function that ends the program; where absent, `_exit`, if there is one.
    pub exit: Option<String>,
    /// Number of first and of last times of each instruction at which faults are made; where
    /// absent, at all.
    pub occurrences: Option<u64>,
    /// Number of faults that are drawn; where absent, all.
    pub sample: Option<u64>,
    /// Seed of the draw.
    pub seed: u64,
    /// Cycles after which the run without a fault ends.
    pub max_cycles: u64,
    /// Cycles after the window's start at which a run with a fault hangs.
    pub hang_cycles: Option<u64>,
    /// Runs whose outcome is known are cut short, or not made at all.
    pub prunes: bool,
    /// File that keeps what was found.
    pub state: Option<PathBuf>,
}

/// Subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// The instructions of a source line in a function.
    Line,
    /// An instruction without a source line.
    Instruction,
    /// All instructions of the window.
    Total,
}

/// Faults at a source line or an instruction, by their outcomes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultRow {
    /// Path of the firmware.
    pub firmware: String,
    /// Target name.
    pub target: String,
    /// Subject of the row; the last row is the total.
    pub kind: RowKind,
    /// Function and source line, as far as the file tells.
    pub place: String,
    /// The lowest address of its instructions.
    pub pc: u32,
    /// Its instruction as text, if it is one and a disassembler is installed.
    pub instruction: Option<String>,
    /// Faults that were injected there.
    pub faults: u64,
    /// Faults after which a good marker was met on another way.
    pub detected: u64,
    /// Faults after which a bad marker was met.
    pub bypassed: u64,
    /// Faults after which the core faulted, or the model stopped.
    pub crash: u64,
    /// Faults after which the run came to a halt or did not end.
    pub hang: u64,
    /// Faults after which the program ended at no marker.
    pub other: u64,
    /// Faults after which the run ended as without them.
    pub no_effect: u64,
    /// Addresses of the instructions to protect, separated by blanks.
    pub protect: String,
    /// ID of a fault that was bypassed, for `--replay`.
    pub example: Option<String>,
    /// False where the campaign was interrupted.
    pub complete: bool,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Results of a campaign.
#[derive(Debug)]
pub struct Injected {
    /// By source line or address, those that were bypassed first; the total last.
    pub rows: Vec<FaultRow>,
    pub counts: Counts,
    /// Instructions to protect: each bypass concerns one of them.
    pub to_protect: Vec<u32>,
    /// Faults that were chosen, and faults that there are.
    pub planned: u64,
    pub total: u64,
    /// Instructions and cycles of the window.
    pub instructions: usize,
    pub cycles: u64,
    /// End of the run without a fault, for a person.
    pub reference: String,
    /// Cycles after the window's start at which a run hung.
    pub hang_cycles: u64,
    /// Sentences on the model.
    pub reservations: Vec<String>,
    /// Why results could not be kept.
    pub unkept: Option<String>,
}

impl Injected {
    /// Returns true if all faults that were chosen were injected.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.counts.total() == self.planned
    }
}

/// A campaign about to begin.
struct Prepared {
    user: UserFirmware,
    markers: Markers,
    layout: Layout,
    reference: Reference,
    reservations: Vec<String>,
    hang_cycles: u64,
    pruning: Option<Pruning>,
}

impl Prepared {
    fn new(workspace: &Workspace, request: &Request) -> Result<Prepared, LabError> {
        let mut user = request.setup.load(workspace)?;
        if let Window::Function(name) = &request.window {
            user.firmware.name_functions(std::slice::from_ref(name));
        }
        let UserFirmware { target, firmware, machine, .. } = &user;
        let markers = Markers::new(&request.good, &request.bad, request.exit.as_deref(), firmware)?;
        let layout = Layout::of(&**machine, firmware.core());
        request.models.iter().try_for_each(|model| layout.check(*model))?;
        let record = |machine| Reference::record(request, target, firmware, &markers, machine);
        let reference = record(machine.snapshot())?;
        // A fault is told from none by the run without it.
        let again = record(request.setup.load(workspace)?.machine)?;
        if let Some(difference) = reference.difference(&again) {
            return Err(LabError::Unfinished(format!("the program is not deterministic: {difference}")));
        }
        let rest = reference.end.cycles.saturating_sub(reference.start_cycles);
        let hang_cycles = request.hang_cycles.unwrap_or(rest.saturating_mul(HANG_TIMES) + HANG_CYCLES);
        let reservations = reservations(&*reference.start(), target);
        let pruning = request.prunes.then(|| Pruning::new(&layout, &reference, &markers));
        Ok(Prepared { markers, layout, reference, reservations, hang_cycles, user, pruning })
    }

    fn campaign<'a>(&'a self, models: &'a [Model]) -> Campaign<'a> {
        Campaign {
            space: FaultSpace { reference: &self.reference, layout: &self.layout, models },
            markers: &self.markers,
            hang_cycles: self.hang_cycles,
            pruning: self.pruning.as_ref(),
            part: &self.user.target.part,
        }
    }

    /// Settings that decide on a campaign's results, by name.
    fn header(&self, request: &Request, plan: &Plan) -> Result<Map<String, Value>, LabError> {
        let elf = &request.setup.elf;
        let bytes = std::fs::read(elf).map_err(|error| LabError::File { path: elf.clone(), error })?;
        let digest = |bytes: &[u8]| format!("{:x}", Sha256::digest(bytes));
        let beside = request.setup.read_beside()?;
        let beside: Vec<_> = beside.iter().map(|(address, bytes)| (*address, digest(bytes))).collect();
        // The path is no part of it.
        let setup = Setup { elf: PathBuf::new(), beside: Vec::new(), ..request.setup.clone() };
        let Value::Object(header) = json!({
            // Another build may have other models.
            "program": Content::of_this_program()?.name(),
            "firmware": digest(&bytes),
            "loaded": beside,
            "target": digest(self.user.target.text.as_bytes()),
            "machine": format!("{setup:?}"),
            "window": format!("{:?}", request.window),
            "models": format!("{:?}", request.models),
            "good": request.good.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "bad": request.bad.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "exit": request.exit,
            "hang": self.hang_cycles,
            "occurrences": request.occurrences,
            "sample": request.sample,
            "seed": request.sample.map(|_| request.seed),
            "faults": plan.len(),
        }) else {
            unreachable!("an object")
        };
        Ok(header)
    }

    /// End of the run without a fault, as a sentence.
    fn ended(&self) -> String {
        let end = &self.reference.end;
        let met = end.met.map(|met| self.markers.name(met)).unwrap_or_default();
        format!("without a fault it meets {met} in cycle {}", end.cycles)
    }
}

/// Runs a campaign. `say` takes what a person should know before a long one begins.
///
/// # Errors
/// An unknown target, function or symbol, with the nearest names; a window that is not reached; a
/// run without a fault that is bad, meets no marker or is not deterministic.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    progress: &dyn Progress,
    say: &dyn Fn(&str),
) -> Result<Injected, LabError> {
    let prepared = Prepared::new(workspace, request)?;
    let campaign = prepared.campaign(&request.models);
    let plan = Plan::new(&campaign.space, request.occurrences, request.sample, request.seed);
    if plan.len() == 0 {
        let said = "no fault of these models is possible in the window: no instruction there reads memory";
        return Err(LabError::Unfinished(said.into()));
    }
    let state = match &request.state {
        Some(path) => Some(State::open(path, &prepared.header(request, &plan)?, &campaign.space, &plan)?),
        None => None,
    };
    let estimate = campaign.estimate(&plan);
    if estimate > LONG {
        say(&format!(
            "{} faults, in about {}; --sample N draws fewer, a shorter window or fewer models have fewer",
            output::grouped(i64::try_from(plan.len()).unwrap_or(i64::MAX)),
            output::duration(estimate.as_secs_f64())
        ));
    }
    let results = campaign.run(&plan, state.as_ref(), progress)?;
    let mut counts = Counts::default();
    results.tallies.values().for_each(|tally| counts.add(&tally.counts));
    let seed = plan.is_sample().then_some(request.seed);
    let provenance = Provenance::new(workspace.origin(), &prepared.user.target.text, None, seed);
    let to_protect = results.to_protect();
    let rows = Rows {
        firmware: &prepared.user.firmware,
        campaign: &campaign,
        to_protect: &to_protect,
        blank: FaultRow {
            firmware: request.setup.elf.display().to_string(),
            target: prepared.user.target.name().into(),
            complete: counts.total() == plan.len(),
            ..blank(provenance)
        },
    };
    Ok(Injected {
        rows: rows.of(&results),
        counts,
        to_protect: to_protect.into_iter().collect(),
        planned: plan.len(),
        total: plan.total(),
        instructions: prepared.reference.steps.len(),
        cycles: prepared.reference.window_cycles,
        reference: prepared.ended(),
        hang_cycles: prepared.hang_cycles,
        reservations: prepared.reservations.clone(),
        unkept: state.and_then(|state| state.failure()),
    })
}

/// Runs one fault by its ID, and says what happens, a line each.
///
/// # Errors
/// Those of [`run`]; an ID that the window does not have.
pub fn replay(workspace: &Workspace, request: &Request, id: &str) -> Result<String, LabError> {
    let prepared = Prepared::new(workspace, request)?;
    replay::replay(&prepared, id)
}

/// Runs one fault by its ID up to where it has been made, and lets a gdb go on from there.
///
/// # Errors
/// Those of [`replay`]; a core that no gdb knows, a port that cannot be listened to.
pub fn debug(
    workspace: &Workspace,
    request: &Request,
    id: &str,
    listener: &TcpListener,
    outside: Outside<'_>,
) -> Result<String, LabError> {
    let prepared = Prepared::new(workspace, request)?;
    replay::debug(&prepared, request, (id, listener), outside)
}
