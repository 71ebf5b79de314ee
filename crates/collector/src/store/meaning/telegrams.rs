//! Telegrams of other makers' meters: what is written, and what is read.

use crate::mbus_meter::MbusMeterId;
use crate::store::model::telegram::{MbusMeterRecord, NewTelegram, StoredTelegram, TelegramQuery};
use crate::store::model::write::Written;
use crate::store::sql::{Session, SqlError, from_json, json, values};

/// Old telegrams that go for each new one.
const GONE_MAX: i64 = 4;
/// The same each hour.
const SWEPT_MAX: i64 = 20_000;

/// Stores a telegram. One whose counter is not above the key's highest one is not stored.
pub(in crate::store) fn put(session: Session<'_>, new: &NewTelegram) -> Result<Written, SqlError> {
    let meter = new.meter.to_string();
    if let Some((key, counter)) = &new.counter {
        let sql = "INSERT INTO mbus_counters VALUES ($1, $2, $3) ON CONFLICT (meter, key_id) DO UPDATE SET counter = excluded.counter \
                   WHERE mbus_counters.counter < excluded.counter";
        if session.execute(sql, values![&meter, key, *counter])? == 0 {
            return Ok(Written::Repeated);
        }
    }
    let unauthenticated = i64::from(!new.authenticated);
    session.execute(
        "INSERT INTO mbus_meters (meter, first_heard_ms, last_heard_ms, telegrams, unauthenticated, refused) \
         VALUES ($1, $2, $2, 1, $3, 0) ON CONFLICT (meter) DO UPDATE SET \
         first_heard_ms = coalesce(mbus_meters.first_heard_ms, excluded.first_heard_ms), last_heard_ms = excluded.last_heard_ms, \
         telegrams = mbus_meters.telegrams + 1, unauthenticated = mbus_meters.unauthenticated + excluded.unauthenticated",
        values![&meter, new.heard_ms, unauthenticated],
    )?;
    session.execute(
        "INSERT INTO mbus_telegrams (meter, heard_ms, address, mode, authenticated, counter, access_number, status, clock_off_s, contents) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        values![
            &meter,
            new.heard_ms,
            &new.address.to_string(),
            new.mode,
            i64::from(new.authenticated),
            new.counter.map(|(_, counter)| counter),
            new.access_number,
            new.status,
            new.clock_off_s,
            &json(&new.contents)?
        ],
    )?;
    remove_old(session, GONE_MAX)?;
    Ok(Written::Done)
}

/// Removes telegrams that are older than readings are kept, at most `limit`.
fn remove_old(session: Session<'_>, limit: i64) -> Result<(), SqlError> {
    let sql = "DELETE FROM mbus_telegrams WHERE id IN (SELECT id FROM mbus_telegrams WHERE heard_ms < \
               (SELECT CAST(value AS BIGINT) * 1000 FROM meta WHERE key = 'kept_from_s') ORDER BY heard_ms LIMIT $1)";
    session.execute(sql, values![limit]).map(drop)
}

/// Removes old telegrams with old readings: also those of meters that are not heard any more.
pub(in crate::store) fn sweep(session: Session<'_>) -> Result<(), SqlError> {
    remove_old(session, SWEPT_MAX)
}

/// Counts refused telegrams in a meter's name, with the last reason.
pub(in crate::store) fn refused(
    session: Session<'_>,
    meter: MbusMeterId,
    count: u32,
    (at_ms, reason): (i64, &str),
) -> Result<Written, SqlError> {
    session.execute(
        "INSERT INTO mbus_meters (meter, telegrams, unauthenticated, refused, refused_ms, refusal) VALUES ($1, 0, 0, $2, $3, $4) \
         ON CONFLICT (meter) DO UPDATE SET refused = mbus_meters.refused + excluded.refused, refused_ms = excluded.refused_ms, \
         refusal = excluded.refusal",
        values![&meter.to_string(), count, at_ms, reason],
    )?;
    Ok(Written::Done)
}

/// The highest counter of each meter and key.
pub(in crate::store) fn counters(session: Session<'_>) -> Result<Vec<(String, [u8; 8], u32)>, SqlError> {
    session.query("SELECT meter, key_id, counter FROM mbus_counters", &[], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })
}

/// All meters of which telegrams came, by name.
pub(in crate::store) fn meters(session: Session<'_>) -> Result<Vec<MbusMeterRecord>, SqlError> {
    let sql = "SELECT meter, first_heard_ms, last_heard_ms, telegrams, unauthenticated, refused, refused_ms, refusal FROM mbus_meters \
               ORDER BY meter";
    session.query(sql, &[], |row| {
        Ok(MbusMeterRecord {
            meter: row.get(0)?,
            first_heard_ms: row.get(1)?,
            last_heard_ms: row.get(2)?,
            telegrams: row.get(3)?,
            unauthenticated: row.get(4)?,
            refused: row.get(5)?,
            refused_ms: row.get(6)?,
            refusal: row.get(7)?,
        })
    })
}

/// A page of telegrams, oldest first.
pub(in crate::store) fn telegrams(
    session: Session<'_>,
    query: &TelegramQuery,
) -> Result<Vec<StoredTelegram>, SqlError> {
    let of = query.meter.map(|meter| meter.to_string());
    let which = if of.is_some() { "meter = $5" } else { "$5 = ''" };
    let sql = format!(
        "SELECT id, meter, heard_ms, address, mode, authenticated, counter, access_number, status, clock_off_s, contents \
         FROM mbus_telegrams WHERE id > $1 AND heard_ms >= $2 AND heard_ms < $3 AND {which} ORDER BY id LIMIT $4"
    );
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let of = of.unwrap_or_default();
    session.query(&sql, values![query.after, query.from_ms, query.to_ms, limit, &of], |row| {
        Ok(StoredTelegram {
            id: row.get(0)?,
            meter: row.get(1)?,
            heard_ms: row.get(2)?,
            address: row.get(3)?,
            mode: row.get(4)?,
            authenticated: row.get::<i64>(5)? != 0,
            counter: row.get(6)?,
            access_number: row.get(7)?,
            status: row.get(8)?,
            clock_off_s: row.get(9)?,
            contents: row.read_text(10, |text| from_json(text, "contents of a telegram"))?,
        })
    })
}
