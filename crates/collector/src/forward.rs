//! The concentrator: what is heard of meters that are not known here goes unchanged to another collector, and what that one says
//! goes back to them. docs/collector.md, "Gateways".
//!
//! Keys stay at the ends, so nothing here can be trusted, and nothing here has to be: a meter keeps its reading until the far
//! collector has acknowledged it, with its key. Messages are stored all the same, so that they are there as soon as that one is.

mod waiting;

use crate::gateway::udp::{MOST_DATAGRAM_BYTES, datagram, parse};
use crate::gateway::{Gateways, HeardPacket, Route};
use crate::store::{NewOutbox, OutboxRecord, Write, Written};
use crate::writer::{WriteError, WriterHandle};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::{UdpSocket, lookup_host};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};
use waiting::{Name, Waiting};
use wire::meter::{Kind, MeterId, Packet, Reassembly, packets};

/// Packets that wait to be looked at at most; others are lost, and come again.
pub const MOST_PACKETS: usize = 4096;
/// Packets that are looked at before what they made is stored.
const MOST_AT_ONCE: usize = 1024;
/// Messages that are sent again in one turn, and the time between turns: what waits must not flood the line.
const MOST_IN_A_TURN: usize = 64;
const TURN: Duration = Duration::from_millis(10);
/// After a name could not be looked up.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// After the store did not take something.
const STORED_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// While messages wait, and nothing came back for so long, the other collector's name is looked up anew, and the line to it made
/// anew: its address may have changed, or ours.
const MOST_SILENCE: Duration = Duration::from_secs(60);

/// How it goes.
#[derive(Debug, Default)]
pub struct ForwardCounts {
    /// Messages that were put together and sent on.
    pub forwarded: AtomicU64,
    /// Acknowledgements that came back.
    pub acknowledged: AtomicU64,
    /// Packets of commands that came back.
    pub command_packets: AtomicU64,
    /// Messages that wait for their acknowledgement.
    pub waiting: AtomicUsize,
}

/// Forwards until it is dropped.
#[derive(Debug)]
pub struct Forwarder {
    counts: Arc<ForwardCounts>,
    task: JoinHandle<()>,
}

impl Forwarder {
    /// upstream: `HOST:PORT` of the other collector's UDP gateway. strangers: the packets of meters that are not known here, at most
    /// [`MOST_PACKETS`] waiting. outbox: what waited before. Needs a tokio runtime.
    pub fn start(
        upstream: String,
        strangers: mpsc::Receiver<HeardPacket>,
        gateways: Arc<Gateways>,
        writer: WriterHandle,
        outbox: Vec<OutboxRecord>,
    ) -> Forwarder {
        let counts = Arc::new(ForwardCounts::default());
        let mut waiting = Waiting::default();
        let now = Instant::now();
        for record in outbox {
            waiting.insert(record, None, now);
        }
        counts.waiting.store(waiting.len(), Ordering::Relaxed);
        let counted = counts.clone();
        let task = tokio::spawn(async move {
            let (address, socket) = connect(&upstream).await;
            tracing::info!(%address, waiting = waiting.len(), "forwarding what is heard of other collectors' meters");
            let work = Work {
                upstream,
                socket,
                line_since: Instant::now(),
                gateways,
                writer,
                waiting,
                begun: HashMap::new(),
                heard: HashMap::new(),
                proved: HashMap::new(),
                removed: Vec::new(),
                counts: counted,
                in_trouble: None,
            };
            work.run(strangers).await;
        });
        Forwarder { counts, task }
    }

    /// How it goes.
    #[must_use]
    pub fn counts(&self) -> &ForwardCounts {
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

/// A report that was put together.
struct Whole {
    message: NewOutbox,
    route: Route,
    rssi_dbm: Option<i8>,
}

struct Work {
    upstream: String,
    socket: UdpSocket,
    /// When something came back last, or the line was made.
    line_since: Instant,
    gateways: Arc<Gateways>,
    writer: WriterHandle,
    waiting: Waiting,
    /// Messages of several pieces, by name; only while there is something of them.
    begun: HashMap<MeterId, Reassembly>,
    /// Where a name was heard last. Anybody may have sent that.
    heard: HashMap<MeterId, Route>,
    /// Where a message came from that was acknowledged later: by who has the key.
    proved: HashMap<MeterId, Route>,
    /// Rows that are over, and still in the store.
    removed: Vec<i64>,
    counts: Arc<ForwardCounts>,
    /// Since when the store does not take anything.
    in_trouble: Option<Instant>,
}

impl Work {
    async fn run(mut self, mut strangers: mpsc::Receiver<HeardPacket>) {
        // One byte more than a datagram has, so that a longer one is seen as that.
        let mut buffer = [0; MOST_DATAGRAM_BYTES + 1];
        let mut not_before = Instant::now();
        loop {
            let due = self.waiting.next_at().map(|next| next.max(not_before));
            tokio::select! {
                packet = strangers.recv() => {
                    let Some(packet) = packet else { return };
                    let mut whole: Vec<Whole> = self.take(&packet).into_iter().collect();
                    for _ in 1..MOST_AT_ONCE {
                        let Ok(packet) = strangers.try_recv() else { break };
                        whole.extend(self.take(&packet));
                    }
                    self.keep(whole).await;
                }
                received = self.socket.recv(&mut buffer) => match received {
                    Ok(length) => self.answered(&buffer[..length]),
                    // Nobody listens there at the moment.
                    Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
                    Err(error) => {
                        tracing::warn!(%error, "nothing can be received from the other collector");
                        sleep(TURN).await;
                    }
                },
                () = sleep_until(due.unwrap_or(not_before)), if due.is_some() => {
                    not_before = Instant::now() + TURN;
                    if self.line_since.elapsed() > MOST_SILENCE {
                        self.renew_line().await;
                    }
                    self.send_due();
                }
            }
            let may_store = self.in_trouble.is_none_or(|since| since.elapsed() > STORED_AGAIN_AFTER);
            if may_store && !self.removed.is_empty() {
                self.keep(Vec::new()).await;
            }
            self.counts.waiting.store(self.waiting.len(), Ordering::Relaxed);
        }
    }

    /// Takes a packet of a meter that is not known here. Any bytes.
    fn take(&mut self, heard: &HeardPacket) -> Option<Whole> {
        let packet = Packet::parse(&heard.bytes).ok()?;
        let name = packet.meter;
        match packet.kind {
            // Answers have one piece, and no acknowledgement: a command is sent again until its answer comes, so they are not stored.
            Kind::Answer => {
                self.heard.insert(name, heard.route);
                self.send(&heard.bytes, heard.rssi_dbm);
                self.counts.forwarded.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Kind::Report => {}
            Kind::Acknowledgement | Kind::Command => return None,
        }
        self.heard.insert(name, heard.route);
        let begun = self.begun.entry(name).or_default();
        let whole = begun.take(&packet);
        if begun.held_bytes() == 0 {
            self.begun.remove(&name);
        }
        let whole = whole?;
        let heard_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        let message = NewOutbox {
            address: packet.address,
            name,
            kind: whole.kind,
            suite: whole.suite,
            low: whole.low,
            message: whole.bytes,
            heard_ms,
        };
        // Again: it goes again at once, and is stored already.
        if let Some(id) = self.waiting.heard_again(&message, heard.route, heard.rssi_dbm, Instant::now()) {
            self.send_message(id);
            return None;
        }
        Some(Whole { message, route: heard.route, rssi_dbm: heard.rssi_dbm })
    }

    /// Stores messages, with room made by the oldest ones, and then sends them. What cannot be stored is sent all the same: its
    /// meter has it.
    async fn keep(&mut self, whole: Vec<Whole>) {
        let mut writes: Vec<Write> =
            std::mem::take(&mut self.removed).into_iter().map(|id| Write::OutboxRemove { id }).collect();
        for new in &whole {
            let gone = self.waiting.make_room(new.message.name, whole.len());
            writes.extend(gone.into_iter().map(|id| Write::OutboxRemove { id }));
        }
        let first = writes.len();
        writes.extend(whole.iter().map(|new| Write::OutboxPut(new.message.clone())));
        let written = match self.writer.write(writes.clone()).await {
            Ok(written) => {
                self.in_trouble = None;
                written
            }
            Err(error) => {
                if self.in_trouble.is_none() && error != WriteError::Stopped {
                    tracing::warn!(%error, "messages to be forwarded are not stored; they are sent, and their meters keep them");
                }
                self.in_trouble = Some(Instant::now());
                self.removed.extend(writes[..first].iter().filter_map(|write| match write {
                    Write::OutboxRemove { id } => Some(*id),
                    _ => None,
                }));
                Vec::new()
            }
        };
        let mut written = written.into_iter().skip(first);
        for Whole { message, route, rssi_dbm } in whole {
            match written.next() {
                Some(Written::Outbox(Some(id))) => {
                    let NewOutbox { address, name, kind, suite, low, message, heard_ms } = message;
                    let record = OutboxRecord { id, address, name, kind, suite, low, message, heard_ms };
                    self.waiting.insert(record, Some((route, rssi_dbm)), Instant::now());
                    self.send_message(id);
                }
                _ => self.send_whole(&message, rssi_dbm),
            }
        }
    }

    async fn renew_line(&mut self) {
        self.line_since = Instant::now();
        match reach(&self.upstream).await {
            Ok((_, socket)) => self.socket = socket,
            Err(error) => {
                tracing::warn!(upstream = self.upstream, %error, "the collector to forward to cannot be reached")
            }
        }
    }

    fn send_due(&mut self) {
        for _ in 0..MOST_IN_A_TURN {
            let Some(id) = self.waiting.due(Instant::now()) else { return };
            if self.waiting.is_over(id, SystemTime::now()) {
                self.waiting.remove(id);
                self.removed.push(id);
            } else {
                self.send_message(id);
            }
        }
    }

    /// Sends a message that waits, and has it sent again later.
    fn send_message(&mut self, id: i64) {
        if let Some((message, rssi_dbm)) = self.waiting.sent(id, Instant::now()) {
            self.send_whole(&message, rssi_dbm);
        }
    }

    fn send_whole(&self, message: &NewOutbox, rssi_dbm: Option<i8>) {
        let NewOutbox { address, name, kind, suite, low, ref message, .. } = *message;
        // Of the number the packets have the lowest byte alone.
        for packet in packets(address, kind, suite, name, u32::from(low), message) {
            self.send(&packet, rssi_dbm);
        }
        self.counts.forwarded.fetch_add(1, Ordering::Relaxed);
    }

    fn send(&self, packet: &[u8], rssi_dbm: Option<i8>) {
        if let Some(datagram) = datagram(packet, rssi_dbm) {
            // What the system does not take is lost, as by radio: it is sent again.
            let _ = self.socket.try_send(&datagram);
        }
    }

    /// What the other collector says: to whom it is for, by the way that it was heard.
    fn answered(&mut self, bytes: &[u8]) {
        let Some((bytes, _)) = parse(bytes) else { return };
        let Ok(packet) = Packet::parse(bytes) else { return };
        self.line_since = Instant::now();
        let name = packet.meter;
        let mut routes = Vec::new();
        match packet.kind {
            Kind::Acknowledgement => {
                self.counts.acknowledged.fetch_add(1, Ordering::Relaxed);
                for id in self.waiting.named(Name { name, low: packet.low, suite: packet.suite }) {
                    if let Some(Some((route, _))) = self.waiting.remove(id) {
                        routes.push(route);
                        self.proved.insert(name, route);
                    }
                    self.removed.push(id);
                }
            }
            Kind::Command => {
                self.counts.command_packets.fetch_add(1, Ordering::Relaxed);
            }
            Kind::Report | Kind::Answer => return,
        }
        if routes.is_empty() {
            routes.extend(self.proved.get(&name).or_else(|| self.heard.get(&name)).copied());
        }
        routes.dedup();
        for route in routes {
            self.gateways.transmit(route, &[bytes.to_vec()]);
        }
    }
}
