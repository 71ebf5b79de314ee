//! The meters of a partition: the engine of their protocol, and their state beside it.

use super::known_meter::{Activity, KnownMeter, LastHeard};
use super::snapshot::MeterStatus;
use crate::clock;
use crate::gateway::Route;
use crate::network::NetworkId;
use crate::store::{MeterCounts, Write};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use wire::meter::{Collector, CollectorError, MeterId, MeterRecord, MeterState, Policy, Suite};

/// The meters of a partition.
pub(crate) struct MeterTable {
    network: NetworkId,
    pub(crate) engine: Collector,
    /// A tree: with very many meters it has less room to spare than a table.
    pub(crate) known: BTreeMap<MeterId, KnownMeter>,
    /// The last epochs of revoked meters.
    retired_epochs: HashMap<MeterId, u32>,
    policy: Policy,
    /// Unsealed messages are rejected as soon as one meter seals.
    auto_require_sealed: bool,
}

impl MeterTable {
    pub(crate) fn new(
        network: NetworkId,
        engine: Collector,
        known: BTreeMap<MeterId, KnownMeter>,
        retired_epochs: HashMap<MeterId, u32>,
        auto_require_sealed: bool,
    ) -> MeterTable {
        let policy = *engine.policy();
        MeterTable { network, engine, known, retired_epochs, policy, auto_require_sealed }
    }

    pub(crate) fn contains(&self, meter: MeterId) -> bool {
        self.known.contains_key(&meter)
    }

    pub(crate) fn get(&self, meter: MeterId) -> Option<&KnownMeter> {
        self.known.get(&meter)
    }

    pub(crate) fn get_mut(&mut self, meter: MeterId) -> Option<&mut KnownMeter> {
        self.known.get_mut(&meter)
    }

    /// Returns a meter if its keys are of this epoch: it may have been rotated or revoked
    /// meanwhile.
    pub(crate) fn get_of_epoch(&mut self, meter: MeterId, epoch: u32) -> Option<&mut KnownMeter> {
        self.get_mut(meter).filter(|known| known.epoch == epoch)
    }

    /// Adds a meter with new keys.
    ///
    /// # Errors
    /// The engine's refusal.
    pub(crate) fn add(
        &mut self,
        (record, state): (MeterRecord, MeterState),
        known: KnownMeter,
        suite: Suite,
    ) -> Result<(), CollectorError> {
        let meter = record.setup.meter;
        self.engine.add(record, state)?;
        if self.auto_require_sealed && suite != Suite::None && !self.policy.require_sealed {
            let network = self.network.named();
            tracing::info!(meter, network, "it seals: from now on nothing is taken that is not sealed");
            self.policy.require_sealed = true;
            self.engine.set_policy(Policy { require_sealed: true, ..*self.engine.policy() });
        }
        self.retired_epochs.remove(&meter);
        self.known.insert(meter, known);
        Ok(())
    }

    /// Removes a meter with its keys, and remembers their epoch.
    pub(crate) fn remove(&mut self, meter: MeterId) {
        if let Some(known) = self.known.remove(&meter) {
            self.retired_epochs.insert(meter, known.epoch);
        }
        self.engine.remove(meter);
    }

    /// Returns the last epoch of a meter's keys, also if they were revoked.
    pub(crate) fn last_epoch(&self, meter: MeterId) -> Option<u32> {
        let known = self.get(meter).map(|known| known.epoch);
        known.or(self.retired_epochs.get(&meter).copied())
    }

    /// Lets meters' times be set, or not, if the policy allows it at all.
    pub(crate) fn allow_set_time(&mut self, is_allowed: bool) {
        let set_time = self.policy.set_time && is_allowed;
        if set_time != self.engine.policy().set_time {
            self.engine.set_policy(Policy { set_time, ..self.policy });
        }
    }

    /// Updates the route of a meter that sent something new: it is the meter itself that is heard
    /// there. Returns whether it can be reached only now.
    pub(crate) fn update_route(
        &mut self,
        meter: MeterId,
        heard_ms: i64,
        (route, rssi_dbm): (Route, Option<i8>),
    ) -> bool {
        let Some(known) = self.get_mut(meter) else { return false };
        known.heard = Some(LastHeard { at_ms: heard_ms, silence_from: clock::now() });
        known.silent = false;
        let known = known.active();
        let is_new = known.route.is_none();
        (known.route, known.rssi_dbm) = (Some(route), rssi_dbm);
        is_new
    }

    /// Returns the route of a meter; none if it was not heard since the start.
    pub(crate) fn route(&self, meter: MeterId) -> Option<Route> {
        self.get(meter).and_then(|known| known.activity().route)
    }

    /// Says if a command is under way or waits.
    pub(crate) fn is_any_busy(&self) -> bool {
        self.engine.busy().next().is_some()
    }

    /// Returns the write of a meter's state as it is now.
    pub(crate) fn state_write(&self, meter: MeterId) -> Option<Write> {
        let (known, state) = (self.get(meter)?, self.engine.state(meter)?);
        Some(Write::State { network: self.network, epoch: known.epoch, state: Box::new(state) })
    }

    /// Returns when something of a meter is due, in ms since 2000.
    pub(crate) fn next_due_ms_of(&self, meter: MeterId, now_ms: u64) -> Option<u64> {
        let known = self.get(meter)?.activity();
        // A state that is being stored comes back by itself.
        if known.saving.is_some() || known.keys.is_asked {
            return None;
        }
        let wait = known.keys.again_at.map(|at| at.saturating_duration_since(clock::now()));
        match wait.filter(|wait| !wait.is_zero()) {
            Some(wait) => Some(now_ms + 1 + wait.as_millis() as u64),
            None => self.engine.next_due_ms_of(meter),
        }
    }

    /// Says if a meter is heard, and seals in a suite with pieces.
    pub(crate) fn takes_pieces(&self, meter: MeterId, now: Instant) -> bool {
        self.get(meter).is_some_and(|known| known.is_online(now))
            && self.engine.state(meter).is_some_and(|state| state.suite().has_pieces())
    }

    pub(crate) fn status(&self, meter: MeterId) -> Option<MeterStatus> {
        self.get(meter)?.status(self.network.meter(meter), &self.engine, clock::now())
    }

    pub(crate) fn statuses(&self) -> Vec<MeterStatus> {
        let now = clock::now();
        let status = |(meter, known): (&MeterId, &KnownMeter)| {
            known.status(self.network.meter(*meter), &self.engine, now)
        };
        self.known.iter().filter_map(status).collect()
    }

    /// Takes the counts that the store does not have yet.
    pub(crate) fn take_counts(&mut self) -> Vec<MeterCounts> {
        let mut counts = Vec::new();
        for (meter, known) in &mut self.known {
            let refused = self.engine.counters_of(*meter).map_or(0, |counters| counters.total());
            let Activity { repeats, stored_repeats, stored_refused, .. } = *known.activity();
            if (repeats, refused) == (stored_repeats, stored_refused) {
                continue;
            }
            let known = known.active();
            let new = |now: u64, stored: &mut u64| {
                let new = u32::try_from(now - *stored).unwrap_or(u32::MAX);
                *stored += u64::from(new);
                new
            };
            let repeats = new(known.repeats, &mut known.stored_repeats);
            let refused = new(refused, &mut known.stored_refused);
            if repeats > 0 || refused > 0 {
                counts.push(MeterCounts { meter: self.network.meter(*meter), repeats, refused });
            }
        }
        counts
    }
}
