//! Writes that were submitted to the store, and those that wait for another attempt.

use super::command::LinkError;
use super::handle::Answer;
use super::receipt::Receipts;
use crate::gateway::Route;
use crate::store::{
    CommandProgress, MeterCounts, NewAction, NewAlert, NewCommand, NewUpdate, Provisioned, UpdateProgress,
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
    Command { command: NewCommand, answer: Option<Answer<Result<i64, LinkError>>> },
    /// Tell subscribers, if it was there.
    NotGiven { meter: MeterId, ticket: u32 },
    /// Tell subscribers and the caller.
    Progress { progress: CommandProgress, answer: Option<Answer<Result<(), LinkError>>> },
    /// Begin it. Not tried again: who wants it is told that it is not begun, and then it must not
    /// be.
    Update { update: NewUpdate, answer: Option<Answer<Result<i64, LinkError>>> },
    /// Nothing.
    UpdateNotBegun { meter: MeterId, created_ms: i64 },
    /// Tell subscribers and the caller.
    UpdateProgress { progress: UpdateProgress, answer: Option<Answer<Result<(), LinkError>>> },
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
        answer: Answer<Result<(), LinkError>>,
    },
    /// Tell subscribers and the caller.
    Revoked { meter: MeterId, at_ms: i64, answer: Option<Answer<Result<(), LinkError>>> },
}

/// A pending commit, by the order in which it was submitted.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(super) number: u64,
    pub(super) pending: PendingCommit,
}
