//! Requests of gdb, as gdbstub hands them on.

use super::history::History;
use super::registers::Layout;
use super::watch::{FirstAccess, FirstStep, Hit, LastHit, LastStep, Watchpoint};
use crate::LabError;
use crate::names;
use crate::program::{Ending, Piece, Program};
use gdbstub::arch::{Arch, Registers};
use gdbstub::common::Signal;
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadRangeStepping, SingleThreadRangeSteppingOps, SingleThreadResume,
    SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps, outputln};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};
use mcu::{Stop, Until};
use std::convert::Infallible;

type Reason = SingleThreadStopReason<u32>;

/// Instructions that a step over a line takes between two looks at what gdb says.
const STEPS: usize = 10_000;

/// Commands behind gdb's `monitor`.
const COMMANDS: [(&str, &str); 6] = [
    ("cycles", "cycles and instructions since reset"),
    ("time", "the program's time since reset"),
    ("reset", "a power-on reset, also 'reset halt'; the program is as it was loaded"),
    ("halt", "where the program stands; it does whenever gdb can ask"),
    ("arm semihosting enable", "nothing: semihosting is always on"),
    ("status", "why the program does not go on"),
];

/// Synonyms in launch files for debug probes (OpenOCD: `reset init`; J-Link: `reset 0`,
/// `semihosting enable`).
const SYNONYMS: [(&str, &str); 5] = [
    ("reset halt", "reset"),
    ("reset init", "reset"),
    ("reset run", "reset"),
    ("reset 0", "reset"),
    ("semihosting enable", "arm semihosting enable"),
];

/// Mode in which the program goes on.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Continue,
    Step,
    /// While the program counter is from the first address up to the second.
    Range(u32, u32),
    StepBack,
    ContinueBack,
}

/// A program that a gdb runs.
pub(super) struct Session<'s, 'p> {
    pub program: &'s mut Program<'p>,
    /// End of the program, once it has ended or cannot go on.
    pub ended: Option<Ending>,
    layout: Layout,
    history: History,
    breakpoints: Vec<u32>,
    watchpoints: Vec<Watchpoint>,
    mode: Mode,
}

impl<'s, 'p> Session<'s, 'p> {
    pub fn new(program: &'s mut Program<'p>, layout: Layout) -> Session<'s, 'p> {
        program.keep_journal();
        let history = History::begin(&*program.machine);
        Session {
            program,
            ended: None,
            layout,
            history,
            breakpoints: Vec::new(),
            watchpoints: Vec::new(),
            mode: Mode::Continue,
        }
    }

    /// Goes on for a piece; why the program stopped, if it did.
    pub fn advance(&mut self) -> Option<Reason> {
        match self.mode {
            Mode::Continue => {
                let reason = self.proceed();
                self.history.keep(&*self.program.machine);
                reason
            }
            Mode::Step => self.step(),
            Mode::Range(start, end) => {
                for _ in 0..STEPS {
                    let reason = self.step()?;
                    let pc = self.program.machine.pc();
                    let arrived = !(start..end).contains(&pc);
                    if reason != Reason::DoneStep || arrived {
                        return Some(reason);
                    }
                    if self.breakpoints.contains(&pc) {
                        return Some(Reason::HwBreak(()));
                    }
                }
                None
            }
            Mode::StepBack => Some(self.step_back()),
            Mode::ContinueBack => Some(self.continue_back()),
        }
    }

    /// A piece of the run, to the next breakpoint at most.
    fn proceed(&mut self) -> Option<Reason> {
        if self.program.is_at_exit() {
            let ending = self.program.exited();
            return Some(self.end(ending));
        }
        let until = self.program.until(&self.breakpoints);
        let (stop, hit) = self.run_watched(&until);
        self.reason(&until, stop, hit)
    }

    /// One instruction, or the entry of an interrupt; nothing yet where the core sleeps on.
    fn step(&mut self) -> Option<Reason> {
        let machine = &self.program.machine;
        let (pc, instructions) = (machine.pc(), machine.instructions());
        let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
        let (stop, hit) = self.run_watched(&until);
        if let Some(reason) = self.reason(&until, stop, hit) {
            return Some(reason);
        }
        let machine = &self.program.machine;
        if (pc, instructions) != (machine.pc(), machine.instructions()) {
            return Some(Reason::DoneStep);
        }
        let until = self.program.until(&[]);
        let before = self.program.machine.snapshot();
        let mut first = FirstStep::default();
        let stop = self.program.machine.run_observed(&until, &mut first);
        let Some(cycles) = first.0 else { return self.reason(&until, stop, None) };
        self.program.machine = before;
        let until = Until { cycles: Some(cycles + 1), addresses: Vec::new() };
        let (stop, hit) = self.run_watched(&until);
        self.reason(&until, stop, hit).or(Some(Reason::DoneStep))
    }

    /// Runs on; where a watchpoint sees an access, only to the instruction that makes it, or to its
    /// end, as gdb takes it to be.
    fn run_watched(&mut self, until: &Until) -> (Result<Stop, mcu::Fault>, Option<Hit>) {
        let machine = &mut self.program.machine;
        if self.watchpoints.is_empty() {
            return (machine.run(until), None);
        }
        let before = machine.snapshot();
        let mut first = FirstAccess { watchpoints: &self.watchpoints, hit: None };
        let stop = machine.run_observed(until, &mut first);
        let Some(hit @ Hit::Access { cycles, .. }) = first.hit else { return (stop, None) };
        *machine = before;
        let end = if self.layout.stops_before_access { cycles } else { cycles + 1 };
        let until = Until { cycles: Some(end), addresses: Vec::new() };
        (machine.run(&until), Some(hit))
    }

    /// Why the program stopped, if it did.
    fn reason(&mut self, until: &Until, stop: Result<Stop, mcu::Fault>, hit: Option<Hit>) -> Option<Reason> {
        self.ended = None;
        match self.program.after(until, stop) {
            Piece::More => hit.map(stopped_by),
            Piece::Stopped => Some(Reason::HwBreak(())),
            Piece::Ended(ending) => Some(self.end(ending)),
        }
    }

    fn end(&mut self, ending: Ending) -> Reason {
        let reason = match &ending.failure {
            // The machine is there, to be looked at.
            Some(fault @ LabError::Fault { .. }) => {
                (self.program.say)(&fault.to_string());
                Reason::Signal(Signal::SIGSEGV)
            }
            Some(_) if self.program.interrupted() => Reason::Terminated(Signal::SIGINT),
            Some(_) => Reason::Terminated(Signal::SIGXCPU),
            None => Reason::Exited(u8::try_from(ending.code).unwrap_or(u8::MAX)),
        };
        self.ended = Some(ending);
        reason
    }

    /// To the instruction before.
    fn step_back(&mut self) -> Reason {
        let now = self.program.machine.cycles();
        for (from, _) in self.history.before(now) {
            let mut last = LastStep { before: now, cycles: None };
            self.program.repeated(from, now, Some(&mut last));
            if let Some(cycles) = last.cycles {
                let machine = self.program.repeated(from, cycles, None);
                self.program.go_back_to(machine);
                return Reason::DoneStep;
            }
        }
        Reason::ReplayLog { tid: None, pos: ReplayLogPosition::Begin }
    }

    /// To the last breakpoint or watchpoint that was met, otherwise to the beginning.
    fn continue_back(&mut self) -> Reason {
        let now = self.program.machine.cycles();
        let mut beginning = None;
        for (from, end) in self.history.before(now) {
            let (breakpoints, watchpoints) = (&self.breakpoints, &self.watchpoints);
            let mut last = LastHit { before: now, breakpoints, watchpoints, hit: None };
            self.program.repeated(from, end, Some(&mut last));
            if let Some(hit) = last.hit {
                let (Hit::Breakpoint { cycles } | Hit::Access { cycles, .. }) = hit;
                let machine = self.program.repeated(from, cycles, None);
                self.program.go_back_to(machine);
                return stopped_by(hit);
            }
            beginning = Some(from.snapshot());
        }
        if let Some(machine) = beginning {
            self.program.go_back_to(machine);
        }
        Reason::ReplayLog { tid: None, pos: ReplayLogPosition::Begin }
    }

    /// Somebody changed the machine: from here on the program may take another way, and what was
    /// before cannot be had again.
    fn changed(&mut self) {
        self.program.takes_another_way();
        self.history = History::begin(&*self.program.machine);
    }

    fn set_mode(&mut self, mode: Mode) -> Result<(), Infallible> {
        self.mode = mode;
        Ok(())
    }
}

fn stopped_by(hit: Hit) -> Reason {
    match hit {
        Hit::Breakpoint { .. } => Reason::HwBreak(()),
        Hit::Access { watchpoint, address, .. } => {
            Reason::Watch { tid: (), kind: watchpoint.kind, addr: address }
        }
    }
}

/// Any core: what is in which register is [`Layout`]'s.
pub(super) enum AnyArch {}

/// The registers as they go over the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(Vec<u8>);

impl Registers for Bytes {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        0
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.0.iter().for_each(|byte| write_byte(Some(*byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}

impl Arch for AnyArch {
    type Usize = u32;
    type Registers = Bytes;
    type BreakpointKind = usize;
    type RegId = ();
}

impl Target for Session<'_, '_> {
    type Arch = AnyArch;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, AnyArch, Infallible> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn use_target_description_xml(&self) -> bool {
        !self.layout.description.is_empty()
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl TargetDescriptionXmlOverride for Session<'_, '_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let text = self.layout.description.as_bytes();
        let rest = text.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let count = rest.len().min(length).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl SingleThreadBase for Session<'_, '_> {
    fn read_registers(&mut self, registers: &mut Bytes) -> TargetResult<(), Self> {
        registers.0 = self.layout.read(&*self.program.machine);
        Ok(())
    }

    fn write_registers(&mut self, registers: &Bytes) -> TargetResult<(), Self> {
        self.layout.write(&mut *self.program.machine, &registers.0);
        self.changed();
        Ok(())
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        let machine = &self.program.machine;
        if machine.peek(start, data) {
            return Ok(data.len());
        }
        if machine.inspect(start, data) {
            return Ok(data.len());
        }
        // As far as there is memory.
        let byte = |(index, byte): (usize, &mut u8)| {
            let address = start.wrapping_add(index as u32);
            machine.peek(address, std::slice::from_mut(byte))
        };
        match data.iter_mut().enumerate().map(byte).take_while(|known| *known).count() {
            0 => Err(TargetError::NonFatal),
            count => Ok(count),
        }
    }

    fn write_addrs(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        if !self.program.machine.poke(start, data) {
            return Err(TargetError::NonFatal);
        }
        self.changed();
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadResume for Session<'_, '_> {
    fn resume(&mut self, _: Option<Signal>) -> Result<(), Infallible> {
        self.set_mode(Mode::Continue)
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<SingleThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, (), Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, (), Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for Session<'_, '_> {
    fn step(&mut self, _: Option<Signal>) -> Result<(), Infallible> {
        self.set_mode(Mode::Step)
    }
}

impl SingleThreadRangeStepping for Session<'_, '_> {
    fn resume_range_step(&mut self, start: u32, end: u32) -> Result<(), Infallible> {
        self.set_mode(Mode::Range(start, end))
    }
}

impl ReverseStep<()> for Session<'_, '_> {
    fn reverse_step(&mut self, (): ()) -> Result<(), Infallible> {
        self.set_mode(Mode::StepBack)
    }
}

impl ReverseCont<()> for Session<'_, '_> {
    fn reverse_cont(&mut self) -> Result<(), Infallible> {
        self.set_mode(Mode::ContinueBack)
    }
}

impl Breakpoints for Session<'_, '_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

/// No breakpoint is written into the program, whichever kind gdb asks for: the machine stops before
/// an address.
impl HwBreakpoint for Session<'_, '_> {
    fn add_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.breakpoints.push(address);
        Ok(true)
    }

    fn remove_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        let found = self.breakpoints.iter().position(|known| *known == address);
        Ok(found.map(|index| self.breakpoints.swap_remove(index)).is_some())
    }
}

impl SwBreakpoint for Session<'_, '_> {
    fn add_sw_breakpoint(&mut self, address: u32, kind: usize) -> TargetResult<bool, Self> {
        self.add_hw_breakpoint(address, kind)
    }

    fn remove_sw_breakpoint(&mut self, address: u32, kind: usize) -> TargetResult<bool, Self> {
        self.remove_hw_breakpoint(address, kind)
    }
}

impl HwWatchpoint for Session<'_, '_> {
    fn add_hw_watchpoint(&mut self, start: u32, length: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        self.watchpoints.push(Watchpoint { start, length, kind });
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, start: u32, length: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        let gone = Watchpoint { start, length, kind };
        let found = self.watchpoints.iter().position(|known| *known == gone);
        Ok(found.map(|index| self.watchpoints.swap_remove(index)).is_some())
    }
}

impl MonitorCmd for Session<'_, '_> {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Infallible> {
        let command = String::from_utf8_lossy(command);
        let machine = &self.program.machine;
        let words = command.split_whitespace().collect::<Vec<_>>().join(" ");
        let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == words);
        match synonym.map_or(&*words, |(_, command)| command) {
            "cycles" => {
                outputln!(out, "{} cycles, {} instructions", machine.cycles(), machine.instructions())
            }
            "time" => outputln!(out, "{:.9} s, at {} Hz now", self.program.seconds(), machine.clock_hz()),
            "reset" => {
                self.program.machine.reset();
                self.ended = None;
                self.changed();
                outputln!(
                    out,
                    "reset{}; 'maintenance flush register-cache' lets gdb see it",
                    self.program.place()
                );
            }
            "halt" => outputln!(out, "stopped{}", self.program.place()),
            "arm semihosting enable" => outputln!(out, "semihosting is enabled"),
            "status" => match &self.ended {
                Some(Ending { failure: Some(failure), .. }) => outputln!(out, "{failure}"),
                _ => outputln!(out, "stopped{}", self.program.place()),
            },
            "" | "help" => {
                for (name, what) in COMMANDS {
                    outputln!(out, "{name:24}{what}");
                }
            }
            other => {
                let known = COMMANDS.map(|(name, _)| name);
                outputln!(out, "there is no 'monitor {other}'{}", names::suggestion(other, known));
            }
        }
        Ok(())
    }
}
