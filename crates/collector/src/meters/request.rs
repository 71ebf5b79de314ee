//! The queues to a session's thread: packets, and requests with their answers.

use super::error::RequestError;
use super::receipt::QueuedPacket;
use super::snapshot::{MeterStatus, Snapshot};
use crate::image_digest::ImageDigest;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::oneshot;
use wire::meter::{MeterId, MeterRecord, QueuedCommand};

/// Packets that wait for a session at most; others are dropped, and come again.
const PACKETS_MAX: usize = 8192;
/// Questions that wait for a session at most.
const ASKS_MAX: usize = 1024;

/// A request to a session's thread.
#[derive(Debug)]
pub(crate) enum Request {
    Command { meter: MeterId, request: QueuedCommand, by: String, answer: Answer<Result<i64, RequestError>> },
    Withdraw { meter: MeterId, id: i64, answer: Answer<Result<(), RequestError>> },
    Update { meter: MeterId, image: ImageDigest, by: String, answer: Answer<Result<i64, RequestError>> },
    ForgetUpdate { meter: MeterId, answer: Answer<Result<(), RequestError>> },
    SetMeter { epoch: u32, record: Box<MeterRecord>, answer: Answer<Result<(), RequestError>> },
    Revoke { meter: MeterId, answer: Answer<Result<(), RequestError>> },
    Meters { answer: Answer<Vec<MeterStatus>> },
    Meter { meter: MeterId, answer: Answer<Option<MeterStatus>> },
    Snapshot { answer: Answer<Snapshot> },
    Stop,
}

/// The channel of an answer.
pub(crate) type Answer<T> = oneshot::Sender<T>;

/// The inputs of a session's thread.
pub(crate) struct Inputs {
    pub(crate) packets: Receiver<QueuedPacket>,
    pub(crate) requests: Receiver<Request>,
    pub(crate) dropped_packets: Arc<AtomicU64>,
}

/// The way to a session.
#[derive(Clone)]
pub(crate) struct Queues {
    pub(crate) packets: Sender<QueuedPacket>,
    pub(crate) requests: Sender<Request>,
    pub(crate) dropped_packets: Arc<AtomicU64>,
}

impl Queues {
    pub(crate) fn new() -> (Queues, Inputs) {
        let (packets, packets_in) = bounded(PACKETS_MAX);
        let (requests, requests_in) = bounded(ASKS_MAX);
        let dropped_packets = Arc::new(AtomicU64::new(0));
        let inputs =
            Inputs { packets: packets_in, requests: requests_in, dropped_packets: dropped_packets.clone() };
        (Queues { packets, requests, dropped_packets }, inputs)
    }

    pub(crate) async fn ask<T>(self, ask: impl FnOnce(Answer<T>) -> Request) -> Result<T, RequestError> {
        let (answer, answered) = oneshot::channel();
        self.requests.try_send(ask(answer)).map_err(|refused| match refused {
            TrySendError::Full(_) => RequestError::Busy,
            TrySendError::Disconnected(_) => RequestError::Stopped,
        })?;
        // A question to a session that ends stays in its queue for as long as somebody has that.
        drop(self);
        answered.await.map_err(|_| RequestError::Stopped)
    }
}
