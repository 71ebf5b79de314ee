//! The staging tables of new readings, and how these are sorted into the table of readings.
//!
//! There are two tables. Readings are staged in one until it is full; then in the other, and with
//! each batch twice as many as it brought are sorted in from the first, meter by meter, so that it
//! is empty well before the other is full. It is emptied at once, at the end; how far it is until
//! then is in `sorted_in`. So no batch has to wait for all of them, and no row is deleted by
//! itself.

use rusqlite::{Connection, OptionalExtension, params};

/// Readings that are staged before they are sorted in. With 1,000 meters 32 of each: then about as
/// many pages change for staging as for sorting in, 70 in a batch of 1,000 readings, where each
/// reading would change one of its own.
const STAGED_MAX: i64 = 32_768;
/// Readings that are sorted in with a batch, at least, and for each that it brought. Those of one
/// meter are never parted.
const LEAST_SORTED: i64 = 256;
const SORTED_FOR_EACH: i64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StagingTable {
    First,
    Second,
}

impl StagingTable {
    fn other(self) -> StagingTable {
        match self {
            StagingTable::First => StagingTable::Second,
            StagingTable::Second => StagingTable::First,
        }
    }

    fn table_name(self) -> &'static str {
        match self {
            StagingTable::First => "landing",
            StagingTable::Second => "landing_too",
        }
    }
}

/// The state of both tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Staging {
    /// The table that new readings go to.
    table: StagingTable,
    staged: i64,
    /// The number of its rows at the end of the last batch.
    before: i64,
    /// The key of the first meter of the other place whose readings are still to be sorted in;
    /// `None`: it is empty.
    rest_from: Option<i64>,
}

impl Staging {
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Staging> {
        let count = |table: StagingTable| {
            connection
                .query_row(&format!("SELECT count(*) FROM {}", table.table_name()), [], |row| row.get(0))
        };
        let mut staging = Staging { table: StagingTable::First, staged: 0, before: 0, rest_from: None };
        for table in [StagingTable::First, StagingTable::Second] {
            let from = "SELECT from_meter FROM sorted_in WHERE place = ?1";
            let from: i64 = connection.query_row(from, [table.table_name()], |row| row.get(0))?;
            if from > 0 {
                (staging.table, staging.rest_from) = (table.other(), Some(from));
            } else if count(table)? > 0 {
                staging.table = table;
            }
        }
        staging.staged = count(staging.table)?;
        staging.before = staging.staged;
        Ok(staging)
    }

    /// The table that a reading goes to now.
    pub(super) fn table(&self) -> &'static str {
        self.table.table_name()
    }

    /// Counts a reading that was staged.
    pub(super) fn staged(&mut self) {
        self.staged += 1;
    }

    /// Sorts in what a batch has to, when all of its readings are staged.
    pub(super) fn sort_in(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let brought = self.staged - self.before;
        if brought > 0 && self.rest_from.is_none() && self.staged >= STAGED_MAX {
            (self.table, self.staged, self.rest_from) = (self.table.other(), 0, Some(0));
        }
        self.before = self.staged;
        let (Some(from), true) = (self.rest_from, brought > 0) else { return Ok(()) };
        let table = self.table.other().table_name();
        let readings = (brought * SORTED_FOR_EACH).max(LEAST_SORTED);
        // The meter at which the number is reached comes next time, unless it is the first.
        let mut nth = connection.prepare_cached(&format!(
            "SELECT meter FROM {table} WHERE meter >= ?1 ORDER BY meter, at_s LIMIT 1 OFFSET ?2"
        ))?;
        let mut nth = |n: i64| -> rusqlite::Result<Option<i64>> {
            nth.query_row(params![from, n], |row| row.get(0)).optional()
        };
        let until = match (nth(0)?, nth(readings)?) {
            (Some(first), Some(until)) if until > first => Some(until),
            (Some(first), Some(_)) => first.checked_add(1),
            _ => None,
        };
        // Readings of a meter that were staged later have higher ids, so that they are in order by
        // epoch and n, too.
        let mut insert = connection.prepare_cached(&format!(
            "INSERT INTO readings SELECT meter, at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms FROM {table} \
             WHERE meter >= ?1 AND meter < ?2 ORDER BY meter, at_s, id"
        ))?;
        insert.execute(params![from, until.unwrap_or(i64::MAX)])?;
        if until.is_none() {
            connection.execute(&format!("DELETE FROM {table}"), [])?;
        }
        let mut save = connection.prepare_cached("UPDATE sorted_in SET from_meter = ?2 WHERE place = ?1")?;
        save.execute(params![table, until.unwrap_or(0)])?;
        self.rest_from = until;
        Ok(())
    }
}
