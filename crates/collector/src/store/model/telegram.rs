//! Telegrams of other makers' meters, as they are stored and shown.

use crate::mbus_meter::MbusMeterId;
use serde::{Deserialize, Serialize};
use wire::wireless_mbus::MeterAddress;

/// A telegram that was opened and taken.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTelegram {
    pub meter: MbusMeterId,
    pub heard_ms: i64,
    /// The meter's whole address.
    pub address: MeterAddress,
    /// The code of its security mode.
    pub mode: u8,
    /// A MAC with the meter's key covers the records.
    pub authenticated: bool,
    /// The key's number and the message counter; it has to rise for each key.
    pub counter: Option<([u8; 8], u32)>,
    pub access_number: Option<u8>,
    pub status: Option<u8>,
    /// Seconds by which the telegram's own time is ahead of when it was heard.
    pub clock_off_s: Option<i64>,
    pub contents: TelegramContents,
}

/// The records of a telegram.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TelegramContents {
    /// The records in their order.
    pub records: Vec<TelegramRecord>,
    /// True if the meter has more for its next message.
    #[serde(default)]
    pub more_follow: bool,
    /// The maker's own data behind the records, in hexadecimal.
    #[serde(default)]
    pub manufacturer_data: String,
    /// Bytes from a reserved code on, in hexadecimal.
    #[serde(default)]
    pub unread: String,
    /// The protocol, where it has no records.
    #[serde(default)]
    pub protocol: Option<String>,
    /// Its bytes in hexadecimal.
    #[serde(default)]
    pub bytes: String,
}

/// A record of a telegram.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TelegramRecord {
    /// `instantaneous`, `maximum`, `minimum` or `during error`.
    pub function: String,
    /// The storage number: 0 now, higher ones for the past.
    pub storage: u64,
    pub tariff: u32,
    pub subunit: u16,
    /// The quantity; `null` of an unknown code.
    pub quantity: Option<String>,
    /// The unit; empty if there is none.
    pub unit: String,
    /// Names of codes that change what the record says, such as `backward only`.
    pub modifiers: Vec<String>,
    /// True if all of its codes are known: only then the value is a reading.
    pub understood: bool,
    /// The value as a text; the bytes in hexadecimal where it is not understood.
    pub value: String,
    /// The number without rounding is this integer ...
    pub mantissa: Option<String>,
    /// ... times ten to this power.
    pub exponent: Option<i8>,
    /// The header as sent, in hexadecimal.
    pub header: String,
    /// The data as sent, in hexadecimal.
    pub data: String,
}

/// A telegram that is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTelegram {
    pub id: i64,
    pub meter: String,
    pub heard_ms: i64,
    pub address: String,
    pub mode: u8,
    pub authenticated: bool,
    pub counter: Option<i64>,
    pub access_number: Option<u8>,
    pub status: Option<u8>,
    pub clock_off_s: Option<i64>,
    pub contents: TelegramContents,
}

/// Another maker's meter as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbusMeterRecord {
    pub meter: String,
    pub first_heard_ms: Option<i64>,
    pub last_heard_ms: Option<i64>,
    /// Telegrams that were stored.
    pub telegrams: i64,
    /// Those of them that nothing authenticates.
    pub unauthenticated: i64,
    /// Telegrams in its name that were refused.
    pub refused: i64,
    pub refused_ms: Option<i64>,
    /// The reason of the last one.
    pub refusal: Option<String>,
}

/// The telegrams to read, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelegramQuery {
    /// The meter; `None`: all.
    pub meter: Option<MbusMeterId>,
    /// Heard from then on, in ms.
    pub from_ms: i64,
    /// Heard before that, in ms.
    pub to_ms: i64,
    /// Those with a higher id alone.
    pub after: i64,
    pub limit: usize,
}
