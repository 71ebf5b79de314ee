//! The reasons why a request about a meter is refused. They go between the processes of a cluster,
//! too.

use crate::image_digest::ImageDigest;
use crate::network::{GlobalMeterId, NetworkId};
use serde::{Deserialize, Serialize};
use wire::meter::{CollectorError, MeterId};

/// A refusal of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum RequestError {
    /// No such meter, or it was revoked.
    #[error("meter {0} is not one of this collector's; see wattseal meters list")]
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
    /// More is asked than the session can answer.
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

impl RequestError {
    /// Translates an error of a network's collector.
    pub(crate) fn of(network: NetworkId, error: CollectorError) -> RequestError {
        match error {
            CollectorError::UnknownMeter(meter) => RequestError::UnknownMeter(network.meter(meter)),
            CollectorError::NameTaken(name) => RequestError::NameTaken(name),
            CollectorError::OtherState(meter) | CollectorError::DamagedState(meter) => {
                RequestError::State(network.meter(meter))
            }
            CollectorError::QueueFull(count) => RequestError::QueueFull(count),
            CollectorError::OutOfRange => RequestError::OutOfRange,
            CollectorError::SealRequired => RequestError::SealRequired,
            // None is asked for that has no image.
            CollectorError::ImageNeeded => RequestError::OutOfRange,
            CollectorError::KeysNotRenewed => RequestError::KeysNotRenewed,
            CollectorError::NoCommand(ticket) => RequestError::NoCommand(ticket.into()),
            CollectorError::NotHandedOut { meter, .. } => RequestError::State(network.meter(meter)),
            CollectorError::NumbersUsedUp(meter) => RequestError::NumbersUsedUp(network.meter(meter)),
        }
    }
}
