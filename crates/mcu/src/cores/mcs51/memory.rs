//! The address spaces of the architecture, and where they lie in images, symbols and observers.

use super::timing::BYTES;
use crate::{Fault, MemoryKind, Part};
use std::ops::Range;

/// Program memory: 0x00000 to 0x0ffff.
pub const CODE: u32 = 0x0_0000;
/// External data memory: 0x10000 to 0x1ffff.
pub const EXTERNAL: u32 = 0x1_0000;
/// Internal data memory, directly (below 0x80) and indirectly addressed: 0x20000 to 0x200ff.
pub const INTERNAL: u32 = 0x2_0000;
/// Special function registers: 0x30080 to 0x300ff.
pub const SPECIAL: u32 = 0x3_0000;

/// The reserved opcode; in [`Memory::planned`] it stands for whatever is not simply executed.
pub const TRAP: u8 = 0xa5;

const SPACE: usize = 0x1_0000;

/// The memories of the part.
#[derive(Clone)]
pub struct Memory {
    code: Box<[u8; SPACE]>,
    /// The code again, but [`TRAP`] where there is none, at jumps to themselves and where a run is
    /// to stop.
    plan: Box<[u8; SPACE]>,
    code_range: Range<u32>,
    external: Box<[u8; SPACE]>,
    external_range: Range<u32>,
    internal: [u8; 256],
    internal_size: u16,
    /// Addresses before which the run stops.
    stops: Vec<u16>,
}

/// Contents of an address that is not simply executed.
pub enum Trapped {
    /// The run is to stop there.
    Stop,
    /// A jump to itself.
    Halt,
    /// An instruction like any other, passed where a run was to stop.
    Opcode(u8),
}

fn space(byte: u8) -> Box<[u8; SPACE]> {
    let bytes = vec![byte; SPACE].into_boxed_slice();
    // A boxed slice of SPACE bytes is a box of an array of as many.
    bytes.try_into().unwrap_or_else(|_| Box::new([byte; SPACE]))
}

impl Memory {
    /// Empty memories: RAM zero, program memory 0xff.
    ///
    /// # Errors
    /// A sentence about a memory that this family cannot have.
    pub fn new(part: &Part) -> Result<Memory, String> {
        let mut ranges = [0..0, 0..0, 0..0];
        for memory in &part.memories {
            let (space, kind) = match memory.start & !0xffff {
                CODE => (0, MemoryKind::Flash),
                EXTERNAL => (1, MemoryKind::Ram),
                INTERNAL => (2, MemoryKind::Ram),
                _ => (3, MemoryKind::Ram),
            };
            let start = memory.start & 0xffff;
            let end = start.saturating_add(memory.size);
            let internal_fits = space != 2 || start == 0 && (end == 0x80 || end == 0x100);
            let free = ranges.get(space).is_some_and(|range| range.is_empty());
            if !free
                || memory.kind != kind
                || end > SPACE as u32
                || !internal_fits
                || !memory.aliases.is_empty()
            {
                return Err(format!(
                    "{}: memory {}: an MCS-51 has one program memory (flash) in 0x00000-0x0ffff, one external RAM in \
                     0x10000-0x1ffff and 128 or 256 bytes of internal RAM at 0x20000",
                    part.name, memory.name
                ));
            }
            ranges[space] = start..end;
        }
        let [code_range, external_range, internal_range] = ranges;
        if internal_range.is_empty() {
            return Err(format!("{}: an MCS-51 has internal RAM at 0x20000", part.name));
        }
        let mut memory = Memory {
            code: space(0xff),
            plan: space(TRAP),
            code_range,
            external: space(0),
            external_range,
            internal: [0; 256],
            internal_size: internal_range.end as u16,
            stops: Vec::new(),
        };
        memory.replan(0, SPACE);
        Ok(memory)
    }

    /// A byte of code; 0xff where there is no memory.
    #[inline(always)]
    pub fn code(&self, address: u16) -> u8 {
        self.code[usize::from(address)]
    }

    /// The opcode to be executed at an address, or [`TRAP`]: look at [`Memory::trapped`].
    #[inline(always)]
    pub fn planned(&self, address: u16) -> u8 {
        self.plan[usize::from(address)]
    }

    /// Returns true if a data read of the program memory finds a byte.
    #[inline(always)]
    pub fn has_code(&self, address: u16) -> bool {
        self.code_range.contains(&u32::from(address))
    }

    /// A byte of the external RAM, if there is one.
    #[inline(always)]
    pub fn external(&self, address: u16) -> Option<u8> {
        self.external_range.contains(&u32::from(address)).then(|| self.external[usize::from(address)])
    }

    /// A byte of the external RAM to be written, if there is one.
    #[inline(always)]
    pub fn external_mut(&mut self, address: u16) -> Option<&mut u8> {
        let there = self.external_range.contains(&u32::from(address));
        there.then(|| &mut self.external[usize::from(address)])
    }

    /// Returns true if the internal RAM reaches up to an indirect address.
    #[inline(always)]
    pub fn has_internal(&self, address: u8) -> bool {
        u16::from(address) < self.internal_size
    }

    /// A byte of the internal RAM, which must reach there.
    #[inline(always)]
    pub fn internal(&self, address: u8) -> u8 {
        self.internal[usize::from(address)]
    }

    /// Writes a byte of the internal RAM, which must reach there.
    #[inline(always)]
    pub fn set_internal(&mut self, address: u8, value: u8) {
        self.internal[usize::from(address)] = value;
    }

    /// Returns the contents of an address for which [`Memory::planned`] gave [`TRAP`]; `pass`
    /// passes an address to stop at.
    ///
    /// # Errors
    /// The reserved opcode, or an instruction that does not wholly lie in memory.
    #[cold]
    pub fn trapped(&self, pc: u16, pass: bool) -> Result<Trapped, Fault> {
        if !pass && self.stops.contains(&pc) {
            return Ok(Trapped::Stop);
        }
        let opcode = self.code(pc);
        for offset in 0..u16::from(BYTES[usize::from(opcode)]) {
            let address = pc.wrapping_add(offset);
            if !self.has_code(address) {
                return Err(Fault::Unmapped {
                    pc: pc.into(),
                    address: CODE + u32::from(address),
                    size: 1,
                    kind: "fetch",
                });
            }
        }
        if opcode == TRAP {
            return Err(Fault::Opcode { pc: pc.into(), bytes: vec![opcode] });
        }
        Ok(if self.jumps_to_itself(pc) { Trapped::Halt } else { Trapped::Opcode(opcode) })
    }

    /// `SJMP`, `AJMP` or `LJMP` to itself.
    fn jumps_to_itself(&self, pc: u16) -> bool {
        let [first, second] = [1, 2].map(|offset| self.code(pc.wrapping_add(offset)));
        match self.code(pc) {
            0x80 => first == 0xfe,
            0x02 => u16::from_be_bytes([first, second]) == pc,
            opcode if opcode & 0x1f == 0x01 => {
                let page = pc.wrapping_add(2) & 0xf800;
                page | u16::from(opcode >> 5) << 8 | u16::from(first) == pc
            }
            _ => false,
        }
    }

    /// Brings the plan up to date from an address on.
    fn replan(&mut self, address: usize, size: usize) {
        for pc in (address..address + size).map(|address| address as u16) {
            let bytes = u16::from(BYTES[usize::from(self.code(pc))]);
            let whole = (0..bytes).all(|offset| self.has_code(pc.wrapping_add(offset)));
            self.plan[usize::from(pc)] =
                if whole && !self.jumps_to_itself(pc) { self.code(pc) } else { TRAP };
        }
    }

    /// Marks the addresses to stop at, in place of those marked before.
    pub fn mark(&mut self, addresses: &[u32]) {
        for address in std::mem::take(&mut self.stops) {
            self.replan(address.into(), 1);
        }
        self.stops = addresses.iter().filter_map(|address| u16::try_from(*address).ok()).collect();
        for address in &self.stops {
            self.plan[usize::from(*address)] = TRAP;
        }
    }

    fn is_memory(&self, address: u32, size: usize) -> bool {
        let (space, start) = (address & !0xffff, (address & 0xffff) as usize);
        let range = match space {
            CODE => self.code_range.clone(),
            EXTERNAL => self.external_range.clone(),
            INTERNAL => 0..u32::from(self.internal_size),
            _ => return false,
        };
        start >= range.start as usize && start.saturating_add(size) <= range.end as usize
    }

    /// Copies memory out; false where some of it is none.
    pub fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        if !self.is_memory(address, bytes.len()) {
            return false;
        }
        let start = (address & 0xffff) as usize;
        let memory: &[u8] = match address & !0xffff {
            CODE => &self.code[..],
            EXTERNAL => &self.external[..],
            _ => &self.internal[..],
        };
        bytes.copy_from_slice(&memory[start..start + bytes.len()]);
        true
    }

    /// Copies memory in, program memory too; false where some of it is none.
    pub fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        if !self.is_memory(address, bytes.len()) {
            return false;
        }
        let start = (address & 0xffff) as usize;
        let end = start + bytes.len();
        match address & !0xffff {
            CODE => {
                self.code[start..end].copy_from_slice(bytes);
                // Instructions of up to three bytes may begin before.
                let first = start.saturating_sub(2);
                self.replan(first, end - first);
                if start < 2 {
                    self.replan(SPACE - 2, 2);
                }
            }
            EXTERNAL => self.external[start..end].copy_from_slice(bytes),
            _ => self.internal[start..end].copy_from_slice(bytes),
        }
        true
    }

    /// Returns true if there is RAM at an address.
    pub fn is_ram(&self, address: u32) -> bool {
        address >= EXTERNAL && self.is_memory(address, 1)
    }

    /// Zero, as after power-up.
    pub fn clear_ram(&mut self) {
        self.external.fill(0);
        self.internal.fill(0);
    }
}
