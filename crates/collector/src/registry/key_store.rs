//! The place of a collector's keys: a folder of files, or a database of PostgreSQL.

use super::kek::KeyRing;
use super::key_backend::KeyBackend;
use super::keys::Keys;
use super::networks::{self, folder_of};
use super::rewrap::{Rewrapped, WrappedKeys};
use super::sealed::{SEALING, SealedNetwork, SealedStore};
use super::{CounterFloor, MbusMeter, MeterFile, Registry, RegistryError, file};
use crate::network::NetworkId;
use crate::store::{DatabaseUrl, Reader, values};
use std::fmt;
use std::path::{Path, PathBuf};

/// The keys of all networks.
#[derive(Clone, Debug)]
pub enum KeyStore {
    /// Files, each network's in a folder.
    Folder(PathBuf),
    /// Rows of a database, sealed.
    Database(SealedStore),
}

impl KeyStore {
    /// The keys in a database, or, without a KEK, in a folder.
    ///
    /// # Errors
    /// [`RegistryError::OtherKek`] where none of these is the one that the database's keys are
    /// sealed under; [`RegistryError::Kek`] where keys cannot be in this database, and where they
    /// are in it and no KEK is given.
    pub fn of(reader: &Reader, ring: Option<&KeyRing>, folder: &Path) -> Result<KeyStore, RegistryError> {
        let place = reader.place().clone();
        let is_server = matches!(place, DatabaseUrl::Server(_));
        let sealing = || {
            reader.ask(|session| {
                let sql = "SELECT value FROM meta WHERE key = $1";
                session.first(sql, values![SEALING], |row| row.get::<String>(0))
            })
        };
        let kek = if is_server { sealing()? } else { None };
        let other = |kek: String, given: String| RegistryError::OtherKek {
            place: place.clone(),
            what: "its keys are".to_owned(),
            kek,
            given,
        };
        match (ring, kek) {
            (None, None) => Ok(KeyStore::Folder(folder.to_owned())),
            (None, Some(kek)) => Err(other(kek, String::new())),
            (Some(_), _) if !is_server => Err(RegistryError::Kek(format!(
                "{place}: keys are sealed in databases of PostgreSQL alone; those of a file are in the folder that --keys names"
            ))),
            (Some(ring), Some(kek)) if !ring.knows(&kek) => Err(other(kek, ring.to_string())),
            (Some(ring), _) => {
                Ok(KeyStore::Database(SealedStore { reader: reader.clone(), ring: ring.clone() }))
            }
        }
    }

    /// The networks that there are keys of, in order.
    ///
    /// # Errors
    /// [`RegistryError`]
    pub fn networks(&self) -> Result<Vec<NetworkId>, RegistryError> {
        match self {
            KeyStore::Folder(keys) => networks::networks(keys),
            KeyStore::Database(store) => store.ask(|session| {
                session.query("SELECT network FROM key_networks ORDER BY network", &[], |row| {
                    row.get(0).map(NetworkId)
                })
            }),
        }
    }

    /// Opens a network's keys. Where there are none, a key pair for the collector in this network
    /// is made.
    ///
    /// # Errors
    /// [`RegistryError`]
    pub fn open_network(&self, network: NetworkId) -> Result<Registry, RegistryError> {
        match self {
            KeyStore::Folder(keys) => Registry::open_network(keys, network),
            KeyStore::Database(store) => {
                let keys = Keys::Sealed(SealedNetwork { network, store: store.clone() });
                Registry::begin(network, keys, || self.of_network(network))
            }
        }
    }

    /// Opens a network's keys that are there: for commands that only make sense with keys.
    ///
    /// # Errors
    /// [`RegistryError::Missing`], and those of [`KeyStore::open_network`].
    pub fn open_existing(&self, network: NetworkId) -> Result<Registry, RegistryError> {
        match self {
            KeyStore::Folder(keys) => Registry::open_existing(keys, network),
            KeyStore::Database(_) if self.networks()?.contains(&network) => self.open_network(network),
            KeyStore::Database(_) => Err(RegistryError::Missing(self.of_network(network).into())),
        }
    }

    /// Opens the keys of all networks that are there, in order.
    ///
    /// # Errors
    /// [`RegistryError::Missing`] where there is none, and those of [`KeyStore::open_network`].
    pub fn open_all(&self) -> Result<Vec<Registry>, RegistryError> {
        let networks = self.networks()?;
        if networks.is_empty() {
            return Err(RegistryError::Missing(self.to_string().into()));
        }
        networks.into_iter().map(|network| self.open_network(network)).collect()
    }

    /// As [`Registry::add`], in the network that the file names.
    ///
    /// # Errors
    /// Those of [`Registry::add`]; [`RegistryError::Missing`] where there is no such network.
    pub fn add_file(&self, path: &Path) -> Result<MeterFile, RegistryError> {
        let file: MeterFile = file::read_toml(path)?;
        self.open_existing(file.network)?.add(path)
    }

    /// Takes the keys of all networks of a folder, and what belongs to them, into the database: of
    /// each network all of it or nothing. The files stay. No service may use them meanwhile.
    /// Returns how many meters they are of.
    ///
    /// # Errors
    /// [`RegistryError::Kek`] where this is no database, or has meters of such a network; others.
    pub fn import(&self, folder: &Path) -> Result<usize, RegistryError> {
        let KeyStore::Database(store) = self else { return Err(self.no_database()) };
        let mut meters = 0;
        for registry in Registry::open_all(folder)? {
            let network = registry.network();
            let Keys::Files { folder, .. } = &registry.keys else { continue };
            let _lock = folder.lock()?;
            let (files, revoked, counter_floor) =
                (registry.load()?, registry.revoked()?, CounterFloor::read(folder)?);
            SealedNetwork { network, store: store.clone() }.change(|rows| {
                if rows.has_meters()? || !rows.revoked()?.is_empty() {
                    return Err(RegistryError::Kek(format!(
                        "{}: there are keys of meters of network {network} already; give a database without any",
                        store.place()
                    )));
                }
                rows.put_identity(registry.identity())?;
                files.values().try_for_each(|file| rows.put(file))?;
                revoked.values().try_for_each(|file| rows.put_revoked(file))?;
                rows.put_issued(counter_floor.below(), &counter_floor.told_as_text()?)
            })?;
            meters += files.len();
        }
        let mbus: Vec<MbusMeter> = KeyStore::Folder(folder.to_owned()).mbus_meters()?.into_values().collect();
        self.put_mbus_meters(&mbus)?;
        Ok(meters + mbus.len())
    }

    /// Seals all keys in the database under the first KEK of the ring, while services go on that
    /// know that one, too. progress: how many are.
    ///
    /// # Errors
    /// [`RegistryError`]; what was sealed until then is, under the one or the other.
    pub fn rewrap(&self, progress: impl FnMut(u64)) -> Result<Rewrapped, RegistryError> {
        match self {
            KeyStore::Folder(_) => Err(self.no_database()),
            KeyStore::Database(store) => store.rewrap(progress),
        }
    }

    /// Returns the number of keys in the database by the KEK that they are sealed under.
    ///
    /// # Errors
    /// [`RegistryError`]
    pub fn wrapped(&self) -> Result<Vec<WrappedKeys>, RegistryError> {
        match self {
            KeyStore::Folder(_) => Err(self.no_database()),
            KeyStore::Database(store) => store.wrapped(),
        }
    }

    fn no_database(&self) -> RegistryError {
        RegistryError::Kek(format!(
            "{self} is a folder of files, which no key-encryption key is for: give a database with --db postgres://.. and its key with --kek-file"
        ))
    }

    /// Returns the place of a network's keys, in words.
    pub(crate) fn of_network(&self, network: NetworkId) -> String {
        match self {
            KeyStore::Folder(keys) => folder_of(keys, network).display().to_string(),
            KeyStore::Database(store) => format!("{}, network {network}", store.place()),
        }
    }
}

impl fmt::Display for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyStore::Folder(keys) => keys.display().fmt(f),
            KeyStore::Database(store) => store.place().fmt(f),
        }
    }
}
