//! The meters of a collector: few are awake, with a session, and most rest.

use super::compact::CompactMeter;
use super::policy::Policy;
use super::session::Session;
use crate::meter::MeterId;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) enum Meter {
    Compact(Box<CompactMeter>),
    Active(Box<Session>),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Meters {
    /// A tree has less room to spare than a table, where there are very many.
    all: BTreeMap<MeterId, Meter>,
    active: BTreeSet<MeterId>,
}

impl Meters {
    pub(super) fn insert(&mut self, id: MeterId, meter: Meter) {
        if let Meter::Active(_) = meter {
            self.active.insert(id);
        }
        self.all.insert(id, meter);
    }

    pub(super) fn remove(&mut self, id: MeterId) -> Option<Meter> {
        self.active.remove(&id);
        self.all.remove(&id)
    }

    pub(super) fn get(&self, id: MeterId) -> Option<&Meter> {
        self.all.get(&id)
    }

    /// In order.
    pub(super) fn all(&self) -> impl Iterator<Item = MeterId> + '_ {
        self.all.keys().copied()
    }

    /// Those that are awake, in order.
    pub(super) fn active_ids(&self) -> Vec<MeterId> {
        self.active.iter().copied().collect()
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = &Session> + '_ {
        self.active.iter().filter_map(|id| self.active(*id))
    }

    /// The session of one that is awake.
    pub(super) fn active(&self, id: MeterId) -> Option<&Session> {
        match self.all.get(&id)? {
            Meter::Compact(_) => None,
            Meter::Active(session) => Some(session),
        }
    }

    /// The same, to change it.
    pub(super) fn active_mut(&mut self, id: MeterId) -> Option<&mut Session> {
        match self.all.get_mut(&id)? {
            Meter::Compact(_) => None,
            Meter::Active(session) => Some(session),
        }
    }

    /// The session of a meter, which is woken where it rests, and does not rest before it was
    /// looked at twice.
    pub(super) fn session(&mut self, id: MeterId) -> Option<&mut Session> {
        let meter = self.all.get_mut(&id)?;
        if let Meter::Compact(compact) = meter {
            *meter = Meter::Active(Box::new(compact.session()));
            self.active.insert(id);
        }
        match meter {
            Meter::Compact(_) => None,
            Meter::Active(session) => {
                session.touched = true;
                Some(session)
            }
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        // A tree that is made of all of them at once has none to spare.
        self.all = std::mem::take(&mut self.all).into_iter().collect();
    }

    /// Lets those rest that nobody has touched since this was called last.
    pub(super) fn compact_idle(&mut self, policy: &Policy, now_ms: u64) {
        let Meters { all, active } = self;
        active.retain(|id| {
            let Some(meter) = all.get_mut(id) else { return false };
            let Meter::Active(session) = meter else { return false };
            if std::mem::take(&mut session.touched) || !session.is_idle(policy, now_ms) {
                return true;
            }
            let Some(compact) = CompactMeter::of(session) else { return true };
            *meter = Meter::Compact(Box::new(compact));
            false
        });
    }
}
