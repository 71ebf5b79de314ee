//! 32-bit registers on a little-endian bus, accessed by byte, halfword or word.

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

#[cfg(test)]
mod tests {
    use super::{merged_word, part_of_word};

    #[test]
    fn bytes_and_halves_lie_where_the_bus_has_them() {
        assert_eq!(part_of_word(0x1234_5678, 1, 1), 0x56);
        assert_eq!(part_of_word(0x1234_5678, 2, 2), 0x1234);
        assert_eq!(merged_word(0x1234_5678, 3, 1, 0xab), 0xab34_5678);
        assert_eq!(merged_word(0x1234_5678, 0, 4, 5), 5);
    }
}
