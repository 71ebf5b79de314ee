//! The file that rows are saved in.

use crate::LabError;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that was found writable before the run, and is written behind it.
#[derive(Debug)]
pub struct SaveFile {
    path: PathBuf,
    file: File,
    /// It was not there before, and goes again where the run fails.
    is_new: bool,
}

impl SaveFile {
    /// Opens it, and leaves what is in it: the run may fail, or read it as what to compare with.
    ///
    /// # Errors
    /// [`LabError::File`] for a file that cannot be written.
    pub fn open(path: &Path) -> Result<SaveFile, LabError> {
        let failed = |error| LabError::File { path: path.into(), error };
        let mut options = OpenOptions::new();
        options.write(true);
        match options.clone().create_new(true).open(path) {
            Ok(file) => Ok(SaveFile { path: path.into(), file, is_new: true }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let file = options.open(path).map_err(failed)?;
                Ok(SaveFile { path: path.into(), file, is_new: false })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes the rows as the command's JSON.
    ///
    /// # Errors
    /// [`LabError::File`] for a file that cannot be written any more.
    pub fn write<T: Serialize>(self, rows: &[T]) -> Result<(), LabError> {
        self.write_text(&output::json(rows)?)
    }

    /// Writes a text.
    ///
    /// # Errors
    /// [`LabError::File`] for a file that cannot be written any more.
    pub fn write_text(mut self, text: &str) -> Result<(), LabError> {
        // A pipe or another special file has no length to cut.
        let is_file = self.file.metadata().is_ok_and(|metadata| metadata.is_file());
        let cut = if is_file { self.file.set_len(0) } else { Ok(()) };
        let written = cut.and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|error| LabError::File { path: self.path.clone(), error })?;
        self.is_new = false;
        Ok(())
    }
}

impl Drop for SaveFile {
    fn drop(&mut self) {
        if self.is_new {
            // An empty file is no measurement; where it stays it is refused as what it is.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
