//! Rows as records.

use crate::network::{GlobalMeterId, NetworkId};
use crate::store::SILENT_AFTER_INTERVALS;
use crate::store::model::codes::{role_of_name, state_of_name};
use crate::store::model::meter_range::{METERS_OF_A_PAGE, MeterRange};
use crate::store::model::query::{AlertFilter, MeterFilter};
use crate::store::model::record::{
    Action, AlertRecord, CommandRecord, KeptMeter, Last, Link, Meter, OutboxRecord, RecordedCommand,
    StoredMeter, TokenRecord,
};
use crate::store::sql::{Row, Session, SqlError, from_json, values};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use wire::meter::{MessageKind, MeterId, MeterState, QueuedCommand, Suite};

/// Rows of a list at most.
const LISTED_MAX: usize = 1000;

/// Reads what a later version may have written; or says why it cannot be read.
fn of_any_version<T: DeserializeOwned>(row: Row<'_>, column: usize) -> Result<Result<T, String>, SqlError> {
    row.read_text(column, |text| Ok(serde_json::from_str(text).map_err(|error| error.to_string())))
}

/// Reads a command; of one of a later version its name.
fn order_of(row: Row<'_>, column: usize) -> Result<RecordedCommand, SqlError> {
    if let Ok(known) = of_any_version::<QueuedCommand>(row, column)? {
        return Ok(RecordedCommand::Known(known));
    }
    let name = |value: Value| match value {
        Value::String(name) => Some(name),
        Value::Object(fields) => fields.into_iter().next().map(|(name, _)| name),
        _ => None,
    };
    let order = of_any_version::<Value>(row, column)?.ok();
    let command = order.map(|order| order.get("command").cloned().unwrap_or(order));
    Ok(RecordedCommand::Later(command.and_then(name).unwrap_or_else(|| "unknown".to_owned())))
}

fn suite(code: u8) -> Suite {
    Suite::from_code(code).unwrap_or(Suite::None)
}

/// Readings before that may have gone.
pub(crate) fn kept_from_s(session: Session<'_>) -> Result<Option<i64>, SqlError> {
    session.first("SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'kept_from_s'", &[], |row| row.get(0))
}

fn limited(limit: usize) -> i64 {
    (if limit == 0 { LISTED_MAX } else { limit.min(LISTED_MAX) }) as i64
}

pub(in crate::store) fn kept_meters(
    session: Session<'_>,
    keys: MeterRange,
) -> Result<Vec<KeptMeter>, SqlError> {
    let sql = format!(
        "SELECT meter, epoch, state, last_n, label, suite, interval_s, last_heard_ms, at_s, revoked_ms \
         FROM meters JOIN latest USING (meter) WHERE {} ORDER BY meter LIMIT $5",
        MeterRange::sql()
    );
    let read = |row: Row<'_>| {
        let mut state: MeterState = row.read_text(2, |text| from_json(text, "meters, column state"))?;
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
    };
    // Not all of an answer at once, where there are very many.
    let mut meters: Vec<KeptMeter> = Vec::new();
    loop {
        let after = meters.last().map(|last| last.meter.key());
        let page = session.query(&sql, &keys.page(after, METERS_OF_A_PAGE), read)?;
        if page.is_empty() {
            return Ok(meters);
        }
        meters.extend(page);
    }
}

/// A page of a session's initial state, in order. Each table is read by itself, from one key to
/// another: joined, PostgreSQL would look up each meter by itself in each of them. Kept columns
/// come last, behind the others.
pub(in crate::store) fn stored_meters(
    session: Session<'_>,
    keys: MeterRange,
    after: Option<GlobalMeterId>,
) -> Result<Vec<StoredMeter>, SqlError> {
    let from = |columns: &str| {
        format!("SELECT meter, {columns} WHERE {} ORDER BY meter LIMIT $5", MeterRange::sql())
    };
    let after = after.map(GlobalMeterId::key);
    let sql = from("last_n, last_heard_ms FROM latest");
    let latest = session.query(&sql, &keys.page(after, METERS_OF_A_PAGE), |row| {
        Ok((row.get::<i64>(0)?, (row.get(1)?, row.get(2)?)))
    })?;
    let Some(last) = latest.last().map(|(key, _)| *key) else { return Ok(Vec::new()) };
    let latest: HashMap<i64, (u32, Option<i64>)> = latest.into_iter().collect();
    let page = keys.page_until(after, last);
    let public = session.query(&from("epoch, public_key FROM meter_keys"), &page, |row| {
        Ok(((row.get::<i64>(0)?, row.get::<u32>(1)?), row.get(2)?))
    })?;
    let public: HashMap<(i64, u32), [u8; 64]> = public.into_iter().collect();
    let meters = session.query(&from("epoch, state, interval_s, revoked_ms FROM meters"), &page, |row| {
        let (meter, epoch): (GlobalMeterId, u32) = (row.get(0)?, row.get(1)?);
        let Some((last_n, last_heard_ms)) = latest.get(&meter.key()).copied() else { return Ok(None) };
        let mut state = of_any_version::<MeterState>(row, 2)?;
        if let Ok(state) = &mut state {
            state.last_n = last_n;
        }
        Ok(Some(StoredMeter {
            meter: meter.meter,
            epoch,
            state,
            interval_s: row.get(3)?,
            last_heard_ms,
            revoked_ms: row.get(4)?,
            public: public.get(&(meter.key(), epoch)).copied(),
        }))
    })?;
    Ok(meters.into_iter().flatten().collect())
}

/// Returns the number of meters of each network that are not revoked.
pub(in crate::store) fn meters_by_network(session: Session<'_>) -> Result<Vec<(NetworkId, usize)>, SqlError> {
    let sql = "SELECT meter / 65536, count(*) FROM meters WHERE revoked_ms IS NULL GROUP BY meter / 65536 ORDER BY 1";
    session
        .query(sql, &[], |row| Ok((NetworkId(row.get(0)?), usize::try_from(row.get::<i64>(1)?).unwrap_or(0))))
}

/// Meters, in order; also those that are revoked.
pub(in crate::store) fn meters_of(
    session: Session<'_>,
    keys: MeterRange,
) -> Result<Vec<GlobalMeterId>, SqlError> {
    let sql = format!("SELECT meter FROM meters WHERE {} ORDER BY meter LIMIT $5", MeterRange::sql());
    session.query(&sql, &keys.page(None, i64::MAX), |row| row.get(0))
}

/// A network's meters that are not revoked.
pub(in crate::store) fn names(session: Session<'_>, network: NetworkId) -> Result<Vec<MeterId>, SqlError> {
    let sql = format!("SELECT meter FROM meters WHERE revoked_ms IS NULL AND {} LIMIT $5", MeterRange::sql());
    let all = MeterRange::OfNetwork(network).page(None, i64::MAX);
    session.query(&sql, &all, |row| Ok(row.get::<GlobalMeterId>(0)?.meter))
}

/// `None`: there is no such meter.
pub(in crate::store) fn is_revoked(
    session: Session<'_>,
    meter: GlobalMeterId,
) -> Result<Option<bool>, SqlError> {
    let sql = "SELECT revoked_ms FROM meters WHERE meter = $1";
    session.first(sql, values![meter], |row| Ok(row.get::<Option<i64>>(0)?.is_some()))
}

pub(in crate::store) fn meters(
    session: Session<'_>,
    whose: MeterFilter,
    now_ms: i64,
) -> Result<Vec<Meter>, SqlError> {
    let sql = "SELECT meter, label, epoch, suite, interval_s, revoked_ms, at_s, power_w, last_energy_dwh, last_heard_ms, rssi_dbm, \
               reports, repeats, refused, lost, total_dwh, \
               (SELECT count(*) FROM alerts WHERE alerts.meter = meters.meter AND acknowledged_ms IS NULL), \
               (SELECT count(*) FROM commands WHERE commands.meter = meters.meter AND ended_ms IS NULL) \
               FROM meters JOIN latest USING (meter) WHERE meter BETWEEN $1 AND $2 ORDER BY meter";
    let (first, last) = whose.keys();
    session.query(sql, values![first, last], |row| {
        let interval_s: u16 = row.get(4)?;
        let revoked = row.get::<Option<i64>>(5)?.is_some();
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
            total_wh: row.get::<Option<i64>>(15)?.map(|total_dwh| total_dwh as f64 / 10.0),
            heard_s: heard_ms.map(|heard_ms| heard_ms.div_euclid(1000)),
            online: !revoked && heard_ms.is_some_and(|heard_ms| now_ms - heard_ms <= silent_ms),
            link: Link {
                rssi_dbm: row.get(10)?,
                reports: count(row, 11)?,
                repeats: count(row, 12)?,
                refused: count(row, 13)?,
                lost: count(row, 14)?,
            },
            open_alerts: row.get(16)?,
            waiting_commands: row.get(17)?,
        })
    })
}

fn count(row: Row<'_>, column: usize) -> Result<u64, SqlError> {
    row.get::<i64>(column).map(|count| u64::try_from(count).unwrap_or(0))
}

const ALERT: &str = "SELECT id, meter, at_s, cause, detail, acknowledged_ms, acknowledged_by FROM alerts";

fn alert_of(row: Row<'_>) -> Result<AlertRecord, SqlError> {
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

pub(in crate::store) fn alert(session: Session<'_>, id: i64) -> Result<Option<AlertRecord>, SqlError> {
    session.first(&format!("{ALERT} WHERE id = $1"), values![id], alert_of)
}

pub(in crate::store) fn alerts(
    session: Session<'_>,
    filter: &AlertFilter,
) -> Result<Vec<AlertRecord>, SqlError> {
    let AlertFilter { from_s, to_s, whose, open, before, limit } = *filter;
    // The newest ones of many meters are found by id, those of one by the index by meter: a plus
    // keeps it out (https://sqlite.org/optoverview.html, "Disqualifying WHERE Clause Terms").
    let meter_is = match whose {
        MeterFilter::All => "CAST($3 AS BIGINT) <= $6",
        MeterFilter::Network(network) if network.is_default() => {
            "(+meter BETWEEN $3 AND $6 OR +meter IS NULL)"
        }
        MeterFilter::Network(_) => "+meter BETWEEN $3 AND $6",
        MeterFilter::Meter(_) => "meter = $3 AND CAST($3 AS BIGINT) <= $6",
    };
    let open_is = if open { "AND acknowledged_ms IS NULL" } else { "" };
    let sql = format!(
        "{ALERT} WHERE {meter_is} {open_is} AND id < $1 AND at_s >= $2 AND at_s < $4 ORDER BY id DESC LIMIT $5"
    );
    let (before, from_s, to_s) =
        (before.unwrap_or(i64::MAX), from_s.unwrap_or(i64::MIN), to_s.unwrap_or(i64::MAX));
    let (first, last) = whose.keys();
    session.query(&sql, values![before, from_s, first, to_s, limited(limit), last], alert_of)
}

const COMMAND: &str = "SELECT id, meter, ticket, \"order\", \"by\", created_ms, state, attempts, sent_ms, ended_ms, answer \
                       FROM commands";

fn command_of(row: Row<'_>) -> Result<CommandRecord, SqlError> {
    let answer: Option<String> = row.get(10)?;
    Ok(CommandRecord {
        id: row.get(0)?,
        meter: row.get(1)?,
        ticket: row.get(2)?,
        order: order_of(row, 3)?,
        by: row.get(4)?,
        created_ms: row.get(5)?,
        state: state_of_name(&row.get::<String>(6)?),
        attempts: row.get(7)?,
        sent_ms: row.get(8)?,
        ended_ms: row.get(9)?,
        answer: answer.and_then(|answer| serde_json::from_str(&answer).ok()),
    })
}

pub(in crate::store) fn command(session: Session<'_>, id: i64) -> Result<Option<CommandRecord>, SqlError> {
    session.first(&format!("{COMMAND} WHERE id = $1"), values![id], command_of)
}

pub(in crate::store) fn commands(
    session: Session<'_>,
    meter: GlobalMeterId,
    limit: usize,
) -> Result<Vec<CommandRecord>, SqlError> {
    let sql = format!("{COMMAND} WHERE meter = $1 ORDER BY id DESC LIMIT $2");
    session.query(&sql, values![meter, limited(limit)], command_of)
}

pub(in crate::store) fn open_commands(
    session: Session<'_>,
    keys: MeterRange,
) -> Result<Vec<CommandRecord>, SqlError> {
    let sql = format!("{COMMAND} WHERE ended_ms IS NULL AND {} ORDER BY id LIMIT $5", MeterRange::sql());
    session.query(&sql, &keys.page(None, i64::MAX), command_of)
}

/// Those of a partition's meters of which it was told that they are silent, and that were not heard
/// since.
pub(in crate::store) fn silent(session: Session<'_>, keys: MeterRange) -> Result<Vec<MeterId>, SqlError> {
    let sql = format!(
        "SELECT DISTINCT meter FROM alerts JOIN latest USING (meter) \
         WHERE cause = 'silent' AND alerts.at_s >= last_heard_ms / 1000 AND {} LIMIT $5",
        MeterRange::sql()
    );
    session.query(&sql, &keys.page(None, i64::MAX), |row| Ok(row.get::<GlobalMeterId>(0)?.meter))
}

pub(in crate::store) fn tokens(session: Session<'_>) -> Result<Vec<TokenRecord>, SqlError> {
    let sql = "SELECT id, name, role, hash, created_ms, last_used_ms, revoked_ms FROM tokens ORDER BY id";
    session.query(sql, &[], |row| {
        Ok(TokenRecord {
            id: row.get(0)?,
            name: row.get(1)?,
            role: role_of_name(&row.get::<String>(2)?),
            hash: row.get(3)?,
            created_ms: row.get(4)?,
            last_used_ms: row.get(5)?,
            revoked_ms: row.get(6)?,
        })
    })
}

pub(in crate::store) fn actions(
    session: Session<'_>,
    limit: usize,
    before: Option<i64>,
) -> Result<Vec<Action>, SqlError> {
    let sql = "SELECT id, at_ms, who, what FROM actions WHERE id < $1 ORDER BY id DESC LIMIT $2";
    session.query(sql, values![before.unwrap_or(i64::MAX), limited(limit)], |row| {
        Ok(Action { id: row.get(0)?, at_ms: row.get(1)?, who: row.get(2)?, what: row.get(3)? })
    })
}

pub(in crate::store) fn outbox(session: Session<'_>) -> Result<Vec<OutboxRecord>, SqlError> {
    let sql = "SELECT id, address, name, kind, suite, low, message, heard_ms FROM outbox ORDER BY id";
    session.query(sql, &[], |row| {
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
