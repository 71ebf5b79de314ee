//! A connection that writes, and what is known of what is stored.

use super::partitions;
use super::pending::Pending;
use super::schema;
use super::weeks::Weeks;
use super::writers::{self, Backend, Generation};
use crate::fence::LeaseNumber;
use crate::network::GlobalMeterId;
use crate::partition::{Partition, Slices};
use crate::store::meaning::batch::MeterCache;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::{self, COLUMNS};
use crate::store::meaning::zone;
use crate::store::model::meter_range::MeterRange;
use crate::store::sql::postgres::Connection;
use crate::store::sql::postgres::Server;
use crate::store::sql::postgres::error::{self, ConnectionError};
use crate::store::sql::{Row, Session, SqlError};
use crate::store::{DatabaseUrl, Options, Sharing, StoreError, Write, Written};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The longest time of a writer's statement.
const STATEMENT_TIMEOUT_S: u32 = 30;
/// The longest wait of a commit for a standby; then nothing is acknowledged, and it is checked
/// again.
const COMMIT: Duration = Duration::from_secs(30);
/// The idle time after which the server ends a transaction. One of several writers must not keep
/// others from its locks.
const IDLE_S: u32 = 60;
const IDLE_SHARED_S: u32 = 3;
/// A week that goes is not waited for longer than that, and is tried again the next time.
const DROP_LOCK_MS: u32 = 500;

/// Meters of several workers that one of them knows at most. Then it begins anew, as with more of
/// them most are not heard again soon.
const KNOWN_MAX: usize = 1 << 16;

pub(super) struct Terms {
    pub(super) place: DatabaseUrl,
    pub(super) server: Arc<Server>,
    pub(super) options: Options,
    pub(super) zone: String,
    /// With whom; `None`: nobody.
    pub(super) sharing: Option<Sharing>,
}

pub(super) struct Writer {
    connection: Connection,
    generation: Generation,
    backend: Backend,
    slices: Option<Slices>,
    kept: MeterCache,
    weeks: Weeks,
    /// Ids that the server gave for alerts, and that none has yet.
    alert_ids: VecDeque<i64>,
}

/// Why nothing was written.
pub(super) enum Failed {
    /// It was rolled back, and the connection is good.
    Nothing(SqlError),
    /// Nobody knows whether it happened, or the connection is not good.
    Doubtful(SqlError),
    /// It was rolled back: these are another's.
    Fenced(Vec<LeaseNumber>),
}

/// The guard of a transaction.
#[derive(Clone, Copy)]
pub(super) enum Under<'l> {
    /// That those who write are the same.
    Generation,
    /// That these partitions were taken by nobody since.
    Leases(&'l [LeaseNumber]),
}

impl Writer {
    /// Connects, becomes one who writes, brings the tables up to date, and loads what is kept.
    /// backend: of the last connection; becomes this one's. held: partitions that were taken by it;
    /// those that another has taken since are taken out.
    pub(super) fn begin(
        terms: &Terms,
        backend: &mut Option<Backend>,
        held: &mut Vec<LeaseNumber>,
    ) -> Result<Writer, StoreError> {
        let Terms { place, server, options, zone, sharing } = terms;
        let asked = |error: SqlError| StoreError::asked(place, error);
        let connection = Connection::connect(server).map_err(|error| error.of(place))?;
        let session = Session::Postgres(&connection);
        settings(&connection, sharing.is_some()).map_err(asked)?;
        schema::inspect(&connection, place)?;
        let standby: String = session.value("SELECT pg_is_in_recovery()::text", &[]).map_err(asked)?;
        if standby == "true" {
            return Err(StoreError::Unreachable { place: place.clone(), what: error::STANDBY.to_owned() });
        }
        let (found, many) = writers::lock(&connection, place, sharing.is_some(), backend.as_ref())?;
        let own = Backend::of(&connection).map_err(asked)?;
        *backend = Some(own.clone());
        // The commits of a connection that was lost before its answer may be on no standby yet.
        // This commit is behind them: when it is durable, they are, too. Only then anything is
        // loaded, and counts as stored.
        let mut intervals = Intervals::new(options.zone.clone());
        connection.simple("BEGIN").map_err(|error| error.of(place))?;
        schema::migrate(&connection, found).map_err(asked)?;
        let generation = Generation::begin(session, sharing.is_some()).map_err(asked)?;
        if let Some(other) =
            sharing.as_ref().and(zone::stored(session).map_err(asked)?).filter(|is| is != zone)
        {
            return Err(StoreError::Unsuited {
                place: place.clone(),
                what: format!("its hours and days are of {other}: give each worker --zone {other}"),
            });
        }
        zone::settle(session, zone, &mut intervals).map_err(asked)?;
        if let Some(Sharing { slices, .. }) = sharing {
            let lost = partitions::go_on(session, (*slices, held), &own).map_err(asked)?;
            held.retain(|lease| !lost.contains(lease));
        }
        commit(&connection).map_err(asked)?;
        if sharing.is_some() && !many {
            writers::make_room(&connection).map_err(|error| error.of(place))?;
        }
        let (slices, backend) = (sharing.as_ref().map(|sharing| sharing.slices), own);
        let kept = MeterCache::new(session, intervals).map_err(asked)?;
        let (weeks, alert_ids) = (Weeks::load(session).map_err(asked)?, VecDeque::new());
        let mut writer = Writer { connection, generation, backend, slices, kept, weeks, alert_ids };
        if slices.is_none() {
            writer.kept.load(Session::Postgres(&writer.connection), MeterRange::All).map_err(asked)?;
        }
        Ok(writer)
    }

    /// One of several may have very many meters, most of which it does not hear for long: it loads
    /// only those that it has heard. The holder of the leases is their only writer, from before
    /// this transaction on.
    fn look_up(&mut self, batch: &[Write], leases: &[LeaseNumber]) -> Result<(), SqlError> {
        let Some(slices) = self.slices else { return Ok(()) };
        let is_ours = |meter: &GlobalMeterId| {
            let partition = slices.partition_of(*meter);
            leases.iter().any(|lease| lease.partition == partition)
        };
        let missing = self.kept.missing(batch).into_iter().filter(is_ours);
        let missing: Vec<i64> = missing.map(GlobalMeterId::key).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "SELECT meter, epoch, revoked_ms, {COLUMNS} FROM meters JOIN latest USING (meter) WHERE meter = ANY ($1)"
        );
        for row in self.connection.query_with(&sql, &[&missing])? {
            let (meter, latest) = latest::read(Row::Postgres(&row))?;
            self.kept.know(meter, latest);
        }
        Ok(())
    }

    pub(super) fn session(&self) -> Session<'_> {
        Session::Postgres(&self.connection)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    pub(super) fn kept(&self) -> &MeterCache {
        &self.kept
    }

    /// Begins a transaction, if it may be done.
    fn transaction(&self, under: Under<'_>) -> Result<(), Failed> {
        let begun = match (under, self.slices) {
            (Under::Leases(leases), Some(slices)) if !leases.is_empty() => {
                partitions::transaction(&self.connection, slices, leases).map_err(SqlError::from)
            }
            _ => self.generation.transaction(&self.connection).map(|()| Vec::new()),
        };
        match begun {
            Ok(lost) if lost.is_empty() => Ok(()),
            Ok(lost) => match self.roll_back() {
                Ok(()) => Err(Failed::Fenced(lost)),
                Err(error) => Err(Failed::Doubtful(error)),
            },
            // One of several who is not any more begins anew, and so waits for the lock.
            Err(error) if self.slices.is_some() => Err(Failed::Doubtful(error)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Looks that the server is there, and nobody else writes.
    pub(super) fn check(&mut self) -> Result<(), Failed> {
        self.transaction(Under::Generation)?;
        self.roll_back().map_err(Failed::Doubtful)
    }

    /// Does all of a batch in one transaction, or nothing.
    /// leases: under which, of several who write.
    pub(super) fn write(&mut self, batch: &[Write], leases: &[LeaseNumber]) -> Result<Vec<Written>, Failed> {
        let weeks = self.weeks.clone();
        self.transaction(Under::Leases(leases))?;
        let written = match self.write_begun(batch, leases) {
            Ok(written) => written,
            Err(error) => {
                self.kept.undo();
                self.alert_ids.clear();
                let failed = self.failed(error);
                self.weeks = weeks;
                if self.slices.is_some()
                    && let Ok(weeks) = Weeks::load(self.session())
                {
                    // Another may have taken one away.
                    self.weeks = weeks;
                }
                return Err(failed);
            }
        };
        // After any error from here on, it may be stored.
        commit(&self.connection).map_err(Failed::Doubtful)?;
        self.kept.keep();
        if self.slices.is_some() && self.kept.len() > KNOWN_MAX {
            self.kept.retain(|_| false);
        }
        // A left id is not given to a later alert: it would be below that of one in between.
        self.alert_ids.clear();
        Ok(written)
    }

    fn write_begun(&mut self, batch: &[Write], leases: &[LeaseNumber]) -> Result<Vec<Written>, SqlError> {
        self.look_up(batch, leases)?;
        let expected = self.kept.expect(batch);
        let mut reports =
            Pending::new(&self.connection, &mut self.alert_ids, &expected, self.slices.is_some())?;
        let written = self.kept.write(Session::Postgres(&self.connection), &mut reports, batch)?;
        reports.finish(&mut self.weeks, &self.kept.changes())?;
        Ok(written)
    }

    /// Takes a partition: nobody stores anything under a lease before any more. Returns the number
    /// of a later lease, where there was one.
    pub(super) fn take(&mut self, lease: LeaseNumber, sharing: &Sharing) -> Result<Option<u64>, Failed> {
        let Sharing { worker, slices } = sharing;
        let taken = partitions::take(&self.connection, (*slices, lease), (worker, &self.backend));
        let later = taken.map_err(|error| self.failed(error))?;
        match later {
            Some(_) => self.roll_back(),
            None => commit(&self.connection),
        }
        .map_err(Failed::Doubtful)?;
        Ok(later)
    }

    /// Knows nothing of a partition any more.
    pub(super) fn leave(&mut self, partition: Partition, slices: Slices) {
        self.kept.retain(|meter| slices.partition_of(meter) != partition);
    }

    /// Does something of its own in one transaction.
    pub(super) fn by_itself<T>(
        &mut self,
        under: Under<'_>,
        does: impl FnOnce(&mut Writer) -> Result<T, SqlError>,
    ) -> Result<T, Failed> {
        let before = self.weeks.clone();
        self.transaction(under)?;
        match does(self) {
            Ok(done) => commit(&self.connection).map(|()| done).map_err(Failed::Doubtful),
            Err(error) => {
                self.weeks = before;
                Err(self.failed(error))
            }
        }
    }

    /// Looks at something in one transaction, while nobody else writes.
    pub(super) fn inspect<T>(
        &mut self,
        under: Under<'_>,
        read: impl FnOnce(&Writer) -> Result<T, SqlError>,
    ) -> Result<T, Failed> {
        self.transaction(under)?;
        let seen = read(self);
        self.roll_back().map_err(Failed::Doubtful)?;
        seen.map_err(Failed::Nothing)
    }

    /// Takes away one week whose readings are old, within a transaction of its own. Returns whether
    /// there was one.
    pub(super) fn drop_week(&mut self, under: Under<'_>, before_s: i64) -> Result<bool, Failed> {
        let Some(from_s) = self.weeks.old(before_s) else { return Ok(false) };
        self.by_itself(under, |writer| {
            writer.connection.simple(&format!("SET LOCAL lock_timeout = {DROP_LOCK_MS}"))?;
            writer.weeks.drop(&writer.connection, (from_s, before_s))
        })?;
        Ok(true)
    }

    /// Makes next week's table, so that no batch has to.
    pub(super) fn make_week(&mut self, under: Under<'_>, now_s: i64) -> Result<(), Failed> {
        if self.slices.is_some() {
            // Others make some, too.
            self.weeks = Weeks::load(self.session()).map_err(Failed::Doubtful)?;
        }
        if self.weeks.has_next(now_s) {
            return Ok(());
        }
        self.by_itself(under, |writer| writer.weeks.make_next(&writer.connection, now_s))
    }

    fn roll_back(&self) -> Result<(), SqlError> {
        self.connection.simple("ROLLBACK")?;
        Ok(())
    }

    fn failed(&self, error: SqlError) -> Failed {
        match self.roll_back() {
            Ok(()) => Failed::Nothing(error),
            Err(_) => Failed::Doubtful(error),
        }
    }
}

/// Makes a transaction durable: on this server's disk, and on as many standbys as the server is
/// told to wait for.
pub(super) fn commit(connection: &Connection) -> Result<(), SqlError> {
    let warned = connection.warnings();
    // A time-out would end the wait for a standby, and the commit would be good on this server
    // alone (src/backend/replication/syncrep.c, SyncRepWaitForLSN): that is said by a warning.
    connection.simple_within("SET LOCAL statement_timeout = 0; COMMIT", COMMIT)?;
    if connection.warnings() != warned {
        return Err(SqlError::Postgres(ConnectionError::Here(
            "the server has warned at a commit, which may not be on its standby: nothing of it is acknowledged. The log says more"
                .to_owned(),
        )));
    }
    Ok(())
}

/// Sets the writer's connection, whatever the settings of server, database and user.
fn settings(connection: &Connection, shared: bool) -> Result<(), SqlError> {
    // Each statement joins some keys to an index: the planner's choice for many rows is never
    // right, and planning anew for each batch's values takes as long as the batch.
    let idle_s = if shared { IDLE_SHARED_S } else { IDLE_S };
    connection.simple(&format!(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'; \
         SET statement_timeout = '{STATEMENT_TIMEOUT_S}s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '{idle_s}s'; \
         SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; SET jit = off; \
         SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning"
    ))?;
    let fsync: String = Session::Postgres(connection).value("SELECT current_setting('fsync')", &[])?;
    if fsync != "on" {
        tracing::error!(
            "the database's server has fsync = {fsync}: what is acknowledged is lost when its machine loses power"
        );
    }
    Ok(())
}
