//! Erasing and programming of the flash, whose end the core waits for or not.

use super::{Core, Machine};
use crate::FlashChange;
use crate::flash::interrupted_write;

impl<C: Core> Machine<C> {
    /// Erases or programs flash as its controller says, and holds the core up until it is done, or
    /// where it needs what is at work.
    #[cold]
    pub fn change_flash(&mut self, change: FlashChange) {
        let bank = match &change {
            FlashChange::Wait { until } => return self.hold(*until),
            FlashChange::Beside { bank, .. } => Some(bank.clone()),
            _ => None,
        };
        let Some(until) = self.change_flash_behind(change) else { return };
        match bank {
            Some(bank) => C::occupy(self, bank, until),
            None => self.hold(until),
        }
    }

    /// The core stands still from the next instruction on, up to cycle `until`.
    pub fn hold(&mut self, until: u64) {
        self.held_until = until;
        self.recheck();
    }

    /// Erases or programs flash as its controller says, while the core goes on; the cycle at which
    /// that is done.
    #[cold]
    pub fn change_flash_behind(&mut self, change: FlashChange) -> Option<u64> {
        let (write, until) = InterruptedWrite::new(change, &mut self.core)?;
        self.interrupted_write = Some((write, until));
        Some(until)
    }

    /// The power fails now: what is under way in the flash stays half done.
    pub(super) fn interrupt_flash_write(&mut self, changed: u8) {
        if let Some((write, until)) = self.interrupted_write.take()
            && self.cycles < until
        {
            write.store(&mut self.core, changed);
        }
        self.held_until = 0;
    }
}

/// The state between old and new.
#[derive(Clone)]
pub(super) struct InterruptedWrite {
    address: u32,
    /// Old and new value of each byte.
    bytes: Vec<(u8, u8)>,
}

impl InterruptedWrite {
    /// Makes the change, and returns what is left of it if the power fails before it is done, and
    /// when it is; `None` where nothing changes yet.
    fn new<C: Core>(change: FlashChange, core: &mut C) -> Option<(InterruptedWrite, u64)> {
        let change = match change {
            FlashChange::Beside { change, .. } => *change,
            change => change,
        };
        let (address, length, until) = match &change {
            FlashChange::Kept | FlashChange::Wait { .. } | FlashChange::Beside { .. } => return None,
            FlashChange::Elsewhere { until } => {
                return Some((InterruptedWrite { address: 0, bytes: Vec::new() }, *until));
            }
            FlashChange::Erase { range, until } => (range.start, range.len(), *until),
            FlashChange::Program { address, bytes, until } => (*address, bytes.len(), *until),
        };
        let mut old = vec![0; length];
        core.peek(address, &mut old);
        let new: Vec<u8> = match change {
            FlashChange::Program { bytes, .. } => {
                bytes.iter().zip(&old).map(|(byte, old)| byte & old).collect()
            }
            _ => vec![0xff; length],
        };
        core.poke(address, &new);
        Some((InterruptedWrite { address, bytes: old.into_iter().zip(new).collect() }, until))
    }

    /// Writes what the cells hold after the power has failed, where the bits that are set in
    /// `changed` have changed.
    fn store<C: Core>(&self, core: &mut C, changed: u8) {
        if !self.bytes.is_empty() {
            let bytes: Vec<u8> =
                self.bytes.iter().map(|(old, new)| interrupted_write(*old, *new, changed)).collect();
            core.poke(self.address, &bytes);
        }
    }
}
