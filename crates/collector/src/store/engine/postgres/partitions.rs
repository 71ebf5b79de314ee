//! The right to write a partition, as the database sees it: the number of the lease that it was
//! taken under last.

use super::writers::Backend;
use crate::fence::LeaseNumber;
use crate::partition::{Partition, Slices};
use crate::store::sql::postgres::Connection;
use crate::store::sql::postgres::ConnectionError;
use crate::store::sql::{Session, SqlError, values};
use std::time::{Duration, Instant};

/// The longest wait for a partition's row. A process that holds its lock for longer stands still in
/// a transaction, under a lease that is over. Its connection is ended.
const LOCK_MS: u32 = 200;
/// The longest wait for the end of connections; the next attempt does the rest.
const WAIT: Duration = Duration::from_secs(4);

/// Numbers are times, and far below.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Begins a transaction, and checks that each partition is written under the lease that it was
/// taken under last. A process that takes it meanwhile waits for the transaction's end. Returns
/// those that are another's; then the transaction is to be rolled back.
pub(super) fn transaction(
    connection: &Connection,
    slices: Slices,
    leases: &[LeaseNumber],
) -> Result<Vec<LeaseNumber>, ConnectionError> {
    let slices = slices.count();
    let wanted: Vec<String> = leases
        .iter()
        .map(|LeaseNumber { partition: Partition { network, slice }, number }| {
            format!("({},{slices},{slice},{})", network.0, stored(*number))
        })
        .collect();
    // In an order that is the same for all, so that nobody waits for one who waits for it.
    let found = connection.simple(&format!(
        "BEGIN; SELECT network || '.' || slice || '.' || fence FROM partitions WHERE (network, slices, slice, fence) IN ({}) \
         ORDER BY network, slice FOR SHARE",
        wanted.join(",")
    ))?;
    let is_there =
        |lease: &LeaseNumber| found.contains(&format!("{}.{}", lease.partition, stored(lease.number)));
    Ok(leases.iter().filter(|lease| !is_there(lease)).copied().collect())
}

/// Says if a partition is written under the lease that took it last. A process that takes it
/// meanwhile waits for the transaction's end.
pub(crate) fn is_held(session: Session<'_>, slices: Slices, lease: LeaseNumber) -> Result<bool, SqlError> {
    let LeaseNumber { partition: Partition { network, slice }, number } = lease;
    let sql =
        "SELECT fence FROM partitions WHERE (network, slices, slice, fence) = ($1, $2, $3, $4) FOR SHARE";
    let found = session
        .first(sql, values![network.0, slices.count(), slice, stored(number)], |row| row.get::<i64>(0));
    Ok(found?.is_some())
}

/// Takes a partition under a lease, in a transaction that it begins: nothing is stored under one
/// before any more. Partitions of another number of slices are over. Returns the number of a later
/// lease, where there was one.
pub(super) fn take(
    connection: &Connection,
    (slices, lease): (Slices, LeaseNumber),
    (holder, backend): (&str, &Backend),
) -> Result<Option<u64>, SqlError> {
    let LeaseNumber { partition: Partition { network, slice }, number } = lease;
    let session = Session::Postgres(connection);
    let until = Instant::now() + WAIT;
    let attempt = || {
        connection.simple(&format!("BEGIN; SET LOCAL lock_timeout = {LOCK_MS}"))?;
        let taken = session.execute(
            "INSERT INTO partitions VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (network, slices, slice) DO UPDATE SET \
             fence = excluded.fence, holder = excluded.holder, backend = excluded.backend, backend_began = excluded.backend_began \
             WHERE partitions.fence < excluded.fence",
            values![network.0, slices.count(), slice, stored(number), holder, backend.process, &backend.began],
        )?;
        let others = "UPDATE partitions SET fence = $3, holder = '' WHERE network = $1 AND slices <> $2 AND fence < $3";
        session.execute(others, values![network.0, slices.count(), stored(number)])?;
        if taken == 1 {
            return Ok(None);
        }
        let later = "SELECT fence FROM partitions WHERE (network, slices, slice) = ($1, $2, $3)";
        let later =
            session.first(later, values![network.0, slices.count(), slice], |row| row.get::<i64>(0))?;
        Ok(Some(later.and_then(|later| later.try_into().ok()).unwrap_or(number)))
    };
    loop {
        match attempt() {
            Err(SqlError::Postgres(error)) if error.is_lock_timeout() && Instant::now() < until => {
                connection.simple("ROLLBACK")?;
                tracing::warn!(
                    partition = %lease.partition,
                    "who had it stands still with a transaction that is not over: its connection is ended"
                );
                end_holders(session, slices, lease);
            }
            taken => return taken,
        }
    }
}

/// Of those under a lower number.
fn end_holders(session: Session<'_>, slices: Slices, lease: LeaseNumber) {
    let LeaseNumber { partition: Partition { network, slice }, number } = lease;
    let ended = session.query(
        "SELECT pg_terminate_backend(pid)::text FROM partitions JOIN pg_stat_activity ON pid = backend \
         AND extract(epoch FROM backend_start)::text = backend_began \
         WHERE network = $1 AND (slices <> $2 OR slice = $3) AND fence < $4 AND pid <> pg_backend_pid()",
        values![network.0, slices.count(), slice, stored(number)],
        |_| Ok(()),
    );
    if let Err(error) = ended {
        // Another user's: the server itself ends what stands still
        // (`idle_in_transaction_session_timeout`).
        tracing::debug!(?error, "it could not be ended");
    }
}

/// Goes on with partitions by a connection that was made anew, within a transaction. Returns those
/// that are another's by now.
pub(super) fn go_on(
    session: Session<'_>,
    (slices, leases): (Slices, &[LeaseNumber]),
    backend: &Backend,
) -> Result<Vec<LeaseNumber>, SqlError> {
    let mut lost = Vec::new();
    for lease in leases {
        let LeaseNumber { partition: Partition { network, slice }, number } = *lease;
        let ours = session.execute(
            "UPDATE partitions SET backend = $5, backend_began = $6 WHERE network = $1 AND slices = $2 AND slice = $3 AND fence = $4",
            values![
                network.0,
                slices.count(),
                slice,
                stored(number),
                backend.process,
                &backend.began
            ],
        )?;
        if ours == 0 {
            lost.push(*lease);
        }
    }
    Ok(lost)
}
