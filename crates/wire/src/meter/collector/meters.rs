//! The meters of a collector: few are awake, with a session, and most rest.

use super::Policy;
use super::quiet::Quiet;
use super::session::Session;
use crate::meter::MeterId;
use std::collections::{BTreeMap, BTreeSet};

/// A meter.
#[derive(Debug)]
pub(super) enum Meter {
    Quiet(Box<Quiet>),
    Awake(Box<Session>),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Meters {
    /// A tree has less room to spare than a table, where there are very many.
    all: BTreeMap<MeterId, Meter>,
    awake: BTreeSet<MeterId>,
}

impl Meters {
    pub(super) fn insert(&mut self, id: MeterId, meter: Meter) {
        if let Meter::Awake(_) = meter {
            self.awake.insert(id);
        }
        self.all.insert(id, meter);
    }

    pub(super) fn remove(&mut self, id: MeterId) -> Option<Meter> {
        self.awake.remove(&id);
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
    pub(super) fn awake(&self) -> Vec<MeterId> {
        self.awake.iter().copied().collect()
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = &Session> + '_ {
        self.awake.iter().filter_map(|id| self.awake_one(*id))
    }

    /// The session of one that is awake.
    pub(super) fn awake_one(&self, id: MeterId) -> Option<&Session> {
        match self.all.get(&id)? {
            Meter::Quiet(_) => None,
            Meter::Awake(session) => Some(session),
        }
    }

    /// The same, to change it.
    pub(super) fn awake_mut(&mut self, id: MeterId) -> Option<&mut Session> {
        match self.all.get_mut(&id)? {
            Meter::Quiet(_) => None,
            Meter::Awake(session) => Some(session),
        }
    }

    /// The session of a meter, which is woken where it rests, and does not rest before it was looked at twice.
    pub(super) fn session(&mut self, id: MeterId) -> Option<&mut Session> {
        let meter = self.all.get_mut(&id)?;
        if let Meter::Quiet(quiet) = meter {
            *meter = Meter::Awake(Box::new(quiet.session()));
            self.awake.insert(id);
        }
        match meter {
            Meter::Quiet(_) => None,
            Meter::Awake(session) => {
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
    pub(super) fn rest(&mut self, policy: &Policy, now_ms: u64) {
        let Meters { all, awake } = self;
        awake.retain(|id| {
            let Some(meter) = all.get_mut(id) else { return false };
            let Meter::Awake(session) = meter else { return false };
            if std::mem::take(&mut session.touched) || !session.can_rest(policy, now_ms) {
                return true;
            }
            let Some(quiet) = Quiet::of(session) else { return true };
            *meter = Meter::Quiet(Box::new(quiet));
            false
        });
    }
}
