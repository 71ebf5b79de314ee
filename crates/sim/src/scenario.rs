//! Scenario files: found by path or name.

use lab::target::Workspace;
use lab::{LabError, names};
use std::path::{Path, PathBuf};

/// A scenario's file and what stands in it, named by its path or, where it is one of the project's, by its name.
///
/// # Errors
/// [`LabError::UnknownName`] with the nearest name.
pub fn text(workspace: &Workspace, name: &Path) -> Result<(PathBuf, String), LabError> {
    let path = find(workspace, name)?;
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(error) => Err(LabError::File { path, error }),
    }
}

/// Where a scenario's file is.
fn find(workspace: &Workspace, name: &Path) -> Result<PathBuf, LabError> {
    let text = name.to_string_lossy().into_owned();
    let folder = workspace.root().join("scenarios");
    let places = [name.to_path_buf(), workspace.root().join(name), folder.join(format!("{text}.toml"))];
    if let Some(path) = places.into_iter().find(|path| path.is_file()) {
        return Ok(path);
    }
    let known = workspace.names_in("scenarios")?;
    let asked = name.file_stem().map_or(text.clone(), |stem| stem.to_string_lossy().into_owned());
    let suggestion = names::suggestion(&asked, known.iter().map(String::as_str));
    Err(LabError::UnknownName { what: "scenario", name: text, suggestion })
}
