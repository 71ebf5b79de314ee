//! The work of a worker on one partition, from taking the lease to giving it up.

use super::connection::Connection;
use super::exchange::{Answering, ExchangeCounts};
use super::leases::HeldLease;
use super::queue::{Queue, QueueCounts, QueueEnd};
use super::remote::RemoteGateways;
use crate::event::Event;
use crate::fence::Fence;
use crate::meters::MetersHandle;
use crate::partition::{Partition, Slices};
use crate::registry::KeyStore;
use crate::service::{ServiceError, Sessions};
use async_nats::jetstream::stream::Stream;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{Semaphore, oneshot};

/// The shared state of a worker's partitions.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) connection: Connection,
    pub(super) stream: Stream,
    pub(super) slices: Slices,
    pub(super) keys: KeyStore,
    /// `None`: it was closed.
    pub(super) sessions: Arc<RwLock<Option<Sessions>>>,
    /// The limit of sessions that begin at the same time.
    pub(super) beginnings: Arc<Semaphore>,
    pub(super) meters: MetersHandle,
    pub(super) remote: Arc<RemoteGateways>,
    pub(super) counts: Arc<QueueCounts>,
    pub(super) exchange: Arc<ExchangeCounts>,
}

/// The end of the work.
#[derive(Debug)]
pub(super) enum Ended {
    /// It was told to.
    Told,
    /// The lease is over, or another worker has it.
    Lost,
    /// Its packets do not come.
    Failed(String),
    /// The session cannot begin.
    NotBegun(ServiceError),
    /// A part of it ended in a way that it never should.
    Broken,
}

impl Shared {
    /// Does all that is to be done with a partition, until it is told to stop, or the lease is
    /// over.
    pub(super) async fn hold(self, mut lease: HeldLease, stop: oneshot::Receiver<()>) -> (Partition, Ended) {
        let fence = lease.fence().clone();
        let partition = fence.partition;
        let mut queue = None;
        let ended = tokio::select! {
            ended = self.work(&fence, &mut queue, stop) => ended,
            // The renewal of the lease goes on beside the work, also while the work waits for the
            // store.
            () = lease.keep() => Ended::Lost,
        };
        // No packet is handed over any more. The session stores and acknowledges its own; none, if
        // the lease is over.
        let mut closing = Box::pin(self.sessions(move |sessions| sessions.end(partition)));
        let closed = tokio::select! {
            closed = &mut closing => closed,
            () = lease.keep() => closing.await,
        };
        if fence.holds() {
            if let Some(queue) = queue {
                queue.finish().await;
            }
            lease.give_up().await;
        }
        let ended = match (ended, closed) {
            (Ended::NotBegun(error), _) => Ended::NotBegun(error),
            (_, Err(_)) => Ended::Broken,
            (ended, Ok(())) => ended,
        };
        (partition, ended)
    }

    async fn work(
        &self,
        fence: &Arc<Fence>,
        queue: &mut Option<Queue>,
        mut stop: oneshot::Receiver<()>,
    ) -> Ended {
        let (partition, under) = (fence.partition, fence.clone());
        let begun = {
            let _one = self.beginnings.acquire().await;
            self.sessions(move |sessions| sessions.begin(partition, Some(under), None)).await
        };
        match begun {
            Ok(meters) => {
                tracing::info!(%partition, meters, fence = fence.number, "a partition is taken");
            }
            Err(error) => return Ended::NotBegun(error),
        }
        // The previous holder may have stored readings without sending their events.
        self.meters.publish(Event::Missed);
        let opened =
            Queue::open(&self.connection, &self.stream, fence.clone(), self.slices, self.counts.clone())
                .await;
        let queue = match opened {
            Ok(opened) => queue.insert(opened),
            Err(error) => return Ended::Failed(error),
        };
        let (meters, exchange) = (self.meters.clone(), self.exchange.clone());
        let answering = Answering::open(&self.connection, fence.clone(), self.slices, meters, exchange).await;
        let mut answering = match answering {
            Ok(answering) => answering,
            Err(error) => return Ended::Failed(error),
        };
        tokio::select! {
            end = queue.serve(&self.meters, &self.remote) => match end {
                QueueEnd::Taken => Ended::Lost,
                QueueEnd::Session if fence.holds() => Ended::Broken,
                QueueEnd::Session => Ended::Lost,
                QueueEnd::Failed(why) => Ended::Failed(why),
            },
            () = answering.serve() => Ended::Failed("the connection is closed".to_owned()),
            // A dropped sender is an end, too.
            _ = &mut stop => Ended::Told,
        }
    }

    /// Does something with the sessions on a thread that may wait.
    pub(super) async fn sessions<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Sessions) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let sessions = self.sessions.clone();
        let done = tokio::task::spawn_blocking(move || {
            let sessions = sessions.read().unwrap_or_else(PoisonError::into_inner);
            sessions.as_ref().map_or(Err(ServiceError::Ended("store")), what)
        });
        done.await.map_err(|_| ServiceError::Ended("link"))?
    }
}
