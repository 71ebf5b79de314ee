//! The unified clock system of the MSP430F5xx.
//!
//! Source: SLAU208, chapter "Unified Clock System (UCS)". The machine's clock is given from outside, as MCLK: whatever
//! a program sets the DCO and the FLL to, it runs at that clock from the first instruction, settled. What the model
//! needs to hold is that SMCLK equals MCLK and that ACLK has 32,768 Hz; settings that would change either are refused
//! with a fault rather than counted wrongly. Fault flags are set by power-up and stay clear once cleared.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

const UCSCTL4: u32 = 0x08;
const UCSCTL5: u32 = 0x0a;
const END: u32 = 0x12;
/// UCSCTL0 to UCSCTL8 after power-up.
const AFTER_RESET: [u32; 9] = [0, 0x20, 0x101f, 0, 0x44, 0, 0xc1cd, 0x0703, 0x0707];
/// Sources of `UCSCTL4`: XT1CLK and REFOCLK have 32,768 Hz; 3 falls back to XT1 or REFO.
const XT1: u32 = 0;
const REFO: u32 = 2;

/// The unified clock system.
#[derive(Clone)]
pub struct Ucs {
    name: String,
    base: u32,
    registers: [u32; 9],
}

impl Ucs {
    /// The clock system with its registers from `spec.base` on.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Ucs {
        Ucs { name: spec.name.clone(), base: spec.base, registers: AFTER_RESET }
    }
}

impl Peripheral for Ucs {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = self.registers[(offset >> 1) as usize];
        Ok(if size == 2 { word } else { word >> (8 * (offset & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let index = (offset >> 1) as usize;
        let shift = 8 * (offset & 1);
        let before = self.registers[index];
        let after = if size == 2 { value } else { before & !(0xff << shift) | value << shift };
        let refused = match offset & !1 {
            UCSCTL4 if after & 7 != after >> 4 & 7 => {
                Some("SMCLK from another source than MCLK is not modelled")
            }
            UCSCTL4 if !matches!(after >> 8 & 7, XT1 | REFO) => {
                Some("ACLK from another source than XT1 and REFO is not modelled")
            }
            UCSCTL5 if after & 7 != after >> 4 & 7 => {
                Some("SMCLK divided otherwise than MCLK is not modelled")
            }
            UCSCTL5 if after >> 8 & 7 != 0 => Some("a divided ACLK is not modelled"),
            _ => None,
        };
        if let Some(what) = refused {
            let what = what.to_string();
            return Err(Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what });
        }
        self.registers[index] = after;
        Ok(())
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
