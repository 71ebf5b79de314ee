//! The instructions decoded so far, by address.

use crate::Fault;

/// Marks an address to stop at, in [`DecodeCache::index`].
const STOP: u32 = 1 << 31;

/// Where a decoded instruction is: one more than its index in [`DecodeCache::ops`]. The loops fetch the instruction by that, once,
/// whether it was known or had to be decoded: joined from both ways it would be taken to pieces and put together again.
#[derive(Clone, Copy)]
pub(crate) struct Entry(u32);

/// What stands at an address.
pub(crate) enum Next {
    /// This instruction.
    Op(Entry),
    /// A breakpoint.
    Breakpoint,
}

/// Decoded instructions of an address space of `1 << ADDRESS_BITS` bytes, in which they begin at multiples of `1 << UNIT_BITS`; filled as
/// execution comes by, emptied where memory is written. A clone of it is empty.
pub(crate) struct DecodeCache<Op, const ADDRESS_BITS: u32, const UNIT_BITS: u32> {
    /// By unit: 0 for unknown, else one more than the index in `ops`; and [`STOP`].
    index: Vec<u32>,
    ops: Vec<Op>,
    /// How many units the longest instruction has.
    longest: u32,
    /// Whether an instruction in RAM was decoded, so that writes must look here.
    in_ram: bool,
    breakpoints: Vec<u32>,
}

impl<Op: Copy, const ADDRESS_BITS: u32, const UNIT_BITS: u32> Clone
    for DecodeCache<Op, ADDRESS_BITS, UNIT_BITS>
{
    fn clone(&self) -> Self {
        DecodeCache::new(self.longest)
    }
}

impl<Op: Copy, const ADDRESS_BITS: u32, const UNIT_BITS: u32> DecodeCache<Op, ADDRESS_BITS, UNIT_BITS> {
    const UNITS: usize = 1 << (ADDRESS_BITS - UNIT_BITS);

    /// Nothing decoded. The longest instruction has so many units.
    pub fn new(longest: u32) -> Self {
        // Zeroed pages come from the system untouched: what is not executed costs nothing.
        DecodeCache {
            index: vec![0; Self::UNITS],
            ops: Vec::new(),
            longest,
            in_ram: false,
            breakpoints: Vec::new(),
        }
    }

    /// Sets the addresses to stop at, and no others.
    pub fn set_breakpoints(&mut self, addresses: &[u32]) {
        for address in std::mem::take(&mut self.breakpoints) {
            self.index[Self::unit(address)] &= !STOP;
        }
        let valid =
            |address: &&u32| **address >> ADDRESS_BITS == 0 && **address & ((1 << UNIT_BITS) - 1) == 0;
        self.breakpoints = addresses.iter().filter(valid).copied().collect();
        for address in &self.breakpoints {
            self.index[Self::unit(*address)] |= STOP;
        }
    }

    #[inline(always)]
    fn unit(address: u32) -> usize {
        (address >> UNIT_BITS) as usize & (Self::UNITS - 1)
    }

    /// The instruction at `pc` if it is decoded and no breakpoint.
    #[inline(always)]
    pub fn known(&self, pc: u32) -> Option<Entry> {
        let entry = self.index[Self::unit(pc)];
        (1..STOP).contains(&entry).then_some(Entry(entry))
    }

    /// The instruction that was just found.
    #[inline(always)]
    pub fn op(&self, entry: Entry) -> Op {
        self.ops[(entry.0 as usize).wrapping_sub(1)]
    }

    /// As [`DecodeCache::known`], decoding where it must; `ignore_breakpoint` passes one. `decode` also says whether some of the
    /// instruction lies in RAM.
    #[cold]
    pub fn find(
        &mut self,
        pc: u32,
        ignore_breakpoint: bool,
        decode: impl FnOnce() -> Result<(Op, bool), Fault>,
    ) -> Result<Next, Fault> {
        let entry = self.index[Self::unit(pc)];
        if entry & STOP != 0 && !ignore_breakpoint {
            return Ok(Next::Breakpoint);
        }
        let known = entry & !STOP;
        if known != 0 {
            return Ok(Next::Op(Entry(known)));
        }
        let (op, in_ram) = decode()?;
        self.in_ram |= in_ram;
        self.ops.push(op);
        let known = self.ops.len() as u32;
        self.index[Self::unit(pc)] = known | entry & STOP;
        Ok(Next::Op(Entry(known)))
    }

    /// The unit at `address` in RAM was written: forgets the instructions that it may be part of.
    #[inline(always)]
    pub fn written(&mut self, address: u32) {
        if self.in_ram {
            self.forget(address);
        }
    }

    /// As [`DecodeCache::written`], of `size` bytes in any memory: a debugger or the flash controller wrote.
    pub fn changed(&mut self, address: u32, size: usize) {
        if !self.ops.is_empty() {
            for offset in 0..size as u32 {
                self.forget(address + offset);
            }
        }
    }

    #[cold]
    fn forget(&mut self, address: u32) {
        for back in 0..self.longest {
            self.index[(address >> UNIT_BITS).wrapping_sub(back) as usize & (Self::UNITS - 1)] &= STOP;
        }
        // A program that writes code over and over must not fill the host's memory.
        if self.ops.len() > 4 * Self::UNITS {
            self.clear();
        }
    }

    /// Forgets everything decoded.
    pub fn clear(&mut self) {
        if self.ops.is_empty() {
            return;
        }
        for entry in &mut self.index {
            *entry &= STOP;
        }
        self.ops.clear();
        self.in_ram = false;
    }
}
