//! CRC16 of the MSP430F5xx: x^16 + x^12 + x^5 + 1.
//!
//! Source: SLAU208, chapter "Cyclic Redundancy Check (CRC) Module". `CRCDIRB` takes a byte's highest bit first, `CRCDI` its lowest; of a
//! word the lower byte goes first. The result is there for the next instruction.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

const CRCDI: u32 = 0x00;
const CRCDIRB: u32 = 0x02;
const CRCINIRES: u32 = 0x04;
const CRCRESR: u32 = 0x06;
const END: u32 = 0x08;

const POLYNOMIAL: u16 = 0x1021;

/// The registers.
#[derive(Clone)]
pub struct Crc16 {
    name: String,
    base: u32,
    /// What was written last to `CRCDI` and `CRCDIRB`.
    data: u16,
    signature: u16,
}

impl Crc16 {
    /// The module with its registers from `spec.base` on.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Crc16 {
        Crc16 { name: spec.name.clone(), base: spec.base, data: 0, signature: 0 }
    }

    /// A byte, its highest bit first.
    fn take(&mut self, byte: u8) {
        self.signature ^= u16::from(byte) << 8;
        for _ in 0..8 {
            let carry = self.signature >> 15;
            self.signature = self.signature << 1 ^ carry * POLYNOMIAL;
        }
    }
}

impl Peripheral for Crc16 {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match (address - self.base) & !1 {
            CRCINIRES => self.signature,
            CRCRESR => self.signature.reverse_bits(),
            _ => self.data,
        };
        Ok(u32::from(if size == 2 { word } else { word >> (8 * (address & 1)) & 0xff }))
    }

    fn write(&mut self, address: u32, size: u8, value: u32, _: &mut Context<'_, '_>) -> Result<(), Fault> {
        let shift = 8 * (address & 1);
        let merged = |word: u16| match size {
            2 => value as u16,
            _ => word & !(0xff << shift) | (value as u16 & 0xff) << shift,
        };
        match (address - self.base) & !1 {
            register @ (CRCDI | CRCDIRB) => {
                self.data = merged(self.data);
                for byte in &value.to_le_bytes()[..usize::from(size.min(2))] {
                    self.take(if register == CRCDI { byte.reverse_bits() } else { *byte });
                }
            }
            CRCINIRES => self.signature = merged(self.signature),
            // Read only.
            _ => {}
        }
        Ok(())
    }

    fn interrupts(&self) -> u128 {
        0
    }

    fn reset(&mut self) {
        self.data = 0;
        self.signature = 0;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
