//! The 64 kB address space: what is memory, and its bytes.

use crate::{Fault, Image, MemoryKind, Part, Segment};

const SIZE: usize = 0x1_0000;

/// What stands at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// No memory: a register, or nothing.
    Other,
    /// Readable and writable.
    Ram,
    /// Readable; written only through the flash controller, which is not modelled.
    Flash,
}

/// All memories of the part.
#[derive(Clone)]
pub struct Memory {
    bytes: Box<[u8; SIZE]>,
    places: Box<[Place; SIZE]>,
    /// What the image puts into RAM, to be there again after a reset.
    ram_image: Vec<Segment>,
}

fn boxed<T: Copy>(value: T) -> Box<[T; SIZE]> {
    match vec![value; SIZE].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("the vector has SIZE elements"),
    }
}

impl Memory {
    /// Empty memories: RAM zero, flash erased.
    ///
    /// # Errors
    /// A sentence about a memory that this family cannot have.
    pub fn new(part: &Part) -> Result<Memory, String> {
        let mut memory = Memory { bytes: boxed(0), places: boxed(Place::Other), ram_image: Vec::new() };
        for spec in &part.memories {
            let (start, end) = (spec.start as usize, spec.start as usize + spec.size as usize);
            if end > SIZE || !spec.aliases.is_empty() {
                return Err(format!(
                    "{}: memory {} must lie in the 16-bit address space, without aliases",
                    part.name, spec.name
                ));
            }
            let place = match spec.kind {
                MemoryKind::Ram => Place::Ram,
                MemoryKind::Flash => Place::Flash,
                kind => return Err(format!("{}: a 68HC08 has no {kind:?} memory here", part.name)),
            };
            memory.places[start..end].fill(place);
            if place == Place::Flash {
                memory.bytes[start..end].fill(0xff);
            }
        }
        Ok(memory)
    }

    /// What there is at an address.
    #[inline(always)]
    pub fn place(&self, address: u16) -> Place {
        self.places[usize::from(address)]
    }

    /// A byte, whatever stands there.
    #[inline(always)]
    pub fn byte(&self, address: u16) -> u8 {
        self.bytes[usize::from(address)]
    }

    /// A word, high byte first, whatever stands there.
    pub fn word(&self, address: u16) -> u16 {
        u16::from_be_bytes([self.byte(address), self.byte(address.wrapping_add(1))])
    }

    /// Writes a byte, whatever stands there.
    #[inline(always)]
    pub fn set_byte(&mut self, address: u16, value: u8) {
        self.bytes[usize::from(address)] = value;
    }

    fn is_memory(&self, address: u32, size: usize) -> bool {
        let start = address as usize;
        let places = self.places.get(start..start.saturating_add(size));
        places.is_some_and(|places| places.iter().all(|place| *place != Place::Other))
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
            if !segment.bytes.is_empty() && self.places[segment.address as usize] == Place::Ram {
                self.ram_image.push(segment.clone());
            }
        }
        Ok(())
    }

    /// RAM as after power-up: zero, but for what the image put there.
    pub fn reset(&mut self) {
        for (place, byte) in self.places.iter().zip(self.bytes.iter_mut()) {
            if *place == Place::Ram {
                *byte = 0;
            }
        }
        for segment in std::mem::take(&mut self.ram_image) {
            self.poke(segment.address, &segment.bytes);
            self.ram_image.push(segment);
        }
    }
}
