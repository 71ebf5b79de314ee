//! Registers of 16 bits on the little-endian bus of the MSP430, accessed by byte or word.

/// A write to one of them.
#[derive(Clone, Copy)]
pub(super) struct Word {
    /// Written bits, at their place in the register.
    pub bits: u32,
    /// Mask of the written bits.
    pub mask: u32,
}

impl Word {
    pub fn new(address: u32, size: u8, value: u32) -> Word {
        if size >= 2 {
            return Word { bits: value & 0xffff, mask: 0xffff };
        }
        let shift = 8 * (address & 1);
        Word { bits: (value & 0xff) << shift, mask: 0xff << shift }
    }

    /// Value of a register after the write, if it held `before`.
    pub fn onto(self, before: u32) -> u32 {
        before & !self.mask | self.bits
    }
}

/// The bytes of a register that a read gets.
pub(super) fn part_of(word: u32, address: u32, size: u8) -> u32 {
    if size >= 2 { word } else { word >> (8 * (address & 1)) & 0xff }
}
