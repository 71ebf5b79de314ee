//! A linear address space with RAM and flash in it.

use crate::{MemoryKind, Part};

/// Kind of an address.
///
/// In this order: what lies below [`Page::Ram`] takes more than a look to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Page {
    /// No memory: peripherals, or nothing.
    Other,
    /// Readable and writable, with wait states.
    Fram,
    /// Readable and writable.
    Ram,
    /// Readable; written through a flash controller.
    Flash,
}

/// All memories of a part with `1 << ADDRESS_BITS` addresses, told apart by pages of `1 <<
/// PAGE_BITS` bytes.
#[derive(Clone)]
pub(crate) struct Memory<const ADDRESS_BITS: u32, const PAGE_BITS: u32> {
    bytes: Box<[u8]>,
    pages: Box<[Page]>,
}

impl<const ADDRESS_BITS: u32, const PAGE_BITS: u32> Memory<ADDRESS_BITS, PAGE_BITS> {
    const SIZE: usize = 1 << ADDRESS_BITS;

    /// Empty memories: RAM zero, flash erased.
    ///
    /// # Errors
    /// A sentence about a memory that cannot be here.
    pub fn new(part: &Part) -> Result<Self, String> {
        let mut bytes = vec![0; Self::SIZE].into_boxed_slice();
        let mut pages = vec![Page::Other; Self::SIZE >> PAGE_BITS].into_boxed_slice();
        for memory in &part.memories {
            let (start, end) = (memory.start as usize, memory.start as usize + memory.size as usize);
            if end > Self::SIZE || (start | end) & ((1 << PAGE_BITS) - 1) != 0 || !memory.aliases.is_empty() {
                return Err(format!(
                    "{}: memory {} must lie in the {ADDRESS_BITS}-bit address space, in whole pages of {} bytes, without aliases",
                    part.name,
                    memory.name,
                    1 << PAGE_BITS
                ));
            }
            let page = match memory.kind {
                MemoryKind::Ram => Page::Ram,
                MemoryKind::Flash => Page::Flash,
                MemoryKind::Fram => Page::Fram,
                kind => return Err(format!("{}: this core has no {kind:?} memory", part.name)),
            };
            pages[start >> PAGE_BITS..end >> PAGE_BITS].fill(page);
            if matches!(page, Page::Flash | Page::Fram) {
                bytes[start..end].fill(0xff);
            }
        }
        Ok(Memory { bytes, pages })
    }

    /// Returns the kind of memory at an address.
    #[inline(always)]
    pub fn page(&self, address: u32) -> Page {
        self.pages[(address as usize & (Self::SIZE - 1)) >> PAGE_BITS]
    }

    /// A byte, whatever the page is.
    #[inline(always)]
    pub fn byte(&self, address: u32) -> u32 {
        u32::from(self.bytes[address as usize & (Self::SIZE - 1)])
    }

    /// A word at an even address, low byte first, whatever the page is.
    #[inline(always)]
    pub fn word(&self, address: u32) -> u32 {
        let at = address as usize & (Self::SIZE - 2);
        u32::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
    }

    /// Writes a byte, whatever the page is.
    #[inline(always)]
    pub fn set_byte(&mut self, address: u32, value: u32) {
        self.bytes[address as usize & (Self::SIZE - 1)] = value as u8;
    }

    /// Writes a word at an even address, low byte first, whatever the page is.
    #[inline(always)]
    pub fn set_word(&mut self, address: u32, value: u32) {
        let at = address as usize & (Self::SIZE - 2);
        self.bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
    }

    fn is_memory(&self, address: u32, size: usize) -> bool {
        let start = address as usize;
        let end = start.saturating_add(size);
        end <= Self::SIZE
            && (start >> PAGE_BITS..end.div_ceil(1 << PAGE_BITS)).all(|page| self.pages[page] != Page::Other)
    }

    /// Copies memory out; false where some of it is none.
    pub fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        let there = self.is_memory(address, bytes.len());
        if there {
            bytes.copy_from_slice(&self.bytes[address as usize..address as usize + bytes.len()]);
        }
        there
    }

    /// Copies memory in, flash too; false where some of it is none.
    pub fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        let there = self.is_memory(address, bytes.len());
        if there {
            self.bytes[address as usize..address as usize + bytes.len()].copy_from_slice(bytes);
        }
        there
    }

    /// Zero, as after power-up.
    pub fn clear_ram(&mut self) {
        for (page, bytes) in self.pages.iter().zip(self.bytes.chunks_mut(1 << PAGE_BITS)) {
            if *page == Page::Ram {
                bytes.fill(0);
            }
        }
    }
}
