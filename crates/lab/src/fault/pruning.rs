//! Faults whose outcome is known before their run has ended.
//!
//! A register that is overwritten before it is read holds nothing that matters, and between two
//! uses a change of it is the same fault at each instruction. A run that has the registers and the
//! memory of the one without a fault goes on as that one does, as long as nothing depends on time.

use super::change::{Change, Layout};
use super::markers::Markers;
use super::quiet::{Listener, Write};
use super::reference::{Reference, Step};
use mcu::{Mcu, RegisterUse, Stop, Until};
use std::collections::BTreeSet;

/// Instructions behind a fault at which its run is compared with the one without.
pub(super) const DISTANCES: [usize; 2] = [32, 256];
/// Cycles by which a run may be later there, beside four times those of the one without.
const LATE_CYCLES: u64 = 256;
/// Times that a run comes to the instruction at which it is compared.
const VISITS_MAX: usize = 4;

/// An instruction that uses a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch {
    step: u32,
    overwrites: bool,
}

/// Knowledge of a fault before it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// It changes nothing that is read.
    NoEffect,
    /// Its outcome is that of the same change at each other step with this number.
    SameAs(u32),
}

/// Knowledge from the run without a fault on those with one.
pub(super) struct Pruning {
    /// By register of the layout, then by flag.
    touches: Vec<Vec<Touch>>,
    registers: usize,
    /// The first instruction from which on nothing depends on time; where absent, none.
    quiet_from: Option<usize>,
}

impl Pruning {
    pub fn new(layout: &Layout, reference: &Reference, markers: &Markers) -> Pruning {
        let machine = reference.start();
        let addresses: BTreeSet<u32> = reference.steps.iter().map(|step| step.pc).collect();
        let uses = machine.register_uses(&addresses).filter(|_| layout.tells_uses());
        let places = layout.places(&*machine);
        let touches = uses.map_or_else(Vec::new, |uses| {
            let by_place = |&(register, bits): &(usize, u32)| {
                let use_by = |(step, known): (u32, &Step)| {
                    let reads_all = layout.reads_all(&*machine, known.pc) || reference.is_interrupted(step);
                    let found = if reads_all { RegisterUse::Read } else { uses.by(known.pc, register, bits) };
                    let overwrites = found == RegisterUse::Overwritten;
                    (found != RegisterUse::None).then_some(Touch { step, overwrites })
                };
                (0u32..).zip(&reference.steps).filter_map(use_by).collect()
            };
            places.iter().map(by_place).collect()
        });
        // Output takes time, and a marker may be in it.
        let quiet_from = reference.quiet_from.filter(|_| !markers.has_output() && layout.tells_uses());
        Pruning { touches, registers: layout.register_count(), quiet_from }
    }

    /// Returns the knowledge of a change at a step.
    pub fn known(&self, step: usize, change: Change) -> Known {
        let place = match change {
            Change::Register { register, .. } | Change::Zero { register } => usize::from(register),
            Change::Flag { flag } => self.registers + usize::from(flag),
            Change::Skip(_) | Change::Opcode { .. } | Change::Load { .. } => return Known::Nothing,
        };
        let Some(touches) = self.touches.get(place) else { return Known::Nothing };
        let next = touches.partition_point(|touch| (touch.step as usize) < step);
        match touches.get(next) {
            Some(touch) if touch.overwrites => Known::NoEffect,
            Some(touch) => Known::SameAs(touch.step),
            None => Known::SameAs(u32::MAX),
        }
    }

    /// Returns true if a run with a fault at this step may be compared with the one without.
    pub fn is_quiet_from(&self, step: usize) -> bool {
        self.quiet_from.is_some_and(|from| step >= from)
    }
}

/// End of a comparison.
pub(super) enum Meeting {
    /// The two are the same, and so is the rest of their runs.
    Same,
    Apart,
    /// The run with the fault came to its end.
    Ended(Result<Stop, mcu::Fault>),
}

/// A run with a fault beside the one without.
pub(super) struct Comparison<'a> {
    pub reference: &'a Reference,
    pub markers: &'a Markers,
    /// The cycle at which a run hangs.
    pub limit: u64,
    /// The step of the fault, and the instructions that it skips.
    pub step: usize,
    pub skipped: u64,
}

impl Comparison<'_> {
    /// Runs a machine with a fault on to the instruction at which `leader` is, the one without, at
    /// `step`. `listener` has seen what the fault itself did.
    pub fn follow(
        &self,
        machine: &mut dyn Mcu,
        (leader, step): (&dyn Mcu, usize),
        listener: &mut Listener<'_>,
    ) -> Meeting {
        let reference = self.reference;
        let Some(steps) = reference.steps.get(self.step + 1..=step) else { return Meeting::Apart };
        let Step { pc, cycles } = reference.steps[step];
        if !listener.is_quiet || steps.iter().filter(|step| step.pc == pc).count() > VISITS_MAX {
            return Meeting::Apart;
        }
        let addresses: Vec<u32> = self.markers.addresses.iter().copied().chain([pc]).collect();
        let allowed = 4 * (cycles - reference.steps[self.step].cycles) + LATE_CYCLES;
        let until = Until { cycles: Some((machine.cycles() + allowed).min(self.limit)), addresses };
        while machine.instructions() + self.skipped < leader.instructions() {
            match machine.run_observed(&until, listener) {
                Ok(Stop::Address(address)) if address == pc && listener.is_quiet => {}
                Ok(Stop::Address(_) | Stop::Cycles) => return Meeting::Apart,
                ended => return Meeting::Ended(ended),
            }
        }
        // Caches and prefetches may be filled otherwise.
        let rest = 2 * reference.end.cycles.saturating_sub(cycles);
        let is_same = (machine.pc(), machine.instructions() + self.skipped) == (pc, leader.instructions())
            && machine.cycles() + rest < self.limit
            && machine.registers() == leader.registers()
            && self.has_same_memory(machine, (leader, step), listener);
        if is_same { Meeting::Same } else { Meeting::Apart }
    }

    /// Compares all that either of the two has written since the fault.
    fn has_same_memory(
        &self,
        machine: &dyn Mcu,
        (leader, step): (&dyn Mcu, usize),
        listener: &Listener<'_>,
    ) -> bool {
        let is_same = |write: &Write| {
            let (mut one, mut other) = ([0; 8], [0; 8]);
            let size = usize::from(write.size).min(8);
            machine.peek(write.address, &mut one[..size])
                && leader.peek(write.address, &mut other[..size])
                && one == other
        };
        let own = self.reference.writes_of(self.step..step);
        own.iter().all(|(_, write)| is_same(write)) && listener.writes.iter().all(is_same)
    }
}
