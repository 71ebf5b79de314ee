//! Gateways of other processes, as a worker answers them.

use super::connection::Connection;
use super::envelope::PacketDown;
use super::name::RoleName;
use super::subject;
use crate::gateway::{GatewayId, Gateways, Route, Transmit};
use crate::network::NetworkId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Inputs of gateways at most, in all networks. Servers let a gateway publish under its own name alone: more are a mistake.
const MOST_INPUTS: usize = 4096;
/// Messages that wait to be published at most; more are lost, as by radio.
const MOST_WAITING: usize = 4096;

/// An input of a gateway.
type Input = (NetworkId, RoleName, u16);

/// The gateways that were heard so far.
pub(super) struct RemoteGateways {
    gateways: Arc<Gateways>,
    known: Mutex<HashMap<Input, GatewayId>>,
    down: mpsc::Sender<(String, Vec<u8>)>,
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
        let (down, mut waiting) = mpsc::channel::<(String, Vec<u8>)>(MOST_WAITING);
        tokio::spawn(async move {
            while let Some((subject, bytes)) = waiting.recv().await {
                // While no server is there it would be too late.
                if connection.is_connected() {
                    let _ = connection.client.publish(subject, bytes.into()).await;
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
        gateway: RoleName,
        input: u16,
        peer: Option<SocketAddr>,
    ) -> Option<Route> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let full = known.len() >= MOST_INPUTS;
        let gateway = match known.entry((network, gateway, input)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(_) if full => {
                self.counts.unknown.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Entry::Vacant(entry) => {
                let (network, name, input) = entry.key();
                tracing::info!(gateway = %name, network = network.named(), input, "a gateway is heard");
                let subject = subject::down(*network, name);
                let sender =
                    Sender { subject, input: *input, down: self.down.clone(), counts: self.counts.clone() };
                *entry.insert(self.gateways.attach(Arc::new(sender)))
            }
        };
        Some(Route { gateway, peer })
    }
}

/// The way to an input of a gateway.
struct Sender {
    subject: String,
    input: u16,
    down: mpsc::Sender<(String, Vec<u8>)>,
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
