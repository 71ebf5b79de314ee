//! `bench`: what each operation costs on each target, every output verified.

use crate::elf::{Firmware, Symbol};
use crate::firmware::{self, Build};
use crate::operations::{Catalogue, Operation, VARIANTS};
use crate::profile::{Call, Place, Profiler};
use crate::reference::{Case, random_case};
use crate::target::{House, OperatingPoint, Target};
use crate::{LabError, names, work};
use mcu::{Mcu, NoObserver, Observer, Step, Stop, Tables, Trace, Until, new_machine};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is asked of the bench.
#[derive(Clone, Debug)]
pub struct Request {
    /// Patterns of targets; all where empty.
    pub targets: Vec<String>,
    /// Patterns of operations; all where empty.
    pub operations: Vec<String>,
    /// Patterns of variants; all where empty.
    pub variants: Vec<String>,
    /// Message bytes; each operation's own default where absent.
    pub bytes: Option<u16>,
    /// Random inputs for each row; at least 1.
    pub runs: u32,
    /// Core clock in Hz; each target's default where absent.
    pub clock_hz: Option<u64>,
    /// Supply in volts; each target's default where absent.
    pub supply_v: Option<f64>,
    /// Cycles after which one operation counts as endless.
    pub max_cycles: u64,
    /// Where the random inputs begin.
    pub seed: u64,
    /// Each run starts right after start-up, with cold caches and prefetch buffers; otherwise one run that does not
    /// count goes before the others.
    pub cold: bool,
}

/// Mean, spread and range of the cycles of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cycles {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the sample (n − 1).
    pub sd: f64,
    /// Standard error of the mean, sd/√n.
    pub se: f64,
    /// Least.
    pub min: u64,
    /// Most.
    pub max: u64,
}

impl Cycles {
    /// Of one or more measurements.
    #[must_use]
    pub fn of(samples: &[u64]) -> Cycles {
        let count = samples.len() as f64;
        let mean = samples.iter().map(|&sample| sample as f64).sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|&sample| (sample as f64 - mean).powi(2)).sum();
        let sd = if samples.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let min = samples.iter().copied().min().unwrap_or(0);
        let max = samples.iter().copied().max().unwrap_or(0);
        Cycles { mean, sd, se: sd / count.sqrt(), min, max }
    }
}

/// What one operation costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Target name.
    pub target: String,
    /// Operation name.
    pub op: String,
    /// How it was built.
    pub variant: String,
    /// Message bytes.
    pub bytes: u16,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Random inputs.
    pub runs: u32,
    /// From the call to the return.
    pub cycles: Cycles,
    /// Mean time, in seconds.
    pub time_s: f64,
    /// Active power, in watts.
    pub power_w: f64,
    /// Mean energy, in joules.
    pub energy_j: f64,
    /// What linking the operation adds to the program memory, in bytes.
    pub flash_bytes: i64,
    /// What linking it adds to the static RAM, in bytes.
    pub ram_bytes: i64,
    /// Deepest stack use of the runs that were observed, in bytes: those of the first four million cycles, and at least
    /// one.
    pub stack_bytes: u32,
    /// Every output equalled the reference's.
    pub verified: bool,
}

/// Told of the progress of a bench: rows to come, rows done.
pub trait Progress: Sync {
    /// `done` of `total` rows are measured; `what` comes next or is being worked on.
    fn report(&self, done: usize, total: usize, what: &str);
}

/// One firmware image on one machine, ready for its inputs.
pub struct Bench<'a> {
    target: &'a Target,
    firmware: &'a Firmware,
    what: String,
    measure: usize,
    ready: u32,
    max_cycles: u64,
    machine: Box<dyn Mcu>,
    observed: Observed,
}

/// What the runs that were observed showed.
#[derive(Clone, Copy, Debug, Default)]
struct Observed {
    /// The last one's call of the measured function; none before the first run.
    call: Option<Call>,
    /// Cycles of all of them.
    cycles: u64,
    /// Deepest stack use of any, in bytes.
    stack: u32,
}

/// Runs are looked at step by step until they have taken so many cycles; then they only stop where the call begins and
/// where it returns, which is two to nine times as fast. One run of a long operation, all of a short one.
const OBSERVED_CYCLES: u64 = 4_000_000;

/// Stands in buffers that an operation must leave alone.
const UNTOUCHED: u8 = 0xa5;

/// What one run gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// Cycles since reset when the call instruction began.
    pub start: u64,
    /// From the call to the return.
    pub cycles: u64,
    /// Deepest stack use of this run and the observed ones before it, in bytes; a run that was not observed adds
    /// nothing.
    pub stack: u32,
    /// Where it returned to.
    pub return_to: u32,
    /// All outputs and the result were as expected.
    pub verified: bool,
}

impl<'a> Bench<'a> {
    /// Starts the firmware and runs it up to where it waits for inputs.
    ///
    /// # Errors
    /// A fault of the model, a missing symbol, or a start-up that never gets there.
    pub fn start(
        target: &'a Target,
        firmware: &'a Firmware,
        operation: &Operation,
        clock_hz: u64,
        max_cycles: u64,
    ) -> Result<Bench<'a>, LabError> {
        let mut machine = new_machine(&target.part, clock_hz).map_err(|problem| LabError::BadFile {
            path: format!("targets/{}.toml", target.name()).into(),
            problem,
        })?;
        let what = format!("{} {}", target.name(), operation.name);
        let fault = |fault: mcu::Fault| place_fault(target, firmware, fault);
        machine.load(firmware.image()).map_err(fault)?;
        machine.reset();
        let ready = firmware.functions()[firmware.function("ws_bench_ready")?].address;
        let measure = firmware.function(&operation.measure)?;
        let mut bench = Bench {
            target,
            firmware,
            what,
            measure,
            ready,
            max_cycles,
            machine,
            observed: Observed::default(),
        };
        bench.run_to(bench.ready, |machine, until| machine.run(until))?;
        Ok(bench)
    }

    /// Another one in the same state, to be run on from here independently.
    #[must_use]
    pub fn fork(&self) -> Bench<'a> {
        let machine = self.machine.snapshot();
        Bench { what: self.what.clone(), machine, ..*self }
    }

    /// The cycle at which a run that begins now counts as endless.
    fn limit(&self) -> u64 {
        self.machine.cycles().saturating_add(self.max_cycles)
    }

    /// Runs to one of `addresses` or to where inputs are waited for, and says where it is.
    fn run(&mut self, limit: u64, addresses: &[u32]) -> Result<u32, LabError> {
        let addresses = addresses.iter().copied().chain([self.ready]).collect();
        let until = Until { cycles: Some(limit), addresses };
        self.advance(&until, |machine, until| machine.run(until))
    }

    /// Runs to an address in the way that `run` says.
    fn run_to(
        &mut self,
        address: u32,
        run: impl FnOnce(&mut dyn Mcu, &Until) -> Result<Stop, mcu::Fault>,
    ) -> Result<(), LabError> {
        let until = Until { cycles: Some(self.limit()), addresses: vec![address] };
        self.advance(&until, run).map(|_| ())
    }

    fn advance(
        &mut self,
        until: &Until,
        run: impl FnOnce(&mut dyn Mcu, &Until) -> Result<Stop, mcu::Fault>,
    ) -> Result<u32, LabError> {
        match run(&mut *self.machine, until) {
            Ok(Stop::Address(address)) => Ok(address),
            Ok(Stop::Cycles) => Err(LabError::Endless {
                what: self.what.clone(),
                cycles: self.max_cycles,
                hint: "; raise --max-cycles if it is only slow",
            }),
            Ok(stop) => Err(LabError::Protocol {
                what: self.what.clone(),
                problem: format!("stopped early: {stop:?}"),
            }),
            Err(fault) => Err(place_fault(self.target, self.firmware, fault)),
        }
    }

    /// The machine that it runs on, to look into its memories or to tamper with them between runs.
    pub fn machine(&mut self) -> &mut dyn Mcu {
        &mut *self.machine
    }

    fn big_endian(&self) -> bool {
        self.target.part.core.is_big_endian()
    }

    fn buffer(&self, name: &str) -> Result<Symbol, LabError> {
        self.firmware.symbol(&format!("ws_bench_{name}"))
    }

    /// How many message bytes the firmware has room for.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] where the firmware has no message at all.
    pub fn capacity(&self) -> Result<u32, LabError> {
        Ok(self.buffer("message")?.size)
    }

    fn poke(&mut self, name: &str, bytes: &[u8]) -> Result<(), LabError> {
        let symbol = self.buffer(name)?;
        if bytes.len() > symbol.size as usize {
            return Err(LabError::Usage(format!(
                "{}: {} bytes of {name} do not fit; the firmware has room for {}",
                self.what,
                bytes.len(),
                symbol.size
            )));
        }
        if !self.machine.poke(symbol.address, bytes) {
            let problem = format!("ws_bench_{name} at {:#x} is in no memory", symbol.address);
            return Err(LabError::Protocol { what: self.what.clone(), problem });
        }
        Ok(())
    }

    fn poke_length(&mut self, name: &str, length: usize) -> Result<(), LabError> {
        // Only operations that take this length have the variable linked.
        if self.buffer(name).is_err() {
            return Ok(());
        }
        let length = u16::try_from(length).map_err(|_| {
            LabError::Usage(format!("{}: {length} bytes are too many; at most 65535", self.what))
        })?;
        let bytes = if self.big_endian() { length.to_be_bytes() } else { length.to_le_bytes() };
        self.poke(name, &bytes)
    }

    fn peek(&self, name: &str, length: usize) -> Result<Vec<u8>, LabError> {
        let symbol = self.buffer(name)?;
        let mut bytes = vec![0; length];
        if length > symbol.size as usize || !self.machine.peek(symbol.address, &mut bytes) {
            let problem = format!("ws_bench_{name} cannot hold {length} bytes");
            return Err(LabError::Protocol { what: self.what.clone(), problem });
        }
        Ok(bytes)
    }

    /// Runs the operation once on the inputs of `case` and compares what it gives.
    ///
    /// # Errors
    /// A fault of the model, an endless operation, inputs that do not fit.
    pub fn measure(&mut self, case: &Case) -> Result<Measurement, LabError> {
        if self.observed.cycles < OBSERVED_CYCLES {
            return self.measure_observed(case, &mut NoObserver);
        }
        self.measure_unobserved(case)
    }

    /// As [`Bench::measure`], while `observer` looks on at each step from where the inputs are written to where the
    /// next ones are waited for.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub fn measure_observed(
        &mut self,
        case: &Case,
        observer: &mut dyn Observer,
    ) -> Result<Measurement, LabError> {
        self.write(case)?;
        let mut watcher = CallWatcher(Profiler::new(self.firmware, &[self.measure]), observer);
        self.run_to(self.ready, |machine, until| machine.run_observed(until, &mut watcher))?;
        let &[call] = watcher.0.calls() else {
            return Err(self.not_once(&watcher.0.calls().len().to_string()));
        };
        self.observed.call = Some(call);
        self.observed.cycles += call.inclusive;
        self.observed.stack = self.observed.stack.max(call.stack);
        let verified = self.verify(case)?;
        Ok(Measurement {
            start: call.start,
            cycles: call.inclusive,
            stack: self.observed.stack,
            return_to: call.to.pc,
            verified,
        })
    }

    /// As [`Bench::measure`], stopping only where the call began and returned in the last observed run, and at the
    /// function's first instruction, so that it is known to be entered. Without an observed run before, this is one.
    ///
    /// # Errors
    /// As [`Bench::measure`], and where the function is not called once and by the same instruction.
    pub fn measure_unobserved(&mut self, case: &Case) -> Result<Measurement, LabError> {
        let Some(seen) = self.observed.call else { return self.measure_observed(case, &mut NoObserver) };
        self.write(case)?;
        let limit = self.limit();
        let entry = self.firmware.functions()[self.measure].address;
        if !self.reach(limit, seen.from)? {
            return Err(self.not_once("0"));
        }
        let start = self.machine.cycles();
        if seen.from.pc != entry && self.run(limit, &[entry, seen.to.pc])? != entry {
            return Err(self.not_once("0"));
        }
        if !self.reach(limit, seen.to)? {
            return Err(self.not_once("0"));
        }
        let cycles = self.machine.cycles() - start;
        if self.machine.pc() != self.ready && self.run(limit, &[entry])? == entry {
            return Err(self.not_once("several"));
        }
        let verified = self.verify(case)?;
        Ok(Measurement { start, cycles, stack: self.observed.stack, return_to: seen.to.pc, verified })
    }

    /// Runs to a place; false where it comes to where inputs are waited for instead.
    fn reach(&mut self, limit: u64, place: Place) -> Result<bool, LabError> {
        loop {
            let address = self.run(limit, &[place.pc])?;
            if address == place.pc && self.machine.sp() == place.sp {
                return Ok(true);
            }
            if address == self.ready {
                return Ok(false);
            }
        }
    }

    fn not_once(&self, times: &str) -> LabError {
        let problem = format!("called the measured function {times} times, not once");
        LabError::Protocol { what: self.what.clone(), problem }
    }

    /// Runs the operation on the inputs of `case` up to where the measured function has returned to `return_to`, and
    /// takes the trace of it from its first instruction to there, `tables` being what may be read anywhere. The next
    /// run must begin at a fork of a bench that waits for inputs.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub fn trace(&mut self, case: &Case, return_to: u32, tables: &Tables) -> Result<Trace, LabError> {
        let mut trace = Trace::new(tables.clone());
        self.enter(case)?;
        self.run_to(return_to, |machine, until| machine.run_traced(until, &mut trace))?;
        trace.end(self.machine.cycles());
        Ok(trace)
    }

    /// As [`Bench::trace`], while `observer` looks on. Returns the cycles since reset at the end.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub fn observe_call(
        &mut self,
        case: &Case,
        return_to: u32,
        observer: &mut dyn Observer,
    ) -> Result<u64, LabError> {
        self.enter(case)?;
        self.run_to(return_to, |machine, until| machine.run_observed(until, observer))?;
        Ok(self.machine.cycles())
    }

    /// Writes the inputs and runs up to the first instruction of the measured function.
    fn enter(&mut self, case: &Case) -> Result<(), LabError> {
        self.write(case)?;
        let entry = self.firmware.functions()[self.measure].address;
        self.run_to(entry, |machine, until| machine.run(until))
    }

    /// Writes the inputs of a case, and into the outputs what they must not be.
    fn write(&mut self, case: &Case) -> Result<(), LabError> {
        for (name, bytes) in &case.inputs {
            if bytes.is_empty() {
                continue;
            }
            self.poke(name, bytes)?;
        }
        for (name, variable) in [("message", "message_len"), ("aad", "aad_len"), ("key", "key_len")] {
            let length =
                case.inputs.iter().find(|(input, _)| *input == name).map_or(0, |(_, bytes)| bytes.len());
            self.poke_length(variable, length)?;
        }
        // Whatever an earlier run left there must not pass for this run's output.
        for (name, bytes) in &case.outputs {
            let wrong: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
            self.poke(name, &wrong)?;
        }
        for (name, length) in &case.untouched {
            self.poke(name, &vec![UNTOUCHED; *length])?;
        }
        Ok(())
    }

    /// Whether all outputs are those of `case`.
    fn verify(&self, case: &Case) -> Result<bool, LabError> {
        let mut verified = true;
        for (name, expected) in &case.outputs {
            verified &= self.peek(name, expected.len())? == *expected;
        }
        for (name, length) in &case.untouched {
            verified &= self.peek(name, *length)?.iter().all(|&byte| byte == UNTOUCHED);
        }
        if let Some(result) = case.result {
            let bytes = if self.big_endian() { result.to_be_bytes() } else { result.to_le_bytes() };
            verified &= self.peek("result", 2)? == bytes;
        }
        Ok(verified)
    }
}

struct CallWatcher<'a, 'o>(Profiler<'a>, &'o mut dyn Observer);

impl Observer for CallWatcher<'_, '_> {
    fn step(&mut self, step: &Step) {
        self.0.step(step);
        self.1.step(step);
    }
}

/// A fault of the model with its function and source line.
#[must_use]
pub fn place_fault(target: &Target, firmware: &Firmware, fault: mcu::Fault) -> LabError {
    let place = fault.pc().map(|pc| firmware.place(pc)).unwrap_or_default();
    LabError::Fault { target: target.name().into(), fault, place }
}

/// All rows of one target and variant: what a worker does in one go.
struct Job {
    target: usize,
    variant: &'static str,
    operations: Vec<Operation>,
}

/// Builds and measures all that is asked for, on all processors of the host.
///
/// # Errors
/// The first that comes up: an unknown name, a refused operating point, a build or a model that failed. A wrong
/// output is no error but a row that is not `verified`.
pub fn run(house: &House, request: &Request, progress: &dyn Progress) -> Result<Vec<Row>, LabError> {
    if request.runs == 0 {
        return Err(LabError::Usage("--runs must be at least 1".into()));
    }
    let known = house.target_names()?;
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let catalogue = Catalogue::read(house)?;
    let chosen = names::select("operation", &request.operations, &catalogue.names())?;
    let variants = names::select("variant", &request.variants, &VARIANTS)?;
    let mut targets = Vec::new();
    let mut jobs = Vec::new();
    let asked = names::select("target", &request.targets, &known)?;
    house.calibration_is_of(asked.iter().copied())?;
    for name in asked {
        let target = house.target(name)?;
        let mut any = false;
        for &variant in &variants {
            let mut operations = catalogue.built_as(&target, variant)?;
            operations.retain(|operation| chosen.contains(&operation.name.as_str()));
            if !operations.is_empty() {
                jobs.push(Job { target: targets.len(), variant, operations });
                any = true;
            }
        }
        if !any {
            continue;
        }
        let point = target.operating_point(request.clock_hz, request.supply_v)?;
        targets.push((target, point));
    }
    let total = jobs.iter().map(|job| job.operations.len()).sum();
    if total == 0 {
        return Err(LabError::Usage(
            "no target has such an operation in such a variant; without --op or --variant, bench shows what it has"
                .into(),
        ));
    }
    let done = AtomicUsize::new(0);
    let rows = work::each(&jobs, |job| {
        let (target, point) = &targets[job.target];
        run_job(house, request, target, point, job, &|what| {
            progress.report(done.fetch_add(1, Ordering::Relaxed), total, what);
        })
    })?;
    progress.report(total, total, "");
    Ok(in_reading_order(rows.into_iter().flatten().collect(), &catalogue.names()))
}

/// By target, then by operation, then by variant.
fn in_reading_order(mut rows: Vec<Row>, operations: &[&str]) -> Vec<Row> {
    let operation = |row: &Row| operations.iter().position(|name| *name == row.op);
    let variant = |row: &Row| VARIANTS.iter().position(|name| *name == row.variant);
    rows.sort_by(|a, b| {
        a.target.cmp(&b.target).then(operation(a).cmp(&operation(b))).then(variant(a).cmp(&variant(b)))
    });
    rows
}

fn run_job(
    house: &House,
    request: &Request,
    target: &Target,
    point: &OperatingPoint,
    job: &Job,
    progress: &dyn Fn(&str),
) -> Result<Vec<Row>, LabError> {
    let variant = job.variant;
    let names: Vec<&str> = job.operations.iter().map(|operation| operation.name.as_str()).collect();
    let build = firmware::build(house, target, point, variant, &names)?;
    let empty = Firmware::read(&build.image(firmware::EMPTY), target.part.core)?.footprint();
    job.operations
        .iter()
        .map(|operation| {
            progress(&format!("{} {} {variant}", target.name(), operation.name));
            run_row(request, target, point, variant, operation, &build, empty)
        })
        .collect()
}

fn run_row(
    request: &Request,
    target: &Target,
    point: &OperatingPoint,
    variant: &str,
    operation: &Operation,
    build: &Build,
    empty: crate::elf::Footprint,
) -> Result<Row, LabError> {
    let firmware = Firmware::read(&build.image(&operation.name), target.part.core)?;
    let mut bench = Bench::start(target, &firmware, operation, point.clock_hz, request.max_cycles)?;
    let bytes = request.bytes.filter(|_| operation.any_length).unwrap_or(operation.bytes);
    if operation.any_length && u32::from(bytes) > bench.capacity()? {
        return Err(LabError::Usage(format!(
            "--bytes {bytes} is too long for {}: its bench firmware has room for {}",
            target.name(),
            bench.capacity()?
        )));
    }
    let mut rng = StdRng::seed_from_u64(request.seed);
    let mut cycles = Vec::with_capacity(request.runs as usize);
    let (mut stack_bytes, mut verified) = (0, true);
    let started = bench.machine.snapshot();
    if !request.cold {
        bench.measure(&random_case(operation, usize::from(bytes), &mut rng)?)?;
    }
    for _ in 0..request.runs {
        if request.cold {
            bench.machine = started.snapshot();
        }
        let measurement = bench.measure(&random_case(operation, usize::from(bytes), &mut rng)?)?;
        cycles.push(measurement.cycles);
        stack_bytes = stack_bytes.max(measurement.stack);
        verified &= measurement.verified;
    }
    let cycles = Cycles::of(&cycles);
    let time_s = cycles.mean * target.seconds_per_cycle(point);
    let footprint = firmware.footprint();
    Ok(Row {
        target: target.name().into(),
        op: operation.name.clone(),
        variant: variant.into(),
        bytes,
        clock_hz: point.clock_hz,
        supply_v: point.supply_v,
        runs: request.runs,
        cycles,
        time_s,
        power_w: point.power_w,
        energy_j: point.power_w * time_s,
        flash_bytes: footprint.flash - empty.flash,
        ram_bytes: footprint.ram - empty.ram,
        stack_bytes,
        verified,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_sample() {
        let cycles = Cycles::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((cycles.mean - 5.0).abs() < 1e-12);
        assert!((cycles.sd - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((cycles.se - cycles.sd / 8f64.sqrt()).abs() < 1e-12);
        assert_eq!((cycles.min, cycles.max), (2, 9));
        assert_eq!(Cycles::of(&[3]).sd, 0.0);
    }
}
