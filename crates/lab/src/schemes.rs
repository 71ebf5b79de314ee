//! Schemes by which a node protects a message: `schemes.toml`.

use crate::LabError;
use crate::workspace::Workspace;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// Its name on the command line.
    pub name: String,
    /// Service that it gives, in a sentence.
    pub what: String,
    /// Sort of scheme, in a word or two.
    pub kind: String,
    /// The operations that each message takes, all of them.
    pub ops: Vec<String>,
    /// Classical security level, in bits.
    pub security_bits: u32,
    /// Bytes that it adds to the message on the air.
    pub bytes: u32,
    /// Bytes of message where the scheme has its own, such as the records of a telegram.
    #[serde(default)]
    pub message_bytes: Option<u16>,
    /// Source of level and bytes.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scheme: Vec<Scheme>,
}

/// All schemes, in the order of the file.
///
/// # Errors
/// [`LabError::File`] or [`LabError::BadFile`] where `schemes.toml` cannot be read.
pub fn read(workspace: &Workspace) -> Result<Vec<Scheme>, LabError> {
    let (path, text) = workspace.read("schemes.toml")?;
    let file: File = toml::from_str(&text)
        .map_err(|error| LabError::BadFile { path: path.clone(), problem: error.to_string() })?;
    match file.scheme.iter().find(|scheme| scheme.ops.is_empty()) {
        Some(scheme) => {
            Err(LabError::BadFile { path, problem: format!("scheme {} has no operations", scheme.name) })
        }
        None => Ok(file.scheme),
    }
}
