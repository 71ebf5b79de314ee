//! Whose meters these are: the folder of key files, which is the truth about keys. docs/collector.md, "Files". Network 0's files are in the
//! folder itself, each other's in a folder of the same form within ([`networks`]).
//!
//! A file is written whole or not at all, and is durable before its writer goes on. Commands and a running service meet only in
//! these files: commands lock the folder while they change it, and the service looks every two seconds ([`RegistryPoller`]).

mod file;
mod issued;
mod list;
mod maker;
mod networks;
mod poller;

pub(crate) use file::{make_folder, read_secrets, write_secrets};
pub(crate) use issued::Issued;
pub use list::{ListedMeter, list};
pub use maker::Images;
pub(crate) use networks::folder_of;
pub use networks::{add_file, networks};
pub use poller::{Change, RegistryPoller};

use crate::network::{GlobalMeterId, NetworkId};
use file::Folder;
use rand::TryRngCore;
use rand::rngs::OsRng;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wire::meter::{Command, Identity, MeterId, MeterRecord, Provision, PublicKey, Setup};
use zeroize::Zeroizing;

/// What is wrong with the key files, or with what is asked of them.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// A file or folder that cannot be read or written.
    #[error("{path}: {error}; check the path, its owner and the room on its disk")]
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
        /// What is wrong, without anything of what is in it, and what to do.
        problem: String,
    },
    /// A meter that is there already.
    #[error("meter {0} is registered already; 'wattseal meters rotate {0}' gives it new keys")]
    Exists(GlobalMeterId),
    /// A meter that is not there.
    #[error("meter {0} is not registered; 'wattseal meters list' shows those that are")]
    Unknown(GlobalMeterId),
    /// No folder of keys.
    #[error(
        "there are no keys in {0}; give the collector's folder with --keys, or begin one with 'wattseal meters provision'"
    )]
    Missing(PathBuf),
    /// A setup that no meter works with.
    #[error("{0}")]
    Setup(&'static str),
}

impl RegistryError {
    /// Whether something was asked for that cannot be (exit code 2), as opposed to something that went wrong (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            RegistryError::Exists(_)
                | RegistryError::Unknown(_)
                | RegistryError::Missing(_)
                | RegistryError::Setup(_)
        )
    }
}

/// A meter's file: as secret as the keys in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterFile {
    /// Whose meter it is; left out of network 0's.
    #[serde(default, skip_serializing_if = "NetworkId::is_default")]
    pub network: NetworkId,
    /// 1 for its first keys, one more with each provisioning after it.
    pub epoch: u32,
    /// Its keys and what was chosen for it.
    pub record: MeterRecord,
}

impl MeterFile {
    /// Which meter's it is.
    #[must_use]
    pub fn meter(&self) -> GlobalMeterId {
        self.network.meter(self.record.setup.meter)
    }
}

/// What is left of a meter that was revoked: nothing secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedFile {
    /// Of its last keys.
    pub epoch: u32,
    /// Its public key, for the audit of what it signed.
    pub public: PublicKey,
    /// What was chosen for it.
    pub setup: Setup,
}

/// `collector.toml`.
#[derive(Serialize, Deserialize)]
struct CollectorFile {
    /// In hexadecimal, big-endian.
    private: Zeroizing<String>,
    /// x and y; for people.
    public: PublicKey,
}

/// The folder of a network's key files.
#[derive(Debug)]
pub struct Registry {
    network: NetworkId,
    folder: Folder,
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

    /// Opens a network's folder within the collector's. Where there is none, or it is empty, it is made, with a new key pair for the
    /// collector in this network.
    ///
    /// # Errors
    /// [`RegistryError::Open`] where others could read it, [`RegistryError::File`], [`RegistryError::Bad`].
    pub fn open_network(keys: &Path, network: NetworkId) -> Result<Registry, RegistryError> {
        let path = networks::make_room(keys, network)?;
        let folder = Folder::open(&path)?;
        let _lock = folder.lock()?;
        let identity = match folder.read::<CollectorFile>(COLLECTOR)? {
            Some(file) => identity_of(&file, &folder.path_of(COLLECTOR))?,
            None => {
                // Meters know the collector by its key: a new one beside their files would be taken by none of them.
                if !folder.names(METERS)?.is_empty() {
                    let problem = "the collector's private key is missing, and meters are there that know no other; \
                                   put it back from a backup";
                    return Err(RegistryError::Bad {
                        path: folder.path_of(COLLECTOR),
                        problem: problem.into(),
                    });
                }
                let identity = Identity::generate(&mut OsRng.unwrap_err());
                let private = Zeroizing::new(hex(&identity.private_bytes()[..]));
                folder.write(COLLECTOR, &CollectorFile { private, public: *identity.public() })?;
                identity
            }
        };
        Ok(Registry { network, folder, identity })
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
        let networks = networks(keys)?;
        if networks.is_empty() {
            return Err(RegistryError::Missing(keys.to_owned()));
        }
        networks.into_iter().map(|network| Registry::open_network(keys, network)).collect()
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

    /// Where the files are.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// All meters.
    ///
    /// # Errors
    /// [`RegistryError`]: of the first file that is not as it should be.
    pub fn load(&self) -> Result<BTreeMap<MeterId, MeterFile>, RegistryError> {
        let names = self.folder.names(METERS)?;
        names.iter().map(|name| self.read(name).map(|file| (file.record.setup.meter, file))).collect()
    }

    /// Copies all files into this network's folder within another one, which is made.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub(crate) fn copy_to(&self, keys: &Path) -> Result<(), RegistryError> {
        let copy = Folder::open(&networks::make_room(keys, self.network)?)?;
        let _lock = self.folder.lock()?;
        let mut names = vec![COLLECTOR.to_owned()];
        names.extend(issued::NAMES.map(str::to_owned));
        names.extend(self.folder.names(METERS)?);
        names.extend(self.folder.names(REVOKED)?);
        names.iter().try_for_each(|name| self.folder.copy(name, &copy))
    }

    /// Reads which commands may have been sent with the keys.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub(crate) fn issued(&self) -> Result<Issued, RegistryError> {
        Issued::read(&self.folder)
    }

    /// Sees what changes from `known` on.
    #[must_use]
    pub fn poller(&self, known: &BTreeMap<MeterId, MeterFile>) -> RegistryPoller {
        RegistryPoller::new(self.network, self.folder.clone(), known)
    }

    /// The meters that were revoked, each with the last of its keys.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn revoked(&self) -> Result<BTreeMap<MeterId, RevokedFile>, RegistryError> {
        let mut revoked: BTreeMap<MeterId, RevokedFile> = BTreeMap::new();
        for name in self.folder.names(REVOKED)? {
            let Some(file) = self.folder.read::<RevokedFile>(&name)? else { continue };
            let meter = file.setup.meter;
            if revoked.get(&meter).is_none_or(|other| other.epoch < file.epoch) {
                revoked.insert(meter, file);
            }
        }
        Ok(revoked)
    }

    /// Draws keys for a new meter, and registers it. `above`: the highest epoch that is known of it elsewhere, 0 for none. First
    /// its images are written into `images`, for who makes it.
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
        let _lock = self.folder.lock()?;
        if self.folder.has(&meter_name(setup.meter)) {
            return Err(RegistryError::Exists(self.network.meter(setup.meter)));
        }
        self.make(setup, above, images)
    }

    /// Draws new keys for a meter that is to be made again, as it was set up at first. From now on it is not heard with its old ones.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], [`RegistryError::File`].
    pub fn rotate(
        &self,
        meter: MeterId,
        above: u32,
        images: &Path,
    ) -> Result<(MeterFile, Images), RegistryError> {
        let _lock = self.folder.lock()?;
        let old = self.get(meter)?;
        self.make(old.record.setup, above.max(old.epoch), images)
    }

    fn make(&self, setup: Setup, above: u32, images: &Path) -> Result<(MeterFile, Images), RegistryError> {
        let epoch = self.next_epoch(setup.meter, above)?;
        let provision = Provision::generate(setup, self.identity.public(), &mut OsRng.unwrap_err());
        let images = Images::write(images, self.network, &provision, epoch)?;
        let file = MeterFile { network: self.network, epoch, record: provision.record() };
        self.folder.write(&meter_name(setup.meter), &file)?;
        Ok((file, images))
    }

    /// Registers a meter that was provisioned before for this collector's public key, from its file: a copy of one of these files. The
    /// epoch is the file's; of a meter that was revoked it has to be the last one with the same keys, or a later one with others. Else
    /// messages of before could come again as new ones.
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
        let _lock = self.folder.lock()?;
        if self.folder.has(&meter_name(meter)) {
            return Err(RegistryError::Exists(named));
        }
        if let Some(revoked) = self.revoked()?.get(&meter)
            && !matches!(
                (epoch.cmp(&revoked.epoch), record.public == revoked.public),
                (Ordering::Equal, true) | (Ordering::Greater, false)
            )
        {
            return Err(bad(format!(
                "meter {named} was revoked with keys of epoch {}; this file has epoch {epoch}. 'wattseal meters provision {named}' makes \
                 new keys",
                revoked.epoch
            )));
        }
        self.folder.write(&meter_name(meter), &file)?;
        Ok(file)
    }

    /// Takes a meter off the register. Its file goes to `revoked/` without its secret keys.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], [`RegistryError::File`].
    pub fn revoke(&self, meter: MeterId) -> Result<RevokedFile, RegistryError> {
        let _lock = self.folder.lock()?;
        let MeterFile { epoch, record, .. } = self.get(meter)?;
        let revoked = RevokedFile { epoch, public: record.public, setup: record.setup };
        self.folder.write(&format!("{REVOKED}/{meter:05}-{epoch}.toml"), &revoked)?;
        self.folder.remove(&meter_name(meter))?;
        Ok(revoked)
    }

    /// A meter's file.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], [`RegistryError::Bad`], [`RegistryError::File`].
    pub fn get(&self, meter: MeterId) -> Result<MeterFile, RegistryError> {
        let name = meter_name(meter);
        if !self.folder.has(&name) {
            return Err(RegistryError::Unknown(self.network.meter(meter)));
        }
        self.read(&name)
    }

    fn read(&self, name: &str) -> Result<MeterFile, RegistryError> {
        read_meter(self.network, &self.folder, name)?.ok_or_else(|| RegistryError::Bad {
            path: self.folder.path_of(name),
            problem: "it went away".into(),
        })
    }

    /// The first epoch that is free for new keys.
    fn next_epoch(&self, meter: MeterId, above: u32) -> Result<u32, RegistryError> {
        let revoked = self.revoked()?.get(&meter).map_or(0, |file| file.epoch);
        revoked.max(above).checked_add(1).ok_or(RegistryError::Setup("a meter has at most 2^32 - 1 epochs"))
    }
}

const COLLECTOR: &str = "collector.toml";
const METERS: &str = "meters";
const REVOKED: &str = "revoked";

fn meter_name(meter: MeterId) -> String {
    format!("{METERS}/{meter:05}.toml")
}

/// A meter's file, or `None` where it went away.
fn read_meter(network: NetworkId, folder: &Folder, name: &str) -> Result<Option<MeterFile>, RegistryError> {
    let Some(file) = folder.read::<MeterFile>(name)? else { return Ok(None) };
    let setup = &file.record.setup;
    let bad = |problem: String| RegistryError::Bad { path: folder.path_of(name), problem };
    if name != meter_name(setup.meter) {
        return Err(bad(format!("it is the file of meter {}; name it {:05}.toml", setup.meter, setup.meter)));
    }
    if file.network != network {
        return Err(bad(format!(
            "it is the file of meter {}, and this is network {network}'s folder; move it to that network's",
            file.meter()
        )));
    }
    if file.epoch == 0 {
        return Err(bad("epoch 0; the first one is 1".into()));
    }
    check(setup).map_err(|error| bad(error.to_string()))?;
    Ok(Some(file))
}

fn identity_of(file: &CollectorFile, path: &Path) -> Result<Identity, RegistryError> {
    let bad = |problem: &str| RegistryError::Bad {
        path: path.into(),
        problem: format!("{problem}; put the file back from a backup"),
    };
    let bytes = unhex(&file.private).ok_or_else(|| bad("'private' has to be 32 bytes in hexadecimal"))?;
    let identity = Identity::from_private_bytes(&bytes).map_err(|_| bad("'private' is no private key"))?;
    if *identity.public() != file.public {
        return Err(bad("'public' is not the public key of 'private'"));
    }
    Ok(identity)
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
    if !valid(Command::Calibrate { voltage_uv, current_ua, phase })
        || u64::from(voltage_uv) * u64::from(current_ua) < LEAST_STEPS
    {
        return Err(RegistryError::Setup(
            "steps of voltage and current have to be 1 to 4,000,000 microvolts and microamperes with a product of at least \
             110,000,000, and the phase from -256 to 256",
        ));
    }
    Ok(())
}

/// What the meter's arithmetic asks of both steps together: docs/protocol.md, "calibrate".
const LEAST_STEPS: u64 = 110_000_000;

fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

fn unhex(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Zeroizing::new([0; 32]);
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}
