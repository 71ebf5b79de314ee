//! Parts of a run in which nothing but memory and registers matters.

use mcu::{Access, AccessKind, MemoryKind, Observer, Part, SleepInterval};

/// A write of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub address: u32,
    pub size: u8,
}

/// Returns true if an access changes nothing but RAM, and depends on nothing but memory.
pub(super) fn is_quiet(part: &Part, access: &Access) -> bool {
    part.memory_at(access.address).is_some_and(|memory| match access.kind {
        AccessKind::Read => true,
        AccessKind::Write => matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm),
    })
}

/// Looks at a run for what depends on time: peripherals, interrupts, sleep. Notes what it writes.
pub(super) struct Listener<'a> {
    part: &'a Part,
    pub is_quiet: bool,
    /// Each write, as far as they are wanted.
    pub writes: Vec<Write>,
    notes_writes: bool,
}

impl Listener<'_> {
    pub fn new(part: &Part, notes_writes: bool) -> Listener<'_> {
        Listener { part, is_quiet: true, writes: Vec::new(), notes_writes }
    }
}

impl Observer for Listener<'_> {
    fn access(&mut self, access: &Access) {
        self.is_quiet &= is_quiet(self.part, access);
        if self.notes_writes && access.kind == AccessKind::Write {
            self.writes.push(Write { address: access.address, size: access.size });
        }
    }

    fn interrupt(&mut self, _: u32) {
        self.is_quiet = false;
    }

    fn sleep(&mut self, _: &SleepInterval) {
        self.is_quiet = false;
    }

    fn reset(&mut self, _: u64) {
        self.is_quiet = false;
    }
}
