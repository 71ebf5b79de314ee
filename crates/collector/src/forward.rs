//! The concentrator: what is heard of meters that are not known here goes unchanged to another
//! collector, and what that one says goes back to them. docs/how-to/collector/gateways.md, "Gateways".
//!
//! Keys stay at the ends, so nothing here can be trusted, and nothing here has to be: a meter keeps
//! its reading until the far collector has acknowledged it, with its key. The concentrator knows
//! the origins of acknowledged reports. Those meters' messages are stored, so that they are there
//! as soon as the far collector is; all others' are unknown, with little room and a low rate.

mod acknowledged;
mod begun;
mod bucket;
pub mod exchange;
mod queue;
mod source;
mod waiting;

use crate::gateway::udp::{DATAGRAM_BYTES_MAX, datagram};
use crate::gateway::{Gateways, HeardPacket};
use crate::store::{NewOutbox, OutboxRecord, Write, Written};
use crate::writer::{WriteError, WriterHandle};
use exchange::{Exchange, Taken, Whole};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::{UdpSocket, lookup_host};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};
use wire::meter::{MessageKind, packets};

/// Packets that wait to be looked at at most; others are lost, and come again.
pub const PACKETS_MAX: usize = 4096;
/// Packets that are looked at before what they made is stored.
const CONCURRENT_MAX: usize = 1024;
/// After nothing could be received.
const RECEIVED_AGAIN_AFTER: Duration = Duration::from_millis(10);
/// After a name could not be looked up.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// After the store did not take something.
const STORED_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The silence while messages wait, after which the other collector's name is looked up anew, and
/// the line to it made anew: its address may have changed, or ours.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// The counts of forwarding since the start.
#[derive(Debug, Default)]
pub struct ForwardCounts {
    /// Reports that were put together and stored or sent for the first time.
    pub reports: AtomicU64,
    /// Answers that were passed on, and replies to pieces of renewals and images.
    pub answers: AtomicU64,
    /// Times that a message was sent on, again and again among them.
    pub forwarded: AtomicU64,
    /// Reports that the other collector acknowledged.
    pub delivered: AtomicU64,
    /// Acknowledgements that came back, also of reports that do not wait any more.
    pub acknowledged: AtomicU64,
    /// Packets of commands that came back, and pieces of renewals and images.
    pub command_packets: AtomicU64,
    /// Packets of meters that are not known here, and datagrams of the other collector, that are
    /// none, or not of a kind that goes that way; answers from where nothing of their meter was
    /// acknowledged, or more than a meter gives.
    pub refused: AtomicU64,
    /// Reports that went unacknowledged to make room, or because they waited for too long.
    pub given_up: AtomicU64,
    /// Reports that wait for their acknowledgement.
    pub waiting: AtomicUsize,
    /// Those of them that came from where nothing of their meter was acknowledged yet.
    pub unknown_meters: AtomicUsize,
    /// Says if the other collector answered the last packets: not before its first word, not while
    /// the system reports that nobody listens there, and not while reports wait and it was silent
    /// for [`SILENCE_MAX`].
    pub answers_us: AtomicBool,
}

/// Forwards until it is dropped.
#[derive(Debug)]
pub struct Forwarder {
    counts: Arc<ForwardCounts>,
    task: JoinHandle<()>,
}

impl Forwarder {
    /// upstream: `HOST:PORT` of the other collector's UDP gateway. unknown_meters: the packets of
    /// meters that are not known here, at most [`PACKETS_MAX`] waiting. outbox: what waited before.
    /// Needs a tokio runtime.
    pub fn start(
        upstream: String,
        unknown_meters: mpsc::Receiver<HeardPacket>,
        gateways: Arc<Gateways>,
        writer: WriterHandle,
        outbox: Vec<OutboxRecord>,
    ) -> Forwarder {
        let counts = Arc::new(ForwardCounts::default());
        let mut exchange = Exchange::new(StdRng::from_os_rng());
        let now = Instant::now();
        let mut removed = Vec::new();
        for record in outbox {
            removed.extend(exchange.insert(record, None, now));
        }
        counts.waiting.store(exchange.waiting(), Ordering::Relaxed);
        let counted = counts.clone();
        let task = tokio::spawn(async move {
            let (address, socket) = connect(&upstream).await;
            tracing::info!(%address, waiting = exchange.waiting(), "forwarding what is heard of other collectors' meters");
            let work = Work {
                upstream,
                socket,
                line_since: Instant::now(),
                gateways,
                writer,
                exchange,
                removed,
                counts: counted,
                in_trouble: None,
            };
            work.run(unknown_meters).await;
        });
        Forwarder { counts, task }
    }

    #[must_use]
    pub fn counts(&self) -> &Arc<ForwardCounts> {
        &self.counts
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A socket that hears nobody but the other collector.
async fn connect(upstream: &str) -> (SocketAddr, UdpSocket) {
    let mut said = false;
    loop {
        match reach(upstream).await {
            Ok(reached) => return reached,
            Err(error) if !said => {
                tracing::warn!(upstream, %error, "the collector to forward to cannot be found; trying again; look at --forward");
                said = true;
            }
            Err(_) => {}
        }
        sleep(AGAIN_AFTER).await;
    }
}

async fn reach(upstream: &str) -> std::io::Result<(SocketAddr, UdpSocket)> {
    let found = lookup_host(upstream).await?.next();
    let address = found.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))?;
    let any: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(address).await?;
    Ok((address, socket))
}

struct Work {
    upstream: String,
    socket: UdpSocket,
    /// When something came back last, or the line was made.
    line_since: Instant,
    gateways: Arc<Gateways>,
    writer: WriterHandle,
    exchange: Exchange,
    /// Rows that are over, and still in the store.
    removed: Vec<i64>,
    counts: Arc<ForwardCounts>,
    /// Since when the store does not take anything.
    in_trouble: Option<Instant>,
}

impl Work {
    async fn run(mut self, mut unknown_meters: mpsc::Receiver<HeardPacket>) {
        // One byte more than a datagram has, so that a longer one is seen as that.
        let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
        loop {
            let next_at = self.exchange.next_at();
            tokio::select! {
                packet = unknown_meters.recv() => {
                    let Some(packet) = packet else { return };
                    let mut whole: Vec<Whole> = self.take(&packet).into_iter().collect();
                    for _ in 1..CONCURRENT_MAX {
                        let Ok(packet) = unknown_meters.try_recv() else { break };
                        whole.extend(self.take(&packet));
                    }
                    if !whole.is_empty() {
                        self.keep(whole).await;
                    }
                }
                received = self.socket.recv(&mut buffer) => match received {
                    Ok(length) => {
                        self.answered(&buffer[..length]);
                        for _ in 1..CONCURRENT_MAX {
                            let Ok(length) = self.socket.try_recv(&mut buffer) else { break };
                            self.answered(&buffer[..length]);
                        }
                    }
                    // Nobody listens there at the moment.
                    Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                        self.counts.answers_us.store(false, Ordering::Relaxed);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "nothing can be received from the other collector");
                        sleep(RECEIVED_AGAIN_AFTER).await;
                    }
                },
                () = sleep_until(next_at.unwrap_or_else(Instant::now)), if next_at.is_some() => {
                    if self.line_since.elapsed() > SILENCE_MAX {
                        self.renew_line().await;
                    }
                }
            }
            self.send_due();
            let may_store = self.in_trouble.is_none_or(|since| since.elapsed() > STORED_AGAIN_AFTER);
            if may_store && !self.removed.is_empty() {
                self.keep(Vec::new()).await;
            }
            self.counts.waiting.store(self.exchange.waiting(), Ordering::Relaxed);
            self.counts.unknown_meters.store(self.exchange.unknown_meters(), Ordering::Relaxed);
        }
    }

    /// Takes a packet of a meter that is not known here, and says what is to be stored of it.
    fn take(&mut self, heard: &HeardPacket) -> Option<Whole> {
        let heard_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        match self.exchange.take(heard, Instant::now(), heard_ms) {
            Taken::Rejected => count(&self.counts.refused),
            Taken::Piece | Taken::Duplicate => {}
            Taken::Answer => {
                self.send(&heard.bytes, heard.rssi_dbm);
                count(&self.counts.answers);
                count(&self.counts.forwarded);
            }
            Taken::Waits { gone } => {
                count(&self.counts.reports);
                self.forget(gone);
            }
            Taken::Whole(whole) => {
                count(&self.counts.reports);
                return Some(whole);
            }
        }
        None
    }

    /// Stores messages, and has them sent. One that cannot be stored is sent all the same: its
    /// meter has it.
    async fn keep(&mut self, whole: Vec<Whole>) {
        let over = std::mem::take(&mut self.removed);
        let first = over.len();
        let remove = over.iter().map(|id| Write::OutboxRemove { id: *id });
        let writes = remove.chain(whole.iter().map(|new| Write::OutboxPut(new.message.clone()))).collect();
        let written = match self.writer.write(writes).await {
            Ok(written) => {
                self.in_trouble = None;
                written
            }
            Err(error) => {
                if self.in_trouble.is_none() && error != WriteError::Stopped {
                    tracing::warn!(%error, "messages to be forwarded are not stored; they are sent, and their meters keep them");
                }
                self.in_trouble = Some(Instant::now());
                self.removed = over;
                Vec::new()
            }
        };
        let now = Instant::now();
        let mut written = written.into_iter().skip(first);
        for whole in whole {
            let gone = match written.next() {
                Some(Written::Outbox(Some(id))) => {
                    let Whole { message, route, rssi_dbm } = whole;
                    let NewOutbox { address, name, kind, suite, number_lsb, message, heard_ms } = message;
                    let record =
                        OutboxRecord { id, address, name, kind, suite, number_lsb, message, heard_ms };
                    self.exchange.insert(record, Some((route, rssi_dbm)), now)
                }
                _ => self.exchange.insert_unstored(whole, now),
            };
            self.forget(gone);
        }
    }

    /// Drops messages that went unacknowledged. Ids below 0 are of messages that were never stored.
    fn forget(&mut self, gone: Vec<i64>) {
        self.counts.given_up.fetch_add(gone.len() as u64, Ordering::Relaxed);
        self.removed.extend(gone.into_iter().filter(|id| *id >= 0));
    }

    async fn renew_line(&mut self) {
        self.line_since = Instant::now();
        self.counts.answers_us.store(false, Ordering::Relaxed);
        match reach(&self.upstream).await {
            Ok((_, socket)) => self.socket = socket,
            Err(error) => {
                tracing::warn!(upstream = self.upstream, %error, "the collector to forward to cannot be reached")
            }
        }
    }

    fn send_due(&mut self) {
        while let Some(id) = self.exchange.due(Instant::now()) {
            if self.exchange.expire(id, SystemTime::now()) {
                self.forget(vec![id]);
            } else if let Some((message, rssi_dbm)) = self.exchange.sent(id, Instant::now()) {
                self.send_whole(&message, rssi_dbm);
            }
        }
    }

    fn send_whole(&self, message: &NewOutbox, rssi_dbm: Option<i8>) {
        let NewOutbox { address, name, kind, suite, number_lsb, ref message, .. } = *message;
        // Of the number the packets have the lowest byte alone.
        for packet in packets(address, kind, suite, name, u32::from(number_lsb), message) {
            self.send(&packet, rssi_dbm);
        }
        count(&self.counts.forwarded);
    }

    fn send(&self, packet: &[u8], rssi_dbm: Option<i8>) {
        if let Some(datagram) = datagram(packet, rssi_dbm) {
            // A datagram that the system does not take is lost, as by radio: it is sent again.
            let _ = self.socket.try_send(&datagram);
        }
    }

    /// Passes an answer of the other collector on to its meter, by the route that the meter was
    /// heard on.
    fn answered(&mut self, datagram: &[u8]) {
        let Some(answered) = self.exchange.answered(datagram, Instant::now()) else {
            return count(&self.counts.refused);
        };
        self.line_since = Instant::now();
        self.counts.answers_us.store(true, Ordering::Relaxed);
        match answered.kind {
            MessageKind::Acknowledgement => count(&self.counts.acknowledged),
            _ => count(&self.counts.command_packets),
        }
        self.counts.delivered.fetch_add(answered.delivered.len() as u64, Ordering::Relaxed);
        self.removed.extend(answered.delivered.into_iter().filter(|id| *id >= 0));
        for route in answered.routes {
            self.gateways.transmit(route, &[answered.packet.to_vec()]);
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
