//! Power control (PWR) of the STM32L4+: regulator, supplies and wake-up pins as registers; the
//! regulator is at its range at once.
//!
//! RM0432 section 5.4. Stop, standby and shutdown are not modelled: their bits are kept.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};
use std::ops::Range;

const CR1: u32 = 0x00;
const CR3: u32 = 0x08;
const SR1: u32 = 0x10;
const SR2: u32 = 0x14;
const SCR: u32 = 0x18;
/// PUCRA to PDCRI.
const PULLS: Range<u32> = 0x20..0x68;
const CR5: u32 = 0x80;
const WORDS: usize = 0x84 / 4;

/// SR2.REGLPS: the low-power regulator is ready.
const REGLPS: u32 = 1 << 8;

/// The registers.
#[derive(Clone)]
pub struct PwrL4 {
    name: String,
    base: u32,
    words: [u32; WORDS],
}

impl PwrL4 {
    /// PWR at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> PwrL4 {
        let mut pwr = PwrL4 { name: spec.name.clone(), base: spec.base, words: [0; WORDS] };
        pwr.reset();
        pwr
    }

    /// The index of the register at an offset, where there is one.
    fn index(&self, address: u32, context: &Context<'_, '_>) -> Result<usize, Fault> {
        let offset = (address - self.base) & !3;
        if offset <= SCR || PULLS.contains(&offset) || offset == CR5 {
            return Ok(offset as usize / 4);
        }
        context.refuse(&self.name, address, "register not modelled")
    }
}

impl Peripheral for PwrL4 {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let index = self.index(address, context)?;
        Ok(part_of_word(self.words[index], address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let index = self.index(address, context)?;
        // The flags that SCR clears never rise.
        if !(SR1..=SCR).contains(&(index as u32 * 4)) {
            self.words[index] = merged_word(self.words[index], address, size, value);
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.words = [0; WORDS];
        for (offset, value) in [(CR1, 0x200), (CR3, 0x8000), (SR2, REGLPS), (CR5, 0x100)] {
            self.words[offset as usize / 4] = value;
        }
    }
}
