//! The four registers of a block's interrupts, which all blocks of Raspberry Pi's own have alike:
//! INTR, INTE, INTF and INTS (RP2040 Datasheet, each block's list of registers).

use super::Write;

/// The registers of one interrupt behind INTR, by their offsets from INTE.
const INTE: u32 = 0;
const INTF: u32 = 4;

/// INTE and INTF of one interrupt.
#[derive(Clone, Copy)]
pub(super) struct Interrupts {
    /// The sources that there are.
    all: u32,
    enabled: u32,
    forced: u32,
}

impl Interrupts {
    pub const fn new(all: u32) -> Interrupts {
        Interrupts { all, enabled: 0, forced: 0 }
    }

    /// INTE.
    pub fn enabled(self) -> u32 {
        self.enabled
    }

    /// INTF.
    pub fn forced(self) -> u32 {
        self.forced
    }

    /// INTS while INTR is `raw`.
    pub fn status(self, raw: u32) -> u32 {
        raw & self.enabled | self.forced
    }

    /// INTE, INTF or INTS, by its offset from INTE.
    pub fn read(self, offset: u32, raw: u32) -> u32 {
        match offset {
            INTE => self.enabled,
            INTF => self.forced,
            _ => self.status(raw),
        }
    }

    /// Writes one of these; INTS is only read.
    pub fn write(&mut self, offset: u32, write: Write) {
        let register = match offset {
            INTE => &mut self.enabled,
            INTF => &mut self.forced,
            _ => return,
        };
        *register = write.onto(*register) & self.all;
    }

    /// As after the block's reset.
    pub fn reset(&mut self) {
        (self.enabled, self.forced) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Interrupts, Write};

    /// A write by the alias that sets bits.
    fn set(value: u32) -> Write {
        Write::new(0x2000, 4, value)
    }

    #[test]
    fn forced_source_counts_without_its_enable() {
        let mut interrupts = Interrupts::new(0xf);
        interrupts.write(0, set(0x11));
        interrupts.write(4, set(0x04));
        interrupts.write(8, set(0x0f));
        assert_eq!([0, 4, 8].map(|offset| interrupts.read(offset, 0x3)), [1, 4, 5]);
        interrupts.reset();
        assert_eq!(interrupts.status(0xf), 0);
    }
}
