//! Files that nobody else may read, written whole or not at all.

use super::RegistryError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// No key file is longer, in bytes.
const BYTES_MAX: u64 = 16 * 1024;
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The folder of key files, with its two folders within. Names are relative to it.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes what is missing, and looks that nobody else can read any of it.
    pub(super) fn open(path: &Path) -> Result<Folder, RegistryError> {
        for folder in [path.to_owned(), path.join(super::METERS), path.join(super::REVOKED)] {
            match DirBuilder::new().mode(FOLDER_MODE).create(&folder) {
                Ok(()) => sync_parent(&folder)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(RegistryError::File { path: folder, error }),
            }
            let found =
                fs::metadata(&folder).map_err(|error| RegistryError::File { path: folder.clone(), error })?;
            check_mode(&folder, found.mode(), FOLDER_MODE)?;
        }
        Ok(Folder(path.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Held while files are changed, so that two commands do not.
    pub(super) fn lock(&self) -> Result<File, RegistryError> {
        let file = |error| RegistryError::File { path: self.0.clone(), error };
        let folder = File::open(&self.0).map_err(file)?;
        folder.lock().map_err(file)?;
        Ok(folder)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path_of(name).exists()
    }

    /// The names of the TOML files of a folder within, sorted, as `folder/file.toml`.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>, RegistryError> {
        let path = self.path_of(folder);
        let file = |error| RegistryError::File { path: path.clone(), error };
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(file)? {
            let name = entry.map_err(file)?.file_name();
            if let Some(name) = name.to_str().filter(|name| name.ends_with(".toml") && !name.starts_with('.'))
            {
                names.push(format!("{folder}/{name}"));
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Reads a file; `None` where there is none.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, RegistryError> {
        self.read_up_to(name, BYTES_MAX)
    }

    /// The same of a file that may be longer.
    pub(super) fn read_up_to<T: DeserializeOwned>(
        &self,
        name: &str,
        most_bytes: u64,
    ) -> Result<Option<T>, RegistryError> {
        match read_toml_up_to(&self.path_of(name), most_bytes) {
            Err(RegistryError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    pub(super) fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), RegistryError> {
        let path = self.path_of(name);
        let text = toml::to_string(value).map(Zeroizing::new).map_err(|error| RegistryError::Bad {
            path: path.clone(),
            problem: format!("it cannot be written as TOML: {error}"),
        })?;
        write_secret(&path, text.as_bytes())
    }

    /// Copies a file, where there is one, into another folder.
    pub(super) fn copy(&self, name: &str, into: &Folder) -> Result<(), RegistryError> {
        let path = self.path_of(name);
        match fs::read(&path).map(Zeroizing::new) {
            Ok(bytes) => write_secret(&into.path_of(name), &bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(RegistryError::File { path, error }),
        }
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), RegistryError> {
        let path = self.path_of(name);
        fs::remove_file(&path).map_err(|error| RegistryError::File { path: path.clone(), error })?;
        sync_parent(&path)
    }
}

/// Reads a TOML file that nobody else may read. An error says nothing of what is in it.
pub(super) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, RegistryError> {
    read_toml_up_to(path, BYTES_MAX)
}

fn read_toml_up_to<T: DeserializeOwned>(path: &Path, most_bytes: u64) -> Result<T, RegistryError> {
    let text = read_secret(path, most_bytes)?;
    toml::from_str(&text).map_err(|error| {
        // `message` names fields and types; the error's own text would show the line with the key.
        let line =
            error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let problem = format!("line {line}: {}; put the file back from a backup", error.message());
        RegistryError::Bad { path: path.into(), problem }
    })
}

/// Reads a text that nobody else may read.
fn read_secret(path: &Path, most_bytes: u64) -> Result<Zeroizing<String>, RegistryError> {
    let file = |error| RegistryError::File { path: path.into(), error };
    let opened = File::open(path).map_err(file)?;
    let found = opened.metadata().map_err(file)?;
    check_mode(path, found.mode(), FILE_MODE)?;
    if found.len() > most_bytes {
        let problem = format!("{} bytes, more than any key file has", found.len());
        return Err(RegistryError::Bad { path: path.into(), problem });
    }
    // No larger than it was made: growing would leave copies behind that are not wiped.
    let mut text = Zeroizing::new(String::with_capacity(found.len() as usize + 1));
    opened.take(found.len()).read_to_string(&mut text).map_err(file)?;
    Ok(text)
}

/// Reads a file of secrets other than the registry's, that nobody else may read.
///
/// # Errors
/// [`RegistryError::Open`], [`RegistryError::File`], [`RegistryError::Bad`].
pub(crate) fn read_secrets(path: &Path) -> Result<Zeroizing<String>, RegistryError> {
    read_secret(path, BYTES_MAX)
}

/// Writes a file of secrets other than the registry's, that nobody else may read.
///
/// # Errors
/// [`RegistryError::File`]
pub(crate) fn write_secrets(path: &Path, bytes: &[u8]) -> Result<(), RegistryError> {
    // The name of a file alone has no folder.
    let path = std::path::absolute(path).map_err(|error| RegistryError::File { path: path.into(), error })?;
    write_secret(&path, bytes)
}

/// Writes a file that nobody else may read, beside its place, and moves it there when it is
/// durable.
pub(super) fn write_secret(path: &Path, bytes: &[u8]) -> Result<(), RegistryError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.new"));
    let write = || {
        // One that a crash left.
        let _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&beside)?;
        give_to_owner_of_folder(&file, path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&beside);
        RegistryError::File { path: path.into(), error }
    })?;
    sync_parent(path)
}

/// Gives a file that the superuser writes to the owner of the folder: the service could not read it
/// otherwise.
fn give_to_owner_of_folder(file: &File, path: &Path) -> std::io::Result<()> {
    let (own, folder) = (file.metadata()?, fs::metadata(parent(path))?);
    if own.uid() == 0 && folder.uid() != 0 {
        fchown(file, Some(folder.uid()), Some(folder.gid()))?;
    }
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a folder that nobody else may read, where there is none.
pub(crate) fn make_folder(path: &Path) -> Result<(), RegistryError> {
    let file = |error| RegistryError::File { path: path.into(), error };
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Ok(()) => sync_parent(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            check_mode(path, fs::metadata(path).map_err(file)?.mode(), FOLDER_MODE)
        }
        Err(error) => Err(file(error)),
    }
}

/// A name is durable when its folder is.
fn sync_parent(path: &Path) -> Result<(), RegistryError> {
    let parent = parent(path);
    let sync = || File::open(parent)?.sync_all();
    sync().map_err(|error| RegistryError::File { path: parent.into(), error })
}

fn check_mode(path: &Path, mode: u32, wanted: u32) -> Result<(), RegistryError> {
    let mode = mode & 0o7777;
    if mode & 0o077 != 0 {
        return Err(RegistryError::Open { path: path.into(), mode, wanted });
    }
    Ok(())
}
