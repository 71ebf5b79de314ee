//! Fuses, lock bits and signature of an AVR, as its target file describes them.
//!
//! Addresses as avr-libc's linker scripts have them: fuses from 0x820000, lock bits at 0x830000,
//! signature at 0x840000, user signatures from 0x850000.

use crate::Image;
use serde::Deserialize;
use std::fmt;

/// First addresses in ELF files.
pub const FUSES: u32 = 0x82_0000;
pub(crate) const LOCK: u32 = 0x83_0000;
pub(crate) const SIGNATURE: u32 = 0x84_0000;
pub(crate) const USER_SIGNATURES: u32 = 0x85_0000;

/// Some bits of a fuse byte. A programmed fuse is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuseField {
    /// 0 for the low, 1 for the high, 2 for the extended byte.
    pub byte: usize,
    /// Its bits in that byte.
    pub mask: u8,
}

impl FuseField {
    /// The field's value in these fuse bytes; a byte that is not there is not programmed.
    #[must_use]
    pub fn of(self, fuses: &[u8]) -> u8 {
        let byte = fuses.get(self.byte).copied().unwrap_or(0xFF);
        (byte & self.mask) >> self.mask.trailing_zeros().min(7)
    }
}

/// A fuse that has an effect which is not modelled.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedFuse {
    /// Position of the fuse, which must stay unprogrammed.
    pub field: FuseField,
    /// Its name and what it does.
    pub what: String,
}

/// The `[fuses]` table of a target file. Fuses are not programmed until an image has them, but for
/// the low byte of `[clock]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fuses {
    /// Manual, document number and tables.
    pub source: String,
    /// The signature bytes from address 0 on: manufacturer, flash size, part.
    pub signature: [u8; 3],
    /// Number of fuse bytes.
    pub bytes: usize,
    /// WDTON: the watchdog is always on.
    #[serde(default)]
    pub watchdog_on: Option<FuseField>,
    /// BOOTRST: a reset goes to the boot section.
    #[serde(default)]
    pub boot_reset: Option<FuseField>,
    /// BOOTSZ.
    #[serde(default)]
    pub boot_size: Option<FuseField>,
    /// First addresses of the boot section, in bytes, by the value of BOOTSZ.
    #[serde(default)]
    pub boot_starts: Vec<u32>,
    /// BODLEVEL; `[[supply.brown_out]]` has its values.
    #[serde(default)]
    pub brown_out: Option<FuseField>,
    /// Those whose effects are not modelled.
    #[serde(default)]
    pub refused: Vec<RefusedFuse>,
}

/// The signature bytes of a part, from address 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(pub [u8; 3]);

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature([first, second, third]) = self;
        write!(formatter, "{first:02x} {second:02x} {third:02x}")
    }
}

impl Image {
    /// The signature of the AVR that it was built for, where it says so.
    #[must_use]
    pub fn signature(&self) -> Option<Signature> {
        let segment = self.segments.iter().find(|segment| segment.address == SIGNATURE)?;
        segment.bytes.as_slice().try_into().ok().map(in_order)
    }
}

/// `<avr/signature.h>` has the last byte first; the manufacturer's, 0x1E, is no part number.
pub(crate) fn in_order(mut bytes: [u8; 3]) -> Signature {
    if bytes[2] == 0x1E {
        bytes.reverse();
    }
    Signature(bytes)
}
