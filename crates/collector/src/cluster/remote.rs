//! Gateways of other processes, as a worker answers them.

use super::connection::Connection;
use super::envelope::{MOST_TOGETHER, PacketDown, together};
use super::name::RoleName;
use super::subject;
use crate::gateway::{GatewayId, Gateways, Route, Transmit};
use crate::network::NetworkId;
use async_nats::Subject;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Inputs of gateways at most, in all networks. Servers let a gateway publish under its own name alone: more are a mistake.
const MOST_INPUTS: usize = 4096;
/// What is for meters and waits to be published, at most; more is lost, as by radio.
const MOST_WAITING: usize = 4096;
/// So much of it is sorted by gateways at once.
const TURN: usize = 256;

/// An input of a gateway.
type Input = (NetworkId, RoleName, u16);

/// Where it goes, and the packet.
type Waiting = (Subject, Vec<u8>);

/// The gateways that were heard so far.
pub(super) struct RemoteGateways {
    gateways: Arc<Gateways>,
    known: Mutex<HashMap<Input, GatewayId>>,
    down: mpsc::Sender<Waiting>,
    counts: Arc<RemoteCounts>,
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
    pub(super) fn start(connection: Connection, gateways: Arc<Gateways>) -> RemoteGateways {
        let (down, mut waiting) = mpsc::channel(MOST_WAITING);
        tokio::spawn(async move {
            let mut taken = Vec::new();
            while waiting.recv_many(&mut taken, TURN).await > 0 {
                for (subject, packets) in messages(taken.drain(..)) {
                    // While no server is there it would be too late.
                    if connection.is_connected() {
                        let _ = connection.client.publish(subject, together(&packets).into()).await;
                    }
                }
            }
        });
        RemoteGateways { gateways, known: Mutex::default(), down, counts: Arc::default() }
    }

    pub(super) fn counts(&self) -> &Arc<RemoteCounts> {
        &self.counts
    }

    /// The way back to where a packet was heard; `None` where there is no room for one more gateway.
    pub(super) fn route(
        &self,
        network: NetworkId,
        gateway: &RoleName,
        input: u16,
        peer: Option<SocketAddr>,
    ) -> Option<Route> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let full = known.len() >= MOST_INPUTS;
        let gateway = match known.entry((network, gateway.clone(), input)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(_) if full => {
                self.counts.unknown.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Entry::Vacant(entry) => {
                let (network, name, input) = entry.key();
                tracing::info!(gateway = %name, network = network.named(), input, "a gateway is heard");
                let subject = subject::down(*network, name).into();
                let sender =
                    Sender { subject, input: *input, down: self.down.clone(), counts: self.counts.clone() };
                *entry.insert(self.gateways.attach(Arc::new(sender)))
            }
        };
        Some(Route { gateway, peer })
    }
}

/// What goes to the same gateway goes together, in its order.
fn messages(waiting: impl Iterator<Item = Waiting>) -> Vec<(Subject, Vec<Vec<u8>>)> {
    let mut messages: Vec<(Subject, Vec<Vec<u8>>)> = Vec::new();
    for (subject, packet) in waiting {
        // The latest one to this gateway has room where any has.
        let latest = messages.iter_mut().rev().find(|(to, _)| *to == subject);
        match latest.filter(|(_, packets)| packets.len() < MOST_TOGETHER) {
            Some((_, packets)) => packets.push(packet),
            None => messages.push((subject, vec![packet])),
        }
    }
    messages
}

/// The way to an input of a gateway.
struct Sender {
    subject: Subject,
    input: u16,
    down: mpsc::Sender<Waiting>,
    counts: Arc<RemoteCounts>,
}

impl Transmit for Sender {
    fn transmit(&self, route: Route, packets: &[Vec<u8>]) {
        let down = PacketDown { input: self.input, peer: route.peer, packets: packets.to_vec() };
        let sent = self.down.try_send((self.subject.clone(), down.to_bytes())).is_ok();
        let count = if sent { &self.counts.sent } else { &self.counts.dropped };
        count.fetch_add(packets.len() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_one_gateway_goes_together_in_its_order() {
        let of = |to: &'static str, packet: u8| (Subject::from_static(to), vec![packet]);
        let many = (0..MOST_TOGETHER as u8 + 2).map(|packet| of("hall", packet));
        let waiting = [of("hall", 100), of("yard", 101)].into_iter().chain(many).chain([of("yard", 102)]);
        let messages = messages(waiting);
        let sizes: Vec<_> = messages.iter().map(|(to, packets)| (to.as_str(), packets.len())).collect();
        assert_eq!(sizes, [("hall", MOST_TOGETHER), ("yard", 2), ("hall", 3)]);
        let hall: Vec<u8> =
            messages.iter().filter(|(to, _)| to.as_str() == "hall").flat_map(|(_, of)| of.concat()).collect();
        assert_eq!(hall, std::iter::once(100).chain(0..MOST_TOGETHER as u8 + 2).collect::<Vec<_>>());
    }
}
