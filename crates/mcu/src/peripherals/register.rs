//! 32-bit registers on a little-endian bus, accessed by byte, halfword or word; and those of a
//! block that keep what is written, as a map that states each once.

use std::ops::Index;

/// The `size` bytes at `offset` (its two low bits count) of a register that holds `word`.
pub(crate) fn part_of_word(word: u32, offset: u32, size: u8) -> u32 {
    let shifted = word >> ((offset & 3) * 8);
    if size >= 4 { shifted } else { shifted & ((1 << (size * 8)) - 1) }
}

/// Returns `word` after a write of the `size` low bytes of `value` at `offset`.
pub(crate) fn merged_word(word: u32, offset: u32, size: u8, value: u32) -> u32 {
    let shift = (offset & 3) * 8;
    let mask = if size >= 4 { u32::MAX } else { ((1u32 << (size * 8)) - 1) << shift };
    word & !mask | value << shift & mask
}

/// A register that keeps what is written, as its manual has it.
#[derive(Clone, Copy)]
pub(crate) struct Register {
    offset: u32,
    /// Bits that keep what is written, whereas a write clears the others; none of a read-only
    /// register.
    writable: u32,
    reset: u32,
    /// Bits that must stay clear, and what of them is not modelled.
    refused: (u32, &'static str),
}

impl Register {
    /// A register at an offset from its block's base, 0 after a reset.
    pub const fn new(offset: u32, writable: u32) -> Register {
        Register { offset, writable, reset: 0, refused: (0, "") }
    }

    pub const fn with_reset(self, reset: u32) -> Register {
        Register { reset, ..self }
    }

    /// Refuses ones in these bits with a sentence.
    pub const fn refusing(self, bits: u32, what: &'static str) -> Register {
        Register { refused: (bits, what), ..self }
    }
}

/// The registers of a block that keep what is written.
#[derive(Clone)]
pub(crate) struct Registers {
    map: &'static [Register],
    words: Vec<u32>,
}

impl Registers {
    /// The registers of a map, as after a reset.
    pub fn new(map: &'static [Register]) -> Registers {
        Registers { map, words: map.iter().map(|register| register.reset).collect() }
    }

    pub fn reset(&mut self) {
        for (word, register) in self.words.iter_mut().zip(self.map) {
            *word = register.reset;
        }
    }

    fn index(&self, offset: u32) -> Option<usize> {
        self.map.iter().position(|register| register.offset == offset)
    }

    /// The register at an offset, where the map has one.
    pub fn get(&self, offset: u32) -> Option<u32> {
        self.index(offset).map(|index| self.words[index])
    }

    /// Sets the register at an offset, whatever of it can be written.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(index) = self.index(offset) {
            self.words[index] = value;
        }
    }

    /// Writes the register at an offset: `merge` has its value after the write by that before.
    ///
    /// # Errors
    /// There is none, or bits that are not modelled are set.
    pub fn write(&mut self, offset: u32, merge: impl Fn(u32) -> u32) -> Result<(), &'static str> {
        let index = self.index(offset).ok_or("register not modelled")?;
        let Register { writable, refused: (refused, what), .. } = self.map[index];
        let value = merge(self.words[index]);
        if value & refused != 0 {
            return Err(what);
        }
        if writable != 0 {
            self.words[index] = value & writable;
        }
        Ok(())
    }
}

/// The register at an offset; 0 where the map has none.
impl Index<u32> for Registers {
    type Output = u32;

    fn index(&self, offset: u32) -> &u32 {
        Registers::index(self, offset).map_or(&0, |index| &self.words[index])
    }
}

#[cfg(test)]
mod tests {
    use super::{Register, Registers, merged_word, part_of_word};

    #[test]
    fn bytes_and_halves_lie_where_the_bus_has_them() {
        assert_eq!(part_of_word(0x1234_5678, 1, 1), 0x56);
        assert_eq!(part_of_word(0x1234_5678, 2, 2), 0x1234);
        assert_eq!(merged_word(0x1234_5678, 3, 1, 0xab), 0xab34_5678);
        assert_eq!(merged_word(0x1234_5678, 0, 4, 5), 5);
    }

    const MAP: &[Register] = &[
        Register::new(0x04, 0x12ff).with_reset(0x1200),
        Register::new(0x08, 0xffff).refusing(0x100, "bit 8 is not modelled"),
        Register::new(0x0c, 0).with_reset(7),
    ];

    #[test]
    fn write_keeps_the_writable_bits() {
        let mut registers = Registers::new(MAP);
        registers.write(0x04, |old| merged_word(old, 0x04, 1, 0x5a)).unwrap();
        assert_eq!(registers[0x04], 0x125a);
        registers.write(0x04, |_| u32::MAX).unwrap();
        registers.write(0x0c, |_| u32::MAX).unwrap();
        assert_eq!((registers[0x04], registers[0x0c]), (0x12ff, 7));
    }

    #[test]
    fn refused_bit_or_unknown_register_changes_nothing() {
        let mut registers = Registers::new(MAP);
        registers.write(0x08, |_| 0xff).unwrap();
        assert_eq!(registers.write(0x08, |_| 0x1ff), Err("bit 8 is not modelled"));
        assert_eq!(registers.write(0x10, |_| 0), Err("register not modelled"));
        assert_eq!((registers.get(0x08), registers.get(0x10)), (Some(0xff), None));
    }

    #[test]
    fn reset_brings_the_values_of_the_map() {
        let mut registers = Registers::new(MAP);
        registers.write(0x04, |_| 0xff).unwrap();
        registers.set(0x0c, 9);
        registers.reset();
        assert_eq!((registers[0x04], registers[0x0c]), (0x1200, 7));
    }
}
