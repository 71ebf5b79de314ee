//! FRAM of the MSP430FR5xx as the core sees it.
//!
//! It has a read cache of four lines of 64 bits, two by two (SLAU367, chapter "FRAM Controller A
//! (FRCTL_A)"). A hit takes no wait states, a miss those of FRCTL0.NWAITS.
//!
//! Estimates, of which the manual says nothing that could be had: bit 3 of the address chooses the
//! pair of lines; of a pair the one used last stays; a write waits as a read that misses, and
//! changes a line that is kept; each word of an instruction is looked up once, when the instruction
//! begins.

use crate::{MemoryKind, Part};

/// Bytes of a line, as a shift.
const LINE: u32 = 3;

/// State of the cache: one above the number of each line, 0 for none; of a pair the one used last
/// comes first.
#[derive(Clone, Copy, Default)]
pub struct Fram {
    sets: [[u32; 2]; 2],
    /// Cycles that the fetch of the last instruction waited that was looked up here.
    pub fetch_waits: u8,
}

impl Fram {
    /// An empty cache.
    ///
    /// # Errors
    /// The part has FRAM behind another interface.
    pub fn new(part: &Part) -> Result<Fram, String> {
        let has_one = part.memories.iter().any(|memory| memory.kind == MemoryKind::Fram);
        match &part.flash {
            Some(flash) if has_one && flash.interface != "frctl-a" => Err(format!(
                "{}: no model of FRAM interface {}; there is frctl-a",
                part.name, flash.interface
            )),
            None if has_one => Err(format!("{}: its FRAM needs a [flash] table", part.name)),
            _ => Ok(Fram::default()),
        }
    }

    /// Returns true if the line of an address was kept; it is from now on.
    fn hits(&mut self, address: u32) -> bool {
        let line = (address >> LINE) + 1;
        let set = &mut self.sets[(address >> LINE & 1) as usize];
        if set[0] == line {
            return true;
        }
        let hit = set[1] == line;
        *set = [line, set[0]];
        hit
    }

    /// Cycles that a read of a byte or word waits.
    pub fn read(&mut self, address: u32, wait_states: u8) -> u8 {
        if self.hits(address) { 0 } else { wait_states }
    }

    /// Cycles that the fetch of an instruction waits.
    pub fn fetch(&mut self, pc: u32, length: u32, wait_states: u8) -> u8 {
        let lines = (pc >> LINE)..=((pc + length - 1) >> LINE);
        lines.map(|line| self.read(line << LINE, wait_states)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Fram;

    #[test]
    fn two_lines_of_each_parity_are_kept() {
        let mut fram = Fram::default();
        let mut reads = |addresses: &[u32]| addresses.iter().map(|at| fram.read(*at, 1)).collect::<Vec<_>>();
        assert_eq!(reads(&[0x4000, 0x4006, 0x4010, 0x4000]), [1, 0, 1, 0]);
        // A third line of that parity takes the place of the one used longest ago; the other parity
        // is apart.
        assert_eq!(reads(&[0x4008, 0x4020, 0x4000, 0x4010, 0x4008]), [1, 1, 0, 1, 0]);
        assert_eq!(fram.fetch(0x5006, 4, 2), 4, "two lines");
        assert_eq!(fram.fetch(0x5002, 6, 2), 0);
    }
}
