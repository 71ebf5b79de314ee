//! Writes and their results.

use crate::event::{self, CommandState, UpdateState};
use crate::image_digest::ImageDigest;
use crate::mbus_meter::MbusMeterId;
use crate::network::{GlobalMeterId, NetworkId};
use crate::store::model::record::{AlertRecord, CommandRecord, Role, UpdateRecord};
use crate::store::model::telegram::NewTelegram;
use wire::meter::{
    Answer, Image, ImageRefusal, MessageKind, MeterId, MeterState, PublicKey, QueuedCommand, Report, Suite,
};

/// A write. Its results stand with each.
#[derive(Clone, Debug)]
pub enum Write {
    /// A report that `wire::meter::Collector` handed out. [`Written::Reading`] or
    /// [`Written::Alert`]; [`Written::Repeated`] where its n is not above the last one stored;
    /// [`Written::Unknown`] where there is no such meter and epoch: it is not stored then.
    Report(NewReport),
    /// The state of a meter that `wire::meter::Collector` wants kept; its `last_n` is ignored.
    /// [`Written::Done`]; [`Written::Unknown`] for another epoch than the meter's.
    State {
        /// The meter's.
        network: NetworkId,
        /// Of the meter's keys.
        epoch: u32,
        state: Box<MeterState>,
    },
    /// A meter is new, or has new keys. [`Written::Done`], also where it is known like this
    /// already; [`Written::Unknown`] where its epoch is lower than the one that is stored, the same
    /// with another public key, or the same and revoked: its keys are over.
    Provisioned(Box<Provisioned>),
    /// The label of a meter. [`Written::Done`], [`Written::Unknown`].
    Label { meter: GlobalMeterId, label: String },
    /// Seconds between a meter's measurements, as it was configured. [`Written::Done`],
    /// [`Written::Unknown`].
    IntervalOf { meter: GlobalMeterId, interval_s: u16 },
    /// The counts of a meter since the last ones. [`Written::Done`], [`Written::Unknown`].
    Counts(MeterCounts),
    /// A meter is one of this collector's no more. [`Written::Done`], [`Written::Unknown`].
    Revoked { meter: GlobalMeterId, at_ms: i64 },
    /// An alert of the collector's own. [`Written::Alert`].
    Alert(NewAlert),
    /// Somebody has seen an alert; who was first stays. [`Written::Acknowledged`],
    /// [`Written::Unknown`].
    Acknowledge {
        alert: i64,
        /// The token's name.
        by: String,
        at_ms: i64,
    },
    /// A command that was given. [`Written::Command`].
    Command(NewCommand),
    /// A command went on. [`Written::Command`], [`Written::Unknown`].
    CommandProgress(CommandProgress),
    /// A command may have been given, by a transaction of which nobody knows what became: it is
    /// withdrawn where it is there, and not over. [`Written::Command`], [`Written::Unknown`].
    CommandNotGiven {
        meter: GlobalMeterId,
        /// As [`NewCommand::ticket`].
        ticket: u32,
        at_ms: i64,
    },
    /// An image of meters' firmware. [`Written::Image`].
    Image(NewImage),
    /// An image goes. [`Written::Done`], [`Written::Unknown`]; [`Written::ImageInUse`]: an update
    /// that is not over needs it.
    ImageRemoved { digest: ImageDigest },
    /// A meter is to have an image, in place of what it was to have before. [`Written::Update`];
    /// [`Written::Unknown`] where there is no such image.
    Update(NewUpdate),
    /// An update went on. [`Written::Done`]; [`Written::Unknown`] where it is over, or another took
    /// its place.
    UpdateProgress(UpdateProgress),
    /// An update may have been begun, by a transaction of which nobody knows what became: it is
    /// withdrawn where it is there, and not over. [`Written::Done`], [`Written::Unknown`].
    UpdateNotBegun {
        meter: GlobalMeterId,
        /// As [`NewUpdate::created_ms`].
        created_ms: i64,
        at_ms: i64,
    },
    /// A token was made. [`Written::Token`].
    Token(NewToken),
    /// A token is good for nothing any more. [`Written::Done`], [`Written::Unknown`].
    TokenRevoked { token: i64, at_ms: i64 },
    /// A token was used; worth to be written once a minute. [`Written::Done`],
    /// [`Written::Unknown`].
    TokenUsed { token: i64, at_ms: i64 },
    /// An administrator did something. [`Written::Done`].
    Action(NewAction),
    /// A telegram of another maker's meter. [`Written::Done`]; [`Written::Repeated`] where its
    /// counter is not above the last one of its key: it is not stored then.
    Telegram(Box<NewTelegram>),
    /// Telegrams in the name of another maker's meter were refused. [`Written::Done`].
    TelegramsRefused { meter: MbusMeterId, count: u32, at_ms: i64, reason: String },
    /// A message to be forwarded. [`Written::Outbox`].
    OutboxPut(NewOutbox),
    /// A message was forwarded. [`Written::Done`], [`Written::Unknown`].
    OutboxRemove { id: i64 },
}

/// A report that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReport {
    /// The meter, as it was provisioned.
    pub meter: GlobalMeterId,
    pub epoch: u32,
    /// When its last packet came, in ms.
    pub heard_ms: i64,
    pub suite: Suite,
    pub report: Report,
    /// As it came; kept with [`Suite::EciesEcdsa`].
    pub sealed: Vec<u8>,
    /// The signal strength of its last packet, in dBm.
    pub rssi_dbm: Option<i8>,
}

/// A meter with the keys of an epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Provisioned {
    pub meter: GlobalMeterId,
    /// 1 for its first keys, one more with each provisioning after it.
    pub epoch: u32,
    /// Its label; `None`: as before, or none.
    pub label: Option<String>,
    pub public: PublicKey,
    /// The collector's, which the meter was given: an audit needs both.
    pub collector_public: PublicKey,
    /// Its first suite.
    pub suite: Suite,
    /// Seconds between its measurements.
    pub interval_s: u16,
    /// `MeterState::new` of its record.
    pub state: MeterState,
    pub at_ms: i64,
}

/// Counts of a meter, to be added to the stored ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterCounts {
    pub meter: GlobalMeterId,
    /// Reports that came again.
    pub repeats: u32,
    /// Packets refused in its name.
    pub refused: u32,
}

/// An alert of the collector's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAlert {
    /// The meter that it is about; `None`: the collector.
    pub meter: Option<GlobalMeterId>,
    pub at_ms: i64,
    /// `silent`, `lost-readings`, `clock`, `store`, `refused`.
    pub cause: String,
    /// In words, with figures.
    pub detail: String,
}

/// A command that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommand {
    pub meter: GlobalMeterId,
    /// The ticket that `wire::meter::Collector::command` returned.
    pub ticket: u32,
    pub order: QueuedCommand,
    /// The token's name.
    pub by: String,
    pub created_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandProgress {
    pub id: i64,
    pub state: CommandState,
    /// The number of times that it was sent.
    pub attempts: u32,
    /// When, in ms: of the first with [`CommandState::Sent`], when it was sent; when it was over
    /// with those that end it.
    pub at_ms: i64,
    /// The meter's answer.
    pub answer: Option<Answer>,
}

/// An image of meters' firmware that somebody added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewImage {
    pub image: Image,
    /// The token's name.
    pub by: String,
    pub added_ms: i64,
}

/// A meter is to have an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUpdate {
    pub meter: GlobalMeterId,
    pub image: ImageDigest,
    /// The token's name.
    pub by: String,
    /// It tells a meter's updates apart: that of a later one is higher.
    pub created_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateProgress {
    pub meter: GlobalMeterId,
    /// As [`NewUpdate::created_ms`].
    pub created_ms: i64,
    /// The one that the meter is sent.
    pub image: ImageDigest,
    pub state: UpdateState,
    /// Why the meter refuses it, where it does.
    pub refusal: Option<ImageRefusal>,
    /// Those that the meter has.
    pub pieces: u16,
    /// Pieces of the whole image.
    pub of: u16,
    pub at_ms: i64,
}

/// A token that was made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewToken {
    pub name: String,
    /// Its rights.
    pub role: Role,
    /// SHA-256 of its secret.
    pub hash: [u8; 32],
    pub created_ms: i64,
}

/// Without the hash.
impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewToken").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAction {
    pub at_ms: i64,
    /// The token's name; `command line`, `one-time link` and `collector` are no token's.
    pub who: String,
    pub what: String,
}

/// A message to be forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOutbox {
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

/// The result of adding an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageAdded {
    New,
    /// It was there already.
    Known,
    /// There are [`super::IMAGES_MAX`].
    NoRoom,
}

/// The result of a [`Write`].
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A measurement is stored: acknowledge it.
    Reading {
        /// As it is told.
        reading: event::Reading,
        /// Measurements that the meter lost since its last report.
        lost: u8,
    },
    /// An alert is stored: acknowledge it, where it is a meter's.
    Alert {
        /// As it is told.
        alert: event::Alert,
        /// Measurements that the meter lost since its last report.
        lost: u8,
    },
    /// It was stored before, and is acknowledged again.
    Repeated,
    /// Another report with that number is stored: not stored.
    NumberReused,
    /// There is no such meter, epoch, alert, command, token or message; nothing was stored, and
    /// nothing is to be acknowledged.
    Unknown,
    /// The alert as it is now.
    Acknowledged(AlertRecord),
    /// The command as it is now.
    Command(Box<CommandRecord>),
    Image(ImageAdded),
    /// An update that is not over needs the image; it stays.
    ImageInUse,
    /// The update as it is now.
    Update(Box<UpdateRecord>),
    /// The new token's id.
    Token(i64),
    /// The message's id; of one that is there already, the same again; `None`: there is no room for
    /// it.
    Outbox(Option<i64>),
    Done,
}
