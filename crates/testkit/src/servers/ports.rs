//! Ports on loopback for servers that are told theirs, and have it again after a restart.

use crate::servers::ServerError;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The kernel's own range, of which it takes ports for connections and for requests of port 0
/// (ip(7)).
const EPHEMERAL: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// Below are ports of services.
const FIRST: u16 = 10_000;
/// Processes begin this far from each other.
const BY_PROCESS: u32 = 64;
/// Number of ports that this process has taken.
static TAKEN: Mutex<u32> = Mutex::new(0);

/// Ports that nobody has at the moment, by TCP or UDP, and that this process did not get before.
/// The kernel gives none of them to anybody in the meantime.
///
/// # Errors
/// If all are taken, or the system gives no socket.
pub fn free_ports(count: usize) -> Result<Vec<u16>, ServerError> {
    let range = outside(std::fs::read_to_string(EPHEMERAL).ok().as_deref());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ports = Vec::new();
    while ports.len() < count {
        if *taken >= u32::from(range.end - range.start) {
            let error = std::io::ErrorKind::AddrNotAvailable.into();
            return Err(ServerError::io("a free port on 127.0.0.1")(error));
        }
        let port = nth(&range, std::process::id().wrapping_mul(BY_PROCESS).wrapping_add(*taken));
        *taken += 1;
        if is_free(port)? {
            ports.push(port);
        }
    }
    Ok(ports)
}

fn nth(range: &Range<u16>, number: u32) -> u16 {
    // Less than the length, which is a `u16`.
    range.start + (number % u32::from(range.end - range.start)) as u16
}

/// Returns the ports that the kernel does not give by itself. If they are not known, or the kernel
/// gives all ports, it is the range that services leave.
fn outside(ephemeral: Option<&str>) -> Range<u16> {
    let first = ephemeral.and_then(|text| text.split_whitespace().next()?.parse().ok());
    FIRST..first.filter(|first| *first > FIRST + 1_000).unwrap_or(u16::MAX)
}

fn is_free(port: u16) -> Result<bool, ServerError> {
    let at = (Ipv4Addr::LOCALHOST, port);
    let bound = TcpListener::bind(at).and_then(|tcp| Ok((tcp, UdpSocket::bind(at)?)));
    match bound {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Ok(false),
        Err(error) => Err(ServerError::io("a free port on 127.0.0.1")(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_gives_none_of_them_to_another() {
        let ports = free_ports(40).expect("ports");
        let connections: Vec<_> =
            (0..2_000).map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port")).collect();
        let others = connections.iter().map(|socket| socket.local_addr().expect("bound").port());
        let met: Vec<_> = others.filter(|other| ports.contains(other)).collect();
        assert!(met.is_empty(), "{met:?}");
        for port in &ports {
            assert!(is_free(*port).expect("a socket"), "{port}");
        }
        let more = free_ports(40).expect("ports");
        assert!(more.iter().all(|port| !ports.contains(port)), "{ports:?} {more:?}");
    }

    #[test]
    fn port_in_use_is_not_given() {
        let [next] = free_ports(1).expect("a port")[..] else { panic!("one port") };
        for is_tcp in [true, false] {
            let at = (Ipv4Addr::LOCALHOST, next);
            let tcp = is_tcp.then(|| TcpListener::bind(at).expect("it is free"));
            let udp = (!is_tcp).then(|| UdpSocket::bind(at).expect("it is free"));
            assert!(!is_free(next).expect("a socket"), "{tcp:?} {udp:?}");
        }
    }

    #[test]
    fn outside_what_the_kernel_gives() {
        assert_eq!(outside(Some("32768\t60999\n")), FIRST..32_768);
        for text in [Some("1024 65535"), Some("10500 65535"), Some("?"), None] {
            assert_eq!(outside(text), FIRST..u16::MAX, "{text:?}");
        }
    }
}
