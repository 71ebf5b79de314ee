//! PostgreSQL: a database of a server, which others may keep copies of. docs/collector.md, "PostgreSQL".
//!
//! There is one writer: it holds an advisory lock for as long as it is connected, and each of its transactions looks that nobody has
//! begun to write since ([`Fence`]). When the connection is lost nobody knows whether the last commit was done; so what is kept in memory
//! is loaded again with the next one, and the same batch then says `Repeated` of what was.

mod error;
mod link;
mod partitions;
mod passwords;
mod pending;
mod pool;
mod record;
mod schema;
mod server;
mod tls;
mod wait;

pub(crate) use error::LinkError;
pub(crate) use link::Link;
pub(super) use pool::Pool;
pub use server::Server;

use super::batch::Kept;
use super::check::Check;
use super::health::Pulse;
use super::interval::Intervals;
use super::read::Reader;
use super::retention::Retention;
use super::sql::{Session, SqlError, values};
use super::{Options, Place, StoreError, Write, Written, zone};
use partitions::Partitions;
use pending::Pending;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a statement of the writer, and one of who reads, may take.
const STATEMENT_TIMEOUT_S: u32 = 30;
const READ_TIMEOUT_S: u32 = 30;
/// A commit may wait for a standby so long; then nothing is acknowledged, and it is looked again.
const COMMIT: Duration = Duration::from_secs(30);
/// So long it is waited for a writer that ends just now.
const LOCK: Duration = Duration::from_secs(3);
/// A partition that goes is not waited for longer than that, and is tried again the next time.
const DROP_LOCK_MS: u32 = 500;
/// "WSL1": the advisory lock of who writes.
const LOCK_CLASS: i64 = 0x5753_4c31;

/// The one writer.
pub(super) struct Store {
    seat: Seat,
    retention: Retention,
    /// Before when readings go, while some do.
    sweep: Option<i64>,
    check: Check,
    pulse: Arc<Pulse>,
    pool: Arc<Pool>,
    reader: Reader,
}

/// How to write, and to do so again when the connection was lost.
struct Seat {
    place: Place,
    server: Arc<Server>,
    options: Options,
    zone: String,
    /// `None`: it was lost.
    writer: Option<Writer>,
    /// Of the last connection, which the server may not know to be lost.
    backend: Option<Backend>,
}

/// A connection that may write, and what is known of what is stored.
struct Writer {
    link: Link,
    fence: Fence,
    kept: Kept,
    partitions: Partitions,
    /// Ids that the server gave for alerts, and that none has yet.
    alert_ids: VecDeque<i64>,
}

/// What says that nobody else has begun to write: looked at in each transaction, and held until its end.
#[derive(Clone, Copy, Debug)]
struct Fence {
    generation: i64,
}

impl Fence {
    /// Begins a transaction, if this is still who writes.
    fn begin(self, link: &Link) -> Result<(), SqlError> {
        let Fence { generation } = self;
        let found =
            link.simple(&format!("BEGIN; SELECT id FROM writer WHERE generation = {generation} FOR SHARE"))?;
        match found.is_empty() {
            false => Ok(()),
            true => Err(SqlError::Postgres(LinkError::Here(
                "another service has begun to write: this one stores nothing more. Stop one of both"
                    .to_owned(),
            ))),
        }
    }
}

/// What serves a connection on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Backend {
    process: i64,
    began: String,
}

/// Whether what went wrong may have happened all the same.
enum Outcome {
    /// It was rolled back, and the connection is good.
    Nothing,
    /// Nobody knows.
    Doubtful,
}

impl Store {
    pub(super) fn open(server: &Arc<Server>, options: &Options) -> Result<Store, StoreError> {
        let zone = zone::name(&options.zone)?;
        let place = Place::Server(Arc::clone(server));
        let (server, options) = (Arc::clone(server), options.clone());
        let mut seat = Seat { place, server, options, zone, writer: None, backend: None };
        let heard_ms = seat.begin()?.kept.heard_ms();
        let (pulse, pool) = (Arc::<Pulse>::default(), Arc::new(Pool::new(&seat.server)));
        let (zone, place, connections) = (seat.options.zone.clone(), seat.place.clone(), Arc::clone(&pool));
        let reader = Reader::new(place, zone, seat.zone.clone(), &pulse, connections.into());
        let retention = Retention::new(seat.options.keep_days, heard_ms);
        let store = Store { seat, retention, sweep: None, check: Check::default(), pulse, pool, reader };
        store.measure();
        Ok(store)
    }

    pub(super) fn reader(&self) -> Reader {
        self.reader.clone()
    }

    pub(super) fn commit(&mut self, batch: &[Write]) -> Result<Vec<Written>, StoreError> {
        let began = Instant::now();
        let done = match batch.is_empty() {
            true => Ok(Vec::new()),
            false => self.seat.with_writer(|writer| writer.write(batch)),
        };
        self.pulse.beat(began.elapsed(), done.as_ref().map(Vec::as_slice));
        done
    }

    pub(super) fn look(&mut self) -> Result<(), StoreError> {
        let found = self.seat.with_writer(Writer::look);
        self.pulse.place(found.as_ref());
        self.measure();
        found
    }

    pub(super) fn upkeep(&mut self, now_ms: i64) -> Result<bool, StoreError> {
        let Store { seat, retention, sweep, .. } = self;
        seat.with_writer(|writer| {
            writer.make_partition(now_ms.div_euclid(1000))?;
            if sweep.is_none() {
                let first = writer.kept.meters().filter_map(|(_, first_ms)| first_ms);
                let session = Session::Postgres(&writer.link);
                let before_s = retention.look(session, first, now_ms, Instant::now());
                *sweep = before_s.map_err(|error| (error, writer.roll_back()))?;
            }
            let Some(before_s) = *sweep else { return Ok(false) };
            let more = writer.drop_partition(before_s)?;
            *sweep = sweep.filter(|_| more);
            Ok(more)
        })
    }

    pub(super) fn compare(&mut self) -> Option<String> {
        let writer = self.seat.writer.as_ref()?;
        let meters = writer.kept.meters().map(|(meter, _)| meter);
        let damage = match self.check.step(Session::Postgres(&writer.link), meters) {
            Ok(damage) => damage,
            Err(SqlError::Stored(what)) => Some(what),
            // That the server is not there is no damage.
            Err(_) => None,
        };
        let first = self.pulse.compared(self.check.looked_at, damage.as_deref());
        damage.filter(|_| first)
    }

    /// How large the database is, for who asks.
    fn measure(&self) {
        let Some(writer) = &self.seat.writer else { return };
        let size = "SELECT pg_database_size(current_database())";
        if let Ok(bytes) = Session::Postgres(&writer.link).value::<i64>(size, &[]) {
            self.pool.measured(bytes.unsigned_abs());
        }
    }
}

impl Seat {
    fn begin(&mut self) -> Result<&mut Writer, StoreError> {
        let Seat { place, server, options, zone, backend, .. } = self;
        let writer = Writer::begin(server, place, options, zone, backend)?;
        Ok(self.writer.insert(writer))
    }

    /// Writes, by a connection that is made again where it was lost.
    fn with_writer<T>(
        &mut self,
        write: impl FnOnce(&mut Writer) -> Result<T, (SqlError, Outcome)>,
    ) -> Result<T, StoreError> {
        let is_lost = self.writer.as_ref().is_none_or(|writer| writer.link.is_closed());
        if is_lost {
            self.writer = None;
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let writer = self.begin()?;
                tracing::info!("connected with the database again");
                writer
            }
        };
        write(writer).map_err(|(error, outcome)| {
            if let Outcome::Doubtful = outcome {
                self.writer = None;
            }
            StoreError::asked(&self.place, error)
        })
    }
}

impl Writer {
    /// Connects, becomes the one who writes, brings the tables up to date, and loads what is kept. backend: of the last connection;
    /// becomes this one's.
    fn begin(
        server: &Arc<Server>,
        place: &Place,
        options: &Options,
        zone: &str,
        backend: &mut Option<Backend>,
    ) -> Result<Writer, StoreError> {
        let asked = |error: SqlError| StoreError::asked(place, error);
        let link = Link::connect(server).map_err(|error| error.of(place))?;
        settings(&link).map_err(asked)?;
        let found = schema::look_at(&link, place)?;
        let session = Session::Postgres(&link);
        let standby: String = session.value("SELECT pg_is_in_recovery()::text", &[]).map_err(asked)?;
        if standby == "true" {
            return Err(StoreError::Unreachable { place: place.clone(), what: error::STANDBY.to_owned() });
        }
        lock(&link, place, backend.as_ref())?;
        let own = Backend {
            process: session.value("SELECT pg_backend_pid()", &[]).map_err(asked)?,
            began: session.value(BACKEND_BEGAN, &[]).map_err(asked)?,
        };
        *backend = Some(own);
        // What was committed by a connection that was lost before its answer came may be on no standby yet. This commit is behind it:
        // when it is durable, that is, too. Only then anything is loaded, and said to be stored.
        let mut intervals = Intervals::new(options.zone.clone());
        let mut begin = || {
            link.simple("BEGIN")?;
            // Looked at again: another may have made it until it let go of the lock.
            let found = match found {
                schema::Found::Nothing => {
                    schema::look_at(&link, place).map_err(|error| LinkError::Here(error.to_string()))?
                }
                found => found,
            };
            schema::migrate(&link, found)?;
            let generation =
                session.value("UPDATE writer SET generation = generation + 1 RETURNING generation", &[])?;
            zone::settle(session, zone, &mut intervals)?;
            commit(&link)?;
            Ok(Fence { generation })
        };
        let fence = begin().map_err(asked)?;
        let load = || {
            let kept = Kept::load(session, intervals)?;
            Ok((kept, Partitions::load(session)?))
        };
        let (kept, partitions) = load().map_err(asked)?;
        Ok(Writer { link, fence, kept, partitions, alert_ids: VecDeque::new() })
    }

    /// Looks that the server is there, and nobody else writes.
    fn look(&mut self) -> Result<(), (SqlError, Outcome)> {
        let looked = self.fence.begin(&self.link);
        looked.map_err(|error| (error, self.roll_back()))?;
        self.link.simple("ROLLBACK").map_err(|error| (error.into(), Outcome::Doubtful))?;
        Ok(())
    }

    /// Does all of a batch in one transaction, or nothing.
    fn write(&mut self, batch: &[Write]) -> Result<Vec<Written>, (SqlError, Outcome)> {
        let partitions = self.partitions.clone();
        let written = match self.write_begun(batch) {
            Ok(written) => written,
            Err(error) => {
                self.partitions = partitions;
                self.kept.undo();
                self.alert_ids.clear();
                return Err((error, self.roll_back()));
            }
        };
        // Whatever goes wrong from here on, it may be stored.
        commit(&self.link).map_err(|error| (error, Outcome::Doubtful))?;
        self.kept.keep();
        // What is left is not given to a later alert, whose id would be below that of one in between.
        self.alert_ids.clear();
        Ok(written)
    }

    fn write_begun(&mut self, batch: &[Write]) -> Result<Vec<Written>, SqlError> {
        self.fence.begin(&self.link)?;
        let expected = self.kept.expect(batch);
        let mut reports = Pending::new(&self.link, &mut self.alert_ids, &expected)?;
        let written = self.kept.write(Session::Postgres(&self.link), &mut reports, batch)?;
        reports.finish(&mut self.partitions, &self.kept.changes())?;
        Ok(written)
    }

    /// Takes away one partition whose readings are old. Returns whether there was one.
    fn drop_partition(&mut self, before_s: i64) -> Result<bool, (SqlError, Outcome)> {
        let Some(from_s) = self.partitions.old(before_s) else { return Ok(false) };
        self.change_partitions(|partitions, link| {
            link.simple(&format!("SET LOCAL lock_timeout = {DROP_LOCK_MS}"))?;
            partitions.drop(link, from_s)
        })?;
        Ok(true)
    }

    /// Makes next week's partition, so that no batch has to.
    fn make_partition(&mut self, now_s: i64) -> Result<(), (SqlError, Outcome)> {
        if self.partitions.has_next(now_s) {
            return Ok(());
        }
        self.change_partitions(|partitions, link| partitions.make_next(link, now_s))
    }

    /// In a transaction of its own.
    fn change_partitions(
        &mut self,
        change: impl FnOnce(&mut Partitions, &Link) -> Result<(), SqlError>,
    ) -> Result<(), (SqlError, Outcome)> {
        let before = self.partitions.clone();
        let changed = self.fence.begin(&self.link).and_then(|()| change(&mut self.partitions, &self.link));
        if let Err(error) = changed {
            self.partitions = before;
            return Err((error, self.roll_back()));
        }
        commit(&self.link).map_err(|error| (error, Outcome::Doubtful))
    }

    fn roll_back(&self) -> Outcome {
        match self.link.simple("ROLLBACK") {
            Ok(_) => Outcome::Nothing,
            Err(_) => Outcome::Doubtful,
        }
    }
}

/// Makes a transaction durable: on this server's disk, and on as many standbys as the server is told to wait for.
fn commit(link: &Link) -> Result<(), SqlError> {
    let warned = link.warnings();
    // A time-out would end the wait for a standby, and the commit would be good on this server alone
    // (src/backend/replication/syncrep.c, SyncRepWaitForLSN): that is said by a warning.
    link.simple_within("SET LOCAL statement_timeout = 0; COMMIT", COMMIT)?;
    if link.warnings() != warned {
        return Err(SqlError::Postgres(LinkError::Here(
            "the server has warned at a commit, which may not be on its standby: nothing of it is acknowledged. The log says more"
                .to_owned(),
        )));
    }
    Ok(())
}

/// What the writer's connection has to be like, whatever the server, the database or the user is set to.
fn settings(link: &Link) -> Result<(), SqlError> {
    // Each statement joins some keys to an index, whatever they are: what the planner would choose for many rows is never right, and
    // planning anew for each batch's values takes as long as the batch.
    link.simple(&format!(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'; \
         SET statement_timeout = '{STATEMENT_TIMEOUT_S}s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; \
         SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; SET jit = off; \
         SET client_min_messages = warning"
    ))?;
    let fsync: String = Session::Postgres(link).value("SELECT current_setting('fsync')", &[])?;
    if fsync != "on" {
        tracing::error!(
            "the database's server has fsync = {fsync}: what is acknowledged is lost when its machine loses power"
        );
    }
    Ok(())
}

/// When a connection's process on the server began, in a text that is the same for all who ask.
const BACKEND_BEGAN: &str =
    "SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// Becomes the one who writes, for as long as the connection lasts. before: this writer's last connection, which the server may still
/// wait for.
fn lock(link: &Link, place: &Place, before: Option<&Backend>) -> Result<(), StoreError> {
    let asked = |error: SqlError| StoreError::asked(place, error);
    let session = Session::Postgres(link);
    let until = Instant::now() + LOCK;
    loop {
        let taken: String =
            session.value("SELECT pg_try_advisory_lock($1)::text", values![LOCK_CLASS]).map_err(asked)?;
        if taken == "true" {
            return Ok(());
        }
        if let Some(Backend { process, began }) = before {
            session
                .query(
                    "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity \
                     WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2",
                    values![*process, began],
                    |_| Ok(()),
                )
                .map_err(asked)?;
        }
        if Instant::now() >= until {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let holder = "SELECT ' (process ' || pid || ' of the server, from ' || coalesce(host(client_addr), 'its own machine') || ')' \
                  FROM pg_locks JOIN pg_stat_activity USING (pid) \
                  WHERE locktype = 'advisory' AND objid::bigint = $1 AND objsubid = 1 AND granted \
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let by = session.first(holder, values![LOCK_CLASS], |row| row.get(0)).map_err(asked)?;
    Err(StoreError::InUse { place: place.clone(), by: by.unwrap_or_default() })
}
