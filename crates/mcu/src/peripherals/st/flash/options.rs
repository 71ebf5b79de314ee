//! The two kinds of option bytes.

use super::option_bytes::{OptionBytes, START};
use super::option_register::OptionRegister;
use crate::ResetCause;
use std::ops::Range;

/// The place of a part's option bytes.
#[derive(Clone)]
pub enum Options {
    Bytes(OptionBytes),
    Register(OptionRegister),
}

impl Options {
    /// The addresses at which a program reads them as memory.
    pub fn addresses(&self) -> Option<Range<u32>> {
        let (start, cells) = self.memory()?;
        Some(start..start + cells.len() as u32)
    }

    /// Those from an address on, if it is among them.
    pub fn cells(&self, address: u32) -> Option<&[u8]> {
        let (start, cells) = self.memory()?;
        cells.get(address.checked_sub(start)? as usize..).filter(|cells| !cells.is_empty())
    }

    /// The F4's and F7's are in their register only: what the information block holds beside them
    /// is not known.
    pub fn memory(&self) -> Option<(u32, &[u8])> {
        match self {
            Options::Bytes(bytes) => Some((START, &bytes.cells)),
            Options::Register(_) => None,
        }
    }

    /// As [`Options::memory`], to be written.
    pub fn memory_mut(&mut self) -> Option<(u32, &mut [u8])> {
        match self {
            Options::Bytes(bytes) => Some((START, &mut bytes.cells)),
            Options::Register(_) => None,
        }
    }

    /// When the operation under way ends.
    pub fn due(&self) -> Option<u64> {
        match self {
            Options::Bytes(bytes) => bytes.due(),
            Options::Register(register) => register.due(),
        }
    }

    /// Ends it when its time has come.
    pub fn finish(&mut self, now: u64) {
        match self {
            Options::Bytes(bytes) => bytes.finish(now),
            Options::Register(register) => register.finish(now),
        }
    }

    /// A reset at cycle `now`, which stops what is under way.
    pub fn reset(&mut self, cause: ResetCause, now: u64) {
        if cause != ResetCause::PowerOn {
            self.finish(now);
        }
        match self {
            Options::Bytes(bytes) => bytes.reset(cause),
            Options::Register(register) => register.reset(),
        }
    }

    /// Why the part cannot begin with what was loaded. What the F4's and F7's register would bring
    /// about was refused before it was stored.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Options::Bytes(bytes) => bytes.refusal(),
            Options::Register(_) => None,
        }
    }

    /// The supply is cut off: what is being written becomes `torn`.
    pub fn cut_power(&mut self, torn: u8) {
        match self {
            Options::Bytes(bytes) => bytes.tear(Some(torn)),
            Options::Register(register) => register.tear(),
        }
    }

    /// Operations begun since it was made.
    pub fn writes(&self) -> u64 {
        match self {
            Options::Bytes(bytes) => bytes.writes,
            Options::Register(register) => register.writes,
        }
    }
}
