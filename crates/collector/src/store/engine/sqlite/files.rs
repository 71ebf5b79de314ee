//! A database's files: which they are, who may read them, and when they are durable.
//!
//! None of them is opened here once SQLite has it open: closing any descriptor of a file gives up
//! all of this process's locks on it (<https://sqlite.org/howtocorrupt.html>, section 2.2).

use crate::store::StoreError;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// For the owner alone: readings tell who is at home, and who can write `-shm` can stop all
/// storing. SQLite gives `-wal`, `-shm` and `-journal` the database's mode.
const MODE: u32 = 0o600;
/// The permissions of others, which are taken away.
const OTHERS: u32 = 0o077;

/// A file under any name: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that a name stands for; `None`: none.
    pub(super) fn of(path: &Path) -> Result<Option<FileId>, StoreError> {
        match fs::metadata(path) {
            Ok(found) => Ok(Some(FileId { device: found.dev(), inode: found.ino() })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::file(path, &error)),
        }
    }
}

/// The files that a store has open, and the names that have to stand for them.
#[derive(Debug)]
pub(super) struct OpenFiles {
    /// As the database was named; it may be a link.
    named: PathBuf,
    /// The database, its log and the log's index, by the names that SQLite opened.
    files: [(PathBuf, FileId); 3],
}

impl OpenFiles {
    /// Of a connection that was just opened, and has read. database: the file that it was to open.
    ///
    /// # Errors
    /// [`StoreError::NotInPlace`] where another file came there meanwhile, and others.
    pub(super) fn of(named: &Path, database: FileId) -> Result<OpenFiles, StoreError> {
        let real = fs::canonicalize(named).map_err(|error| StoreError::file(named, &error))?;
        let with_id = |path: PathBuf| match FileId::of(&path)? {
            Some(id) => Ok((path, id)),
            None => Err(StoreError::missing(&path)),
        };
        let (log, index) = (with_id(beside(&real, "-wal"))?, with_id(beside(&real, "-shm"))?);
        let files = OpenFiles { named: named.to_owned(), files: [(real, database), log, index] };
        files.check()?;
        Ok(files)
    }

    /// The database's name without links.
    pub(super) fn real(&self) -> &Path {
        &self.files[0].0
    }

    pub(super) fn database(&self) -> FileId {
        self.files[0].1
    }

    /// Looks that each name stands for its file.
    ///
    /// # Errors
    /// [`StoreError::NotInPlace`]
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if let Some(missing) = self.missing()? {
            return Err(StoreError::missing(missing));
        }
        match FileId::of(&self.named)? {
            Some(found) if found == self.database() => Ok(()),
            Some(_) => Err(StoreError::in_the_way(&self.named)),
            None => Err(StoreError::missing(&self.named)),
        }
    }

    /// The first name that stands for nothing, or for a file that holds nothing.
    ///
    /// # Errors
    /// [`StoreError::NotInPlace`] where one stands for another file.
    pub(super) fn missing(&self) -> Result<Option<&Path>, StoreError> {
        let mut missing = None;
        for (path, id) in &self.files {
            match FileId::of(path)? {
                Some(found) if found == *id => {}
                Some(_) if !self.holds_nothing(path) => return Err(StoreError::in_the_way(path)),
                _ => missing = missing.or(Some(path.as_path())),
            }
        }
        Ok(missing)
    }

    /// Takes log and index away, where they are this database's or hold nothing: those are not of
    /// the copy that came in its place.
    pub(super) fn remove_log(&self) -> Result<(), StoreError> {
        for (path, id) in &self.files[1..] {
            if FileId::of(path)? == Some(*id) || self.holds_nothing(path) {
                remove(path)?;
            }
        }
        Ok(())
    }

    /// An empty file, as a log is to which nothing was written; and the index, which is made anew
    /// of the log.
    fn holds_nothing(&self, path: &Path) -> bool {
        path == self.files[2].0 || fs::metadata(path).is_ok_and(|found| found.len() == 0)
    }
}

/// A file whose name begins with another's.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A name beside a file that nothing has yet: with this ending, or a number behind it.
pub(super) fn free_beside(path: &Path, ending: &str) -> PathBuf {
    let mut free = beside(path, ending);
    for further in 2.. {
        if !free.exists() {
            break;
        }
        free = beside(path, &format!("{ending}-{further}"));
    }
    free
}

/// Makes an empty file for the owner alone, in place of one with its name. A superuser's file in a
/// service's folder is the service's.
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    remove(path)?;
    open_private(path).map(drop)
}

/// Opens a file to write, or makes it, for the owner alone.
pub(super) fn open_private(path: &Path) -> Result<File, StoreError> {
    let open = || {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(MODE).open(path)?;
        let (found, folder) = (file.metadata()?, fs::metadata(folder_of(path))?);
        if found.uid() == 0 && folder.uid() != 0 {
            fchown(&file, Some(folder.uid()), Some(folder.gid()))?;
        }
        Ok(file)
    };
    open().map_err(|error| StoreError::file(path, &error))
}

/// Takes others' access to a database, its log, and copies of it, where an earlier version, or
/// somebody, gave it.
pub(super) fn tighten(path: &Path) -> Result<(), StoreError> {
    let real = fs::canonicalize(path).map_err(|error| StoreError::file(path, &error))?;
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = folder_of(&real);
    for entry in fs::read_dir(folder).map_err(|error| StoreError::file(folder, &error))? {
        let entry = entry.map_err(|error| StoreError::file(folder, &error))?;
        let found = entry.file_name();
        let Some(ending) = found.to_str().and_then(|found| found.strip_prefix(&name)) else { continue };
        let own = ["", "-wal", "-shm", ".lock"].contains(&ending);
        if own || [".before-", ".saved", "-wal.left"].iter().any(|copy| ending.starts_with(copy)) {
            tighten_one(&entry.path());
        }
    }
    Ok(())
}

fn tighten_one(path: &Path) {
    let tightened = fs::symlink_metadata(path).and_then(|found| {
        let mode = found.mode();
        if !found.is_file() || mode & OTHERS == 0 {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(mode & 0o777 & !OTHERS))?;
        tracing::warn!(file = %path.display(), "others had access to it (mode {:03o}): taken away", mode & 0o777);
        Ok(())
    });
    if let Err(error) = tightened {
        // Storing goes on: that others can read is less than that nothing is kept.
        tracing::error!(file = %path.display(), %error, "others have access to it, which cannot be taken away: chmod 600 it as its owner");
    }
}

/// Moves a file to its place, over any file there. The file in the place is durable, and whole at
/// each moment.
pub(super) fn put_in_place(part: &Path, path: &Path) -> Result<(), StoreError> {
    settle(part)?;
    fs::rename(part, path).map_err(|error| StoreError::file(path, &error))?;
    settle(folder_of(path))
}

/// As [`put_in_place`], where there is nothing: what came there just now stays.
pub(super) fn put_in_free_place(part: &Path, path: &Path) -> Result<(), StoreError> {
    settle(part)?;
    match fs::hard_link(part, path) {
        Ok(()) => remove(part)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(StoreError::in_the_way(path)),
        // A file system without a second name for a file.
        Err(_) => fs::rename(part, path).map_err(|error| StoreError::file(path, &error))?,
    }
    settle(folder_of(path))
}

/// Makes a file, or a folder's list of files, durable. Not for what SQLite has open.
fn settle(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| StoreError::file(path, &error))
}

/// Removes a file, if there is one.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::file(path, &error)),
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
