//! The folders of networks: network 0's is the collector's folder of keys, each other's
//! `networks/<number>` within it.

use super::RegistryError;
use super::file::make_folder;
use super::files::{COLLECTOR, METERS};
use crate::network::NetworkId;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const NETWORKS: &str = "networks";

/// The networks that there are folders of, in order.
///
/// # Errors
/// [`RegistryError::File`], and [`RegistryError::Bad`] for a folder that is no network's.
pub(super) fn networks(keys: &Path) -> Result<Vec<NetworkId>, RegistryError> {
    let mut found = Vec::new();
    if keys.join(COLLECTOR).exists() || keys.join(METERS).exists() {
        found.push(NetworkId::DEFAULT);
    }
    let path = keys.join(NETWORKS);
    let file = |error| RegistryError::File { path: path.clone(), error };
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(file(error)),
    };
    for entry in entries {
        let entry = entry.map_err(file)?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let network = name.to_str().and_then(|name| name.parse().ok()).filter(|network: &NetworkId| {
            // Another way to write it would be the same network once more.
            !network.is_default() && network.to_string().as_str() == name
        });
        found.push(network.ok_or_else(|| RegistryError::Bad {
            path: entry.path(),
            problem: "no network is called that: folders here are called by a number from 1 to 4294967295; move it away".into(),
        })?);
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the folder of a network's files.
pub(super) fn folder_of(keys: &Path, network: NetworkId) -> PathBuf {
    match network.named() {
        None => keys.to_owned(),
        Some(network) => keys.join(NETWORKS).join(network.to_string()),
    }
}

/// Makes the folders around a network's, and says where that is.
pub(super) fn make_room(keys: &Path, network: NetworkId) -> Result<PathBuf, RegistryError> {
    if !network.is_default() {
        make_folder(keys)?;
        make_folder(&keys.join(NETWORKS))?;
    }
    Ok(folder_of(keys, network))
}
