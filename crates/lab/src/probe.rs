//! A user's firmware on its machine, as a debug probe has it: run piece by piece, looked into, its
//! functions called; what [`crate::measure`] counts is counted all the while.

mod call;
mod convention;
mod devices;
mod snapshot;

pub use call::{Argument, CallResult, CallUnderWay, Returns};
pub use devices::{I2cScript, SpiScript};
pub use snapshot::Snapshot;

use crate::LabError;
use crate::harness::place_fault;
use crate::measure::{self, MeasureRow};
use crate::pins;
use crate::profile::Profiler;
use crate::program::check_ports;
use crate::target::Target;
use crate::timeline::{Spent, Timeline};
use crate::user_firmware::{ClockSource, Setup, UserFirmware, advice};
use crate::workspace::Workspace;
use devices::DeviceName;
use firmware::Firmware;
use firmware::symbols::Symbol;
use mcu::{ControlTransfers, Fault, Mcu, Observer, Step, Stop, Until};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Offset at which ELF files put an AVR's data space.
const AVR_DATA: u32 = 0x80_0000;

/// Cycles between two looks at whether the run is to end: some hundredths of a second.
const LOOK_EVERY: u64 = 1_000_000;

/// Says whether a run is to end now; asked every some hundredths of a second.
pub type Look<'a> = &'a mut dyn FnMut() -> bool;

/// Target and firmware of a probe.
struct Subject {
    target: Target,
    firmware: Firmware,
}

self_cell::self_cell!(
    struct Followed {
        owner: Arc<Subject>,
        #[not_covariant]
        dependent: Profiler,
    }
);

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It came to a symbol that was asked for.
    Reached,
    /// The cycles that were asked for are over.
    Cycles,
    /// The instructions that were asked for are executed.
    Stepped,
    /// The program has ended: it sleeps for ever, or jumps to itself with nothing to come.
    Halted,
    /// By semihosting.
    Exited(u32),
    /// The reset handler returned.
    Returned,
    /// A breakpoint instruction comes next.
    Breakpoint,
    /// The supply is too low for the part.
    PowerLost,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    pub reason: Reason,
    /// For a person, with function and source line.
    pub ending: String,
}

/// A run that may stop on its way, at places that somebody looks at.
pub struct RunUnderWay {
    until: Vec<String>,
    addresses: Vec<u32>,
    max_cycles: u64,
    /// Cycle of its end.
    limit: u64,
}

/// Notes the cycle of the first instruction.
#[derive(Default)]
struct FirstStep(Option<u64>);

impl Observer for FirstStep {
    fn step(&mut self, step: &Step) {
        self.0.get_or_insert(step.cycles);
    }
}

/// Firmware on its machine, and what was counted since its reset.
pub struct Probe {
    followed: Followed,
    machine: Box<dyn Mcu>,
    clock_source: ClockSource,
    supply_v: f64,
    /// Output that was sent and not yet taken, by port.
    sent: BTreeMap<String, Vec<u8>>,
    /// Addresses at which a run or a call stops on its way.
    stops: Vec<u32>,
    devices: Vec<DeviceName>,
    /// Address of the first instruction after a reset.
    first_pc: u32,
}

/// A profiler of a program whose first instruction comes next.
fn profiler_of<'a>(subject: &'a Subject, machine: &dyn Mcu, supply_v: f64) -> Result<Profiler<'a>, LabError> {
    let fetch = subject.target.fetch_of(&subject.firmware);
    let timeline = Timeline::new(&subject.target, machine.clock_hz(), supply_v, fetch)?;
    let mut profiler = Profiler::new(&subject.firmware, &[]).timed(timeline);
    profiler.step(&machine.next_step());
    Ok(profiler)
}

impl Probe {
    /// Loads the firmware; its first instruction comes next.
    ///
    /// # Errors
    /// [`Setup::load`]'s.
    pub fn attach(workspace: &Workspace, setup: &Setup) -> Result<Probe, LabError> {
        let UserFirmware { target, firmware, mut machine, clock_source, supply_v } = setup.load(workspace)?;
        // From now on it is kept.
        machine.board_mut().take_sent();
        let subject = Arc::new(Subject { target, firmware });
        let followed = Followed::try_new(subject, |subject| profiler_of(subject, &*machine, supply_v))?;
        let first_pc = machine.pc();
        Ok(Probe {
            followed,
            machine,
            clock_source,
            supply_v,
            sent: BTreeMap::new(),
            stops: Vec::new(),
            devices: Vec::new(),
            first_pc,
        })
    }

    /// A power-on reset: the program begins anew, and so does what is counted.
    ///
    /// # Errors
    /// [`LabError::Supply`] where the supply does not allow the clock after a reset.
    pub fn reset(&mut self) -> Result<(), LabError> {
        self.machine.reset();
        self.machine.board_mut().take_sent();
        self.sent.clear();
        let (machine, supply_v) = (&*self.machine, self.supply_v);
        self.followed.with_dependent_mut(|subject, profiler| {
            *profiler = profiler_of(subject, machine, supply_v)?;
            Ok(())
        })
    }

    /// Its target, with its stubs.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.followed.borrow_owner().target
    }

    #[must_use]
    pub fn firmware(&self) -> &Firmware {
        &self.followed.borrow_owner().firmware
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &dyn Mcu {
        &*self.machine
    }

    #[must_use]
    pub fn clock_source(&self) -> ClockSource {
        self.clock_source
    }

    /// Its supply, in volts.
    #[must_use]
    pub fn supply_v(&self) -> f64 {
        self.supply_v
    }

    /// Runs on until the instruction at one of these symbols or addresses comes next, or the
    /// program ends. It runs at most `max_cycles` from here. Where it stands at one of them
    /// already, it goes on to the next time.
    ///
    /// # Errors
    /// An unknown symbol, with the nearest names; a fault; an end, or the last cycle, before a
    /// symbol that was asked for.
    pub fn run(&mut self, until: &[String], max_cycles: u64, look: Look<'_>) -> Result<RunEnd, LabError> {
        let run = self.begin_run(until, max_cycles)?;
        loop {
            if let Some(end) = self.continue_run(&run, look)? {
                return Ok(end);
            }
        }
    }

    /// Places at which [`Probe::continue_run`] and [`Probe::continue_call`] stop on their way.
    ///
    /// # Errors
    /// An unknown symbol, with the nearest names.
    pub fn stop_at(&mut self, places: &[String]) -> Result<(), LabError> {
        self.stops = self.addresses(places)?;
        Ok(())
    }

    fn addresses(&self, places: &[String]) -> Result<Vec<u32>, LabError> {
        places.iter().map(|name| Ok(self.firmware().symbol(name)?.address)).collect()
    }

    /// The first half of [`Probe::run`].
    ///
    /// # Errors
    /// An unknown symbol, with the nearest names.
    pub fn begin_run(&self, until: &[String], max_cycles: u64) -> Result<RunUnderWay, LabError> {
        let limit = self.machine.cycles().saturating_add(max_cycles);
        Ok(RunUnderWay { until: until.to_vec(), addresses: self.addresses(until)?, max_cycles, limit })
    }

    /// Runs on to the end, or to a place of [`Probe::stop_at`], where it returns `None`.
    ///
    /// # Errors
    /// As [`Probe::run`].
    pub fn continue_run(&mut self, run: &RunUnderWay, look: Look<'_>) -> Result<Option<RunEnd>, LabError> {
        let addresses = run.addresses.iter().chain(&self.stops).copied().collect();
        let until = Until { cycles: Some(run.limit), addresses };
        let stop = loop {
            if self.machine.cycles() >= run.limit {
                break Ok(Stop::Cycles);
            }
            match self.piece(&until, look) {
                Ok(Stop::Cycles) => {}
                stop => break stop,
            }
        };
        if let Ok(Stop::Address(address)) = stop
            && !run.addresses.contains(&address)
        {
            return Ok(None);
        }
        let over = (Reason::Cycles, format!("stopped after {} cycles", run.max_cycles));
        let RunEnd { reason, ending } = self.end(stop, over)?;
        if reason == Reason::Reached || run.until.is_empty() {
            return Ok(Some(RunEnd { reason, ending }));
        }
        let hint = if reason == Reason::Cycles { "; raise max_cycles if it only takes longer" } else { "" };
        Err(LabError::Unfinished(format!("{ending}, before {}{hint}", run.until.join(" or "))))
    }

    /// The end of a run that stopped so; `over` is that of its last cycle.
    fn end(&self, stop: Result<Stop, LabError>, over: (Reason, String)) -> Result<RunEnd, LabError> {
        let returned = |error: &LabError| match error {
            LabError::Fault { fault: fault @ Fault::Returned { .. }, .. } => Some(fault.to_string()),
            _ => None,
        };
        let (reason, what) = match stop {
            Err(error) => (Reason::Returned, returned(&error).ok_or(error)?),
            Ok(Stop::Address(_)) => (Reason::Reached, "reached".into()),
            Ok(Stop::Cycles) => over,
            Ok(Stop::Halted) => (Reason::Halted, "the program ended".into()),
            Ok(Stop::Exit(code)) => (Reason::Exited(code), format!("the program exited with {code}")),
            Ok(Stop::Breakpoint) => (Reason::Breakpoint, "breakpoint".into()),
            Ok(Stop::PowerLost) => (Reason::PowerLost, "the supply failed".into()),
        };
        Ok(RunEnd { reason, ending: what + &self.place() })
    }

    /// Executes `count` instructions. Interrupts come in between, and their instructions count. Of
    /// a core that sleeps the next instruction is the first one after it.
    ///
    /// # Errors
    /// A fault; the look's end.
    pub fn step(&mut self, count: u64, look: Look<'_>) -> Result<RunEnd, LabError> {
        for _ in 0..count {
            let before = self.machine.instructions();
            let mut end = self.machine.cycles() + 1;
            while self.machine.instructions() == before {
                let pc = self.machine.pc();
                let stop = self.piece(&Until { cycles: Some(end), addresses: Vec::new() }, look);
                if !matches!(stop, Ok(Stop::Cycles)) {
                    return self.end(stop, (Reason::Stepped, String::new()));
                }
                let stands_still = (before, pc) == (self.machine.instructions(), self.machine.pc());
                end = if stands_still { self.next_instruction() } else { 0 };
                end = end.max(self.machine.cycles() + 1);
            }
        }
        self.end(Ok(Stop::Cycles), (Reason::Stepped, format!("{count} instructions later")))
    }

    /// The cycle at which a core that sleeps executes its next instruction, or one up to which it
    /// sleeps on. Nobody looks further ahead than to what a device's script would answer.
    fn next_instruction(&self) -> u64 {
        let mut ahead = self.machine.snapshot();
        devices::rehearse(&self.devices, ahead.board_mut());
        let mut first = FirstStep::default();
        let end = self.machine.cycles().saturating_add(LOOK_EVERY);
        let stop = ahead.run_observed(&Until { cycles: Some(end), addresses: Vec::new() }, &mut first);
        // However that ended, the machine itself comes to the same end.
        drop(stop);
        let next = first.0.unwrap_or(ahead.cycles());
        devices::asked(&self.devices, ahead.board_mut()).map_or(next, |asked| asked.min(next))
    }

    /// Runs to the end of a piece, at most: what was sent is taken.
    fn piece(&mut self, until: &Until, look: Look<'_>) -> Result<Stop, LabError> {
        if look() {
            return Err(LabError::Unfinished(format!("interrupted{}", self.place())));
        }
        let end = self.machine.cycles().saturating_add(LOOK_EVERY);
        let cycles = until.cycles.map_or(end, |limit| limit.min(end));
        let piece = Until { cycles: Some(cycles), addresses: until.addresses.clone() };
        let machine = &mut self.machine;
        let stop = self.followed.with_dependent_mut(|_, profiler| {
            let stop = machine.run_observed(&piece, &mut ControlTransfers::of(profiler));
            // The last instruction, and what it was: the next run begins anew.
            profiler.step(&machine.next_step());
            stop
        });
        for sent in self.machine.board_mut().take_sent() {
            self.sent.entry(sent.port).or_default().push(sent.byte);
        }
        let pc = self.machine.pc();
        match stop {
            // The next piece would not stop where it begins.
            Ok(Stop::Cycles) if until.addresses.contains(&pc) => Ok(Stop::Address(pc)),
            Ok(stop) => Ok(stop),
            Err(fault) => Err(match place_fault(self.target(), self.firmware(), fault) {
                LabError::Fault { target, fault, place } => {
                    let place = place + &advice(&fault, self.target(), self.firmware());
                    LabError::Fault { target, fault, place }
                }
                other => other,
            }),
        }
    }

    /// Names the program's place, as the end of a sentence.
    #[must_use]
    pub fn place(&self) -> String {
        self.firmware().place(self.machine.pc())
    }

    /// Reads memory as a debugger would; of a symbol all of it where no length is given.
    ///
    /// # Errors
    /// An unknown symbol, one whose size the file does not tell, more than it has, no memory.
    pub fn read(&self, place: &str, length: Option<u32>) -> Result<Vec<u8>, LabError> {
        let symbol = self.firmware().symbol(place)?;
        let length = match length.unwrap_or(symbol.size) {
            0 if length.is_none() => {
                return Err(LabError::Usage(format!(
                    "how long is {place}? The file does not tell: say its bytes"
                )));
            }
            length => length,
        };
        fits(place, symbol, length as usize)?;
        let mut bytes = vec![0; length as usize];
        if !self.machine.peek(symbol.address, &mut bytes) {
            return Err(no_memory(place, symbol.address, bytes.len()));
        }
        Ok(bytes)
    }

    /// Writes memory as a debugger would, non-volatile memory, too.
    ///
    /// # Errors
    /// An unknown symbol, more than it has, no memory.
    pub fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), LabError> {
        let symbol = self.firmware().symbol(place)?;
        fits(place, symbol, bytes.len())?;
        self.poke(symbol.address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> Result<(), LabError> {
        if bytes.is_empty() || self.machine.poke(address, bytes) {
            return Ok(());
        }
        Err(no_memory(&format!("{address:#x}"), address, bytes.len()))
    }

    /// Sets a register.
    ///
    /// # Errors
    /// [`LabError::UnknownName`], with the nearest names.
    pub fn set_register(&mut self, name: &str, value: u32) -> Result<(), LabError> {
        if self.machine.set_register(name, value) {
            return Ok(());
        }
        let known = self.machine.register_names().iter().map(|register| register.name);
        Err(LabError::UnknownName {
            what: "register",
            name: name.into(),
            suggestion: crate::names::suggestion(name, known),
        })
    }

    /// Bytes begin to arrive at a UART, at its own rate.
    ///
    /// # Errors
    /// No UART of this name that is modelled; a program that has not switched on its receiver.
    pub fn send(&mut self, uart: &str, bytes: &[u8]) -> Result<(), LabError> {
        if !self.listens(uart)? {
            return Err(LabError::Usage(format!(
                "{uart}: the program has not switched on its receiver; run it until it has"
            )));
        }
        self.machine.uart_receive(uart, bytes);
        Ok(())
    }

    /// Returns true if the program has switched on the receiver of a UART.
    ///
    /// # Errors
    /// No UART of this name that is modelled.
    pub fn listens(&self, uart: &str) -> Result<bool, LabError> {
        let none = || LabError::Usage(format!("{} has no UART '{uart}' with a model", self.target().name()));
        self.machine.uart_listens(uart).ok_or_else(none)
    }

    /// The level at a pin, such as `PORTB.5` or `PB5`, whoever drives it; none where nobody does.
    ///
    /// # Errors
    /// No such pin, with those that there are.
    pub fn pin(&self, name: &str) -> Result<Option<bool>, LabError> {
        let pin = pins::find(name, self.target())
            .map_err(|problem| LabError::Usage(format!("pin {name}: {problem}")))?;
        Ok(self.machine.board().pin(&pin.port, pin.bit))
    }

    /// Drives a pin from outside, or lets go of it. The program sees it when it runs on.
    ///
    /// # Errors
    /// No such pin, with those that there are.
    pub fn set_pin(&mut self, name: &str, level: Option<bool>) -> Result<(), LabError> {
        let pin = pins::find(name, self.target())
            .map_err(|problem| LabError::Usage(format!("pin {name}: {problem}")))?;
        self.machine.board_mut().set_input(pin, level);
        Ok(())
    }

    /// Returns the output of one port since the last call: a UART, `ITM.0`, `semihosting`.
    ///
    /// # Errors
    /// No such port, with the nearest names.
    pub fn take_sent_by(&mut self, port: &str) -> Result<Vec<u8>, LabError> {
        check_ports(&[port.into()], self.target())?;
        Ok(self.sent.remove(port).unwrap_or_default())
    }

    /// Returns the output of UARTs, the trace port and semihosting since the last call, by port.
    pub fn take_sent(&mut self) -> BTreeMap<String, Vec<u8>> {
        std::mem::take(&mut self.sent)
    }

    /// Time and energy since reset, at the active current.
    ///
    /// # Errors
    /// The program has set a clock that the supply does not allow.
    pub fn spent(&self) -> Result<Spent, LabError> {
        let cycles = self.machine.cycles();
        self.followed.with_dependent(|_, profiler| profiler.timeline().since_reset(cycles))
    }

    /// A row for each function that was executed since reset, by own cycles.
    #[must_use]
    pub fn profile(&self) -> Vec<MeasureRow> {
        let mut rows =
            self.followed.with_dependent(|subject, profiler| measure::sums(&subject.firmware, profiler));
        measure::rate(&mut rows, self.target(), self.firmware(), &*self.machine);
        let target = self.target();
        let accuracy = target.energy_accuracy_at(self.machine.clock_hz() as f64);
        let memory = target.supply.memory_of(target.fetch_of(self.firmware()));
        rows.iter_mut().for_each(|row| row.power(self.supply_v, memory, Some(&accuracy)));
        for row in &mut rows {
            row.firmware = self.firmware().path().display().to_string();
            row.target = self.target().name().into();
        }
        rows
    }
}

fn fits(place: &str, symbol: Symbol, length: usize) -> Result<(), LabError> {
    if symbol.size != 0 && length > symbol.size as usize {
        return Err(LabError::Usage(format!("{length} bytes at {place}: it has only {}", symbol.size)));
    }
    Ok(())
}

fn no_memory(place: &str, address: u32, length: usize) -> LabError {
    LabError::Usage(format!("{place}: at {address:#x} are not {length} bytes of memory"))
}
