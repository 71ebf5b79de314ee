//! The events for observers: the dashboard's live view, and MQTT. An event comes after it is
//! durable, in order, to every subscriber that keeps up.

use crate::mbus_meter::MbusMeterId;
use crate::network::{GlobalMeterId, NetworkId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::meter::{MeterId, Suite};

/// Something that happened, and is durable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A measurement was taken.
    Reading(Reading),
    /// An alert was raised: by a meter, or by the collector itself.
    Alert(Alert),
    /// A command went on: was sent, answered, withdrawn.
    Command(CommandUpdate),
    /// A meter was added, changed, rotated or revoked: ask for it again.
    Meter {
        #[serde(flatten)]
        meter: GlobalMeterId,
    },
    /// The update of a meter's firmware was begun, went on, or is over: ask for the updates again.
    Update {
        #[serde(flatten)]
        meter: GlobalMeterId,
    },
    /// A telegram of another maker's meter was stored.
    Telegram(Telegram),
    /// Another maker's meter was removed: its telegrams are no longer taken.
    MbusMeterRemoved { meter: MbusMeterId },
    /// Some were not told: ask for all again.
    #[serde(rename = "resync")]
    Missed,
}

/// A measurement as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The meter, as it was provisioned.
    #[serde(flatten)]
    pub meter: GlobalMeterId,
    /// Its number: higher than all before of this meter and epoch.
    pub n: u32,
    /// Unix time in seconds: the meter's, or while that is not set the collector's.
    pub at_s: i64,
    /// When it was heard: Unix time in milliseconds.
    pub heard_ms: i64,
    /// Mean real power since the last one, in W.
    pub power_w: i16,
    /// Energy since the meter's start, in 0.1 Wh.
    pub energy_dwh: u32,
    /// Energy since the meter's first start, in 0.1 Wh. A worker of a version before it says
    /// nothing of it.
    #[serde(default)]
    pub total_dwh: Option<i64>,
    pub suite: Suite,
    /// The signal strength of its last packet, in dBm.
    pub rssi_dbm: Option<i8>,
}

/// A telegram as it is shown: its numbers whose codes are all known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telegram {
    /// The meter, as it was registered.
    pub meter: MbusMeterId,
    /// The code of its device type.
    pub device_type: u8,
    /// When it was heard: Unix time in milliseconds.
    pub heard_ms: i64,
    /// False: nothing authenticates it, and anybody may have sent it.
    pub authenticated: bool,
    pub values: Vec<TelegramValue>,
}

/// A number of a telegram.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TelegramValue {
    pub quantity: String,
    /// The unit; empty if there is none.
    pub unit: String,
    /// The number in decimal, without rounding.
    pub value: String,
    /// `instantaneous`, `maximum`, `minimum` or `during error`.
    pub function: String,
    /// The storage number: 0 now, higher ones for the past.
    pub storage: u64,
    pub tariff: u32,
    pub subunit: u16,
    /// Names of codes that change what the number says, such as `backward only`.
    pub modifiers: Vec<String>,
}

/// An alert as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// Its name in the API.
    pub id: i64,
    /// The meter; `None`: the collector itself.
    #[serde(flatten, serialize_with = "whose", deserialize_with = "whose_it_is")]
    pub meter: Option<GlobalMeterId>,
    /// Unix time in seconds.
    pub at_s: i64,
    /// A meter's cause (`power-on`, `watchdog`, ..), or the collector's (`silent`, `lost-readings`,
    /// `clock`, ..).
    pub cause: String,
    /// In words, with figures.
    pub detail: String,
}

/// The fields of a meter's name; of none `meter` alone, which is null.
fn whose<S: Serializer>(meter: &Option<GlobalMeterId>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Nobody {
        meter: (),
    }
    match meter {
        Some(meter) => meter.serialize(serializer),
        None => Nobody { meter: () }.serialize(serializer),
    }
}

/// The same, read.
fn whose_it_is<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GlobalMeterId>, D::Error> {
    #[derive(Deserialize)]
    struct Named {
        meter: Option<MeterId>,
        #[serde(default)]
        network: NetworkId,
    }
    let Named { meter, network } = Named::deserialize(deserializer)?;
    Ok(meter.map(|meter| network.meter(meter)))
}

/// The progress of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandUpdate {
    /// Its name in the API.
    pub id: i64,
    #[serde(flatten)]
    pub meter: GlobalMeterId,
    pub state: CommandState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandState {
    /// Others are before it, or it was not sent yet.
    Waiting,
    /// It was sent, and is sent again until it is answered.
    Sent,
    /// The meter did it.
    Done,
    /// The meter refused it: code not known, or arguments out of range.
    Refused,
    /// It was taken back; the meter may have done it, if it was sent.
    Withdrawn,
}

/// The state of an update of a meter's firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateState {
    /// Others go first, the meter is not heard, or the image is not there.
    Waiting,
    /// The meter is asked how it stands, or told what comes.
    Asking,
    /// Pieces are sent.
    Sending,
    /// The meter has all of it, and begins anew with it, or has it on trial.
    Trying,
    /// The meter runs an image of that version, and has reported in.
    Runs,
    /// The meter refuses the image.
    Refused,
    /// The meter had it, and runs the one before: the signature is not good, or it did not report
    /// in.
    WentBack,
    /// The meter has no bootloader, or a firmware that knows nothing of this.
    NotPossible,
    /// It was taken back, or the meter got other keys; a meter that had all of it may run it all
    /// the same.
    Withdrawn,
}

impl UpdateState {
    /// Says if it is the last state.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(
            self,
            UpdateState::Waiting | UpdateState::Asking | UpdateState::Sending | UpdateState::Trying
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_was_written_is_read_as_it_was() {
        let meter = NetworkId(7).meter(258);
        let alert = |meter| {
            let (cause, detail) = ("silent".to_owned(), "not heard".to_owned());
            Event::Alert(Alert { id: 3, meter, at_s: 5, cause, detail })
        };
        let mbus_meter = "ELS-12345678".parse().expect("a meter");
        let reading = Reading {
            meter,
            n: 1,
            at_s: 2,
            heard_ms: 3,
            power_w: -4,
            energy_dwh: 5,
            total_dwh: Some(15),
            suite: Suite::EciesEcdsa,
            rssi_dbm: Some(-61),
        };
        for event in [
            Event::Reading(reading.clone()),
            Event::Reading(Reading { meter: 258.into(), rssi_dbm: None, ..reading }),
            alert(Some(meter)),
            alert(Some(258.into())),
            alert(None),
            Event::Command(CommandUpdate { id: 1, meter, state: CommandState::Sent }),
            Event::Meter { meter },
            Event::Update { meter },
            Event::Telegram(Telegram {
                meter: mbus_meter,
                device_type: 3,
                heard_ms: 4,
                authenticated: false,
                values: vec![TelegramValue { value: "0.5".into(), ..TelegramValue::default() }],
            }),
            Event::MbusMeterRemoved { meter: mbus_meter },
            Event::Missed,
        ] {
            let text = serde_json::to_string(&event).expect("JSON");
            assert_eq!(serde_json::from_str::<Event>(&text).expect(&text), event, "{text}");
        }
        assert_eq!(serde_json::to_string(&Event::Missed).expect("JSON"), r#"{"event":"resync"}"#);
    }
}
