//! Scenario files: found by path or name.

use lab::workspace::Workspace;
use lab::{LabError, names};
use std::path::{Path, PathBuf};

/// A scenario's file and what stands in it, named by its path or, where it is one of the project's,
/// by its name.
///
/// # Errors
/// [`LabError::UnknownName`] with the nearest name.
pub fn text(workspace: &Workspace, name: &Path) -> Result<(PathBuf, String), LabError> {
    let text = name.to_string_lossy().into_owned();
    let named = PathBuf::from(format!("scenarios/{text}.toml"));
    if name.is_file() || workspace.has(name) {
        return workspace.read_own(name);
    }
    if workspace.has(&named) {
        return workspace.read(named);
    }
    let known = workspace.names_in("scenarios")?;
    let asked = name.file_stem().map_or(text.clone(), |stem| stem.to_string_lossy().into_owned());
    let suggestion = names::suggestion(&asked, known.iter().map(String::as_str));
    Err(LabError::UnknownName { what: "scenario", name: text, suggestion })
}
