//! UDP gateways: a datagram is `WS1`, the strength in dBm, and one packet.
//! docs/how-to/collector.md, "Gateways".

use super::{GatewayId, Gateways, HeardPacket, Route, Transmit};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use wire::meter::PACKET_BYTES_MAX;

/// The first bytes of a datagram.
const MAGIC: &[u8; 3] = b"WS1";
/// Bytes before the packet: the magic and the strength.
const HEADER: usize = 4;
pub const DATAGRAM_BYTES_MAX: usize = HEADER + PACKET_BYTES_MAX;
/// The strength where it is not known.
const NOT_KNOWN: i8 = 127;
/// The system keeps so much for us while we are not looking, where it lets us have it.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;
/// Datagrams that are taken before other tasks have their turn.
const TURN: usize = 256;

/// A datagram with a packet in it; `None` where it is too long for one. rssi_dbm: `None` where it
/// is not known.
#[must_use]
pub fn datagram(packet: &[u8], rssi_dbm: Option<i8>) -> Option<Vec<u8>> {
    if packet.len() > PACKET_BYTES_MAX {
        return None;
    }
    let [strength] = rssi_dbm.unwrap_or(NOT_KNOWN).to_ne_bytes();
    Some([&MAGIC[..], &[strength], packet].concat())
}

/// The packet in a datagram, and how strong it was; `None` for what is none. Any bytes: nothing of
/// the packet is true yet.
#[must_use]
pub fn parse(datagram: &[u8]) -> Option<(&[u8], Option<i8>)> {
    let (strength, packet) = datagram.strip_prefix(MAGIC)?.split_first()?;
    let strength = i8::from_ne_bytes([*strength]);
    let fits = (1..=PACKET_BYTES_MAX).contains(&packet.len());
    fits.then_some((packet, (strength != NOT_KNOWN).then_some(strength)))
}

/// A socket that many gateways may speak to. It ends with its task.
pub struct UdpGateway {
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// The way back.
struct Sender(Arc<UdpSocket>);

impl Transmit for Sender {
    fn transmit(&self, route: Route, packets: &[Vec<u8>]) {
        let Some(peer) = route.peer else { return };
        for packet in packets {
            // A datagram that the system does not take is lost, as by radio: it is sent again.
            if let Some(datagram) = datagram(packet, None) {
                let _ = self.0.try_send_to(&datagram, peer);
            }
        }
    }
}

impl UdpGateway {
    /// Listens at an address, port 0 for one that is free. `hear` takes what is heard, without
    /// waiting.
    ///
    /// # Errors
    /// The system's refusal of the address.
    pub fn start(
        address: SocketAddr,
        gateways: &Gateways,
        hear: impl Fn(HeardPacket) + Send + 'static,
    ) -> io::Result<UdpGateway> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        // The system gives as much as it allows.
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        socket.bind(&address.into())?;
        let socket = Arc::new(UdpSocket::from_std(socket.into())?);
        let address = socket.local_addr()?;
        let gateway = gateways.attach(Arc::new(Sender(socket.clone())));
        let task = tokio::spawn(listen(socket, gateway, hear));
        Ok(UdpGateway { address, task })
    }

    /// Returns the address that it listens at.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops receiving. Packets that it received can still be answered.
    pub fn stop(&self) {
        self.task.abort();
    }
}

async fn listen(socket: Arc<UdpSocket>, gateway: GatewayId, hear: impl Fn(HeardPacket)) {
    // One byte more than a datagram has, so that a longer one is seen as that.
    let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
    loop {
        if let Err(error) = socket.readable().await {
            tracing::error!(%error, "a UDP gateway has ended");
            return;
        }
        for _ in 0..TURN {
            match socket.try_recv_from(&mut buffer) {
                Ok((length, peer)) => {
                    if let Some((packet, rssi_dbm)) = parse(&buffer[..length]) {
                        let route = Route { gateway, peer: Some(peer) };
                        hear(HeardPacket { route, bytes: packet.to_vec(), rssi_dbm });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Somebody whom we answered is not there any more.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => {
                    tracing::warn!(%error, "a UDP gateway could not receive");
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_datagram_byte_by_byte() {
        assert_eq!(datagram(&[1, 2], Some(-61)), Some(vec![b'W', b'S', b'1', 0xc3, 1, 2]));
        assert_eq!(datagram(&[9], None), Some(vec![b'W', b'S', b'1', 127, 9]));
        assert_eq!(parse(b"WS1\xc3\x01\x02"), Some((&[1, 2][..], Some(-61))));
        assert_eq!(parse(b"WS1\x7f\x09"), Some((&[9][..], None)));
        for nothing in
            [&b""[..], b"WS1", b"WS1\xc3", b"WS2\xc3\x01", b"ws1\xc3\x01", &[b"WS1\0", &[0; 62][..]].concat()]
        {
            assert_eq!(parse(nothing), None, "{nothing:?}");
        }
        assert_eq!(datagram(&[0; 62], None), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_packet_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some((packet, rssi_dbm)) = parse(&bytes) {
                prop_assert_eq!(datagram(packet, rssi_dbm), Some(bytes.clone()));
            }
        }

        #[test]
        fn sent_packet_is_received(packet in prop::collection::vec(any::<u8>(), 1..=61), rssi in -126i8..=126) {
            let datagram = datagram(&packet, Some(rssi)).expect("it fits");
            prop_assert_eq!(parse(&datagram), Some((&packet[..], Some(rssi))));
        }
    }
}
