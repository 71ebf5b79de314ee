//! The 1-MB address space: what is memory, and its bytes.

use crate::{Fault, Image, MemoryKind, Part, Segment};

const SIZE: usize = 0x10_0000;
const PAGE_BITS: u32 = 8;

/// What a page of 256 bytes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Page {
    /// No memory: special function registers, or nothing.
    Other,
    /// Readable and writable.
    Ram,
    /// Readable; written only through the flash controller, which is not modelled.
    Flash,
}

/// All memories of the part.
#[derive(Clone)]
pub struct Memory {
    bytes: Box<[u8]>,
    pages: Box<[Page]>,
    /// What the image puts into RAM, to be there again after a reset.
    ram_image: Vec<Segment>,
}

impl Memory {
    /// Empty memories: RAM zero, flash erased.
    ///
    /// # Errors
    /// A sentence about a memory that this family cannot have.
    pub fn new(part: &Part) -> Result<Memory, String> {
        let mut bytes = vec![0; SIZE].into_boxed_slice();
        let mut pages = vec![Page::Other; SIZE >> PAGE_BITS].into_boxed_slice();
        for memory in &part.memories {
            let (start, end) = (memory.start as usize, memory.start as usize + memory.size as usize);
            if end > SIZE || (start | end) & 0xff != 0 || !memory.aliases.is_empty() {
                return Err(format!(
                    "{}: memory {} must lie in the 20-bit address space, in whole pages of 256 bytes, without aliases",
                    part.name, memory.name
                ));
            }
            let page = match memory.kind {
                MemoryKind::Ram => Page::Ram,
                MemoryKind::Flash => Page::Flash,
                kind => return Err(format!("{}: an R8C has no {kind:?} memory", part.name)),
            };
            pages[start >> PAGE_BITS..end >> PAGE_BITS].fill(page);
            if page == Page::Flash {
                bytes[start..end].fill(0xff);
            }
        }
        Ok(Memory { bytes, pages, ram_image: Vec::new() })
    }

    /// What there is at an address of 20 bits.
    #[inline(always)]
    pub fn page(&self, address: u32) -> Page {
        self.pages[(address as usize & (SIZE - 1)) >> PAGE_BITS]
    }

    /// A byte, whatever the page is.
    #[inline(always)]
    pub fn byte(&self, address: u32) -> u32 {
        u32::from(self.bytes[address as usize & (SIZE - 1)])
    }

    /// Writes a byte, whatever the page is.
    #[inline(always)]
    pub fn set_byte(&mut self, address: u32, value: u32) {
        self.bytes[address as usize & (SIZE - 1)] = value as u8;
    }

    /// The address that a vector holds: 20 bits.
    pub fn vector(&self, address: u32) -> u32 {
        (self.byte(address) | self.byte(address + 1) << 8 | self.byte(address + 2) << 16) & 0xf_ffff
    }

    fn is_memory(&self, address: u32, size: usize) -> bool {
        let start = address as usize;
        let end = start.saturating_add(size);
        end <= SIZE
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

    /// Programs an image.
    pub fn load(&mut self, part: &Part, image: &Image) -> Result<(), Fault> {
        self.ram_image.clear();
        for segment in &image.segments {
            if !self.poke(segment.address, &segment.bytes) {
                return Err(Fault::Load {
                    address: segment.address,
                    size: segment.bytes.len() as u32,
                    part: part.name.clone(),
                });
            }
            if !segment.bytes.is_empty() && self.page(segment.address) == Page::Ram {
                self.ram_image.push(segment.clone());
            }
        }
        Ok(())
    }

    /// RAM as after power-up: zero, but for what the image put there.
    pub fn reset(&mut self) {
        for (page, bytes) in self.pages.iter().zip(self.bytes.chunks_mut(1 << PAGE_BITS)) {
            if *page == Page::Ram {
                bytes.fill(0);
            }
        }
        for segment in std::mem::take(&mut self.ram_image) {
            self.poke(segment.address, &segment.bytes);
            self.ram_image.push(segment);
        }
    }
}
