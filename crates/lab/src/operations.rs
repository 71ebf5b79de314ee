//! What can be measured: `device/ops.toml`.

use crate::{LabError, target::House};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A line of `device/ops.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, rename = "header")]
    _header: String,
    measure: String,
    call: String,
    bytes: u16,
}

/// An operation of the bench firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name on the command line.
    pub name: String,
    /// The function whose call is measured.
    pub measure: String,
    /// Message length where none is asked for, in bytes.
    pub bytes: u16,
    /// Whether the message length can be chosen (the call takes `len`).
    pub any_length: bool,
}

/// How an operation is built.
pub const VARIANTS: [&str; 4] = ["O0", "portable", "small", "fast"];

/// All operations, in the order of a reader: AES by key size, then modes, then hashes.
///
/// # Errors
/// [`LabError::File`] or [`LabError::BadFile`] where `device/ops.toml` cannot be read.
pub fn catalogue(house: &House) -> Result<Vec<Operation>, LabError> {
    let path = house.root().join("device/ops.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| LabError::File { path: path.clone(), error })?;
    let mut sets: BTreeMap<String, BTreeMap<String, Line>> =
        toml::from_str(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
    let lines = sets.remove("c").unwrap_or_default();
    // The table's own order says how the operations belong together; a map has lost it.
    let position = |name: &str| {
        text.lines()
            .position(|line| line.split('=').next().is_some_and(|left| left.trim().trim_matches('"') == name))
    };
    let mut operations: Vec<Operation> = lines
        .into_iter()
        .map(|(name, line)| Operation {
            name,
            measure: line.measure,
            bytes: line.bytes,
            any_length: line.call.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "len"),
        })
        .collect();
    operations.sort_by_key(|operation| position(&operation.name));
    Ok(operations)
}
