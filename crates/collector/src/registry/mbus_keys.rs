//! Other makers' meters with their keys: the file `wireless-mbus.toml` in the folder of keys, or
//! rows of the database, each sealed under the key-encryption key with the meter's name.

use super::file::{Folder, write_secret};
use super::key_store::KeyStore;
use super::maker::Images;
use super::networks::make_room;
use super::sealed::SealedStore;
use super::{RegistryError, check_calibration};
use crate::mbus_meter::MbusMeterId;
use crate::network::NetworkId;
use crate::store::{Session, values};
use rand::rngs::OsRng;
use rand::{RngCore, TryRngCore};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use wire::wireless_mbus::{MeterAddress, MeterKey, MeterSetup, SecurityProfile};
use zeroize::Zeroizing;

/// The file of all these meters.
pub(super) const MBUS_METERS: &str = "wireless-mbus.toml";
/// The file is no longer, in bytes: some 100,000 meters.
const BYTES_MAX: u64 = 16 << 20;
/// Goes before what is authenticated.
const CONTEXT: &[u8] = b"wattseal mbus key 1";

/// The key of another maker's meter, which nothing prints.
#[derive(Clone, PartialEq, Eq)]
pub struct MbusKey(Zeroizing<[u8; 16]>);

impl MbusKey {
    /// Reads 32 hexadecimal digits; `None` of anything else.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<MbusKey> {
        let digits = text.as_bytes();
        if digits.len() != 32 {
            return None;
        }
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        let mut bytes = Zeroizing::new([0; 16]);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(MbusKey(bytes))
    }

    /// Draws one.
    fn generate() -> MbusKey {
        let mut bytes = Zeroizing::new([0; 16]);
        OsRng.unwrap_err().fill_bytes(&mut bytes[..]);
        MbusKey(bytes)
    }

    /// Returns the key for a telegram.
    #[must_use]
    pub fn meter_key(&self) -> MeterKey {
        MeterKey::new(*self.0)
    }

    /// Returns the number under which message counters are stored: part of a digest, so that a new
    /// key begins anew, and an old one goes on where it was.
    #[must_use]
    pub fn id(&self) -> [u8; 8] {
        let digest = Sha256::new().chain_update(b"wattseal mbus key id 1").chain_update(*self.0).finalize();
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        id
    }

    fn hex(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(32));
        let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
        text.extend(self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
        text
    }
}

impl fmt::Debug for MbusKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MbusKey(..)")
    }
}

/// Another maker's meter as it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbusMeter {
    pub meter: MbusMeterId,
    /// Its key; `None` of a meter that does not encrypt, and of a radio beside a meter.
    pub key: Option<MbusKey>,
    /// Its version; `None`: any.
    pub version: Option<u8>,
    /// Its device type; `None`: any.
    pub device_type: Option<u8>,
    /// Takes telegrams that nothing authenticates.
    pub unauthenticated: bool,
}

/// The file, and the text that a row seals.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MbusFile {
    #[serde(default, rename = "meter")]
    meters: Vec<MbusEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MbusEntry {
    name: MbusMeterId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Zeroizing<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device_type: Option<u8>,
    #[serde(default)]
    unauthenticated: bool,
}

impl MbusEntry {
    fn of(meter: &MbusMeter) -> MbusEntry {
        MbusEntry {
            name: meter.meter,
            key: meter.key.as_ref().map(MbusKey::hex),
            version: meter.version,
            device_type: meter.device_type,
            unauthenticated: meter.unauthenticated,
        }
    }

    /// `None` if its key is none.
    fn meter(&self) -> Option<MbusMeter> {
        let key = self.key.as_ref().map(|text| MbusKey::from_hex(text));
        Some(MbusMeter {
            meter: self.name,
            key: if let Some(key) = key { Some(key?) } else { None },
            version: self.version,
            device_type: self.device_type,
            unauthenticated: self.unauthenticated,
        })
    }
}

/// The files of a new meter of wireless M-Bus, for its maker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbusImages {
    /// Those that are written into it.
    pub images: Images,
    /// The key for a receiver, as [`crate::mbus::read_key_file`] reads it.
    pub key_file: PathBuf,
}

/// The state of the registered meters, which differs after each change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbusRevision(String);

/// The number of meters that an import added, and of those that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbusImported {
    pub added: usize,
    pub changed: usize,
}

type MbusMeters = BTreeMap<MbusMeterId, MbusMeter>;

impl KeyStore {
    /// Other makers' meters.
    ///
    /// # Errors
    /// [`RegistryError`]; it names no key.
    pub fn mbus_meters(&self) -> Result<MbusMeters, RegistryError> {
        match self {
            KeyStore::Folder(keys) if !keys.join(MBUS_METERS).exists() => Ok(BTreeMap::new()),
            KeyStore::Folder(keys) => read_file(&Folder::open(keys)?),
            KeyStore::Database(store) => store.mbus_meters(),
        }
    }

    /// Adds meters, or changes those that are there.
    ///
    /// # Errors
    /// [`RegistryError`]; nothing was changed then.
    pub fn put_mbus_meters(&self, meters: &[MbusMeter]) -> Result<MbusImported, RegistryError> {
        let count = |known: &MbusMeters| {
            let added = meters.iter().filter(|meter| !known.contains_key(&meter.meter)).count();
            let same = meters.iter().filter(|meter| known.get(&meter.meter) == Some(meter)).count();
            MbusImported { added, changed: meters.len() - added - same }
        };
        match self {
            KeyStore::Folder(keys) => change_file(keys, |known| {
                let imported = count(known);
                known.extend(meters.iter().map(|meter| (meter.meter, meter.clone())));
                Ok(imported)
            }),
            KeyStore::Database(store) => {
                let imported = count(&store.mbus_meters()?);
                store.put_mbus_meters(meters)?;
                Ok(imported)
            }
        }
    }

    /// Draws the key of a new meter whose firmware is `device/oms`, and registers it. First its
    /// images and its key file are written into `images`, for its maker. unauthenticated: takes
    /// telegrams of profile A, which nothing authenticates.
    ///
    /// # Errors
    /// [`RegistryError::ExistsMbus`], [`RegistryError::Setup`], [`RegistryError::File`].
    pub fn provision_mbus_meter(
        &self,
        setup: &MeterSetup,
        unauthenticated: bool,
        images: &Path,
    ) -> Result<MbusImages, RegistryError> {
        if setup.interval_s == 0 {
            return Err(RegistryError::Setup("the interval has to be at least 1 s"));
        }
        check_calibration(setup.voltage_uv, setup.current_ua, setup.phase)?;
        if setup.profile == SecurityProfile::A && !unauthenticated {
            return Err(RegistryError::Setup(
                "nothing authenticates telegrams of profile A, and anybody can forge them: choose profile b or d, or add --unauthenticated",
            ));
        }
        let meter = MbusMeterId::of(setup.address).filter(|meter| meter.is_decimal());
        let meter = meter.ok_or(RegistryError::Setup("a new meter's number has eight decimal digits"))?;
        if self.mbus_meters()?.contains_key(&meter) {
            return Err(RegistryError::ExistsMbus(meter));
        }
        let key = MbusKey::generate();
        let MeterAddress { version, device_type, .. } = setup.address;
        let flash = setup.flash(&key.0);
        let written = Images::put(images, &meter.to_string(), &flash, &MeterSetup::eeprom(), &note(meter))?;
        let key_file = images.join(format!("{meter}.csv"));
        let (hex, name) = (key.hex(), meter.to_string().replace('-', ","));
        let text = Zeroizing::new(format!(
            "manufacturer,id,version,type,key\n{name},{version:02x},{device_type:02x},{}\n",
            *hex
        ));
        write_secret(&key_file, text.as_bytes())?;
        let (version, device_type) = (Some(version), Some(device_type));
        let meter = MbusMeter { meter, key: Some(key), version, device_type, unauthenticated };
        self.put_mbus_meters(&[meter])?;
        Ok(MbusImages { images: written, key_file })
    }

    /// Forgets a meter and its key. What is stored of it stays.
    ///
    /// # Errors
    /// [`RegistryError::UnknownMbus`], and others.
    pub fn remove_mbus_meter(&self, meter: MbusMeterId) -> Result<(), RegistryError> {
        match self {
            KeyStore::Folder(keys) => change_file(keys, |known| {
                known.remove(&meter).map(drop).ok_or(RegistryError::UnknownMbus(meter))
            }),
            KeyStore::Database(store) => store.reader.change(|session| {
                let sql = "DELETE FROM sealed_mbus_keys WHERE meter = $1";
                match session.execute(sql, values![&meter.to_string()]) {
                    Ok(0) => Err(RegistryError::UnknownMbus(meter)),
                    Ok(_) => Ok(()),
                    Err(error) => Err(store.asked(error)),
                }
            }),
        }
    }

    /// Returns the state of the registered meters without reading a key.
    ///
    /// # Errors
    /// [`RegistryError`]
    pub fn mbus_revision(&self) -> Result<MbusRevision, RegistryError> {
        Ok(MbusRevision(match self {
            KeyStore::Folder(keys) => {
                let path = keys.join(MBUS_METERS);
                match fs::metadata(&path) {
                    Ok(found) => {
                        format!("{} {} {} {}", found.ino(), found.mtime(), found.mtime_nsec(), found.len())
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                    Err(error) => return Err(RegistryError::File { path, error }),
                }
            }
            KeyStore::Database(store) => store.ask(|session| {
                let sql = "SELECT count(*), coalesce(max(revision), 0) FROM sealed_mbus_keys";
                let found = session.first(sql, &[], |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?)))?;
                Ok(format!("{found:?}"))
            })?,
        }))
    }
}

fn read_file(folder: &Folder) -> Result<MbusMeters, RegistryError> {
    let file: MbusFile = folder.read_up_to(MBUS_METERS, BYTES_MAX)?.unwrap_or_default();
    let bad = |entry: &MbusEntry, what: &str| RegistryError::Bad {
        path: folder.path_of(MBUS_METERS),
        problem: format!("meter {}: {what}; put the file back from a backup", entry.name),
    };
    let mut meters = BTreeMap::new();
    for entry in &file.meters {
        let meter = entry.meter().ok_or_else(|| bad(entry, "'key' has to be 32 hexadecimal digits"))?;
        if meters.insert(entry.name, meter).is_some() {
            return Err(bad(entry, "it is there twice"));
        }
    }
    Ok(meters)
}

fn change_file<T>(
    keys: &Path,
    change: impl FnOnce(&mut MbusMeters) -> Result<T, RegistryError>,
) -> Result<T, RegistryError> {
    let folder = Folder::open(&make_room(keys, NetworkId::DEFAULT)?)?;
    let _lock = folder.lock()?;
    let mut meters = read_file(&folder)?;
    let changed = change(&mut meters)?;
    let file = MbusFile { meters: meters.values().map(MbusEntry::of).collect() };
    folder.write(MBUS_METERS, &file)?;
    Ok(changed)
}

fn note(meter: MbusMeterId) -> String {
    format!(
        "Meter {meter}.\n\n\
         Write {meter}.flash.bin and {meter}.eep (or .eeprom.bin) ONCE, into one meter, then delete them: the meter's key is in them.\n\
         Written a second time, or into a second meter, the EEPROM image makes message counters come twice under one key. The collector \
         refuses those telegrams. A meter that has to be written again needs a new key and new images: wattseal meters mbus remove {meter}, \
         then wattseal meters mbus provision {meter}\n\
         {meter}.csv is the key for another receiver.\n"
    )
}

/// The authenticated data of a row: its meter.
fn context(meter: &str) -> Vec<u8> {
    [CONTEXT, meter.as_bytes()].concat()
}

impl SealedStore {
    fn mbus_meters(&self) -> Result<MbusMeters, RegistryError> {
        let sql = "SELECT meter, kek, sealed FROM sealed_mbus_keys";
        let rows = self.ask(|session| session.query(sql, &[], SealedMbusRow::read))?;
        rows.iter()
            .map(|row| {
                let text = self.open_mbus(row)?;
                let entry =
                    str::from_utf8(&text).ok().and_then(|text| toml::from_str::<MbusEntry>(text).ok());
                let meter =
                    entry.and_then(|entry| entry.meter()).filter(|of| of.meter.to_string() == row.meter);
                meter.map(|meter| (meter.meter, meter)).ok_or_else(|| self.not_mbus(row))
            })
            .collect()
    }

    fn open_mbus(&self, row: &SealedMbusRow) -> Result<Zeroizing<Vec<u8>>, RegistryError> {
        self.open_under(&row.kek, &context(&row.meter), &row.sealed, &format!("meter {}", row.meter))?
            .ok_or_else(|| self.not_mbus(row))
    }

    fn not_mbus(&self, row: &SealedMbusRow) -> RegistryError {
        RegistryError::Sealed {
            place: self.place().clone(),
            whose: format!("meter {}", row.meter),
            kek: row.kek.clone(),
            or_else: ", or import its maker's key file again".to_owned(),
        }
    }

    fn put_mbus_meters(&self, meters: &[MbusMeter]) -> Result<(), RegistryError> {
        self.reader.change(|session| {
            let kek = self.kek(session)?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_micros() as i64);
            let last = "SELECT coalesce(max(revision), 0) FROM sealed_mbus_keys";
            let last: i64 = session.value(last, &[]).map_err(|error| self.asked(error))?;
            for meter in meters {
                let entry = toml::to_string(&MbusEntry::of(meter)).map(Zeroizing::new).map_err(|error| {
                    RegistryError::Kek(format!("meter {} cannot be written as TOML: {error}", meter.meter))
                })?;
                let name = meter.meter.to_string();
                let sealed = self.ring.seal(&kek, &context(&name), entry.as_bytes())?;
                let sql = "INSERT INTO sealed_mbus_keys VALUES ($1, $2, $3, $4) ON CONFLICT (meter) DO UPDATE SET \
                           revision = excluded.revision, kek = excluded.kek, sealed = excluded.sealed";
                session
                    .execute(sql, values![&name, now.max(last + 1), &kek, &sealed])
                    .map_err(|error| self.asked(error))?;
            }
            Ok(())
        })
    }

    /// Seals up to `limit` of these keys anew, after the one that is given. Returns how many, and
    /// the last.
    pub(super) fn rewrap_mbus(
        &self,
        session: Session<'_>,
        kek: &str,
        after: &str,
        limit: i64,
    ) -> Result<Option<(u64, String)>, RegistryError> {
        let sql = "SELECT meter, kek, sealed FROM sealed_mbus_keys WHERE meter > $1 AND kek <> $2 \
                   ORDER BY meter LIMIT $3 FOR UPDATE";
        let rows = session.query(sql, values![after, kek, limit], SealedMbusRow::read);
        let rows = rows.map_err(|error| self.asked(error))?;
        for row in &rows {
            let sealed = self.ring.seal(kek, &context(&row.meter), &self.open_mbus(row)?)?;
            let sql = "UPDATE sealed_mbus_keys SET kek = $2, sealed = $3 WHERE meter = $1";
            session.execute(sql, values![&row.meter, kek, &sealed]).map_err(|error| self.asked(error))?;
        }
        Ok(rows.last().map(|last| (rows.len() as u64, last.meter.clone())))
    }
}

/// A row of `sealed_mbus_keys`.
struct SealedMbusRow {
    meter: String,
    kek: String,
    sealed: Vec<u8>,
}

impl SealedMbusRow {
    fn read(row: crate::store::Row<'_>) -> Result<SealedMbusRow, crate::store::SqlError> {
        Ok(SealedMbusRow { meter: row.get(0)?, kek: row.get(1)?, sealed: row.get(2)? })
    }
}
