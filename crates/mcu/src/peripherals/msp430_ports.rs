//! A pair of digital I/O ports of the MSP430F5xx, such as P1 and P2.
//!
//! Source: SLAU208, chapter "Digital I/O Module". Nothing is connected to the pins: an input reads its pull resistor,
//! or 0 without one. So no edge ever comes in, and enabling pin interrupts is refused.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

/// Registers of a pair, by offset; even bytes are the first port's, odd bytes the second's.
const IN: usize = 0x00;
const OUT: usize = 0x02;
const DIR: usize = 0x04;
const REN: usize = 0x06;
const SEL: usize = 0x0a;
const IES: usize = 0x18;
const IE: usize = 0x1a;
const IFG: usize = 0x1c;
const SIZE: usize = 0x20;

/// A pair of ports.
#[derive(Clone)]
pub struct Ports {
    /// Names of the two ports.
    names: [String; 2],
    base: u32,
    registers: [u8; SIZE],
}

impl Ports {
    /// The pair with its registers from `spec.base` on. The setting `first` is the number of the first port, to which
    /// the second is the next.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Ports {
        let first = spec.settings.get("first").copied().unwrap_or(1);
        Ports {
            names: [format!("P{first}"), format!("P{}", first + 1)],
            base: spec.base,
            registers: [0; SIZE],
        }
    }

    /// Levels that a port drives.
    fn driven(&self, port: usize) -> u32 {
        u32::from(self.registers[OUT + port] & self.registers[DIR + port] & !self.registers[SEL + port])
    }

    fn levels(&self, port: usize) -> u8 {
        let out = self.registers[OUT + port];
        let dir = self.registers[DIR + port];
        out & (dir | self.registers[REN + port])
    }

    fn fault(&self, offset: usize, context: &Context<'_, '_>, what: &str) -> Fault {
        let address = self.base + offset as u32;
        Fault::Peripheral {
            pc: context.pc,
            address,
            device: self.names[offset & 1].clone(),
            what: what.into(),
        }
    }

    fn read_byte(&self, offset: usize, context: &Context<'_, '_>) -> Result<u8, Fault> {
        let port = offset & 1;
        match offset - port {
            IN => Ok(self.levels(port)),
            OUT..=SEL | IES..=IFG => Ok(self.registers[offset]),
            _ => Err(self.fault(offset, context, "this register is not modelled")),
        }
    }

    fn write_byte(&mut self, offset: usize, value: u8, context: &Context<'_, '_>) -> Result<(), Fault> {
        match offset & !1 {
            // Writes to a read-only register do nothing.
            IN => Ok(()),
            IE if value != 0 => {
                Err(self.fault(offset, context, "nothing is connected to the pins to interrupt"))
            }
            OUT..=SEL | IES..=IFG => {
                self.registers[offset] = value;
                Ok(())
            }
            _ => Err(self.fault(offset, context, "this register is not modelled")),
        }
    }
}

impl Peripheral for Ports {
    fn name(&self) -> &str {
        &self.names[0]
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + SIZE as u32).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) as usize;
        let low = u32::from(self.read_byte(offset, context)?);
        if size == 1 {
            return Ok(low);
        }
        Ok(low | u32::from(self.read_byte(offset + 1, context)?) << 8)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = (address - self.base) as usize;
        let before = [self.driven(0), self.driven(1)];
        self.write_byte(offset, value as u8, context)?;
        if size == 2 {
            self.write_byte(offset + 1, (value >> 8) as u8, context)?;
        }
        for (port, before) in before.into_iter().enumerate() {
            context.pins(&self.names[port], before, self.driven(port));
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers = [0; SIZE];
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
