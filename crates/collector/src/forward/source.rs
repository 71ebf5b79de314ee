//! The sources of packets, as far as they can be told apart.

use crate::gateway::{GatewayId, Route};
use crate::source_prefix::source_prefix;
use std::net::IpAddr;

/// The gateway and, if it has many senders, the address: its holder has all its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Source {
    gateway: GatewayId,
    address: Option<IpAddr>,
}

impl From<Route> for Source {
    fn from(route: Route) -> Source {
        Source { gateway: route.gateway, address: route.peer.map(|peer| source_prefix(peer.ip())) }
    }
}
