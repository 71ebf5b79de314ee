//! Gateways of other processes, as a worker answers them.

use super::connection::Connection;
use super::envelope::{MESSAGE_PACKETS_MAX, PacketDown, join_packets};
use super::name::RoleName;
use super::subject;
use crate::gateway::{GatewayId, Gateways, Route, Transmit};
use crate::network::NetworkId;
use async_nats::Subject;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Gateways at most, in all networks. A gateway has one place, however many inputs it names: it
/// chooses their numbers itself.
const GATEWAYS_MAX: usize = 4096;
/// The silence after which a gateway leaves its place to another, if none is free.
const IDLE_FOR: Duration = Duration::from_secs(60);
/// The time for which a refusal is reported.
const REFUSAL_TOLD_FOR: Duration = Duration::from_secs(60);
/// Packets for meters that wait to be published, at most; more are lost, as by radio.
const WAITING_MAX: usize = 8192;
/// Packets of one gateway among them, at most. A batch of the store may acknowledge reports of one
/// gateway only.
const GATEWAY_WAITING_MAX: usize = WAITING_MAX / 2;
/// So much of it is sorted by gateways at once.
const TURN: usize = 256;

/// A packet with its destination.
type Waiting = (Arc<Destination>, Vec<u8>);

/// A gateway's subject, and how much waits to be published there.
#[derive(Debug)]
struct Destination {
    subject: Subject,
    waiting: AtomicUsize,
}

/// The gateways that were heard so far.
pub(super) struct RemoteGateways {
    gateways: Arc<Gateways>,
    known: Mutex<Known>,
    down: mpsc::Sender<Waiting>,
    counts: Arc<RemoteCounts>,
}

#[derive(Default)]
struct Known {
    places: HashMap<NetworkId, HashMap<RoleName, DatabaseUrl>>,
    count: usize,
    /// When a gateway was refused last.
    refused: Option<Instant>,
}

struct DatabaseUrl {
    gateway: GatewayId,
    /// When it was heard last.
    heard: Instant,
}

#[derive(Debug, Default)]
pub(super) struct RemoteCounts {
    pub(super) sent: AtomicU64,
    /// For want of room.
    pub(super) dropped: AtomicU64,
    /// Packets of gateways for which there is no room.
    pub(super) unknown: AtomicU64,
}

impl RemoteGateways {
    /// Answers by this connection, on a task that ends with the connection's process.
    pub(super) fn start(
        connection: Connection,
        gateways: Arc<Gateways>,
        counts: Arc<RemoteCounts>,
    ) -> RemoteGateways {
        let (down, mut waiting) = mpsc::channel::<Waiting>(WAITING_MAX);
        tokio::spawn(async move {
            let mut taken = Vec::new();
            while waiting.recv_many(&mut taken, TURN).await > 0 {
                let taken = taken.drain(..).map(|(to, packet)| {
                    to.waiting.fetch_sub(1, Ordering::Relaxed);
                    (to.subject.clone(), packet)
                });
                for (subject, packets) in messages(taken) {
                    // While no server is there it would be too late.
                    if connection.is_connected() {
                        let _ = connection.client.publish(subject, join_packets(&packets).into()).await;
                    }
                }
            }
        });
        RemoteGateways { gateways, known: Mutex::default(), down, counts }
    }

    /// The way back to where a packet was heard; `None` where there is no room for one more
    /// gateway.
    pub(super) fn route(
        &self,
        network: NetworkId,
        gateway: &RoleName,
        input: u16,
        peer: Option<SocketAddr>,
    ) -> Option<Route> {
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.places.get_mut(&network).and_then(|of| of.get_mut(gateway));
        let GatewayId { number, .. } = match place {
            Some(place) => {
                place.heard = now;
                place.gateway
            }
            None => self.give_place(&mut known, (network, gateway), now)?,
        };
        Some(Route { gateway: GatewayId { number, input }, peer })
    }

    /// A place for a gateway that is heard for the first time.
    fn give_place(
        &self,
        known: &mut Known,
        (network, name): (NetworkId, &RoleName),
        now: Instant,
    ) -> Option<GatewayId> {
        if known.count >= GATEWAYS_MAX && !self.free_place(known, now) {
            known.refused = Some(now);
            self.counts.unknown.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        tracing::info!(gateway = %name, network = network.named(), "a gateway is heard");
        let to = Destination { subject: subject::down(network, name).into(), waiting: AtomicUsize::new(0) };
        let sender = Sender { to: Arc::new(to), down: self.down.clone(), counts: self.counts.clone() };
        let gateway = self.gateways.attach(Arc::new(sender));
        known.places.entry(network).or_default().insert(name.clone(), DatabaseUrl { gateway, heard: now });
        known.count += 1;
        Some(gateway)
    }

    /// Takes the place of the gateway that was not heard for the longest time, if that was long
    /// enough.
    fn free_place(&self, known: &mut Known, now: Instant) -> bool {
        let all = known.places.iter();
        let all = all.flat_map(|(network, of)| of.iter().map(move |(name, place)| (*network, name, place)));
        let Some((network, name, place)) = all.min_by_key(|(.., place)| place.heard) else { return false };
        if now.duration_since(place.heard) < IDLE_FOR {
            return false;
        }
        let (name, gateway) = (name.clone(), place.gateway);
        if let Some(of) = known.places.get_mut(&network) {
            of.remove(&name);
            if of.is_empty() {
                known.places.remove(&network);
            }
        }
        known.count -= 1;
        self.gateways.detach(gateway);
        true
    }

    /// The reason why gateways are refused, if some were lately.
    pub(super) fn trouble(&self) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = known.refused.is_some_and(|refused| refused.elapsed() < REFUSAL_TOLD_FOR);
        lately.then(|| {
            format!(
                "gateways are refused: {GATEWAYS_MAX} others were heard within {} s; look at the users of the NATS servers",
                IDLE_FOR.as_secs()
            )
        })
    }
}

/// Joins the packets for each gateway, in their order.
fn messages(waiting: impl Iterator<Item = (Subject, Vec<u8>)>) -> Vec<(Subject, Vec<Vec<u8>>)> {
    let mut messages: Vec<(Subject, Vec<Vec<u8>>)> = Vec::new();
    for (subject, packet) in waiting {
        // The latest one to this gateway has room where any has.
        let latest = messages.iter_mut().rev().find(|(to, _)| *to == subject);
        match latest.filter(|(_, packets)| packets.len() < MESSAGE_PACKETS_MAX) {
            Some((_, packets)) => packets.push(packet),
            None => messages.push((subject, vec![packet])),
        }
    }
    messages
}

/// The way to a gateway.
struct Sender {
    to: Arc<Destination>,
    down: mpsc::Sender<Waiting>,
    counts: Arc<RemoteCounts>,
}

impl Transmit for Sender {
    fn transmit(&self, route: Route, packets: &[Vec<u8>]) {
        let down = PacketDown { input: route.gateway.input, peer: route.peer, packets: packets.to_vec() };
        let has_room = self.to.waiting.fetch_add(1, Ordering::Relaxed) < GATEWAY_WAITING_MAX;
        let sent = has_room && self.down.try_send((self.to.clone(), down.to_bytes())).is_ok();
        if !sent {
            self.to.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        let count = if sent { &self.counts.sent } else { &self.counts.dropped };
        count.fetch_add(packets.len() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a connection: packets to gateways stay where they wait.
    fn remote() -> (RemoteGateways, mpsc::Receiver<Waiting>) {
        let (down, waiting) = mpsc::channel(WAITING_MAX);
        let (gateways, counts) = (Arc::default(), Arc::default());
        (RemoteGateways { gateways, known: Mutex::default(), down, counts }, waiting)
    }

    fn name(name: &str) -> RoleName {
        name.parse().expect("a name")
    }

    #[test]
    fn gateway_naming_any_input_has_one_route_and_gets_its_answer() {
        let (remote, mut waiting) = remote();
        let routes: Vec<Route> = (0..=u16::MAX)
            .filter_map(|input| remote.route(NetworkId(7), &name("hall"), input, None))
            .collect();
        assert_eq!(routes.len(), 1 << 16);
        let yard = remote.route(NetworkId::DEFAULT, &name("yard"), 3, None).expect("there is room");
        assert_ne!(yard.gateway.number, routes[0].gateway.number);
        assert_eq!(remote.known.lock().expect("a lock").count, 2);
        for route in [routes[4711], yard] {
            remote.gateways.transmit(route, &[vec![1]]);
            let (to, packet) = waiting.try_recv().expect("it waits");
            let of = if route == yard { "wattseal.0.down.yard" } else { "wattseal.7.down.hall" };
            assert_eq!(to.subject.as_str(), of);
            let down = PacketDown::from_bytes(&packet).expect("a packet");
            assert_eq!(down.input, route.gateway.input);
        }
    }

    #[test]
    fn gateway_table_is_bounded_and_drops_silent_gateways() {
        let (remote, mut waiting) = remote();
        let route = |name: String| remote.route(NetworkId(7), &name.parse().expect("a name"), 0, None);
        let first = route("g0".to_owned()).expect("there is room");
        assert!((1..GATEWAYS_MAX).all(|number| route(format!("g{number}")).is_some()));
        assert_eq!((route("late".to_owned()), remote.trouble().is_some()), (None, true));
        assert_eq!(remote.counts.unknown.load(Ordering::Relaxed), 1);
        let mut known = remote.known.lock().expect("a lock");
        let place = known.places.get_mut(&NetworkId(7)).and_then(|of| of.get_mut(&name("g0")));
        place.expect("it is known").heard -= IDLE_FOR;
        drop(known);
        let late = route("late".to_owned()).expect("a place is free");
        assert_ne!(late.gateway.number, first.gateway.number);
        remote.gateways.transmit(first, &[vec![1]]);
        assert!(waiting.try_recv().is_err(), "nobody is answered in the place of another");
        assert_eq!(route("g0".to_owned()), None);
    }

    #[test]
    fn packets_that_wait_for_one_gateway_leave_room_for_others() {
        let (remote, _waiting) = remote();
        let hall = remote.route(NetworkId(7), &name("hall"), 0, None).expect("there is room");
        let yard = remote.route(NetworkId(7), &name("yard"), 0, None).expect("there is room");
        (0..2 * WAITING_MAX).for_each(|_| remote.gateways.transmit(hall, &[vec![1]]));
        remote.gateways.transmit(yard, &[vec![1]]);
        let sent = remote.counts.sent.load(Ordering::Relaxed);
        assert_eq!(sent, GATEWAY_WAITING_MAX as u64 + 1);
    }

    #[test]
    fn packets_to_one_gateway_are_joined_in_order() {
        let of = |to: &'static str, packet: u8| (Subject::from_static(to), vec![packet]);
        let many = (0..MESSAGE_PACKETS_MAX as u8 + 2).map(|packet| of("hall", packet));
        let waiting = [of("hall", 100), of("yard", 101)].into_iter().chain(many).chain([of("yard", 102)]);
        let messages = messages(waiting);
        let sizes: Vec<_> = messages.iter().map(|(to, packets)| (to.as_str(), packets.len())).collect();
        assert_eq!(sizes, [("hall", MESSAGE_PACKETS_MAX), ("yard", 2), ("hall", 3)]);
        let hall: Vec<u8> =
            messages.iter().filter(|(to, _)| to.as_str() == "hall").flat_map(|(_, of)| of.concat()).collect();
        assert_eq!(hall, std::iter::once(100).chain(0..MESSAGE_PACKETS_MAX as u8 + 2).collect::<Vec<_>>());
    }
}
