//! Writes that were submitted to the store, and those that wait for another attempt.

use super::error::RequestError;
use super::receipt::Receipts;
use super::request::Answer;
use crate::gateway::Route;
use crate::network::NetworkId;
use crate::store::{
    CommandProgress, MeterCounts, NewAction, NewAlert, NewCommand, NewUpdate, Provisioned, UpdateProgress,
    Write,
};
use wire::meter::{MeterId, MeterRecord};

/// A submitted write, with the action that follows it. It is enough to submit it again.
#[derive(Debug)]
pub(crate) enum PendingCommit {
    /// Acknowledge it. Not tried again: the meter sends it again.
    Report { meter: MeterId, epoch: u32, n: u32, heard_ms: i64, route: Route, receipts: Receipts },
    /// The state as it is when it is submitted.
    State { meter: MeterId, revision: u64 },
    /// Say its name. Not tried again: who gave the command is told that it is not given, and then
    /// it must not be.
    Command { command: NewCommand, answer: Option<Answer<Result<i64, RequestError>>> },
    /// Tell subscribers, if it was there.
    NotGiven { meter: MeterId, ticket: u32 },
    /// Tell subscribers and the caller.
    Progress { progress: CommandProgress, answer: Option<Answer<Result<(), RequestError>>> },
    /// Begin it. Not tried again: who wants it is told that it is not begun, and then it must not
    /// be.
    Update { update: NewUpdate, answer: Option<Answer<Result<i64, RequestError>>> },
    /// Nothing.
    UpdateNotBegun { meter: MeterId, created_ms: i64 },
    /// Tell subscribers and the caller.
    UpdateProgress { progress: UpdateProgress, answer: Option<Answer<Result<(), RequestError>>> },
    /// Nothing.
    Interval { meter: MeterId, interval_s: u16 },
    /// Nothing.
    Counts(MeterCounts),
    /// Tell subscribers.
    Alert(NewAlert),
    /// Nothing.
    Action(NewAction),
    /// The meter is one of the collector's now. Not tried again: who gave it is told.
    Provisioned {
        provisioned: Box<Provisioned>,
        record: Box<MeterRecord>,
        answer: Answer<Result<(), RequestError>>,
    },
    /// Tell subscribers and the caller.
    Revoked { meter: MeterId, at_ms: i64, answer: Option<Answer<Result<(), RequestError>>> },
}

impl PendingCommit {
    /// Returns the write; none for a report, whose message is not kept here, and for a state, which
    /// is read when it is submitted.
    pub(crate) fn write(&self, network: NetworkId, at_ms: i64) -> Option<Write> {
        Some(match self {
            PendingCommit::Report { .. } | PendingCommit::State { .. } => return None,
            PendingCommit::Command { command, .. } => Write::Command(command.clone()),
            PendingCommit::NotGiven { meter, ticket } => {
                Write::CommandNotGiven { meter: network.meter(*meter), ticket: *ticket, at_ms }
            }
            PendingCommit::Progress { progress, .. } => Write::CommandProgress(progress.clone()),
            PendingCommit::Update { update, .. } => Write::Update(update.clone()),
            PendingCommit::UpdateNotBegun { meter, created_ms } => {
                Write::UpdateNotBegun { meter: network.meter(*meter), created_ms: *created_ms, at_ms }
            }
            PendingCommit::UpdateProgress { progress, .. } => Write::UpdateProgress(progress.clone()),
            PendingCommit::Interval { meter, interval_s } => {
                Write::IntervalOf { meter: network.meter(*meter), interval_s: *interval_s }
            }
            PendingCommit::Counts(counts) => Write::Counts(*counts),
            PendingCommit::Alert(alert) => Write::Alert(alert.clone()),
            PendingCommit::Action(action) => Write::Action(action.clone()),
            PendingCommit::Provisioned { provisioned, .. } => Write::Provisioned(provisioned.clone()),
            PendingCommit::Revoked { meter, at_ms, .. } => {
                Write::Revoked { meter: network.meter(*meter), at_ms: *at_ms }
            }
        })
    }
}

/// A pending commit, by the order in which it was submitted.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) number: u64,
    pub(crate) pending: PendingCommit,
}
