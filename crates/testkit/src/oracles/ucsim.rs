//! The simulators of uCsim 0.6.4 (Debian package `sdcc-ucsim`): `s51` for the 8051, `shc08` for the
//! 68HC08.
//!
//! A [`Script`] collects commands: load an Intel hex file, write and read memory, set the program
//! counter, execute one instruction or all up to an address. [`Script::run`] has a fresh simulator
//! execute all of them and gives one [`Answer`] for each [`Script::step`], [`Script::run_to`],
//! [`Script::registers`] and [`Script::read`], in order. After a step the registers, the program
//! counter and the clocks that the instruction took are known without asking further. About 20,000
//! steps a second; a script of some ten thousand steps keeps the output in memory small.
//!
//! Memory and registers start with what the simulator likes: write all that matters. Registers are
//! written as memory:
//!
//! | simulator | memory | registers |
//! |---|---|---|
//! | `s51` | `rom` code, `xram` external data, `iram` internal data, `sfr` from 0x80 | in `iram` and `sfr` |
//! | `shc08` | `rom`: all 64 KB | `regs8`: 0 A, 1 CCR, 2 H, 3 X; `regs16`: 0 SP (one 16-bit value) |

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulator {
    /// `s51 -t 51`: the 8051 with 128 bytes of internal RAM. Twelve ticks are a machine cycle.
    S51,
    /// `shc08`: the 68HC08. A tick is a bus cycle.
    Shc08,
}

/// A register's name, what the simulator prints before its value, and bits.
type Printed = (&'static str, &'static str);

impl Simulator {
    fn command(self) -> Command {
        let mut command = Command::new(match self {
            Simulator::S51 => "s51",
            Simulator::Shc08 => "shc08",
        });
        if self == Simulator::S51 {
            command.args(["-t", "51"]);
        }
        command
    }

    /// Registers that stand alone in the simulator's print.
    fn printed(self) -> &'static [Printed] {
        match self {
            Simulator::S51 => &[
                ("a", " ACC= 0x"),
                ("b", " B= 0x"),
                ("psw", " PSW= 0x"),
                ("sp", "SP 0x"),
                ("dptr", " DPTR= 0x"),
            ],
            Simulator::Shc08 => {
                &[("a", " A= $"), ("h", " H= $"), ("x", " X= $"), ("sp", "SP= $"), ("ccr", " Flags= $")]
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The program counter.
    pub pc: u32,
    /// By name: `s51` a, b, psw, sp, dptr, r0 to r7 of the current bank; `shc08` a, h, x, sp, ccr.
    pub values: Vec<(&'static str, u32)>,
}

impl Registers {
    /// A register by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u32> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Answer to a command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of [`Script::step`] and [`Script::run_to`].
    Step {
        /// Duration of the instruction, or of all of them: clocks of the crystal (`s51`), bus
        /// cycles (`shc08`).
        ticks: u32,
        /// After that.
        registers: Registers,
    },
    /// Of [`Script::registers`].
    Registers(Registers),
    /// Of [`Script::read`].
    Bytes(Vec<u8>),
}

enum Expected {
    Nothing,
    Step,
    Run,
    Registers,
    Bytes(usize),
}

/// Bytes of one line of a dump, and of one command that writes.
const LINE: usize = 16;

/// Commands for a simulator, run in one go.
pub struct Script {
    simulator: Simulator,
    text: String,
    expected: Vec<Expected>,
}

impl Script {
    #[must_use]
    pub fn new(simulator: Simulator) -> Script {
        let mut script = Script { simulator, text: String::new(), expected: Vec::new() };
        if simulator == Simulator::Shc08 {
            // Its first step is the reset and executes nothing.
            script.push("step", Expected::Nothing);
        }
        script
    }

    fn push(&mut self, command: &str, expected: Expected) {
        self.text.push_str(command);
        self.text.push('\n');
        self.expected.push(expected);
    }

    /// Loads an Intel hex file into `rom`.
    pub fn load(&mut self, file: &Path) {
        self.push(&format!("file \"{}\"", file.display()), Expected::Nothing);
    }

    /// Writes one byte to each address from `first` to `last`, both included.
    pub fn fill(&mut self, memory: &str, first: u32, last: u32, byte: u8) {
        self.push(&format!("fill {memory} {first:#x} {last:#x} {byte:#x}"), Expected::Nothing);
    }

    pub fn write(&mut self, memory: &str, address: u32, bytes: &[u8]) {
        for (line, bytes) in bytes.chunks(LINE).enumerate() {
            let address = address as usize + line * LINE;
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            self.push(&format!("set mem {memory} {address:#x} {}", bytes.join(" ")), Expected::Nothing);
        }
    }

    /// Writes one cell of a memory of 16-bit cells, such as `regs16`.
    pub fn write_word(&mut self, memory: &str, address: u32, value: u16) {
        self.push(&format!("set mem {memory} {address:#x} {value:#x}"), Expected::Nothing);
    }

    /// Sets the program counter.
    pub fn jump(&mut self, pc: u32) {
        self.push(&format!("pc {pc:#x}"), Expected::Nothing);
    }

    /// Executes one instruction; answers.
    pub fn step(&mut self) {
        self.push("step", Expected::Step);
    }

    /// Executes from an address until the instruction at another one comes next, which must not be
    /// the first; answers. Some million instructions a second.
    pub fn run_to(&mut self, start: u32, stop: u32) {
        self.push(&format!("run {start:#x} {stop:#x}"), Expected::Run);
    }

    /// Reads the registers; answers.
    pub fn registers(&mut self) {
        self.push("info registers", Expected::Registers);
    }

    /// Reads memory; answers.
    pub fn read(&mut self, memory: &str, address: u32, size: usize) {
        let last = address as usize + size - 1;
        self.push(&format!("dump /h {memory} {address:#x} {last:#x} {LINE}"), Expected::Bytes(size));
    }

    /// Runs the commands; `path` is where they may be written for the simulator to read.
    ///
    /// # Errors
    /// The simulator is not there, or answers otherwise than version 0.6.4 does.
    pub fn run(self, path: &Path) -> io::Result<Vec<Answer>> {
        std::fs::write(path, &self.text)?;
        // Commands of a file are repeated one by one before their answers; those of a pipe as they
        // arrive.
        let output = self
            .simulator
            .command()
            .args(["-q", "-b", "-P", "-e", &format!("exec \"{}\"", path.display()), "-e", "quit"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        std::fs::remove_file(path)?;
        let output = output.map_err(|error| {
            io::Error::new(error.kind(), format!("{:?}, of the package sdcc-ucsim: {error}", self.simulator))
        })?;
        let output = String::from_utf8_lossy(&output.stdout);
        let mut lines = output.lines();
        // A command is never like a line of an answer.
        let mut line = lines.by_ref().find(|line| Some(*line) == self.text.lines().next());
        let mut commands = self.text.lines().peekable();
        let mut answers = Vec::new();
        let mut section = Vec::new();
        for expected in self.expected {
            let command = commands.next().unwrap_or_default();
            if line != Some(command) {
                return Err(unexpected(&format!("no answer to {command}")));
            }
            section.clear();
            line = lines.next();
            while let Some(answer) = line
                && Some(&answer) != commands.peek()
            {
                section.push(answer);
                line = lines.next();
            }
            answers.push(match expected {
                Expected::Nothing => continue,
                Expected::Step => {
                    Answer::Step { ticks: ticks(&section)?, registers: registers(self.simulator, &section)? }
                }
                Expected::Run => {
                    let ticks = simulated(&section)?;
                    Answer::Step { ticks, registers: registers(self.simulator, &section)? }
                }
                Expected::Registers => Answer::Registers(registers(self.simulator, &section)?),
                Expected::Bytes(size) => Answer::Bytes(bytes(&section, size)?),
            });
        }
        Ok(answers)
    }
}

fn unexpected(what: &str) -> io::Error {
    io::Error::other(format!("uCsim: {what}"))
}

/// The line `Stop at 0x000001: (109) stepped 12 ticks`.
fn ticks(section: &[&str]) -> io::Result<u32> {
    section
        .iter()
        .find_map(|line| line.strip_prefix("Stop at ")?.split_once(" stepped ")?.1.strip_suffix(" ticks"))
        .and_then(|ticks| ticks.parse().ok())
        .ok_or_else(|| unexpected(&section.join("\n")))
}

/// The line `Simulated 98892 ticks (8.942e-03 sec)`.
fn simulated(section: &[&str]) -> io::Result<u32> {
    section
        .iter()
        .find_map(|line| Some(line.strip_prefix("Simulated ")?.split_once(" ticks")?.0))
        .and_then(|ticks| ticks.parse().ok())
        .ok_or_else(|| unexpected(&section.join("\n")))
}

/// The digits from the start of a text on.
fn hexadecimal(text: &str) -> Option<u32> {
    let end = text.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(text.len());
    u32::from_str_radix(&text[..end], 16).ok()
}

fn registers(simulator: Simulator, section: &[&str]) -> io::Result<Registers> {
    const NAMES: [&str; 8] = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"];
    let find = |before: &str| section.iter().find_map(|line| hexadecimal(line.split_once(before)?.1));
    let all = || {
        let pc = section.iter().find_map(|line| hexadecimal(line.strip_prefix("0x")?))?;
        let mut values = Vec::new();
        for (name, before) in simulator.printed() {
            values.push((*name, find(before)?));
        }
        if simulator == Simulator::S51 {
            let header = section.iter().position(|line| line.trim_start().starts_with("R0 R1"))?;
            let mut bank = section.get(header + 1)?.split_whitespace();
            for name in NAMES {
                values.push((name, hexadecimal(bank.next()?)?));
            }
        }
        Some(Registers { pc, values })
    };
    all().ok_or_else(|| unexpected(&section.join("\n")))
}

/// Lines `0x0010 01 02 …  ..`, [`LINE`] bytes each.
fn bytes(section: &[&str], size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    for line in section.iter().filter(|line| line.starts_with("0x")) {
        let wanted = LINE.min(size - bytes.len());
        let dump = line.split_whitespace().skip(1).take(wanted);
        bytes.extend(dump.map_while(|byte| u8::from_str_radix(byte, 16).ok()));
    }
    if bytes.len() == size { Ok(bytes) } else { Err(unexpected(&section.join("\n"))) }
}
