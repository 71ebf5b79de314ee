//! Packets on their way between gateways and workers. docs/how-to/cluster.md, "Packets in NATS". Any bytes
//! may come: nothing of them is true yet. Numbers are big-endian, as on the air.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use wire::meter::PACKET_BYTES_MAX;

/// The first byte of each message.
const VERSION: u8 = 2;
/// Of a message at most: with more of them each costs hardly less.
pub const MESSAGE_PACKETS_MAX: usize = 32;
/// The strength where it is not known, as in a UDP gateway's datagrams.
const NOT_KNOWN: i8 = 127;
/// Packets of a meter's message: docs/reference/protocol.md, "Packets".
const PACKETS_MAX: usize = 3;

/// Joins some packets into one message, in their order; at most [`MESSAGE_PACKETS_MAX`], each as
/// `to_bytes` makes it.
#[must_use]
pub fn join_packets<B: AsRef<[u8]>>(packets: &[B]) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    for packet in packets {
        // At most 211: what `PacketDown` has of three.
        bytes.push(packet.as_ref().len() as u8);
        bytes.extend(packet.as_ref());
    }
    bytes
}

/// The packets of a message, for `from_bytes`; `None` for what is no message.
#[must_use]
pub fn split_packets(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = bytes.strip_prefix(&[VERSION])?;
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let [length] = take(&mut rest)?;
        let (packet, behind) = rest.split_at_checked(usize::from(length))?;
        packets.push(packet);
        rest = behind;
    }
    (1..=MESSAGE_PACKETS_MAX).contains(&packets.len()).then_some(packets)
}

/// A packet that a gateway heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketUp {
    /// Names this packet in all logs.
    pub trace: [u8; 16],
    /// When it was heard, in Unix ms, by the gateway's clock.
    pub heard_ms: i64,
    /// The signal strength in dBm; `None`: the radio does not report it.
    pub rssi_dbm: Option<i8>,
    /// The number of the gateway's socket or serial line that heard it.
    pub input: u16,
    /// The sender there, for an input with several.
    pub peer: Option<SocketAddr>,
    /// Address first; 1 to 61 bytes.
    pub packet: Vec<u8>,
}

/// Packets that a gateway is to send, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketDown {
    /// The input that heard the meter.
    pub input: u16,
    pub peer: Option<SocketAddr>,
    /// 1 to 3, address first, each of 1 to 61 bytes.
    pub packets: Vec<Vec<u8>>,
}

impl PacketUp {
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.trace.to_vec();
        bytes.extend(self.heard_ms.to_be_bytes());
        bytes.extend(self.rssi_dbm.unwrap_or(NOT_KNOWN).to_be_bytes());
        put_origin(&mut bytes, self.input, self.peer);
        bytes.extend(&self.packet);
        bytes
    }

    /// `None` for what is none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<PacketUp> {
        let mut rest = bytes;
        let trace = take(&mut rest)?;
        let heard_ms = i64::from_be_bytes(take(&mut rest)?);
        let rssi_dbm = i8::from_be_bytes(take(&mut rest)?);
        let (input, peer) = take_origin(&mut rest)?;
        let rssi_dbm = (rssi_dbm != NOT_KNOWN).then_some(rssi_dbm);
        is_packet(rest).then(|| PacketUp { trace, heard_ms, rssi_dbm, input, peer, packet: rest.to_vec() })
    }
}

impl PacketDown {
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_origin(&mut bytes, self.input, self.peer);
        for packet in &self.packets {
            // At most 61.
            bytes.push(packet.len() as u8);
            bytes.extend(packet);
        }
        bytes
    }

    /// `None` for what is none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<PacketDown> {
        let mut rest = bytes;
        let (input, peer) = take_origin(&mut rest)?;
        let mut packets = Vec::new();
        while !rest.is_empty() {
            let [length] = take(&mut rest)?;
            let (packet, behind) = rest.split_at_checked(usize::from(length))?;
            packets.push(packet.to_vec());
            rest = behind;
        }
        let fits =
            (1..=PACKETS_MAX).contains(&packets.len()) && packets.iter().all(|packet| is_packet(packet));
        fits.then_some(PacketDown { input, peer, packets })
    }
}

fn is_packet(bytes: &[u8]) -> bool {
    (1..=PACKET_BYTES_MAX).contains(&bytes.len())
}

/// The input, and the peer: 0, or 4 with an address and a port, or 6 with an address, a port and a
/// scope.
fn put_origin(bytes: &mut Vec<u8>, input: u16, peer: Option<SocketAddr>) {
    bytes.extend(input.to_be_bytes());
    match peer {
        None => bytes.push(0),
        Some(SocketAddr::V4(peer)) => {
            bytes.push(4);
            bytes.extend(peer.ip().octets());
            bytes.extend(peer.port().to_be_bytes());
        }
        Some(SocketAddr::V6(peer)) => {
            bytes.push(6);
            bytes.extend(peer.ip().octets());
            bytes.extend(peer.port().to_be_bytes());
            bytes.extend(peer.scope_id().to_be_bytes());
        }
    }
}

fn take_origin(rest: &mut &[u8]) -> Option<(u16, Option<SocketAddr>)> {
    let input = u16::from_be_bytes(take(rest)?);
    let peer = match take(rest)? {
        [0] => None,
        [4] => {
            let address = IpAddr::V4(Ipv4Addr::from(take::<4>(rest)?));
            Some(SocketAddr::new(address, u16::from_be_bytes(take(rest)?)))
        }
        [6] => {
            let address = Ipv6Addr::from(take::<16>(rest)?);
            let (port, scope) = (u16::from_be_bytes(take(rest)?), u32::from_be_bytes(take(rest)?));
            Some(SocketAddrV6::new(address, port, 0, scope).into())
        }
        _ => return None,
    };
    Some((input, peer))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::option;
    use proptest::prelude::*;

    #[test]
    fn byte_by_byte() {
        let peer = Some("10.0.0.2:7878".parse().expect("an address"));
        let up = PacketUp {
            trace: *b"0123456789abcdef",
            heard_ms: 1,
            rssi_dbm: Some(-61),
            input: 2,
            peer,
            packet: vec![0x4f, 8],
        };
        let origin = [0, 2, 4, 10, 0, 0, 2, 30, 198];
        let head = [&b"0123456789abcdef"[..], &[0, 0, 0, 0, 0, 0, 0, 1, 0xc3], &origin].concat();
        assert_eq!(up.to_bytes(), [&head[..], &[0x4f, 8]].concat());
        assert_eq!(PacketUp::from_bytes(&head), None);
        let down = PacketDown { input: 2, peer, packets: vec![vec![0x4f, 8], vec![1]] };
        assert_eq!(down.to_bytes(), [&origin[..], &[2, 0x4f, 8, 1, 1]].concat());
        for none in [&[][..], &[0, 2, 0], &[0, 2, 0, 0], &[0, 2, 0, 2, 1], &[0, 2, 7, 1, 1]] {
            assert_eq!(PacketDown::from_bytes(none), None, "{none:?}");
        }
        assert_eq!(join_packets(&[&[7, 8][..], &[9]]), [2, 2, 7, 8, 1, 9]);
        let many = join_packets(&[[0]; MESSAGE_PACKETS_MAX + 1]);
        for none in [&[][..], &[2], &[1, 1, 9], &[2, 2, 9], &[2, 1, 9, 1], &many] {
            assert_eq!(split_packets(none), None, "{none:?}");
        }
    }

    fn peer() -> impl Strategy<Value = Option<SocketAddr>> {
        let v6 = any::<(Ipv6Addr, u16, u32)>();
        let v6 = v6.prop_map(|(ip, port, scope)| SocketAddr::from(SocketAddrV6::new(ip, port, 0, scope)));
        let v4 = any::<(Ipv4Addr, u16)>().prop_map(|(ip, port)| SocketAddr::from((ip, port)));
        option::of(prop_oneof![v4, v6])
    }

    fn packet() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 1..=61)
    }

    proptest! {
        #[test]
        fn published_message_is_received(
            trace: [u8; 16],
            heard_ms: i64,
            rssi_dbm in option::of(-128i8..=126),
            input: u16,
            peer in peer(),
            packets in prop::collection::vec(packet(), 1..=3),
        ) {
            let up = PacketUp { trace, heard_ms, rssi_dbm, input, peer, packet: packets[0].clone() };
            prop_assert_eq!(PacketUp::from_bytes(&up.to_bytes()), Some(up));
            let down = PacketDown { input, peer, packets };
            prop_assert_eq!(PacketDown::from_bytes(&down.to_bytes()), Some(down));
        }

        #[test]
        fn packets_go_together(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..=211), 1..=MESSAGE_PACKETS_MAX)) {
            let message = join_packets(&packets);
            prop_assert_eq!(split_packets(&message), Some(packets.iter().map(Vec::as_slice).collect()));
        }

        #[test]
        fn any_bytes_are_a_packet_or_nothing(mut bytes in prop::collection::vec(any::<u8>(), 0..140), ours: bool) {
            if let Some(up) = PacketUp::from_bytes(&bytes) {
                prop_assert_eq!(up.to_bytes(), bytes.clone());
            }
            if let Some(down) = PacketDown::from_bytes(&bytes) {
                prop_assert_eq!(down.to_bytes(), bytes.clone());
            }
            if ours && let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            if let Some(packets) = split_packets(&bytes) {
                prop_assert_eq!(join_packets(&packets), bytes.clone());
            }
        }
    }
}
