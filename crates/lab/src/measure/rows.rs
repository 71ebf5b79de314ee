//! The rows of a measurement.

use super::{Ended, Watcher};
use crate::LabError;
use crate::accuracy::{Accuracy, Bound};
use crate::energy_accuracy::{EnergyAccuracy, EnergyBound};
use crate::origin::Provenance;
use crate::power_states::{ACTIVE, StateSpent};
use crate::profile::{Call, OpenCall, Profiler, Total};
use crate::region::Region;
use crate::target::Target;
use crate::timeline::{Spent, Timestamp};
use firmware::Firmware;
use mcu::{Mcu, StubUse};
use serde::Serialize;
use std::path::Path;

/// The name of the row of the whole program.
const PROGRAM: &str = "(program)";

/// One line of a measurement: a call, a function's sums, or a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasureRow {
    /// The ELF file, as it was given.
    pub firmware: String,
    /// Its target.
    pub target: String,
    /// `call`, `function` or `region`; `program` for all of it, from reset to the end of the run.
    /// `state` for the cost running and in each sleep mode, named by `name`, of a program that
    /// slept. `tolerated` for a kind of mistake that was passed over, and `stub` for a block of
    /// registers without a model; `calls` counts them.
    pub kind: &'static str,
    /// Function name, or what brackets the region.
    pub name: String,
    /// Calls that returned; for a single call or region 1, or 0 where it did not end.
    pub calls: u64,
    /// Calls that had not returned when the run ended; what they took until then is in the other
    /// figures.
    pub not_returned: u64,
    /// Cycles since reset at which it began; absent for sums.
    pub start_cycle: Option<u64>,
    /// Cycles with everything called.
    pub inclusive_cycles: u64,
    /// Bound on the cycles against the part's; absent for rows that count no cycles.
    pub accuracy: Option<Bound>,
    /// Cycles of its own; absent for a region.
    pub exclusive_cycles: Option<u64>,
    /// Deepest stack use in bytes; absent for a region.
    pub stack_bytes: Option<u32>,
    /// Bytes of code, constants and initial values; only of a program.
    pub flash_bytes: Option<i64>,
    /// Bytes of initialised and zeroed data; only of a program.
    pub ram_bytes: Option<i64>,
    /// Time of the inclusive cycles, in seconds.
    pub time_s: f64,
    /// Energy of the inclusive cycles, in joules: at the active current, and asleep at that of the
    /// sleep mode.
    pub energy_j: f64,
    /// Mean current meanwhile, in amperes.
    pub current_a: f64,
    /// Bound on the energy against the part's, beside that of the cycles; absent for rows that
    /// count no cycles.
    pub energy_accuracy: Option<EnergyBound>,
    /// The supply of that, in volts; absent for a program that could not be run.
    pub supply_v: Option<f64>,
    /// The memory whose current that is: the data sheet's for code that executes from there.
    pub memory: String,
    /// Of the time, what the core slept, in seconds.
    pub asleep_s: f64,
    /// Of the energy, what it took asleep, in joules.
    pub asleep_j: f64,
    /// Of the time asleep, what the target file has no current for at the clock, in seconds:
    /// counted at an upper bound, so that the energy is one, too.
    pub bounded_s: f64,
    /// End of the row's run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Origin of the figures; absent of a program that could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

impl MeasureRow {
    pub(super) fn new(kind: &'static str, name: &str) -> MeasureRow {
        MeasureRow {
            firmware: String::new(),
            target: String::new(),
            kind,
            name: name.into(),
            calls: 0,
            not_returned: 0,
            start_cycle: None,
            inclusive_cycles: 0,
            accuracy: None,
            exclusive_cycles: None,
            stack_bytes: None,
            flash_bytes: None,
            ram_bytes: None,
            time_s: 0.0,
            energy_j: 0.0,
            current_a: 0.0,
            energy_accuracy: None,
            supply_v: None,
            memory: String::new(),
            asleep_s: 0.0,
            asleep_j: 0.0,
            bounded_s: 0.0,
            ended: None,
            provenance: None,
        }
    }

    /// The row of a state of a program.
    pub(super) fn of_state(state: &StateSpent) -> MeasureRow {
        let StateSpent { time_s, energy_j, bounded_s, .. } = *state;
        let (asleep_s, asleep_j) = if state.state == ACTIVE { (0.0, 0.0) } else { (time_s, energy_j) };
        MeasureRow { inclusive_cycles: state.cycles, ..MeasureRow::new("state", &state.state) }
            .spending(Spent { time_s, energy_j, asleep_s, asleep_j, bounded_s })
    }

    /// Says at which supply, from which memory and how true its energy is.
    pub(crate) fn power(&mut self, supply_v: f64, memory: &str, accuracy: Option<&EnergyAccuracy>) {
        self.supply_v = Some(supply_v);
        self.memory = memory.into();
        self.energy_accuracy = accuracy.filter(|_| self.is_timed()).map(|accuracy| accuracy.energy);
        self.current_a = if self.time_s > 0.0 { self.energy_j / (self.time_s * supply_v) } else { 0.0 };
    }

    /// Returns true if it is of cycles, and no remark.
    fn is_timed(&self) -> bool {
        self.accuracy.is_some() || self.kind == "state"
    }

    /// The same, with what it took.
    fn spending(self, spent: Spent) -> MeasureRow {
        let Spent { time_s, energy_j, asleep_s, asleep_j, bounded_s } = spent;
        MeasureRow { time_s, energy_j, asleep_s, asleep_j, bounded_s, ..self }
    }

    /// The row of a program that could not be run.
    #[must_use]
    pub fn not_begun(firmware: &Path, target: &str, why: &LabError) -> MeasureRow {
        MeasureRow {
            firmware: firmware.display().to_string(),
            target: target.into(),
            ended: Some(Ended::not_begun(why)),
            ..MeasureRow::new("program", PROGRAM)
        }
    }
}

/// Rows of what the model passed over: mistakes that it tolerates, and stubs.
pub(super) fn passed_over(machine: &dyn Mcu) -> impl Iterator<Item = MeasureRow> {
    let row =
        |calls: u64, kind: &'static str, what: &str| MeasureRow { calls, ..MeasureRow::new(kind, what) };
    let tolerated = machine.tolerated().into_iter();
    let tolerated = tolerated.map(move |(what, count)| row(count, "tolerated", what));
    let stubs = machine.stub_uses().into_iter();
    tolerated.chain(stubs.map(move |used| row(used.reads + used.writes, "stub", &used.name)))
}

/// A row for each state of the part; none where it was active throughout.
pub(super) fn state_rows(states: &[StateSpent]) -> Vec<MeasureRow> {
    if states.iter().all(|state| state.state == ACTIVE) {
        return Vec::new();
    }
    states.iter().map(MeasureRow::of_state).collect()
}

/// The row of the whole program, from reset to the end of the run.
pub(super) fn program(firmware: &Firmware, watcher: &Watcher<'_, '_>, cycles: u64) -> MeasureRow {
    let timeline = watcher.profiler.timeline();
    let spent = timeline.between(&Timestamp::default(), &timeline.at(cycles));
    let footprint = firmware.footprint();
    let returned = watcher.profiler.totals().iter().map(|total| total.stack);
    let open = watcher.profiler.open_calls();
    let stack = returned.chain(open.iter().map(|call| call.stack)).max();
    MeasureRow {
        calls: 1,
        inclusive_cycles: cycles,
        stack_bytes: stack,
        flash_bytes: Some(footprint.flash),
        ram_bytes: firmware.has_sections().then_some(footprint.ram),
        ..MeasureRow::new("program", PROGRAM)
    }
    .spending(spent)
}

/// Address of a row's code; for a region or the program, that of its first function.
fn code_of(firmware: &Firmware, row: &MeasureRow) -> u32 {
    let functions = firmware.functions();
    let function =
        if matches!(row.kind, "region" | "program") { Ok(0) } else { firmware.function(&row.name) };
    function.ok().and_then(|function| functions.get(function)).map_or(0, |function| function.address)
}

/// The rows of what was watched; of calls no more than were wanted.
pub(super) fn rows(
    firmware: &Firmware,
    watcher: &Watcher<'_, '_>,
    watched: &[usize],
    region: Option<&Region>,
    wanted: Option<u64>,
) -> Vec<MeasureRow> {
    let row = |kind, name: &str, calls, start_cycle, inclusive_cycles: u64, spent: Spent| {
        MeasureRow { calls, start_cycle, inclusive_cycles, ..MeasureRow::new(kind, name) }.spending(spent)
    };
    let name = |function: usize| firmware.functions()[function].name.as_str();
    let mut rows = Vec::new();
    if let (Some(timed), Some(region)) = (&watcher.region, region) {
        let name = match region {
            Region::Pin { port, pin } => format!("{port}.{pin}"),
            Region::Marker { address } => format!("{address:#x}"),
        };
        let intervals = timed.timer.finished().iter().zip(&timed.spent);
        rows.extend(
            intervals.map(|(interval, spent)| {
                row("region", &name, 1, Some(interval.start), interval.cycles, *spent)
            }),
        );
    }
    let open = watcher.profiler.open_calls();
    let mut calls: Vec<Call> = watcher.profiler.calls().to_vec();
    // The run is looked at now and then; more calls than asked for may have returned since the last
    // look.
    let wanted = wanted.map_or(usize::MAX, |calls| usize::try_from(calls).unwrap_or(usize::MAX));
    calls.truncate(wanted);
    calls.sort_by_key(|call| call.start);
    let missing = wanted - calls.len();
    rows.extend(calls.iter().map(|call| MeasureRow {
        exclusive_cycles: Some(call.exclusive),
        stack_bytes: Some(call.stack),
        ..row("call", name(call.function), 1, Some(call.start), call.inclusive, call.spent)
    }));
    let of_watched = open.iter().filter(|call| call.whole && watched.contains(&call.function));
    rows.extend(of_watched.take(missing).map(|call| MeasureRow {
        not_returned: 1,
        exclusive_cycles: Some(call.exclusive),
        stack_bytes: Some(call.stack),
        ..row("call", name(call.function), 0, Some(call.start), call.inclusive, call.spent)
    }));
    rows.sort_by_key(|row| row.start_cycle);
    if watched.is_empty() && region.is_none() {
        rows.extend(sums(firmware, &watcher.profiler));
    }
    rows
}

/// A row for each function that was executed, by own cycles.
pub(crate) fn sums(firmware: &Firmware, profiler: &Profiler<'_>) -> Vec<MeasureRow> {
    let open = profiler.open_calls();
    let is_open = |function: usize| open.iter().any(|call| call.function == function);
    let totals = profiler.totals().iter().enumerate();
    let mut totals: Vec<_> =
        totals.filter(|(function, total)| total.exclusive > 0 || is_open(*function)).collect();
    totals.sort_by_key(|(_, total)| std::cmp::Reverse(total.exclusive));
    let row = |(function, total): (usize, &Total)| {
        let open: Vec<&OpenCall> = open.iter().filter(|call| call.function == function).collect();
        let outermost = open.iter().find(|call| call.outermost);
        let spent = total.spent + outermost.map_or(Spent::default(), |call| call.spent);
        let whole = || open.iter().filter(|call| call.whole);
        MeasureRow {
            calls: total.calls,
            not_returned: whole().count() as u64,
            inclusive_cycles: total.inclusive + outermost.map_or(0, |call| call.inclusive),
            exclusive_cycles: Some(total.exclusive),
            stack_bytes: Some(whole().fold(total.stack, |deepest, call| deepest.max(call.stack))),
            ..MeasureRow::new("function", &firmware.functions()[function].name)
        }
        .spending(spent)
    };
    totals.into_iter().map(row).collect()
}

/// Says of each row how far its cycles may be off, and gives each bound once.
pub(crate) fn rate<'r>(
    rows: impl IntoIterator<Item = &'r mut MeasureRow>,
    target: &Target,
    firmware: &Firmware,
    machine: &dyn Mcu,
) -> Vec<Accuracy> {
    let in_float = || target.accuracy_in_float().filter(|_| machine.computed_in_float()).cloned();
    let by_dma = || machine.moved_by_dma().then(dma_accuracy);
    let uncached = || target.accuracy_uncached().filter(|_| machine.is_uncached()).cloned();
    let of_all = stubs_accuracy(&machine.stub_uses()).or_else(by_dma).or_else(in_float).or_else(uncached);
    let mut accuracies = Vec::new();
    for row in rows {
        let accuracy = of_all.as_ref().unwrap_or_else(|| target.accuracy_at(code_of(firmware, row)));
        row.accuracy = Some(accuracy.cycles);
        if !accuracies.contains(accuracy) {
            accuracies.push(accuracy.clone());
        }
    }
    accuracies
}

/// Bound on the cycles of a run in which these stubs were used.
fn stubs_accuracy(stubs: &[StubUse]) -> Option<Accuracy> {
    let names: Vec<&str> = stubs.iter().map(|used| used.name.as_str()).collect();
    let source =
        format!("the program used registers that only remember what was written: {}", names.join(", "));
    (!stubs.is_empty()).then(|| Accuracy::estimate(source))
}

/// Bound on the cycles of a run in which a DMA controller moved data.
fn dma_accuracy() -> Accuracy {
    let source = "a DMA controller moved data; for how long it and the core keep each other waiting was not compared with silicon";
    Accuracy::estimate(source.into())
}
