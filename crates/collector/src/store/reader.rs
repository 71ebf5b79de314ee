//! Reading while the store writes.

use crate::image_digest::ImageDigest;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use crate::store::engine::{Pool, ReadAccess, postgres, sqlite};
use crate::store::meaning::batch::write_admin;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::read::{firmware, rows, series};
use crate::store::meaning::{telegrams, zone};
use crate::store::model::meter_range::MeterRange;
use crate::store::model::query::{
    AlertFilter, Consumption, ConsumptionQuery, MeterFilter, Readings, ReadingsQuery, Resolution,
};
use crate::store::model::record::{
    Action, AlertRecord, CommandRecord, Health, ImageRecord, KeptMeter, Meter, OutboxRecord, StoredMeter,
    TokenRecord, UpdateRecord,
};
use crate::store::model::telegram::{MbusMeterRecord, StoredTelegram, TelegramQuery};
use crate::store::sql::{Session, SqlError};
use crate::store::{DatabaseUrl, StoreError, Write, Written};
use std::path::Path;
use std::sync::Arc;
use wire::meter::{Image, MeterId};

/// Reads while the store writes: each call sees what was committed before it. Calls block for as
/// long as the database takes; it is cheap to clone.
#[derive(Clone)]
pub struct Reader {
    shared: Arc<ReadAccess>,
}

impl Reader {
    /// Opens a database to look at it alone, whether a service has it open or not: for `audit` and
    /// `export`.
    ///
    /// # Errors
    /// [`StoreError`]: not there, not one of this program's, of another version, damaged.
    pub fn open(place: impl Into<DatabaseUrl>) -> Result<Reader, StoreError> {
        let place = place.into();
        let pool = match &place {
            DatabaseUrl::File(path) => Pool::Sqlite(Arc::new(sqlite::Pool::open(path)?)),
            DatabaseUrl::Server(server) => Pool::Postgres(Arc::new(postgres::Pool::open(server)?)),
        };
        let name = pool.ask(zone::stored)?.unwrap_or_else(|| "UTC".to_owned());
        let (zone, pulse) = (zone::named(&name)?, Arc::default());
        Ok(Reader::of(Arc::new(ReadAccess { url: place, zone, zone_name: name, pulse, pool })))
    }

    /// Reads what a store writes.
    pub(in crate::store) fn of(shared: Arc<ReadAccess>) -> Reader {
        Reader { shared }
    }

    /// As [`Reader::open`]; `None` where nothing was ever stored: there is no file, or a server's
    /// database is empty.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_if_any(place: &DatabaseUrl) -> Result<Option<Reader>, StoreError> {
        if place.is_missing() {
            return Ok(None);
        }
        match Reader::open(place) {
            Err(StoreError::Empty { .. }) => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// As [`Reader::open`]; a server's database that is empty gets its tables.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_or_make(place: &DatabaseUrl) -> Result<Reader, StoreError> {
        match (Reader::open(place), place) {
            (Err(StoreError::Empty { .. }), DatabaseUrl::Server(server)) => {
                postgres::make_tables(server)?;
                Reader::open(place)
            }
            (opened, _) => opened,
        }
    }

    /// Writes a whole copy of the database, as of one moment, into a new file that its owner alone
    /// can read, while a service goes on. It is durable when this returns.
    ///
    /// # Errors
    /// [`StoreError`]: the file is there already, or cannot be written; [`StoreError::NotAFile`]
    /// where the database is none.
    pub fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        match &self.shared.pool {
            Pool::Sqlite(pool) => pool.copy_to(path),
            Pool::Postgres(_) => Err(StoreError::NotAFile { place: self.shared.url.clone() }),
        }
    }

    /// The name of the zone whose hours and days are shown.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.shared.zone_name
    }

    /// All meters, of all networks, as a collector starts with them; also those that are revoked.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn kept_meters(&self) -> Result<Vec<KeptMeter>, StoreError> {
        self.ask(|session| rows::kept_meters(session, MeterRange::All))
    }

    /// The next meters of a partition as its session begins with them, in order; also those that
    /// are revoked. after: the last one that was seen. Empty: that was all.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn stored_meters(
        &self,
        partition: Partition,
        slices: Slices,
        after: Option<MeterId>,
    ) -> Result<Vec<StoredMeter>, StoreError> {
        let after = after.map(|meter| partition.network.meter(meter));
        self.ask(|session| rows::stored_meters(session, MeterRange::OfPartition(partition, slices), after))
    }

    /// Returns the number of meters of each network that are not revoked.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn meters_by_network(&self) -> Result<Vec<(NetworkId, usize)>, StoreError> {
        self.ask(rows::meters_by_network)
    }

    /// A network's meters that are not revoked.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn names(&self, network: NetworkId) -> Result<Vec<MeterId>, StoreError> {
        self.ask(|session| rows::names(session, network))
    }

    /// Meters as they are shown, by network and number; also those that are revoked. now_ms: says
    /// who is online.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn meters(&self, whose: MeterFilter, now_ms: i64) -> Result<Vec<Meter>, StoreError> {
        self.ask(|session| rows::meters(session, whose, now_ms))
    }

    /// One meter as it is shown; `None` where there is none.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn meter(&self, meter: GlobalMeterId, now_ms: i64) -> Result<Option<Meter>, StoreError> {
        self.ask(|session| Ok(rows::meters(session, meter.into(), now_ms)?.pop()))
    }

    /// A page of readings, or of rollups; empty where there are none, or no such meter.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn readings(&self, query: &ReadingsQuery) -> Result<Readings, StoreError> {
        let mut intervals = Intervals::new(self.shared.zone.clone());
        self.ask(|session| match query.resolution {
            Resolution::Raw => series::raw(session, query),
            _ => series::rolled_up(session, query, &mut intervals),
        })
    }

    /// Energy used by interval, of all of these meters that have any, or of one.
    ///
    /// # Errors
    /// [`StoreError::TooMuch`] above [`super::FIGURES_MAX`], and others.
    pub fn consumption(&self, query: &ConsumptionQuery) -> Result<Consumption, StoreError> {
        let mut intervals = Intervals::new(self.shared.zone.clone());
        let meters = self.ask(|session| series::meters_of(session, query))?;
        let start_s = series::starts(query, meters.len(), &mut intervals)?;
        let meters = self.ask(|session| series::used(session, query, &meters, &start_s))?;
        let zone = self.shared.zone_name.clone();
        let intervals = start_s.len().saturating_sub(1);
        let start_s = start_s[..intervals].to_vec();
        Ok(Consumption { resolution: query.resolution, zone, start_s, meters })
    }

    /// Alerts, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn alerts(&self, filter: &AlertFilter) -> Result<Vec<AlertRecord>, StoreError> {
        self.ask(|session| rows::alerts(session, filter))
    }

    /// One alert.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn alert(&self, id: i64) -> Result<Option<AlertRecord>, StoreError> {
        self.ask(|session| rows::alert(session, id))
    }

    /// A meter's commands, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn commands(&self, meter: GlobalMeterId, limit: usize) -> Result<Vec<CommandRecord>, StoreError> {
        self.ask(|session| rows::commands(session, meter, limit))
    }

    /// One command.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn command(&self, id: i64) -> Result<Option<CommandRecord>, StoreError> {
        self.ask(|session| rows::command(session, id))
    }

    /// The commands of all meters that are waiting or sent, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn open_commands(&self) -> Result<Vec<CommandRecord>, StoreError> {
        self.ask(|session| rows::open_commands(session, MeterRange::All))
    }

    /// The same of a partition's meters.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn open_commands_of(
        &self,
        partition: Partition,
        slices: Slices,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        self.ask(|session| rows::open_commands(session, MeterRange::OfPartition(partition, slices)))
    }

    /// Images of meters' firmware, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn images(&self) -> Result<Vec<ImageRecord>, StoreError> {
        self.ask(firmware::images)
    }

    /// One image.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn image(&self, digest: &ImageDigest) -> Result<Option<ImageRecord>, StoreError> {
        self.ask(|session| firmware::image(session, digest))
    }

    /// All of an image.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn image_content(&self, digest: &ImageDigest) -> Result<Option<Image>, StoreError> {
        self.ask(|session| firmware::image_content(session, digest))
    }

    /// The digest of the latest image of the same target and version that is for another slot.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn image_of_other_slot(&self, digest: &ImageDigest) -> Result<Option<ImageDigest>, StoreError> {
        self.ask(|session| firmware::image_of_other_slot(session, digest))
    }

    /// The latest update of a meter.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn update(&self, meter: GlobalMeterId) -> Result<Option<UpdateRecord>, StoreError> {
        self.ask(|session| firmware::update(session, meter))
    }

    /// The same of several meters, as far as they had any.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn updates_of(&self, meters: &[GlobalMeterId]) -> Result<Vec<UpdateRecord>, StoreError> {
        self.ask(|session| {
            let updates: Result<Vec<_>, SqlError> =
                meters.iter().map(|meter| firmware::update(session, *meter)).collect();
            Ok(updates?.into_iter().flatten().collect())
        })
    }

    /// Says of each meter if it was revoked; `None` for unknown ones.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn revoked(&self, meters: &[GlobalMeterId]) -> Result<Vec<Option<bool>>, StoreError> {
        self.ask(|session| meters.iter().map(|meter| rows::is_revoked(session, *meter)).collect())
    }

    /// The latest update of each meter that had one, the latest change first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn updates(&self, whose: MeterFilter) -> Result<Vec<UpdateRecord>, StoreError> {
        self.ask(|session| firmware::updates(session, whose))
    }

    /// The updates of a partition's meters that are not over, in the order in which they were asked
    /// for.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn open_updates_of(
        &self,
        partition: Partition,
        slices: Slices,
    ) -> Result<Vec<UpdateRecord>, StoreError> {
        self.ask(|session| firmware::open_updates(session, MeterRange::OfPartition(partition, slices)))
    }

    /// The meters of a partition of which it was told that they are silent, and that were not heard
    /// since.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn silent(&self, partition: Partition, slices: Slices) -> Result<Vec<MeterId>, StoreError> {
        self.ask(|session| rows::silent(session, MeterRange::OfPartition(partition, slices)))
    }

    /// All tokens, also those that are revoked, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.ask(rows::tokens)
    }

    /// Returns the administrators' actions, newest first; before: only those with a lower id.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn actions(&self, limit: usize, before: Option<i64>) -> Result<Vec<Action>, StoreError> {
        self.ask(|session| rows::actions(session, limit, before))
    }

    /// Other makers' meters of which telegrams came, by name.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn mbus_meters(&self) -> Result<Vec<MbusMeterRecord>, StoreError> {
        self.ask(telegrams::meters)
    }

    /// A page of their telegrams, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn telegrams(&self, query: &TelegramQuery) -> Result<Vec<StoredTelegram>, StoreError> {
        self.ask(|session| telegrams::telegrams(session, query))
    }

    /// The highest message counter of each of these meters and keys.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) fn mbus_counters(&self) -> Result<Vec<(String, [u8; 8], u32)>, StoreError> {
        self.ask(telegrams::counters)
    }

    /// The messages that wait to be forwarded, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn outbox(&self) -> Result<Vec<OutboxRecord>, StoreError> {
        self.ask(rows::outbox)
    }

    /// Returns the store's health. It waits for nothing.
    #[must_use]
    pub fn health(&self) -> Health {
        let mut health = self.shared.pulse.health();
        match &self.shared.pool {
            Pool::Sqlite(pool) => pool.measure(&mut health),
            Pool::Postgres(pool) => pool.measure(&mut health),
        }
        health
    }

    pub(crate) fn place(&self) -> &DatabaseUrl {
        &self.shared.url
    }

    /// Changes something that is no writer's, in one transaction: what is `Ok` is durable, and else
    /// nothing was changed. A file is its writer's alone.
    pub(crate) fn change<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(Session<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.shared.pool {
            Pool::Postgres(pool) => pool.change(change),
            Pool::Sqlite(_) => {
                let what = "a file is changed by its service alone".to_owned();
                Err(StoreError::Unsuited { place: self.shared.url.clone(), what }.into())
            }
        }
    }

    /// Changes tokens by a decision on the present ones, while nobody else makes or revokes any.
    /// The returned result is durable.
    ///
    /// # Errors
    /// The error of `decide`, and as [`Reader::change`]; nothing was changed then.
    pub(crate) fn change_tokens<E: From<StoreError>>(
        &self,
        decide: impl FnOnce(&[TokenRecord]) -> Result<Vec<Write>, E>,
    ) -> Result<Vec<Written>, E> {
        self.change(|session| {
            let asked = |error| E::from(StoreError::asked(self.place(), error));
            session.execute("LOCK TABLE tokens IN SHARE ROW EXCLUSIVE MODE", &[]).map_err(asked)?;
            let writes = decide(&rows::tokens(session).map_err(asked)?)?;
            writes.iter().map(|write| write_admin(session, write).map_err(asked)).collect()
        })
    }

    /// Writes administrators' changes, in one transaction, beside the writer of reports: labels,
    /// tokens, acknowledged alerts, actions. The returned results, one for each in their order, are
    /// durable.
    ///
    /// # Errors
    /// As [`Reader::change`]; nothing was changed then.
    pub(crate) fn write_admin(&self, writes: &[Write]) -> Result<Vec<Written>, StoreError> {
        self.change(|session| {
            let written: Result<_, SqlError> =
                writes.iter().map(|write| write_admin(session, write)).collect();
            written.map_err(|error| StoreError::asked(self.place(), error))
        })
    }

    /// Asks within one transaction, so that all answers are of the same moment.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(Session<'_>) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        self.shared.pool.ask(question)
    }
}
