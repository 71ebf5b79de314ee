//! The link layer's CRC.

/// Returns the CRC of bytes: polynomial 3D65h, started at zero, inverted. EN 13757-4, frame formats
/// A and B; not compared. The check value of "123456789" is C2B7h (CRC-16/EN-13757 of public
/// catalogues).
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    let crc = bytes.iter().fold(0_u16, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| crc << 1 ^ if crc >> 15 == 1 { 0x3d65 } else { 0 })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::crc16;

    #[test]
    fn crc_of_the_digits_is_the_catalogues() {
        assert_eq!(crc16(b"123456789"), 0xc2b7);
    }
}
