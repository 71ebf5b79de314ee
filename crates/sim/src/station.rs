//! The station that nodes talk to.
//!
//! - [`collector`]: the meters' collector: the one place that owns `wire`'s protocol engine, and a
//!   store behind it; [`key_store`]: the keys in that
//! - [`verifier`]: the harvested node's server
//! - [`gateway`]: radios of a collector that is elsewhere
//! - [`radio`]: a half-duplex radio, for either

pub mod collector;
pub mod gateway;
pub mod key_store;
pub mod radio;
pub mod verifier;

use crate::radio::{Arrival, Participant, ReceiveMode};
use lab::LabError;
use wire::meter::{CompletedCommand, Image, MeterId, MeterRecord, ReceivedReport, Transmission};

/// A packet that a station sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The channel: an index.
    pub channel: usize,
    /// Its first bit, in nanoseconds of the simulation.
    pub start_ns: u64,
    /// The packet, the address first.
    pub packet: Vec<u8>,
    /// Bytes for which its transmitter stays on behind it.
    pub tail_bytes: usize,
}

/// A report that the application has got.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub accepted: ReceivedReport,
    /// When it was stored.
    pub at_ns: u64,
    /// When its last packet had been received.
    pub received_ns: u64,
    /// Sender of the packet that completed it.
    pub from: Participant,
    /// That packet.
    pub packet: Vec<u8>,
}

/// Event at a station.
#[derive(Clone, Debug)]
pub enum BaseEvent {
    /// A report is stored.
    Delivered(Box<Delivery>),
    /// A command was answered; when the answer's last packet had been received.
    Answered(Box<CompletedCommand>, u64),
    /// A command goes out.
    Commanded(Box<Transmission>),
    /// A meter's keys are durable, in the place of those before.
    KeysStored(Box<MeterRecord>),
    /// An image is given for a meter.
    ImageGiven(MeterId, Image),
    /// The piece of a renewal that was asked for came, or the reply to one of an image.
    PieceTaken {
        /// Sender of the packet.
        from: Participant,
        /// That packet.
        packet: Vec<u8>,
    },
    /// A challenge goes out.
    Challenge,
    /// An authentication was due and has not come.
    Missed,
    /// A signature is right and in time.
    Authenticated {
        /// From the challenge's first bit, or the message's, to its last bit, in nanoseconds.
        latency_ns: u64,
    },
    /// A signature is right and late: its challenge was counted as missed.
    Late,
    /// A message was refused, and why.
    Rejected(String),
}

/// A station with a radio on each channel. Times are nanoseconds of the simulation.
pub trait BaseStation: Send {
    /// Returns the receive mode on a channel.
    fn receive_mode(&self, channel: usize) -> ReceiveMode;

    /// When it next does something by itself.
    fn next_ns(&self) -> u64;

    /// It is `now_ns`: does what is due before `until_ns`.
    ///
    /// # Errors
    /// A violated invariant, such as a state that it cannot begin with.
    fn advance(&mut self, now_ns: u64, until_ns: u64) -> Result<(), LabError>;

    /// Something arrives on a channel.
    ///
    /// # Errors
    /// An independent library that fails.
    fn receive(&mut self, channel: usize, arrival: Arrival) -> Result<(), LabError>;

    /// Returns its packets since the last call.
    fn take_outgoing(&mut self) -> Vec<Outgoing>;

    /// Returns its events since the last call.
    fn take_events(&mut self) -> Vec<BaseEvent>;

    /// From now on it does not fail, and gives no commands of its own accord.
    fn stop_faults(&mut self) {}
}
