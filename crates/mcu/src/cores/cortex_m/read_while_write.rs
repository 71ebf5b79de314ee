//! A flash of two banks of which one is erased or programmed while the core goes on.
//!
//! RM0432, section 3.3.6: "an on-going operation does not block the CPU as long as the CPU does not
//! access the same bank; any attempt to read the same bank stalls the bus".
//!
//! Meanwhile every access takes the slow path, and every instruction boundary is looked at.
//! Instructions that the part would still have in its prefetch buffer or its caches, and data in
//! its data cache, wait here, too.

use super::core_state::CortexM;
use super::memory::Occupied;
use super::timing::Timing;
use crate::machine::{BusyBank, Machine};
use std::ops::Range;

impl<T: Timing> Machine<CortexM<T>> {
    /// The bank at these addresses is at work up to a cycle.
    pub(super) fn occupy_bank(&mut self, bank: Range<u32>, until: u64) {
        let Some((_, start)) = self.core.memory.find(bank.start, 1) else { return };
        self.core.occupied = Some(Occupied { offsets: start..start + bank.len(), until });
        self.watch_accesses();
    }

    /// Lets accesses go past the slow path, or not.
    pub(super) fn watch_accesses(&mut self) {
        let watched = self.core.system.mpu.enabled() || self.core.occupied.is_some();
        self.core.memory.set_watched(watched);
    }

    /// The cycle at which the bank is done that an address lies in, if it is still at work.
    pub(super) fn occupied_until(&self, address: u32) -> Option<u64> {
        let Occupied { offsets, until } =
            self.core.occupied.as_ref().filter(|bank| self.cycles < bank.until)?;
        let (_, offset) = self.core.memory.find(address, 1)?;
        offsets.contains(&offset).then_some(*until)
    }

    /// A read at an address waits for its bank. The memory holds already what is there then, so the
    /// instruction goes on, and the core stands still behind it.
    pub(super) fn wait_for_bank(&mut self, address: u32) {
        if let Some(until) = self.occupied_until(address) {
            self.hold(until);
        }
    }

    /// See [`crate::machine::Core::busy_bank`].
    pub(super) fn busy_bank(&mut self) -> Option<BusyBank> {
        let until = self.core.occupied.as_ref()?.until;
        if self.cycles >= until {
            self.core.occupied = None;
            self.watch_accesses();
            return None;
        }
        let executing = self.occupied_until(self.core.state.pc).is_some();
        Some(BusyBank { until, executing })
    }
}
