//! The shapes of the API as its description has them, made of what store and meters know.

use crate::event::UpdateState;
use crate::image_digest::ImageDigest;
use crate::network::{GlobalMeterId, NetworkId};
use crate::store::{self, Interval, Resolution};
use serde::Serialize;
use utoipa::ToSchema;
use wire::meter::{ImageRefusal, MeterId, Suite};

/// A suite by name; for the description only.
#[derive(ToSchema)]
#[schema(as = Suite, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum SuiteName {
    None,
    Aes128Gcm,
    Aes256Gcm,
    Ecies,
    EciesEcdsa,
    AsconAead128,
    Aes256GcmRekeyed,
}

/// The rights of a token.
#[derive(ToSchema)]
#[schema(as = Role, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum RoleName {
    /// Looks.
    Viewer,
    /// Looks, commands, and changes.
    Administrator,
}

/// The progress of a command.
#[derive(ToSchema)]
#[schema(as = CommandState, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum CommandStateName {
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

/// The progress of an update of a meter's firmware.
#[derive(ToSchema)]
#[schema(as = UpdateState, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum UpdateStateName {
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

/// Why a meter refuses an image.
#[derive(ToSchema)]
#[schema(as = ImageRefusal, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum RefusalName {
    /// Its header is not the one that was told of, or none.
    NoImage,
    /// It is another target's.
    OtherTarget,
    /// It is linked for the slot that runs, and there is none for the other slot.
    OtherSlot,
    /// Its version is below the one that was confirmed.
    Old,
    /// It is larger than a slot.
    Large,
    /// The meter's flash does not keep it.
    NotKept,
    /// The image that runs is on trial itself.
    OnTrial,
    /// A state that this version does not know.
    Other,
}

/// The resolution of a meter's readings.
#[derive(ToSchema)]
#[schema(as = Resolution, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum ResolutionName {
    /// As they were measured.
    Raw,
    /// By quarter-hour.
    Quarter,
    /// By hour of the zone.
    Hour,
    /// By day of the zone.
    Day,
}

/// By what consumption is summed.
#[derive(ToSchema)]
#[schema(as = Interval, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names are the description's")]
pub(super) enum IntervalName {
    /// Quarter-hours.
    Quarter,
    /// Hours of the zone.
    Hour,
    /// Days of the zone.
    Day,
    /// Weeks, from Monday on.
    Week,
    /// Months.
    Month,
}

/// A meter as it is shown.
#[derive(Serialize, ToSchema)]
pub struct Meter {
    /// The meter, as it was provisioned.
    #[schema(value_type = u16)]
    meter: MeterId,
    /// Its network; left out of network 0's.
    #[schema(value_type = u32)]
    #[serde(skip_serializing_if = "NetworkId::is_default")]
    network: NetworkId,
    /// Its label; may be empty.
    label: String,
    /// Of its keys.
    epoch: u32,
    /// The suite of its last report.
    #[schema(value_type = SuiteName)]
    suite: Suite,
    /// Seconds between its measurements.
    interval_s: u16,
    /// True if it was revoked.
    revoked: bool,
    /// Its last measurement.
    last: Option<Last>,
    /// Energy since its first start, over restarts and new keys, in Wh; `None`: it has not measured
    /// yet.
    total_wh: Option<f64>,
    /// When it was heard last, in s.
    heard_s: Option<i64>,
    /// True if it was heard within three intervals.
    online: bool,
    /// The quality of its reception.
    link: Link,
    /// Alerts that nobody acknowledged.
    open_alerts: u32,
    /// Commands that are not answered.
    waiting_commands: u32,
}

/// A meter's last measurement.
#[derive(Serialize, ToSchema)]
pub struct Last {
    /// When.
    at_s: i64,
    /// Mean real power, in W.
    power_w: i16,
    /// Its register, in Wh: energy since its last start.
    energy_wh: f64,
}

/// The quality of a meter's reception.
#[derive(Serialize, ToSchema)]
pub struct Link {
    /// The signal strength of its last packet, in dBm.
    rssi_dbm: Option<i8>,
    /// Reports that were stored.
    reports: u64,
    /// Reports that came again.
    repeats: u64,
    /// Packets that were refused in its name.
    refused: u64,
    /// Measurements that it lost for want of room.
    lost: u64,
}

/// An alert as it is shown.
#[derive(Serialize, ToSchema)]
pub struct Alert {
    /// Its name in the API.
    id: i64,
    /// The meter; `None`: the collector itself.
    #[schema(value_type = Option<u16>)]
    meter: Option<MeterId>,
    /// The meter's network; left out of network 0's.
    #[schema(value_type = u32)]
    #[serde(skip_serializing_if = "NetworkId::is_default")]
    network: NetworkId,
    /// When, in s.
    at_s: i64,
    /// The cause.
    cause: String,
    /// In words, with figures.
    detail: String,
    /// When it was acknowledged, in s.
    acknowledged_s: Option<i64>,
    /// By whom.
    acknowledged_by: Option<String>,
}

/// An image of meters' firmware.
#[derive(Serialize, ToSchema)]
pub(super) struct Image {
    /// SHA-256 of all its bytes.
    #[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
    digest: ImageDigest,
    /// The target that it is built for.
    #[schema(example = "stm32f407")]
    target: String,
    version: u32,
    /// Of the slot that it is linked for.
    address: u32,
    /// Size of it: header, program, signature.
    bytes: u32,
    /// The number of pieces that it is sent in.
    pieces: u16,
    /// When it was added, in s.
    added_s: i64,
    /// The name of the token that added it.
    by: String,
}

/// A meter's latest update.
#[derive(Serialize, ToSchema)]
pub(super) struct Update {
    #[schema(value_type = u16)]
    meter: MeterId,
    /// The meter's; left out of network 0's.
    #[schema(value_type = u32)]
    #[serde(skip_serializing_if = "NetworkId::is_default")]
    network: NetworkId,
    /// The digest of the image that it is sent.
    #[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
    image: ImageDigest,
    /// The image's.
    version: u32,
    #[schema(value_type = UpdateStateName)]
    state: UpdateState,
    /// Why the meter refuses it, where it does.
    #[schema(value_type = Option<RefusalName>)]
    refusal: Option<&'static str>,
    /// Those that the meter has.
    pieces: u16,
    /// Pieces of the whole image.
    of: u16,
    /// The name of the token that asked for it.
    by: String,
    created_s: i64,
    changed_s: i64,
}

/// An action of an administrator.
#[derive(Serialize, ToSchema)]
pub struct Action {
    /// Higher than those of all before.
    id: i64,
    /// When, in s.
    at_s: i64,
    /// The token's name; `command line`, `one-time link` and `collector` are no token's.
    who: String,
    /// In words.
    what: String,
}

/// A page of readings, as columns of equal length, oldest first.
#[derive(Serialize, ToSchema)]
pub struct Readings {
    /// The meter.
    #[schema(value_type = u16)]
    meter: MeterId,
    /// The meter's network; left out of network 0's.
    #[schema(value_type = u32)]
    #[serde(skip_serializing_if = "NetworkId::is_default")]
    network: NetworkId,
    /// The resolution.
    #[schema(value_type = ResolutionName)]
    resolution: Resolution,
    /// The columns.
    #[serde(flatten)]
    rows: Rows,
    /// The position of the next page; `None`: this was the last.
    next: Option<String>,
}

/// The columns of a page.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Rows {
    /// As they were measured.
    Raw {
        /// When, in s.
        at_s: Vec<i64>,
        /// Mean real power since the one before, in W.
        power_w: Vec<i16>,
        /// The register, in Wh.
        energy_wh: Vec<f64>,
    },
    /// By interval. There is a row where there is a reading.
    Rollup {
        /// When it begins, in s.
        at_s: Vec<i64>,
        /// Mean of the readings' power, in W, to two places.
        power_w: Vec<f64>,
        /// The least of them.
        power_min_w: Vec<i16>,
        /// The greatest of them.
        power_max_w: Vec<i16>,
        /// Energy used, in Wh.
        used_wh: Vec<f64>,
        /// The number of readings.
        readings: Vec<u32>,
    },
}

/// Energy used, as columns.
#[derive(Serialize, ToSchema)]
pub struct Consumption {
    /// By what.
    #[schema(value_type = IntervalName)]
    resolution: Interval,
    /// The zone of its hours, midnights and months.
    zone: String,
    /// When each interval begins, in s: all from the first to the last, without gaps.
    start_s: Vec<i64>,
    /// Meter by meter.
    meters: Vec<ConsumptionOf>,
}

/// Energy that a meter used.
#[derive(Serialize, ToSchema)]
pub(super) struct ConsumptionOf {
    /// The meter.
    #[schema(value_type = u16)]
    meter: MeterId,
    /// Its network; left out of network 0's.
    #[schema(value_type = u32)]
    #[serde(skip_serializing_if = "NetworkId::is_default")]
    network: NetworkId,
    /// In Wh, for each interval; `None` (null) where there is no reading.
    used_wh: Vec<Option<f64>>,
}

/// A command to a meter, as the API has it.
#[derive(ToSchema)]
#[schema(as = CommandOrder, rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names and arguments are the description's")]
pub(super) enum CommandRequest {
    /// The interval of measurements, and the suite.
    Configure {
        /// Seconds between measurements, at least 1.
        #[schema(minimum = 1)]
        interval_s: u16,
        /// For all messages from then on.
        #[schema(value_type = SuiteName)]
        suite: Suite,
    },
    /// The units of the converter's steps.
    Calibrate {
        /// Voltage of a step, in microvolts: 1 to 4,000,000.
        #[schema(minimum = 1, maximum = 4_000_000)]
        voltage_uv: u32,
        /// Current of a step, in microamperes: 1 to 4,000,000, and with the voltage's a product of
        /// at least 110,000,000.
        #[schema(minimum = 1, maximum = 4_000_000)]
        current_ua: u32,
        /// By how much later the voltage is to be taken, in 1/256 of a sampling interval: -256 to
        /// 256.
        #[schema(minimum = -256, maximum = 256)]
        phase: i16,
    },
    /// Its name and the radio addresses.
    Register {
        /// The name; not 0.
        #[schema(value_type = u16, minimum = 1)]
        meter: MeterId,
        /// Radio address of the meter; not 0.
        #[schema(minimum = 1)]
        address: u8,
        /// Radio address of the collector; not 0.
        #[schema(minimum = 1)]
        collector_address: u8,
    },
    /// The time that it is when the command is sent.
    SetTime,
    /// A page of its state.
    ReadStatus {
        /// 0 or 1.
        #[schema(maximum = 1)]
        page: u8,
    },
    /// Begin anew.
    Reboot,
    /// Renew the key of the suite `aes256-gcm-rekeyed`: the collector and the meter agree on
    /// another one, by P-256 and ML-KEM-512.
    RenewKey,
}

impl From<store::Meter> for Meter {
    fn from(meter: store::Meter) -> Meter {
        let store::Meter {
            meter,
            label,
            epoch,
            suite,
            interval_s,
            revoked,
            last,
            total_wh,
            heard_s,
            online,
            link,
            open_alerts,
            waiting_commands,
        } = meter;
        let last = last.map(|store::Last { at_s, power_w, energy_wh }| Last { at_s, power_w, energy_wh });
        let store::Link { rssi_dbm, reports, repeats, refused, lost } = link;
        let link = Link { rssi_dbm, reports, repeats, refused, lost };
        Meter {
            meter: meter.meter,
            network: meter.network,
            label,
            epoch,
            suite,
            interval_s,
            revoked,
            last,
            total_wh,
            heard_s,
            online,
            link,
            open_alerts,
            waiting_commands,
        }
    }
}

impl From<store::AlertRecord> for Alert {
    fn from(alert: store::AlertRecord) -> Alert {
        let store::AlertRecord { id, meter, at_s, cause, detail, acknowledged_s, acknowledged_by } = alert;
        let network = meter.map(|meter| meter.network).unwrap_or_default();
        let meter = meter.map(|meter| meter.meter);
        Alert { id, meter, network, at_s, cause, detail, acknowledged_s, acknowledged_by }
    }
}

impl From<store::ImageRecord> for Image {
    fn from(image: store::ImageRecord) -> Image {
        let store::ImageRecord { digest, target, version, address, bytes, pieces, by, added_ms } = image;
        Image { digest, target, version, address, bytes, pieces, added_s: added_ms.div_euclid(1000), by }
    }
}

impl From<store::UpdateRecord> for Update {
    fn from(update: store::UpdateRecord) -> Update {
        let GlobalMeterId { network, meter } = update.meter;
        Update {
            meter,
            network,
            image: update.image,
            version: update.version,
            state: update.state,
            refusal: update.refusal.map(name_of_refusal),
            pieces: update.pieces,
            of: update.of,
            by: update.by,
            created_s: update.created_ms.div_euclid(1000),
            changed_s: update.changed_ms.div_euclid(1000),
        }
    }
}

/// As it is written but for its number, where it is not known.
fn name_of_refusal(refusal: ImageRefusal) -> &'static str {
    match refusal {
        ImageRefusal::NoImage => "no-image",
        ImageRefusal::OtherTarget => "other-target",
        ImageRefusal::OtherSlot => "other-slot",
        ImageRefusal::Old => "old",
        ImageRefusal::Large => "large",
        ImageRefusal::NotKept => "not-kept",
        ImageRefusal::OnTrial => "on-trial",
        ImageRefusal::Other(_) => "other",
    }
}

impl From<store::Action> for Action {
    fn from(store::Action { id, at_ms, who, what }: store::Action) -> Action {
        Action { id, at_s: at_ms.div_euclid(1000), who, what }
    }
}

impl From<store::Readings> for Readings {
    fn from(store::Readings { meter, resolution, rows, next }: store::Readings) -> Readings {
        let rows = match rows {
            store::Rows::Raw { at_s, power_w, energy_wh } => Rows::Raw { at_s, power_w, energy_wh },
            store::Rows::Rollup { at_s, power_w, power_min_w, power_max_w, used_wh, readings } => {
                Rows::Rollup { at_s, power_w, power_min_w, power_max_w, used_wh, readings }
            }
        };
        let GlobalMeterId { network, meter } = meter;
        Readings { meter, network, resolution, rows, next: next.map(|next| next.to_string()) }
    }
}

impl From<store::Consumption> for Consumption {
    fn from(store::Consumption { resolution, zone, start_s, meters }: store::Consumption) -> Consumption {
        let of = |store::ConsumptionOf { meter, used_wh }| {
            let GlobalMeterId { network, meter } = meter;
            ConsumptionOf { meter, network, used_wh }
        };
        Consumption { resolution, zone, start_s, meters: meters.into_iter().map(of).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::CommandState;
    use crate::store::Role;
    use utoipa::PartialSchema;

    /// Asserts that a description's names are those that its type is written with.
    fn are_names_of<Named: PartialSchema>(values: impl Serialize) {
        let schema = serde_json::to_value(Named::schema()).expect("JSON");
        assert_eq!(schema["enum"], serde_json::to_value(values).expect("JSON"));
    }

    #[test]
    fn the_description_has_the_names_that_are_written() {
        use CommandState::{Done, Refused, Sent, Waiting, Withdrawn};
        are_names_of::<SuiteName>(Suite::ALL);
        are_names_of::<RoleName>([Role::Viewer, Role::Administrator]);
        are_names_of::<CommandStateName>([Waiting, Sent, Done, Refused, Withdrawn]);
        are_names_of::<UpdateStateName>([
            UpdateState::Waiting,
            UpdateState::Asking,
            UpdateState::Sending,
            UpdateState::Trying,
            UpdateState::Runs,
            UpdateState::Refused,
            UpdateState::WentBack,
            UpdateState::NotPossible,
            UpdateState::Withdrawn,
        ]);
        let refusals = [
            ImageRefusal::NoImage,
            ImageRefusal::OtherTarget,
            ImageRefusal::OtherSlot,
            ImageRefusal::Old,
            ImageRefusal::Large,
            ImageRefusal::NotKept,
            ImageRefusal::OnTrial,
        ];
        let names = refusals.map(name_of_refusal);
        are_names_of::<RefusalName>([&names[..], &["other"]].concat());
        assert_eq!(serde_json::to_value(refusals).expect("JSON"), serde_json::json!(names));
        are_names_of::<ResolutionName>([
            Resolution::Raw,
            Resolution::Quarter,
            Resolution::Hour,
            Resolution::Day,
        ]);
        are_names_of::<IntervalName>([
            Interval::Quarter,
            Interval::Hour,
            Interval::Day,
            Interval::Week,
            Interval::Month,
        ]);
    }
}
