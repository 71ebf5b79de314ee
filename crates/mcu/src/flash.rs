//! Flash contents after the power fails during an erase or a program operation.
//!
//! The memory holds the result from the start of an operation on; nobody but a debugger can see
//! that, because the core stands still, or waits where it would read it. A reset before the end
//! leaves the cells in between: what they really hold then is not specified, so of the bits that
//! were to change some have and the others have not. Which, whoever cuts the power off says; at a
//! reset it is those with an odd number, which gives one value that is neither the old nor the new
//! one wherever the two differ in more than one bit.

use crate::FlashChange;
use crate::machine::Core;

/// The bits that change first.
pub(crate) const CHANGED: u8 = 0xaa;

/// Value of a byte while it changes from `old` to `new`, with the bits of `changed` already
/// changed.
pub(crate) fn interrupted_write(old: u8, new: u8, changed: u8) -> u8 {
    old & !changed | new & changed
}

/// The state between old and new.
#[derive(Clone)]
pub(crate) struct InterruptedWrite {
    address: u32,
    /// Old and new value of each byte.
    bytes: Vec<(u8, u8)>,
}

impl InterruptedWrite {
    /// Makes the change, and returns what is left of it if the power fails before it is done, and
    /// when it is; `None` where nothing changes yet.
    pub fn new<C: Core>(change: FlashChange, core: &mut C) -> Option<(InterruptedWrite, u64)> {
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
    pub fn store<C: Core>(&self, core: &mut C, changed: u8) {
        if !self.bytes.is_empty() {
            let bytes: Vec<u8> =
                self.bytes.iter().map(|(old, new)| interrupted_write(*old, *new, changed)).collect();
            core.poke(self.address, &bytes);
        }
    }
}
