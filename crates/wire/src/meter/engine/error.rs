//! Errors of a collector.

use crate::meter::MeterId;

/// A request that a collector refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// No such meter was added.
    #[error("meter {0} is not one of this collector's; add it first")]
    UnknownMeter(MeterId),
    /// The number or name is another meter's.
    #[error("the name {0} is another meter's on this channel, or 0, which is nobody")]
    NameTaken(MeterId),
    /// A state of another meter.
    #[error("the state is that of meter {0}, the record of another")]
    OtherState(MeterId),
    /// A state that no collector keeps.
    #[error(
        "the state of meter {0} is damaged; take the last copy, and let numbers of commands go on above it"
    )]
    DamagedState(MeterId),
    /// Too many commands wait.
    #[error("{0} commands wait for this meter already; wait for answers, or withdraw some")]
    QueueFull(usize),
    /// A command with arguments that no meter takes.
    #[error("the command's arguments are out of range; no meter takes them")]
    OutOfRange,
    /// A command to seal nothing, and the policy forbids it.
    #[error(
        "this collector takes nothing that is not sealed; start it with --require-sealed=false to allow the suite none"
    )]
    SealRequired,
    /// A key is to be renewed, and the policy forbids it.
    #[error("this collector keeps no keys that are renewed; choose another suite than aes256-gcm-rekeyed")]
    KeysNotRenewed,
    /// A command to take an image, without one.
    #[error("an image goes with the command to take it; give it to Collector::update")]
    ImageNeeded,
    /// No such command waits.
    #[error("no command with ticket {0} waits for this meter")]
    NoCommand(u32),
    /// Nothing of that number is being stored.
    #[error("no report {n} of meter {meter} was handed out and not confirmed yet")]
    NotHandedOut {
        /// The meter, as it was provisioned.
        meter: MeterId,
        /// The number of the report.
        n: u32,
    },
    /// 2^32 - 1 commands were made.
    #[error("meter {0} had all commands that there are numbers for; provision it again")]
    NumbersUsedUp(MeterId),
}
