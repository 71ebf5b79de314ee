//! The registry of meters: a folder of key files, or sealed keys in a database of PostgreSQL
//! ([`KeyStore`]). It is the truth about keys. docs/how-to/collector/files.md, "Files" and "Keys in the
//! database". Network 0's files are in the folder itself, each other's in a folder of the same form
//! within ([`networks`]).
//!
//! A file is written whole or not at all, and is durable before its writer goes on; so is a row.
//! Commands and a running service meet only there: commands lock a network's keys while they change
//! them, and the service looks every two seconds ([`RegistryPoller`]).

mod change;
mod counter_floor;
mod file;
mod files;
mod firmware;
mod kek;
mod key_backend;
mod key_store;
mod keys;
mod list;
mod maker;
mod mbus_keys;
mod networks;
mod pkcs11;
mod poller;
mod renewed;
mod rewrap;
mod sealed;
mod sealed_poller;

pub use change::Change;
pub(crate) use counter_floor::CounterFloor;
pub(crate) use file::{make_folder, read_secrets, write_secrets};
pub use firmware::require_suite;
pub use kek::{KEK_VARIABLE, KekId, KeyRing, MadeKek, make_kek};
pub(crate) use key_backend::Meters;
pub use key_store::KeyStore;
pub use list::ListedMeter;
pub use maker::Images;
pub use mbus_keys::{MbusImages, MbusImported, MbusKey, MbusMeter, MbusRevision};
pub use pkcs11::{AfterWrongPin, Pkcs11Error, Pkcs11Uri};
pub use poller::RegistryPoller;
pub use rewrap::{Rewrapped, WrappedKeys};

use crate::mbus_meter::MbusMeterId;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use crate::store::{DatabaseUrl, StoreError};
use file::Folder;
use files::{COLLECTOR, METERS, REVOKED};
use key_backend::KeyBackend;
use keys::Keys;
use rand::TryRngCore;
use rand::rngs::OsRng;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wire::meter::{Command, Identity, MeterId, MeterRecord, Provision, PublicKey, Setup, Suite};

/// An error in the key files, or in a request about them.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// A file or folder that cannot be read or written.
    #[error("{path}: {error}; {}", output::advice(error))]
    File { path: PathBuf, error: std::io::Error },
    /// Keys that others on this machine could read.
    #[error(
        "{path} is open to others on this machine (mode {mode:04o}), and keys are in it; run: chmod {wanted:o} '{path}'"
    )]
    Open { path: PathBuf, mode: u32, wanted: u32 },
    /// A file that is not what it should be.
    #[error("{path}: {problem}")]
    Bad {
        path: PathBuf,
        /// The problem and its remedy, without any of the file's contents.
        problem: String,
    },
    /// A meter that is there already.
    #[error("meter {0} is registered already; 'wattseal meters rotate {0}' gives it new keys")]
    Exists(GlobalMeterId),
    /// A meter that is not there.
    #[error("meter {0} is not registered; 'wattseal meters list' shows those that are")]
    Unknown(GlobalMeterId),
    /// Another maker's meter that is not there.
    #[error("meter {0} is not registered; 'wattseal meters mbus list' shows those that are")]
    UnknownMbus(MbusMeterId),
    /// Keys were renewed, and those in whose place they were to come are not there.
    #[error(
        "meter {0} has other keys than those that were renewed: they were rotated, or changed by hand. Where the meter is not heard any more, \
         'wattseal meters rotate {0}' makes new ones"
    )]
    OtherKeys(GlobalMeterId),
    /// Keys were renewed under a lease that is over.
    #[error("the lease that it was under is over: another worker has the keys now")]
    LeaseOver,
    /// A meter of wireless M-Bus that is there already.
    #[error("meter {0} is registered already; 'wattseal meters mbus remove {0}' takes it away first")]
    ExistsMbus(MbusMeterId),
    /// No folder of keys.
    #[error(
        "there are no keys in {0}; give the collector's folder with --keys, or begin one with 'wattseal meters provision'"
    )]
    Missing(PathBuf),
    /// A setup that no meter works with.
    #[error("{0}")]
    Setup(&'static str),
    /// Firmware that does not have the suite that a meter is to have.
    #[error(
        "{path} does not have the suite {suite}: it was built with {has}; choose one of these, or build it with SUITES=\"... {suite}\" \
         (docs/reference/meter.md)"
    )]
    NoSuite {
        path: PathBuf,
        suite: Suite,
        /// Those that it has.
        has: String,
    },
    /// A problem with a key-encryption key, without any of it.
    #[error("{0}")]
    Kek(String),
    /// A PKCS#11 token does not do what it should; nothing of a key or a PIN.
    #[error(transparent)]
    Pkcs11(Box<Pkcs11Error>),
    /// The database's keys are sealed under one that is not given.
    #[error(
        "{place}: {what} sealed under the key-encryption key {kek}, and {} given: give the file of {kek} with --kek-file, or, where \
         there is none any more, put a backup of it back",
        none_or(given)
    )]
    OtherKek {
        place: DatabaseUrl,
        /// `the keys of meter 7-258 are`
        what: String,
        /// The id of the one that is needed.
        kek: String,
        /// The ids of those that are given.
        given: String,
    },
    /// Something sealed that is not what was sealed there.
    #[error(
        "{place}: the sealed keys of {whose} are not authentic under the key-encryption key {kek}: their row was changed, or is another \
         meter's. Put the row back from a backup{or_else}"
    )]
    Sealed {
        place: DatabaseUrl,
        whose: String,
        kek: String,
        /// Another remedy.
        or_else: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RegistryError {
    /// Says if the request was impossible (exit code 2), and did not just fail (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        if let RegistryError::Pkcs11(error) = self {
            return error.is_usage();
        }
        matches!(
            self,
            RegistryError::Exists(_)
                | RegistryError::Unknown(_)
                | RegistryError::UnknownMbus(_)
                | RegistryError::Missing(_)
                | RegistryError::Setup(_)
                | RegistryError::NoSuite { .. }
                | RegistryError::Kek(_)
                | RegistryError::OtherKek { .. }
        )
    }
}

impl From<Pkcs11Error> for RegistryError {
    fn from(error: Pkcs11Error) -> RegistryError {
        RegistryError::Pkcs11(Box::new(error))
    }
}

/// A meter's file: as secret as the keys in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterFile {
    /// The network of the meter; left out for network 0.
    #[serde(default, skip_serializing_if = "NetworkId::is_default")]
    pub network: NetworkId,
    /// 1 for its first keys, one more with each provisioning after it.
    pub epoch: u32,
    /// Its keys and what was chosen for it.
    pub record: MeterRecord,
}

impl MeterFile {
    #[must_use]
    pub fn meter(&self) -> GlobalMeterId {
        self.network.meter(self.record.setup.meter)
    }
}

/// The remainder of a revoked meter: nothing secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedFile {
    /// Of its last keys.
    pub epoch: u32,
    /// Its public key, for the audit of what it signed.
    pub public: PublicKey,
    /// The settings that it was made with.
    pub setup: Setup,
}

/// A network's keys.
#[derive(Debug)]
pub struct Registry {
    network: NetworkId,
    keys: Keys,
    identity: Identity,
}

impl Registry {
    /// Opens network 0's folder, as [`Registry::open_network`].
    ///
    /// # Errors
    /// Those of [`Registry::open_network`].
    pub fn open(keys: &Path) -> Result<Registry, RegistryError> {
        Registry::open_network(keys, NetworkId::DEFAULT)
    }

    /// Opens a network's folder within the collector's. Where there is none, or it is empty, it is
    /// made, with a new key pair for the collector in this network.
    ///
    /// # Errors
    /// [`RegistryError::Open`] where others could read it, [`RegistryError::File`],
    /// [`RegistryError::Bad`].
    pub fn open_network(keys: &Path, network: NetworkId) -> Result<Registry, RegistryError> {
        let path = networks::make_room(keys, network)?;
        let folder = Folder::open(&path)?;
        Registry::begin(network, Keys::Files { network, folder }, || {
            path.join(COLLECTOR).display().to_string()
        })
    }

    /// private: where the collector's private key is to be.
    fn begin(
        network: NetworkId,
        keys: Keys,
        private: impl FnOnce() -> String,
    ) -> Result<Registry, RegistryError> {
        let identity = match keys.read(|keys| keys.identity())? {
            Some(identity) => identity,
            None => keys.change(|keys| {
                if let Some(identity) = keys.identity()? {
                    return Ok(identity);
                }
                // Meters know the collector by its key: a new one beside theirs would be taken by
                // none of them.
                if keys.has_meters()? {
                    let problem = "the collector's private key is missing, and meters are there that know no other; \
                                   put it back from a backup";
                    return Err(RegistryError::Bad { path: private().into(), problem: problem.into() });
                }
                let identity = Identity::generate(&mut OsRng.unwrap_err());
                keys.put_identity(&identity)?;
                Ok(identity)
            })?,
        };
        Ok(Registry { network, keys, identity })
    }

    /// Opens a network's folder that is there: for commands that only make sense with keys.
    ///
    /// # Errors
    /// [`RegistryError::Missing`], and those of [`Registry::open_network`].
    pub fn open_existing(keys: &Path, network: NetworkId) -> Result<Registry, RegistryError> {
        let path = networks::folder_of(keys, network);
        // One that cannot be looked at says so when it is opened.
        match path.join(COLLECTOR).try_exists() {
            Ok(false) if !path.join(METERS).exists() => Err(RegistryError::Missing(path)),
            _ => Registry::open_network(keys, network),
        }
    }

    /// Opens the folders of all networks that are there, in order.
    ///
    /// # Errors
    /// [`RegistryError::Missing`] where there is none, and those of [`Registry::open_network`].
    pub fn open_all(keys: &Path) -> Result<Vec<Registry>, RegistryError> {
        KeyStore::Folder(keys.to_owned()).open_all()
    }

    #[must_use]
    pub fn network(&self) -> NetworkId {
        self.network
    }

    /// The collector's key pair.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the folder of the files, if they are files.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.keys {
            Keys::Files { folder, .. } => Some(folder.path()),
            Keys::Sealed(_) => None,
        }
    }

    /// All meters.
    ///
    /// # Errors
    /// [`RegistryError`]: of the first one that is not as it should be.
    pub fn load(&self) -> Result<BTreeMap<MeterId, MeterFile>, RegistryError> {
        self.keys.read(|keys| keys.meters(None)).map(|meters| meters.files)
    }

    /// The meters of a partition of this network.
    ///
    /// # Errors
    /// [`RegistryError`]: of the first one that is not as it should be.
    pub(crate) fn load_of(&self, partition: Partition, slices: Slices) -> Result<Meters, RegistryError> {
        self.keys.read(|keys| keys.meters(Some((partition, slices))))
    }

    /// Says if these meters of a database may be this registry's: one of them is, or all were.
    pub(crate) fn belongs_to(&self, meters: &[MeterId]) -> Result<bool, RegistryError> {
        self.keys.read(|keys| {
            if meters.is_empty() || keys.has_any(meters)? {
                return Ok(true);
            }
            // The last meter's revocation is known.
            let revoked = keys.revoked()?;
            Ok(meters.iter().all(|meter| revoked.contains_key(meter)))
        })
    }

    /// Copies all files into this network's folder within another one, which is made. Other entries
    /// stay.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub(crate) fn copy_to(&self, into: &Path) -> Result<(), RegistryError> {
        let Keys::Files { folder, .. } = &self.keys else { return Ok(()) };
        let copy = Folder::open(&networks::make_room(into, self.network)?)?;
        let _lock = folder.lock()?;
        let mut names = vec![COLLECTOR.to_owned()];
        names.extend(counter_floor::NAMES.map(str::to_owned));
        names.extend(folder.names(METERS)?);
        names.extend(folder.names(REVOKED)?);
        if self.network.is_default() {
            names.push(mbus_keys::MBUS_METERS.to_owned());
        }
        names.iter().try_for_each(|name| folder.copy(name, &copy))
    }

    /// Reads which commands may have been sent with the keys.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub(crate) fn counter_floor(&self) -> Result<CounterFloor, RegistryError> {
        match &self.keys {
            Keys::Files { folder, .. } => CounterFloor::read(folder),
            Keys::Sealed(sealed) => CounterFloor::of(sealed),
        }
    }

    /// Sees what changes from `known` on.
    #[must_use]
    pub fn poller(&self, known: &BTreeMap<MeterId, MeterFile>) -> RegistryPoller {
        self.poller_of(None, known, 0)
    }

    /// The same of a partition alone; of files of all meters. seen: the revision of [`Meters`],
    /// where `known` is of these.
    pub(crate) fn poller_of(
        &self,
        of: Option<(Partition, Slices)>,
        known: &BTreeMap<MeterId, MeterFile>,
        seen: i64,
    ) -> RegistryPoller {
        match &self.keys {
            Keys::Files { network, folder } => RegistryPoller::of_files(*network, folder.clone(), known),
            Keys::Sealed(sealed) => RegistryPoller::of_sealed(sealed.clone(), of, known, seen),
        }
    }

    /// The meters that were revoked, each with the last of its keys.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn revoked(&self) -> Result<BTreeMap<MeterId, RevokedFile>, RegistryError> {
        self.keys.read(|keys| keys.revoked())
    }

    /// Draws keys for a new meter, and registers it. `above`: the highest epoch that is known of it
    /// elsewhere, 0 for none. First its images are written into `images`, for who makes it.
    ///
    /// # Errors
    /// [`RegistryError::Exists`], [`RegistryError::Setup`], [`RegistryError::File`].
    pub fn provision(
        &self,
        setup: Setup,
        above: u32,
        images: &Path,
    ) -> Result<(MeterFile, Images), RegistryError> {
        check(&setup)?;
        self.keys.change(|keys| match keys.has_any(&[setup.meter])? {
            true => Err(RegistryError::Exists(self.network.meter(setup.meter))),
            false => self.make(keys, setup, above, images),
        })
    }

    /// Draws new keys for a meter that is to be made again, as it was set up at first. From now on
    /// it is not heard with its old ones.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], [`RegistryError::File`].
    pub fn rotate(
        &self,
        meter: MeterId,
        above: u32,
        images: &Path,
    ) -> Result<(MeterFile, Images), RegistryError> {
        self.keys.change(|keys| {
            let old = self.registered(keys, meter)?;
            self.make(keys, old.record.setup, above.max(old.epoch), images)
        })
    }

    fn make(
        &self,
        keys: &dyn KeyBackend,
        setup: Setup,
        above: u32,
        images: &Path,
    ) -> Result<(MeterFile, Images), RegistryError> {
        // The first one that is free.
        let revoked = keys.last_revoked(setup.meter)?.map_or(0, |file| file.epoch);
        let epoch = revoked.max(above).checked_add(1);
        let epoch = epoch.ok_or(RegistryError::Setup("a meter has at most 2^32 - 1 epochs"))?;
        let provision = Provision::generate(setup, self.identity.public(), &mut OsRng.unwrap_err());
        let images = Images::write(images, self.network, &provision, epoch)?;
        let file = MeterFile { network: self.network, epoch, record: provision.record() };
        keys.put(&file)?;
        Ok((file, images))
    }

    /// Registers a meter that was provisioned before for this collector's public key, from its
    /// file: a copy of one of these files. The epoch is the file's; of a meter that was revoked it
    /// has to be the last one with the same keys, or a later one with others. Else messages of
    /// before could come again as new ones.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn add(&self, path: &Path) -> Result<MeterFile, RegistryError> {
        let file: MeterFile = file::read_toml(path)?;
        let bad = |problem: String| RegistryError::Bad { path: path.into(), problem };
        let MeterFile { epoch, record, .. } = &file;
        let (meter, named) = (record.setup.meter, file.meter());
        check(&record.setup)?;
        if file.network != self.network {
            return Err(bad(format!(
                "it is the file of meter {named}, and this is network {}",
                self.network
            )));
        }
        if *epoch == 0 {
            return Err(bad("epoch 0; the first one is 1".into()));
        }
        self.keys.change(|keys| {
            if keys.has_any(&[meter])? {
                return Err(RegistryError::Exists(named));
            }
            if let Some(revoked) = keys.last_revoked(meter)?
                && !matches!(
                    (epoch.cmp(&revoked.epoch), record.public == revoked.public),
                    (Ordering::Equal, true) | (Ordering::Greater, false)
                )
            {
                return Err(bad(format!(
                    "meter {named} was revoked with keys of epoch {}; this file has epoch {epoch}. 'wattseal meters provision {named}' \
                     makes new keys",
                    revoked.epoch
                )));
            }
            keys.put(&file)
        })?;
        Ok(file)
    }

    /// Takes a meter off the register. Its file goes to `revoked/` without its secret keys.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], [`RegistryError::File`].
    pub fn revoke(&self, meter: MeterId) -> Result<RevokedFile, RegistryError> {
        self.keys.change(|keys| {
            let MeterFile { epoch, record, .. } = self.registered(keys, meter)?;
            let revoked = RevokedFile { epoch, public: record.public, setup: record.setup };
            keys.revoke(&revoked)?;
            Ok(revoked)
        })
    }

    /// A meter's keys.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], [`RegistryError::Bad`], [`RegistryError::File`].
    pub fn get(&self, meter: MeterId) -> Result<MeterFile, RegistryError> {
        self.keys.read(|keys| self.registered(keys, meter))
    }

    fn registered(&self, keys: &dyn KeyBackend, meter: MeterId) -> Result<MeterFile, RegistryError> {
        keys.meter(meter)?.ok_or(RegistryError::Unknown(self.network.meter(meter)))
    }
}

fn none_or(given: &str) -> String {
    if given.is_empty() { "none is".to_owned() } else { format!("{given} is") }
}

fn check(setup: &Setup) -> Result<(), RegistryError> {
    let Setup { meter, address, collector_address, interval_s, suite, voltage_uv, current_ua, phase, .. } =
        *setup;
    let valid = |command: Command| command.is_valid();
    if !valid(Command::Register { meter, address, collector_address }) {
        return Err(RegistryError::Setup("a meter's name and both radio addresses have to be other than 0"));
    }
    if address == collector_address {
        return Err(RegistryError::Setup("the meter's radio address has to be another than the collector's"));
    }
    if !valid(Command::Configure { interval_s, suite }) {
        return Err(RegistryError::Setup("the interval has to be at least 1 s"));
    }
    check_calibration(voltage_uv, current_ua, phase)
}

fn check_calibration(voltage_uv: u32, current_ua: u32, phase: i16) -> Result<(), RegistryError> {
    if !(Command::Calibrate { voltage_uv, current_ua, phase }).is_valid()
        || u64::from(voltage_uv) * u64::from(current_ua) < LEAST_STEPS
    {
        return Err(RegistryError::Setup(
            "steps of voltage and current have to be 1 to 4,000,000 microvolts and microamperes with a product of at least \
             110,000,000, and the phase from -256 to 256",
        ));
    }
    Ok(())
}

/// The least product of both steps for the meter's arithmetic: docs/reference/protocol.md, "calibrate".
const LEAST_STEPS: u64 = 110_000_000;
