//! The link layer's CRC.

use ::crc::{CRC_16_EN_13757, Crc};

const LINK: Crc<u16> = Crc::<u16>::new(&CRC_16_EN_13757);

/// Returns the CRC of bytes. EN 13757-4, frame formats A and B; not compared: CRC-16/EN-13757 of
/// public catalogues.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    LINK.checksum(bytes)
}
