//! The reset vector generator of the MSP430F5xx: why the part began anew.
//!
//! Source: SLAU208, chapter "System Resets, Interrupts, and Operating Modes", `SYSRSTIV`; the numbers of the causes compared
//! with public headers for the family. A reset other than that of power-up is not modelled (see the watchdog and the PMM), so
//! that the first look says brown-out, as power-up does, and later ones nothing.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

/// `SYSRSTIV_BOR`.
const BROWN_OUT: u32 = 0x02;

/// `SYSRSTIV`.
#[derive(Clone)]
pub struct Sys {
    name: String,
    base: u32,
    cause: u32,
}

impl Sys {
    /// `SYSRSTIV` at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Sys {
        Sys { name: spec.name.clone(), base: spec.base, cause: BROWN_OUT }
    }
}

impl Peripheral for Sys {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 2).collect()
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let cause = std::mem::take(&mut self.cause);
        Ok(if size == 2 { cause } else { cause >> (8 * (address & 1)) & 0xff })
    }

    fn write(&mut self, _: u32, _: u8, _: u32, _: &mut Context<'_, '_>) -> Result<(), Fault> {
        self.cause = 0;
        Ok(())
    }

    fn reset(&mut self) {
        self.cause = BROWN_OUT;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
