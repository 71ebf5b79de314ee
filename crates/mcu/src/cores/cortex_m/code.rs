//! Decoded program.
//!
//! It has a slot for each halfword of each memory, filled when execution first comes there.

use super::decode::{self, Architecture};
use super::memory::{Memory, View};
use super::op::{Op, Opcode};
use super::timing::Timing;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ops::Range;

/// A decoded instruction and what the timing model notes of it. The rest is right once it is
/// decoded.
#[derive(Clone, Copy)]
pub(super) struct Slot<N> {
    pub op: Op,
    pub note: N,
    pub address: u32,
    /// Bytes to the slot of the instruction after it.
    stride: i32,
    /// Bytes to the slot of a branch's target in the same region, else 0.
    pub jump: i32,
}

/// A slot that the loop stands at, in the table or in a margin behind a region.
pub(super) type At<N> = *const Slot<N>;

/// The slot after one that is decoded.
///
/// # Safety
/// `at` points to a slot of a table, and is decoded.
#[inline(always)]
pub(super) unsafe fn after<N>(at: At<N>) -> At<N> {
    // SAFETY: an instruction lies wholly in its region, and behind that is a margin of as many
    // slots as an instruction can have.
    unsafe { at.byte_offset((*at).stride as isize) }
}

/// The slots of one view.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub view: View,
    /// Index of its first slot.
    pub first: usize,
}

impl Region {
    /// The slot of an address in this region.
    #[inline(always)]
    pub fn index(&self, address: u32) -> Option<usize> {
        let inside = address.wrapping_sub(self.view.start);
        (inside < self.view.size).then(|| self.first + (inside >> 1) as usize)
    }

    /// The address of a slot of this region, or of those just after it.
    #[inline(always)]
    pub fn address(&self, index: usize) -> u32 {
        self.view.start.wrapping_add(((index - self.first) as u32) << 1)
    }
}

/// After each region lie this many slots that are never filled, so that running off its end is
/// noticed.
const MARGIN: usize = 2;

/// Bytes before a changed byte at which a decoded instruction may begin that depends on it: an IT
/// instruction with four 32-bit instructions after it.
const REACH: u32 = 18;

pub(super) struct Code<T: Timing> {
    /// Those of all regions, and one for [`Code::lift`].
    slots: Vec<Slot<T::Note>>,
    pub regions: Vec<Region>,
    /// The region that execution last came to by a jump.
    entered: Region,
    architecture: Architecture,
    /// Offsets into the memory's bytes between which RAM has been decoded: [low, high).
    low: usize,
    high: usize,
    /// Filled slots of IT instructions and of what their blocks hold: what is decoded there depends
    /// on the way to it.
    blocks: Vec<usize>,
    /// Changes of RAM by the instruction under way: offset and size.
    changes: Vec<(usize, u32)>,
    /// Marked slots with the ops that belong there.
    stops: Vec<(usize, Op)>,
    /// Addresses whose instructions are not decoded: the MPU forbids their execution.
    barred: Vec<Range<u32>>,
}

/// The instruction at an address, with this ITSTATE; `None` where there is no memory for all of it.
pub(super) fn decode_at(memory: &Memory, architecture: Architecture, address: u32, it: u8) -> Option<Op> {
    let half = |address: u32| memory.find(address, 2).map(|(_, offset)| memory.half(offset));
    let first = half(address)?;
    let second = if decode::is_wide(first) { half(address.wrapping_add(2))? } else { 0 };
    Some(decode::decode(first, second, address, it, architecture))
}

impl<T: Timing> Code<T> {
    /// Bytes of a slot.
    const STRIDE: i32 = size_of::<Slot<T::Note>>() as i32;

    /// Makes a table with nothing decoded yet.
    ///
    /// # Errors
    /// A sentence: memories so large that distances in the table do not fit.
    pub fn new(memory: &Memory, architecture: Architecture) -> Result<Code<T>, String> {
        let mut regions = Vec::new();
        let mut first = 0;
        for view in &memory.views {
            regions.push(Region { view: *view, first });
            first += view.size as usize / 2 + MARGIN;
        }
        // `stride`, `jump` and what `lift` adds to them are distances within the table.
        let slots_max = (i32::MAX / Self::STRIDE) as usize - 2 * MARGIN;
        if first > slots_max {
            let (mib, max_mib) = (first.div_ceil(1 << 19), slots_max >> 19);
            return Err(format!(
                "its memories take {mib} MiB of addresses, with each place where one appears; the \
                 model takes at most {max_mib}: give only as much as the firmware uses"
            ));
        }
        Ok(Code {
            slots: Self::blank(first + 1),
            entered: regions[0],
            regions,
            architecture,
            low: usize::MAX,
            high: 0,
            blocks: Vec::new(),
            changes: Vec::new(),
            stops: Vec::new(),
            barred: Vec::new(),
        })
    }

    fn blank(length: usize) -> Vec<Slot<T::Note>> {
        let layout =
            Layout::array::<Slot<T::Note>>(length).unwrap_or_else(|_| unreachable!("a few megabytes"));
        // SAFETY: the layout is that of `length` slots and not empty, for every part has memory.
        // Zero is `Opcode::Undecoded` and valid in the other fields of `Op`, and `Note` promises
        // the rest. Memory that the system hands out zeroed is not touched before it is used, which
        // matters at 16 bytes and more a halfword.
        unsafe {
            let slots = alloc_zeroed(layout);
            if slots.is_null() {
                handle_alloc_error(layout);
            }
            Vec::from_raw_parts(slots.cast(), length, length)
        }
    }

    /// A table for the same memories with nothing decoded yet.
    pub fn fresh(&self) -> Code<T> {
        Code {
            slots: Self::blank(self.slots.len()),
            regions: self.regions.clone(),
            entered: self.entered,
            architecture: self.architecture,
            low: usize::MAX,
            high: 0,
            blocks: Vec::new(),
            changes: Vec::new(),
            stops: Vec::new(),
            barred: self.barred.clone(),
        }
    }

    /// From now on nothing at these addresses is decoded.
    pub fn bar(&mut self, barred: Vec<Range<u32>>) {
        self.barred = barred;
    }

    /// Returns true if the MPU forbids execution at an address.
    pub fn barred(&self, address: u32) -> bool {
        self.barred.iter().any(|range| range.contains(&address))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots = Self::blank(self.slots.len());
        (self.low, self.high) = (usize::MAX, 0);
        self.blocks.clear();
        self.changes.clear();
        self.stops.clear();
    }

    /// Becomes what [`Code::fresh`] of `from` would be, a table for memories with the same
    /// contents but for RAM. What is decoded outside of RAM and of IT blocks stays.
    pub fn restart(&mut self, from: &Code<T>) {
        if self.barred != from.barred {
            *self = from.fresh();
            return;
        }
        self.unmark();
        for index in std::mem::take(&mut self.blocks) {
            self.slots[index].op = Op::default();
        }
        if self.low < self.high {
            self.invalidate(self.low, (self.high - self.low) as u32);
            (self.low, self.high) = (usize::MAX, 0);
        }
        self.changes.clear();
    }

    /// The region that an address lies in.
    fn region(&self, address: u32) -> Option<Region> {
        self.regions.iter().copied().find(|region| region.index(address).is_some())
    }

    /// The slot of the instruction at an address.
    #[inline(always)]
    pub fn find(&mut self, address: u32) -> Option<At<T::Note>> {
        match self.entered.index(address) {
            Some(index) => Some(self.at(index)),
            None => self.enter(address),
        }
    }

    /// As [`Code::find`], in whatever region comes first.
    #[cold]
    pub fn enter(&mut self, address: u32) -> Option<At<T::Note>> {
        self.entered = self.region(address)?;
        self.entered.index(address).map(|index| self.at(index))
    }

    /// The slot at an index.
    #[inline(always)]
    pub fn at(&self, index: usize) -> At<T::Note> {
        debug_assert!(index < self.slots.len());
        self.slots.as_ptr().wrapping_add(index)
    }

    /// The index of a slot.
    pub fn index(&self, at: At<T::Note>) -> usize {
        (at.addr() - self.slots.as_ptr().addr()) / Self::STRIDE as usize
    }

    /// The region of a slot, or that in whose margin it is.
    fn region_of(&self, index: usize) -> Region {
        self.regions.iter().copied().rfind(|region| region.first <= index).unwrap_or(self.regions[0])
    }

    /// The address of a slot, decoded or not.
    #[cold]
    pub fn address(&self, at: At<T::Note>) -> u32 {
        let index = self.index(at);
        self.region_of(index).address(index)
    }

    /// The instruction at an index, whatever marks lie over it.
    pub fn op(&self, index: usize) -> Op {
        let marked = self.stops.iter().find(|(at, _)| *at == index);
        marked.map_or_else(|| self.slots[index].op, |(_, op)| *op)
    }

    /// Decodes the instruction at `index` with this ITSTATE, and, if it is IT or in its block,
    /// those that the block holds after it. False where the instruction does not lie wholly in the
    /// region, or must not be executed.
    #[cold]
    pub fn fill(&mut self, memory: &Memory, timing: &T, mut index: usize, mut it: u8) -> bool {
        let region = self.region_of(index);
        let start = index;
        loop {
            let address = region.address(index);
            if self.barred(address) {
                return index != start;
            }
            let Some(offset) = region.view.locate(address, 2) else { return index != start };
            let first = memory.half(offset);
            let mut second = 0;
            if decode::is_wide(first) {
                let Some(offset) = region.view.locate(address.wrapping_add(2), 2) else {
                    return index != start;
                };
                second = memory.half(offset);
            }
            let mut op = decode::decode(first, second, address, it, self.architecture);
            let note = timing.classify(&mut op, address);
            // The loop indexes registers by these. A floating-point instruction has others, too.
            if op.inner != Opcode::Float {
                (op.d, op.n, op.m) = (op.d & 15, op.n & 15, op.m & 15);
            }
            let stride = Self::STRIDE * i32::from(op.length >> 1);
            let target = region.index(op.imm).filter(|_| op.inner.is_direct_branch());
            let jump = target.map_or(0, |target| (target as i32 - index as i32) * Self::STRIDE);
            self.put(index, Slot { op, note, address, stride, jump });
            if it != 0 || op.inner == Opcode::It {
                self.blocks.push(index);
            }
            if region.view.writable {
                self.low = self.low.min(offset);
                self.high = self.high.max(offset + usize::from(op.length));
            }
            it = if op.inner == Opcode::It { op.imm as u8 } else { decode::advance(it) };
            if it == 0 {
                return true;
            }
            index += usize::from(op.length >> 1);
        }
    }

    /// Copies the instruction at a marked slot to a place of its own, from where execution goes on
    /// behind the mark.
    pub fn lift(&mut self, index: usize) -> At<T::Note> {
        let place = self.slots.len() - 1;
        let mut slot = self.slots[index];
        slot.op = self.op(index);
        let back = (index as i32 - place as i32) * Self::STRIDE;
        slot.stride += back;
        if slot.jump != 0 {
            slot.jump += back;
        }
        self.slots[place] = slot;
        self.at(place)
    }

    fn put(&mut self, index: usize, mut slot: Slot<T::Note>) {
        if let Some((_, op)) = self.stops.iter_mut().find(|(at, _)| *at == index) {
            *op = slot.op;
            slot.op.kind = Opcode::Marked;
        }
        self.slots[index] = slot;
    }

    fn forget(&mut self, index: usize) {
        if let Some((_, op)) = self.stops.iter_mut().find(|(at, _)| *at == index) {
            *op = Op::default();
        } else {
            self.slots[index].op = Op::default();
        }
    }

    /// Returns true if the run is to end before the instruction at an address.
    pub fn is_marked(&self, address: u32) -> bool {
        let index = self.region(address).and_then(|region| region.index(address));
        self.stops.iter().any(|(at, _)| Some(*at) == index)
    }

    /// Returns true if the word at `offset` of the memory may belong to decoded code in RAM.
    #[inline(always)]
    pub fn covers(&self, offset: usize) -> bool {
        offset < self.high && offset + 4 > self.low
    }

    /// Returns true if any of `size` bytes from `offset` may belong to decoded code in RAM.
    pub fn overlaps(&self, offset: usize, size: usize) -> bool {
        offset < self.high && offset + size > self.low
    }

    /// `size` bytes at `offset` have been changed by an instruction; [`Code::invalidate_changed`]
    /// acts on it when the instruction is done with.
    pub fn changed(&mut self, offset: usize, size: u32) {
        self.changes.push((offset, size));
    }

    /// Decodes anew what instructions have changed.
    pub fn invalidate_changed(&mut self) {
        while let Some((offset, size)) = self.changes.pop() {
            self.invalidate(offset, size);
        }
    }

    /// `size` bytes at `offset` of the memory have changed: what was decoded from them is decoded
    /// anew.
    #[cold]
    pub fn invalidate(&mut self, offset: usize, size: u32) {
        for region in self.regions.clone() {
            let Some(inside) = offset.checked_sub(region.view.offset) else { continue };
            if inside >= region.view.size as usize {
                continue;
            }
            let from = (inside as u32).saturating_sub(REACH) >> 1;
            let to = ((inside as u32 + size + 1) >> 1).min(region.view.size >> 1);
            for index in region.first + from as usize..region.first + to as usize {
                self.forget(index);
            }
        }
    }

    /// Marks the slots of these addresses.
    pub fn mark(&mut self, addresses: &[u32]) {
        for &address in addresses {
            for region in &self.regions {
                if let Some(index) = region.index(address & !1)
                    && !self.stops.iter().any(|(at, _)| *at == index)
                {
                    self.stops.push((index, self.slots[index].op));
                    self.slots[index].op.kind = Opcode::Marked;
                }
            }
        }
    }

    /// Takes all marks away.
    pub fn unmark(&mut self) {
        for (index, op) in self.stops.drain(..) {
            self.slots[index].op = op;
        }
    }
}
