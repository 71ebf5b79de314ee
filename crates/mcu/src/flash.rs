//! Flash contents after the power fails during an erase or a program operation.
//!
//! The memory holds the result from the start of an operation on; nobody but a debugger can see
//! that, because the core stands still, or waits where it would read it. A reset before the end
//! leaves the cells in between: what they really hold then is not specified, so of the bits that
//! were to change some have and the others have not. Which, whoever cuts the power off says; at a
//! reset it is those with an odd number, which gives one value that is neither the old nor the new
//! one wherever the two differ in more than one bit.

/// The bits that change first.
pub(crate) const CHANGED: u8 = 0xaa;

/// Value of a byte while it changes from `old` to `new`, with the bits of `changed` already
/// changed.
pub(crate) fn interrupted_write(old: u8, new: u8, changed: u8) -> u8 {
    old & !changed | new & changed
}
