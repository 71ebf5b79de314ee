//! `measure`: any ELF file for a known target, run as it is.

mod console;
mod ending;
mod fuses;
mod rows;

pub use rows::MeasureRow;

use crate::accuracy::{Accuracy, Bound};
use crate::harness::place_fault;
use crate::profile::Profiler;
use crate::region::{Region, RegionTimer};
use crate::target::{Target, Workspace};
use crate::timeline::{Clocks, Spent, Timeline, Timestamp};
use crate::{LabError, names};
use console::Console;
use ending::Ending;
use firmware::Firmware;
use mcu::{Access, ClockChange, Mcu, Observer, PinEdge, Step, StubUse, new_clocked_machine, new_machine};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

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
    /// Peripherals, or blocks without a model, that get registers that remember what was written: see [`mcu::Part::stub`].
    pub stubs: Vec<String>,
    /// Where to write a flame graph.
    pub flamegraph: Option<PathBuf>,
}

/// A measurement's rows and how it ended.
#[derive(Debug)]
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
    /// What was asked for and did not come about, or what the model stopped at; the rows are what was counted until then.
    pub failure: Option<LabError>,
    /// The stubs that the program used.
    pub stubs: Vec<StubUse>,
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

struct Watcher<'a, 'c> {
    profiler: Profiler<'a>,
    region: Option<TimedRegion>,
    console: Option<Console<'c>>,
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

impl Observer for Watcher<'_, '_> {
    fn step(&mut self, step: &Step) {
        self.profiler.step(step);
    }
    fn interrupt(&mut self, sp: u32) {
        self.profiler.interrupt(sp);
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
    fn uart(&mut self, port: &str, byte: u8, _cycles: u64) {
        if let Some(console) = &mut self.console {
            console.take(port, byte);
        }
    }
}

/// Runs the ELF file from reset and reports what was counted, whatever ends the run; `interrupted` ends it, too. What the program
/// writes to its UARTs, the trace port and semihosting goes to `console`, line by line, where there is one.
///
/// # Errors
/// What the run cannot begin with: an unknown target, symbol, function, port or stub (with the nearest names); a file that is no ELF
/// file for the target; a flame graph that cannot be written.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    interrupted: &AtomicBool,
    console: Option<&mut dyn Write>,
) -> Result<MeasureResult, LabError> {
    let mut target = workspace.target(&request.target)?;
    workspace.calibration_is_of([target.name()])?;
    for name in &request.stubs {
        if !target.part.stub(name) {
            return Err(unknown_stub(name, &target));
        }
    }
    let target = target;
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
    fuses::check_signature(workspace, &target, &firmware)?;
    let (mut machine, clock_source) = clocked(request, &target)?;
    machine.load(firmware.image()).map_err(|fault| place_fault(&target, &firmware, fault))?;
    machine.reset();
    machine.set_lenient(request.lenient);
    let supply_v = request.supply_v.unwrap_or(target.supply.default_v);
    fuses::check_brown_out(&*machine, &target, supply_v)?;
    let timeline = Timeline::new(&target, machine.clock_hz(), supply_v)?;
    let flamegraph = request.flamegraph.as_deref().map(open_for_writing).transpose()?;
    let mut watcher = Watcher {
        profiler: Profiler::new(&firmware, &watched).timed(timeline),
        region: region.clone().map(|region| TimedRegion {
            timer: RegionTimer::new(region),
            begun: Timestamp::default(),
            spent: Vec::new(),
        }),
        console: console.map(Console::new),
    };

    let Ending { what, failure } =
        ending::go(&mut *machine, &mut watcher, request, &target, stop_at, interrupted);
    if let Some(console) = watcher.console.take() {
        console.finish();
    }
    let mut rows = rows::rows(&firmware, &watcher, &watched, region.as_ref(), request.calls);
    let failure =
        failure.or_else(|| ending::missing_calls(request, &watcher, &watched, &rows, machine.cycles()));
    let stubs = machine.stub_uses();
    let in_float = || target.accuracy_in_float().filter(|_| machine.computed_in_float()).cloned();
    let of_all = stubs_accuracy(&stubs).or_else(in_float);
    let mut accuracies = Vec::new();
    for row in &mut rows {
        let accuracy = of_all.as_ref().unwrap_or_else(|| target.accuracy_at(rows::code_of(&firmware, row)));
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
    rows.extend(
        stubs.iter().map(|used| MeasureRow {
            calls: used.reads + used.writes,
            ..MeasureRow::new("stub", &used.name)
        }),
    );
    let folded = watcher.profiler.folded();
    let outcome = MeasureResult {
        rows,
        accuracies,
        clocks: watcher.profiler.into_timeline().end()?,
        clock_source,
        cycles: machine.cycles(),
        instructions: machine.instructions(),
        ending: what,
        failure,
        stubs,
        folded,
    };
    if let (Some(file), Some(path)) = (flamegraph, &request.flamegraph) {
        write_flamegraph(file, path, &outcome.folded, &target)?;
    }
    Ok(outcome)
}

fn unknown_stub(name: &str, target: &Target) -> LabError {
    let part = &target.part;
    let peripherals = part.peripherals.iter().map(|spec| spec.name.as_str());
    let blocks = part.unmodelled.iter().map(|block| block.name.as_str());
    let mut suggestion = names::suggestion(name, blocks.chain(peripherals));
    suggestion.push_str("; registers without a name are written as addresses, 0x50050000-0x500503ff");
    LabError::UnknownName { what: "peripheral", name: name.into(), suggestion }
}

/// How far the cycles of a run may be off in which these stubs were used.
fn stubs_accuracy(stubs: &[StubUse]) -> Option<Accuracy> {
    let names: Vec<&str> = stubs.iter().map(|used| used.name.as_str()).collect();
    let source =
        format!("the program used registers that only remember what was written: {}", names.join(", "));
    (!stubs.is_empty()).then_some(Accuracy {
        memory: None,
        floating_point: false,
        cycles: Bound::Estimate,
        source,
    })
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

/// Opens a file, so that one that cannot be written is known before the run.
fn open_for_writing(path: &Path) -> Result<File, LabError> {
    File::create(path).map_err(|error| LabError::File { path: path.into(), error })
}

fn write_flamegraph(mut file: File, path: &Path, folded: &[String], target: &Target) -> Result<(), LabError> {
    let mut options = inferno::flamegraph::Options::default();
    options.title = format!("Cycles on {}", target.part.description);
    options.count_name = "cycles".into();
    options.font_type = "sans-serif".into();
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut svg).map_err(
        |error| LabError::BadFile { path: path.into(), problem: format!("no flame graph: {error}") },
    )?;
    file.write_all(&svg).map_err(|error| LabError::File { path: path.into(), error })
}
