//! The roles gateway, worker and api with a real nats-server between them.

mod accounts;
mod api;
mod broker;
mod failover;
mod many;
mod permissions;
mod promises;
pub mod roles;
mod shared;
pub mod shipped;
mod stops;
mod traces;
mod updates;
mod upgrade;
mod users;

use crate::meters::station::SimulatedMeter;
use collector::gateway::udp::{datagram, parse};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use wire::meter::{MessageKind, Packet, Reassembly, Suite};

/// The longest wait for an expected event: the machine may be busy.
const WITHIN: Duration = Duration::from_secs(30);
/// A meter sends a report again that is not acknowledged.
const AGAIN_AFTER: Duration = Duration::from_millis(250);

/// The radio of meters near a UDP gateway.
struct Radio {
    pub socket: UdpSocket,
    gateway: SocketAddr,
}

impl Radio {
    fn near(gateway: SocketAddr) -> Radio {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket");
        Radio { socket, gateway }
    }

    fn send(&self, packets: &[Vec<u8>]) {
        for packet in packets {
            let datagram = datagram(packet, Some(-61)).expect("it fits");
            // Where nobody listens it is lost, as by radio.
            let _ = self.socket.send_to(&datagram, self.gateway);
        }
    }

    /// The next whole message that was sent to these meters.
    fn hear(&self, within: Duration) -> Option<(MessageKind, Suite, Vec<u8>)> {
        let (begun, mut buffer, mut reassembly) = (Instant::now(), [0; 128], Reassembly::default());
        while begun.elapsed() < within {
            let Ok(length) = self.socket.recv(&mut buffer) else { continue };
            let (packet, _) = parse(&buffer[..length]).expect("a datagram");
            if let Some(message) = reassembly.take(&Packet::parse(packet).expect("a packet")) {
                return Some((message.kind, message.suite, message.bytes));
            }
        }
        None
    }

    /// Says if these packets are acknowledged without being sent again.
    fn is_acknowledged(&self, meter: &SimulatedMeter, n: u32, within: Duration) -> bool {
        let begun = Instant::now();
        while let Some(left) = within.checked_sub(begun.elapsed()) {
            if let Some((MessageKind::Acknowledgement, suite, bytes)) = self.hear(left)
                && meter.opens_acknowledgement(suite, &bytes) == Some(n)
            {
                return true;
            }
        }
        false
    }

    /// Makes the next report, and sends it as a meter does, until it is acknowledged. Returns how
    /// long that took.
    fn report(&self, meter: &mut SimulatedMeter) -> Duration {
        let report = meter.report();
        self.deliver(meter, &report)
    }

    /// Sends the last report until it is acknowledged.
    fn deliver(&self, meter: &SimulatedMeter, report: &[Vec<u8>]) -> Duration {
        let begun = Instant::now();
        loop {
            self.send(report);
            if self.is_acknowledged(meter, meter.n, AGAIN_AFTER) {
                return begun.elapsed();
            }
            assert!(begun.elapsed() < WITHIN, "meter's report {} is not acknowledged", meter.n);
        }
    }
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WITHIN, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
    begun.elapsed()
}
