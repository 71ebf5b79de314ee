//! The rows that an audit reads: signed messages with their stored readings, and the keys.

use crate::network::GlobalMeterId;
use crate::store::{Session, SqlError, flags_of, values};
use std::collections::{HashMap, HashSet};
use wire::meter::{PublicKey, Report, Suite};

/// A meter and the epoch of its keys.
pub(super) type Key = (GlobalMeterId, u32);
pub(super) type Keys = HashMap<Key, KeyPair>;

/// Public keys of both sides.
pub(super) struct KeyPair {
    pub(super) meter: PublicKey,
    pub(super) collector: PublicKey,
}

/// A signed message.
pub(super) struct Message {
    pub(super) id: i64,
    pub(super) meter: GlobalMeterId,
    pub(super) epoch: u32,
    pub(super) n: u32,
    pub(super) at_s: i64,
    pub(super) heard_ms: i64,
    pub(super) sealed: Vec<u8>,
    pub(super) of: Of,
}

/// The stored row of a message.
pub(super) enum Of {
    Reading(Reading),
    /// Its plaintext.
    Alert([u8; 16]),
    Nothing,
}

pub(super) struct Reading {
    pub(super) power_w: i64,
    pub(super) energy_dwh: i64,
    pub(super) flags: i64,
}

/// As `readings.flags` has to be.
pub(super) fn flags(report: &Report) -> i64 {
    flags_of(report.time_set, Suite::EciesEcdsa, report.lost)
}

/// Keys that are no points of the curve are not there.
pub(super) fn keys(session: Session<'_>) -> Result<Keys, SqlError> {
    let mut found = HashMap::new();
    let sql = "SELECT meter, epoch, public_key, collector_public_key FROM meter_keys";
    session.query(sql, &[], |row| {
        let (meter, collector): ([u8; 64], [u8; 64]) = (row.get(2)?, row.get(3)?);
        if let (Ok(meter), Ok(collector)) = (PublicKey::from_bytes(&meter), PublicKey::from_bytes(&collector))
        {
            found.insert((row.get(0)?, row.get(1)?), KeyPair { meter, collector });
        }
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn count(session: Session<'_>) -> Result<u64, SqlError> {
    // Nothing is ever taken out.
    session.value::<i64>("SELECT coalesce(max(id), 0) FROM signed", &[]).map(i64::unsigned_abs)
}

/// The next ones, in the order in which they were stored.
pub(super) fn messages(session: Session<'_>, after: i64, most: usize) -> Result<Vec<Message>, SqlError> {
    let mut messages = session.query(
        "SELECT id, meter, epoch, n, at_s, heard_ms, message FROM signed WHERE id > $1 ORDER BY id LIMIT $2",
        values![after, most as i64],
        |row| {
            Ok(Message {
                id: row.get(0)?,
                meter: row.get(1)?,
                epoch: row.get(2)?,
                n: row.get(3)?,
                at_s: row.get(4)?,
                heard_ms: row.get(5)?,
                sealed: row.get(6)?,
                of: Of::Nothing,
            })
        },
    )?;
    for message in &mut messages {
        message.of = stored_of(session, (message.meter, message.epoch), message.n, message.at_s)?;
    }
    Ok(messages)
}

fn stored_of(session: Session<'_>, (meter, epoch): Key, n: u32, at_s: i64) -> Result<Of, SqlError> {
    for table in session.reading_tables() {
        let sql = format!(
            "SELECT power_w, energy_dwh, flags FROM {table} WHERE meter = $1 AND at_s = $2 AND epoch = $3 AND n = $4"
        );
        let reading = session.first(&sql, values![meter, at_s, epoch, n], |row| {
            Ok(Reading { power_w: row.get(0)?, energy_dwh: row.get(1)?, flags: row.get(2)? })
        })?;
        if let Some(reading) = reading {
            return Ok(Of::Reading(reading));
        }
    }
    let alert = "SELECT report FROM alerts WHERE meter = $1 AND epoch = $2 AND n = $3 AND report IS NOT NULL";
    let alert = session.first(alert, values![meter, epoch, n], |row| row.get(0))?;
    Ok(alert.map_or(Of::Nothing, Of::Alert))
}

/// The meters' totals; none where they were made of what an older database had, and may lack what
/// came before.
pub(super) fn totals(session: Session<'_>) -> Result<HashMap<GlobalMeterId, i64>, SqlError> {
    let sql = "SELECT meter, total_dwh FROM latest WHERE total_dwh IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'totals_from_days')";
    Ok(session.query(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
}

/// Returns the number of readings that are stored as signed, up to the last message of each meter
/// and epoch; all of those without messages. after: the last message that was audited.
pub(super) fn readings_as_signed(
    session: Session<'_>,
    last_n: &HashMap<Key, u32>,
    after: i64,
) -> Result<Vec<(Key, u64)>, SqlError> {
    let late = "SELECT DISTINCT meter, epoch FROM signed WHERE id > $1";
    let late = session.query(late, values![after], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let late: HashSet<Key> = late.into_iter().collect();
    let code = i64::from(Suite::EciesEcdsa.code());
    let mut counts: HashMap<Key, u64> = HashMap::new();
    // Meter by meter, so that not all of them are held at once.
    let meters: Vec<GlobalMeterId> =
        session.query("SELECT meter FROM meters ORDER BY meter", &[], |row| row.get(0))?;
    for meter in meters {
        for table in session.reading_tables() {
            let sql = format!("SELECT epoch, n FROM {table} WHERE meter = $1 AND (flags >> 1) & 7 = $2");
            session.query(&sql, values![meter, code], |row| {
                let (key, n): (Key, u32) = ((meter, row.get(0)?), row.get(1)?);
                // Readings stored since the audit began come with the next one.
                if last_n.get(&key).map_or(!late.contains(&key), |last_n| n <= *last_n) {
                    *counts.entry(key).or_default() += 1;
                }
                Ok(())
            })?;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    Ok(counts)
}

/// The number of telegrams of other makers' meters that were authenticated when they came, and of
/// the others.
pub(super) fn telegrams(session: Session<'_>) -> Result<(u64, u64), SqlError> {
    let of = |authenticated: i64| {
        let sql = "SELECT count(*) FROM mbus_telegrams WHERE authenticated = $1";
        session.value::<i64>(sql, values![authenticated]).map(i64::unsigned_abs)
    };
    Ok((of(1)?, of(0)?))
}
