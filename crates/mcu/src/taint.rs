//! Taint tracking.
//!
//! Secrets are labelled in memory and followed through every instruction of the core. A branch, an
//! address or a time that depends on one is a [`Leak`].
//!
//! Each core describes its instructions' data flow ([`crate::dataflow`]), which is looked up once
//! for each address. Values are never examined, so one run covers all secrets that take the same
//! path. Paths that a run does not take are not covered.

mod propagation;
mod shadow;

use crate::dataflow::{CoreDataflow, Effect, Locations, Propagation};
use crate::{Access, AccessKind, Flow, Observer, Step, Tables};
use shadow::Shadow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Secrets, a bit each.
pub type Labels = u8;

/// All labels of the four bytes of a place.
fn all(bytes: u32) -> Labels {
    let half = bytes | bytes >> 16;
    (half | half >> 8) as u8
}

/// Property of the execution that depends on a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeakKind {
    /// The next instruction.
    Branch,
    /// The address of a read or write.
    Address,
    /// The instruction's time.
    Time,
}

/// An instruction through which a secret shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Its address.
    pub pc: u32,
    /// The property that depends on a secret.
    pub kind: LeakKind,
    /// On which secrets.
    pub labels: Labels,
    /// Number of occurrences.
    pub count: u64,
}

/// Labelled bytes that follow each other, and what the program has read of them.
struct Watched {
    from: u32,
    /// Of each byte the labels that it had, and whether an instruction read it while it had one.
    bytes: Vec<(Labels, bool)>,
}

/// Reads of labelled bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretReads {
    /// Bytes that had one of the labels.
    pub labelled: u32,
    /// Of them, those that an instruction read.
    pub read: u32,
}

/// The effects of the instruction at an address.
#[derive(Clone, Copy, Default)]
struct Template {
    /// The first of its effects, and the one behind the last.
    effects: (u32, u32),
    /// The first that waits for an access; the one behind the last where none does.
    access: u32,
    /// All places that come before that.
    touches: Locations,
    condition: Locations,
}

/// An interrupt under way whose core puts registers onto the stack by itself.
struct Frame {
    sp: u32,
    saved: [u32; 64],
}

/// Follows labelled data while a machine runs: to be handed to [`crate::Mcu::run_tainted`].
pub struct Taint {
    core: CoreDataflow,
    shadow: Shadow,
    /// Of each place the labels of its bytes; only where `tainted` has the place.
    locations: [u32; 64],
    tainted: Locations,
    /// Of each page of addresses, with the register bank in their highest byte, the index in
    /// `pages`, plus 1.
    directory: Vec<u32>,
    pages: Vec<Box<[u32; PAGE]>>,
    /// The register bank that is selected, in the highest byte.
    bank: u32,
    /// The instructions looked up so far; the first does nothing, the second is the entry into an
    /// interrupt.
    templates: Vec<Template>,
    effects: Vec<Effect>,
    /// The instruction under way: it has its effects when it is over, up to its first access.
    pending: Template,
    /// It is not over, and has had the effects up to here.
    next: u32,
    begun: bool,
    skipped: bool,
    pc: u32,
    /// Labels that decide on the address of its accesses.
    address: Labels,
    /// Labels that decide on whether it did anything. It then has its effects, and the labels from
    /// before are kept, too.
    weak: u32,
    frames: Vec<Frame>,
    /// From the first to the last address of a register of the core.
    mapped: Range<u32>,
    /// Tables whose entries may be read at secret addresses.
    tables: Tables,
    /// Bytes that had a label at [`Taint::watch`], by address.
    watched: Vec<Watched>,
    readers: HashSet<u32>,
    leaks: Vec<Leak>,
    known: HashMap<(u32, LeakKind), usize>,
    unknown: Option<u32>,
    /// A bit for each 16 bytes of addresses: they were written. Where RAM ends and flash begins
    /// closer together, as on the 68HC08 they do within 32, both would be one.
    written: Vec<u64>,
}

/// Addresses in a page of the directory of templates.
const PAGE: usize = 4096;
const INTERRUPT: usize = 1;

impl Taint {
    pub(crate) fn new(core: CoreDataflow, devices: Vec<(Range<u32>, usize)>) -> Taint {
        // Where the data space is one of several, what lies beyond 64 kB on the bus is none of it.
        let in_data_space = |(range, _): &(Range<u32>, usize)| core.data_space == 0 || range.start < 0x1_0000;
        let shift = |address: u32| address.saturating_add(core.data_space);
        let devices = devices.into_iter().filter(in_data_space);
        let devices = devices.map(|(range, device)| (shift(range.start)..shift(range.end), device)).collect();
        let shadow = Shadow::new(core.aliases.clone(), devices);
        let mut taint = Taint {
            shadow,
            locations: [0; 64],
            tainted: Locations::NONE,
            directory: vec![0; 1 << 20],
            pages: Vec::new(),
            bank: u32::from(core.bank) << 24,
            templates: vec![Template::default()],
            effects: Vec::new(),
            pending: Template::default(),
            next: 0,
            begun: true,
            skipped: false,
            pc: 0,
            address: 0,
            weak: 0,
            frames: Vec::new(),
            mapped: core.mapped.first().map_or(0, |(address, _)| *address)
                ..core.mapped.last().map_or(0, |(address, _)| *address + 1),
            tables: Tables::default(),
            watched: Vec::new(),
            readers: HashSet::new(),
            leaks: Vec::new(),
            known: HashMap::new(),
            unknown: None,
            written: vec![0; 1 << 22],
            core,
        };
        let interrupt = taint.core.interrupt.clone();
        taint.add(&interrupt);
        taint
    }

    /// Allows secrets to select the entry that is read of these tables.
    pub fn allow_tables(&mut self, tables: Tables) {
        self.tables = tables;
    }

    /// Labels bytes of memory; with 0 they are public. What is written there later has labels of
    /// its own.
    pub fn label(&mut self, range: Range<u32>, labels: Labels) {
        for address in range {
            match self.mapped(address) {
                Some(locations) => locations.numbers().for_each(|place| self.set(place, labels.into())),
                None => self.shadow.set_all(address..address + 1, labels),
            }
        }
    }

    /// From here on these bytes are public, whatever is written to them.
    pub fn declassify(&mut self, range: Range<u32>) {
        self.shadow.declassify(range);
    }

    /// Labels some bits of a register, by its index in [`crate::Mcu::register_names`].
    pub fn label_register(&mut self, register: usize, bits: u32, labels: Labels) {
        for place in (self.core.locations)(register, bits, (self.bank >> 24) as u8).numbers() {
            self.set(place, u32::from(labels) * 0x0101_0101);
        }
    }

    /// The labels of a byte of memory.
    #[must_use]
    pub fn labels_at(&self, address: u32) -> Labels {
        all(self
            .mapped(address)
            .map_or_else(|| self.shadow.byte(address).into(), |locations| self.union(locations)))
    }

    /// The labels of some bits of a register, by its index in [`crate::Mcu::register_names`].
    #[must_use]
    pub fn labels_in(&self, register: usize, bits: u32) -> Labels {
        let labels = self.union((self.core.locations)(register, bits, (self.bank >> 24) as u8));
        let lanes = bits.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff });
        all(if self.core.locations_are_bytes { labels } else { labels & u32::from_le_bytes(lanes) })
    }

    /// From here on it is noted which of the bytes that have a label now are read, and by which
    /// instructions.
    pub fn watch(&mut self) {
        self.readers.clear();
        self.watched.clear();
        let mapped =
            self.core.mapped.iter().map(|(address, locations)| (*address, all(self.union(*locations))));
        let labelled = mapped.filter(|(_, labels)| *labels != 0).chain(self.shadow.labelled());
        let mut labelled: Vec<(u32, Labels)> = labelled.collect();
        labelled.sort_unstable();
        for run in labelled.chunk_by(|one, next| one.0 + 1 == next.0) {
            let bytes = run.iter().map(|(_, labels)| (*labels, false)).collect();
            self.watched.push(Watched { from: run[0].0, bytes });
        }
    }

    /// Returns the reads, since they were watched, of the bytes that had one of these labels.
    #[must_use]
    pub fn reads_of(&self, labels: Labels) -> SecretReads {
        let bytes = self.watched.iter().flat_map(|watched| &watched.bytes);
        let of_label = bytes.filter(|(of, _)| of & labels != 0);
        of_label.fold(SecretReads::default(), |sum, (_, read)| SecretReads {
            labelled: sum.labelled + 1,
            read: sum.read + u32::from(*read),
        })
    }

    /// The addresses of the instructions that have read one of the watched bytes.
    #[must_use]
    pub fn readers(&self) -> &HashSet<u32> {
        &self.readers
    }

    /// An instruction has read `size` bytes from an address on, of which one has a label.
    fn note_read(&mut self, address: u32, size: u8) {
        for at in (0..u32::from(size)).map(|byte| address.wrapping_add(byte)) {
            let at = self.shadow.canonical(at);
            let behind = self.watched.partition_point(|watched| watched.from <= at);
            let Some(index) = behind.checked_sub(1) else { continue };
            let offset = (at - self.watched[index].from) as usize;
            if offset < self.watched[index].bytes.len() && self.labels_at(at) != 0 {
                self.watched[index].bytes[offset].1 = true;
                self.readers.insert(self.pc);
            }
        }
    }

    /// The leaks found so far, in the order in which they came about first.
    #[must_use]
    pub fn leaks(&self) -> &[Leak] {
        &self.leaks
    }

    /// The leaks found so far do not count.
    pub fn forget_leaks(&mut self) {
        self.leaks.clear();
        self.known.clear();
    }

    /// An instruction that could not be looked up: it was written after the tracking began, or is
    /// none.
    #[must_use]
    pub fn unknown_instruction(&self) -> Option<u32> {
        self.unknown
    }

    /// The last instruction of the run is over.
    pub fn finish(&mut self) {
        if !self.begun {
            self.begin();
        }
        self.pending = Template::default();
        self.begun = true;
    }

    /// All labels are gone; leaks and declassified bytes are kept.
    pub fn clear(&mut self) {
        self.finish();
        self.shadow.clear();
        self.tainted = Locations::NONE;
        self.frames.clear();
    }

    #[inline]
    fn union(&self, locations: Locations) -> u32 {
        let mut rest = locations.0 & self.tainted.0;
        let mut labels = 0;
        while rest != 0 {
            labels |= self.locations[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        labels
    }

    #[inline]
    fn set(&mut self, place: usize, labels: u32) {
        self.locations[place & 63] = labels;
        let bit = Locations::one(place as u8);
        self.tainted = if labels == 0 { self.tainted.without(bit) } else { self.tainted | bit };
    }

    #[inline]
    fn store(&mut self, to: Locations, labels: u32) {
        if labels == 0 && self.weak == 0 {
            self.tainted = self.tainted.without(to);
            return;
        }
        for place in to.numbers() {
            let before = if self.weak == 0 { 0 } else { self.union(Locations::one(place as u8)) | self.weak };
            self.set(place, before | labels);
        }
    }

    fn leak(&mut self, kind: LeakKind, labels: Labels) {
        if labels == 0 {
            return;
        }
        let pc = self.pc;
        let index = *self.known.entry((pc, kind)).or_insert(self.leaks.len());
        if index == self.leaks.len() {
            self.leaks.push(Leak { pc, kind, labels: 0, count: 0 });
        }
        let leak = &mut self.leaks[index];
        leak.labels |= labels;
        leak.count += 1;
    }

    /// Index of an instruction's template in its page.
    #[inline]
    fn index(&self, key: u32) -> usize {
        key as usize >> self.core.alignment & (PAGE - 1)
    }

    /// The instruction at `pc`, looked up the first time.
    #[inline]
    fn template(&mut self, pc: u32) -> Template {
        let key = pc | self.bank;
        let page = self.directory[(key >> 12) as usize];
        if page != 0 {
            let known = self.pages[page as usize - 1][self.index(key)];
            if known != 0 {
                return self.templates[known as usize];
            }
        }
        self.learn(pc, key)
    }

    #[cold]
    fn learn(&mut self, pc: u32, key: u32) -> Template {
        let described = (self.core.describe)(key);
        let stale = self.written[(pc >> 10) as usize] >> (pc >> 4 & 63) & 1 != 0;
        if described.is_empty() || stale {
            self.unknown = self.unknown.or(Some(pc));
        }
        for (address, flow) in described {
            let index = self.add(&flow);
            let at = self.index(address);
            let page = &mut self.directory[(address >> 12) as usize];
            if *page == 0 {
                self.pages.push(Box::new([0; PAGE]));
                *page = self.pages.len() as u32;
            }
            self.pages[*page as usize - 1][at] = index;
        }
        let page = self.directory[(key >> 12) as usize] as usize;
        let index = page.checked_sub(1).map_or(0, |page| self.pages[page][self.index(key)]);
        self.templates[index as usize]
    }

    fn add(&mut self, flow: &crate::dataflow::Dataflow) -> u32 {
        let first = self.effects.len() as u32;
        let leading = flow.effects.iter().take_while(|effect| !effect.is_access());
        let access = first + leading.clone().count() as u32;
        let touches = leading.fold(flow.condition, |all, effect| all | effect.locations());
        self.effects.extend(&flow.effects);
        let end = self.effects.len() as u32;
        self.templates.push(Template { effects: (first, end), access, touches, condition: flow.condition });
        self.templates.len() as u32 - 1
    }

    /// The instruction under way has its effects up to its first access.
    #[inline]
    fn begin(&mut self) {
        self.begun = true;
        self.address = 0;
        self.weak = 0;
        let template = self.pending;
        if template.touches.0 & self.tainted.0 == 0 {
            self.next = if self.skipped { template.effects.1 } else { template.access };
            return;
        }
        self.next = template.effects.0;
        self.tainted = self.tainted.without(Locations::TEMPORARY);
        self.weak = self.union(template.condition);
        if self.skipped && self.weak == 0 {
            self.next = template.effects.1;
        }
        self.go_on();
    }

    /// Effects up to the next access.
    fn go_on(&mut self) {
        while self.next < self.pending.effects.1 {
            match self.effects[self.next as usize] {
                Effect::Move { from, to, shape } => {
                    let labels = self.union(from);
                    self.store(to, if labels == 0 { 0 } else { shape.apply(labels) });
                }
                Effect::Address(from) => self.address = all(self.union(from)),
                Effect::Branch(on) => self.leak(LeakKind::Branch, all(self.union(on))),
                Effect::Time(on) => self.leak(LeakKind::Time, all(self.union(on))),
                Effect::Repeat(back) => {
                    self.next -= u32::from(back);
                    continue;
                }
                Effect::Read { .. } | Effect::Write(_) => return,
            }
            self.next += 1;
        }
    }

    /// The places of a register of the core that has an address.
    #[inline]
    fn mapped(&self, address: u32) -> Option<Locations> {
        if !self.mapped.contains(&address) {
            return None;
        }
        let found = self.core.mapped.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        Some(self.core.mapped[found].1)
    }

    fn read(&mut self, access: &Access, to: Locations, shape: Propagation) {
        if self.address != 0 && self.tables.find(access.address).is_none() {
            self.leak(LeakKind::Address, self.address);
        }
        let mut labels = match self.mapped(access.address) {
            Some(locations) => self.union(locations),
            None => self.shadow.read(access.address, access.size.min(4)),
        };
        if labels != 0 {
            self.note_read(access.address, access.size);
        }
        labels |= u32::from(self.address) * 0x0101_0101;
        self.store(to, if labels == 0 { 0 } else { shape.apply(labels) });
    }

    fn write(&mut self, access: &Access, from: Locations) {
        self.leak(LeakKind::Address, self.address);
        let labels = self.union(from) | u32::from(self.address) * 0x0101_0101;
        let (first, last) = (access.address, access.address.saturating_add(u32::from(access.size) - 1));
        self.write_over(first);
        if first >> 4 != last >> 4 {
            self.write_over(last);
        }
        match self.mapped(access.address) {
            Some(locations) => self.store(locations, labels),
            None => self.shadow.write(access.address, access.size.min(4), labels),
        }
    }

    /// The 16 bytes around an address are no longer what they were when the tracking began.
    #[inline]
    fn write_over(&mut self, address: u32) {
        let (written, bit) = (&mut self.written[(address >> 10) as usize], 1 << (address >> 4 & 63));
        if *written & bit == 0 {
            *written |= bit;
            self.forget(address & !15);
        }
    }

    /// Instructions in the 16 bytes from an address on are to be looked up anew. No others: where
    /// the stack lies beside the program, they are in one page.
    #[cold]
    fn forget(&mut self, from: u32) {
        for bank in 0..u32::from(self.core.banks) {
            let key = from | bank << 24;
            let page = self.directory[(key >> 12) as usize];
            if page != 0 {
                let first = self.index(key);
                self.pages[page as usize - 1][first..first + (16 >> self.core.alignment)].fill(0);
            }
        }
    }

    /// An interrupt was entered that put registers onto the stack without a report.
    #[cold]
    fn stack(&mut self, sp: u32) {
        for index in 0..self.core.stacked.len() {
            let labels = self.union(self.core.stacked[index]);
            self.shadow.write(sp.wrapping_add(4 * index as u32), 4, labels);
        }
        let mut saved = [0; 64];
        self.core.saved.numbers().for_each(|place| saved[place] = self.union(Locations::one(place as u8)));
        self.frames.push(Frame { sp, saved });
    }

    /// The way back; `sp` is the stack pointer after it.
    #[cold]
    fn unstack(&mut self, sp: u32) {
        let above = |frame: &Frame| sp.wrapping_sub(frame.sp) < 128;
        let Some(index) = self.frames.iter().rposition(above) else { return };
        let frame = self.frames.swap_remove(index);
        for (index, locations) in self.core.stacked.clone().into_iter().enumerate() {
            let labels = self.shadow.read(frame.sp.wrapping_add(4 * index as u32), 4);
            locations.numbers().for_each(|place| self.set(place, labels));
        }
        self.core.saved.numbers().for_each(|place| self.set(place, frame.saved[place]));
    }
}

impl Observer for Taint {
    #[inline]
    fn step(&mut self, step: &Step) {
        if !self.begun {
            self.begin();
        }
        if matches!(step.flow, Flow::Interrupt { .. } | Flow::InterruptReturn)
            && !self.core.stacked.is_empty()
        {
            self.pending = Template::default();
            match step.flow {
                Flow::InterruptReturn => self.unstack(step.sp),
                _ => self.stack(step.sp),
            }
        }
        self.pending = self.template(step.pc);
        self.pc = step.pc;
        self.begun = false;
        self.skipped = false;
    }

    fn skipped(&mut self) {
        self.skipped = true;
    }

    fn bank(&mut self, bank: u8) {
        self.bank = u32::from(bank) << 24;
    }

    #[inline]
    fn access(&mut self, access: &Access) {
        if !self.begun {
            self.begin();
        }
        if self.next >= self.pending.effects.1 {
            // Nothing that the instruction does: an interrupt is being entered.
            self.pending = self.templates[INTERRUPT];
            self.next = self.pending.effects.0;
            self.address = 0;
            self.weak = 0;
        }
        let effect = self.effects.get(self.next as usize).copied();
        match (effect.filter(|_| self.next < self.pending.effects.1), access.kind) {
            (Some(Effect::Read { to, shape }), AccessKind::Read) => self.read(access, to, shape),
            (Some(Effect::Write(from)), AccessKind::Write) => self.write(access, from),
            _ => return,
        }
        self.next += 1;
        if self.next < self.pending.effects.1 {
            self.go_on();
        }
    }
}

#[cfg(test)]
mod tests;
