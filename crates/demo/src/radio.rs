//! The collector's radio: half-duplex, on the air with the meters.

use crate::household::{COLLECTOR_ADDRESS, GROUP};
use sim::pair::TURNAROUND_NS;
use sim::street::air::{Arrival, Hearing};
use sim::street::framing;
use std::collections::VecDeque;
use wire::meter::{MessageKind, Packet};

/// Transmissions that wait at most; more are lost, as a radio loses them.
const MOST_WAITING: usize = 64;

/// The radio. Times are nanoseconds of the world. What comes while it sends is spoilt on the air already.
#[derive(Debug)]
pub struct Radio {
    byte_ns: u64,
    /// Packets that were heard, or will have been at that time.
    heard: VecDeque<(u64, Vec<u8>)>,
    /// A packet comes in until then.
    coming_until_ns: u64,
    to_send: VecDeque<VecDeque<Vec<u8>>>,
    /// From when on it may send.
    free_ns: u64,
}

impl Radio {
    /// A radio that listens. byte_ns: how long a byte takes.
    #[must_use]
    pub fn new(byte_ns: u64) -> Radio {
        Radio { byte_ns, heard: VecDeque::new(), coming_until_ns: 0, to_send: VecDeque::new(), free_ns: 0 }
    }

    /// How it hears.
    #[must_use]
    pub fn hearing(&self) -> Hearing {
        Hearing::Packets(COLLECTOR_ADDRESS)
    }

    /// Something arrives.
    pub fn hear(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Coming { end_ns, .. } => self.coming_until_ns = self.coming_until_ns.max(end_ns),
            Arrival::Packet { end_ns, packet, .. } => self.heard.push_back((end_ns, packet)),
        }
    }

    /// The next packet that was heard to its end before a time, and when that was.
    pub fn take_heard(&mut self, until_ns: u64) -> Option<(u64, Vec<u8>)> {
        self.heard.front().filter(|(end_ns, _)| *end_ns < until_ns)?;
        self.heard.pop_front()
    }

    /// Takes packets to be sent one after the other. Acknowledgements go first: a meter listens for them now.
    pub fn queue(&mut self, packets: Vec<Vec<u8>>) {
        if self.to_send.len() >= MOST_WAITING {
            return;
        }
        let is_acknowledgement = |packets: &VecDeque<Vec<u8>>| {
            let first = packets.front().and_then(|packet| Packet::parse(packet).ok());
            first.is_some_and(|packet| packet.kind == MessageKind::Acknowledgement)
        };
        let packets = VecDeque::from(packets);
        let behind = match is_acknowledgement(&packets) {
            true => self.to_send.iter().position(|other| !is_acknowledgement(other)),
            false => None,
        };
        self.to_send.insert(behind.unwrap_or(self.to_send.len()), packets);
    }

    /// What goes on the air between two times: from when on, and which bytes.
    pub fn send(&mut self, from_ns: u64, until_ns: u64) -> Option<(u64, Vec<u8>)> {
        let start_ns = from_ns.max(self.free_ns).max(self.coming_until_ns + TURNAROUND_NS);
        if start_ns >= until_ns {
            return None;
        }
        let packet = loop {
            match self.to_send.front_mut()?.pop_front() {
                Some(packet) => break packet,
                None => self.to_send.pop_front(),
            };
        };
        let bytes = framing::encode(GROUP, &packet);
        self.free_ns = start_ns + bytes.len() as u64 * self.byte_ns + TURNAROUND_NS;
        Some((start_ns, bytes))
    }
}
