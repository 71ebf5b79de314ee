//! The CRC calculation unit of the STM32.
//!
//! `settings.layout`: 1 has a fixed polynomial and words alone (RM0041 section 4, RM0090 section
//! 4); 2 an initial value, reversal, bytes and halfwords (RM0091 section 5); 3 the polynomial and
//! its size, too (RM0410 section 13). A word takes four cycles of HCLK, a halfword two, a byte one;
//! a read or the next write waits for it. Layouts 2 and 3 buffer one write meanwhile.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

const DR: u32 = 0x00;
const IDR: u32 = 0x04;
const CR: u32 = 0x08;
const INIT: u32 = 0x10;
const POL: u32 = 0x14;

/// CR.
const RESET: u32 = 1;
const POLYSIZE: u32 = 3 << 3;
const REV_IN: u32 = 3 << 5;
const REV_OUT: u32 = 1 << 7;

/// CRC-32 (Ethernet).
const POLYNOMIAL: u32 = 0x04c1_1db7;

/// The unit.
#[derive(Clone)]
pub struct Crc {
    name: String,
    base: u32,
    layout: i64,
    value: u32,
    temporary: u32,
    control: u32,
    initial: u32,
    polynomial: u32,
    /// The cycle at which what was written last has been worked in.
    free_at: u64,
    /// The cycle at which that began: from then on the buffer is free.
    begun_at: u64,
}

impl Crc {
    /// The unit at `spec.base`; `settings.layout` as in the module's text.
    ///
    /// # Errors
    /// No such layout.
    pub fn new(spec: &PeripheralSpec) -> Result<Crc, String> {
        let layout = spec.settings.get("layout").copied().unwrap_or(1);
        if !(1..=3).contains(&layout) {
            return Err(format!("{}: layout {layout} is not one of 1, 2, 3", spec.name));
        }
        let mut crc = Crc {
            name: spec.name.clone(),
            base: spec.base,
            layout,
            value: 0,
            temporary: 0,
            control: 0,
            initial: 0,
            polynomial: 0,
            free_at: 0,
            begun_at: 0,
        };
        crc.reset();
        Ok(crc)
    }

    /// Bits of the polynomial: POLYSIZE.
    fn width(&self) -> u32 {
        [32, 16, 8, 7][(self.control & POLYSIZE) as usize >> 3]
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.width())
    }

    /// Works in the `bits` low bits of `data`, the highest first.
    fn feed(&mut self, data: u32, bits: u32) {
        // REV_IN: by byte, by halfword, by word, of what was written.
        let group = [0, 8, 16, 32][(self.control & REV_IN) as usize >> 5].min(bits);
        let data = match group {
            0 => data,
            group => (0..bits).fold(0, |reversed, bit| {
                let place = bit / group * group + (group - 1 - bit % group);
                reversed | (data >> bit & 1) << place
            }),
        };
        let top = self.width() - 1;
        for bit in (0..bits).rev() {
            let out = (self.value >> top ^ data >> bit) & 1;
            self.value =
                self.value << 1 & self.mask() ^ if out == 1 { self.polynomial & self.mask() } else { 0 };
        }
    }

    fn result(&self) -> u32 {
        if self.control & REV_OUT == 0 {
            return self.value;
        }
        self.value.reverse_bits() >> (32 - self.width())
    }
}

impl Peripheral for Crc {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset & !3 {
            DR => {
                *context.stall += self.free_at.saturating_sub(context.now);
                self.result()
            }
            IDR => self.temporary,
            CR => self.control,
            INIT if self.layout >= 2 => self.initial,
            POL if self.layout >= 3 => self.polynomial,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            DR => {
                if offset != DR || self.layout == 1 && size != 4 {
                    return context.refuse(&self.name, address, "data that this unit does not take by parts");
                }
                let free = if self.layout == 1 { self.free_at } else { self.begun_at };
                let waits = free.saturating_sub(context.now);
                *context.stall += waits;
                self.begun_at = self.free_at.max(context.now + waits);
                self.free_at = self.begun_at + u64::from(size);
                self.feed(value, u32::from(size) * 8);
            }
            IDR => self.temporary = merge(self.temporary) & 0xff,
            CR => {
                let known = match self.layout {
                    1 => RESET,
                    2 => RESET | REV_IN | REV_OUT,
                    _ => RESET | POLYSIZE | REV_IN | REV_OUT,
                };
                let control = merge(self.control);
                if control & !known != 0 {
                    return context.refuse(&self.name, address, "a reserved bit of CRC_CR is set");
                }
                // RESET is cleared by the unit.
                self.control = control & !RESET;
                if control & RESET != 0 {
                    self.value = self.initial;
                }
                self.value &= self.mask();
            }
            INIT if self.layout >= 2 => {
                self.initial = merge(self.initial);
                self.value = self.initial & self.mask();
            }
            POL if self.layout >= 3 => {
                self.polynomial = merge(self.polynomial);
                if self.polynomial & 1 == 0 {
                    return context.refuse(&self.name, address, "an even polynomial");
                }
            }
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.value = u32::MAX;
        self.temporary = 0;
        self.control = 0;
        self.initial = u32::MAX;
        self.polynomial = POLYNOMIAL;
        self.free_at = 0;
        self.begun_at = 0;
    }
}
