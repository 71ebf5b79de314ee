//! A digital port of an ATmega: PINx, DDRx, PORTx.
//!
//! ATmega328P data sheet DS40002061, chapter 14; ATmega128 data sheet 2467, "I/O Ports". An input
//! reads what the board drives the pin to, else its pull-up, or low without one. The digital input
//! buffers that DIDRn switches off still read. PINx shows a write to PORTx at once; the part's
//! synchroniser lets up to one and a half cycles go by first (14.2.4), so that only a program
//! without the data sheet's `NOP` can tell. Setting `toggle` = 1 says that writing ones to PINx
//! toggles PORTx (14.2.2); without it PINx is read-only. `stray_ddr` and `stray_port` give the
//! addresses of DDRx and PORTx where they do not follow PINx (ATmega128, port F).

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// One port.
#[derive(Clone)]
pub struct Gpio {
    name: String,
    pin_address: u32,
    ddr_address: u32,
    port_address: u32,
    /// Bits that exist.
    mask: u8,
    toggle: bool,
    ddr: u8,
    port: u8,
}

impl Gpio {
    /// A port whose PINx is at `spec.base`. Settings: `pins` (bits that exist, default 0xFF),
    /// `toggle`, `stray_ddr`, `stray_port`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Gpio {
        let setting = |name: &str| spec.settings.get(name).copied();
        Gpio {
            name: spec.name.clone(),
            pin_address: spec.base,
            ddr_address: setting("stray_ddr").map_or(spec.base + 1, |address| address as u32),
            port_address: setting("stray_port").map_or(spec.base + 2, |address| address as u32),
            mask: setting("pins").unwrap_or(0xFF) as u8,
            toggle: setting("toggle") == Some(1),
            ddr: 0,
            port: 0,
        }
    }

    fn drive(&mut self, ddr: u8, port: u8, context: &mut Context<'_, '_>) {
        let before = context.board.outputs(&self.name);
        self.ddr = ddr & self.mask;
        self.port = port & self.mask;
        context.drive(&self.name, self.ddr.into(), self.port.into());
        let after = context.board.outputs(&self.name);
        context.pins(&self.name, before, after);
    }
}

impl Peripheral for Gpio {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            [self.pin_address, self.ddr_address, self.port_address].map(|address| address..address + 1),
        )
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        Ok(if address == self.ddr_address {
            self.ddr
        } else if address == self.port_address {
            self.port
        } else {
            let (driven, levels) = context.board.outside(&self.name);
            let outside = driven as u8 & !self.ddr & self.mask;
            // An output reads its level, which a module may give; an input that nobody drives its
            // pull-up.
            let own = context.board.outputs(&self.name) as u8 | self.port & !self.ddr;
            own & !outside | levels as u8 & outside
        }
        .into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8;
        if address == self.ddr_address {
            self.drive(value, self.port, context);
        } else if address == self.port_address {
            self.drive(self.ddr, value, context);
        } else if self.toggle {
            self.drive(self.ddr, self.port ^ value, context);
        } else if !context.events.tolerate("a write to the input register of a port, which is read-only") {
            return context.refuse(&self.name, address, "a write to the read-only input register");
        }
        Ok(())
    }

    fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if address == self.pin_address {
            return self.write(address, 1, u32::from(on) << bit, context);
        }
        let value = self.read(address, 1, context)? & !(1 << bit) | u32::from(on) << bit;
        self.write(address, 1, value, context)
    }

    fn reset(&mut self) {
        self.ddr = 0;
        self.port = 0;
    }
}
