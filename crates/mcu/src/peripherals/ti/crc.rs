//! CRC modules of the MSP430F5xx and MSP430FR5xx.
//!
//! CRC is in both families. CRC32 is in the latter, with a second generator of 16 bits beside that
//! of 32.
//!
//! Source: SLAU208, chapter "Cyclic Redundancy Check (CRC) Module"; SLAU367, chapter "Cyclic
//! Redundancy Check (CRC32) Module", its registers from TI's header msp430fr5994.h. A `DIRB`
//! register takes a byte's highest bit first, a `DI` register its lowest. Of a word CRC takes the
//! lower byte first; CRC32 does so with `DI` (TI's example msp430fr599x_crc32.c) and takes the
//! upper one first with `DIRB` (msp430fr599x_crc16.c). Each write counts, also that of half of 32
//! bits; in which order CRC32DIRB takes words is not known, and they are refused with a fault. The
//! result is there for the next instruction.

use super::word::{Word, part_of};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// CRC-CCITT, x^16 + x^12 + x^5 + 1, and ISO 3309's with 32 bits, x^32 + x^26 + x^23 + ... + 1,
/// both from bit 31 down.
const CCITT: u32 = 0x1021_0000;
const ISO_3309: u32 = 0x04c1_1db7;

/// Function of a register in its generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    /// CRCDI.
    Data,
    /// CRCDIRB.
    DataReversed,
    /// CRCINIRES.
    Signature,
    /// CRCRESR.
    Reversed,
}

/// Register, or half of one of 32 bits: its offset, its generator, and the lowest bit of the half.
type Place = (u32, usize, Register, u32);

const CRC: &[Place] = &[
    (0x00, 0, Register::Data, 0),
    (0x02, 0, Register::DataReversed, 0),
    (0x04, 0, Register::Signature, 0),
    (0x06, 0, Register::Reversed, 0),
];
/// "Reversed" registers of 32 bits have their upper half as word 0.
const CRC32: &[Place] = &[
    (0x00, 0, Register::Data, 0),
    (0x02, 0, Register::Data, 16),
    (0x04, 0, Register::DataReversed, 0),
    (0x06, 0, Register::DataReversed, 16),
    (0x08, 0, Register::Signature, 0),
    (0x0a, 0, Register::Signature, 16),
    (0x0c, 0, Register::Reversed, 0),
    (0x0e, 0, Register::Reversed, 16),
    (0x10, 1, Register::Data, 0),
    (0x16, 1, Register::DataReversed, 0),
    (0x18, 1, Register::Signature, 0),
    (0x1e, 1, Register::Reversed, 0),
];

/// Module: one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// CRC.
    Crc16,
    /// CRC32.
    Crc32,
}

/// A shift register.
#[derive(Clone, Copy)]
struct Generator {
    polynomial: u32,
    bits: u32,
    /// From bit 31 down.
    signature: u32,
    /// Value written last to its data registers.
    data: u32,
}

impl Generator {
    fn new(polynomial: u32, bits: u32) -> Generator {
        Generator { polynomial, bits, signature: 0, data: 0 }
    }

    /// A byte, its highest bit first.
    fn take(&mut self, byte: u8) {
        self.signature ^= u32::from(byte) << 24;
        for _ in 0..8 {
            let carry = self.signature >> 31;
            self.signature = self.signature << 1 ^ carry * self.polynomial;
        }
    }

    fn value(&self, register: Register) -> u32 {
        match register {
            Register::Data | Register::DataReversed => self.data,
            Register::Signature => self.signature >> (32 - self.bits),
            Register::Reversed => self.signature.reverse_bits(),
        }
    }

    fn write(&mut self, register: Register, half: u32, write: Word, upper_first: bool) {
        let merged = |before: u32| before & !(write.mask << half) | write.bits << half;
        match register {
            Register::Data | Register::DataReversed => {
                self.data = merged(self.data);
                let mut shifts = [0, 8];
                if upper_first {
                    shifts.reverse();
                }
                for shift in shifts.into_iter().filter(|shift| write.mask >> shift & 0xff != 0) {
                    let byte = (write.bits >> shift) as u8;
                    self.take(if register == Register::Data { byte.reverse_bits() } else { byte });
                }
            }
            Register::Signature => self.signature = merged(self.value(register)) << (32 - self.bits),
            // Read only.
            Register::Reversed => {}
        }
    }
}

/// The registers.
#[derive(Clone)]
pub struct Crc {
    name: String,
    base: u32,
    kind: Kind,
    generators: [Generator; 2],
}

impl Crc {
    /// The module with its registers from `spec.base` on.
    #[must_use]
    pub fn new(spec: &PeripheralSpec, kind: Kind) -> Crc {
        let ccitt = Generator::new(CCITT, 16);
        let first = if kind == Kind::Crc32 { Generator::new(ISO_3309, 32) } else { ccitt };
        Crc { name: spec.name.clone(), base: spec.base, kind, generators: [first, ccitt] }
    }

    fn places(&self) -> &'static [Place] {
        if self.kind == Kind::Crc32 { CRC32 } else { CRC }
    }

    fn place(&self, address: u32, context: &Context<'_, '_>) -> Result<Place, Fault> {
        let offset = (address - self.base) & !1;
        let place = self.places().iter().find(|(at, ..)| *at == offset).copied();
        place.ok_or_else(|| context.fault(&self.name, address, "there is no such register"))
    }
}

impl Peripheral for Crc {
    fn spec(&self) -> Spec {
        let end = self.places().last().map_or(0, |(at, ..)| at + 2);
        Spec::new(&self.name, self.base..self.base + end)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let (_, generator, register, half) = self.place(address, context)?;
        let word = self.generators[generator].value(register) >> half & 0xffff;
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let (_, generator, register, half) = self.place(address, context)?;
        let upper_first = self.kind == Kind::Crc32 && register == Register::DataReversed;
        if upper_first && size > 1 && self.generators[generator].bits == 32 {
            let what = "in which order CRC32DIRB takes the bytes of words is not known: write bytes";
            return context.refuse(&self.name, address, what);
        }
        self.generators[generator].write(register, half, Word::new(address, size, value), upper_first);
        Ok(())
    }

    fn reset(&mut self) {
        for generator in &mut self.generators {
            *generator = Generator::new(generator.polynomial, generator.bits);
        }
    }
}
