//! A program that runs: its bytes in and out, its end, and the way back to an earlier time.

mod embedded;
pub(crate) mod exit;
mod faults;
mod input;
mod journal;
mod lines;
mod pace;

use crate::rtt::{self, Rtt};
use crate::target::Target;
use crate::traces::{Recorder, TraceFiles};
use crate::user_firmware::{Setup, advice_on};
use crate::{LabError, names};
pub use embedded::run_tests;
use firmware::Firmware;
pub(crate) use input::Input;
use journal::{Event, Journal};
use lines::Lines;
use mcu::{Fault, Mcu, NoObserver, Observer, Stop, Until};
use pace::{LOOKS_PER_S, Pace};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// Cycles between two looks at what was sent, at input and at Ctrl-C: some milliseconds of the
/// host.
const LOOK_EVERY: u64 = 1_000_000;

/// Parameters of a program's run.
#[derive(Clone, Debug)]
pub struct Request {
    pub setup: Setup,
    /// The ports whose bytes are wanted: UARTs by their names in the target file, `ITM.0`, `RTT.0`,
    /// `semihosting`; none: all.
    pub ports: Vec<String>,
    /// The UART that input goes to; where absent, the only one.
    pub uart: Option<String>,
    /// The function that ends the program, its argument being the exit code; where absent, `_exit`,
    /// if there is one.
    pub exit: Option<String>,
    /// Sleep that nothing ends is the program's end, and no failure.
    pub ends_asleep: bool,
    /// The run goes no faster than the part: somebody outside talks to it.
    pub is_paced: bool,
    /// Give up after this many cycles.
    pub max_cycles: Option<u64>,
    /// Give up after this much of the program's time, in seconds.
    pub max_time_s: Option<f64>,
    /// Further files that are written of the run.
    pub traces: TraceFiles,
    /// Arguments that the program finds by semihosting.
    pub arguments: Vec<String>,
}

/// Opens a source of bytes, which come piece by piece.
pub type OpenInput<'a> = Box<dyn FnOnce() -> Result<Receiver<Vec<u8>>, LabError> + 'a>;

/// Connections of a run to the world outside.
pub struct Outside<'a> {
    /// True once the run is to end.
    pub interrupted: &'a AtomicBool,
    /// Opens the source of bytes for a UART, once all else is known to be right.
    pub input: Option<OpenInput<'a>>,
    /// Address at which the program waits for gdb.
    pub gdb: Option<TcpListener>,
    /// Takes what the program sends, with its port; it can end the run.
    pub out: &'a mut dyn FnMut(&str, &[u8]) -> ControlFlow<()>,
    /// Takes what a person should know while the run goes on.
    pub say: &'a mut dyn FnMut(&str),
}

/// Behaviour of a program that has lost its wake-up.
pub(crate) const IN_VAIN: &str =
    "is asleep, and nothing can wake it: no interrupt that it listens to can come";

/// The port by which semihosting writes.
const SEMIHOSTING: &str = "semihosting";
/// Parts of the names of models by which programs send bytes.
const SENDERS: [&str; 7] = ["usart", "uart", "sercom", "usci", "debug-data", "stm32-i2c", "stm32-spi"];
/// Ports that are numbered, by what stands before the point.
const NUMBERED: [&str; 2] = ["ITM", "RTT"];

/// Checks that the part has these ports: one that nothing leaves by would hide the program's
/// output.
pub(crate) fn check_ports(wanted: &[String], target: &Target) -> Result<(), LabError> {
    let sends = |model: &str| SENDERS.iter().any(|kind| model.contains(kind));
    let senders = target.part.peripherals.iter().filter(|spec| sends(&spec.model));
    let named: Vec<&str> = senders.map(|spec| spec.name.as_str()).collect();
    for port in wanted {
        let numbered = port
            .split_once('.')
            .is_some_and(|(kind, number)| NUMBERED.contains(&kind) && number.parse::<u8>().is_ok());
        if !numbered && port != SEMIHOSTING && !named.contains(&port.as_str()) {
            let known = named.iter().copied().chain([SEMIHOSTING, "ITM.0", "RTT.0"]);
            let suggestion = names::suggestion(port, known);
            return Err(LabError::UnknownName { what: "port", name: port.clone(), suggestion });
        }
    }
    Ok(())
}

/// End of a program.
pub(crate) struct Ending {
    /// Its exit code.
    pub code: u32,
    /// For a person.
    pub text: String,
    /// Why it ended before the program did.
    pub failure: Option<LabError>,
}

impl Ending {
    pub fn of(code: u32, text: impl Into<String>) -> Ending {
        Ending { code, text: text.into(), failure: None }
    }

    pub fn failed(text: impl Into<String>, failure: LabError) -> Ending {
        Ending { code: 1, text: text.into(), failure: Some(failure) }
    }
}

/// Halt of a program.
#[derive(Clone)]
struct Halt {
    /// For a person.
    text: String,
    /// It sleeps, and has lost its wake-up.
    in_vain: bool,
}

/// End of a piece of a run.
pub(crate) enum Piece {
    /// The program goes on.
    More,
    /// At one of the addresses that were asked for, or at a breakpoint instruction.
    Stopped,
    /// It does not go on.
    Ended(Ending),
}

/// A program that runs, and what goes in and out.
pub(crate) struct Program<'a> {
    pub target: &'a Target,
    pub firmware: &'a Firmware,
    pub machine: Box<dyn Mcu>,
    pub say: &'a mut dyn FnMut(&str),
    interrupted: &'a AtomicBool,
    out: &'a mut dyn FnMut(&str, &[u8]) -> ControlFlow<()>,
    request: &'a Request,
    exit: Option<u32>,
    rtt: Option<Rtt>,
    input: Option<Input>,
    journal: Journal,
    /// The cycle of the last look at what goes in and out.
    looked: u64,
    /// The program is on a way that it has gone before, up to this cycle: what goes in is known,
    /// and what goes out is out.
    known_to: Option<u64>,
    lines: Lines,
    /// Halt of the program while its peripherals run on.
    ended: Option<Halt>,
    /// Faults that were told of.
    faults: usize,
    /// Pace of the run, where it has one.
    pace: Option<Pace>,
}

impl<'a> Program<'a> {
    /// A program in this machine, about to run.
    ///
    /// # Errors
    /// A function to exit by that does not exist; a port that the part does not have; a UART that
    /// cannot receive, or that is named without input.
    pub fn new<'o: 'a>(
        target: &'a Target,
        firmware: &'a Firmware,
        machine: Box<dyn Mcu>,
        request: &'a Request,
        outside: Outside<'o>,
    ) -> Result<Program<'a>, LabError> {
        let exit = exit::address(request.exit.as_deref(), firmware)?;
        check_ports(&request.ports, target)?;
        let Outside { interrupted, input, out, say, .. } = outside;
        let input = match input {
            Some(open) => Some(Input::open(request.uart.as_deref(), target, &*machine, open)?),
            None if request.uart.is_some() => {
                return Err(LabError::Usage("--uart names where input goes: give --input, too".into()));
            }
            None => None,
        };
        Ok(Program {
            rtt: Rtt::of(firmware),
            looked: machine.cycles(),
            target,
            firmware,
            machine,
            request,
            exit,
            input,
            out,
            say,
            interrupted,
            journal: Journal::default(),
            known_to: None,
            lines: Lines::default(),
            ended: None,
            faults: 0,
            pace: request.is_paced.then(Pace::new),
        })
    }

    /// Runs the program to its end, recorded where something is to be.
    pub fn run_to_end(&mut self, mut recorder: Option<&mut Recorder<'_>>) -> Ending {
        loop {
            let until = self.until(&[]);
            let stop = match &mut recorder {
                None => self.machine.run(&until),
                Some(recorder) => {
                    let stop = self.machine.run_observed(&until, *recorder);
                    // The last instruction, and what it was: the next run begins anew.
                    recorder.step(&self.machine.next_step());
                    stop
                }
            };
            match self.after(&until, stop) {
                Piece::More => {}
                Piece::Stopped => {
                    let failure = LabError::Unfinished(format!("breakpoint{}", self.place()));
                    return Ending::failed("a breakpoint was reached", failure);
                }
                Piece::Ended(ending) => return ending,
            }
        }
    }

    /// Limit of the next piece of the run, with addresses to stop at.
    pub fn until(&self, addresses: &[u32]) -> Until {
        let now = self.machine.cycles();
        let look = match (&self.pace, &self.rtt) {
            (Some(_), _) => (self.machine.clock_hz() / LOOKS_PER_S).max(1),
            (None, Some(_)) => rtt::LOOK_EVERY,
            (None, None) => LOOK_EVERY,
        };
        let mut end = now.saturating_add(look).min(self.request.max_cycles.unwrap_or(u64::MAX));
        if let Some(limit_s) = self.request.max_time_s {
            // The clock may change meanwhile: the rest is looked at again.
            let left = ((limit_s - self.seconds()).max(0.0) * self.machine.clock_hz() as f64).ceil() as u64;
            end = end.min(now.saturating_add(left.max(1)));
        }
        if let Some(known_to) = self.known_to {
            end = end.min(known_to).min(self.journal.next(now).unwrap_or(u64::MAX));
        }
        Until { cycles: Some(end), addresses: addresses.iter().copied().chain(self.exit).collect() }
    }

    /// A piece of the run, up to `until`, has ended so: passes on what goes in and out, and says
    /// what that means.
    pub fn after(&mut self, until: &Until, stop: Result<Stop, Fault>) -> Piece {
        let pc = self.machine.pc();
        let stop = match stop {
            // The next piece would not stop where it begins.
            Ok(Stop::Cycles) if until.addresses.contains(&pc) => Ok(Stop::Address(pc)),
            stop => stop,
        };
        if let Some(pace) = &self.pace {
            pace.wait(self.seconds());
        }
        let unread = self.pass_on().is_break();
        self.tell_faults();
        let place = self.place();
        Piece::Ended(match stop {
            Err(fault @ Fault::Returned { .. }) => Ending::of(0, format!("{fault}{place}")),
            Err(fault) => {
                let place = place + &advice_on(&*self.machine, &fault, self.target, self.firmware);
                let fault = LabError::Fault { target: self.target.name().into(), fault, place };
                Ending::failed("the model stopped", fault)
            }
            Ok(_) if unread => Ending::of(0, "nobody reads on"),
            Ok(Stop::Address(address)) if Some(address) == self.exit => self.exited(),
            Ok(Stop::Exit(code)) => Ending::of(code, format!("the program exited with {code}{place}")),
            Ok(Stop::Halted) => {
                let in_vain = self.machine.waits_in_vain();
                let does = if in_vain { IN_VAIN } else { "ended" };
                let runs_on = self.peripherals_run_on();
                if runs_on && self.request.max_time_s.is_some() {
                    let text = format!("the program {does} at cycle {}{place}", self.machine.cycles());
                    self.ended = Some(Halt { text, in_vain });
                    self.machine.board_mut().outlives_program = true;
                    return Piece::More;
                }
                let next = "; its peripherals would go on: --time 10ms lets them, so long in all";
                let text = format!("the program {does}{place}{}", if runs_on { next } else { "" });
                self.halted(Halt { text, in_vain })
            }
            Ok(Stop::Address(_) | Stop::Breakpoint) => return Piece::Stopped,
            Ok(Stop::PowerLost) => {
                let failure = LabError::Unfinished(format!("the supply is too low for the part{place}"));
                Ending::failed("the supply failed", failure)
            }
            Ok(Stop::Cycles) if self.interrupted() => {
                Ending::failed("interrupted", LabError::Unfinished(format!("interrupted{place}")))
            }
            Ok(Stop::Cycles) => {
                let Some(limit) = self.limit_reached() else { return Piece::More };
                if let Some(Halt { text, in_vain }) = self.ended.clone() {
                    let text = format!("{text}; its peripherals went on until {limit}");
                    return Piece::Ended(self.halted(Halt { text, in_vain }));
                }
                let failure = LabError::Unfinished(format!("the program had not ended after {limit}{place}"));
                Ending::failed(format!("stopped after {limit}"), failure)
            }
        })
    }

    /// The end of a program that has come to a halt by itself.
    fn halted(&self, Halt { text, in_vain }: Halt) -> Ending {
        let why = if in_vain && !self.request.ends_asleep {
            "where that is how it ends, --ends-asleep says so"
        } else if self.firmware.symbols().is_empty() && self.request.exit.is_none() {
            "its exit code is not known: the file has no symbols, so none that says where it exits; give one that is not stripped, its \
             address by --exit, or --exit none where it ends without a code"
        } else {
            return Ending::of(0, text);
        };
        Ending::failed(text.clone(), LabError::Unfinished(format!("{text}; {why}")))
    }

    /// Returns true if the peripherals of an ended program would still do anything, such as move
    /// pins.
    fn peripherals_run_on(&self) -> bool {
        let mut machine = self.machine.snapshot();
        machine.finish_sending(&mut NoObserver);
        machine.board_mut().outlives_program = true;
        machine.run(&Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() }) == Ok(Stop::Cycles)
    }

    /// Returns true if the run is to end.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The program has come to the function that ends it.
    pub fn is_at_exit(&self) -> bool {
        self.exit == Some(self.machine.pc())
    }

    /// The end by that function.
    pub fn exited(&self) -> Ending {
        let code = exit::code(&*self.machine, self.target.part.core);
        Ending::of(code, format!("the program exited with {code}{}", self.place()))
    }

    /// Names the program's place, as the end of a sentence.
    pub fn place(&self) -> String {
        self.firmware.place(self.machine.pc())
    }

    /// The program's time so far.
    pub fn seconds(&self) -> f64 {
        self.machine.board().time_ns(self.machine.cycles()) as f64 / 1e9
    }

    /// The limit that the run has come to, as it is written on the command line.
    fn limit_reached(&self) -> Option<String> {
        if let Some(cycles) = self.request.max_cycles.filter(|limit| self.machine.cycles() >= *limit) {
            return Some(format!("--max-cycles {cycles}"));
        }
        let time_s = self.request.max_time_s.filter(|limit| self.seconds() >= *limit)?;
        Some(format!("--time {time_s}s"))
    }

    /// Passes on what was sent, and what is to be received.
    fn pass_on(&mut self) -> ControlFlow<()> {
        let (before, now) = (self.looked, self.machine.cycles());
        self.looked = now;
        let sent = self.machine.board_mut().take_sent();
        if let Some(known_to) = self.known_to {
            self.known_to = (now < known_to).then_some(known_to);
            let events = Events { journal: &self.journal, rtt: self.rtt, input: self.input.as_ref() };
            events.repeat(&mut *self.machine, before, now);
            return ControlFlow::Continue(());
        }
        for piece in sent.chunk_by(|one, next| one.port == next.port) {
            let bytes: Vec<u8> = piece.iter().map(|sent| sent.byte).collect();
            self.hand_out(&piece[0].port, &bytes)?;
        }
        if let Some(rtt) = self.rtt {
            let fetched = rtt.fetch(&mut *self.machine);
            if !fetched.is_empty() {
                self.journal.note(now, Event::Fetched);
            }
            for (number, bytes) in fetched {
                self.hand_out(&format!("RTT.{number}"), &bytes)?;
            }
        }
        self.lines.looked(self.out)?;
        self.take_in();
        ControlFlow::Continue(())
    }

    fn hand_out(&mut self, port: &str, bytes: &[u8]) -> ControlFlow<()> {
        let ports = &self.request.ports;
        if ports.is_empty() || ports.iter().any(|wanted| wanted == port) {
            self.lines.pass(port, bytes, self.out)
        } else {
            ControlFlow::Continue(())
        }
    }

    fn take_in(&mut self) {
        let Some(input) = &mut self.input else { return };
        let bytes = input.take_in(&mut *self.machine);
        if !bytes.is_empty() {
            self.journal.note(self.machine.cycles(), Event::Received(bytes));
        }
    }

    /// Passes on what the peripherals still send, and the last lines, though they do not end.
    pub fn finish(&mut self) {
        self.machine.finish_sending(&mut NoObserver);
        // However that ends, the run has.
        let _ = self.pass_on();
        let _ = self.lines.finish(self.out);
    }

    /// From here on what comes in is noted, so that the run can be repeated.
    pub fn keep_journal(&mut self) {
        self.journal.is_recording = true;
    }

    /// The machine of an earlier time, `from`, as it was at the cycle `to`, up to which the run is
    /// repeated.
    pub fn repeated(&self, from: &dyn Mcu, to: u64, mut observer: Option<&mut dyn Observer>) -> Box<dyn Mcu> {
        let mut machine = from.snapshot();
        let events = Events { journal: &self.journal, rtt: self.rtt, input: self.input.as_ref() };
        while machine.cycles() < to {
            let before = machine.cycles();
            let end = self.journal.next(before).unwrap_or(u64::MAX).min(to);
            let until = Until { cycles: Some(end), addresses: Vec::new() };
            let stop = match &mut observer {
                Some(observer) => machine.run_observed(&until, *observer),
                None => machine.run(&until),
            };
            machine.board_mut().take_sent();
            let now = machine.cycles();
            events.repeat(&mut *machine, before, now);
            // It came further when it went this way first.
            if stop != Ok(Stop::Cycles) {
                break;
            }
        }
        machine
    }

    /// Goes on from an earlier time of this run.
    pub fn go_back_to(&mut self, machine: Box<dyn Mcu>) {
        let furthest = self.known_to.unwrap_or(0).max(self.machine.cycles());
        self.looked = machine.cycles();
        self.machine = machine;
        self.known_to = (self.looked < furthest).then_some(furthest);
    }

    /// Somebody changed the machine: what follows is not known any more.
    pub fn takes_another_way(&mut self) {
        self.known_to = None;
        self.looked = self.machine.cycles();
        self.journal.forget_after(self.looked);
    }
}

/// Events of the journal, to be repeated.
struct Events<'a> {
    journal: &'a Journal,
    rtt: Option<Rtt>,
    input: Option<&'a Input>,
}

impl Events<'_> {
    /// Repeats the events after a cycle, up to and including another.
    fn repeat(&self, machine: &mut dyn Mcu, after: u64, to: u64) {
        for (_, event) in self.journal.between(after, to) {
            match (event, self.input, self.rtt) {
                (Event::Received(bytes), Some(input), _) => {
                    machine.uart_receive(&input.uart, bytes);
                }
                (Event::Fetched, _, Some(rtt)) => drop(rtt.fetch(machine)),
                (Event::Received(_), None, _) | (Event::Fetched, _, None) => {}
            }
        }
    }
}
