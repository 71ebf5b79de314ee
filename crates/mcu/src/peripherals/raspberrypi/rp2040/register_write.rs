//! Writes to registers with aliases.

/// A write at one of the four addresses of a register (section 2.1.2), of any width (section 2.1.4:
/// what is narrower than a word is repeated in it).
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub(super) value: u32,
    alias: u32,
}

impl Write {
    pub(super) fn new(address: u32, size: u8, value: u32) -> Write {
        let value = match size {
            1 => (value & 0xff) * 0x0101_0101,
            2 => (value & 0xffff) * 0x0001_0001,
            _ => value,
        };
        Write { value, alias: address >> 12 & 3 }
    }

    /// The register's value after the write, `old` before.
    pub(super) fn onto(self, old: u32) -> u32 {
        match self.alias {
            0 => self.value,
            1 => old ^ self.value,
            2 => old | self.value,
            _ => old & !self.value,
        }
    }

    /// True for a write by one of the aliases.
    pub(super) fn is_atomic(self) -> bool {
        self.alias != 0
    }
}
