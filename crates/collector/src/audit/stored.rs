//! What an audit reads: signed messages with what is stored of each, and the keys.

use crate::network::GlobalMeterId;
use crate::store::flags_of;
use rusqlite::{Connection, OptionalExtension, params};
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

/// What is stored of a message.
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
pub(super) fn keys(connection: &Connection) -> rusqlite::Result<Keys> {
    let mut keys =
        connection.prepare("SELECT meter, epoch, public_key, collector_public_key FROM meter_keys")?;
    let mut rows = keys.query([])?;
    let mut found = HashMap::new();
    while let Some(row) = rows.next()? {
        let (meter, collector): ([u8; 64], [u8; 64]) = (row.get(2)?, row.get(3)?);
        if let (Ok(meter), Ok(collector)) = (PublicKey::from_bytes(&meter), PublicKey::from_bytes(&collector))
        {
            found.insert((row.get(0)?, row.get(1)?), KeyPair { meter, collector });
        }
    }
    Ok(found)
}

/// Readings before that may have gone.
pub(super) fn kept_from_s(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'kept_from_s'";
    connection.query_row(sql, [], |row| row.get(0)).optional()
}

pub(super) fn count(connection: &Connection) -> rusqlite::Result<u64> {
    // Nothing is ever taken out.
    connection
        .query_row("SELECT coalesce(max(id), 0) FROM signed", [], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
}

/// The next ones, in the order in which they were stored.
pub(super) fn messages(connection: &Connection, after: i64, most: usize) -> rusqlite::Result<Vec<Message>> {
    let mut signed = connection.prepare_cached(
        "SELECT id, meter, epoch, n, at_s, heard_ms, message FROM signed WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let mut rows = signed.query(params![after, most as i64])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let (meter, epoch, n, at_s) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        messages.push(Message {
            id: row.get(0)?,
            meter,
            epoch,
            n,
            at_s,
            heard_ms: row.get(5)?,
            sealed: row.get(6)?,
            of: stored_of(connection, (meter, epoch), n, at_s)?,
        });
    }
    Ok(messages)
}

fn stored_of(connection: &Connection, (meter, epoch): Key, n: u32, at_s: i64) -> rusqlite::Result<Of> {
    for table in ["readings", "landed"] {
        let mut reading = connection.prepare_cached(&format!(
            "SELECT power_w, energy_dwh, flags FROM {table} WHERE meter = ?1 AND at_s = ?2 AND epoch = ?3 AND n = ?4"
        ))?;
        let reading = reading
            .query_row(params![meter, at_s, epoch, n], |row| {
                Ok(Reading { power_w: row.get(0)?, energy_dwh: row.get(1)?, flags: row.get(2)? })
            })
            .optional()?;
        if let Some(reading) = reading {
            return Ok(Of::Reading(reading));
        }
    }
    let mut alert = connection.prepare_cached(
        "SELECT report FROM alerts WHERE meter = ?1 AND epoch = ?2 AND n = ?3 AND report IS NOT NULL",
    )?;
    let alert = alert.query_row(params![meter, epoch, n], |row| row.get(0)).optional()?;
    Ok(alert.map_or(Of::Nothing, Of::Alert))
}

/// How many readings are stored as signed, up to the last message of each meter and epoch; all of those that have none. after: the last
/// message that was looked at.
pub(super) fn readings_as_signed(
    connection: &Connection,
    last_n: &HashMap<Key, u32>,
    after: i64,
) -> rusqlite::Result<Vec<(Key, u64)>> {
    let mut late = connection.prepare("SELECT DISTINCT meter, epoch FROM signed WHERE id > ?1")?;
    let late = late.query_map([after], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let late: HashSet<Key> = late.collect::<rusqlite::Result<_>>()?;
    let code = i64::from(Suite::EciesEcdsa.code());
    let mut counts: HashMap<Key, u64> = HashMap::new();
    for table in ["readings", "landed"] {
        let mut readings = connection
            .prepare(&format!("SELECT meter, epoch, n FROM {table} WHERE (flags >> 1) & 7 = ?1"))?;
        let mut rows = readings.query([code])?;
        while let Some(row) = rows.next()? {
            let (key, n): (Key, u32) = ((row.get(0)?, row.get(1)?), row.get(2)?);
            // What was stored since the audit began comes with the next one.
            if last_n.get(&key).map_or(!late.contains(&key), |last_n| n <= *last_n) {
                *counts.entry(key).or_default() += 1;
            }
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    Ok(counts)
}
