//! An 8-bit port of an 8051.
//!
//! Intel, *MCS 51 Microcontroller Family User's Manual* (272383-002), chapter "Hardware
//! Description", sections "Port Structures and Operation", "Read-Modify-Write Feature" and
//! "Accessing External Memory". Nothing is connected to the pins: each has the level of its latch,
//! a one by its pull-up. Where the port serves the bus to external memory, the setting `bus` says
//! how:
//! - 1, port 0: addresses and data. Each access sets the latch to 0xff, so that neither pins nor
//!   latch are the program's.
//! - 2, port 2: the high half of addresses. The pins are not the program's; the latch is the high
//!   half for `MOVX @Ri`.
//!
//! The setting `strobes` has the pins of port 3 that carry RD and WR; their latches must stay one.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// One port.
#[derive(Clone)]
pub struct Port {
    name: String,
    address: u32,
    bus: i64,
    strobes: u8,
    latch: u8,
}

impl Port {
    /// The port whose register is at `spec.base`. Settings: `bus`, `strobes`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Port {
        let setting = |name: &str| spec.settings.get(name).copied().unwrap_or(0);
        Port {
            name: spec.name.clone(),
            address: spec.base,
            bus: setting("bus"),
            strobes: setting("strobes") as u8,
            latch: 0xff,
        }
    }

    fn fault(&self, context: &Context<'_, '_>, what: &str) -> Fault {
        context.fault(&self.name, self.address, what)
    }
}

impl Peripheral for Port {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.address..self.address + 1)
    }

    fn read(&mut self, _address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if self.bus == 1 && context.reads_latch {
            return Err(self.fault(context, "the bus to external memory sets its latch"));
        }
        if self.bus != 0 && !context.reads_latch {
            return Err(self.fault(context, "its pins carry the bus to external memory"));
        }
        Ok(self.latch.into())
    }

    fn write(
        &mut self,
        _address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8;
        if self.bus == 1 {
            return Err(self.fault(context, "the bus to external memory sets its latch"));
        }
        if !value & self.strobes != 0 {
            return Err(self.fault(context, "a zero would hold RD or WR of the external memory low"));
        }
        if self.bus == 0 {
            context.pins(&self.name, self.latch.into(), value.into());
        }
        self.latch = value;
        Ok(())
    }

    fn reset(&mut self) {
        self.latch = 0xff;
    }
}
