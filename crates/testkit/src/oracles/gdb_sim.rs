//! GDB's simulators of the R8C (`sim/m32c` of GDB 13.1, Debian package `gdb-source`) and of the
//! MSP430 (`sim/msp430`), each in a program of ours around it that `build-gdb-sim` builds into the
//! user's cache.
//!
//! A [`Script`] collects commands: write memory, execute one instruction from given registers, read
//! memory. [`Script::run`] has a fresh simulator execute all of them; its memory is zero at first.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

/// The R8C's registers, in this order: `r0` to `r3`, `a0`, `a1`, `fb` of bank 0, the same of bank
/// 1, `sb`, `usp`, `isp`, `flg`, `intb`, `pc`.
pub type R8cRegisters = [u32; 20];
/// The MSP430's: R0 to R15; and in answers, 1 where the instruction was executed, 0 where the
/// simulator stopped at it.
pub type Msp430Registers = [u32; 17];

/// One of the simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulator {
    /// Of the R8C.
    M32c,
    /// Of the MSP430.
    Msp430,
}

impl Simulator {
    fn family(self) -> &'static str {
        match self {
            Simulator::M32c => "m32c",
            Simulator::Msp430 => "msp430",
        }
    }
}

/// Answer to a command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<const REGISTERS: usize> {
    /// The registers after [`Script::step`].
    Registers([u32; REGISTERS]),
    /// The bytes of [`Script::read`].
    Bytes(Vec<u8>),
}

enum Expected {
    Registers,
    Bytes(usize),
}

/// Commands for one run of a simulator with `REGISTERS` registers.
pub struct Script<const REGISTERS: usize> {
    simulator: Simulator,
    commands: Vec<u8>,
    expected: Vec<Expected>,
}

impl<const REGISTERS: usize> Script<REGISTERS> {
    #[must_use]
    pub fn new(simulator: Simulator) -> Self {
        Script { simulator, commands: Vec::new(), expected: Vec::new() }
    }

    fn words(&mut self, words: &[u32]) {
        for word in words {
            self.commands.extend(word.to_le_bytes());
        }
    }

    /// Writes memory. Below 0x500 the simulators have devices of their own.
    pub fn write(&mut self, address: u32, bytes: &[u8]) {
        self.words(&[0, address, bytes.len() as u32]);
        self.commands.extend(bytes);
    }

    /// Reads memory.
    pub fn read(&mut self, address: u32, size: usize) {
        self.words(&[1, address, size as u32]);
        self.expected.push(Expected::Bytes(size));
    }

    /// Executes the instruction at the program counter from these registers.
    pub fn step(&mut self, registers: &[u32; REGISTERS]) {
        self.words(&[2]);
        self.words(registers);
        self.expected.push(Expected::Registers);
    }

    /// Runs the commands and gives the answers of those that have one, in order.
    ///
    /// # Errors
    /// If the simulator cannot be built (the error has the next step), or ends early: at an
    /// instruction that it does not know.
    pub fn run(self) -> io::Result<Vec<Answer<REGISTERS>>> {
        let mut child =
            Command::new(program(self.simulator)?).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the simulator has no pipes"));
        };
        let commands = self.commands;
        // Both pipes at once, lest each side wait for the other. The simulator's early end shows in
        // its answers.
        let writer = std::thread::spawn(move || input.write_all(&commands));
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes)?;
        let _ = writer.join();
        child.wait()?;
        let mut rest = &bytes[..];
        let mut take = |size: usize| {
            let (taken, left) = rest
                .split_at_checked(size)
                .ok_or_else(|| io::Error::other("the simulator ended before its last command"))?;
            rest = left;
            Ok::<_, io::Error>(taken)
        };
        self.expected
            .iter()
            .map(|expected| match expected {
                Expected::Bytes(size) => Ok(Answer::Bytes(take(*size)?.to_vec())),
                Expected::Registers => {
                    let mut registers = [0; REGISTERS];
                    for (register, word) in registers.iter_mut().zip(take(4 * REGISTERS)?.as_chunks::<4>().0)
                    {
                        *register = u32::from_le_bytes(*word);
                    }
                    Ok(Answer::Registers(registers))
                }
            })
            .collect()
    }
}

/// The simulator, built where it is not there yet.
fn program(simulator: Simulator) -> io::Result<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/build-gdb-sim");
    let output = Command::new(script).arg(simulator.family()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
