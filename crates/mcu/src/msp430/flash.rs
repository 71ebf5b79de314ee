//! What the flash controller does to the memory, and what is left of it when the power fails meanwhile.
//!
//! The memory holds the result from the start of an operation on; nobody but a debugger can see that, because the core
//! stands still. A reset before the end leaves the cells in between: what they really hold then is not specified, so
//! the model takes one value that is neither the old nor the new one wherever the two differ in more than one bit. Of
//! the bits that were to change, those with an odd number have, the others have not.

use super::state::State;
use crate::FlashChange;

/// The bits that change first.
const CHANGED: u8 = 0xaa;

/// The state between old and new.
#[derive(Clone)]
pub struct Torn {
    address: u32,
    bytes: Vec<u8>,
}

impl State {
    /// Erases or programs as the controller says, and holds the core up until it is done.
    #[cold]
    pub fn change_flash(&mut self, change: FlashChange) {
        let (address, new, until) = match change {
            FlashChange::Kept => return,
            FlashChange::Erase { range, until } => (range.start, vec![0xff; range.len()], until),
            FlashChange::Program { address, bytes, until } => {
                let cells = bytes.iter().zip(address..);
                (address, cells.map(|(byte, at)| byte & self.memory.byte(at) as u8).collect(), until)
            }
        };
        let mut torn = Vec::with_capacity(new.len());
        for (byte, at) in new.iter().zip(address..) {
            let old = self.memory.byte(at) as u8;
            torn.push(old & !CHANGED | byte & CHANGED);
            self.memory.set_byte(at, u32::from(*byte));
            self.program.changed(at);
        }
        self.torn = Some(Torn { address, bytes: torn });
        self.held_until = until;
    }

    /// The power fails now: an operation under way stays half done.
    pub fn tear_flash(&mut self) {
        if let Some(torn) = self.torn.take()
            && self.cycles < self.held_until
        {
            for (byte, at) in torn.bytes.iter().zip(torn.address..) {
                self.memory.set_byte(at, u32::from(*byte));
            }
        }
        self.held_until = 0;
    }
}
