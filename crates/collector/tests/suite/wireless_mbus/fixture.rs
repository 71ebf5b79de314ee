//! Published telegrams, and telegrams that anybody can make.

use collector::mbus::{Refusal, Sender, TelegramReceiver};
use collector::mbus_meter::MbusMeterId;
use collector::registry::{MbusKey, MbusMeter};
use collector::store::NewTelegram;
use jiff::tz::TimeZone;

/// 2026-01-01 00:00:00 UTC, in ms.
pub const NEW_YEAR_MS: i64 = 1_767_225_600_000;
/// A gateway.
pub const GATEWAY: Sender = Sender { source: 0, peer: None };
/// The meter of `kamstrup-profile-d-1` and `-2`.
pub const KAW: &str = "KAW-53820306";

/// A section of the file of vectors.
#[derive(Clone, Debug, Default)]
pub struct Published {
    pub name: String,
    pub meter: String,
    pub line: String,
    pub key: String,
    pub mode: u8,
    /// Number of the record, storage number, value, unit.
    pub records: Vec<(usize, u64, String, String)>,
}

/// Reads `crates/testkit/vectors/wireless-mbus.txt`.
pub fn telegrams() -> Vec<Published> {
    let text = include_str!("../../../../testkit/vectors/wireless-mbus.txt");
    let mut telegrams: Vec<Published> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[') {
            telegrams.push(Published { name: name.trim_end_matches(']').to_owned(), ..Published::default() });
            continue;
        }
        let telegram = telegrams.last_mut().expect("a section");
        let (field, value) = line.split_once(" =").expect("a field");
        let value = value.trim();
        match field {
            "meter" => telegram.meter = value[..12].replace(' ', "-"),
            "telegram" => telegram.line = value.to_owned(),
            "key" => telegram.key = value.to_owned(),
            "mode" => telegram.mode = value.parse().expect("a number"),
            "record" => {
                let parts: Vec<&str> = value.split('|').map(str::trim).collect();
                let (number, storage) = (parts[0].parse(), parts[1].parse());
                let (number, storage) = (number.expect("a number"), storage.expect("a number"));
                telegram.records.push((number, storage, parts[2].to_owned(), parts[3].to_owned()));
            }
            _ => {}
        }
    }
    telegrams
}

/// Finds a section by its name.
pub fn telegram(name: &str) -> Published {
    telegrams().into_iter().find(|telegram| telegram.name == name).expect("a section of this name")
}

impl Published {
    /// The meter as it is registered.
    pub fn registered(&self, unauthenticated: bool) -> MbusMeter {
        registered(&self.meter, &self.key, unauthenticated)
    }

    /// True if a MAC covers it.
    pub fn is_authentic(&self) -> bool {
        matches!(self.mode, 7 | 10)
    }
}

pub fn registered(meter: &str, key: &str, unauthenticated: bool) -> MbusMeter {
    let meter: MbusMeterId = meter.parse().expect("a meter");
    let key = (!key.is_empty()).then(|| MbusKey::from_hex(key).expect("a key"));
    MbusMeter { meter, key, version: None, device_type: None, unauthenticated }
}

/// A receiver that knows these meters.
pub fn receiver(meters: &[MbusMeter], unauthenticated: bool) -> TelegramReceiver {
    let mut receiver = TelegramReceiver::new(TimeZone::UTC, unauthenticated);
    receiver.set_meters(meters.iter().map(|meter| (meter.meter, meter.clone())).collect());
    receiver
}

/// Receives a line that makes a telegram, or is refused.
pub fn receive(receiver: &mut TelegramReceiver, line: &str, at_ms: i64) -> Result<NewTelegram, Refusal> {
    let received = receiver.receive(GATEWAY, line, at_ms).map_err(|(refusal, _)| refusal)?;
    Ok(received.expect("a whole telegram"))
}

/// A telegram in the name of the meter KAW that is not encrypted: anybody can send it.
pub fn forged(access_number: u8, records: &str) -> String {
    let body = format!("44372c060382533c167a{access_number:02x}000000{records}");
    format!("{:02x}{body}", body.len() / 2)
}

/// A record of a volume.
pub fn litres(number: u32) -> String {
    format!("0413{}", number.to_le_bytes().map(|byte| format!("{byte:02x}")).concat())
}
