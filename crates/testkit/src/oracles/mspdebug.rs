//! The simulator in mspdebug (Debian package `mspdebug`): the MSP430 with 16-bit registers and 64
//! KB of RAM.
//!
//! It is driven by a script; it counts no cycles and knows no MSP430X instructions.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Answer to a command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of [`Script::step`]: `R0` to `R15` after the instruction.
    Registers([u16; 16]),
    /// Of [`Script::read`].
    Bytes(Vec<u8>),
}

enum Expected {
    Nothing,
    Registers,
    Bytes(usize),
}

/// Commands for the simulator, run in one go.
#[derive(Default)]
pub struct Script {
    text: String,
    expected: Vec<Expected>,
}

impl Script {
    /// No commands yet. The simulator starts with undefined registers and memory.
    #[must_use]
    pub fn new() -> Script {
        Script::default()
    }

    fn push(&mut self, command: &str, expected: Expected) {
        self.text.push_str(command);
        self.text.push('\n');
        self.expected.push(expected);
    }

    /// Loads a file's bytes at an address.
    pub fn load(&mut self, file: &Path, address: u16) {
        self.push(&format!("load_raw {} {address:#x}", file.display()), Expected::Nothing);
    }

    pub fn set(&mut self, register: usize, value: u16) {
        self.push(&format!("set {register} {value:#x}"), Expected::Nothing);
    }

    /// Writes memory.
    pub fn write(&mut self, address: u16, bytes: &[u8]) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
        self.push(&format!("mw {address:#x} {}", bytes.join(" ")), Expected::Nothing);
    }

    /// Executes one instruction.
    pub fn step(&mut self) {
        self.push("step", Expected::Registers);
    }

    /// Reads up to 16 bytes of memory.
    pub fn read(&mut self, address: u16, size: usize) {
        self.push(&format!("md {address:#x} {size}"), Expected::Bytes(size));
    }

    /// Runs the commands and gives the answers of those that have one, in order.
    ///
    /// They go through a file, `path`, which is removed afterwards: from its standard input
    /// mspdebug reads byte by byte through a line editor, which takes ten times as long as the
    /// simulation.
    ///
    /// # Errors
    /// If the file cannot be written, or mspdebug cannot be started or answers otherwise than
    /// version 0.22 does.
    pub fn run(self, path: &Path) -> io::Result<Vec<Answer>> {
        std::fs::write(path, &self.text)?;
        let output = Command::new("mspdebug")
            .args(["-q", "-n", "sim", &format!("read {}", path.display())])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()?;
        std::fs::remove_file(path)?;
        let output = String::from_utf8_lossy(&output.stdout);
        // Each command is repeated before its answer.
        let mut sections = output.split("\n=> ");
        let mut answers = Vec::new();
        for expected in self.expected {
            let section = sections.next().ok_or_else(|| unexpected("fewer answers than commands"))?;
            match expected {
                Expected::Nothing => {}
                Expected::Registers => answers.push(Answer::Registers(registers(section)?)),
                Expected::Bytes(size) => answers.push(Answer::Bytes(bytes(section, size)?)),
            }
        }
        Ok(answers)
    }
}

fn unexpected(what: &str) -> io::Error {
    io::Error::other(format!("mspdebug: {what}"))
}

/// The block `( PC: 04000)  ( R4: 0ffff) …`, four registers a line: n, n + 4, n + 8, n + 12.
fn registers(section: &str) -> io::Result<[u16; 16]> {
    let values: Vec<u16> = section
        .split('(')
        .skip(1)
        .take(16)
        .map_while(|field| {
            let value = field.split(')').next()?.split(": ").nth(1)?;
            Some(u32::from_str_radix(value, 16).ok()? as u16)
        })
        .collect();
    if values.len() != 16 {
        return Err(unexpected(section));
    }
    Ok(std::array::from_fn(|register| values[register % 4 * 4 + register / 4]))
}

/// A line `    04000: 01 02 …                |..|`.
fn bytes(section: &str, size: usize) -> io::Result<Vec<u8>> {
    let dump = section.split_once(": ").map_or("", |(_, dump)| dump);
    let bytes: Vec<u8> =
        dump.split_whitespace().take(size).map_while(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    if bytes.len() == size { Ok(bytes) } else { Err(unexpected(section)) }
}
