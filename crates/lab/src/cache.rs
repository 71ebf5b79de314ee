//! The folder in which built firmware, measured figures and the unpacked sources of firmware are
//! kept.

use crate::LabError;
use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;
use std::path::{Path, PathBuf};

/// Default folder: a clone's own `target/` where that can be written, else the user's cache.
pub(crate) fn folder(clone: Option<&Path>) -> Result<PathBuf, LabError> {
    if let Some(own) = clone.map(|root| root.join("target")).filter(|own| is_writable(own)) {
        return Ok(own);
    }
    // Everywhere as on Linux, because the scripts that build compilers
    // (device/ports/r8c/build-binutils) look there, too.
    let base = Xdg::new().map_err(|error| {
        let said = format!("{error}: there is no folder for what is built; give --cache FOLDER, or set HOME or XDG_CACHE_HOME");
        LabError::Unfinished(said)
    })?;
    Ok(base.cache_dir().join("wattseal"))
}

/// Returns true if files can be made in the folder; makes it where it is missing.
fn is_writable(folder: &Path) -> bool {
    std::fs::create_dir_all(folder).is_ok() && tempfile::tempfile_in(folder).is_ok()
}

/// Makes sure that it is there, that it can be written, and that make can build in it.
pub(crate) fn prepare(folder: PathBuf) -> Result<PathBuf, LabError> {
    // A blank ends a file's name in a makefile.
    if folder.to_string_lossy().contains(char::is_whitespace) {
        let folder = folder.display();
        return Err(LabError::Unfinished(format!(
            "{folder}: make cannot build in a folder with a blank in its name; give --cache FOLDER, or set XDG_CACHE_HOME"
        )));
    }
    // make runs elsewhere.
    let made = std::fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
    made.and_then(|path| tempfile::tempfile_in(&path).map(|_| path)).map_err(|error| {
        let is_file = folder.is_file();
        let folder = folder.display();
        let error = if is_file { "a file, and no folder".into() } else { error.to_string() };
        LabError::Unfinished(format!(
            "{folder}: {error}; what is built is kept there: give --cache FOLDER, or set XDG_CACHE_HOME"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_make_cannot_build_in_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(prepare(folder.path().join("plain")).is_ok());
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("written");
        let refused = prepare(file).expect_err("refused").to_string();
        assert!(refused.contains("a file, and no folder"), "{refused}");
        let refused = prepare(folder.path().join("of my own")).expect_err("refused").to_string();
        assert!(refused.contains("a blank in its name; give --cache"), "{refused}");
    }
}
