//! Factory information configuration registers (FICR), read-only. PS, "FICR".
//!
//! Addresses, identifiers and keys are always the same, and no part need have them. The
//! words at 0x130 and 0x134, which the PS does not name, are those that the errata code of Nordic's
//! start-up knows the part and its revision by: an nRF52840 of revision 3.

use crate::peripherals::register::part_of_word;
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

const SIZE: u32 = 0x1000;

/// Words that are not all ones, by their offsets.
const WORDS: [(u32, u32); 40] = [
    (0x010, 4096),        // CODEPAGESIZE
    (0x014, 256),         // CODESIZE
    (0x060, 0x5345_4c00), // DEVICEID
    (0x064, 0x5741_5454),
    (0x080, 0x0302_0100), // ER
    (0x084, 0x0706_0504),
    (0x088, 0x0b0a_0908),
    (0x08c, 0x0f0e_0d0c),
    (0x090, 0x1312_1110), // IR
    (0x094, 0x1716_1514),
    (0x098, 0x1b1a_1918),
    (0x09c, 0x1f1e_1d1c),
    (0x0a4, 0x5345_4c01), // DEVICEADDR: random static
    (0x0a8, 0xffff_c157),
    (0x100, 0x0005_2840), // INFO.PART
    (0x104, 0x4141_4630), // INFO.VARIANT: AAF0
    (0x108, 0x2004),      // INFO.PACKAGE: QI
    (0x10c, 256),         // INFO.RAM, kB
    (0x110, 1024),        // INFO.FLASH, kB
    (0x130, 8),
    (0x134, 5),
    (0x350, 0xbb42_319f), // PRODTEST
    (0x354, 0xbb42_319f),
    // TEMP: as the registers of the sensor itself after a reset.
    (0x404, 0x326),
    (0x408, 0x348),
    (0x40c, 0x3aa),
    (0x410, 0x40e),
    (0x414, 0x4bd),
    (0x418, 0x5a3),
    (0x41c, 0x3fef),
    (0x420, 0x3fbe),
    (0x424, 0x3fbe),
    (0x428, 0x12),
    (0x42c, 0x124),
    (0x430, 0x27c),
    (0x434, 0xe2),
    (0x438, 0x00),
    (0x43c, 0x19),
    (0x440, 0x3c),
    (0x444, 0x50),
];

/// The words.
#[derive(Clone)]
pub struct Ficr {
    name: String,
    base: u32,
}

impl Ficr {
    /// FICR at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Ficr {
        Ficr { name: spec.name.clone(), base: spec.base }
    }
}

impl Peripheral for Ficr {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    fn read(&mut self, address: u32, size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) & !3;
        let word = WORDS.iter().find(|(at, _)| *at == offset).map_or(u32::MAX, |(_, word)| *word);
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        _value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        context.refuse(&self.name, address, "FICR is read-only")
    }

    fn reset(&mut self) {}
}
