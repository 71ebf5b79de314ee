//! The I/O ports of an R8C/24 or R8C/25 as plain latches with their direction registers.
//!
//! Source: REJ09B0244, chapter "Programmable I/O Ports"; addresses from memory. Nothing is
//! connected to the pins: an output reads its latch, an input 0. PD0, which PRC2 of PRCR protects
//! for all but the next instruction, is refused.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// Number of the port, offset of its latch and of its direction register.
const PORTS: [(&str, u32, u32); 6] =
    [("P0", 0, 2), ("P1", 1, 3), ("P2", 4, 6), ("P3", 5, 7), ("P4", 8, 0xa), ("P6", 0xc, 0xe)];
const PD0: u32 = 2;

/// All ports.
#[derive(Clone)]
pub struct Ports {
    name: String,
    base: u32,
    latches: [u8; PORTS.len()],
    directions: [u8; PORTS.len()],
}

impl Ports {
    /// The ports, P0 at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Ports {
        Ports {
            name: spec.name.clone(),
            base: spec.base,
            latches: [0; PORTS.len()],
            directions: [0; PORTS.len()],
        }
    }

    fn driven(&self, port: usize) -> u32 {
        u32::from(self.latches[port] & self.directions[port])
    }
}

impl Peripheral for Ports {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            PORTS
                .iter()
                .flat_map(|(_, latch, direction)| [self.base + latch, self.base + direction])
                .map(|address| address..address + 1),
        )
    }

    fn read(&mut self, address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let latch = PORTS.iter().position(|(_, latch, _)| *latch == offset);
        let direction = PORTS.iter().position(|(_, _, direction)| *direction == offset);
        Ok(match (latch, direction) {
            (Some(port), _) => self.driven(port),
            (_, Some(port)) => self.directions[port].into(),
            // The bus asks for nothing outside the ranges.
            _ => 0,
        })
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        if offset == PD0 {
            return context.refuse(&self.name, address, "PD0 is behind PRC2 of PRCR, which is not modelled");
        }
        for (port, (name, latch, direction)) in PORTS.iter().enumerate() {
            let before = self.driven(port);
            if *latch == offset {
                self.latches[port] = value as u8;
            } else if *direction == offset {
                self.directions[port] = value as u8;
            }
            context.pins(name, before, self.driven(port));
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.latches = [0; PORTS.len()];
        self.directions = [0; PORTS.len()];
    }
}
