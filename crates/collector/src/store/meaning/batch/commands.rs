//! Writes of a meter's commands: given, gone on, not given.

use super::executed;
use crate::event::CommandState;
use crate::store::meaning::read;
use crate::store::model::codes::name_of_state;
use crate::store::model::write::{CommandProgress, NewCommand, Write, Written};
use crate::store::sql::{Session, SqlError, json, values};

pub(super) fn write(session: Session<'_>, write: &Write) -> Result<Written, SqlError> {
    match write {
        Write::Command(command) => give(session, command),
        Write::CommandProgress(progress) => go_on(session, progress),
        Write::CommandNotGiven { meter, ticket, at_ms } => {
            let id = session.first(
                "UPDATE commands SET state = 'withdrawn', ended_ms = $3 WHERE meter = $1 AND ticket = $2 AND ended_ms IS NULL \
                 RETURNING id",
                values![*meter, *ticket, *at_ms],
                |row| row.get(0),
            )?;
            id.map_or(Ok(Written::Unknown), |id| told(session, id))
        }
        // Told apart before.
        _ => Ok(Written::Unknown),
    }
}

fn give(session: Session<'_>, command: &NewCommand) -> Result<Written, SqlError> {
    let order = json(&command.order)?;
    let id = session.value(
        "INSERT INTO commands (meter, ticket, \"order\", \"by\", created_ms, state, attempts) \
         VALUES ($1, $2, $3, $4, $5, 'waiting', 0) RETURNING id",
        values![command.meter, command.ticket, &order, &command.by, command.created_ms],
    )?;
    told(session, id)
}

fn go_on(session: Session<'_>, progress: &CommandProgress) -> Result<Written, SqlError> {
    let over = matches!(progress.state, CommandState::Done | CommandState::Refused | CommandState::Withdrawn);
    let sent_ms = (progress.state == CommandState::Sent).then_some(progress.at_ms);
    let answer = progress.answer.as_ref().map(json).transpose()?;
    let done = executed(
        session,
        "UPDATE commands SET state = $2, attempts = CASE WHEN attempts < $3 THEN $3 ELSE attempts END, sent_ms = coalesce(sent_ms, $4), \
         ended_ms = $5, answer = coalesce($6, answer) WHERE id = $1 AND ended_ms IS NULL",
        values![
            progress.id,
            name_of_state(progress.state),
            progress.attempts,
            sent_ms,
            over.then_some(progress.at_ms),
            answer.as_ref(),
        ],
    )?;
    if done == Written::Unknown { Ok(done) } else { told(session, progress.id) }
}

fn told(session: Session<'_>, command: i64) -> Result<Written, SqlError> {
    let record = read::command(session, command)?;
    Ok(record.map_or(Written::Unknown, |record| Written::Command(Box::new(record))))
}
