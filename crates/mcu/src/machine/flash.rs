//! Erasing and programming of the flash, whose end the core waits for or not.

use super::{Core, Machine};
use crate::FlashChange;
use crate::flash::InterruptedWrite;

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
