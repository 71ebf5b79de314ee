//! The tables of a radio's file.

use serde::Deserialize;

/// Bytes on the air around the data of a packet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// Preamble.
    pub preamble_bytes: u32,
    /// Synchronisation word.
    pub sync_bytes: u32,
    /// Length and other header fields.
    pub header_bytes: u32,
    /// Checksum.
    pub crc_bytes: u32,
    /// Bytes after the checksum that keep the transmitter on until the last bit is out.
    #[serde(default)]
    pub trailer_bytes: u32,
    /// Most data in a packet.
    pub largest_bytes: u32,
    /// Document and section.
    pub source: String,
}

impl Packet {
    /// Everything besides the data, in bytes.
    #[must_use]
    pub fn overhead_bytes(&self) -> u32 {
        self.preamble_bytes + self.sync_bytes + self.header_bytes + self.crc_bytes + self.trailer_bytes
    }
}

/// Current of a state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Its name, as in the list of [`Radio`].
    pub name: String,
    /// Typical current, in amperes.
    pub current_a: f64,
    /// Document and table, and what stands there where it is not this state by name.
    pub source: String,
}

/// Currents of receiving.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receive {
    /// Document, table, conditions.
    pub source: String,
    /// By what it depends on.
    pub points: Vec<ReceivePoint>,
}

/// Current of receiving under some conditions; one that is not named does not matter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceivePoint {
    /// Bits a second.
    #[serde(default)]
    pub bit_rate_hz: Option<f64>,
    /// Band, in Hz.
    #[serde(default)]
    pub band_hz: Option<f64>,
    /// Mode of the receiver: `sensitivity`, `current`.
    #[serde(default)]
    pub mode: Option<String>,
    /// Typical current, in amperes.
    pub current_a: f64,
}

/// Currents of transmitting.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transmit {
    /// Document, table, conditions.
    pub source: String,
    /// By what it depends on.
    pub points: Vec<TransmitPoint>,
}

/// Current of transmitting under some conditions; one that is not named does not matter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransmitPoint {
    /// Output power, in dBm.
    pub output_dbm: f64,
    /// Band, in Hz.
    #[serde(default)]
    pub band_hz: Option<f64>,
    /// Typical current, in amperes.
    pub current_a: f64,
}

/// The way from one state to another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// State before.
    pub from: String,
    /// State after.
    pub to: String,
    /// States that are passed on the way, in order.
    pub through: Vec<Passage>,
    /// Document and table.
    pub source: String,
}

impl Change {
    /// The whole way, in seconds.
    #[must_use]
    pub fn time_s(&self) -> f64 {
        self.through.iter().map(|passage| passage.time_s).sum()
    }
}

/// A time in a state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    /// Name of the state.
    pub state: String,
    /// Duration, in seconds.
    pub time_s: f64,
}
