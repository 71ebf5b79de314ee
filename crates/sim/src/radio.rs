//! Radio channels, and packets on them.
//!
//! - [`channel`]: who receives what, and how it is impaired on its way; [`model`]: what a channel
//!   is like
//! - [`framing`]: how a packet lies on the air, by radio

pub mod channel;
pub mod framing;
pub mod model;

pub use channel::RadioChannel;
pub use framing::Framing;
pub use model::{Arrival, ChannelModel, Participant, ReceiveMode, SentPacket, Traffic};

/// A byte on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirByte {
    /// Its first bit's beginning, in nanoseconds of the simulation.
    pub start_ns: u64,
    /// Its last bit's end.
    pub end_ns: u64,
    pub byte: u8,
}

/// Emission of a radio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emission {
    /// One byte after the other: an RFM12B, whose microcontroller makes the frame.
    Byte(AirByte),
    /// A packet whole, once it is over: a CC2500, which makes the frame itself.
    Packet {
        /// When its first bit was on the air, in nanoseconds of the simulation.
        start_ns: u64,
        /// When its last bit was.
        end_ns: u64,
        /// Packet, the address first; the length byte left out.
        packet: Vec<u8>,
    },
}

/// Returns the duration of a byte at a bit rate, in nanoseconds.
#[must_use]
pub fn byte_ns(bit_rate_hz: f64) -> u64 {
    (8.0 * crate::time::SECOND_NS as f64 / bit_rate_hz).round() as u64
}
