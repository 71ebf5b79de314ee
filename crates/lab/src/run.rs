//! `run`: firmware as on a board. Its output comes out at once, input goes in, its exit code comes
//! back; gdb may attach.

use crate::LabError;
use crate::debug;
use crate::energy_accuracy::EnergyAccuracy;
use crate::power_states::{ACTIVE, StateSpent, by_state};
use crate::program::{Ending, Program};
use crate::rtt;
use crate::target::Target;
use crate::traces::Recorder;
use crate::user_firmware::{UserFirmware, hand_over_remark, reservations};
use crate::workspace::Workspace;
use output::scaled;

pub use crate::program::{OpenInput, Outside, Request, run_tests};

#[derive(Debug)]
pub struct RunResult {
    /// The program's exit code; 0 where it ended without one.
    pub code: u32,
    /// End of the run, for a person.
    pub ending: String,
    /// Why it ended before the program did.
    pub failure: Option<LabError>,
    /// Cycles of the whole run.
    pub cycles: u64,
    /// The program's time, in seconds.
    pub time_s: f64,
    /// Time and energy by state; empty where the data sheet does not allow a clock that the program
    /// set at this supply.
    pub states: Vec<StateSpent>,
    /// Its supply, in volts.
    pub supply_v: f64,
    /// The memory whose currents those are.
    pub memory: String,
    /// Bound on the energy beside that of the cycles.
    pub energy_accuracy: EnergyAccuracy,
}

impl RunResult {
    /// Cost of the run by state, for a person; none where its energy is not known.
    #[must_use]
    pub fn energy_remark(&self) -> Option<String> {
        let total = |value: fn(&StateSpent) -> f64| self.states.iter().map(value).sum::<f64>();
        let (energy_j, bounded_s) = (total(|state| state.energy_j), total(|state| state.bounded_s));
        let asleep = self.states.iter().any(|state| state.state != ACTIVE);
        let spent = |state: &StateSpent| {
            let bound =
                if state.bounded_s > 0.0 { " at most, for want of its current at this clock" } else { "" };
            let StateSpent { state, time_s, current_a, energy_j, .. } = state;
            let (time, current) = (scaled(*time_s, "s"), scaled(*current_a, "A"));
            format!("{state} {time}, {current}, {}{bound}", scaled(*energy_j, "J"))
        };
        let split: Vec<String> = self.states.iter().filter(|_| asleep).map(spent).collect();
        let split = if asleep { format!(": {}", split.join("; ")) } else { String::new() };
        (energy_j > 0.0).then(|| {
            format!(
                "{}{} ({}) at {} V, code in {}{split}",
                if bounded_s > 0.0 { "at most " } else { "" },
                scaled(energy_j, "J"),
                self.energy_accuracy.energy,
                self.supply_v,
                self.memory
            )
        })
    }
}

/// Runs the firmware from reset until it ends.
///
/// # Errors
/// Errors at the beginning, as for [`crate::measure::run`]; a UART that cannot receive; a core that
/// no gdb knows.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    mut outside: Outside<'_>,
) -> Result<RunResult, LabError> {
    let UserFirmware { target, firmware, machine, supply_v, .. } = request.setup.load(workspace)?;
    let gdb = outside.gdb.take();
    let mut program = Program::new(&target, &firmware, machine, request, outside)?;
    if let Some(remark) = hand_over_remark(&target) {
        (program.say)(&remark);
    }
    if let Some(remark) = firmware.lacks() {
        (program.say)(&remark);
    }
    if let Some(remark) = rtt::defmt_remark(&firmware).filter(|_| request.ports.is_empty()) {
        (program.say)(&remark);
    }
    let mut recorder =
        Recorder::open(&request.traces, false, &target, &firmware, &*program.machine, supply_v)?;
    program.machine.board_mut().command_line = command_line(request, &target)?;
    program.machine.board_mut().take_sent();
    let Ending { code, text, failure } = match gdb {
        Some(listener) => debug::serve(&mut program, &listener)?,
        None => program.run_to_end(recorder.as_mut()),
    };
    let unwritten = recorder.and_then(|recorder| recorder.finish(&*program.machine).err());
    let failure = failure.or(unwritten);
    program.finish();
    reservations(&*program.machine, &target).iter().for_each(|said| (program.say)(said));
    let (cycles, time_s) = (program.machine.cycles(), program.seconds());
    let (machine, fetch) = (&*program.machine, target.fetch_of(&firmware));
    // A clock that is too fast for the supply is no failure of a run, but has no current.
    let states = by_state(&target, supply_v, fetch, &machine.spans()).unwrap_or_default();
    let energy_accuracy = target.energy_accuracy_at(machine.clock_hz() as f64);
    let memory = target.supply.memory_of(fetch).into();
    Ok(RunResult { code, ending: text, failure, cycles, time_s, states, supply_v, memory, energy_accuracy })
}

/// Name and arguments of the program, as it finds them by semihosting; empty without arguments.
fn command_line(request: &Request, target: &Target) -> Result<String, LabError> {
    let [first, ..] = request.arguments.as_slice() else { return Ok(String::new()) };
    if !target.part.core.is_cortex_m() {
        return Err(LabError::Usage(format!(
            "{first} is for a program that takes arguments by semihosting, which only a Cortex-M has; leave it out"
        )));
    }
    Ok(format!("{} {}", request.setup.elf.display(), request.arguments.join(" ")))
}
