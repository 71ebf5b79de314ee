//! The outlets of a process that all its partitions share.

use super::remote::EventSubscribers;
use crate::gateway::Gateways;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

/// Outlets of a process that all its partitions share.
#[derive(Clone)]
pub(crate) struct Outlets {
    pub(crate) gateways: Arc<Gateways>,
    pub(crate) subscribers: EventSubscribers,
    pub(crate) shared: Arc<Shared>,
}

/// The state that all sides can read without asking.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store_ok: AtomicBool,
    /// When the newest of what is stored was heard, in any network: Unix ms.
    pub(crate) newest_ms: AtomicI64,
}
