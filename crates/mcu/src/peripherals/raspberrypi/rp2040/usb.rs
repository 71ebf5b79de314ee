//! The USB controller, which is not connected to anything: the register by which programs that do
//! not use it switch it off, SIE_CTRL. Section 4.1. All else of it is refused. The SDK does so
//! while it is held in reset: then the register has its reset's value, and writes do nothing.

use super::{BLOCK, Write, register};
use crate::peripherals::register::part_of_word;
use crate::{Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

const SIE_CTRL: u32 = 0x4c;
/// Bits that may be set: TRANSCEIVER_PD, the strength of the pull-up, and the pull-downs.
const SIE_CTRL_MASK: u32 = 1 << 18 | 1 << 17 | 1 << 15;
/// Its bit in RESETS.RESET.
const RESET: u32 = 1 << 24;

/// The register.
#[derive(Clone)]
pub struct Usb {
    name: String,
    base: u32,
    held: bool,
    control: u32,
}

impl Usb {
    /// The registers (not the memory) at `spec.base`.
    pub fn new(spec: &PeripheralSpec) -> Usb {
        Usb { name: spec.name.clone(), base: spec.base, held: true, control: 0 }
    }

    fn check(&self, address: u32, context: &Context<'_, '_>) -> Result<(), Fault> {
        if register(address) == SIE_CTRL {
            return Ok(());
        }
        context.refuse(&self.name, address, "USB is not modelled, but for SIE_CTRL")
    }
}

impl Peripheral for Usb {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + BLOCK)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.check(address, context)?;
        Ok(part_of_word(self.control, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.check(address, context)?;
        if self.held {
            return Ok(());
        }
        self.control = Write::new(address, size, value).onto(self.control);
        if self.control & !SIE_CTRL_MASK != 0 {
            let what = "USB is not modelled: what begins something in SIE_CTRL is refused";
            return context.refuse(&self.name, address, what);
        }
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.held = context.events.held & RESET != 0;
            if self.held {
                self.control = 0;
            }
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.control = 0;
    }
}
