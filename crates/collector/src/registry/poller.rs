//! Changes of a network's keys while the service runs.

use super::change::Change;
use super::file::Folder;
use super::files::{COLLECTOR, METERS, read_meter};
use super::sealed::SealedNetwork;
use super::sealed_poller::SealedPoller;
use super::{MeterFile, RegistryError};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use wire::meter::{MeterId, PublicKey};

/// When a file was written, and which it is: inode, length, time of change in s and ns.
type Stamp = (u64, u64, i64, i64);

#[derive(Debug)]
struct FileState {
    epoch: u32,
    public: PublicKey,
    /// Of all of it, so that its secrets need not be kept here.
    digest: [u8; 32],
}

impl FileState {
    fn of(file: &MeterFile) -> FileState {
        FileState { epoch: file.epoch, public: file.record.public, digest: digest(file) }
    }
}

/// Sees what changes of a network's keys.
#[derive(Debug)]
pub struct RegistryPoller(Polled);

#[derive(Debug)]
enum Polled {
    Files(FilePoller),
    Sealed(SealedPoller),
}

impl RegistryPoller {
    pub(super) fn of_files(
        network: NetworkId,
        folder: Folder,
        known: &BTreeMap<MeterId, MeterFile>,
    ) -> RegistryPoller {
        RegistryPoller(Polled::Files(FilePoller::new(network, folder, known)))
    }

    pub(super) fn of_sealed(
        sealed: SealedNetwork,
        of: Option<(Partition, Slices)>,
        known: &BTreeMap<MeterId, MeterFile>,
        seen: i64,
    ) -> RegistryPoller {
        RegistryPoller(Polled::Sealed(SealedPoller::new(sealed, of, known, seen)))
    }

    /// Returns the changes since the last poll. Keys that are not as they should be are reported
    /// once, and change nothing: their meter stays with those that it has. Costs little where
    /// nothing changed.
    pub fn poll(&mut self) -> (Vec<Change>, Vec<RegistryError>) {
        match &mut self.0 {
            Polled::Files(files) => files.poll(),
            Polled::Sealed(sealed) => sealed.poll(),
        }
    }
}

#[derive(Debug)]
struct FilePoller {
    network: NetworkId,
    folder: Folder,
    known: BTreeMap<MeterId, FileState>,
    /// The files that were read already, good or bad.
    stamps: HashMap<String, (Stamp, Option<MeterId>)>,
}

impl FilePoller {
    fn new(network: NetworkId, folder: Folder, known: &BTreeMap<MeterId, MeterFile>) -> FilePoller {
        let known = known.iter().map(|(meter, file)| (*meter, FileState::of(file))).collect();
        FilePoller { network, folder, known, stamps: HashMap::new() }
    }

    /// Costs a look at each file's time, and reads only what is new.
    fn poll(&mut self) -> (Vec<Change>, Vec<RegistryError>) {
        let (mut changes, mut problems) = (Vec::new(), Vec::new());
        let names = match self.folder.names(METERS) {
            // Without the collector's key all of the folder went away, an unmounted disk for one:
            // no meter was revoked by that.
            Ok(names) if names.is_empty() && !self.folder.has(COLLECTOR) => return (changes, problems),
            Ok(names) => names,
            Err(error) => return (changes, vec![error]),
        };
        let mut seen = HashMap::with_capacity(names.len());
        for name in names {
            // Gone since: it is seen as that the next time.
            let Ok(found) = fs::metadata(self.folder.path_of(&name)) else { continue };
            let stamp = (found.ino(), found.len(), found.ctime(), found.ctime_nsec());
            if let Some(before) = self.stamps.get(&name).filter(|(before, _)| *before == stamp) {
                seen.insert(name, *before);
                continue;
            }
            let meter = match self.check(&name, &mut changes) {
                Ok(meter) => meter,
                Err(error) => {
                    problems.push(error);
                    // Of the file that was here before, if any.
                    self.stamps.get(&name).and_then(|(_, meter)| *meter).or_else(|| meter_of(&name))
                }
            };
            seen.insert(name, (stamp, meter));
        }
        self.stamps = seen;
        let there: HashSet<MeterId> = self.stamps.values().filter_map(|(_, meter)| *meter).collect();
        self.known.retain(|meter, known| {
            let stays = there.contains(meter);
            if !stays {
                let meter = self.network.meter(*meter);
                changes.push(Change::Revoked { meter, epoch: known.epoch });
            }
            stays
        });
        (changes, problems)
    }

    fn check(&mut self, name: &str, changes: &mut Vec<Change>) -> Result<Option<MeterId>, RegistryError> {
        let Some(file) = read_meter(self.network, &self.folder, name)? else { return Ok(meter_of(name)) };
        let meter = file.record.setup.meter;
        let (now, named) = (FileState::of(&file), file.meter());
        match self.known.get(&meter) {
            Some(before) if before.digest == now.digest => return Ok(Some(meter)),
            Some(before) if before.epoch >= now.epoch => {
                let problem = format!(
                    "its keys or setup changed, and its epoch {} is not higher than that of before, {}; the meter stays as it \
                     was. 'wattseal meters rotate {named}' makes new keys",
                    now.epoch, before.epoch
                );
                return Err(RegistryError::Bad { path: self.folder.path_of(name), problem });
            }
            Some(before) if before.public == now.public => {
                let problem = format!(
                    "epoch {} with the keys of epoch {}: what the meter sent before could come again as new; the meter stays as it \
                     was. 'wattseal meters rotate {named}' makes new keys",
                    now.epoch, before.epoch
                );
                return Err(RegistryError::Bad { path: self.folder.path_of(name), problem });
            }
            Some(before) => changes.push(Change::Rotated { old_epoch: before.epoch, file }),
            None => changes.push(Change::Added(file)),
        }
        self.known.insert(meter, now);
        Ok(Some(meter))
    }
}

/// The meter that a file's name says.
fn meter_of(name: &str) -> Option<MeterId> {
    name.strip_prefix(METERS)?.strip_prefix('/')?.strip_suffix(".toml")?.parse().ok()
}

fn digest(file: &MeterFile) -> [u8; 32] {
    let (key128, key256) = file.record.keys.expose();
    let setup = format!("{:?}", file.record.setup);
    let mut sha = Sha256::new();
    sha.update(file.network.0.to_be_bytes());
    sha.update(file.epoch.to_be_bytes());
    sha.update(key128);
    sha.update(key256);
    sha.update(file.record.public.to_bytes());
    sha.update(setup);
    sha.finalize().into()
}
