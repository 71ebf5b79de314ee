//! Commands: queued, withdrawn, sent and answered.

use crate::event::CommandState;
use crate::meters::{Answer, Named, PartitionState, PendingCommit, RequestError};
use crate::store::{CommandProgress, NewCommand};
use std::collections::BTreeMap;
use wire::meter::{Command, CommandResult, CompletedCommand, Delivery, MeterId, QueuedCommand};

/// Queues a command, and answers when it is durable. is_clock_behind: no meter is told a time that
/// cannot be right.
pub(crate) fn give_command(
    state: &mut PartitionState,
    (meter, order): (MeterId, QueuedCommand),
    by: String,
    is_clock_behind: bool,
    answer: Answer<Result<i64, RequestError>>,
) {
    match queue(state, meter, order, is_clock_behind) {
        Ok(ticket) => {
            let (global, created_ms) = (state.global(meter), state.now_ms);
            let command = NewCommand { meter: global, ticket, order, by, created_ms };
            state.store(PendingCommit::Command { command, answer: Some(answer) });
            state.store_state(meter);
        }
        Err(error) => drop(answer.send(Err(error))),
    }
}

/// Queues a command in the engine. Returns its ticket.
fn queue(
    state: &mut PartitionState,
    meter: MeterId,
    order: QueuedCommand,
    is_clock_behind: bool,
) -> Result<u32, RequestError> {
    if state.store_queue.is_paused() {
        return Err(RequestError::Store("the last transaction failed".into()));
    }
    let slices = state.lease.slices;
    if let QueuedCommand::Command(Command::Register { meter: name, .. }) = order
        && slices.of(name) != slices.of(meter)
    {
        let slice = slices.of(name);
        return Err(RequestError::OtherSlice { meter: state.global(meter), name, slice });
    }
    let queued = match order {
        // The time is that of the sending, and the collector asks for a meter's by itself.
        QueuedCommand::ReadClock | QueuedCommand::Command(Command::SetTime { .. }) => {
            return Err(RequestError::OutOfRange);
        }
        QueuedCommand::Command(command) => state.meters.engine.command(meter, command),
        QueuedCommand::TimeNow if !state.meters.contains(meter) => {
            return Err(RequestError::UnknownMeter(state.global(meter)));
        }
        QueuedCommand::TimeNow if is_clock_behind => return Err(RequestError::ClockBehind),
        QueuedCommand::TimeNow => state.meters.engine.set_time(meter),
    };
    queued.map_err(|error| RequestError::of(state.network(), error))
}

/// Takes a command back by its name in the API.
pub(crate) fn withdraw_command(
    state: &mut PartitionState,
    meter: MeterId,
    id: i64,
    answer: Answer<Result<(), RequestError>>,
) {
    let Some(known) = state.meters.get_mut(meter) else {
        drop(answer.send(Err(RequestError::UnknownMeter(state.global(meter)))));
        return;
    };
    let ticket =
        known.activity().commands.iter().find(|(_, named)| named.id == id).map(|(ticket, _)| *ticket);
    let is_withdrawn = ticket.is_some_and(|ticket| state.meters.engine.withdraw(meter, ticket).is_ok());
    if !is_withdrawn {
        drop(answer.send(Err(RequestError::NoCommand(id))));
        return;
    }
    on_withdrawn(state, meter, ticket, Some(answer));
    state.store_state(meter);
}

/// Reports that a meter's command was withdrawn, or all of its commands.
pub(crate) fn on_withdrawn(
    state: &mut PartitionState,
    meter: MeterId,
    ticket: Option<u32>,
    mut answer: Option<Answer<Result<(), RequestError>>>,
) {
    let Some(known) = state.meters.get_mut(meter) else { return };
    let is_withdrawn = |given: &u32| ticket.is_none_or(|ticket| ticket == *given);
    if known.activity().commands.is_empty() {
        return;
    }
    let commands = &mut known.active().commands;
    let (gone, stay) = std::mem::take(commands).into_iter().partition(|(given, _)| is_withdrawn(given));
    *commands = stay;
    for named in BTreeMap::into_values(gone) {
        let progress = progress(named, CommandState::Withdrawn, state.now_ms);
        state.store(PendingCommit::Progress { progress, answer: answer.take() });
    }
}

/// Withdraws commands that set the time: no meter is told a time that cannot be right.
pub(crate) fn withdraw_times(state: &mut PartitionState) {
    let busy: Vec<MeterId> = state.meters.engine.busy().collect();
    for meter in busy {
        for (ticket, order, _) in state.meters.engine.commands(meter) {
            if order == QueuedCommand::TimeNow && state.meters.engine.withdraw(meter, ticket).is_ok() {
                on_withdrawn(state, meter, Some(ticket), None);
                state.store_state(meter);
            }
        }
    }
}

/// Counts an attempt of the command that is under way.
pub(super) fn on_sent(state: &mut PartitionState, meter: MeterId) {
    let Some((ticket, _, Delivery::UnderWay { .. })) = state.meters.engine.commands(meter).first().copied()
    else {
        return;
    };
    let known = state.meters.get_mut(meter);
    let Some(named) = known.and_then(|known| known.active().commands.get_mut(&ticket)) else { return };
    named.attempts += 1;
    let progress = progress(*named, CommandState::Sent, state.now_ms);
    state.store(PendingCommit::Progress { progress, answer: None });
}

/// Ends a command with the meter's answer.
pub(crate) fn on_answer(state: &mut PartitionState, answered: CompletedCommand) {
    let CompletedCommand { meter, ticket, command, answer } = answered;
    state.counted.answers += 1;
    state.check_due = true;
    let is_done = answer.outcome == CommandResult::Done;
    let known = state.meters.get_mut(meter);
    let named = known.and_then(|known| {
        if let (true, Command::Configure { interval_s, .. }) = (is_done, command) {
            known.interval_s = interval_s;
        }
        known.active().commands.remove(&ticket)
    });
    if let Some(named) = named {
        let ended = if is_done { CommandState::Done } else { CommandState::Refused };
        let progress = CommandProgress { answer: Some(answer), ..progress(named, ended, state.now_ms) };
        state.store(PendingCommit::Progress { progress, answer: None });
    }
    if let (true, Command::Configure { interval_s, .. }) = (is_done, command) {
        state.store(PendingCommit::Interval { meter, interval_s });
    }
    state.store_state(meter);
}

/// Returns the progress of a command without an answer.
fn progress(Named { id, attempts }: Named, state: CommandState, at_ms: i64) -> CommandProgress {
    CommandProgress { id, state, attempts, at_ms, answer: None }
}
