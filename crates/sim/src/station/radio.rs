//! A half-duplex radio of a station: what it sends, and what it therefore does not hear.

use crate::radio::{Arrival, Framing};
use crate::time::SECOND_NS;
use std::collections::VecDeque;
use wire::meter::{MessageKind, Packet};

/// Sending of a station's radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioSettings {
    pub framing: Framing,
    /// Duration of a byte, in nanoseconds.
    pub byte_ns: u64,
    /// Its address.
    pub address: u8,
    /// From hearing to sending and back, in nanoseconds.
    pub turnaround_ns: u64,
    /// Bytes of a packet for which the transmitter stays on behind it.
    pub tail_bytes: usize,
    /// Transmissions that wait at most; more are lost, as a radio loses them.
    pub most_waiting: usize,
}

/// Packets that follow each other, and from when on they may go out.
struct Waiting {
    from_ns: u64,
    packets: VecDeque<Vec<u8>>,
}

impl Waiting {
    fn is_acknowledgement(&self) -> bool {
        let first = self.packets.front().and_then(|packet| Packet::parse(packet).ok());
        first.is_some_and(|packet| packet.kind == MessageKind::Acknowledgement)
    }
}

/// The radio.
pub struct BaseRadio {
    pub settings: RadioSettings,
    to_send: VecDeque<Waiting>,
    /// From when on it may send.
    free_ns: u64,
    /// A packet is coming in until then.
    coming_until_ns: u64,
    /// Its own sendings, as long as something may arrive that overlaps them.
    own: VecDeque<(u64, u64)>,
}

impl BaseRadio {
    /// A radio that listens.
    #[must_use]
    pub fn new(settings: RadioSettings) -> BaseRadio {
        BaseRadio { settings, to_send: VecDeque::new(), free_ns: 0, coming_until_ns: 0, own: VecDeque::new() }
    }

    /// When it sends next.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.to_send
            .front()
            .map_or(u64::MAX, |waiting| waiting.from_ns.max(self.free_ns).max(self.coming_until_ns))
    }

    /// A packet comes in until then: it waits.
    pub fn coming(&mut self, arrival: &Arrival) {
        if let Arrival::Coming { end_ns, .. } = arrival {
            self.coming_until_ns = self.coming_until_ns.max(*end_ns);
        }
    }

    /// Returns true if it was sending while this was on the air.
    #[must_use]
    pub fn is_deaf_to(&self, start_ns: u64, end_ns: u64) -> bool {
        self.own.iter().any(|own| own.0 < end_ns && start_ns < own.1)
    }

    /// Takes packets to be sent one after the other. Acknowledgements go first: a meter listens for
    /// them now.
    pub fn queue(&mut self, packets: Vec<Vec<u8>>, now_ns: u64) {
        if self.to_send.len() >= self.settings.most_waiting {
            return;
        }
        let from_ns = now_ns + self.settings.turnaround_ns;
        let waiting = Waiting { from_ns, packets: packets.into() };
        let behind = match waiting.is_acknowledgement() {
            true => self.to_send.iter().position(|other| !other.is_acknowledgement()),
            false => None,
        };
        self.to_send.insert(behind.unwrap_or(self.to_send.len()), waiting);
    }

    /// The next packet goes out. A message's pieces follow each other.
    pub fn send(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        let waiting = self.to_send.front_mut()?;
        let packet = waiting.packets.pop_front();
        if waiting.packets.is_empty() {
            self.to_send.pop_front();
        }
        let packet = packet?;
        let bytes = self.settings.framing.air_bytes(packet.len()) + self.settings.tail_bytes;
        let end_ns = now_ns + bytes as u64 * self.settings.byte_ns;
        self.own.push_back((now_ns, end_ns));
        self.free_ns = end_ns + self.settings.turnaround_ns;
        Some(packet)
    }

    /// Time has passed: what is long over is forgotten.
    pub fn passed(&mut self, now_ns: u64) {
        while self.own.front().is_some_and(|&(_, end_ns)| end_ns + SECOND_NS < now_ns) {
            self.own.pop_front();
        }
    }

    /// It begins anew: nothing waits.
    pub fn restart(&mut self) {
        self.to_send.clear();
        self.coming_until_ns = 0;
    }
}
