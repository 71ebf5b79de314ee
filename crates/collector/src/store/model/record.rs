//! The records that the store returns.

use crate::event::{CommandState, UpdateState};
use crate::image_digest::ImageDigest;
use crate::network::GlobalMeterId;
use serde::{Deserialize, Serialize};
use wire::meter::{Answer, ImageRefusal, MessageKind, MeterId, MeterState, QueuedCommand, Suite};

/// A meter as a collector starts with it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptMeter {
    /// The meter, as it was provisioned.
    pub meter: GlobalMeterId,
    pub epoch: u32,
    /// As it was saved last, with `last_n` as it is stored.
    pub state: MeterState,
    pub label: String,
    /// The suite of its last report; before the first, the provisioned one.
    pub suite: Suite,
    /// Seconds between its measurements.
    pub interval_s: u16,
    pub last_heard_ms: Option<i64>,
    /// The time of its last measurement, in s.
    pub last_at_s: Option<i64>,
    pub revoked_ms: Option<i64>,
}

/// The stored state of a meter, with which a partition's session begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredMeter {
    pub(crate) meter: MeterId,
    pub(crate) epoch: u32,
    /// As it was saved last, with `last_n` as it is stored; or why it cannot be read.
    pub(crate) state: Result<MeterState, String>,
    pub(crate) interval_s: u16,
    pub(crate) last_heard_ms: Option<i64>,
    pub(crate) revoked_ms: Option<i64>,
    /// Of this epoch's keys.
    pub(crate) public: Option<[u8; 64]>,
}

/// A meter as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    /// The meter, as it was provisioned.
    pub meter: GlobalMeterId,
    /// Its label; may be empty.
    pub label: String,
    pub epoch: u32,
    /// The suite of its last report.
    pub suite: Suite,
    /// Seconds between its measurements.
    pub interval_s: u16,
    /// Says if it was revoked.
    pub revoked: bool,
    /// Its last measurement.
    pub last: Option<Last>,
    /// When it was heard last, in s.
    pub heard_s: Option<i64>,
    /// Energy since its first start, in Wh; `None`: it has not measured yet.
    pub total_wh: Option<f64>,
    /// Says if it was heard within three intervals.
    pub online: bool,
    /// The quality of its reception.
    pub link: Link,
    /// Alerts that nobody acknowledged.
    pub open_alerts: u32,
    /// Commands that are not answered.
    pub waiting_commands: u32,
}

/// A meter's last measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Last {
    pub at_s: i64,
    /// Mean real power, in W.
    pub power_w: i16,
    /// Its register, in Wh.
    pub energy_wh: f64,
}

/// The quality of a meter's reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The signal strength of its last packet, in dBm.
    pub rssi_dbm: Option<i8>,
    /// Reports that were stored.
    pub reports: u64,
    /// Reports that came again.
    pub repeats: u64,
    /// Packets that were refused in its name.
    pub refused: u64,
    /// Measurements that it lost for want of room.
    pub lost: u64,
}

/// An alert as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertRecord {
    /// Its name in the API.
    pub id: i64,
    /// The meter; `None`: the collector itself.
    pub meter: Option<GlobalMeterId>,
    pub at_s: i64,
    pub cause: String,
    /// In words, with figures.
    pub detail: String,
    pub acknowledged_s: Option<i64>,
    pub acknowledged_by: Option<String>,
}

/// A command as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedCommand {
    Known(QueuedCommand),
    /// The name of a command of a later version, which this one does not give.
    Later(String),
}

impl From<QueuedCommand> for RecordedCommand {
    fn from(command: QueuedCommand) -> RecordedCommand {
        RecordedCommand::Known(command)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CommandRecord {
    /// Its name in the API.
    pub id: i64,
    pub meter: GlobalMeterId,
    /// The ticket of `wire::meter::Collector`.
    pub ticket: u32,
    pub order: RecordedCommand,
    /// The name of the token that commanded it.
    pub by: String,
    pub created_ms: i64,
    /// Its progress.
    pub state: CommandState,
    /// The number of times that it was sent.
    pub attempts: u32,
    /// When it was sent first, in ms.
    pub sent_ms: Option<i64>,
    /// When it was over, in ms.
    pub ended_ms: Option<i64>,
    /// The meter's answer; `None` also for one of a later version.
    pub answer: Option<Answer>,
}

/// An image of meters' firmware, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRecord {
    pub digest: ImageDigest,
    /// The name of the target that it is built for.
    pub target: String,
    pub version: u32,
    /// Of the slot that it is linked for.
    pub address: u32,
    /// Size of it: header, program, signature.
    pub bytes: u32,
    /// The number of pieces that it is sent in.
    pub pieces: u16,
    /// The name of the token that added it.
    pub by: String,
    pub added_ms: i64,
}

/// A meter's latest update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRecord {
    pub meter: GlobalMeterId,
    /// The one that the meter is sent.
    pub image: ImageDigest,
    /// The one that was asked for: another where the meter takes the next image into the other
    /// slot.
    pub asked: ImageDigest,
    /// Of both.
    pub version: u32,
    pub state: UpdateState,
    /// Why the meter refuses it, where it does.
    pub refusal: Option<ImageRefusal>,
    /// Those that the meter has.
    pub pieces: u16,
    /// Pieces of the whole image.
    pub of: u16,
    /// The name of the token that asked for it.
    pub by: String,
    /// It tells a meter's updates apart: that of a later one is higher.
    pub created_ms: i64,
    pub changed_ms: i64,
}

/// The rights of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Looks.
    Viewer,
    /// Looks, commands, and changes.
    Administrator,
}

/// A token. Its secret is not kept.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its name in the API.
    pub id: i64,
    pub name: String,
    /// Its rights.
    pub role: Role,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
    /// When it was made, in ms.
    pub created_ms: i64,
    pub last_used_ms: Option<i64>,
    pub revoked_ms: Option<i64>,
}

impl TokenRecord {
    /// Says if it is valid and an administrator's.
    #[must_use]
    pub fn is_administrator(&self) -> bool {
        self.role == Role::Administrator && self.revoked_ms.is_none()
    }
}

/// Says if one of the tokens is valid and an administrator's.
pub(crate) fn has_administrator(tokens: &[TokenRecord]) -> bool {
    tokens.iter().any(TokenRecord::is_administrator)
}

/// Without the hash.
impl std::fmt::Debug for TokenRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TokenRecord");
        shown
            .field("id", &self.id)
            .field("name", &self.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Higher than those of all before.
    pub id: i64,
    pub at_ms: i64,
    /// The token's name; `command line`, `one-time link` and `collector` are no token's.
    pub who: String,
    pub what: String,
}

/// A message that waits to be forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRecord {
    /// Higher than those of all before.
    pub id: i64,
    /// The radio address that it was sent to.
    pub address: u8,
    /// The meter's name in its packets.
    pub name: MeterId,
    /// Report or answer.
    pub kind: MessageKind,
    pub suite: Suite,
    /// The lowest byte of its number.
    pub number_lsb: u8,
    /// As it came.
    pub message: Vec<u8>,
    pub heard_ms: i64,
}

/// The durations of batches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitTimes {
    /// The number of batches up to each of [`CommitTimes::UP_TO_US`], above the one before; then
    /// those above the last.
    counts: [u64; CommitTimes::UP_TO_US.len() + 1],
    sum_us: u64,
}

impl CommitTimes {
    /// In µs. A meter listens for 100 ms.
    const UP_TO_US: [u64; 13] = [
        1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 75_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
        30_000_000,
    ];

    pub(in crate::store) fn count(&mut self, took_us: u64) {
        let place = CommitTimes::UP_TO_US.partition_point(|up_to_us| *up_to_us < took_us);
        self.counts[place] += 1;
        self.sum_us = self.sum_us.saturating_add(took_us);
    }

    /// Returns bounds in µs, each with the number of batches up to it; the last is of all.
    pub fn up_to(&self) -> impl Iterator<Item = (Option<u64>, u64)> + '_ {
        let limits = CommitTimes::UP_TO_US.into_iter().map(Some).chain([None]);
        limits.zip(self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }))
    }

    #[must_use]
    pub fn sum_us(&self) -> u64 {
        self.sum_us
    }
}

/// The health of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Why the last batch could not be stored; `None`: it could.
    pub trouble: Option<String>,
    /// Batches since the start.
    pub batches: u64,
    /// Reports stored since the start.
    pub reports: u64,
    /// Batches since the start that could not be stored.
    pub failed: u64,
    /// The duration of the last batch, in µs.
    pub last_commit_us: u64,
    /// The durations of all batches since the start.
    pub commit_times: CommitTimes,
    /// Size of the database, in bytes, without its log.
    pub database_bytes: u64,
    /// Size of its write-ahead log, in bytes.
    pub log_bytes: u64,
    /// Readings since the start that were compared with their sums.
    pub compared: u64,
    /// The first since the start that is not as it was stored.
    pub damage: Option<String>,
}
