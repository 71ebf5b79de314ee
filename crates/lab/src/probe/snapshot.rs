//! The state of a probe, kept to go back to.

use super::{Followed, Probe};
use crate::LabError;
use mcu::Mcu;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A machine as it was: memories, registers, peripherals, pins, and what was counted.
pub struct Snapshot {
    followed: Followed,
    machine: Box<dyn Mcu>,
    sent: BTreeMap<String, Vec<u8>>,
}

impl Snapshot {
    /// Cycles since reset when it was made.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.machine.cycles()
    }
}

impl Followed {
    /// A copy, of the same firmware and target.
    fn copy(&self) -> Followed {
        self.with_dependent(|subject, profiler| {
            Followed::new(Arc::clone(subject), |own| profiler.rebound(&own.firmware, &own.target))
        })
    }
}

impl Probe {
    /// Keeps the state as it is now, for [`Probe::restore`].
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { followed: self.followed.copy(), machine: self.machine.snapshot(), sent: self.sent.clone() }
    }

    /// Goes back to a snapshot, as often as is wanted.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a snapshot of firmware that was loaded otherwise.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LabError> {
        if !Arc::ptr_eq(self.followed.borrow_owner(), snapshot.followed.borrow_owner()) {
            let said = "the snapshot is of firmware that was loaded otherwise: restore it in the machine that made it, before the next load";
            return Err(LabError::Usage(said.into()));
        }
        self.followed = snapshot.followed.copy();
        self.machine = snapshot.machine.snapshot();
        self.sent.clone_from(&snapshot.sent);
        Ok(())
    }
}
