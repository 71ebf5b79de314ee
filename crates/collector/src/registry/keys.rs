//! The keys of a network: files of a folder, or sealed in a database.

use super::RegistryError;
use super::file::Folder;
use super::files::KeyFiles;
use super::key_backend::KeyBackend;
use super::sealed::SealedNetwork;
use crate::network::NetworkId;

/// The keys of a network.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    Files { network: NetworkId, folder: Folder },
    Sealed(SealedNetwork),
}

impl Keys {
    /// Looks at one moment of them; of files each by itself.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&dyn KeyBackend) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        match self {
            Keys::Files { network, folder } => read(&KeyFiles { network: *network, folder }),
            Keys::Sealed(sealed) => sealed.read(|rows| read(rows)),
        }
    }

    /// Changes the keys, one change at a time.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&dyn KeyBackend) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        match self {
            Keys::Files { network, folder } => {
                let _lock = folder.lock()?;
                change(&KeyFiles { network: *network, folder })
            }
            Keys::Sealed(sealed) => sealed.change(|rows| change(rows)),
        }
    }
}
