//! PostgreSQL: a database of a server, which others may keep copies of. docs/how-to/collector.md,
//! "PostgreSQL".
//!
//! One service writes, and holds an advisory lock alone for as long as it is connected; or several
//! do ([`Sharing`]), each the meters of partitions that it has taken. Each transaction looks that
//! the right to do it is whose it was: that nobody has begun to write since, or that none of its
//! partitions was taken since under a later lease. When the connection is lost nobody knows whether
//! the last commit was done; so what is kept in memory is loaded again with the next one, and the
//! same batch then says `Repeated` of what was.

mod endpoint;
mod partitions;
mod pending;
mod pool;
mod record;
mod schema;
mod weeks;
mod writer;
mod writers;

pub(in crate::store) use endpoint::MigrationEndpoint;
pub(crate) use partitions::is_held;
pub(in crate::store) use pool::Pool;

use super::{Pool as Connections, ReadAccess};
use crate::fence::LeaseNumber;
use crate::partition::Partition;
use crate::store::meaning::check::Check;
use crate::store::meaning::read;
use crate::store::meaning::retention::Retention;
use crate::store::meaning::telegrams;
use crate::store::meaning::zone;
use crate::store::model::health::Heartbeat;
use crate::store::model::meter_range::MeterRange;
use crate::store::sql::SqlError;
use crate::store::sql::postgres::{Connection, Server};
use crate::store::{DatabaseUrl, Options, Sharing, StoreError, Write, Written};
use std::sync::Arc;
use std::time::Instant;
use writer::{Failed, Terms, Under, Writer};
use writers::Backend;

/// The longest time of a reader's statement.
const READ_TIMEOUT_S: u32 = 30;

/// Makes the tables of a database that is empty.
pub(in crate::store) fn make_tables(server: &Arc<Server>) -> Result<(), StoreError> {
    let place = DatabaseUrl::Server(Arc::clone(server));
    let connection = Connection::connect(server).map_err(|error| error.of(&place))?;
    let (found, _) = writers::lock(&connection, &place, false, None)?;
    let make = || {
        connection.simple("BEGIN")?;
        schema::migrate(&connection, found)?;
        writer::commit(&connection)
    };
    make().map_err(|error| StoreError::asked(&place, error))
}

/// The writer; one of several if the database is shared.
pub(in crate::store) struct Store {
    seat: Seat,
    retention: Retention,
    /// Before when readings go, while some do.
    sweep: Option<i64>,
    check: Check,
    /// The number of comparisons of a partition's meters.
    compared: usize,
    pulse: Arc<Heartbeat>,
    pool: Arc<Pool>,
    access: Arc<ReadAccess>,
}

/// The writer's connection, which is made anew after a loss.
struct Seat {
    terms: Terms,
    /// `None`: it was lost.
    writer: Option<Writer>,
    /// Of the last connection, which the server may not know to be lost.
    backend: Option<Backend>,
    /// Partitions that were taken, of several who write.
    held: Vec<LeaseNumber>,
}

impl Store {
    /// sharing: with whom others write, too.
    pub(in crate::store) fn open(
        server: &Arc<Server>,
        options: &Options,
        sharing: Option<Sharing>,
    ) -> Result<Store, StoreError> {
        let zone = zone::name(&options.zone)?;
        let place = DatabaseUrl::Server(Arc::clone(server));
        let (server, options) = (Arc::clone(server), options.clone());
        let terms = Terms { place, server, options, zone, sharing };
        let mut seat = Seat { terms, writer: None, backend: None, held: Vec::new() };
        let heard_ms = seat.begin()?.kept().heard_ms();
        let (pulse, pool) = (Arc::<Heartbeat>::default(), Arc::new(Pool::new(&seat.terms.server)));
        let Terms { options, place, zone, .. } = &seat.terms;
        let access = Arc::new(ReadAccess {
            url: place.clone(),
            zone: options.zone.clone(),
            zone_name: zone.clone(),
            pulse: Arc::clone(&pulse),
            pool: Connections::Postgres(Arc::clone(&pool)),
        });
        let retention = Retention::new(options.keep_days, heard_ms);
        let store =
            Store { seat, retention, sweep: None, check: Check::default(), compared: 0, pulse, pool, access };
        store.measure();
        Ok(store)
    }

    pub(in crate::store) fn access(&self) -> Arc<ReadAccess> {
        Arc::clone(&self.access)
    }

    /// leases: under which it is to be done, where others write, too.
    pub(in crate::store) fn commit(
        &mut self,
        batch: &[Write],
        leases: &[LeaseNumber],
    ) -> Result<Vec<Written>, StoreError> {
        let began = Instant::now();
        let done = match batch.is_empty() {
            true => Ok(Vec::new()),
            false => self.seat.with_writer(|writer| writer.write(batch, leases)),
        };
        if !matches!(done, Err(StoreError::Fenced { .. })) {
            self.pulse.beat(began.elapsed(), done.as_ref().map(Vec::as_slice));
        }
        done
    }

    pub(in crate::store) fn take(&mut self, lease: LeaseNumber) -> Result<(), StoreError> {
        let Some(sharing) = self.seat.terms.sharing.clone() else { return Ok(()) };
        self.leave(lease.partition);
        if let Some(number) = self.seat.with_writer(|writer| writer.take(lease, &sharing))? {
            let leases = vec![LeaseNumber { number, ..lease }];
            return Err(StoreError::Fenced { place: self.seat.terms.place.clone(), leases });
        }
        self.seat.held.push(lease);
        if lease.partition == Partition::FIRST {
            let heard_ms = self.heard_ms("SELECT max(last_heard_ms) FROM latest")?;
            (self.retention, self.sweep) =
                (Retention::new(self.seat.terms.options.keep_days, heard_ms), None);
        }
        Ok(())
    }

    fn heard_ms(&mut self, sql: &str) -> Result<Option<i64>, StoreError> {
        self.seat.with_writer(|writer| writer.session().value(sql, &[]).map_err(Failed::Nothing))
    }

    pub(in crate::store) fn leave(&mut self, partition: Partition) {
        let Some(Sharing { slices, .. }) = self.seat.terms.sharing else { return };
        self.seat.held.retain(|lease| lease.partition != partition);
        self.check.retain(|meter| slices.partition_of(meter) != partition);
        if let Some(writer) = &mut self.seat.writer {
            writer.leave(partition, slices);
        }
    }

    pub(in crate::store) fn check(&mut self) -> Result<(), StoreError> {
        let found = self.seat.with_writer(Writer::check);
        self.pulse.place(found.as_ref());
        self.measure();
        found
    }

    /// Of several who write the one does it who has the first partition.
    pub(in crate::store) fn upkeep(&mut self, now_ms: i64) -> Result<bool, StoreError> {
        let shared = self.seat.terms.sharing.is_some();
        let first: Vec<LeaseNumber> =
            self.seat.held.iter().filter(|lease| lease.partition == Partition::FIRST).copied().collect();
        if shared && first.is_empty() {
            return Ok(false);
        }
        let under = if shared { Under::Leases(&first) } else { Under::Generation };
        let Store { seat, retention, sweep, .. } = self;
        seat.with_writer(|writer| {
            writer.make_week(under, now_ms.div_euclid(1000))?;
            if sweep.is_none() {
                *sweep = writer.by_itself(under, |writer| {
                    let session = writer.session();
                    let first_ms = match shared {
                        true => session.value("SELECT min(first_heard_ms) FROM latest", &[])?,
                        false => writer.kept().meters().filter_map(|(_, first_ms)| first_ms).min(),
                    };
                    let before_s = retention.check(session, first_ms, now_ms, Instant::now())?;
                    if before_s.is_some() {
                        telegrams::sweep(session)?;
                    }
                    Ok(before_s)
                })?;
            }
            let Some(before_s) = *sweep else { return Ok(false) };
            let more = writer.drop_week(under, before_s)?;
            *sweep = sweep.filter(|_| more);
            Ok(more)
        })
    }

    pub(in crate::store) fn compare(&mut self) -> Option<String> {
        let Store { seat, check, compared, .. } = self;
        let slices = seat.terms.sharing.as_ref().map(|sharing| sharing.slices);
        let writer = seat.writer.as_mut().filter(|_| slices.is_none() || !seat.held.is_empty())?;
        // Nobody else writes these meters meanwhile.
        let held = &seat.held;
        let compared = writer.inspect(Under::Leases(held), |writer| {
            let next = || match slices {
                None => Ok(writer.kept().meters().map(|(meter, _)| meter).collect()),
                // Of one partition after the other.
                Some(slices) => {
                    *compared = compared.wrapping_add(1);
                    let partition = held[*compared % held.len()].partition;
                    read::meters_of(writer.session(), MeterRange::OfPartition(partition, slices))
                }
            };
            check.step(writer.session(), next)
        });
        let damage = match compared {
            Ok(damage) => damage,
            Err(Failed::Nothing(SqlError::Stored(what))) => Some(what),
            // That the server is not there is no damage.
            Err(_) => None,
        };
        let first = self.pulse.compared(self.check.looked_at, damage.as_deref());
        damage.filter(|_| first)
    }

    /// Measures the database's size for its readers.
    fn measure(&self) {
        let Some(writer) = &self.seat.writer else { return };
        let size = "SELECT pg_database_size(current_database())";
        if let Ok(bytes) = writer.session().value::<i64>(size, &[]) {
            self.pool.measured(bytes.unsigned_abs());
        }
    }
}

impl Seat {
    fn begin(&mut self) -> Result<&mut Writer, StoreError> {
        let writer = Writer::begin(&self.terms, &mut self.backend, &mut self.held)?;
        Ok(self.writer.insert(writer))
    }

    /// Writes, by a connection that is made again where it was lost.
    fn with_writer<T>(
        &mut self,
        write: impl FnOnce(&mut Writer) -> Result<T, Failed>,
    ) -> Result<T, StoreError> {
        let is_lost = self.writer.as_ref().is_none_or(Writer::is_closed);
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
        write(writer).map_err(|failed| {
            let place = &self.terms.place;
            match failed {
                Failed::Nothing(error) => StoreError::asked(place, error),
                Failed::Doubtful(error) => {
                    self.writer = None;
                    StoreError::asked(place, error)
                }
                Failed::Fenced(leases) => StoreError::Fenced { place: place.clone(), leases },
            }
        })
    }
}
