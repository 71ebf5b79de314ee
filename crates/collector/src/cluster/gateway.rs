//! The role `gateway`: packets of its sockets and serial lines into JetStream, and what is to be
//! sent back to them. It has no keys, keeps nothing, and holds what fits; all else is lost, as by
//! radio, and counted.

use super::connection::{ClusterError, Connection, IN_FLIGHT_MAX, Nats};
use super::envelope::{MESSAGE_PACKETS_MAX, PacketDown, PacketUp, join_packets, split_packets};
use super::failover::Silence;
use super::health::{Figures, HealthListen};
use super::limits::Limits;
use super::name::RoleName;
use super::status::{Part, Status};
use super::subject;
use super::user::NatsUser;
use crate::api::metrics::Text;
use crate::gateway::serial::{SerialGateway, SerialLine};
use crate::gateway::udp::UdpGateway;
use crate::gateway::{GatewayId, Gateways, HeardPacket, Route};
use crate::network::{NetworkId, OfNetwork};
use crate::partition::finest_slice_of_packet;
use crate::traces::{PacketSpans, new_trace};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use opentelemetry::trace::TraceId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::Future;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, sleep_until};
use tokio_stream::StreamExt;

/// Packets that wait to be published at most.
const WAITING_MAX: usize = 4096;
/// A packet waits no longer than that for the one before it to be stored.
const TOGETHER_WITHIN: Duration = Duration::from_millis(10);
/// The time in which all packets have to be stored.
const FINE_AFTER: Duration = Duration::from_secs(1);
/// After a subscription ended, which it never should.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The configuration of `gateway`.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub nats: Nats,
    /// Its name in NATS, different from all other gateways.
    pub name: RoleName,
    pub udp: Vec<OfNetwork<SocketAddr>>,
    pub serial: Vec<OfNetwork<SerialLine>>,
    /// Packets a second that it takes at most.
    pub most_packets: NonZeroU32,
    pub health: Option<HealthListen>,
}

/// The addresses of a started gateway.
#[derive(Clone, Debug)]
pub struct GatewayStarted {
    pub udp: Vec<OfNetwork<SocketAddr>>,
    pub health: Option<SocketAddr>,
}

#[derive(Debug, Default)]
struct Counts {
    heard: AtomicU64,
    published: AtomicU64,
    sent: AtomicU64,
    /// Beyond the rate of a meter or of the gateway.
    limited: AtomicU64,
    /// For want of room.
    full: AtomicU64,
    /// While there was no connection.
    away: AtomicU64,
    /// Messages that JetStream did not store.
    refused: AtomicU64,
    /// Messages from NATS that are nothing to send.
    bad: AtomicU64,
}

impl Counts {
    fn write(&self, text: &mut Text) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counter = "counter";
        text.one(
            "wattseal_gateway_heard_packets_total",
            counter,
            "Packets that were heard",
            read(&self.heard),
        );
        let stored = read(&self.published);
        text.one(
            "wattseal_gateway_published_packets_total",
            counter,
            "Packets that JetStream stored",
            stored,
        );
        text.one(
            "wattseal_gateway_sent_packets_total",
            counter,
            "Packets that were to be sent",
            read(&self.sent),
        );
        let name = "wattseal_gateway_dropped_packets_total";
        text.head(name, counter, "Packets that were dropped, by reason; meters send them again");
        for (why, count) in [
            ("rate", &self.limited),
            ("full", &self.full),
            ("disconnected", &self.away),
            ("not-stored", &self.refused),
            ("malformed", &self.bad),
        ] {
            text.labelled(name, &[("why", why)], read(count));
        }
    }
}

fn count(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

impl Gateway {
    /// Runs until `stop`. ready: is called once it hears; by then there need be no server.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub async fn serve(
        self,
        ready: impl FnOnce(&GatewayStarted),
        stop: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let (status, counts) = (Status::default(), Arc::new(Counts::default()));
        let health = self
            .health
            .map(|health| health.serve("gateway", status.clone(), figures(&counts)))
            .transpose()?;
        let gateways = Arc::new(Gateways::default());
        let (heard, to_publish) = mpsc::channel(WAITING_MAX);
        let limits = Arc::new(Limits::new(self.most_packets));
        let hear = |network: NetworkId| {
            let (heard, limits, counts) = (heard.clone(), limits.clone(), counts.clone());
            move |packet: HeardPacket| {
                count(&counts.heard);
                if !limits.take(network, &packet.bytes) {
                    count(&counts.limited);
                } else if heard.try_send((network, packet, SystemTime::now())).is_err() {
                    count(&counts.full);
                }
            }
        };
        let Inputs { inputs, udp, serial: _serial } = Inputs::start(self.udp, self.serial, &gateways, hear)?;
        ready(&GatewayStarted {
            udp: udp
                .iter()
                .map(|(network, udp)| OfNetwork { network: *network, what: udp.address() })
                .collect(),
            health,
        });
        status.trouble(Part::Nats, "not connected yet");
        let networks: BTreeSet<NetworkId> = inputs.values().copied().collect();
        let user =
            NatsUser::Gateway { name: self.name.clone(), networks: networks.iter().copied().collect() };
        let (nats, name, looked_at) = (self.nats.clone(), self.name.clone(), status.clone());
        let work = async {
            let connection = self.nats.connect(&self.name, &status).await?;
            let mut tasks = JoinSet::new();
            let sender = Sender { gateways, inputs, counts: counts.clone() };
            let sender = Arc::new(sender);
            for network in networks {
                let subject = subject::down(network, &self.name);
                tasks.spawn(sender.clone().listen(connection.clone(), network, subject));
            }
            let publisher = Publisher {
                connection,
                name: self.name,
                status,
                counts,
                slices: HashMap::new(),
                stored: JoinSet::new(),
            };
            tasks.spawn(publisher.publish(to_publish));
            // They go on for ever.
            tasks.join_next().await;
            Err(ClusterError::Ended("gateway"))
        };
        let ended = tokio::select! {
            ended = work => ended,
            error = nats.refuse_wide_user(&user, &name, &looked_at) => Err(error),
            () = stop => Ok(()),
        };
        for (_, udp) in &udp {
            udp.stop();
        }
        ended
    }
}

/// The sockets and serial lines of a gateway; they end when they are dropped.
struct Inputs {
    /// The network of each, by its place among the gateways.
    inputs: BTreeMap<u16, NetworkId>,
    udp: Vec<(NetworkId, UdpGateway)>,
    serial: Vec<SerialGateway>,
}

impl Inputs {
    fn start<H: Fn(HeardPacket) + Send + Sync + 'static>(
        addresses: Vec<OfNetwork<SocketAddr>>,
        lines: Vec<OfNetwork<SerialLine>>,
        gateways: &Arc<Gateways>,
        hear: impl Fn(NetworkId) -> H,
    ) -> Result<Inputs, ClusterError> {
        let mut inputs = BTreeMap::new();
        let mut udp = Vec::new();
        for OfNetwork { network, what: address } in addresses {
            // Its place among the gateways is how many there were before.
            inputs.insert(inputs.len() as u16, network);
            let started = UdpGateway::start(address, gateways, hear(network));
            let started = started.map_err(|error| ClusterError::Udp { address, error })?;
            tracing::info!(address = %started.address(), network = network.named(), "UDP gateway");
            udp.push((network, started));
        }
        let mut serial = Vec::new();
        for OfNetwork { network, what: line } in lines {
            inputs.insert(inputs.len() as u16, network);
            serial.push(SerialGateway::start(line, gateways, hear(network)));
        }
        Ok(Inputs { inputs, udp, serial })
    }
}

fn figures(counts: &Arc<Counts>) -> Figures {
    let counts = counts.clone();
    Arc::new(move |mut text| {
        counts.write(&mut text);
        Box::pin(async { text })
    })
}

/// A network, and one of its finest slices: what has a subject.
type SliceOf = (NetworkId, u8);

/// The packets of a slice on their way into the stream. While JetStream stores a message, new
/// packets wait, and become the next one.
#[derive(Default)]
struct Slice {
    /// Messages that are not stored yet.
    on_the_way: usize,
    waiting: Vec<(Vec<u8>, Option<Box<PacketSpans>>)>,
    /// When the first of them was heard.
    since: Option<Instant>,
}

impl Slice {
    fn is_due(&self) -> bool {
        !self.waiting.is_empty() && self.on_the_way == 0 || self.waiting.len() >= MESSAGE_PACKETS_MAX
    }
}

/// The result of a published message, with its number of packets and its time.
type Stored = (SliceOf, usize, Instant, Result<(), PublishError>);

/// The way up.
struct Publisher {
    connection: Connection,
    name: RoleName,
    status: Status,
    counts: Arc<Counts>,
    slices: HashMap<SliceOf, Slice>,
    stored: JoinSet<Stored>,
}

impl Publisher {
    async fn publish(mut self, mut heard: mpsc::Receiver<(NetworkId, HeardPacket, SystemTime)>) {
        // When a packet was not stored last, and when one was since.
        let (mut failed_at, mut stored_at): (Option<Instant>, Option<Instant>) = (None, None);
        let mut ticks = interval(FINE_AFTER);
        let mut silence = Silence::default();
        loop {
            let earliest = self.slices.values().filter_map(|slice| slice.since).min();
            let waited = earliest.map(|since| since + TOGETHER_WITHIN);
            tokio::select! {
                packet = heard.recv(), if self.stored.len() < IN_FLIGHT_MAX => {
                    let Some((network, packet, heard_at)) = packet else { return };
                    self.heard(network, packet, heard_at).await;
                }
                Some(outcome) = self.stored.join_next() => match outcome {
                    Ok((of, packets, _, Ok(()))) => {
                        self.counts.published.fetch_add(packets as u64, Ordering::Relaxed);
                        stored_at = Some(Instant::now());
                        silence.answered();
                        self.came_back(of).await;
                    }
                    Ok((of, packets, published_at, Err(error))) => {
                        self.counts.refused.fetch_add(packets as u64, Ordering::Relaxed);
                        // No answer is an answer that comes late: of one that was published later
                        // it may be known that it is stored.
                        if stored_at.is_none_or(|at| at < published_at) {
                            (failed_at, stored_at) = (Some(Instant::now()), None);
                            silence.unanswered(&self.connection);
                            self.status.trouble(Part::JetStream, reject_report(&error));
                        }
                        self.came_back(of).await;
                    }
                    // It was not cancelled, and does not panic.
                    Err(_) => {}
                },
                () = sleep_until(waited.unwrap_or_else(Instant::now).into()), if waited.is_some() => {
                    let old = |slice: &Slice| slice.since.is_some_and(|since| since.elapsed() >= TOGETHER_WITHIN);
                    let old: Vec<SliceOf> = self.slices.iter().filter(|(_, slice)| old(slice)).map(|(of, _)| *of).collect();
                    for of in old {
                        self.send(of).await;
                    }
                }
                _ = ticks.tick() => if stored_at.is_some() && failed_at.is_none_or(|at| at.elapsed() > FINE_AFTER) {
                    self.status.fine(Part::JetStream);
                },
            }
        }
    }

    async fn heard(&mut self, network: NetworkId, packet: HeardPacket, heard_at: SystemTime) {
        if !self.connection.is_connected() {
            // Waiting packets would be too late.
            count(&self.counts.away);
            return;
        }
        let of = (network, finest_slice_of_packet(&packet.bytes));
        let trace = new_trace();
        let spans = PacketSpans::of(trace, network, &packet.bytes, heard_at);
        tracing::debug!(trace_id = %trace, network = network.named(), "a packet is heard");
        let slice = self.slices.entry(of).or_default();
        slice.waiting.push((up(packet, trace, heard_at).to_bytes(), spans));
        slice.since.get_or_insert_with(Instant::now);
        if slice.is_due() {
            self.send(of).await;
        }
    }

    /// A message of this slice is on its way no more.
    async fn came_back(&mut self, of: SliceOf) {
        let slice = self.slices.entry(of).or_default();
        slice.on_the_way -= 1;
        if slice.is_due() {
            self.send(of).await;
        }
    }

    /// Publishes what waits of a slice.
    async fn send(&mut self, (network, finest): SliceOf) {
        let slice = self.slices.entry((network, finest)).or_default();
        slice.since = None;
        let (packets, spans): (Vec<_>, Vec<_>) = slice.waiting.drain(..).unzip();
        let subject = subject::up(network, finest, &self.name);
        match self.connection.jetstream.publish(subject, join_packets(&packets).into()).await {
            Ok(acknowledgement) => {
                slice.on_the_way += 1;
                let published_at = Instant::now();
                self.stored.spawn(async move {
                    let stored = acknowledgement.await.map(drop);
                    if stored.is_ok() {
                        spans.iter().flatten().for_each(|spans| spans.first("hear"));
                    }
                    ((network, finest), packets.len(), published_at, stored)
                });
            }
            Err(_) => drop(self.counts.full.fetch_add(packets.len() as u64, Ordering::Relaxed)),
        }
    }
}

fn reject_report(error: &PublishError) -> String {
    match error.kind() {
        PublishErrorKind::StreamNotFound => {
            "packets are not stored: there is no stream for them; has a worker made it? \
             A worker makes it at its start"
                .to_owned()
        }
        PublishErrorKind::TimedOut => {
            "packets are not stored: JetStream does not answer. No worker made the stream yet, it has no \
             leader, or this user may not publish these subjects: the log says what the server said"
                .to_owned()
        }
        _ => format!("packets are not stored: {}", super::connection::chain(error)),
    }
}

fn up(HeardPacket { route, bytes, rssi_dbm }: HeardPacket, trace: TraceId, heard_at: SystemTime) -> PacketUp {
    let since = heard_at.duration_since(UNIX_EPOCH);
    PacketUp {
        trace: trace.to_bytes(),
        heard_ms: since.map_or(0, |since| since.as_millis() as i64),
        rssi_dbm,
        // It has a handful of them.
        input: route.gateway.number as u16,
        peer: route.peer,
        packet: bytes,
    }
}

/// The way down.
struct Sender {
    gateways: Arc<Gateways>,
    /// The network of each input.
    inputs: BTreeMap<u16, NetworkId>,
    counts: Arc<Counts>,
}

impl Sender {
    async fn listen(self: Arc<Self>, connection: Connection, network: NetworkId, subject: String) {
        loop {
            match connection.client.subscribe(subject.clone()).await {
                Ok(mut messages) => {
                    while let Some(message) = messages.next().await {
                        self.send(network, &message.payload);
                    }
                }
                Err(error) => tracing::warn!(%error, subject, "nothing is heard of what is to be sent"),
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    fn send(&self, network: NetworkId, message: &[u8]) {
        let Some(packets) = split_packets(message) else { return count(&self.counts.bad) };
        for bytes in packets {
            match PacketDown::from_bytes(bytes) {
                // An input is of one network, against any worker of another.
                Some(PacketDown { input, peer, packets }) if self.inputs.get(&input) == Some(&network) => {
                    self.counts.sent.fetch_add(packets.len() as u64, Ordering::Relaxed);
                    self.gateways.transmit(Route { gateway: GatewayId::of(input.into()), peer }, &packets);
                }
                _ => count(&self.counts.bad),
            }
        }
    }
}
