//! The run without a fault: its window, its instructions there, and its end.

use super::length::length;
use super::markers::{Markers, Met, Sent};
use super::quiet::{Listener, Write, is_quiet};
use super::{Request, Window};
use crate::LabError;
use crate::ct::firmware::return_addresses;
use crate::harness::place_fault;
use crate::target::Target;
use firmware::Firmware;
use mcu::{Access, AccessKind, CoreName, Mcu, NoObserver, Observer, Part, Role, SleepInterval, Stop, Until};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The most instructions of a window.
const WINDOW_MAX: usize = 4_000_000;
/// Cycles between two looks at what was sent, where that is a marker.
const LOOK_EVERY: u64 = 10_000;
/// Cycles between two looks at the size of the window.
const PIECE: u64 = 1_000_000;

/// An instruction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub pc: u32,
    /// Cycles since reset before it.
    pub cycles: u64,
}

/// A read of memory by an instruction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The instruction, by its number.
    pub step: u32,
    pub address: u32,
    pub size: u8,
    /// The same instruction writes there.
    pub is_written: bool,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub met: Option<Met>,
    /// The run's own end, where no marker was met.
    pub stop: Result<Stop, mcu::Fault>,
    pub pc: u32,
    pub cycles: u64,
    pub instructions: u64,
    /// Number of the output.
    pub output: u64,
}

/// The run without a fault.
pub(super) struct Reference {
    /// The machine before the window's first instruction: workers take copies.
    start: Mutex<Box<dyn Mcu>>,
    /// Its cycles since reset.
    pub start_cycles: u64,
    /// Faults whose handlers the whole run entered.
    pub faults_entered: usize,
    /// Output before it.
    pub sent: Sent,
    pub steps: Vec<Step>,
    /// By their instructions.
    reads: Vec<Read>,
    writes: Vec<(u32, Write)>,
    /// Instructions behind which an interrupt was taken.
    interrupted: BTreeSet<u32>,
    /// The first instruction from which on the whole rest of the run depends on registers and
    /// memory, and not on time; where absent, there is none.
    pub quiet_from: Option<usize>,
    /// Lengths of the window's instructions, by address.
    pub lengths: BTreeMap<u32, u32>,
    /// Cycles of the window.
    pub window_cycles: u64,
    pub end: End,
}

impl Reference {
    /// Runs a program from reset to a marker, and notes the instructions of the window.
    ///
    /// # Errors
    /// An unknown name; a window that is not reached, is empty or too large; an end that is bad, or
    /// no marker's.
    pub fn record(
        request: &Request,
        target: &Target,
        firmware: &Firmware,
        markers: &Markers,
        mut machine: Box<dyn Mcu>,
    ) -> Result<Reference, LabError> {
        let mut sent = Sent::default();
        machine.board_mut().take_sent();
        let window = Bounds::of(&request.window, firmware)?;
        let context = Context { request, target, firmware, markers };
        context.approach(&mut *machine, &window, &mut sent)?;
        let (start, before) = (machine.snapshot(), sent.clone());
        let mut recorder = Recorder::new(&target.part);
        let ended = context.pass_window(&mut *machine, &window, &mut sent, &mut recorder)?;
        let window_cycles = machine.cycles() - start.cycles();
        let limit = start.cycles().saturating_add(request.max_cycles);
        let mut rest = Listener::new(&target.part, false);
        let end = ended.unwrap_or_else(|| {
            finish(&mut *machine, markers, &mut sent, limit, Some(&mut rest as &mut dyn Observer))
        });
        let quiet_from = rest.is_quiet.then_some(recorder.quiet_from);
        let (mut steps, writes, interrupted) = (recorder.steps, recorder.writes, recorder.interrupted);
        if let Some((_, complete)) = sent.met {
            // What follows the text is no more of the run.
            steps.retain(|step| step.cycles <= complete);
        }
        let mut reads = recorder.reads;
        // No fault changes what a peripheral gives.
        reads.retain(|read| start.peek(read.address, &mut vec![0; read.size.into()]));
        context.check(&end)?;
        if steps.is_empty() {
            return Err(LabError::Unfinished("the window has no instruction".into()));
        }
        let lengths = lengths(&*start, firmware.core(), &steps);
        Ok(Reference {
            start_cycles: start.cycles(),
            start: Mutex::new(start),
            faults_entered: machine.faults_entered().len(),
            sent: before,
            steps,
            reads,
            writes,
            interrupted,
            quiet_from,
            lengths,
            window_cycles,
            end,
        })
    }

    /// A machine before the window's first instruction.
    pub fn start(&self) -> Box<dyn Mcu> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner).snapshot()
    }

    /// Reads of an instruction.
    pub fn reads_of(&self, step: usize) -> &[Read] {
        let begin = self.reads.partition_point(|read| (read.step as usize) < step);
        let end = self.reads.partition_point(|read| read.step as usize <= step);
        &self.reads[begin..end]
    }

    /// Writes of the instructions from one on up to another one.
    pub fn writes_of(&self, steps: Range<usize>) -> &[(u32, Write)] {
        let before = |end: usize| self.writes.partition_point(|(step, _)| (*step as usize) < end);
        &self.writes[before(steps.start)..before(steps.end)]
    }

    /// Returns true if an interrupt was taken behind an instruction.
    pub fn is_interrupted(&self, step: u32) -> bool {
        self.interrupted.contains(&step)
    }

    /// Difference between two runs of the same program, for a person.
    pub fn difference(&self, other: &Reference) -> Option<String> {
        difference((&self.steps, &self.end), (&other.steps, &other.end))
    }
}

fn lengths(machine: &dyn Mcu, core: CoreName, steps: &[Step]) -> BTreeMap<u32, u32> {
    let addresses: BTreeSet<u32> = steps.iter().map(|step| step.pc).collect();
    let known = |pc| Some((pc, length(machine, core, pc)?));
    addresses.into_iter().filter_map(known).collect()
}

fn difference(one: (&[Step], &End), other: (&[Step], &End)) -> Option<String> {
    let pairs = one.0.iter().zip(other.0).enumerate();
    let first = pairs.into_iter().find(|(_, (a, b))| a != b);
    if let Some((number, (a, b))) = first {
        return Some(format!(
            "instruction {number} of the window is at {:#x} in cycle {} of one run, at {:#x} in cycle {} of another",
            a.pc, a.cycles, b.pc, b.cycles
        ));
    }
    (one != other).then(|| {
        let (a, b) = (one.1, other.1);
        format!(
            "one run ends at {:#x} in cycle {}, another at {:#x} in cycle {}",
            a.pc, a.cycles, b.pc, b.cycles
        )
    })
}

/// Addresses or cycles of a window.
enum Bounds {
    /// From this address to the return of the call that begins there.
    Call(u32),
    Between(u32, u32),
    Cycles(Range<u64>),
}

impl Bounds {
    fn of(window: &Window, firmware: &Firmware) -> Result<Bounds, LabError> {
        Ok(match window {
            Window::Function(name) => Bounds::Call(firmware.functions()[firmware.function(name)?].address),
            Window::Between { from, to } => {
                Bounds::Between(firmware.symbol(from)?.address, firmware.symbol(to)?.address)
            }
            Window::Cycles(range) => Bounds::Cycles(range.clone()),
        })
    }
}

/// A request with the names that its run is read by.
struct Context<'a> {
    request: &'a Request,
    target: &'a Target,
    firmware: &'a Firmware,
    markers: &'a Markers,
}

impl Context<'_> {
    /// Runs to the window's first instruction.
    fn approach(&self, machine: &mut dyn Mcu, window: &Bounds, sent: &mut Sent) -> Result<(), LabError> {
        let (from, cycles) = match window {
            Bounds::Call(from) | Bounds::Between(from, _) => (Some(*from), self.request.max_cycles),
            Bounds::Cycles(range) => (None, range.start),
        };
        if from == Some(machine.pc()) || cycles == 0 {
            return Ok(());
        }
        let addresses = from.into_iter().chain(self.markers.addresses.iter().copied()).collect();
        let stop = machine.run(&Until { cycles: Some(cycles), addresses });
        sent.take(machine.board_mut(), self.markers);
        let met = sent.met.map(|(met, _)| met);
        let ended = match stop {
            Ok(Stop::Address(address)) if Some(address) == from && met.is_none() => return Ok(()),
            Ok(Stop::Cycles) if from.is_none() && met.is_none() => return Ok(()),
            Ok(Stop::Cycles) => format!("the program had not come there after {cycles} cycles"),
            Ok(Stop::Exit(code)) => format!("the program exited with {code} before"),
            Ok(Stop::Address(_)) => match met.or_else(|| self.markers.at(machine)) {
                Some(met) => format!("{} came before it", self.markers.name(met)),
                None => "the program exited before".into(),
            },
            Ok(_) => "the program ended before".into(),
            Err(fault) => return Err(place_fault(self.target, self.firmware, fault)),
        };
        let place = self.firmware.place(machine.pc());
        Err(LabError::Unfinished(format!("the window was not reached: {ended}{place}")))
    }

    /// Runs through the window, and notes its instructions; the run's end, if it comes within.
    fn pass_window(
        &self,
        machine: &mut dyn Mcu,
        window: &Bounds,
        sent: &mut Sent,
        recorder: &mut Recorder<'_>,
    ) -> Result<Option<End>, LabError> {
        let (ends, limit) = match window {
            Bounds::Call(_) => (Return::of(machine, self.firmware.core()), None),
            Bounds::Between(_, to) => (Return::at(*to), None),
            Bounds::Cycles(range) => (Return::never(), Some(range.end)),
        };
        let most = machine.cycles().saturating_add(self.request.max_cycles);
        let limit = limit.unwrap_or(most);
        let addresses: Vec<u32> = ends.addresses.iter().chain(&self.markers.addresses).copied().collect();
        let piece = if self.markers.has_output() { LOOK_EVERY } else { PIECE };
        loop {
            let until = Until {
                cycles: Some(machine.cycles().saturating_add(piece).min(limit)),
                addresses: addresses.clone(),
            };
            let stop = machine.run_observed(&until, recorder);
            sent.take(machine.board_mut(), self.markers);
            if let Some((met, _)) = sent.met {
                return Ok(Some(closed(Some(met), stop, machine, self.markers, sent)));
            }
            if recorder.steps.len() > WINDOW_MAX {
                let said = format!(
                    "the window has more than {WINDOW_MAX} instructions; narrow it by --function, by --from and --to, or by --window"
                );
                return Err(LabError::Usage(said));
            }
            match stop {
                Ok(Stop::Cycles) if machine.cycles() >= limit => return Ok(None),
                Ok(Stop::Cycles) => {}
                Ok(Stop::Address(address)) if ends.has_come(address, machine.sp()) => return Ok(None),
                Ok(Stop::Address(_)) if self.markers.at(machine).is_none() => {
                    if self.markers.exit_code(machine).is_some() {
                        return Ok(Some(closed(None, stop, machine, self.markers, sent)));
                    }
                }
                stop => {
                    let met = met(&stop, machine, self.markers);
                    return Ok(Some(closed(met, stop, machine, self.markers, sent)));
                }
            }
        }
    }

    /// Refuses a run that does not end at a good marker.
    fn check(&self, end: &End) -> Result<(), LabError> {
        let place = self.firmware.place(end.pc);
        let said = match (end.met, &end.stop) {
            (Some(Met::Good(_)), _) => return Ok(()),
            (Some(bad), _) => format!(
                "the run without a fault is bad: {} was met in cycle {}{place}; give the program input that it refuses, or other markers",
                self.markers.name(bad),
                end.cycles
            ),
            (None, Err(fault)) => return Err(place_fault(self.target, self.firmware, fault.clone())),
            (None, Ok(stop)) => format!(
                "the run without a fault met no marker: it {} in cycle {}{place}",
                ended(*stop, self.request.max_cycles),
                end.cycles
            ),
        };
        Err(LabError::Unfinished(said))
    }
}

/// End of a run without a marker, as the end of a sentence.
pub(super) fn ended(stop: Stop, cycles: u64) -> String {
    match stop {
        Stop::Cycles => format!("had not ended after {cycles} cycles"),
        Stop::Address(_) | Stop::Exit(_) => "exited with a code that is no marker".into(),
        Stop::Halted => "came to a halt".into(),
        Stop::PowerLost => "lost its supply".into(),
        Stop::Breakpoint => "reached a breakpoint".into(),
    }
}

fn met(stop: &Result<Stop, mcu::Fault>, machine: &dyn Mcu, markers: &Markers) -> Option<Met> {
    match stop {
        Ok(Stop::Address(_)) => markers.at(machine),
        Ok(Stop::Exit(code)) => markers.exited(*code),
        Err(mcu::Fault::Returned { .. }) => markers.exited(0),
        _ => None,
    }
}

impl End {
    fn of(met: Option<Met>, stop: Result<Stop, mcu::Fault>, machine: &dyn Mcu, sent: &Sent) -> End {
        End {
            met,
            stop,
            pc: machine.pc(),
            cycles: machine.cycles(),
            instructions: machine.instructions(),
            output: sent.digest(),
        }
    }
}

/// Runs on to a marker, to the program's end, or to a cycle.
pub(super) fn finish(
    machine: &mut dyn Mcu,
    markers: &Markers,
    sent: &mut Sent,
    limit: u64,
    mut observer: Option<&mut dyn Observer>,
) -> End {
    // A run does not stop where it begins.
    if let Some(met) = markers.at(machine) {
        return closed(Some(met), Ok(Stop::Address(machine.pc())), machine, markers, sent);
    }
    if markers.exit_code(machine).is_some() {
        return closed(None, Ok(Stop::Address(machine.pc())), machine, markers, sent);
    }
    let piece = if markers.has_output() { LOOK_EVERY } else { u64::MAX };
    let mut until = Until { cycles: None, addresses: markers.addresses.clone() };
    loop {
        until.cycles = Some(machine.cycles().saturating_add(piece).min(limit));
        let stop = match &mut observer {
            None => machine.run(&until),
            Some(observer) => machine.run_observed(&until, *observer),
        };
        if markers.has_output() {
            sent.take(machine.board_mut(), markers);
            if let Some((met, _)) = sent.met {
                return closed(Some(met), stop, machine, markers, sent);
            }
        }
        if stop != Ok(Stop::Cycles) || machine.cycles() >= limit {
            return closed(met(&stop, machine, markers), stop, machine, markers, sent);
        }
    }
}

/// The end of a run that has stopped.
pub(super) fn end_of(
    stop: Result<Stop, mcu::Fault>,
    machine: &mut dyn Mcu,
    markers: &Markers,
    sent: &mut Sent,
) -> End {
    closed(met(&stop, machine, markers), stop, machine, markers, sent)
}

/// The end, once what is under way has left the UARTs.
fn closed(
    met: Option<Met>,
    stop: Result<Stop, mcu::Fault>,
    machine: &mut dyn Mcu,
    markers: &Markers,
    sent: &mut Sent,
) -> End {
    let mut end = End::of(met, stop, machine, sent);
    machine.finish_sending(&mut NoObserver);
    sent.take(machine.board_mut(), markers);
    if end.met.is_none() {
        end.met = sent.met.map(|(met, _)| met);
    }
    end.output = sent.digest();
    end
}

/// Return of a call.
struct Return {
    addresses: Vec<u32>,
    /// The stack pointer at the call's first instruction, and the core; where absent, any.
    sp: Option<(u32, CoreName)>,
    is_linked: bool,
}

impl Return {
    /// The return of the call whose first instruction comes next.
    fn of(machine: &dyn Mcu, core: CoreName) -> Return {
        let linked = machine.register_names().iter().position(|register| register.role == Role::Link);
        let addresses = match linked {
            Some(register) => vec![machine.registers()[register].1 & !1],
            None => return_addresses(machine, core),
        };
        Return { addresses, sp: Some((machine.sp(), core)), is_linked: linked.is_some() }
    }

    fn at(address: u32) -> Return {
        Return { addresses: vec![address], sp: None, is_linked: false }
    }

    fn never() -> Return {
        Return { addresses: Vec::new(), sp: None, is_linked: false }
    }

    fn has_come(&self, address: u32, sp: u32) -> bool {
        self.addresses.contains(&address)
            && self.sp.is_none_or(|(entry, core)| match core {
                CoreName::Mcs51 => sp < entry,
                _ if self.is_linked => sp >= entry,
                _ => sp > entry,
            })
    }
}

/// Notes the instructions of a window, their reads and their writes.
struct Recorder<'a> {
    part: &'a Part,
    steps: Vec<Step>,
    reads: Vec<Read>,
    writes: Vec<(u32, Write)>,
    interrupted: BTreeSet<u32>,
    /// The first instruction behind the last one that depends on time.
    quiet_from: usize,
    /// Writes of the last instruction.
    written: BTreeSet<u32>,
}

impl Recorder<'_> {
    fn new(part: &Part) -> Recorder<'_> {
        Recorder {
            part,
            steps: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            interrupted: BTreeSet::new(),
            quiet_from: 0,
            written: BTreeSet::new(),
        }
    }
}

impl Observer for Recorder<'_> {
    fn step(&mut self, step: &mcu::Step) {
        self.written.clear();
        self.steps.push(Step { pc: step.pc, cycles: step.cycles });
    }

    fn interrupt(&mut self, _: u32) {
        self.quiet_from = self.steps.len();
        self.interrupted.extend(self.steps.len().checked_sub(1).map(|step| step as u32));
    }

    fn sleep(&mut self, _: &SleepInterval) {
        self.quiet_from = self.steps.len();
    }

    fn reset(&mut self, _: u64) {
        self.quiet_from = self.steps.len();
    }

    fn access(&mut self, access: &Access) {
        let Some(step) = self.steps.len().checked_sub(1) else { return };
        if !is_quiet(self.part, access) {
            self.quiet_from = self.steps.len();
        }
        let (step, bytes) = (step as u32, access.address..access.address.saturating_add(access.size.into()));
        match access.kind {
            AccessKind::Read => {
                let (address, size) = (access.address, access.size);
                let is_written = bytes.into_iter().any(|byte| self.written.contains(&byte));
                self.reads.push(Read { step, address, size, is_written });
            }
            AccessKind::Write => {
                let own = self.reads.iter_mut().rev().take_while(|read| read.step == step);
                for read in own {
                    let end = read.address.saturating_add(read.size.into());
                    read.is_written |= read.address < bytes.end && bytes.start < end;
                }
                self.written.extend(bytes);
                self.writes.push((step, Write { address: access.address, size: access.size }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_differ_are_told_by_their_first_difference() {
        let step = |pc, cycles| Step { pc, cycles };
        let end = |output| End {
            met: Some(Met::Good(0)),
            stop: Ok(Stop::Address(8)),
            pc: 8,
            cycles: 9,
            instructions: 2,
            output,
        };
        let (one, other) = ([step(0, 0), step(2, 1)], [step(0, 0), step(2, 3)]);
        assert_eq!(difference((&one, &end(1)), (&one, &end(1))), None);
        let said = difference((&one, &end(1)), (&other, &end(1))).expect("they differ");
        assert!(said.contains("instruction 1") && said.contains("cycle 3"), "{said}");
        assert!(difference((&one, &end(1)), (&one, &end(2))).is_some(), "another output");
        assert!(difference((&one, &end(1)), (&one[..1], &end(1))).is_some(), "a shorter window");
    }
}
