//! Semihosting: requests of a program to a debugger's host, by `BKPT 0xAB`.
//!
//! Source: Arm, "Semihosting for AArch32 and AArch64".
//!
//! The console is told to the observer; it has no input. There are no files. The command line is
//! the board's. Time is the machine's own. A request takes no cycles beyond its breakpoint.

use super::core_state::CortexM;
use super::timing::Timing;
use crate::machine::Machine;
use crate::{Fault, Mcu as _, Observer};

/// The immediate of the breakpoint that is a request.
pub const CALL: u32 = 0xab;

/// The observer's name of the console.
const CONSOLE: &str = "semihosting";

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_READ: u32 = 0x06;
const SYS_READC: u32 = 0x07;
const SYS_ISERROR: u32 = 0x08;
const SYS_ISTTY: u32 = 0x09;
const SYS_SEEK: u32 = 0x0a;
const SYS_FLEN: u32 = 0x0c;
const SYS_TMPNAM: u32 = 0x0d;
const SYS_REMOVE: u32 = 0x0e;
const SYS_RENAME: u32 = 0x0f;
const SYS_CLOCK: u32 = 0x10;
const SYS_TIME: u32 = 0x11;
const SYS_SYSTEM: u32 = 0x12;
const SYS_ERRNO: u32 = 0x13;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_HEAPINFO: u32 = 0x16;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
const SYS_ELAPSED: u32 = 0x30;
const SYS_TICKFREQ: u32 = 0x31;

/// The reason of an end that is none of an error.
const ADP_STOPPED_APPLICATION_EXIT: u32 = 0x2_0026;

const FAILED: u32 = u32::MAX;

/// ENOENT of newlib, which all that is refused has for a reason.
const NO_SUCH_FILE: u32 = 2;

impl<T: Timing> Machine<CortexM<T>> {
    /// Does what R0 asks for, R1 being its parameter; the exit code where the program ends.
    ///
    /// # Errors
    /// An operation that does not exist, or parameters outside memory.
    pub(super) fn semihosting<O: Observer>(&mut self, observer: &mut O) -> Result<Option<u32>, Fault> {
        let [operation, parameter, ..] = self.core.state.r;
        let result = match operation {
            SYS_OPEN => self.open(parameter)?,
            SYS_CLOSE => 0,
            SYS_WRITEC => {
                self.console(parameter, 1, observer)?;
                parameter
            }
            SYS_WRITE0 => {
                let mut at = parameter;
                while self.byte(at)? != 0 {
                    self.console(at, 1, observer)?;
                    at = at.wrapping_add(1);
                }
                parameter
            }
            SYS_WRITE => {
                self.console(self.field(parameter, 1)?, self.field(parameter, 2)?, observer)?;
                0
            }
            // Nothing of what was asked for could be read.
            SYS_READ => self.field(parameter, 2)?,
            SYS_READC => FAILED,
            SYS_ISERROR => u32::from(self.field(parameter, 0)? as i32 <= -1),
            SYS_ISTTY => 1,
            SYS_FLEN => 0,
            SYS_SEEK | SYS_TMPNAM | SYS_REMOVE | SYS_RENAME | SYS_SYSTEM => FAILED,
            SYS_CLOCK => (u128::from(self.cycles) * 100 / u128::from(self.clock_hz())) as u32,
            SYS_TIME => (self.cycles / self.clock_hz()) as u32,
            SYS_ERRNO => NO_SUCH_FILE,
            SYS_GET_CMDLINE => self.command_line(parameter)?,
            // The program has its own idea of heap and stack.
            SYS_HEAPINFO => {
                self.put(self.field(parameter, 0)?, &[0; 16])?;
                0
            }
            SYS_EXIT => return Ok(Some(u32::from(parameter != ADP_STOPPED_APPLICATION_EXIT))),
            SYS_EXIT_EXTENDED => {
                let (reason, code) = (self.field(parameter, 0)?, self.field(parameter, 1)?);
                return Ok(Some(if reason == ADP_STOPPED_APPLICATION_EXIT { code } else { 1 }));
            }
            SYS_ELAPSED => {
                self.put(parameter, &self.cycles.to_le_bytes())?;
                0
            }
            SYS_TICKFREQ => u32::try_from(self.clock_hz()).unwrap_or(FAILED),
            _ => {
                let what = format!("semihosting has no operation {operation:#x}");
                return Err(Fault::Architecture { pc: self.core.state.pc, address: operation, what });
            }
        };
        self.core.state.r[0] = result;
        Ok(None)
    }

    /// Writes the command line, and behind it a zero, where there is room for both.
    fn command_line(&mut self, block: u32) -> Result<u32, Fault> {
        let line = self.bus.board.command_line.clone();
        let (buffer, room) = (self.field(block, 0)?, self.field(block, 1)?);
        if room as usize <= line.len() {
            return Ok(FAILED);
        }
        self.put(buffer, &[line.as_bytes(), &[0]].concat())?;
        self.put(block.wrapping_add(4), &(line.len() as u32).to_le_bytes())?;
        Ok(0)
    }

    /// The handle of `:tt`, by its mode: input, output, errors. There is no other file.
    fn open(&self, block: u32) -> Result<u32, Fault> {
        let (name, mode, length) = (self.field(block, 0)?, self.field(block, 1)?, self.field(block, 2)?);
        if length != 3 {
            return Ok(FAILED);
        }
        let mut text = [0; 3];
        for (at, byte) in (name..).zip(&mut text) {
            *byte = self.byte(at)?;
        }
        Ok(if text == *b":tt" { 1 + (mode / 4).min(2) } else { FAILED })
    }

    /// A word of a parameter block.
    fn field(&self, block: u32, index: u32) -> Result<u32, Fault> {
        let mut word = [0; 4];
        let address = block.wrapping_add(4 * index);
        if self.core.memory.peek(address, &mut word) {
            Ok(u32::from_le_bytes(word))
        } else {
            Err(self.outside(address))
        }
    }

    fn byte(&self, address: u32) -> Result<u8, Fault> {
        let mut byte = [0];
        if self.core.memory.peek(address, &mut byte) { Ok(byte[0]) } else { Err(self.outside(address)) }
    }

    fn put(&mut self, address: u32, bytes: &[u8]) -> Result<(), Fault> {
        let ram = self.core.memory.find(address, 1).is_some_and(|(view, _)| view.writable);
        if ram && crate::machine::Core::poke(&mut self.core, address, bytes) {
            Ok(())
        } else {
            Err(self.outside(address))
        }
    }

    fn console<O: Observer>(&mut self, address: u32, length: u32, observer: &mut O) -> Result<(), Fault> {
        for index in 0..length {
            let byte = self.byte(address.wrapping_add(index))?;
            observer.uart(CONSOLE, byte, self.cycles);
            self.bus.board.keep_sent(CONSOLE, byte, self.cycles);
        }
        Ok(())
    }

    fn outside(&self, address: u32) -> Fault {
        self.architecture(self.core.state.pc, address, "semihosting: a parameter lies outside memory")
    }
}
