//! The gateways between the radio and the session: packets in, packets out. Nothing in them has to
//! be trusted.

pub mod serial;
pub mod udp;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// The number of a gateway in the service, in the order of the command line, with the number of its
/// input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatewayId {
    /// One that goes leaves its number to no other.
    pub number: u32,
    /// The gateway's own choice.
    pub input: u16,
}

impl GatewayId {
    /// The gateway with this number, and its first input.
    #[must_use]
    pub const fn of(number: u32) -> GatewayId {
        GatewayId { number, input: 0 }
    }
}

/// The origin of a packet, to which answers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    pub gateway: GatewayId,
    /// The sender, for a gateway with several.
    pub peer: Option<SocketAddr>,
}

/// A packet that a gateway heard. Any bytes: nothing of it is true yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardPacket {
    pub route: Route,
    /// Address first, without the radio's length byte and check sum; at most
    /// `wire::meter::PACKET_BYTES_MAX` are of use.
    pub bytes: Vec<u8>,
    /// The signal strength in dBm; `None` if the gateway does not report it.
    pub rssi_dbm: Option<i8>,
}

/// Sends packets by radio. It may lose them, as a radio does, but it must not wait.
pub trait Transmit: Send + Sync {
    /// Packets to be sent one after the other, address first, to who was heard by this route.
    fn transmit(&self, route: Route, packets: &[Vec<u8>]);
}

/// The gateways of a service. Answers find their way here.
#[derive(Default)]
pub struct Gateways(RwLock<Attached>);

#[derive(Default)]
struct Attached {
    next: u32,
    gateways: HashMap<u32, Arc<dyn Transmit>>,
}

impl Gateways {
    /// Takes a gateway, whose packets name it by what this returns.
    pub fn attach(&self, gateway: Arc<dyn Transmit>) -> GatewayId {
        let mut attached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let number = attached.next;
        attached.next = number.wrapping_add(1);
        attached.gateways.insert(number, gateway);
        GatewayId::of(number)
    }

    /// Forgets a gateway.
    pub fn detach(&self, gateway: GatewayId) {
        let mut attached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        attached.gateways.remove(&gateway.number);
    }

    /// Packets to be sent one after the other to who was heard by this route. A gateway that there
    /// is not sends nothing.
    pub fn transmit(&self, route: Route, packets: &[Vec<u8>]) {
        let attached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(gateway) = attached.gateways.get(&route.gateway.number) {
            gateway.transmit(route, packets);
        }
    }
}
