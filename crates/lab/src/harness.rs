//! One firmware image on one machine: writes the inputs of an operation, runs it, and reads what it
//! gives.

use crate::LabError;
use crate::operations::Operation;
use crate::profile::{Call, ExecutionPoint, Profiler};
use crate::reference::Case;
use crate::target::Target;
use firmware::Firmware;
use firmware::symbols::Symbol;
use mcu::{ControlTransfers, Labels, Mcu, Observer, Step, Stop, Tables, Taint, Trace, Until, new_machine};
use std::ops::Range;

/// One firmware image on one machine, ready for its inputs.
pub struct OperationRun<'a> {
    target: &'a Target,
    firmware: &'a Firmware,
    what: String,
    measure: usize,
    /// Secrets are in registers when the function is called: who loads them has read them.
    by_value: bool,
    ready: u32,
    max_cycles: u64,
    machine: Box<dyn Mcu>,
    observed: Observed,
}

/// Findings of the observed runs.
#[derive(Clone, Copy, Debug, Default)]
struct Observed {
    /// The last one's call of the measured function; none before the first run.
    call: Option<Call>,
    cycles: u64,
    /// Deepest stack use of any, in bytes.
    stack: u32,
}

/// Runs are observed step by step until they have taken this many cycles. Then they only stop where
/// the call begins and where it returns. That is 1.1 (MSP430F5438A, STM32F407) to 2.8 times as fast
/// (ATmega328P and STM32F100 2.7, STM32F051 2.0, RP2040 2.8). This is CPU time of `bench --op
/// aes128-gcm-seal --runs`, with equally many runs more on either side of this limit. It observes
/// one run of a long operation, all of a short one.
const OBSERVED_CYCLES: u64 = 4_000_000;

/// Filler of buffers that an operation must not change.
const UNTOUCHED: u8 = 0xa5;

/// Result of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// Cycles since reset when the call instruction began.
    pub start: u64,
    /// From the call to the return.
    pub cycles: u64,
    /// Deepest stack use of this run and the observed ones before it, in bytes; a run that was not
    /// observed adds nothing.
    pub stack: u32,
    pub return_to: u32,
    /// All outputs and the result were as expected.
    pub verified: bool,
}

/// Label at which a bench's firmware waits for its inputs.
pub(crate) const READY: &str = "ws_bench_ready";

impl<'a> OperationRun<'a> {
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
    ) -> Result<OperationRun<'a>, LabError> {
        let mut machine = new_machine(&target.part, clock_hz)
            .map_err(|problem| LabError::BadFile { path: target.file(), problem })?;
        let what = format!("{} {}", target.name(), operation.name);
        let fault = |fault: mcu::Fault| place_fault(target, firmware, fault);
        machine.load(firmware.image()).map_err(fault)?;
        machine.reset();
        let ready = firmware.functions()[firmware.function(READY)?].address;
        let measure = firmware.function(&operation.measure)?;
        let mut bench = OperationRun {
            target,
            firmware,
            what,
            measure,
            by_value: operation.by_value,
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
    pub fn fork(&self) -> OperationRun<'a> {
        let machine = self.machine.snapshot();
        OperationRun { what: self.what.clone(), machine, ..*self }
    }

    /// Puts the machine into the state of another of the same firmware; what its runs showed so far
    /// stays known.
    pub fn rewind(&mut self, to: &OperationRun<'_>) {
        self.machine = to.machine.snapshot();
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
                hint: "; raise --max-cycles if it is only slow".into(),
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

    /// Checks that a stack of `stack` bytes has not met the variables, where the linker says where
    /// they end. The firmware waits for inputs.
    ///
    /// # Errors
    /// [`LabError::Protocol`] with the room that there is.
    pub(crate) fn check_stack(&self, stack: u32) -> Result<(), LabError> {
        let Some(end) = self.firmware.symbols().get("ws_bss_end") else { return Ok(()) };
        let top = self.machine.sp();
        // The AVR's linker counts data memory from 0x800000 on.
        let end = if self.target.part.core.is_avr() { end.address & 0xffff } else { end.address };
        match top.checked_sub(stack) {
            Some(lowest) if lowest >= end => Ok(()),
            _ => {
                let room = top.saturating_sub(end);
                Err(LabError::Protocol {
                    what: self.target.name().into(),
                    problem: format!(
                        "its stack of {stack} bytes meets the variables: there is room for {room}"
                    ),
                })
            }
        }
    }

    fn big_endian(&self) -> bool {
        self.target.part.core.is_big_endian()
    }

    /// Returns the firmware's buffer for an input or an output.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] where it has none of that name.
    pub fn buffer(&self, name: &str) -> Result<Symbol, LabError> {
        buffer(self.firmware, name)
    }

    /// Returns how many message bytes the firmware has room for.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] where the firmware has no message at all.
    pub fn capacity(&self) -> Result<u32, LabError> {
        Ok(self.buffer("message")?.size)
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
            return self.measure_call(case);
        }
        self.measure_unobserved(case)
    }

    /// Runs the operation once on the inputs of `case`, without timing it. Returns true if it gives
    /// all outputs and the result. That takes half as long as [`OperationRun::measure`], or less.
    ///
    /// # Errors
    /// As [`OperationRun::measure`].
    pub fn run_case(&mut self, case: &Case) -> Result<bool, LabError> {
        self.write(case)?;
        self.run_to(self.ready, |machine, until| machine.run(until))?;
        self.verify(case)
    }

    /// As [`OperationRun::measure`], following all calls.
    fn measure_call(&mut self, case: &Case) -> Result<Measurement, LabError> {
        self.write(case)?;
        let mut profiler = Profiler::new(self.firmware, &[self.measure]);
        self.run_to(self.ready, |machine, until| {
            machine.run_observed(until, &mut ControlTransfers::of(&mut profiler))
        })?;
        self.observed_call(case, &profiler)
    }

    /// As [`OperationRun::measure`], while `observer` looks on at each step from where the inputs
    /// are written to where the next ones are waited for.
    ///
    /// # Errors
    /// As [`OperationRun::measure`].
    pub fn measure_observed(
        &mut self,
        case: &Case,
        observer: &mut dyn Observer,
    ) -> Result<Measurement, LabError> {
        self.write(case)?;
        let mut watcher = CallWatcher(Profiler::new(self.firmware, &[self.measure]), observer);
        self.run_to(self.ready, |machine, until| machine.run_observed(until, &mut watcher))?;
        self.observed_call(case, &watcher.0)
    }

    /// Returns the measurement of the one call that the profiler saw, and checks its output against
    /// `case`.
    fn observed_call(&mut self, case: &Case, profiler: &Profiler<'_>) -> Result<Measurement, LabError> {
        let calls = profiler.calls();
        // A function may call itself: the call around all others is the one.
        let outermost = calls.iter().max_by_key(|call| call.inclusive).copied();
        let Some(call) = outermost.filter(|outer| calls.iter().all(|call| is_within(call, outer))) else {
            return Err(self.not_once(&calls.len().to_string()));
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

    /// As [`OperationRun::measure`], stopping only where the call began and returned in the last
    /// observed run, and at the function's first instruction, so that it is known to be entered.
    /// Without an observed run before, this is one.
    ///
    /// # Errors
    /// As [`OperationRun::measure`], and where the function is not called once and by the same
    /// instruction.
    pub fn measure_unobserved(&mut self, case: &Case) -> Result<Measurement, LabError> {
        let Some(seen) = self.observed.call else { return self.measure_call(case) };
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
    fn reach(&mut self, limit: u64, point: ExecutionPoint) -> Result<bool, LabError> {
        loop {
            let address = self.run(limit, &[point.pc])?;
            if address == point.pc && self.machine.sp() == point.sp {
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

    /// Runs the operation on the inputs of `case` up to the return of the measured function to
    /// `return_to`. Returns the trace from the function's first instruction to there; `tables` may
    /// be read anywhere. The next run must begin at a fork of a bench that waits for inputs.
    ///
    /// # Errors
    /// As [`OperationRun::measure`].
    pub fn trace(&mut self, case: &Case, return_to: u32, tables: &Tables) -> Result<Trace, LabError> {
        let mut trace = Trace::new(tables.clone());
        self.enter(case)?;
        self.run_to(return_to, |machine, until| machine.run_traced(until, &mut trace))?;
        trace.end(self.machine.cycles());
        Ok(trace)
    }

    /// As [`OperationRun::trace`], while `observer` looks on. Returns the cycles since reset at the
    /// end.
    ///
    /// # Errors
    /// As [`OperationRun::measure`].
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

    /// Runs the operation as [`OperationRun::trace`] does, and follows these bytes by their labels
    /// once the inputs are written. Returns the dependences and reads from the first instruction of
    /// the measured function to its return.
    ///
    /// # Errors
    /// As [`OperationRun::measure`], and where an instruction cannot be followed.
    pub fn follow(
        &mut self,
        case: &Case,
        return_to: u32,
        secrets: &[(Range<u32>, Labels)],
        tables: &Tables,
    ) -> Result<Taint, LabError> {
        self.write(case)?;
        let mut taint = self.machine.taint();
        taint.allow_tables(tables.clone());
        secrets.iter().for_each(|(range, labels)| taint.label(range.clone(), *labels));
        if self.by_value {
            taint.watch();
        }
        let entry = self.firmware.functions()[self.measure].address;
        self.run_to(entry, |machine, until| machine.run_tainted(until, &mut taint))?;
        taint.finish();
        // Code before the function is not checked, but a value that it derives from the secrets is
        // one.
        taint.forget_leaks();
        if !self.by_value {
            taint.watch();
        }
        self.run_to(return_to, |machine, until| machine.run_tainted(until, &mut taint))?;
        taint.finish();
        if let Some(pc) = taint.unknown_instruction() {
            let place = self.firmware.place(pc);
            return Err(LabError::Unfinished(format!(
                "{}: the instruction at {pc:#x}{place} was written while it ran, and cannot be followed",
                self.what
            )));
        }
        Ok(taint)
    }

    /// Writes the inputs and runs up to the first instruction of the measured function.
    fn enter(&mut self, case: &Case) -> Result<(), LabError> {
        self.write(case)?;
        let entry = self.firmware.functions()[self.measure].address;
        self.run_to(entry, |machine, until| machine.run(until))
    }

    fn write(&mut self, case: &Case) -> Result<(), LabError> {
        Buffers { machine: &mut *self.machine, firmware: self.firmware, what: &self.what }.write(case)
    }

    /// Returns true if all outputs are those of `case`.
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

/// Returns a bench firmware's buffer for an input or an output.
fn buffer(firmware: &Firmware, name: &str) -> Result<Symbol, LabError> {
    Ok(firmware.symbol(&format!("ws_bench_{name}"))?)
}

/// The inputs and outputs of a bench's firmware in its machine.
pub(crate) struct Buffers<'b> {
    pub machine: &'b mut dyn Mcu,
    pub firmware: &'b Firmware,
    /// Name of the program, for messages.
    pub what: &'b str,
}

impl Buffers<'_> {
    fn poke(&mut self, name: &str, bytes: &[u8]) -> Result<(), LabError> {
        let symbol = buffer(self.firmware, name)?;
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
            return Err(LabError::Protocol { what: self.what.to_owned(), problem });
        }
        Ok(())
    }

    fn poke_length(&mut self, name: &str, length: usize) -> Result<(), LabError> {
        // Only operations that take this length have the variable linked.
        if buffer(self.firmware, name).is_err() {
            return Ok(());
        }
        let length = u16::try_from(length).map_err(|_| {
            LabError::Usage(format!("{}: {length} bytes are too many; at most 65535", self.what))
        })?;
        let bytes =
            if self.firmware.core().is_big_endian() { length.to_be_bytes() } else { length.to_le_bytes() };
        self.poke(name, &bytes)
    }

    /// Writes into the outputs of a case what they must not be, and the inputs.
    ///
    /// # Errors
    /// Inputs that do not fit, or that the firmware does not have.
    pub fn write(&mut self, case: &Case) -> Result<(), LabError> {
        // What an earlier run left there must not pass for this run's output. An input may be one.
        for (name, bytes) in &case.outputs {
            let wrong: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
            self.poke(name, &wrong)?;
        }
        for (name, length) in &case.untouched {
            self.poke(name, &vec![UNTOUCHED; *length])?;
        }
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
        Ok(())
    }
}

/// Returns true if a call is another one, or was made meanwhile.
fn is_within(call: &Call, outer: &Call) -> bool {
    call.start >= outer.start && call.start + call.inclusive <= outer.start + outer.inclusive
}

struct CallWatcher<'a, 'o>(Profiler<'a>, &'o mut dyn Observer);

impl Observer for CallWatcher<'_, '_> {
    fn step(&mut self, step: &Step) {
        self.0.step(step);
        self.1.step(step);
    }
    fn interrupt(&mut self, sp: u32) {
        self.0.interrupt(sp);
    }
}

/// A fault of the model with its function and source line.
#[must_use]
pub fn place_fault(target: &Target, firmware: &Firmware, fault: mcu::Fault) -> LabError {
    let place = fault.pc().map(|pc| firmware.place(pc)).unwrap_or_default();
    LabError::Fault { target: target.name().into(), fault, place }
}
