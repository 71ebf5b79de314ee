//! Ports on loopback for what tests start, or for nobody.

use std::net::{Ipv4Addr, SocketAddr};

/// An address on loopback that nobody has, by TCP or UDP, and that the kernel gives to nobody.
///
/// # Panics
/// If the system has no free port.
#[must_use]
pub fn free_address() -> SocketAddr {
    let ports = crate::servers::ports::free_ports(1).expect("a free port");
    SocketAddr::from((Ipv4Addr::LOCALHOST, ports[0]))
}
