//! Watchpoints, breakpoints in the past, and the steps of a replay: what is noted while the machine
//! runs.

use gdbstub::target::ext::breakpoints::WatchKind;
use mcu::{Access, AccessKind, Observer, Step};

/// Addresses whose accesses stop the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watchpoint {
    pub start: u32,
    pub length: u32,
    pub kind: WatchKind,
}

impl Watchpoint {
    fn sees(&self, access: &Access) -> bool {
        let kind = match self.kind {
            WatchKind::Write => access.kind == AccessKind::Write,
            WatchKind::Read => access.kind == AccessKind::Read,
            WatchKind::ReadWrite => true,
        };
        let (start, end) = (u64::from(self.start), u64::from(self.start) + u64::from(self.length));
        let accessed = u64::from(access.address);
        kind && accessed < end && start < accessed + u64::from(access.size)
    }
}

/// Cause of a stop, and the cycle at which the instruction there began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    Breakpoint { cycles: u64 },
    Access { watchpoint: Watchpoint, address: u32, cycles: u64 },
}

/// Notes the first access that a watchpoint sees.
pub(super) struct FirstAccess<'a> {
    pub watchpoints: &'a [Watchpoint],
    pub hit: Option<Hit>,
}

impl Observer for FirstAccess<'_> {
    fn access(&mut self, access: &Access) {
        if self.hit.is_none() {
            self.hit = seen(self.watchpoints, access);
        }
    }
}

fn seen(watchpoints: &[Watchpoint], access: &Access) -> Option<Hit> {
    let watchpoint = *watchpoints.iter().find(|watchpoint| watchpoint.sees(access))?;
    // gdb looks for the address among its own.
    let address = access.address.max(watchpoint.start);
    Some(Hit::Access { watchpoint, address, cycles: access.cycles })
}

/// Notes the cycle of the first instruction.
#[derive(Default)]
pub(super) struct FirstStep(pub Option<u64>);

impl Observer for FirstStep {
    fn step(&mut self, step: &Step) {
        self.0.get_or_insert(step.cycles);
    }
}

/// Notes the cycle of the last instruction before another cycle.
pub(super) struct LastStep {
    pub before: u64,
    pub cycles: Option<u64>,
}

impl Observer for LastStep {
    fn step(&mut self, step: &Step) {
        if step.cycles < self.before {
            self.cycles = Some(step.cycles);
        }
    }
}

/// Notes the last time before a cycle that a breakpoint or watchpoint was met.
pub(super) struct LastHit<'a> {
    pub before: u64,
    pub breakpoints: &'a [u32],
    pub watchpoints: &'a [Watchpoint],
    pub hit: Option<Hit>,
}

impl Observer for LastHit<'_> {
    fn step(&mut self, step: &Step) {
        if step.cycles < self.before && self.breakpoints.contains(&step.pc) {
            self.hit = Some(Hit::Breakpoint { cycles: step.cycles });
        }
    }

    fn access(&mut self, access: &Access) {
        if access.cycles < self.before {
            self.hit = seen(self.watchpoints, access).or(self.hit);
        }
    }
}
