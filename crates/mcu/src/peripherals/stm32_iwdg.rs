//! The independent watchdog (IWDG) of the STM32, set up but never started.
//!
//! RM0090 section 21.4; the other families' are the same (F0 and F7 with a window besides, which is not modelled).
//! Starting it is a fault: a part that resets itself is not modelled.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

/// Keys of IWDG_KR.
const UNLOCK: u32 = 0x5555;
const RELOAD: u32 = 0xaaaa;
const START: u32 = 0xcccc;

/// The registers.
#[derive(Clone)]
pub struct Iwdg {
    name: String,
    base: u32,
    unlocked: bool,
    prescaler: u32,
    reload: u32,
}

impl Iwdg {
    /// IWDG at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Iwdg {
        Iwdg { name: spec.name.clone(), base: spec.base, unlocked: false, prescaler: 0, reload: 0xfff }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }
}

impl Peripheral for Iwdg {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 0x400).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset & !3 {
            0x0 => 0,
            0x4 => self.prescaler,
            0x8 => self.reload,
            // No update is ever under way.
            0xc => 0,
            _ => return Err(self.fault(address, context, "register not modelled")),
        };
        Ok(super::register::part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let value = super::register::merged_word(0, offset, size, value);
        match offset & !3 {
            0x0 => match value & 0xffff {
                UNLOCK => self.unlocked = true,
                RELOAD => self.unlocked = false,
                START => {
                    return Err(self.fault(
                        address,
                        context,
                        "a watchdog that resets the part is not modelled",
                    ));
                }
                _ => self.unlocked = false,
            },
            0x4 if self.unlocked => self.prescaler = value & 7,
            0x8 if self.unlocked => self.reload = value & 0xfff,
            0x4 | 0x8 => return Err(self.fault(address, context, "written without the key 0x5555")),
            _ => return Err(self.fault(address, context, "register not modelled")),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.unlocked = false;
        self.prescaler = 0;
        self.reload = 0xfff;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
