//! The troubles that keep a role from its work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Parts of a role that may be in trouble, each with its reason. A reason that comes, changes or
/// goes is told in the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Status(Arc<Mutex<BTreeMap<Part, String>>>, Arc<Mutex<Permissions>>);

/// A part that may be in trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    /// The connection to the servers.
    Nats,
    /// Streams and buckets.
    JetStream,
    /// The database.
    Store,
    /// The worker's share of the partitions.
    Partitions,
    /// The contents of streams and buckets.
    Data,
    /// Gateways that are not heard.
    Gateways,
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Nats => "nats",
            Part::JetStream => "jetstream",
            Part::Store => "store",
            Part::Partitions => "partitions",
            Part::Data => "data",
            Part::Gateways => "gateways",
        }
    }
}

/// A role's knowledge of its user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Permissions {
    #[default]
    NotAsked,
    /// Why the servers did not say it yet.
    NotAnswered(String),
    /// The role has no credentials, and its servers are heard on this machine alone.
    Everybody,
    Narrow,
}

impl Permissions {
    /// For readiness.
    pub(super) fn describe(&self) -> String {
        match self {
            Permissions::NotAsked => "not checked yet".to_owned(),
            Permissions::NotAnswered(why) => format!("not checked: {why}; tried again"),
            Permissions::Everybody => {
                "not checked: without --nats-creds everybody on this machine is this role".to_owned()
            }
            Permissions::Narrow => "checked: the user may do no more than it needs".to_owned(),
        }
    }
}

impl Status {
    /// A part is in trouble; it waits, and tries again.
    pub(super) fn trouble(&self, part: Part, why: impl Into<String>) {
        let why = why.into();
        let before = self.lock().insert(part, why.clone());
        if before.as_ref() != Some(&why) {
            tracing::warn!(part = part.name(), "{why}");
        }
    }

    /// A part does what it should.
    pub(super) fn fine(&self, part: Part) {
        if self.lock().remove(&part).is_some() {
            tracing::info!(part = part.name(), "all is well again");
        }
    }

    /// Returns the parts in trouble, each with its cause.
    pub(super) fn troubles(&self) -> BTreeMap<Part, String> {
        self.lock().clone()
    }

    /// Keeps the role's knowledge of its user.
    pub(super) fn set_permissions(&self, permissions: Permissions) {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = permissions;
    }

    pub(super) fn permissions(&self) -> Permissions {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Part, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
