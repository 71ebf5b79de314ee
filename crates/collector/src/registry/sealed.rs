//! A network's keys in a database of PostgreSQL: rows that are sealed under a key-encryption key.
//! docs/how-to/collector/postgresql.md, "Keys in the database".
//!
//! A row's network, meter, epoch and suite are authenticated with it: a row in the place of another
//! is not opened.

use super::kek::{KeyRing, NotOpened};
use super::key_backend::{KeyBackend, Meters};
use super::{MeterFile, RegistryError, RevokedFile, check};
use crate::fence::LeaseNumber;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use crate::store::{
    DatabaseUrl, METERS_OF_A_PAGE, MeterRange, Reader, Row, Session, SqlError, StoreError, is_held, keys_of,
    values,
};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use wire::meter::{Identity, MeterId, MeterKeys, MeterRecord, PublicKey, Setup, Suite};
use zeroize::Zeroizing;

/// No meter has this number: its row is the collector's own.
const COLLECTOR: MeterId = 0;
/// The key in `meta` of the id of the KEK for new sealings.
pub(super) const SEALING: &str = "kek";
/// Goes before what is authenticated.
const CONTEXT: &[u8; 14] = b"wattseal key 1";
/// key128 and key256.
const KEY_BYTES: usize = 16 + 32;
/// These, the public key, and what was chosen but for name and suite. Behind it is what else there
/// is of keys that were renewed.
const METER_BYTES: usize = KEY_BYTES + 64 + 16;

/// The keys in a database, and what opens them.
#[derive(Clone)]
pub struct SealedStore {
    pub(super) reader: Reader,
    pub(super) ring: KeyRing,
}

impl fmt::Debug for SealedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedStore({}, {:?})", self.place(), self.ring)
    }
}

impl SealedStore {
    pub(super) fn place(&self) -> &DatabaseUrl {
        self.reader.place()
    }

    pub(super) fn asked(&self, error: SqlError) -> RegistryError {
        StoreError::asked(self.place(), error).into()
    }

    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(Session<'_>) -> Result<T, SqlError>,
    ) -> Result<T, RegistryError> {
        Ok(self.reader.ask(ask)?)
    }

    /// The id of the KEK that the database's keys are sealed under, at first this ring's first one.
    /// Held until the transaction's end, so that nothing is sealed under one that is going.
    pub(super) fn kek(&self, session: Session<'_>) -> Result<String, RegistryError> {
        let own = self.ring.first().map_or("", |id| &id.0);
        let first = "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
        session.execute(first, values![SEALING, own]).map_err(|error| self.asked(error))?;
        let is: String = session
            .value("SELECT value FROM meta WHERE key = $1 FOR SHARE", values![SEALING])
            .map_err(|error| self.asked(error))?;
        match self.ring.knows(&is) {
            true => Ok(is),
            false => Err(RegistryError::OtherKek {
                place: self.place().clone(),
                what: "its keys are".to_owned(),
                kek: is,
                given: self.ring.to_string(),
            }),
        }
    }

    /// Opens a row's text.
    pub(super) fn open(&self, row: &SealedRow) -> Result<Zeroizing<Vec<u8>>, RegistryError> {
        self.open_under(&row.kek, &row.context(), &row.sealed, &row.whose())?
            .ok_or_else(|| row.not_authentic(self.place().clone()))
    }

    /// Opens what was sealed under a KEK; `None` if it is not authentic.
    pub(super) fn open_under(
        &self,
        kek: &str,
        context: &[u8],
        sealed: &[u8],
        whose: &str,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, RegistryError> {
        match self.ring.open(kek, context, sealed) {
            Ok(text) => Ok(Some(text)),
            Err(NotOpened::NotAuthentic) => Ok(None),
            Err(NotOpened::NoKek) => Err(RegistryError::OtherKek {
                place: self.place().clone(),
                what: format!("the keys of {whose} are"),
                kek: kek.to_owned(),
                given: self.ring.to_string(),
            }),
        }
    }
}

/// A row of `sealed_keys`.
pub(super) struct SealedRow {
    pub(super) meter: GlobalMeterId,
    epoch: u32,
    suite: u8,
    pub(super) kek: String,
    sealed: Vec<u8>,
}

pub(super) const COLUMNS: &str = "meter, epoch, suite, kek, sealed";

impl SealedRow {
    /// Of [`COLUMNS`].
    pub(super) fn read(row: Row<'_>) -> Result<SealedRow, SqlError> {
        let (meter, epoch, suite) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(SealedRow { meter, epoch, suite, kek: row.get(3)?, sealed: row.get(4)? })
    }

    fn whose(&self) -> String {
        let GlobalMeterId { network, meter } = self.meter;
        if meter == COLLECTOR {
            format!("the collector in network {network}")
        } else {
            format!("meter {}", self.meter)
        }
    }

    /// Returns the authenticated data: this row's place.
    pub(super) fn context(&self) -> Vec<u8> {
        let GlobalMeterId { network, meter } = self.meter;
        [
            &CONTEXT[..],
            &network.0.to_be_bytes(),
            &meter.to_be_bytes(),
            &self.epoch.to_be_bytes(),
            &[self.suite],
        ]
        .concat()
    }

    fn not_authentic(&self, place: DatabaseUrl) -> RegistryError {
        let or_else = match self.meter.meter {
            COLLECTOR => String::new(),
            _ => format!(", or make new keys with 'wattseal meters rotate {}'", self.meter),
        };
        RegistryError::Sealed { place, whose: self.whose(), kek: self.kek.clone(), or_else }
    }

    pub(super) fn file(&self, store: &SealedStore) -> Result<MeterFile, RegistryError> {
        let text = store.open(self)?;
        let GlobalMeterId { network, meter } = self.meter;
        let record = record_of(&text, meter, self.suite).filter(|record| check(&record.setup).is_ok());
        let record = record.ok_or_else(|| self.not_authentic(store.place().clone()))?;
        Ok(MeterFile { network, epoch: self.epoch, record })
    }
}

fn text_of(record: &MeterRecord) -> Zeroizing<Vec<u8>> {
    let keys = record.keys.expose_all();
    let (keys, renewed) = keys.split_at(KEY_BYTES);
    let mut text = Zeroizing::new(Vec::with_capacity(METER_BYTES + renewed.len()));
    let Setup {
        meter: _,
        address,
        collector_address,
        channel,
        power,
        interval_s,
        suite: _,
        voltage_uv,
        current_ua,
        phase,
    } = record.setup;
    text.extend_from_slice(keys);
    text.extend_from_slice(&record.public.to_bytes());
    text.extend_from_slice(&[address, collector_address, channel, power]);
    text.extend_from_slice(&interval_s.to_be_bytes());
    text.extend_from_slice(&voltage_uv.to_be_bytes());
    text.extend_from_slice(&current_ua.to_be_bytes());
    text.extend_from_slice(&phase.to_be_bytes());
    text.extend_from_slice(renewed);
    text
}

fn record_of(text: &[u8], meter: MeterId, suite: u8) -> Option<MeterRecord> {
    let (keys, text) = text.split_first_chunk::<KEY_BYTES>()?;
    let (public, text) = text.split_first_chunk::<64>()?;
    let ([address, collector_address, channel, power], text) = text.split_first_chunk::<4>()?;
    let (interval_s, text) = text.split_first_chunk::<2>()?;
    let (voltage_uv, text) = text.split_first_chunk::<4>()?;
    let (current_ua, text) = text.split_first_chunk::<4>()?;
    let (phase, renewed) = text.split_first_chunk::<2>()?;
    let setup = Setup {
        meter,
        address: *address,
        collector_address: *collector_address,
        channel: *channel,
        power: *power,
        interval_s: u16::from_be_bytes(*interval_s),
        suite: Suite::from_code(suite)?,
        voltage_uv: u32::from_be_bytes(*voltage_uv),
        current_ua: u32::from_be_bytes(*current_ua),
        phase: i16::from_be_bytes(*phase),
    };
    let public = PublicKey::from_bytes(public).ok()?;
    let keys = MeterKeys::from_exposed(&Zeroizing::new([keys, renewed].concat()))?;
    Some(MeterRecord { setup, keys, public })
}

/// A network's keys in a database.
#[derive(Clone, Debug)]
pub(super) struct SealedNetwork {
    pub(super) network: NetworkId,
    pub(super) store: SealedStore,
}

impl SealedNetwork {
    /// The rows in a transaction. revision: what is changed in it has this one.
    fn rows<'s>(&'s self, session: Session<'s>, revision: i64) -> Rows<'s> {
        Rows { network: self.network, store: &self.store, session, revision, kek: OnceCell::new() }
    }

    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Rows<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.store.reader.ask(|session| Ok(read(&self.rows(session, 0))))?
    }

    /// Changes keys in a transaction that holds the network's row.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&Rows<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.store.reader.change(|session| {
            let hold = "INSERT INTO key_networks VALUES ($1, 1, 0) \
                        ON CONFLICT (network) DO UPDATE SET revision = key_networks.revision + 1 RETURNING revision";
            let revision = session.value(hold, values![self.network.0]).map_err(|error| self.store.asked(error))?;
            change(&self.rows(session, revision))
        })
    }

    /// Changes what no running service has to see.
    pub(super) fn change_issued<T>(
        &self,
        change: impl FnOnce(&Rows<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.store.reader.change(|session| change(&self.rows(session, 0)))
    }
}

/// The rows of a network, within a transaction.
pub(super) struct Rows<'s> {
    pub(super) network: NetworkId,
    store: &'s SealedStore,
    pub(super) session: Session<'s>,
    /// The revision of all changes in this transaction.
    revision: i64,
    /// The KEK of this transaction, once it seals something.
    kek: OnceCell<String>,
}

impl Rows<'_> {
    fn row(&self, meter: MeterId) -> Result<Option<SealedRow>, RegistryError> {
        let sql = format!("SELECT {COLUMNS} FROM sealed_keys WHERE meter = $1");
        let found = self.session.first(&sql, values![self.network.meter(meter)], SealedRow::read);
        found.map_err(|error| self.store.asked(error))
    }

    fn seal(&self, (meter, epoch, suite): (MeterId, u32, u8), text: &[u8]) -> Result<(), RegistryError> {
        let kek = match self.kek.get() {
            Some(kek) => kek,
            None => {
                let kek = self.store.kek(self.session)?;
                self.kek.get_or_init(|| kek)
            }
        };
        let meter = self.network.meter(meter);
        let mut row = SealedRow { meter, epoch, suite, kek: kek.clone(), sealed: Vec::new() };
        row.sealed = self.store.ring.seal(&row.kek, &row.context(), text)?;
        let sql = "INSERT INTO sealed_keys VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (meter) DO UPDATE SET epoch = excluded.epoch, \
                   suite = excluded.suite, revision = excluded.revision, kek = excluded.kek, sealed = excluded.sealed";
        self.execute(sql, values![meter, epoch, suite, self.revision, &row.kek, &row.sealed])
    }

    fn execute(&self, sql: &str, values: &[crate::store::Value<'_>]) -> Result<(), RegistryError> {
        self.session.execute(sql, values).map(drop).map_err(|error| self.store.asked(error))
    }

    /// The numbers and told states that key files had: no number goes down.
    pub(super) fn put_issued(
        &self,
        below: u32,
        told: &BTreeMap<MeterId, String>,
    ) -> Result<(), RegistryError> {
        let numbers = "UPDATE key_networks SET below = greatest(below, $2) WHERE network = $1";
        self.execute(numbers, values![self.network.0, below])?;
        let sql = "INSERT INTO told VALUES ($1, $2) ON CONFLICT (meter) DO UPDATE SET told = excluded.told";
        told.iter().try_for_each(|(meter, told)| self.execute(sql, values![self.network.meter(*meter), told]))
    }

    pub(super) fn put_revoked(&self, file: &RevokedFile) -> Result<(), RegistryError> {
        let meter = self.network.meter(file.setup.meter);
        let text = serde_json::to_string(file).map_err(|error| {
            RegistryError::Kek(format!("meter {meter} cannot be written as JSON: {error}"))
        })?;
        let sql = "INSERT INTO revoked_keys VALUES ($1, $2, $3, $4) ON CONFLICT (meter) DO UPDATE SET epoch = excluded.epoch, \
                   revision = excluded.revision, file = excluded.file";
        self.execute(sql, values![meter, file.epoch, self.revision, &text])
    }
}

impl KeyBackend for Rows<'_> {
    fn identity(&self) -> Result<Option<Identity>, RegistryError> {
        let Some(row) = self.row(COLLECTOR)? else { return Ok(None) };
        let text = self.store.open(&row)?;
        let private = text.first_chunk().filter(|bytes| bytes.len() == text.len());
        let identity = private.and_then(|private| Identity::from_private_bytes(private).ok());
        identity.map(Some).ok_or_else(|| row.not_authentic(self.store.place().clone()))
    }

    fn put_identity(&self, identity: &Identity) -> Result<(), RegistryError> {
        self.seal((COLLECTOR, 0, 0), &identity.private_bytes()[..])
    }

    fn has_meters(&self) -> Result<bool, RegistryError> {
        let (first, last) = keys_of(self.network);
        let sql = "SELECT meter FROM sealed_keys WHERE meter > $1 AND meter <= $2 LIMIT 1";
        let found = self.session.first(sql, values![first, last], |row| row.get::<i64>(0));
        found.map(|found| found.is_some()).map_err(|error| self.store.asked(error))
    }

    fn meter(&self, meter: MeterId) -> Result<Option<MeterFile>, RegistryError> {
        if meter == COLLECTOR {
            return Ok(None);
        }
        self.row(meter)?.map(|row| row.file(self.store)).transpose()
    }

    fn meters(&self, of: Option<(Partition, Slices)>) -> Result<Meters, RegistryError> {
        let keys = of.map_or(MeterRange::OfNetwork(self.network), |(partition, slices)| {
            MeterRange::OfPartition(partition, slices)
        });
        let sql =
            format!("SELECT {COLUMNS} FROM sealed_keys WHERE {} ORDER BY meter LIMIT $5", MeterRange::sql());
        let (mut files, mut after) = (BTreeMap::new(), None);
        loop {
            let page = self.session.query(&sql, &keys.page(after, METERS_OF_A_PAGE), SealedRow::read);
            let page = page.map_err(|error| self.store.asked(error))?;
            let Some(last) = page.last() else { break };
            after = Some(last.meter.key());
            for row in page.iter().filter(|row| row.meter.meter != COLLECTOR) {
                files.insert(row.meter.meter, row.file(self.store)?);
            }
        }
        let (first, last) = keys_of(self.network);
        let seals = "SELECT meter FROM sealed_keys WHERE meter > $1 AND meter <= $2 AND suite <> $3 LIMIT 1";
        let seals =
            self.session.first(seals, values![first, last, Suite::None.code()], |row| row.get::<i64>(0));
        let network_seals = seals.map_err(|error| self.store.asked(error))?.is_some();
        let revision = "SELECT revision FROM key_networks WHERE network = $1";
        let revision = self.session.first(revision, values![self.network.0], |row| row.get::<i64>(0));
        // A later change has a later one: the network's row is locked until the end.
        let revision = revision.map_err(|error| self.store.asked(error))?.unwrap_or(0);
        Ok(Meters { files, network_seals, revision })
    }

    fn has_any(&self, meters: &[MeterId]) -> Result<bool, RegistryError> {
        if meters.len() > 1 && !self.has_meters()? {
            return Ok(false);
        }
        let sql = "SELECT meter FROM sealed_keys WHERE meter = $1";
        for meter in meters.iter().filter(|meter| **meter != COLLECTOR) {
            let found = self.session.first(sql, values![self.network.meter(*meter)], |row| row.get::<i64>(0));
            if found.map_err(|error| self.store.asked(error))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_under(&self, (slices, lease): (Slices, LeaseNumber)) -> Result<bool, RegistryError> {
        is_held(self.session, slices, lease).map_err(|error| self.store.asked(error))
    }

    fn put(&self, file: &MeterFile) -> Result<(), RegistryError> {
        let Setup { meter, suite, .. } = file.record.setup;
        self.seal((meter, file.epoch, suite.code()), &text_of(&file.record))
    }

    fn revoked(&self) -> Result<BTreeMap<MeterId, RevokedFile>, RegistryError> {
        let sql = format!(
            "SELECT meter, file FROM revoked_keys WHERE {} ORDER BY meter LIMIT $5",
            MeterRange::sql()
        );
        let (mut revoked, mut after) = (BTreeMap::new(), None);
        loop {
            let page = self.session.query(
                &sql,
                &MeterRange::OfNetwork(self.network).page(after, METERS_OF_A_PAGE),
                revoked_row,
            );
            let page = page.map_err(|error| self.store.asked(error))?;
            let Some((last, _)) = page.last() else { return Ok(revoked) };
            after = Some(last.key());
            revoked.extend(page.into_iter().map(|(meter, file)| (meter.meter, file)));
        }
    }

    fn last_revoked(&self, meter: MeterId) -> Result<Option<RevokedFile>, RegistryError> {
        let sql = "SELECT meter, file FROM revoked_keys WHERE meter = $1";
        let found = self.session.first(sql, values![self.network.meter(meter)], revoked_row);
        Ok(found.map_err(|error| self.store.asked(error))?.map(|(_, file)| file))
    }

    fn revoke(&self, file: &RevokedFile) -> Result<(), RegistryError> {
        self.put_revoked(file)?;
        self.execute(
            "DELETE FROM sealed_keys WHERE meter = $1",
            values![self.network.meter(file.setup.meter)],
        )
    }
}

fn revoked_row(row: Row<'_>) -> Result<(GlobalMeterId, RevokedFile), SqlError> {
    let (meter, text): (GlobalMeterId, String) = (row.get(0)?, row.get(1)?);
    let file = serde_json::from_str(&text);
    let file = file.map_err(|error| SqlError::Stored(format!("revoked_keys of meter {meter}: {error}")))?;
    Ok((meter, file))
}
