//! Rows as records.

use crate::event::CommandState;
use crate::network::GlobalMeterId;
use crate::store::SILENT_AFTER_INTERVALS;
use crate::store::query::{AlertFilter, Whose};
use crate::store::record::{
    Action, AlertRecord, CommandRecord, KeptMeter, Last, Link, Meter, OutboxRecord, Role, TokenRecord,
};
use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::meter::{MessageKind, MeterState, Suite};

/// Rows of a list at most.
const MOST_LISTED: usize = 1000;

/// Returns a value as JSON text.
pub(in crate::store) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn from_json<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// Returns the name in `commands.state`.
pub(in crate::store) fn name_of_state(state: CommandState) -> &'static str {
    match state {
        CommandState::Waiting => "waiting",
        CommandState::Sent => "sent",
        CommandState::Done => "done",
        CommandState::Refused => "refused",
        CommandState::Withdrawn => "withdrawn",
    }
}

fn state_of_name(name: &str) -> CommandState {
    match name {
        "sent" => CommandState::Sent,
        "done" => CommandState::Done,
        "refused" => CommandState::Refused,
        "withdrawn" => CommandState::Withdrawn,
        _ => CommandState::Waiting,
    }
}

/// Returns the name in `tokens.role`.
pub(in crate::store) fn name_of_role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Administrator => "administrator",
    }
}

/// Returns the role of a name; an unknown name is a viewer.
fn role_of_name(name: &str) -> Role {
    if name == "administrator" { Role::Administrator } else { Role::Viewer }
}

fn suite(code: u8) -> Suite {
    Suite::from_code(code).unwrap_or(Suite::None)
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    record: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(values, record)?.collect()
}

fn limited(limit: usize) -> i64 {
    (if limit == 0 { MOST_LISTED } else { limit.min(MOST_LISTED) }) as i64
}

pub(super) fn kept_meters(connection: &Connection) -> rusqlite::Result<Vec<KeptMeter>> {
    let sql = "SELECT meter, epoch, state, last_n, label, suite, interval_s, last_heard_ms, at_s, revoked_ms \
               FROM meters JOIN latest USING (meter) ORDER BY meter";
    all(connection, sql, [], |row| {
        let mut state: MeterState = from_json(2, row.get_ref(2)?.as_str()?)?;
        state.last_n = row.get(3)?;
        Ok(KeptMeter {
            meter: row.get(0)?,
            epoch: row.get(1)?,
            state,
            label: row.get(4)?,
            suite: suite(row.get(5)?),
            interval_s: row.get(6)?,
            last_heard_ms: row.get(7)?,
            last_at_s: row.get(8)?,
            revoked_ms: row.get(9)?,
        })
    })
}

pub(super) fn meters(connection: &Connection, whose: Whose, now_ms: i64) -> rusqlite::Result<Vec<Meter>> {
    let sql = "SELECT meter, label, epoch, suite, interval_s, revoked_ms, at_s, power_w, last_energy_dwh, last_heard_ms, rssi_dbm, \
               reports, repeats, refused, lost, \
               (SELECT count(*) FROM alerts WHERE alerts.meter = meters.meter AND acknowledged_ms IS NULL), \
               (SELECT count(*) FROM commands WHERE commands.meter = meters.meter AND ended_ms IS NULL) \
               FROM meters JOIN latest USING (meter) WHERE meter BETWEEN ?1 AND ?2 ORDER BY meter";
    all(connection, sql, whose.keys(), |row| {
        let interval_s: u16 = row.get(4)?;
        let revoked = row.get::<_, Option<i64>>(5)?.is_some();
        let last = match row.get(6)? {
            None => None,
            Some(at_s) => {
                let energy_dwh: u32 = row.get(8)?;
                Some(Last { at_s, power_w: row.get(7)?, energy_wh: f64::from(energy_dwh) / 10.0 })
            }
        };
        let heard_ms: Option<i64> = row.get(9)?;
        let silent_ms = SILENT_AFTER_INTERVALS * i64::from(interval_s) * 1000;
        Ok(Meter {
            meter: row.get(0)?,
            label: row.get(1)?,
            epoch: row.get(2)?,
            suite: suite(row.get(3)?),
            interval_s,
            revoked,
            last,
            heard_s: heard_ms.map(|heard_ms| heard_ms.div_euclid(1000)),
            online: !revoked && heard_ms.is_some_and(|heard_ms| now_ms - heard_ms <= silent_ms),
            link: Link {
                rssi_dbm: row.get(10)?,
                reports: count(row, 11)?,
                repeats: count(row, 12)?,
                refused: count(row, 13)?,
                lost: count(row, 14)?,
            },
            open_alerts: row.get(15)?,
            waiting_commands: row.get(16)?,
        })
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|count| u64::try_from(count).unwrap_or(0))
}

const ALERT: &str = "SELECT id, meter, at_s, cause, detail, acknowledged_ms, acknowledged_by FROM alerts";

fn alert_of(row: &Row<'_>) -> rusqlite::Result<AlertRecord> {
    let acknowledged_ms: Option<i64> = row.get(5)?;
    Ok(AlertRecord {
        id: row.get(0)?,
        meter: row.get(1)?,
        at_s: row.get(2)?,
        cause: row.get(3)?,
        detail: row.get(4)?,
        acknowledged_s: acknowledged_ms.map(|at_ms| at_ms.div_euclid(1000)),
        acknowledged_by: row.get(6)?,
    })
}

pub(in crate::store) fn alert(connection: &Connection, id: i64) -> rusqlite::Result<Option<AlertRecord>> {
    connection.prepare_cached(&format!("{ALERT} WHERE id = ?1"))?.query_row([id], alert_of).optional()
}

pub(super) fn alerts(connection: &Connection, filter: &AlertFilter) -> rusqlite::Result<Vec<AlertRecord>> {
    let AlertFilter { from_s, to_s, whose, open, before, limit } = *filter;
    // The newest ones of many meters are found by id, those of one by the index by meter: a plus keeps it out
    // (https://sqlite.org/optoverview.html, "Disqualifying WHERE Clause Terms").
    let meter_is = match whose {
        Whose::All => "?3 <= ?6",
        Whose::Network(network) if network.is_default() => "(+meter BETWEEN ?3 AND ?6 OR +meter IS NULL)",
        Whose::Network(_) => "+meter BETWEEN ?3 AND ?6",
        Whose::Meter(_) => "meter = ?3 AND ?3 <= ?6",
    };
    let open_is = if open { "AND acknowledged_ms IS NULL" } else { "" };
    let sql = format!(
        "{ALERT} WHERE {meter_is} {open_is} AND id < ?1 AND at_s >= ?2 AND at_s < ?4 ORDER BY id DESC LIMIT ?5"
    );
    let (before, from_s, to_s) =
        (before.unwrap_or(i64::MAX), from_s.unwrap_or(i64::MIN), to_s.unwrap_or(i64::MAX));
    let (first, last) = whose.keys();
    all(connection, &sql, params![before, from_s, first, to_s, limited(limit), last], alert_of)
}

const COMMAND: &str = "SELECT id, meter, ticket, \"order\", \"by\", created_ms, state, attempts, sent_ms, ended_ms, answer \
                       FROM commands";

fn command_of(row: &Row<'_>) -> rusqlite::Result<CommandRecord> {
    let answer: Option<String> = row.get(10)?;
    Ok(CommandRecord {
        id: row.get(0)?,
        meter: row.get(1)?,
        ticket: row.get(2)?,
        order: from_json(3, row.get_ref(3)?.as_str()?)?,
        by: row.get(4)?,
        created_ms: row.get(5)?,
        state: state_of_name(row.get_ref(6)?.as_str()?),
        attempts: row.get(7)?,
        sent_ms: row.get(8)?,
        ended_ms: row.get(9)?,
        answer: answer.map(|answer| from_json(10, &answer)).transpose()?,
    })
}

pub(in crate::store) fn command(connection: &Connection, id: i64) -> rusqlite::Result<Option<CommandRecord>> {
    connection.prepare_cached(&format!("{COMMAND} WHERE id = ?1"))?.query_row([id], command_of).optional()
}

pub(super) fn commands(
    connection: &Connection,
    meter: GlobalMeterId,
    limit: usize,
) -> rusqlite::Result<Vec<CommandRecord>> {
    let sql = format!("{COMMAND} WHERE meter = ?1 ORDER BY id DESC LIMIT ?2");
    all(connection, &sql, params![meter, limited(limit)], command_of)
}

pub(super) fn open_commands(connection: &Connection) -> rusqlite::Result<Vec<CommandRecord>> {
    all(connection, &format!("{COMMAND} WHERE ended_ms IS NULL ORDER BY id"), [], command_of)
}

pub(super) fn tokens(connection: &Connection) -> rusqlite::Result<Vec<TokenRecord>> {
    let sql = "SELECT id, name, role, hash, created_ms, last_used_ms, revoked_ms FROM tokens ORDER BY id";
    all(connection, sql, [], |row| {
        Ok(TokenRecord {
            id: row.get(0)?,
            name: row.get(1)?,
            role: role_of_name(row.get_ref(2)?.as_str()?),
            hash: FromSql::column_result(row.get_ref(3)?)?,
            created_ms: row.get(4)?,
            last_used_ms: row.get(5)?,
            revoked_ms: row.get(6)?,
        })
    })
}

pub(super) fn actions(
    connection: &Connection,
    limit: usize,
    before: Option<i64>,
) -> rusqlite::Result<Vec<Action>> {
    let sql = "SELECT id, at_ms, who, what FROM actions WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
    all(connection, sql, params![before.unwrap_or(i64::MAX), limited(limit)], |row| {
        Ok(Action { id: row.get(0)?, at_ms: row.get(1)?, who: row.get(2)?, what: row.get(3)? })
    })
}

pub(super) fn outbox(connection: &Connection) -> rusqlite::Result<Vec<OutboxRecord>> {
    let sql = "SELECT id, address, name, kind, suite, low, message, heard_ms FROM outbox ORDER BY id";
    all(connection, sql, [], |row| {
        Ok(OutboxRecord {
            id: row.get(0)?,
            address: row.get(1)?,
            name: row.get(2)?,
            kind: MessageKind::from_code(row.get(3)?),
            suite: suite(row.get(4)?),
            number_lsb: row.get(5)?,
            message: row.get(6)?,
            heard_ms: row.get(7)?,
        })
    })
}
