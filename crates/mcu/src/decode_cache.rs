//! The instructions decoded so far, by address.

use crate::Fault;
use bytemuck::Zeroable;

/// Of a unit: the instruction that begins there is decoded.
const DECODED: u8 = 1;
/// Of a unit: a breakpoint.
const BREAKPOINT: u8 = 2;
/// Of a unit: whoever executes from here has to call [`DecodeCache::find`] each time.
const SLOW: u8 = 4;

/// The instruction at a unit, there once its state says [`DECODED`]: beside it, so that both are in
/// one line of the host's cache.
#[derive(Zeroable)]
struct Slot<Op> {
    state: u8,
    op: Op,
}

/// Decoded instructions of an address space of `UNITS` units, a power of two, of `1 << UNIT_BITS`
/// bytes, at which instructions begin; filled as execution comes by, emptied where memory is
/// written. A clone of it is empty.
pub(crate) struct DecodeCache<Op, const UNITS: usize, const UNIT_BITS: u32> {
    slots: Box<[Slot<Op>; UNITS]>,
    /// The units that were ever decoded since all was forgotten, some of them more than once.
    decoded: Vec<u32>,
    /// Units of the longest instruction.
    longest: u32,
    /// True once an instruction in RAM was decoded; writes must then invalidate.
    in_ram: bool,
    breakpoints: Vec<u32>,
}

impl<Op: Copy + Zeroable, const UNITS: usize, const UNIT_BITS: u32> Clone
    for DecodeCache<Op, UNITS, UNIT_BITS>
{
    fn clone(&self) -> Self {
        DecodeCache::new(self.longest)
    }
}

impl<Op: Copy + Zeroable, const UNITS: usize, const UNIT_BITS: u32> DecodeCache<Op, UNITS, UNIT_BITS> {
    /// An empty cache for a core whose longest instruction has `longest` units.
    pub fn new(longest: u32) -> Self {
        // Zeroed pages come from the system untouched: what is not executed costs nothing.
        let slots = bytemuck::zeroed_box();
        DecodeCache { slots, decoded: Vec::new(), longest, in_ram: false, breakpoints: Vec::new() }
    }

    /// Sets the addresses to stop at, and no others.
    pub fn set_breakpoints(&mut self, addresses: &[u32]) {
        for address in std::mem::take(&mut self.breakpoints) {
            self.slots[Self::unit(address)].state &= !BREAKPOINT;
        }
        let valid = |address: &&u32| {
            **address as usize >> UNIT_BITS < UNITS && **address & ((1 << UNIT_BITS) - 1) == 0
        };
        self.breakpoints = addresses.iter().filter(valid).copied().collect();
        for address in &self.breakpoints {
            self.slots[Self::unit(*address)].state |= BREAKPOINT;
        }
    }

    #[inline(always)]
    fn unit(address: u32) -> usize {
        (address >> UNIT_BITS) as usize & (UNITS - 1)
    }

    /// Returns true if the instruction at `pc` is decoded and is no breakpoint, so that
    /// [`DecodeCache::op`] may be called.
    #[inline(always)]
    pub fn knows(&self, pc: u32) -> bool {
        self.slots[Self::unit(pc)].state == DECODED
    }

    /// The instruction at `pc`, which is known or was found just before; else any.
    #[inline(always)]
    pub fn op(&self, pc: u32) -> Op {
        self.slots[Self::unit(pc)].op
    }

    /// Sees to it that the instruction at `pc` is there, decoding it where it must be; false for a
    /// breakpoint, which `ignore_breakpoint` passes. `decode` also says whether some of the
    /// instruction lies in RAM.
    #[cold]
    pub fn find(
        &mut self,
        pc: u32,
        ignore_breakpoint: bool,
        decode: impl FnOnce() -> Result<(Op, bool), Fault>,
    ) -> Result<bool, Fault> {
        let unit = Self::unit(pc);
        let state = self.slots[unit].state;
        if state & BREAKPOINT != 0 && !ignore_breakpoint {
            return Ok(false);
        }
        if state & DECODED == 0 {
            let (op, in_ram) = decode()?;
            // A program that writes code over and over must not fill the host's memory.
            if self.decoded.len() == 4 * UNITS {
                self.clear();
            }
            self.in_ram |= in_ram;
            self.slots[unit] = Slot { state: state | DECODED, op };
            self.decoded.push(unit as u32);
        }
        Ok(true)
    }

    /// The instruction at `pc` is to be found each time, because its fetch takes time.
    pub fn mark_slow(&mut self, pc: u32) {
        self.slots[Self::unit(pc)].state |= SLOW;
    }

    /// The unit at `address` in RAM was written: forgets the instructions that it may be part of.
    #[inline(always)]
    pub fn written(&mut self, address: u32) {
        if self.in_ram {
            self.forget(address);
        }
    }

    /// As [`DecodeCache::written`], of `size` bytes in any memory: a debugger or the flash
    /// controller wrote.
    pub fn changed(&mut self, address: u32, size: usize) {
        if !self.decoded.is_empty() {
            for offset in 0..size as u32 {
                self.forget(address + offset);
            }
        }
    }

    #[cold]
    fn forget(&mut self, address: u32) {
        for back in 0..self.longest {
            let unit = (address >> UNIT_BITS).wrapping_sub(back) as usize & (UNITS - 1);
            self.slots[unit].state &= !DECODED;
        }
    }

    /// Forgets everything decoded.
    pub fn clear(&mut self) {
        for unit in self.decoded.drain(..) {
            self.slots[unit as usize].state &= !DECODED;
        }
        self.in_ram = false;
    }
}
