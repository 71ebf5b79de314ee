//! The electronic signature of the STM32: unique device identifier and flash size, read-only.
//!
//! RM0091 section 33, RM0041 section 26, RM0090 section 39, RM0410 section 41. The identifier is
//! one that no part need have, always the same.

use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, Spec};
use std::ops::Range;

/// Wafer coordinates, wafer and lot number.
const IDENTIFIER: [u32; 3] = [0x0041_0027, 0x3130_470e, 0x3836_3538];

/// The words.
#[derive(Clone)]
pub struct Signature {
    name: String,
    base: u32,
    flash_size_at: u32,
    flash_kib: u32,
}

impl Signature {
    /// The identifier at `spec.base`, the size of the part's flash at `settings.flash_size`.
    ///
    /// # Errors
    /// The setting or the flash is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Signature, String> {
        let at = spec.settings.get("flash_size").copied().and_then(|at| u32::try_from(at).ok());
        let flash = part.memories.iter().find(|memory| memory.name == "flash");
        Ok(Signature {
            name: spec.name.clone(),
            base: spec.base,
            flash_size_at: at
                .filter(|at| at % 2 == 0)
                .ok_or_else(|| format!("{} needs flash_size, an address", spec.name))?,
            flash_kib: flash.ok_or_else(|| format!("{}: {} needs flash", part.name, spec.name))?.size / 1024,
        })
    }

    fn ranges(&self) -> [Range<u32>; 2] {
        [self.base..self.base + 12, self.flash_size_at..self.flash_size_at + 2]
    }

    fn byte(&self, address: u32) -> u32 {
        match address.checked_sub(self.base) {
            Some(offset) if offset < 12 => IDENTIFIER[offset as usize / 4] >> (offset % 4 * 8) & 0xff,
            _ => self.flash_kib >> ((address - self.flash_size_at) * 8) & 0xff,
        }
    }
}

impl Peripheral for Signature {
    fn spec(&self) -> Spec {
        Spec::with_ranges(&self.name, self.ranges())
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let ranges = self.ranges();
        (0..u32::from(size)).try_fold(0, |word, index| {
            let at = address + index;
            if !ranges.iter().any(|range| range.contains(&at)) {
                return context.refuse(&self.name, at, "beside the identifier and the flash's size");
            }
            Ok(word | self.byte(at) << (index * 8))
        })
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        _value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        context.refuse(&self.name, address, "the signature is read-only")
    }

    fn reset(&mut self) {}
}
