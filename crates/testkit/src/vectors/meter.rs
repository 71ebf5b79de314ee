//! Messages of the meter's protocol with fixed keys.

use super::response::{Record, records_of};

/// A meter and its collector: what both know, and what is written into the meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterKeysCase {
    /// The meter, as it was provisioned.
    pub provisioned: u16,
    /// Its name in packets, which it was registered with since.
    pub name: u16,
    /// Its radio address, in flash and in packets.
    pub meter_address: u8,
    /// The collector's radio address.
    pub collector_address: u8,
    /// RFM12B: group; CC2500: CHANNR.
    pub channel: u8,
    /// Output power as the radio has it.
    pub power: u8,
    /// Seconds between measurements.
    pub interval_s: u16,
    /// The suite's number.
    pub suite: u8,
    /// Voltage of a step of the converter, in microvolts.
    pub voltage_uv: u32,
    /// Current of a step of the converter, in microamperes.
    pub current_ua: u32,
    /// In 1/256 of a sampling interval.
    pub phase: i16,
    /// Secret of both sides.
    pub key128: [u8; 16],
    /// Secret of both sides.
    pub key256: [u8; 32],
    /// P-256, big-endian.
    pub meter_private: [u8; 32],
    /// x and y.
    pub meter_public: [u8; 64],
    /// P-256, big-endian.
    pub collector_private: [u8; 32],
    /// x and y.
    pub collector_public: [u8; 64],
    /// The first seed of the meter's generator.
    pub seed: [u8; 48],
    /// Provisioned flash.
    pub flash: [u8; 176],
    /// The first contents of its non-volatile memory.
    pub eeprom: [u8; 1024],
}

/// A message of the meter or to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterMessageCase {
    /// The kind's number: 0 report, 1 answer, 2 acknowledgement, 3 command.
    pub kind: u8,
    /// The suite's number.
    pub suite: u8,
    /// n or m.
    pub number: u32,
    /// Sealed plaintext; `None` in acknowledgements.
    pub plaintext: Option<[u8; 16]>,
    /// The private key that made its ephemeral key, where it has one.
    pub ephemeral: Option<[u8; 32]>,
    pub message: Vec<u8>,
    /// The packets that it is sent in.
    pub packets: Vec<Vec<u8>>,
}

/// 16 messages in each of the six suites, one more in the second, and whose they are:
/// `data/meter-protocol.txt`.
#[must_use]
pub fn meter_protocol() -> (MeterKeysCase, Vec<MeterMessageCase>) {
    let mut records = records_of(include_str!("../../vectors/meter-protocol.txt")).into_iter();
    let first = records.next().expect("the file begins with the keys");
    let messages: Vec<_> = records.map(|record| message(&record)).collect();
    assert_eq!(messages.len(), 97, "meter-protocol.txt: another number of messages than is written here");
    (keys(&first), messages)
}

fn keys(record: &Record) -> MeterKeysCase {
    let [meter_address] = record.array("meter_address");
    let [collector_address] = record.array("collector_address");
    let ([channel], [power], [suite]) =
        (record.array("channel"), record.array("power"), record.array("suite"));
    MeterKeysCase {
        provisioned: u16::from_be_bytes(record.array("provisioned")),
        name: u16::from_be_bytes(record.array("name")),
        meter_address,
        collector_address,
        channel,
        power,
        interval_s: u16::from_be_bytes(record.array("interval")),
        suite,
        voltage_uv: u32::from_be_bytes(record.array("voltage")),
        current_ua: u32::from_be_bytes(record.array("current")),
        phase: i16::from_be_bytes(record.array("phase")),
        key128: record.array("key128"),
        key256: record.array("key256"),
        meter_private: record.array("meter_private"),
        meter_public: record.array("meter_public"),
        collector_private: record.array("collector_private"),
        collector_public: record.array("collector_public"),
        seed: record.array("seed"),
        flash: record.array("flash"),
        eeprom: record.array("eeprom"),
    }
}

fn message(record: &Record) -> MeterMessageCase {
    let ([kind], [suite]) = (record.array("kind"), record.array("suite"));
    MeterMessageCase {
        kind,
        suite,
        number: u32::from_be_bytes(record.array("number")),
        plaintext: record.has("plaintext").then(|| record.array("plaintext")),
        ephemeral: record.has("ephemeral").then(|| record.array("ephemeral")),
        message: record.bytes("message"),
        packets: record.all_bytes("packet"),
    }
}
