//! Objects that are not linked yet.

use crate::{FirmwareError, names};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::path::{Path, PathBuf};

/// Sections with addresses of functions that run before `main`.
const CONSTRUCTORS: [&str; 3] = [".init_array", ".ctors", ".preinit_array"];

/// The symbol of a function that is seen from outside of these objects, by its name or the last
/// parts of it.
///
/// # Errors
/// [`FirmwareError::File`], [`FirmwareError::BadFile`].
pub fn symbol_of(function: &str, objects: &[PathBuf]) -> Result<Option<String>, FirmwareError> {
    for path in objects {
        let found = with(path, |file| {
            let mut defined = file.symbols().filter(|symbol| {
                symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text
            });
            defined.find_map(|symbol| {
                let name = symbol.name().ok()?;
                let author_s = names::demangled(name, false);
                let is_it = name == function || author_s.is_some_and(|own| names::names(function, &own));
                is_it.then(|| name.to_owned())
            })
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The first of these objects with a constructor that has to run before `main`.
///
/// # Errors
/// [`FirmwareError::File`], [`FirmwareError::BadFile`].
pub fn with_constructor(objects: &[PathBuf]) -> Result<Option<&Path>, FirmwareError> {
    for path in objects {
        let is_constructor = |name: &str| {
            let is = |known: &str| name == known || name.starts_with(&format!("{known}."));
            CONSTRUCTORS.into_iter().any(is)
        };
        let has = with(path, |file| {
            file.sections().any(|section| section.size() > 0 && section.name().is_ok_and(is_constructor))
        })?;
        if has {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn with<T>(path: &Path, look: impl FnOnce(&object::File<'_>) -> T) -> Result<T, FirmwareError> {
    let bytes = std::fs::read(path).map_err(|error| FirmwareError::File { path: path.into(), error })?;
    let bad = |error: object::Error| FirmwareError::BadFile { path: path.into(), problem: error.to_string() };
    Ok(look(&object::File::parse(bytes.as_slice()).map_err(bad)?))
}
