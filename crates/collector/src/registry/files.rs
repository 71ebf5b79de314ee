//! A network's keys as files: `collector.toml`, `meters/00258.toml`, `revoked/00258-1.toml`.
//! docs/how-to/collector/files.md, "Files".

use super::file::Folder;
use super::key_backend::{KeyBackend, Meters};
use super::{MeterFile, RegistryError, RevokedFile, check};
use crate::fence::LeaseNumber;
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use wire::meter::{Identity, MeterId, PublicKey, Setup, Suite};
use zeroize::Zeroizing;

pub(super) const COLLECTOR: &str = "collector.toml";
pub(super) const METERS: &str = "meters";
pub(super) const REVOKED: &str = "revoked";

/// `collector.toml`.
#[derive(Serialize, Deserialize)]
struct CollectorFile {
    /// In hexadecimal, big-endian.
    private: Zeroizing<String>,
    /// x and y; for people.
    public: PublicKey,
}

pub(super) struct KeyFiles<'f> {
    pub(super) network: NetworkId,
    pub(super) folder: &'f Folder,
}

impl KeyBackend for KeyFiles<'_> {
    fn identity(&self) -> Result<Option<Identity>, RegistryError> {
        let file = self.folder.read::<CollectorFile>(COLLECTOR)?;
        file.map(|file| identity_of(&file, &self.folder.path_of(COLLECTOR))).transpose()
    }

    fn put_identity(&self, identity: &Identity) -> Result<(), RegistryError> {
        let private = Zeroizing::new(hex(&identity.private_bytes()[..]));
        self.folder.write(COLLECTOR, &CollectorFile { private, public: *identity.public() })
    }

    fn has_meters(&self) -> Result<bool, RegistryError> {
        Ok(!self.folder.names(METERS)?.is_empty())
    }

    fn meter(&self, meter: MeterId) -> Result<Option<MeterFile>, RegistryError> {
        let name = meter_name(meter);
        if self.folder.has(&name) { self.read(&name).map(Some) } else { Ok(None) }
    }

    fn meters(&self, of: Option<(Partition, Slices)>) -> Result<Meters, RegistryError> {
        let mut meters = Meters { files: BTreeMap::new(), network_seals: false, revision: 0 };
        for name in self.folder.names(METERS)? {
            let file = self.read(&name)?;
            let Setup { meter, suite, .. } = file.record.setup;
            meters.network_seals |= suite != Suite::None;
            if of.is_none_or(|(partition, slices)| slices.of(meter) == partition.slice) {
                meters.files.insert(meter, file);
            }
        }
        Ok(meters)
    }

    fn has_any(&self, meters: &[MeterId]) -> Result<bool, RegistryError> {
        Ok(meters.iter().any(|meter| self.folder.has(&meter_name(*meter))))
    }

    fn is_under(&self, _: (Slices, LeaseNumber)) -> Result<bool, RegistryError> {
        // Several write where keys are in a database alone.
        Ok(false)
    }

    fn put(&self, file: &MeterFile) -> Result<(), RegistryError> {
        self.folder.write(&meter_name(file.record.setup.meter), file)
    }

    fn revoked(&self) -> Result<BTreeMap<MeterId, RevokedFile>, RegistryError> {
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

    fn last_revoked(&self, meter: MeterId) -> Result<Option<RevokedFile>, RegistryError> {
        Ok(self.revoked()?.remove(&meter))
    }

    fn revoke(&self, file: &RevokedFile) -> Result<(), RegistryError> {
        let meter = file.setup.meter;
        self.folder.write(&format!("{REVOKED}/{meter:05}-{}.toml", file.epoch), file)?;
        self.folder.remove(&meter_name(meter))
    }
}

impl KeyFiles<'_> {
    fn read(&self, name: &str) -> Result<MeterFile, RegistryError> {
        read_meter(self.network, self.folder, name)?.ok_or_else(|| RegistryError::Bad {
            path: self.folder.path_of(name),
            problem: "it went away".into(),
        })
    }
}

fn meter_name(meter: MeterId) -> String {
    format!("{METERS}/{meter:05}.toml")
}

/// A meter's file, or `None` where it went away.
pub(super) fn read_meter(
    network: NetworkId,
    folder: &Folder,
    name: &str,
) -> Result<Option<MeterFile>, RegistryError> {
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
