//! The right to write and send for a partition.

use crate::fence::Fence;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use std::sync::Arc;
use wire::meter::MeterId;

/// The right to write and send for a partition.
pub(crate) struct PartitionLease {
    pub(crate) partition: Partition,
    pub(crate) slices: Slices,
    /// The guard of its writes; `None`: no other process writes.
    pub(crate) fence: Option<Arc<Fence>>,
    is_over: bool,
}

impl PartitionLease {
    pub(crate) fn new(partition: Partition, slices: Slices, fence: Option<Arc<Fence>>) -> PartitionLease {
        PartitionLease { partition, slices, fence, is_over: false }
    }

    pub(crate) fn network(&self) -> NetworkId {
        self.partition.network
    }

    /// Returns the collector-wide name of one of this network's meters.
    pub(crate) fn global(&self, meter: MeterId) -> GlobalMeterId {
        self.network().meter(meter)
    }

    /// Says if this partition reports events of the whole process: about the store, and the clock.
    pub(crate) fn reports_for_all(&self) -> bool {
        self.partition == Partition::FIRST
    }

    /// Returns true if no other worker can have the partition.
    pub(crate) fn holds(&self) -> bool {
        self.fence.as_ref().is_none_or(|fence| fence.holds())
    }

    /// Says if something may be written or sent; ends if not.
    pub(crate) fn may_send(&mut self) -> bool {
        let holds = self.holds();
        if !holds {
            self.on_fenced();
        }
        holds
    }

    /// Ends: somebody else may have the partition, and nothing more is written or sent.
    pub(crate) fn on_fenced(&mut self) {
        if !self.is_over {
            let partition = self.partition;
            tracing::warn!(%partition, "its lease is over: nothing more is written or acknowledged here");
        }
        self.is_over = true;
    }

    /// Ends because a thread that it needs has ended.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}
