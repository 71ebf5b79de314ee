//! The state of the link's thread. `thread` has its loop, `uplink` the steps of a packet, `durable`
//! those after a write, `downlink` the way to meters, `requests` those of others; `updates`,
//! `numbers` and `checks` have the rest.

use super::clock::Clock;
use super::handle::{Shared, Snapshot};
use super::key_keeper::KeyKeeper;
use super::meter_state::MeterLinkState;
use super::receipt::PartialMessages;
use super::remote_links::EventSubscribers;
use super::silence::SilenceWatch;
use super::store_queue::StoreQueue;
use super::updates::Updates;
use super::verify::Verifiers;
use crate::fence::Fence;
use crate::gateway::{Gateways, HeardPacket};
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use crate::store::METERS_EPOCH_S;
use opentelemetry::trace::TraceId;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;
use wire::meter::{Collector, MeterId, Policy};

/// Ticks of this minute, and alerts of this hour.
#[derive(Debug, Default)]
pub(super) struct RateWindow {
    pub(super) ticks: u32,
    pub(super) forged_alerts: u32,
    pub(super) hour: Option<Instant>,
}

/// The link of a partition. One thread has it.
pub(crate) struct Link {
    pub(super) partition: Partition,
    pub(super) slices: Slices,
    /// The guard of its writes; `None`: nobody else writes.
    pub(super) fence: Option<Arc<Fence>>,
    pub(super) collector: Collector,
    /// In a tree, which has less room to spare than a table, where there are very many.
    pub(super) meters: BTreeMap<MeterId, MeterLinkState>,
    /// Epochs that are over, of meters that were revoked.
    pub(super) retired_epochs: HashMap<MeterId, u32>,
    pub(super) policy: Policy,
    pub(super) store_queue: StoreQueue,
    pub(super) verifiers: Verifiers,
    pub(super) key_keeper: KeyKeeper,
    pub(super) updates: Updates,
    pub(super) gateways: Arc<Gateways>,
    pub(super) subscribers: EventSubscribers,
    pub(super) shared: Arc<Shared>,
    /// The destination of packets of unknown meters.
    pub(super) unknown_meters: Option<tokio::sync::mpsc::Sender<HeardPacket>>,
    /// Nothing unsealed is taken as soon as there is a meter that seals.
    pub(super) auto_require_sealed: bool,
    pub(super) rng: StdRng,
    pub(super) clock: Clock,
    pub(super) began: Instant,
    /// Of the packet that is worked on, if it came with one.
    pub(super) trace: Option<TraceId>,
    /// Unix ms, as of this turn.
    pub(super) now_ms: i64,
    pub(super) opening: usize,
    pub(super) partial_messages: PartialMessages,
    pub(super) check_due: bool,
    /// The meter that a command or a piece was sent to last: the others have their turns.
    pub(super) sent_last: MeterId,
    /// When a command is to be sent next, in ms since 2000.
    pub(super) next_due_ms: Option<u64>,
    /// When silence, clock and store are looked at next.
    pub(super) tick_at: Instant,
    pub(super) silence: SilenceWatch,
    pub(super) counted: Snapshot,
    pub(super) minute: RateWindow,
    pub(super) ended: bool,
}

impl Link {
    pub(super) fn network(&self) -> NetworkId {
        self.partition.network
    }

    /// One of this network's meters, as all but the link call it.
    pub(super) fn global(&self, meter: MeterId) -> GlobalMeterId {
        self.network().meter(meter)
    }

    /// Says if this link reports what is the same for all: about the store, and the clock.
    pub(super) fn tells_for_all(&self) -> bool {
        self.partition == Partition::FIRST
    }
}

/// Unix time in ms as meters count it: since 2000; 0 before that.
pub(super) fn since_2000_ms(unix_ms: i64) -> u64 {
    u64::try_from(unix_ms - METERS_EPOCH_S * 1000).unwrap_or(0)
}
