//! Commands and the reasons for their refusal. Both go between the processes of a cluster, too.

use crate::image_digest::ImageDigest;
use crate::network::GlobalMeterId;
use serde::{Deserialize, Serialize};
use wire::meter::{MeterId, Suite};

/// A command to a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CommandRequest {
    /// The interval of measurements, and the suite.
    Configure {
        /// Seconds between measurements, at least 1.
        interval_s: u16,
        /// For all messages from then on.
        suite: Suite,
    },
    /// The units of the converter's steps.
    Calibrate {
        /// Voltage of a step, in microvolts: 1 to 4,000,000.
        voltage_uv: u32,
        /// Current of a step, in microamperes: 1 to 4,000,000, and with the voltage's a product of
        /// at least 110,000,000.
        current_ua: u32,
        /// By how much later the voltage is to be taken, in 1/256 of a sampling interval: -256 to
        /// 256.
        phase: i16,
    },
    /// Its name and the radio addresses.
    Register {
        /// The name; not 0.
        meter: MeterId,
        /// Radio address of the meter; not 0.
        address: u8,
        /// Radio address of the collector; not 0.
        collector_address: u8,
    },
    /// The time that it is when the command is sent.
    SetTime,
    /// A page of its state.
    ReadStatus {
        /// 0 or 1.
        page: u8,
    },
    /// Begin anew.
    Reboot,
    /// Renew the key of the suite `aes256-gcm-rekeyed`.
    RenewKey,
}

/// A refusal of the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum LinkError {
    /// No such meter, or it was revoked.
    #[error("meter {0} is not one of this collector's; see ./wattseal meters list")]
    UnknownMeter(GlobalMeterId),
    /// Arguments that no meter takes.
    #[error("the command's arguments are out of range; no meter takes them")]
    OutOfRange,
    /// The name is another meter's.
    #[error("the name {0} is another meter's on this channel, or 0, which is nobody; choose another")]
    NameTaken(MeterId),
    /// The name is in another slice of the network, where nobody has the meter's keys.
    #[error(
        "the name {name} is in slice {slice} of its network, and meter {meter} in another: packets under that name are heard by a \
         worker that has no key for them; choose a name of the meter's own slice"
    )]
    OtherSlice { meter: GlobalMeterId, name: MeterId, slice: u8 },
    /// To seal nothing.
    #[error(
        "this collector takes nothing that is not sealed; start it with --require-sealed=false to allow the suite none"
    )]
    SealRequired,
    /// A key is to be renewed, and this collector keeps none that is.
    #[error(
        "this collector keeps no keys that are renewed, as several workers do not whose keys are in files: take these into the database with \
         'wattseal meters import', or choose another suite than aes256-gcm-rekeyed"
    )]
    KeysNotRenewed,
    /// Too many commands wait.
    #[error("{0} commands wait for this meter already; wait for answers, or withdraw some")]
    QueueFull(usize),
    /// All numbers for commands were used.
    #[error("meter {0} had all commands that there are numbers for; provision it again")]
    NumbersUsedUp(GlobalMeterId),
    /// It was answered or withdrawn already, or never was.
    #[error("no command {0} waits for this meter")]
    NoCommand(i64),
    /// It is over, or never was.
    #[error("no update of meter {0} is under way")]
    NoUpdate(GlobalMeterId),
    /// It was taken away, or never was there.
    #[error("there is no image {0}")]
    UnknownImage(ImageDigest),
    /// Times are not set while the collector's own cannot be right.
    #[error("the collector's clock is behind what it stored before; set it, then meters' times can be set")]
    ClockBehind,
    /// Keys of an epoch that is over.
    #[error("meter {meter} has keys of epoch {known} already; those of epoch {given} are over")]
    EpochOver { meter: GlobalMeterId, known: u32, given: u32 },
    /// The stored state of the meter is damaged, or another's.
    #[error("what is stored of meter {0} does not fit its keys; provision it again")]
    State(GlobalMeterId),
    /// Nothing can be stored at the moment.
    #[error("nothing can be stored at the moment: {0}; it is tried again each second")]
    Store(String),
    /// More is asked than the link can answer.
    #[error("the collector has too much to do; try again")]
    Busy,
    #[error("the collector is stopping")]
    Stopped,
    /// In a cluster: no worker has the meter's partition.
    #[error(
        "no worker has the partition of meter {0} at the moment, and nothing was done; see that workers run, and try again in some seconds"
    )]
    Nobody(GlobalMeterId),
    /// In a cluster: the question may or may not have come to the worker.
    #[error("the worker that has meter {0} did not answer: whether it was done is not known")]
    Silent(GlobalMeterId),
    /// In a cluster: the question did not go out.
    #[error("there is no connection to NATS at the moment, and nothing was done; try again in some seconds")]
    NoConnection,
    /// In a cluster: the worker is of another version.
    #[error(
        "the worker that has meter {meter} does not read the question, and nothing was done: {why}; run one version everywhere"
    )]
    NotRead { meter: GlobalMeterId, why: String },
}
