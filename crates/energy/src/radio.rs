//! Radios: what their states draw, how long they take from one to the next, and what a message on
//! the air costs.

mod tables;

use crate::range::{self, OutOfRange};
use serde::Deserialize;
use thiserror::Error;

pub use tables::{Change, Packet, Passage, Receive, ReceivePoint, State, Transmit, TransmitPoint};

/// A radio, as `radios/*.toml` describes it.
///
/// The states' names are also those by which a chip model reports its time, so that time in a state
/// times [`Radio::state_a`] is its charge: `sleep` (registers kept, nothing runs), `wor` (asleep
/// with the timer that wakes the receiver), `xoff` (the digital part alone), `crystal` (the
/// oscillator starts), `idle` (the oscillator runs), `calibrate` (the synthesizer finds its
/// settings), `settling` (it goes to its frequency), `fstxon` (it stands there, ready), `rx`, `tx`.
/// A file has those that its chip has. `rx` and `tx` draw what the radio is set to
/// ([`Radio::set`]).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Its name on the command line: the file's.
    pub name: String,
    /// Maker and part.
    pub description: String,
    /// Data sheet, document number.
    pub source: String,
    /// Coverage of the source for these figures, in a sentence for the reader of an energy figure.
    pub note: String,
    /// Lowest supply, in volts.
    pub min_v: f64,
    /// Highest supply, in volts.
    pub max_v: f64,
    /// Bits a second on the air.
    pub bit_rate_hz: f64,
    /// Output power, in dBm.
    pub output_dbm: f64,
    /// Band, in Hz, where the part knows several.
    #[serde(default)]
    pub band_hz: Option<f64>,
    /// Mode of the receiver, where that matters.
    #[serde(default)]
    pub receive_mode: Option<String>,
    /// Bytes of a packet besides its data.
    pub packet: Packet,
    /// Currents of the states, `rx` and `tx` excepted.
    #[serde(rename = "state")]
    pub states: Vec<State>,
    /// Currents of receiving.
    pub receive: Receive,
    /// Currents of transmitting.
    pub transmit: Transmit,
    /// Durations of the changes from one state to another, and the states in between.
    #[serde(rename = "change")]
    pub changes: Vec<Change>,
}

/// Setting of a radio; a field that is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Bits a second.
    pub bit_rate_hz: Option<f64>,
    /// Output power, in dBm.
    pub output_dbm: Option<f64>,
    /// Band, in Hz.
    pub band_hz: Option<f64>,
    /// Mode of the receiver.
    pub receive_mode: Option<String>,
}

/// Cost of sending a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Packets.
    pub packets: u32,
    /// Bytes on the air, overhead included.
    pub air_bytes: u32,
    /// Time with the transmitter on, in seconds.
    pub air_s: f64,
    /// Energy with the transmitter on, in joules.
    pub air_j: f64,
    /// Time from sleep to sleep, in seconds.
    pub time_s: f64,
    /// Energy from sleep to sleep, in joules.
    pub energy_j: f64,
    /// The states passed, one after the other.
    pub passages: Vec<Passage>,
}

/// Cost of listening.
#[derive(Clone, Debug, PartialEq)]
pub struct Listening {
    /// Time from sleep to sleep, in seconds.
    pub time_s: f64,
    /// Energy from sleep to sleep, in joules.
    pub energy_j: f64,
    /// The states passed, one after the other.
    pub passages: Vec<Passage>,
}

/// A radio's file that does not say what it must, or something asked of a radio that it cannot do.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RadioError {
    /// The file is not well formed.
    #[error("radio file: {0}")]
    File(String),
    /// There is no such state, way, rate or power in its file.
    #[error("{radio} has no {what} '{asked}'; it has {known}")]
    Unknown {
        /// Name of the radio.
        radio: String,
        /// The kind of entry that was asked for.
        what: &'static str,
        /// The entry that was asked for.
        asked: String,
        /// Names that exist.
        known: String,
    },
    /// The supply is outside its range.
    #[error("{supply_v} V is outside the {min_v} V to {max_v} V that {source_document} allows for {radio}")]
    Voltage {
        /// Name of the radio.
        radio: String,
        /// Asked for, in volts.
        supply_v: f64,
        /// Lowest allowed, in volts.
        min_v: f64,
        /// Highest allowed, in volts.
        max_v: f64,
        /// Document with the limit.
        source_document: String,
    },
    /// A figure that cannot be.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

impl Radio {
    /// Reads a radio's file, and checks that it can send and listen.
    ///
    /// # Errors
    /// [`RadioError`] with what is missing or wrong.
    pub fn from_toml(text: &str) -> Result<Radio, RadioError> {
        let radio: Radio = toml::from_str(text).map_err(|error| RadioError::File(error.to_string()))?;
        range::positive("min_v", radio.min_v)?;
        range::require("max_v", radio.max_v, radio.max_v > radio.min_v, "above min_v")?;
        range::positive("bit_rate_hz", radio.bit_rate_hz)?;
        range::positive("largest_bytes", f64::from(radio.packet.largest_bytes))?;
        let drawn = radio.states.iter().map(|state| state.current_a);
        let drawn = drawn.chain(radio.receive.points.iter().map(|point| point.current_a));
        for current_a in drawn.chain(radio.transmit.points.iter().map(|point| point.current_a)) {
            range::not_negative("current_a", current_a)?;
        }
        for passage in radio.changes.iter().flat_map(|change| &change.through) {
            range::not_negative("time_s", passage.time_s)?;
            radio.state_a(&passage.state)?;
        }
        radio.rx_a()?;
        radio.tx_a()?;
        let ways = [
            ("sleep", "idle"),
            ("idle", "tx"),
            ("tx", "idle"),
            ("idle", "rx"),
            ("rx", "idle"),
            ("idle", "sleep"),
        ];
        for (from, to) in ways {
            radio.change(from, to)?;
        }
        Ok(radio)
    }

    /// The same radio, set otherwise.
    ///
    /// # Errors
    /// [`RadioError::Unknown`] with the settings that the data sheet gives a current for;
    /// [`RadioError::OutOfRange`] for a bit rate that is not above zero.
    pub fn set(&self, setting: &Setting) -> Result<Radio, RadioError> {
        let radio = Radio {
            bit_rate_hz: setting.bit_rate_hz.unwrap_or(self.bit_rate_hz),
            output_dbm: setting.output_dbm.unwrap_or(self.output_dbm),
            band_hz: setting.band_hz.or(self.band_hz),
            receive_mode: setting.receive_mode.clone().or_else(|| self.receive_mode.clone()),
            ..self.clone()
        };
        range::positive("bit_rate_hz", radio.bit_rate_hz)?;
        radio.rx_a()?;
        radio.tx_a()?;
        Ok(radio)
    }

    /// Returns the current of a state, in amperes; the same at every supply, as the data sheet
    /// knows one alone.
    ///
    /// # Errors
    /// [`RadioError::Unknown`] with the states that there are.
    pub fn state_a(&self, name: &str) -> Result<f64, RadioError> {
        match name {
            "rx" => self.rx_a(),
            "tx" => self.tx_a(),
            _ => match self.states.iter().find(|state| state.name == name) {
                Some(state) => Ok(state.current_a),
                None => Err(self.unknown(
                    "state",
                    name,
                    self.states.iter().map(|state| state.name.clone()).chain(["rx".into(), "tx".into()]),
                )),
            },
        }
    }

    /// Returns the receive current at the radio's settings, in amperes.
    ///
    /// # Errors
    /// [`RadioError::Unknown`] with the settings that there are.
    pub fn rx_a(&self) -> Result<f64, RadioError> {
        let holds = |point: &&ReceivePoint| {
            point.bit_rate_hz.is_none_or(|hz| hz == self.bit_rate_hz)
                && (point.band_hz.is_none() || point.band_hz == self.band_hz)
                && (point.mode.is_none() || point.mode == self.receive_mode)
        };
        let point = self.receive.points.iter().find(holds);
        point.map(|point| point.current_a).ok_or_else(|| {
            let known = self
                .receive
                .points
                .iter()
                .map(|point| described(point.bit_rate_hz, None, point.band_hz, point.mode.as_deref()));
            let asked = described(Some(self.bit_rate_hz), None, self.band_hz, self.receive_mode.as_deref());
            self.unknown("receiver setting", &asked, known)
        })
    }

    /// Returns the transmit current at the radio's settings, in amperes.
    ///
    /// # Errors
    /// [`RadioError::Unknown`] with the settings that there are.
    pub fn tx_a(&self) -> Result<f64, RadioError> {
        let holds = |point: &&TransmitPoint| {
            point.output_dbm == self.output_dbm && (point.band_hz.is_none() || point.band_hz == self.band_hz)
        };
        let point = self.transmit.points.iter().find(holds);
        point.map(|point| point.current_a).ok_or_else(|| {
            let known = self
                .transmit
                .points
                .iter()
                .map(|point| described(None, Some(point.output_dbm), point.band_hz, None));
            self.unknown("output power", &described(None, Some(self.output_dbm), self.band_hz, None), known)
        })
    }

    /// The way from one state to another.
    ///
    /// # Errors
    /// [`RadioError::Unknown`] with those that the file gives.
    pub fn change(&self, from: &str, to: &str) -> Result<&Change, RadioError> {
        self.changes.iter().find(|change| change.from == from && change.to == to).ok_or_else(|| {
            let known = self.changes.iter().map(|change| format!("{} to {}", change.from, change.to));
            self.unknown("way from state to state", &format!("{from} to {to}"), known)
        })
    }

    /// Returns the time on the air of a packet of `bytes` of data, in seconds.
    #[must_use]
    pub fn air_s(&self, bytes: u32) -> f64 {
        8.0 * f64::from(bytes + self.packet.overhead_bytes()) / self.bit_rate_hz
    }

    /// Returns the cost of sending `bytes` of data, from sleep to sleep, in the fewest packets. The
    /// oscillator starts; for each packet the synthesizer is brought to its frequency, the packet
    /// goes out, the radio is idle again. The microcontroller's work meanwhile is not in it.
    /// Nothing is sent for no bytes.
    ///
    /// # Errors
    /// [`RadioError::Voltage`] for a supply outside the radio's range.
    pub fn send(&self, bytes: u32, supply_v: f64) -> Result<Transmission, RadioError> {
        self.check_supply(supply_v)?;
        let packets = bytes.div_ceil(self.packet.largest_bytes);
        let mut passages = Vec::new();
        let mut left = bytes;
        if packets > 0 {
            passages.extend_from_slice(&self.change("sleep", "idle")?.through);
        }
        while left > 0 {
            let data = left.min(self.packet.largest_bytes);
            passages.extend_from_slice(&self.change("idle", "tx")?.through);
            passages.push(Passage { state: "tx".into(), time_s: self.air_s(data) });
            passages.extend_from_slice(&self.change("tx", "idle")?.through);
            left -= data;
        }
        if packets > 0 {
            passages.extend_from_slice(&self.change("idle", "sleep")?.through);
        }
        let air_bytes = bytes + packets * self.packet.overhead_bytes();
        let air_s = 8.0 * f64::from(air_bytes) / self.bit_rate_hz;
        let (time_s, energy_j) = self.sum(&passages, supply_v)?;
        Ok(Transmission {
            packets,
            air_bytes,
            air_s,
            air_j: air_s * self.tx_a()? * supply_v,
            time_s,
            energy_j,
            passages,
        })
    }

    /// Returns the cost of listening for `seconds`, from sleep to sleep.
    ///
    /// # Errors
    /// [`RadioError::Voltage`] for a supply outside the radio's range; [`RadioError::OutOfRange`]
    /// for a time below zero.
    pub fn listen(&self, seconds: f64, supply_v: f64) -> Result<Listening, RadioError> {
        self.check_supply(supply_v)?;
        range::not_negative("seconds", seconds)?;
        let mut passages = self.change("sleep", "idle")?.through.clone();
        passages.extend_from_slice(&self.change("idle", "rx")?.through);
        passages.push(Passage { state: "rx".into(), time_s: seconds });
        passages.extend_from_slice(&self.change("rx", "idle")?.through);
        passages.extend_from_slice(&self.change("idle", "sleep")?.through);
        let (time_s, energy_j) = self.sum(&passages, supply_v)?;
        Ok(Listening { time_s, energy_j, passages })
    }

    /// Time and energy of some passages.
    fn sum(&self, passages: &[Passage], supply_v: f64) -> Result<(f64, f64), RadioError> {
        let (mut time_s, mut charge_c) = (0.0, 0.0);
        for passage in passages {
            time_s += passage.time_s;
            charge_c += passage.time_s * self.state_a(&passage.state)?;
        }
        Ok((time_s, charge_c * supply_v))
    }

    fn check_supply(&self, supply_v: f64) -> Result<(), RadioError> {
        if (self.min_v..=self.max_v).contains(&supply_v) {
            return Ok(());
        }
        Err(RadioError::Voltage {
            radio: self.name.clone(),
            supply_v,
            min_v: self.min_v,
            max_v: self.max_v,
            source_document: self.source.clone(),
        })
    }

    fn unknown(&self, what: &'static str, asked: &str, known: impl Iterator<Item = String>) -> RadioError {
        let known = known.collect::<Vec<_>>().join(", ");
        RadioError::Unknown { radio: self.name.clone(), what, asked: asked.into(), known }
    }
}

/// A setting for the reader of an error: `250 kbit/s, sensitivity`, `7 dBm at 433 MHz`.
fn described(
    bit_rate_hz: Option<f64>,
    output_dbm: Option<f64>,
    band_hz: Option<f64>,
    mode: Option<&str>,
) -> String {
    let parts = [
        bit_rate_hz.map(|hz| format!("{} kbit/s", hz / 1e3)),
        output_dbm.map(|dbm| format!("{dbm} dBm")),
        band_hz.map(|hz| format!("{} MHz", hz / 1e6)),
        mode.map(str::to_owned),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
