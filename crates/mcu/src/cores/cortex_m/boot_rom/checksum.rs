//! Checksum of the second stage.

/// Section 2.8.1.3.1: CRC32 with the polynomial 0x04c11db7, from all ones, nothing reflected or
/// inverted.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| {
            sum << 1 ^ if sum >> 31 != 0 { 0x04c1_1db7 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::checksum;

    /// The check value of CRC-32/MPEG-2, which this is.
    #[test]
    fn the_checksum_is_the_data_sheets() {
        assert_eq!(checksum(b"123456789"), 0x0376_e6e7);
    }
}
