//! Properties of a channel, and its view for the participants.

use super::AirByte;
use super::framing::{self, Framing};

/// Participant of a channel: a site by its index, then the collector, then the attacker.
pub type Participant = usize;

/// Impairments of packets on a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelModel {
    /// Seed of its random numbers.
    pub seed: u64,
    pub framing: Framing,
    /// From the sender's antenna to a receiver's.
    pub latency_ns: u64,
    /// Duration of a byte, in nanoseconds.
    pub byte_ns: u64,
    /// Share of the packets that a receiver does not get.
    pub loss: f64,
    /// Share of the bits that are wrong.
    pub bit_error_rate: f64,
    /// Share of the packets that a receiver gets once more, later.
    pub duplicate: f64,
    /// Share of the packets that a receiver gets later, behind others.
    pub reorder: f64,
    /// Range of the delay: least and most, in nanoseconds.
    pub later_ns: (u64, u64),
}

impl ChannelModel {
    /// A channel that loses and changes nothing, and has no latency.
    #[must_use]
    pub fn ideal(framing: Framing, byte_ns: u64) -> ChannelModel {
        ChannelModel {
            seed: 0,
            framing,
            latency_ns: 0,
            byte_ns,
            loss: 0.0,
            bit_error_rate: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            later_ns: (0, 0),
        }
    }

    /// Time that participants may live on from a time up to which all have lived. It is the
    /// latency, less the time for which a packet may have begun and is not known.
    #[must_use]
    pub fn step_ns(&self) -> u64 {
        let begun_ns = match self.framing {
            Framing::Rfm12b { .. } => self.byte_ns,
            Framing::Cc2500 => 0,
        };
        self.latency_ns.saturating_sub(begun_ns + self.known_after_ns()).max(1)
    }

    /// Longest time from a packet's beginning until it and its collisions are known. A packet is
    /// known at its end, and one that collided with it as late as that one's end.
    #[must_use]
    pub fn known_after_ns(&self) -> u64 {
        match self.framing {
            Framing::Rfm12b { .. } => 0,
            Framing::Cc2500 => 2 * self.longest_ns(),
        }
    }

    pub(super) fn longest_ns(&self) -> u64 {
        self.framing.air_bytes(framing::LONGEST) as u64 * self.byte_ns
    }

    /// For how long after its end a packet waits for what may have collided with it.
    pub(super) fn hold_ns(&self) -> u64 {
        match self.framing {
            Framing::Cc2500 if self.latency_ns > 0 => self.longest_ns(),
            _ => 0,
        }
    }
}

/// A packet as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPacket {
    pub from: Participant,
    /// When its first bit was sent.
    pub start_ns: u64,
    /// When its last bit was.
    pub end_ns: u64,
    /// Bytes on the air, all that belongs to its frame.
    pub air_bytes: usize,
    /// The packet, its address first.
    pub packet: Vec<u8>,
    /// Some of it met with something else on the air.
    pub collided: bool,
}

/// Receive mode of a participant, and its radio address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveMode {
    /// Not at all: it has no power, or another radio.
    Off,
    /// Each byte that is on the air: its radio chip finds packets in them.
    Bytes(u8),
    /// Whole packets for its address.
    Packets(u8),
}

impl ReceiveMode {
    pub(super) fn is_meant(self, address: u8) -> bool {
        match self {
            ReceiveMode::Off => false,
            ReceiveMode::Bytes(own) | ReceiveMode::Packets(own) => address == own,
        }
    }

    pub(super) fn is_whole(self) -> bool {
        matches!(self, ReceiveMode::Packets(_))
    }
}

/// Arrival at a receiver, in the times of the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// To those that receive bytes: a byte, and whether nothing else came with it.
    Byte(AirByte, bool),
    /// To those that receive packets: one begins.
    Coming {
        /// Its first bit.
        start_ns: u64,
        /// Its last bit.
        end_ns: u64,
    },
    /// A packet has come.
    Packet {
        from: Participant,
        /// Its first bit.
        start_ns: u64,
        /// Its last bit.
        end_ns: u64,
        /// The packet, its address first.
        packet: Vec<u8>,
    },
}

impl Arrival {
    pub(super) fn start_ns(&self) -> u64 {
        match self {
            Arrival::Byte(at, _) => at.start_ns,
            Arrival::Coming { start_ns, .. } | Arrival::Packet { start_ns, .. } => *start_ns,
        }
    }
}

/// Total traffic of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Packets sent.
    pub packets: u64,
    /// Of these, packets that overlapped with another transmission.
    pub collided: u64,
    /// Bytes sent, with preambles and check sums.
    pub bytes: u64,
    /// Time for which somebody was sending a packet, each sender's counted.
    pub sending_ns: u64,
    /// Time for which the attacker's noise was on the air.
    pub jammed_ns: u64,
    /// Packets lost on their way to somebody who was to receive them.
    pub lost: u64,
    /// Packets with wrong bits at somebody who was to receive them.
    pub spoilt: u64,
    /// Packets that came once more.
    pub duplicated: u64,
    /// Packets that came late.
    pub delayed: u64,
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.packets += other.packets;
        self.collided += other.collided;
        self.bytes += other.bytes;
        self.sending_ns += other.sending_ns;
        self.jammed_ns += other.jammed_ns;
        self.lost += other.lost;
        self.spoilt += other.spoilt;
        self.duplicated += other.duplicated;
        self.delayed += other.delayed;
    }
}
