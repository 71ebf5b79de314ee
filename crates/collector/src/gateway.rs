//! What stands between the radio and the link: packets in, packets out, and nothing that has to be trusted.

pub mod serial;
pub mod udp;

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// Which gateway of the service, in the order that they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatewayId(pub u16);

/// Where a packet came from, and so where to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    pub gateway: GatewayId,
    /// Who spoke to it, where many may.
    pub peer: Option<SocketAddr>,
}

/// A packet that a gateway heard. Any bytes: nothing of it is true yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardPacket {
    pub route: Route,
    /// Address first, without the radio's length byte and check sum; at most `wire::meter::MOST_PACKET_BYTES` are of use.
    pub bytes: Vec<u8>,
    /// How strong it was, in dBm; `None` where the gateway does not say.
    pub rssi_dbm: Option<i8>,
}

/// Sends packets by radio. It may lose them, as a radio does, but it must not wait.
pub trait Transmit: Send + Sync {
    /// Packets to be sent one after the other, address first, to who was heard by this route.
    fn transmit(&self, route: Route, packets: &[Vec<u8>]);
}

/// The gateways of a service. Answers find their way here.
#[derive(Default)]
pub struct Gateways(RwLock<Vec<Arc<dyn Transmit>>>);

impl Gateways {
    /// Takes a gateway, whose packets name it by what this returns.
    pub fn attach(&self, gateway: Arc<dyn Transmit>) -> GatewayId {
        let mut gateways = self.0.write().unwrap_or_else(PoisonError::into_inner);
        gateways.push(gateway);
        // A service has a handful of them.
        GatewayId((gateways.len() - 1) as u16)
    }

    /// Packets to be sent one after the other to who was heard by this route. A gateway that there is not sends nothing.
    pub fn transmit(&self, route: Route, packets: &[Vec<u8>]) {
        let gateways = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(gateway) = gateways.get(usize::from(route.gateway.0)) {
            gateway.transmit(route, packets);
        }
    }
}
