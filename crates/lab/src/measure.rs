//! `measure`: any ELF file for a known target, run as it is.

use crate::accuracy::{Accuracy, Bound};
use crate::harness::place_fault;
use crate::profile::{Call, OpenCall, Profiler};
use crate::region::{Region, RegionTimer};
use crate::target::{Target, Workspace};
use crate::timeline::{Clocks, Spent, Timeline, Timestamp};
use crate::{LabError, names};
use firmware::Firmware;
use mcu::{Access, ClockChange, Mcu, Observer, PinEdge, Step, Stop, Until, new_clocked_machine, new_machine};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What is asked of a measurement.
#[derive(Clone, Debug)]
pub struct Request {
    /// The ELF file.
    pub elf: PathBuf,
    /// The target's exact name.
    pub target: String,
    /// Functions whose calls are reported one by one; none: the sums of all functions.
    pub functions: Vec<String>,
    /// Stop when execution first comes to this symbol.
    pub until: Option<String>,
    /// Stop when the functions asked for have returned this often in all.
    pub calls: Option<u64>,
    /// `PORTB.5`: report each time this output pin is high.
    pub pin: Option<String>,
    /// A symbol or an address: report the time from each odd write to it to the next.
    pub marker: Option<String>,
    /// Stop after this many cycles.
    pub max_cycles: u64,
    /// Core clock in Hz, whatever the program sets; where absent, what the program sets, or the target's default where no table
    /// `[clock]` says what its clock is made from.
    pub clock_hz: Option<u64>,
    /// The crystal's frequency in Hz; the target's own where absent.
    pub crystal_hz: Option<u64>,
    /// Supply in volts; the target's default where absent.
    pub supply_v: Option<f64>,
    /// Go on where the program does what is a mistake, but of which it is known what the part makes of it.
    pub lenient: bool,
    /// Where to write a flame graph.
    pub flamegraph: Option<PathBuf>,
}

/// One line of a measurement: a call, a function's sums, or a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasureRow {
    /// `call`, `function` or `region`; `tolerated` for a kind of mistake that was passed over, `calls` being how often.
    pub kind: &'static str,
    /// Function name, or what brackets the region.
    pub name: String,
    /// Calls that returned; for a single call or region 1, or 0 where it did not end.
    pub calls: u64,
    /// Calls that had not returned when the run ended; what they took until then is in the other figures.
    pub not_returned: u64,
    /// Cycles since reset at which it began; absent for sums.
    pub start_cycle: Option<u64>,
    /// Cycles with everything called.
    pub inclusive_cycles: u64,
    /// How far the cycles may be from the part's; absent for what is no count of cycles.
    pub accuracy: Option<Bound>,
    /// Cycles of its own; absent for a region.
    pub exclusive_cycles: Option<u64>,
    /// Deepest stack use in bytes; absent for a region.
    pub stack_bytes: Option<u32>,
    /// Time of the inclusive cycles, in seconds.
    pub time_s: f64,
    /// Energy of the inclusive cycles at the active current, in joules.
    pub energy_j: f64,
}

impl MeasureRow {
    fn new(kind: &'static str, name: &str) -> MeasureRow {
        MeasureRow {
            kind,
            name: name.into(),
            calls: 0,
            not_returned: 0,
            start_cycle: None,
            inclusive_cycles: 0,
            accuracy: None,
            exclusive_cycles: None,
            stack_bytes: None,
            time_s: 0.0,
            energy_j: 0.0,
        }
    }
}

/// A measurement's rows and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureResult {
    /// The rows, in the order of time or, for sums, of own cycles.
    pub rows: Vec<MeasureRow>,
    /// How far the rows' cycles may be from the part's, each bound once.
    pub accuracies: Vec<Accuracy>,
    /// The clocks that it ran at.
    pub clocks: Clocks,
    /// What decided on them.
    pub clock_source: ClockSource,
    /// Cycles of the whole run.
    pub cycles: u64,
    /// Instructions of the whole run.
    pub instructions: u64,
    /// How it ended, for a person.
    pub ending: String,
    /// The lines of the flame graph, `main;caller;callee cycles`.
    pub folded: Vec<String>,
}

/// What decides on the clock of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The program, by the part's clock registers.
    Program,
    /// Who asked for the measurement, whatever the program sets.
    Request,
    /// The target's default: what its clock is made from is not known.
    Default,
}

impl MeasureResult {
    /// The clocks, for a person.
    #[must_use]
    pub fn clock_remark(&self) -> String {
        let Clocks { last_hz, slowest_hz, fastest_hz, changes } = self.clocks;
        let times = if changes == 1 { "once".into() } else { format!("{changes} times") };
        match self.clock_source {
            ClockSource::Program if changes == 0 => {
                format!("at {}, which the program leaves as it is", hertz(last_hz))
            }
            ClockSource::Program => format!(
                "the program changes the clock {times}, between {} and {}; at the end it is {}",
                hertz(slowest_hz),
                hertz(fastest_hz),
                hertz(last_hz)
            ),
            ClockSource::Request => format!("at {} as asked for, whatever the program sets", hertz(last_hz)),
            ClockSource::Default => format!(
                "at {}, the target's default: its file has no [clock] that says what the program makes of it",
                hertz(last_hz)
            ),
        }
    }
}

/// A frequency as a person says it, to the last hertz.
fn hertz(hz: u64) -> String {
    match hz {
        1_000_000.. => format!("{} MHz", hz as f64 / 1e6),
        1_000.. => format!("{} kHz", hz as f64 / 1e3),
        _ => format!("{hz} Hz"),
    }
}

struct Watcher<'a> {
    profiler: Profiler<'a>,
    region: Option<TimedRegion>,
}

/// Intervals of a region, and what each took.
struct TimedRegion {
    timer: RegionTimer,
    begun: Timestamp,
    spent: Vec<Spent>,
}

impl TimedRegion {
    /// Lets the timer see something that happened at a cycle.
    fn see(&mut self, cycles: u64, timeline: &Timeline<'_>, tell: impl FnOnce(&mut RegionTimer)) {
        let before = (self.timer.opened(), self.timer.finished().len());
        tell(&mut self.timer);
        let now = timeline.at(cycles);
        if self.timer.finished().len() > before.1 {
            self.spent.push(timeline.between(&self.begun, &now));
        }
        if self.timer.opened() != before.0 {
            self.begun = now;
        }
    }
}

impl Observer for Watcher<'_> {
    fn step(&mut self, step: &Step) {
        self.profiler.step(step);
    }
    fn access(&mut self, access: &Access) {
        if let Some(region) = &mut self.region {
            region.see(access.cycles, self.profiler.timeline(), |timer| timer.access(access));
        }
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if let Some(region) = &mut self.region {
            region.see(edge.cycles, self.profiler.timeline(), |timer| timer.pin(edge));
        }
    }
    fn clock(&mut self, change: &ClockChange) {
        self.profiler.clock(change);
    }
}

/// Cycles between two looks at whether enough calls have returned.
const LOOK_EVERY: u64 = 100_000;

/// Runs the ELF file from reset and reports.
///
/// # Errors
/// An unknown target, symbol, function or port (with the nearest names); a file that is no ELF file for the target;
/// a fault of the model; a function asked for that was never called; an `until` never reached.
pub fn run(workspace: &Workspace, request: &Request) -> Result<MeasureResult, LabError> {
    let target = workspace.target(&request.target)?;
    workspace.calibration_is_of([target.name()])?;
    let firmware = Firmware::read(&request.elf, target.part.core)?;
    let watched: Vec<usize> =
        request.functions.iter().map(|name| firmware.function(name)).collect::<Result<_, _>>()?;
    if request.calls.is_some() && watched.is_empty() {
        return Err(LabError::Usage("--calls counts calls of --function; name one".into()));
    }
    let region = region(request, &target, &firmware)?;
    let stop_at = match &request.until {
        Some(name) => vec![firmware.symbol(name)?.address],
        None => Vec::new(),
    };
    let (mut machine, clock_source) = clocked(request, &target)?;
    machine.load(firmware.image()).map_err(|fault| place_fault(&target, &firmware, fault))?;
    machine.reset();
    machine.set_lenient(request.lenient);
    let supply_v = request.supply_v.unwrap_or(target.supply.default_v);
    let timeline = Timeline::new(&target, machine.clock_hz(), supply_v)?;
    let mut watcher = Watcher {
        profiler: Profiler::new(&firmware, &watched).timed(timeline),
        region: region.clone().map(|region| TimedRegion {
            timer: RegionTimer::new(region),
            begun: Timestamp::default(),
            spent: Vec::new(),
        }),
    };

    let ending = go(&mut *machine, &mut watcher, request, stop_at)
        .map_err(|failure| failure.into_error(request, &target, &firmware))?;
    let open = watcher.profiler.open_calls();
    for (&function, name) in watched.iter().zip(&request.functions) {
        let called = watcher.profiler.totals()[function].calls > 0;
        if !called && !open.iter().any(|call| call.whole && call.function == function) {
            let cycles = machine.cycles().min(request.max_cycles);
            return Err(never_called(name, cycles));
        }
    }
    let mut rows = rows(&firmware, &watcher, &watched, region.as_ref(), request.calls);
    let mut accuracies: Vec<Accuracy> = Vec::new();
    for row in &mut rows {
        let accuracy = target.accuracy_at(code_of(&firmware, row));
        row.accuracy = Some(accuracy.cycles);
        if !accuracies.contains(accuracy) {
            accuracies.push(accuracy.clone());
        }
    }
    rows.extend(
        machine
            .tolerated()
            .iter()
            .map(|(what, count)| MeasureRow { calls: *count, ..MeasureRow::new("tolerated", what) }),
    );
    let folded = watcher.profiler.folded();
    let outcome = MeasureResult {
        rows,
        accuracies,
        clocks: watcher.profiler.into_timeline().end()?,
        clock_source,
        cycles: machine.cycles(),
        instructions: machine.instructions(),
        ending,
        folded,
    };
    if let Some(path) = &request.flamegraph {
        write_flamegraph(path, &outcome.folded, &target)?;
    }
    Ok(outcome)
}

/// The machine, clocked as the request says.
fn clocked(request: &Request, target: &Target) -> Result<(Box<dyn Mcu>, ClockSource), LabError> {
    let bad = |problem| LabError::BadFile { path: format!("targets/{}.toml", target.name()).into(), problem };
    let crystal = target.part.clock.as_ref().map(|clock| clock.crystal_hz);
    let given = match (request.clock_hz, request.crystal_hz, crystal) {
        (Some(_), Some(_), _) => {
            return Err(LabError::Usage(
                "give --clock, at which the core runs whatever the program sets, or --crystal, from which the program makes its clock"
                    .into(),
            ));
        }
        (Some(_), None, _) => ClockSource::Request,
        (None, Some(_), None | Some(None)) => {
            let said = format!(
                "{}: no crystal is modelled that its clock is made from; give --clock",
                target.name()
            );
            return Err(LabError::Usage(said));
        }
        (None, None, None) => ClockSource::Default,
        (None, _, Some(_)) => {
            let machine = new_clocked_machine(&target.part, request.crystal_hz).map_err(bad)?;
            return Ok((machine, ClockSource::Program));
        }
    };
    let point = target.operating_point(request.clock_hz, request.supply_v)?;
    Ok((new_machine(&target.part, point.clock_hz).map_err(bad)?, given))
}

enum Failure {
    Fault(mcu::Fault),
    /// The cycle limit came before `until`.
    Endless(String, u64),
}

impl Failure {
    fn into_error(self, request: &Request, target: &Target, firmware: &Firmware) -> LabError {
        match self {
            Failure::Fault(fault) => place_fault(target, firmware, fault),
            Failure::Endless(place, cycles) => LabError::Endless {
                what: format!("{} (last seen{place})", request.elf.display()),
                cycles,
                hint: match request.until {
                    Some(_) => " to the --until symbol; raise --max-cycles or choose another symbol",
                    None => "; give --until SYMBOL, --function NAME --calls N, or a larger --max-cycles",
                },
            },
        }
    }
}

fn go(
    machine: &mut dyn Mcu,
    watcher: &mut Watcher<'_>,
    request: &Request,
    addresses: Vec<u32>,
) -> Result<String, Failure> {
    let firmware = watcher.profiler.firmware();
    loop {
        let next_look = if request.calls.is_some() { machine.cycles() + LOOK_EVERY } else { u64::MAX };
        let until = Until { cycles: Some(next_look.min(request.max_cycles)), addresses: addresses.clone() };
        let stop = machine.run_observed(&until, watcher).map_err(Failure::Fault)?;
        // The last instruction, and what it was: the next run begins anew.
        watcher.profiler.step(&machine.next_step());
        let enough = request.calls.is_some_and(|calls| watcher.profiler.calls().len() as u64 >= calls);
        let place = firmware.place(machine.pc());
        match stop {
            _ if enough => return Ok("the calls asked for have returned".into()),
            Stop::Address(_) => return Ok(format!("reached{place}")),
            Stop::Halted => return Ok(format!("the program ended{place}")),
            Stop::Breakpoint => return Ok(format!("breakpoint{place}")),
            Stop::PowerLost => return Ok(format!("the supply failed{place}")),
            Stop::Cycles if machine.cycles() < request.max_cycles => {}
            // Who named functions or a region has what was measured of them, even though the program goes on.
            Stop::Cycles
                if request.until.is_none() && (!request.functions.is_empty() || watcher.region.is_some()) =>
            {
                return Ok(format!(
                    "stopped after --max-cycles {}{place}; raise it if that is too early",
                    request.max_cycles
                ));
            }
            Stop::Cycles => return Err(Failure::Endless(place, request.max_cycles)),
        }
    }
}

fn never_called(name: &str, cycles: u64) -> LabError {
    let problem = format!(
        "was not called within {cycles} cycles; raise --max-cycles, or look at the functions that were (without --function)"
    );
    LabError::Protocol { what: format!("the function '{name}'"), problem }
}

fn region(request: &Request, target: &Target, firmware: &Firmware) -> Result<Option<Region>, LabError> {
    match (&request.pin, &request.marker) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(LabError::Usage("give --pin or --marker, not both".into())),
        (Some(pin), None) => {
            let wrong =
                || LabError::Usage(format!("--pin {pin}: write it as PORT.BIT, such as PORTB.5 or GPIOD.12"));
            let (port, bit) = pin.split_once('.').ok_or_else(wrong)?;
            let bit = bit.parse().ok().filter(|&bit| bit < 32u8).ok_or_else(wrong)?;
            let ports: Vec<&str> = target
                .part
                .peripherals
                .iter()
                .filter(|peripheral| peripheral.model.ends_with("gpio"))
                .map(|peripheral| peripheral.name.as_str())
                .collect();
            if !ports.contains(&port) {
                let suggestion = names::suggestion(port, ports);
                return Err(LabError::UnknownName { what: "port", name: port.into(), suggestion });
            }
            Ok(Some(Region::Pin { port: port.into(), pin: bit }))
        }
        (None, Some(marker)) => {
            let number = match marker.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => marker.parse().ok(),
            };
            let address = match number {
                Some(address) => address,
                None => firmware.symbol(marker)?.address,
            };
            Ok(Some(Region::Marker { address }))
        }
    }
}

/// Where the code of a row lies; for a region, where the program's first function does.
fn code_of(firmware: &Firmware, row: &MeasureRow) -> u32 {
    let functions = firmware.functions();
    let function = if row.kind == "region" { Ok(0) } else { firmware.function(&row.name) };
    function.ok().and_then(|function| functions.get(function)).map_or(0, |function| function.address)
}

fn rows(
    firmware: &Firmware,
    watcher: &Watcher<'_>,
    watched: &[usize],
    region: Option<&Region>,
    wanted: Option<u64>,
) -> Vec<MeasureRow> {
    let row = |kind, name: &str, calls, start_cycle, inclusive_cycles: u64, spent: Spent| MeasureRow {
        calls,
        start_cycle,
        inclusive_cycles,
        time_s: spent.time_s,
        energy_j: spent.energy_j,
        ..MeasureRow::new(kind, name)
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
    // The run is looked at now and then; more calls than asked for may have returned since the last look.
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
        let is_open = |function: usize| open.iter().any(|call| call.function == function);
        let totals = watcher.profiler.totals().iter().enumerate();
        let mut totals: Vec<_> =
            totals.filter(|(function, total)| total.exclusive > 0 || is_open(*function)).collect();
        totals.sort_by_key(|(_, total)| std::cmp::Reverse(total.exclusive));
        rows.extend(totals.into_iter().map(|(function, total)| {
            let open: Vec<&OpenCall> = open.iter().filter(|call| call.function == function).collect();
            let outermost = open.iter().find(|call| call.outermost);
            let inclusive = total.inclusive + outermost.map_or(0, |call| call.inclusive);
            let spent = total.spent + outermost.map_or(Spent::default(), |call| call.spent);
            let open: Vec<&&OpenCall> = open.iter().filter(|call| call.whole).collect();
            MeasureRow {
                not_returned: open.len() as u64,
                exclusive_cycles: Some(total.exclusive),
                stack_bytes: Some(open.iter().fold(total.stack, |deepest, call| deepest.max(call.stack))),
                ..row("function", name(function), total.calls, None, inclusive, spent)
            }
        }));
    }
    rows
}

fn write_flamegraph(path: &Path, folded: &[String], target: &Target) -> Result<(), LabError> {
    let failed = |error| LabError::File { path: path.into(), error };
    let mut options = inferno::flamegraph::Options::default();
    options.title = format!("Cycles on {}", target.part.description);
    options.count_name = "cycles".into();
    options.font_type = "sans-serif".into();
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut svg).map_err(
        |error| LabError::BadFile { path: path.into(), problem: format!("no flame graph: {error}") },
    )?;
    std::fs::write(path, svg).map_err(failed)
}
