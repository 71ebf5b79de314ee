//! `measure`: any ELF file for a known target, run as it is.

mod bench_inputs;
mod console;
mod ending;
pub(crate) mod flamegraph;
mod rows;

pub(crate) use ending::EndedColumns;
pub use ending::{Ended, How};
pub use rows::MeasureRow;
pub(crate) use rows::{rate, sums};

use crate::accuracy::Accuracy;
use crate::energy_accuracy::EnergyAccuracy;
use crate::origin::Provenance;
use crate::power_states::{StateSpent, by_state};
use crate::profile::Profiler;
use crate::program::Input;
use crate::region::{Region, RegionTimer};
use crate::rtt::Rtt;
use crate::target::Target;
use crate::timeline::{Clocks, Spent, Timeline, Timestamp};
use crate::traces::{Listing, Recorder, TraceFiles, open_for_writing};
use crate::user_firmware::{ClockSource, Setup, UserFirmware, hand_over_remark, reservations};
use crate::workspace::Workspace;
use crate::{LabError, pins};
use bench_inputs::BenchInputs;
use console::Console;
use ending::Ending;
use firmware::Firmware;
use mcu::{Access, ClockChange, Mcu, Observer, Pin, PinDirections, PinEdge, SleepInterval, Step, StubUse};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

/// Parameters of a measurement.
#[derive(Clone, Debug)]
pub struct Request {
    pub setup: Setup,
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
    /// File for a flame graph.
    pub flamegraph: Option<PathBuf>,
    /// Further files that are written of the run.
    pub traces: TraceFiles,
    /// The function whose instructions are listed.
    pub listing: Option<String>,
    /// A file whose bytes are sent to the program's UART, once it listens.
    pub input: Option<PathBuf>,
    /// The UART that they go to; where absent, the only one.
    pub uart: Option<String>,
}

/// A measurement's rows and how it ended.
#[derive(Debug)]
pub struct MeasureResult {
    /// The rows, in the order of time or, for sums, of own cycles.
    pub rows: Vec<MeasureRow>,
    /// The whole program, from reset to the end of the run.
    pub program: MeasureRow,
    /// Cost running and in each sleep mode.
    pub states: Vec<StateSpent>,
    /// The rows of that, where it slept.
    pub state_rows: Vec<MeasureRow>,
    /// Bounds on the rows' cycles against the part's, each once.
    pub accuracies: Vec<Accuracy>,
    /// Bounds on their energies, beside those of cycles, each once.
    pub energy_accuracies: Vec<EnergyAccuracy>,
    /// The clocks that it ran at.
    pub clocks: Clocks,
    pub clock_source: ClockSource,
    /// Cycles of the whole run.
    pub cycles: u64,
    /// Instructions of the whole run.
    pub instructions: u64,
    /// That it did not begin where the part does, for a person.
    pub beginning: Option<String>,
    /// End of the run, for a person.
    pub ending: String,
    /// The same, for a program.
    pub ended: Ended,
    /// A request that was not met, or the fault at which the model stopped; the rows count until
    /// then.
    pub failure: Option<LabError>,
    /// The stubs that the program used.
    pub stubs: Vec<StubUse>,
    /// Mistakes that were passed over and uses of stubs: for a person.
    pub reservations: Vec<String>,
    /// The lines of the flame graph, `main;caller;callee cycles`.
    pub folded: Vec<String>,
    /// The instructions of the function that was asked for.
    pub listing: Option<Listing>,
}

impl MeasureResult {
    /// Makes a failure of a program that has lost its wake-up.
    pub fn refuse_sleep(&mut self) {
        if self.ended.how != How::Asleep || self.failure.is_some() {
            return;
        }
        let why = LabError::Unfinished(format!(
            "{}; where that is how it ends, ends_asleep = true says so",
            self.ending
        ));
        self.ended.why = Some(why.to_string());
        self.failure = Some(why);
        for row in self.rows.iter_mut().chain([&mut self.program]) {
            row.ended = Some(self.ended.clone());
        }
    }

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
    /// Recorder, where something is to be recorded.
    recorder: Option<Recorder<'a>>,
    region: Option<TimedRegion>,
    console: Option<Console<'c>>,
    /// Input that has not all been sent yet.
    input: Option<Input>,
    /// RTT console, where one is shown.
    rtt: Option<Rtt>,
}

impl Watcher<'_, '_> {
    /// Sends what there is to the program's UART.
    fn send(&mut self, machine: &mut dyn Mcu) {
        if let Some(input) = &mut self.input {
            input.take_in(machine);
        }
    }

    /// Shows what the program has left in RTT's buffers.
    fn fetch(&mut self, machine: &mut dyn Mcu) {
        if let (Some(rtt), Some(console)) = (self.rtt, &mut self.console) {
            for (number, bytes) in rtt.fetch(machine) {
                bytes.into_iter().for_each(|byte| console.take(&format!("RTT.{number}"), byte));
            }
        }
    }
}

/// A watcher that records, too.
struct Recording<'w, 'a, 'c>(&'w mut Watcher<'a, 'c>);

impl Recording<'_, '_, '_> {
    fn record(&mut self, tell: impl FnOnce(&mut Recorder<'_>)) {
        if let Some(recorder) = &mut self.0.recorder {
            tell(recorder);
        }
    }
}

impl Observer for Recording<'_, '_, '_> {
    fn step(&mut self, step: &Step) {
        self.0.step(step);
        self.record(|recorder| recorder.step(step));
    }
    fn interrupt(&mut self, sp: u32) {
        self.0.interrupt(sp);
        self.record(|recorder| recorder.interrupt(sp));
    }
    fn access(&mut self, access: &Access) {
        self.0.access(access);
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.0.pin(edge);
        self.record(|recorder| recorder.pin(edge));
    }
    fn directions(&mut self, directions: &PinDirections<'_>) {
        self.record(|recorder| recorder.directions(directions));
    }
    fn sleep(&mut self, interval: &SleepInterval) {
        self.0.sleep(interval);
        self.record(|recorder| recorder.sleep(interval));
    }
    fn reset(&mut self, cycles: u64) {
        self.record(|recorder| recorder.reset(cycles));
    }
    fn clock(&mut self, change: &ClockChange) {
        self.0.clock(change);
        self.record(|recorder| recorder.clock(change));
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.0.uart(port, byte, cycles);
    }
}

/// Intervals of a region, and what each took.
struct TimedRegion {
    timer: RegionTimer,
    begun: Timestamp,
    spent: Vec<Spent>,
}

impl TimedRegion {
    fn new(region: Region) -> TimedRegion {
        TimedRegion { timer: RegionTimer::new(region), begun: Timestamp::default(), spent: Vec::new() }
    }

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
    fn sleep(&mut self, interval: &SleepInterval) {
        self.profiler.sleep(interval);
    }
    fn uart(&mut self, port: &str, byte: u8, _cycles: u64) {
        if let Some(console) = &mut self.console {
            console.take(port, byte);
        }
    }
}

/// The places of the firmware that a request names.
struct Asked {
    /// The functions whose calls are kept.
    watched: Vec<usize>,
    region: Option<Region>,
    /// Addresses that end the run.
    stop_at: Vec<u32>,
    /// The function whose instructions are listed.
    listed: Option<usize>,
}

impl Asked {
    /// Functions that the request names by their addresses get their names here.
    fn of(request: &Request, target: &Target, firmware: &mut Firmware) -> Result<Asked, LabError> {
        firmware.name_functions(&request.functions);
        firmware.name_functions(request.listing.as_slice());
        let watched: Vec<usize> =
            request.functions.iter().map(|name| firmware.function(name)).collect::<Result<_, _>>()?;
        if request.calls.is_some() && watched.is_empty() {
            return Err(LabError::Usage("--calls counts calls of --function; name one".into()));
        }
        let region = region(request, target, firmware)?;
        let stop_at = match &request.until {
            Some(name) => vec![firmware.symbol(name)?.address],
            None => Vec::new(),
        };
        let listed = request.listing.as_ref().map(|name| firmware.function(name)).transpose()?;
        Ok(Asked { watched, region, stop_at, listed })
    }
}

/// Runs the ELF file from reset and reports the counts, whatever ends the run; `interrupted` ends
/// it, too. Output of UARTs, trace port and semihosting goes to `console`, line by line, where
/// there is one.
///
/// # Errors
/// An unknown target, symbol, function, port or stub (with the nearest names); a file that is no
/// ELF file for the target; a flame graph that cannot be written.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    interrupted: &AtomicBool,
    console: Option<&mut dyn Write>,
) -> Result<MeasureResult, LabError> {
    let UserFirmware { target, mut firmware, mut machine, clock_source, supply_v } =
        request.setup.load(workspace)?;
    let Asked { watched, region, stop_at, listed } = Asked::of(request, &target, &mut firmware)?;
    let fetch = target.fetch_of(&firmware);
    let timeline = Timeline::new(&target, machine.clock_hz(), supply_v, fetch)?;
    let flamegraph = request.flamegraph.as_deref().map(open_for_writing).transpose()?;
    let recorder =
        Recorder::open(&request.traces, listed.is_some(), &target, &firmware, &*machine, supply_v)?;
    let mut watcher = Watcher {
        profiler: Profiler::new(&firmware, &watched).timed(timeline),
        recorder,
        region: region.clone().map(TimedRegion::new),
        rtt: console.as_ref().and_then(|_| Rtt::of(&firmware)),
        console: console.map(Console::new),
        input: input(request, &target, &*machine)?,
    };
    let bench = BenchInputs::of(workspace, &target, &firmware)?;
    let ending =
        ending::go(&mut *machine, &mut watcher, request, &target, stop_at, bench.as_ref(), interrupted);
    let (place, Ending { how, what, failure, .. }) = (ending.place(&firmware), ending);
    machine.finish_sending(&mut watcher);
    if let Some(console) = watcher.console.take() {
        console.finish();
    }
    let recorder = watcher.recorder.take();
    let listing = listed.zip(recorder.as_ref()).and_then(|(at, recorder)| recorder.listing(at, &*machine));
    let failure = failure.or(recorder.and_then(|recorder| recorder.finish(&*machine).err()));
    let mut rows = rows::rows(&firmware, &watcher, &watched, region.as_ref(), request.calls);
    let end = machine.cycles();
    let failure = failure.or_else(|| ending::missing_calls(request, &watcher, &watched, &rows, end));
    let failure = failure.or_else(|| ending::missing_region(request, &watcher, end));
    let mut program = rows::program(&firmware, &watcher, machine.cycles());
    let accuracies = rows::rate(rows.iter_mut().chain([&mut program]), &target, &firmware, &*machine);
    rows.extend(rows::passed_over(&*machine));
    let folded = watcher.profiler.folded();
    let drawn = flamegraph::write(flamegraph.zip(request.flamegraph.as_ref()), &folded, &target);
    let failure = failure.or(drawn.err());
    let ended = Ended { how, place: Some(place), why: failure.as_ref().map(ToString::to_string) };
    let clocks = watcher.profiler.into_timeline().end()?;
    let states = by_state(&target, supply_v, fetch, &machine.spans())?;
    let (energy_accuracies, mut state_rows) = (clocks.energy_accuracies(&target), rows::state_rows(&states));
    let provenance = Some(Provenance::new(workspace.origin(), &target.text, None, None));
    for row in rows.iter_mut().chain(&mut state_rows).chain([&mut program]) {
        row.provenance.clone_from(&provenance);
        row.power(supply_v, target.supply.memory_of(fetch), energy_accuracies.first());
        row.ended = Some(ended.clone());
        row.firmware = request.setup.elf.display().to_string();
        row.target = target.name().into();
    }
    let crystal = unused_crystal(&request.setup, &target, &clocks)?;
    let mut reservations = reservations(&*machine, &target);
    reservations.splice(0..0, firmware.lacks());
    reservations.extend(crystal.into_iter().chain(bench.map(|bench| bench.remark())));
    Ok(MeasureResult {
        rows,
        program,
        states,
        state_rows,
        accuracies,
        energy_accuracies,
        clocks,
        clock_source,
        cycles: machine.cycles(),
        instructions: machine.instructions(),
        beginning: hand_over_remark(&target),
        ending: what,
        ended,
        failure,
        stubs: machine.stub_uses(),
        reservations,
        folded,
        listing,
    })
}

/// Remark on a crystal without effect: the program stayed at a clock that is not made from it.
fn unused_crystal(setup: &Setup, target: &Target, clocks: &Clocks) -> Result<Option<String>, LabError> {
    let own = target.part.clock.as_ref().and_then(|clock| clock.crystal_hz);
    let Some(asked) = setup.crystal_hz.filter(|asked| Some(*asked) != own && clocks.changes == 0) else {
        return Ok(None);
    };
    let bad = |problem| LabError::BadFile { path: target.file(), problem };
    let without = mcu::new_clocked_machine(&target.part, None).map_err(bad)?.clock_hz();
    Ok((without == clocks.last_hz).then(|| {
        format!(
            "--crystal {} changed nothing: the program stays at {}, which is not made from it",
            hertz(asked),
            hertz(clocks.last_hz)
        )
    }))
}

fn input(request: &Request, target: &Target, machine: &dyn Mcu) -> Result<Option<Input>, LabError> {
    let Some(path) = &request.input else {
        return match request.uart {
            Some(_) => Err(LabError::Usage("--uart names where input goes: give --input, too".into())),
            None => Ok(None),
        };
    };
    let bytes = std::fs::read(path).map_err(|error| LabError::File { path: path.clone(), error })?;
    let (sender, receiver) = mpsc::channel();
    // The receiver is here.
    let _ = sender.send(bytes);
    Input::open(request.uart.as_deref(), target, machine, || Ok(receiver)).map(Some)
}

fn region(request: &Request, target: &Target, firmware: &Firmware) -> Result<Option<Region>, LabError> {
    match (&request.pin, &request.marker) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(LabError::Usage("give --pin or --marker, not both".into())),
        (Some(pin), None) => {
            let Pin { port, bit } = pins::find(pin, target)
                .map_err(|problem| LabError::Usage(format!("--pin {pin}: {problem}")))?;
            Ok(Some(Region::Pin { port, pin: bit }))
        }
        (None, Some(marker)) => {
            let number = match marker.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => marker.parse().ok(),
            };
            let address = match number {
                Some(address) => address,
                None => {
                    let address = firmware.symbol(marker)?.address;
                    if firmware.functions().iter().any(|function| function.address == address) {
                        let said = format!(
                            "--marker {marker}: it is a function, which nothing writes; name a variable"
                        );
                        return Err(LabError::Usage(said));
                    }
                    address
                }
            };
            Ok(Some(Region::Marker { address }))
        }
    }
}
