//! A digital port of an MC68HC908: data register PTx, data direction register DDRx.
//!
//! MC68HC908AP Family data sheet, Rev. 4, chapter "Input/Output (I/O) Ports": PTx reads the latch
//! where a pin is an output, the pin where it is an input. Inputs read low: nothing is connected.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// One port of eight pins.
#[derive(Clone)]
pub struct Port {
    name: String,
    data_address: u32,
    direction_address: u32,
    latch: u8,
    direction: u8,
}

impl Port {
    /// The port whose data register is at `spec.base`, its direction register at the setting
    /// `direction`.
    ///
    /// # Errors
    /// The setting `direction` is missing, or no address of the family.
    pub fn new(spec: &PeripheralSpec) -> Result<Port, String> {
        let direction = spec.settings.get("direction").and_then(|address| u16::try_from(*address).ok());
        let direction = direction
            .ok_or_else(|| format!("{}: the setting direction must be an address of 16 bits", spec.name))?;
        Ok(Port {
            name: spec.name.clone(),
            data_address: spec.base,
            direction_address: direction.into(),
            latch: 0,
            direction: 0,
        })
    }
}

impl Peripheral for Port {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            [self.data_address, self.direction_address].map(|address| address..address + 1),
        )
    }

    fn read(&mut self, address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let value = if address == self.data_address { self.latch & self.direction } else { self.direction };
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let before = self.latch & self.direction;
        if address == self.data_address {
            self.latch = value as u8;
        } else {
            self.direction = value as u8;
        }
        context.pins(&self.name, before.into(), (self.latch & self.direction).into());
        Ok(())
    }

    fn reset(&mut self) {
        // The latch is not affected by a reset of the running part; after power-up it is
        // indeterminate.
        self.latch = 0;
        self.direction = 0;
    }
}
