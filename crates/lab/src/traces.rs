//! Recordings of a run beside its sums: a waveform, a trace of calls, executions of each
//! instruction. If none is asked for, the run has no observer.

mod counts;
mod coverage;
mod current;
mod events;
mod listing;
mod ppk2;
mod waveform;

pub use listing::{Listing, ListingRow};

use crate::LabError;
use crate::profile::{CallEdge, CallEvent, Profiler};
use crate::target::Target;
use counts::InstructionCounts;
use current::CurrentSamples;
use events::{TraceEvents, Track};
use firmware::Firmware;
use mcu::{ClockChange, Flow, Mcu, Observer, PinDirections, PinEdge, SleepInterval, Step};
use std::fs::File;
use std::path::{Path, PathBuf};
use waveform::Waveform;

/// Files that are wanted of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFiles {
    /// A value change dump: pins, interrupts, sleep, clock, current.
    pub vcd: Option<PathBuf>,
    /// A trace in JSON: calls, interrupts, sleep, current.
    pub events: Option<PathBuf>,
    /// The coverage of source lines, as lcov's tracefile.
    pub lcov: Option<PathBuf>,
    /// The current as samples, in a format of Nordic's Power Profiler, and their rate in Hz.
    pub current: Option<(PathBuf, u64)>,
}

impl TraceFiles {
    /// No two are the same file, and none is the firmware.
    fn check(&self, elf: &Path) -> Result<(), LabError> {
        let mut taken = vec![std::fs::canonicalize(elf).unwrap_or_else(|_| elf.into())];
        let current = self.current.as_ref().map(|(path, _)| path);
        let others = [&self.vcd, &self.events, &self.lcov].into_iter().flatten();
        for path in others.chain(current) {
            let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            if taken.contains(&file) {
                let said = "would be written over what else is asked for, or over the firmware; give each a file of its own";
                return Err(LabError::Usage(format!("{} {said}", path.display())));
            }
            taken.push(file);
        }
        Ok(())
    }
}

/// Opens a file, so that one that cannot be written is known before the run.
pub(crate) fn open_for_writing(path: &Path) -> Result<File, LabError> {
    File::create(path).map_err(|error| unwritten(path, error))
}

fn unwritten(path: &Path, error: std::io::Error) -> LabError {
    LabError::File { path: path.into(), error }
}

/// From cycles to picoseconds, at the clock that the program sets.
struct Clock {
    clocks_per_cycle: u8,
    clock_hz: u64,
    since: u64,
    since_ps: u64,
}

impl Clock {
    /// The time of a cycle, of those since the clock last changed.
    fn at(&self, cycles: u64) -> u64 {
        let clocks = u128::from(cycles.saturating_sub(self.since)) * u128::from(self.clocks_per_cycle);
        self.since_ps + (clocks * 1_000_000_000_000 / u128::from(self.clock_hz.max(1))) as u64
    }

    fn change(&mut self, change: &ClockChange) {
        self.since_ps = self.at(change.cycles);
        (self.since, self.clock_hz) = (change.cycles, change.clock_hz);
    }
}

/// Looks on while a machine runs, and writes what was asked for.
pub(crate) struct Recorder<'a> {
    firmware: &'a Firmware,
    target: &'a Target,
    supply_v: f64,
    files: &'a TraceFiles,
    clock: Clock,
    /// The latest time that was written.
    now_ps: u64,
    /// Profiler, where calls or interrupts are wanted.
    profiler: Option<Profiler<'a>>,
    waveform: Option<Waveform>,
    events: Option<TraceEvents>,
    samples: Option<CurrentSamples>,
    counts: Option<InstructionCounts>,
    lcov: Option<File>,
    /// The mode that the core is asleep in, and up to which cycle at least.
    asleep: Option<(&'static str, u64)>,
    current_ua: f64,
    /// An interrupt that began in a table of jumps: the jump says which handler it has.
    vector: Option<(u64, u32)>,
    /// Of each interrupt that is active, whether the trace has an event of its own for it: one for
    /// the handler is enough.
    interrupt_events: Vec<bool>,
}

impl<'a> Recorder<'a> {
    /// Opens the files; `None` where nothing is to be recorded. Instructions are counted for a
    /// `listing`, too.
    ///
    /// # Errors
    /// A file that cannot be written; firmware without source lines, of which coverage was asked
    /// for.
    pub fn open(
        files: &'a TraceFiles,
        listing: bool,
        target: &'a Target,
        firmware: &'a Firmware,
        machine: &dyn Mcu,
        supply_v: f64,
    ) -> Result<Option<Recorder<'a>>, LabError> {
        files.check(firmware.path())?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(open_for_writing).transpose();
        let clock_hz = machine.clock_hz();
        if files.lcov.is_some() && !firmware.has_source_lines() {
            return Err(LabError::Usage(format!(
                "--lcov: {} does not say which source line its code is from; compile it with -gdwarf-4",
                firmware.path().display()
            )));
        }
        let (vcd, events, lcov) = (open(&files.vcd)?, open(&files.events)?, open(&files.lcov)?);
        let current = match &files.current {
            Some((path, rate_hz)) => Some((open_for_writing(path)?, *rate_hz)),
            None => None,
        };
        if vcd.is_none() && events.is_none() && lcov.is_none() && current.is_none() && !listing {
            return Ok(None);
        }
        let calls = (vcd.is_some() || events.is_some()).then(|| Profiler::new(firmware, &[]).telling());
        let counts = (lcov.is_some() || listing).then(InstructionCounts::default);
        let clock = Clock { clocks_per_cycle: target.part.clocks_per_cycle, clock_hz, since: 0, since_ps: 0 };
        let mut recorder = Recorder {
            firmware,
            target,
            supply_v,
            files,
            clock,
            now_ps: 0,
            profiler: calls,
            waveform: None,
            events: events.map(|file| TraceEvents::new(file, &target.part.description)),
            samples: None,
            counts,
            lcov,
            asleep: None,
            current_ua: 0.0,
            vector: None,
            interrupt_events: Vec::new(),
        };
        recorder.current_ua = recorder.drawn_ua();
        if let (Some(file), Some(path)) = (vcd, &files.vcd) {
            let waveform = Waveform::new(file, clock_hz, recorder.current_ua);
            recorder.waveform = Some(waveform.map_err(|error| unwritten(path, error))?);
        }
        let first_ua = recorder.current_ua;
        if let (Some((file, rate_hz)), Some((path, _))) = (current, &files.current) {
            let samples = CurrentSamples::new(path, file, rate_hz, first_ua);
            recorder.samples = Some(samples.map_err(|error| unwritten(path, error))?);
        }
        if let Some(events) = &mut recorder.events {
            events.counter(0, "clock", "MHz", clock_hz as f64 / 1e6);
            events.counter(0, "current", "uA", recorder.current_ua);
        }
        Ok(Some(recorder))
    }

    /// Current of the part by the target file; the last one where the file says nothing.
    fn drawn_ua(&self) -> f64 {
        let supply = &self.target.supply;
        let clock_hz = self.clock.clock_hz as f64;
        let current_a = supply.current_a(clock_hz, self.supply_v).map(|active_a| {
            let asleep = |(mode, _)| self.target.sleeping(mode, clock_hz, self.supply_v, active_a).current_a;
            self.asleep.map_or(active_a, asleep)
        });
        // To the nanoampere: more digits are none of the data sheet's.
        current_a.map_or(self.current_ua, |current_a| (current_a * 1e9).round() / 1e3)
    }

    fn time(&mut self, cycles: u64) -> u64 {
        // A module's edge may be told a little after an instruction's that came later.
        self.now_ps = self.now_ps.max(self.clock.at(cycles));
        self.now_ps
    }

    /// The current may be another one from now on.
    fn show_current(&mut self, at_ps: u64) {
        let current_ua = self.drawn_ua();
        if current_ua == self.current_ua {
            return;
        }
        self.current_ua = current_ua;
        if let Some(waveform) = &mut self.waveform {
            waveform.current(at_ps, current_ua);
        }
        if let Some(events) = &mut self.events {
            events.counter(at_ps, "current", "uA", current_ua);
        }
        if let Some(samples) = &mut self.samples {
            samples.change(at_ps, current_ua);
        }
    }

    fn wake(&mut self) {
        let Some((_, until)) = self.asleep.take() else { return };
        let at_ps = self.time(until);
        if let Some(waveform) = &mut self.waveform {
            waveform.wake(at_ps);
        }
        if let Some(events) = &mut self.events {
            events.end(at_ps, Track::Sleep);
        }
        self.show_current(at_ps);
    }

    fn name(&self, function: Option<usize>, pc: Option<u32>) -> String {
        let function = function.map(|index| &self.firmware.functions()[index]);
        match (function, pc) {
            (Some(function), Some(pc)) if pc != function.address => {
                format!("{}+{:#x}", function.name, pc - function.address)
            }
            (Some(function), _) => function.name.clone(),
            (None, Some(pc)) => format!("{pc:#010x}"),
            (None, None) => "(unnamed)".into(),
        }
    }

    /// The interrupt that has begun is shown, if one waits for the name of its handler; since when
    /// it was.
    fn show_interrupt(&mut self, handler: Option<&str>) -> Option<u64> {
        let (at_ps, pc) = self.vector.take()?;
        let vector = self.name(self.firmware.function_at(pc), Some(pc));
        if let Some(waveform) = &mut self.waveform {
            waveform.interrupt(at_ps, handler.unwrap_or(&vector));
        }
        self.interrupt_events.push(handler.is_none());
        if let Some(events) = &mut self.events
            && handler.is_none()
        {
            events.begin(at_ps, Track::Interrupts, &vector);
        }
        Some(at_ps)
    }

    fn follow_calls(&mut self) {
        let events = self.profiler.as_mut().map_or_else(Vec::new, Profiler::take_events);
        for event in events {
            self.call_event(&event);
        }
    }

    fn call_event(&mut self, event: &CallEvent) {
        let at_ps = self.time(event.cycles);
        let track = if event.in_interrupt { Track::Interrupts } else { Track::Calls(event.task) };
        match event.edge {
            CallEdge::Interrupt { pc } => {
                self.show_interrupt(None);
                self.vector = Some((at_ps, pc));
                let begins = |function: usize| self.firmware.functions()[function].address == pc;
                if event.function.is_none_or(begins) {
                    self.show_interrupt(None);
                }
            }
            CallEdge::Call | CallEdge::TailCall => {
                let name = self.name(event.function, None);
                let handler = (event.edge == CallEdge::TailCall).then_some(name.as_str());
                let since_ps = self.show_interrupt(handler).filter(|_| handler.is_some());
                if let Some(events) = &mut self.events {
                    events.begin(since_ps.unwrap_or(at_ps), track, &name);
                }
            }
            CallEdge::Return => {
                if let Some(events) = &mut self.events {
                    events.end(at_ps, track);
                }
            }
            CallEdge::InterruptReturn => {
                self.show_interrupt(None);
                if let Some(waveform) = &mut self.waveform {
                    waveform.interrupt_return(at_ps);
                }
                if let (Some(events), Some(true)) = (&mut self.events, self.interrupt_events.pop()) {
                    events.end(at_ps, track);
                }
            }
        }
    }

    /// The instructions of a function and its lines, as far as the run went.
    pub fn listing(&self, function: usize, machine: &dyn Mcu) -> Option<Listing> {
        self.counts.as_ref().map(|counts| Listing::new(self.firmware, function, counts, machine))
    }

    /// Completes the files; the run has ended, whatever ended it.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(mut self, machine: &dyn Mcu) -> Result<(), LabError> {
        self.show_interrupt(None);
        self.wake();
        let end_ps = self.time(machine.cycles());
        let mut results = Vec::new();
        if let Some(waveform) = self.waveform {
            results.push((waveform.finish(end_ps, self.target.name()), &self.files.vcd));
        }
        if let Some(events) = self.events {
            results.push((events.finish(end_ps), &self.files.events));
        }
        if let (Some(file), Some(counts)) = (self.lcov, &self.counts) {
            results.push((coverage::write(file, self.firmware, counts), &self.files.lcov));
        }
        let current = self.files.current.clone().map(|(path, _)| path);
        if let Some(samples) = self.samples {
            results.push((samples.finish(end_ps), &current));
        }
        for (result, path) in results {
            result.map_err(|error| unwritten(path.as_deref().unwrap_or(Path::new("")), error))?;
        }
        Ok(())
    }
}

impl Observer for Recorder<'_> {
    fn step(&mut self, step: &Step) {
        if self.asleep.is_some() {
            self.wake();
        }
        if let Some(counts) = &mut self.counts {
            counts.step(step);
        }
        let Some(profiler) = &mut self.profiler else { return };
        profiler.step(step);
        self.follow_calls();
    }
    fn interrupt(&mut self, sp: u32) {
        if let Some(profiler) = &mut self.profiler {
            profiler.interrupt(sp);
        }
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.show_interrupt(None);
        let at_ps = self.time(edge.cycles);
        if let Some(waveform) = &mut self.waveform {
            waveform.pin(at_ps, edge);
        }
    }
    fn directions(&mut self, directions: &PinDirections<'_>) {
        self.show_interrupt(None);
        let at_ps = self.time(directions.cycles);
        if let Some(waveform) = &mut self.waveform {
            waveform.directions(at_ps, directions);
        }
    }
    fn sleep(&mut self, interval: &SleepInterval) {
        let mode = interval.mode;
        if let Some((asleep, until)) = &mut self.asleep
            && *asleep == mode
        {
            *until = interval.to;
            return;
        }
        self.wake();
        if let Some(profiler) = &mut self.profiler
            && interval.next.flow == Flow::InterruptReturn
        {
            profiler.step(&interval.next);
            self.follow_calls();
        }
        self.show_interrupt(None);
        let at_ps = self.time(interval.from);
        self.asleep = Some((mode, interval.to));
        if let Some(waveform) = &mut self.waveform {
            waveform.sleep(at_ps, mode);
        }
        if let Some(events) = &mut self.events {
            events.begin(at_ps, Track::Sleep, mode);
        }
        self.show_current(at_ps);
    }
    fn reset(&mut self, cycles: u64) {
        self.wake();
        self.show_interrupt(None);
        self.interrupt_events.clear();
        let at_ps = self.time(cycles);
        if let Some(profiler) = &mut self.profiler {
            profiler.pause();
        }
        if let Some(waveform) = &mut self.waveform {
            waveform.reset(at_ps);
        }
        if let Some(events) = &mut self.events {
            events.end_all(at_ps);
        }
    }
    fn clock(&mut self, change: &ClockChange) {
        self.show_interrupt(None);
        if change.clock_hz == self.clock.clock_hz {
            return;
        }
        let at_ps = self.time(change.cycles);
        self.clock.change(change);
        if let Some(waveform) = &mut self.waveform {
            waveform.clock(at_ps, change.clock_hz);
        }
        if let Some(events) = &mut self.events {
            events.counter(at_ps, "clock", "MHz", change.clock_hz as f64 / 1e6);
        }
        self.show_current(at_ps);
    }
}
