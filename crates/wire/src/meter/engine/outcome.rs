//! The results that the engine gives to its owner.

use super::rejection::Rejection;
use super::state::MeterState;
use crate::meter::{Answer, Command, MeterId, MeterRecord, Report, Suite};

/// Packets to be sent one after the other, address first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// For whom, as it was provisioned.
    pub meter: MeterId,
    /// One to three.
    pub packets: Vec<Vec<u8>>,
}

/// A report that nobody had before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedReport {
    /// The meter, as it was provisioned.
    pub meter: MeterId,
    /// The suite it was sealed in.
    pub suite: Suite,
    /// The opened report.
    pub report: Report,
    /// The message as it was sealed: with [`Suite::EciesEcdsa`] the meter's signature is in it,
    /// [`super::signature_holds`].
    pub sealed: Vec<u8>,
    /// When its last packet came: milliseconds since 2000-01-01 00:00:00 UTC.
    pub heard_ms: u64,
    /// It says that the meter started as often as it had before: its non-volatile memory was
    /// written again, its numbers come twice, and its keys are to be replaced.
    pub counter_rollback: bool,
}

/// A command that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedCommand {
    /// The meter, as it was provisioned.
    pub meter: MeterId,
    /// The ticket that [`Collector::command`] returned.
    pub ticket: u32,
    /// The command, as it was sent last.
    pub command: Command,
    /// The meter's answer.
    pub answer: Answer,
}

/// The result of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UplinkOutcome {
    /// A new report. Keep it, then call [`Collector::confirm_report`] and send what that returns;
    /// or [`Collector::reject_report`].
    Report(Box<ReceivedReport>),
    /// A report that was stored already: this acknowledgement is to be sent again.
    Duplicate(Transmission),
    /// A report whose number is not above the last one, and that this collector does not remember:
    /// it has to be compared with what is stored under its number. The same one: call
    /// [`Collector::confirm_report`] and send what that returns. Nothing: it comes late, because a
    /// torn byte of the meter's memory read otherwise before; store it, and do the same. Another
    /// one: [`Collector::number_reused`].
    OldNumber(Box<ReceivedReport>),
    /// Authentic, and with the number of another report that is stored: the meter's non-volatile
    /// memory was written again, and its keys are to be replaced. It is not acknowledged.
    NumberReused(Box<ReceivedReport>),
    /// A report while one of the same meter is being stored: nothing to be done, it comes again.
    Busy,
    /// The answer to the command that was under way.
    Answer(Box<CompletedCommand>),
    /// The meter has taken commands with higher numbers than this collector knew of. The command
    /// goes out again with a number above them.
    NumberTooLow {
        /// The meter, as it was provisioned.
        meter: MeterId,
        /// Its last one.
        last_m: u32,
    },
    /// An authentic report in a suite that shows less than the meter is known to show: nothing of
    /// it is taken, but it is the meter that is heard there, and a command can reach it.
    OtherSuite,
    /// A piece of a message that is not whole yet.
    Piece,
    /// Nothing that was taken; it was counted.
    Rejected(Rejection),
}

/// An action that the collector asks its owner for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// Make this state durable, then call [`Collector::confirm_state`] with its revision, and then
    /// [`Collector::due`] again.
    Save(Box<MeterState>),
    /// Make this record durable in the place of the meter's before, whose keys are others, then
    /// call [`Collector::confirm_keys`] with it, and then [`Collector::due`] again. Where a key is
    /// in it that was not, nothing is sealed with that before; where one is not any more, it is to
    /// be erased.
    SaveKeys(Box<MeterRecord>),
    /// Send it.
    Send(Transmission),
}
