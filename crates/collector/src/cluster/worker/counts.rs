//! The worker's counts, and its metrics.

use crate::api::metrics::{self, Text};
use crate::cluster::events::EventCounts;
use crate::cluster::exchange::ExchangeCounts;
use crate::cluster::health::Figures;
use crate::cluster::partition_task::Shared;
use crate::cluster::queue::QueueCounts;
use crate::cluster::remote::RemoteCounts;
use crate::partition::Partition;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The worker's counts, with the sources of its metrics once it has a store.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) queue: Arc<QueueCounts>,
    pub(super) exchange: Arc<ExchangeCounts>,
    pub(super) events: Arc<EventCounts>,
    pub(super) remote: Arc<RemoteCounts>,
    pub(super) taken: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) given_up: AtomicU64,
    /// Records in streams and buckets that are not as workers make them.
    pub(super) unreadable: AtomicU64,
    /// The partitions that it has, with the numbers of their fences.
    pub(super) held: Mutex<BTreeMap<Partition, u64>>,
    pub(super) shared: Mutex<Option<Shared>>,
}

impl Counts {
    async fn write(&self, text: &mut Text) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (name, help, count) in [
            ("packets", "Packets that came from the stream", &self.queue.packets),
            ("redelivered_packets", "Of them, those that came again", &self.queue.redelivered),
            ("malformed_packets", "Of them, those that are none", &self.queue.malformed),
            ("stream_acknowledgements", "Acknowledgements to the stream", &self.queue.acknowledgements),
            ("questions", "Questions about its meters that came", &self.exchange.questions),
            ("malformed_questions", "Of them, those that are none", &self.exchange.malformed),
            ("leases_taken", "Partitions that were taken", &self.taken),
            ("leases_lost", "Partitions whose lease was over before they were given up", &self.lost),
            ("leases_given_up", "Partitions that were given up", &self.given_up),
            (
                "unreadable_records",
                "Times that something in a stream or bucket was not as workers make it",
                &self.unreadable,
            ),
        ] {
            text.one(&format!("wattseal_worker_{name}_total"), "counter", help, read(count));
        }
        self.exchange.write(text, "worker");
        self.events.write(text, "worker");
        let name = "wattseal_worker_partition_fence";
        text.head(name, "gauge", "The partitions that it has, with the number of the lease");
        for (partition, fence) in self.held.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text.labelled(name, &[("partition", &partition.to_string())], fence);
        }
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(shared) = shared else { return };
        let remote = &self.remote;
        for (name, help, count) in [
            ("down_packets", "Packets that were published to gateways", &remote.sent),
            (
                "down_dropped_packets",
                "Packets to gateways that were dropped, for want of room",
                &remote.dropped,
            ),
            ("unknown_gateway_packets", "Packets of gateways for which there is no room", &remote.unknown),
        ] {
            text.one(&format!("wattseal_worker_{name}_total"), "counter", help, read(count));
        }
        let store = shared.sessions(|sessions| Ok((sessions.reader().clone(), sessions.fenced()))).await;
        let snapshot = shared.meters.snapshot().await.ok();
        if let Ok((reader, fenced)) = store {
            text.one(
                "wattseal_worker_fenced_transactions_total",
                "counter",
                "Transactions that the store refused, because a partition was taken under a later lease",
                fenced,
            );
            metrics::store(text, &reader.health(), shared.meters.store_ok(), snapshot.is_some());
        }
        if let Some(snapshot) = &snapshot {
            metrics::sessions(text, snapshot);
        }
    }
}

pub(super) fn figures(counts: &Arc<Counts>) -> Figures {
    let counts = counts.clone();
    Arc::new(move |mut text| {
        let counts = counts.clone();
        Box::pin(async move {
            counts.write(&mut text).await;
            text
        })
    })
}
