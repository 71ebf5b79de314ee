//! Administration: labels, tokens, images of firmware, acknowledged alerts, and the record of who
//! did it; also telegrams of other makers' meters, whose order the database decides. No report
//! depends on it. So any process with the database open may write it, beside the writer.

use super::{executed, firmware};
use crate::store::meaning::{read, telegrams};
use crate::store::model::codes::name_of_role;
use crate::store::model::write::{Write, Written};
use crate::store::sql::{Session, SqlError, Value, values};

/// Does an administrator's write, within a transaction. A write of a meter's session is not done.
pub(in crate::store) fn write(session: Session<'_>, write: &Write) -> Result<Written, SqlError> {
    let execute = |sql: &str, values: &[Value<'_>]| executed(session, sql, values);
    match write {
        Write::Label { meter, label } => {
            execute("UPDATE meters SET label = $2 WHERE meter = $1", values![*meter, label])
        }
        Write::Acknowledge { alert, by, at_ms } => {
            execute(
                "UPDATE alerts SET acknowledged_ms = $2, acknowledged_by = $3 WHERE id = $1 AND acknowledged_ms IS NULL",
                values![*alert, *at_ms, by],
            )?;
            Ok(read::alert(session, *alert)?.map_or(Written::Unknown, Written::Acknowledged))
        }
        Write::Token(token) => {
            let insert =
                "INSERT INTO tokens (name, role, hash, created_ms) VALUES ($1, $2, $3, $4) RETURNING id";
            let role = name_of_role(token.role);
            let values = values![&token.name, role, &token.hash, token.created_ms];
            session.value(insert, values).map(Written::Token)
        }
        Write::TokenRevoked { token, at_ms } => execute(
            "UPDATE tokens SET revoked_ms = coalesce(revoked_ms, $2) WHERE id = $1",
            values![*token, *at_ms],
        ),
        Write::TokenUsed { token, at_ms } => execute(
            "UPDATE tokens SET last_used_ms = CASE WHEN last_used_ms > $2 THEN last_used_ms ELSE $2 END WHERE id = $1",
            values![*token, *at_ms],
        ),
        Write::Action(action) => execute(
            "INSERT INTO actions (at_ms, who, what) VALUES ($1, $2, $3)",
            values![action.at_ms, &action.who, &action.what],
        ),
        Write::Telegram(telegram) => telegrams::put(session, telegram),
        Write::TelegramsRefused { meter, count, at_ms, reason } => {
            telegrams::refused(session, *meter, *count, (*at_ms, reason))
        }
        Write::Image(image) => firmware::add_image(session, image).map(Written::Image),
        Write::ImageRemoved { digest } => firmware::remove_image(session, digest),
        Write::Report(_)
        | Write::State { .. }
        | Write::Provisioned(_)
        | Write::IntervalOf { .. }
        | Write::Counts(_)
        | Write::Revoked { .. }
        | Write::Alert(_)
        | Write::Command(_)
        | Write::CommandProgress(_)
        | Write::CommandNotGiven { .. }
        | Write::Update(_)
        | Write::UpdateProgress(_)
        | Write::UpdateNotBegun { .. }
        | Write::OutboxPut(_)
        | Write::OutboxRemove { .. } => Err(SqlError::Stored(
            "a meter's reports, commands and updates are its link's to write".to_owned(),
        )),
    }
}
