//! Operations that can be measured: `device/ops.toml`, and the targets' own lists.

use crate::LabError;
use crate::target::Target;
use crate::workspace::Workspace;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// A line of `device/ops.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, rename = "header")]
    _header: String,
    measure: String,
    call: String,
    bytes: u16,
    #[serde(default)]
    key: Key,
    #[serde(default)]
    fixed: Vec<InputBytes>,
    #[serde(default)]
    secret: BTreeMap<String, InputBytes>,
    #[serde(default)]
    public: bool,
    #[serde(default)]
    rejects: bool,
}

/// Bytes of an input: `key`, from an offset on `key+32`, some of them `key:32` or `key+32:64`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct InputBytes {
    /// The input's name, as in a [`crate::reference::Case`].
    pub input: String,
    /// The first of them.
    pub from: usize,
    /// Number of bytes; all that follow where absent.
    pub length: Option<usize>,
}

impl InputBytes {
    /// Returns the range of these within `bytes` bytes.
    #[must_use]
    pub fn within(&self, bytes: usize) -> Range<usize> {
        let end = self.length.map_or(bytes, |length| self.from.saturating_add(length));
        self.from.min(bytes)..end.min(bytes)
    }
}

impl TryFrom<String> for InputBytes {
    type Error = String;

    fn try_from(text: String) -> Result<InputBytes, String> {
        let number = |digits: &str| {
            digits
                .parse()
                .map_err(|_| format!("'{text}' is no input: write key, key+32, key:32 or key+32:64"))
        };
        let (rest, length) =
            text.split_once(':').map_or((&*text, None), |(rest, length)| (rest, Some(length)));
        let (input, from) = rest.split_once('+').unwrap_or((rest, "0"));
        let length = length.map(number).transpose()?;
        Ok(InputBytes { input: input.into(), from: number(from)?, length })
    }
}

/// Contents of an operation's key buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    #[default]
    Raw,
    /// The round keys made of it.
    Expanded,
}

/// An operation of the bench firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name on the command line.
    pub name: String,
    /// The set of `device/ops.toml` that it is of.
    pub set: String,
    /// The function whose call is measured.
    pub measure: String,
    /// Message length where none is asked for, in bytes.
    pub bytes: u16,
    /// True if the message length can be chosen (the call takes `len`).
    pub any_length: bool,
    pub key: Key,
    /// Inputs that are public and may decide what it does: the same in all runs of a check for
    /// constant time.
    pub fixed: Vec<InputBytes>,
    /// Secret inputs, by the names that are shown; where absent, all inputs that are not `fixed`.
    pub secret: BTreeMap<String, InputBytes>,
    /// True if all its inputs are public, so that its time may depend on them.
    pub public: bool,
    /// True if it discards results and makes new ones until one serves, so that two runs need not
    /// take the same time.
    pub rejects: bool,
    /// A secret of it is an argument by value, which is loaded before the call.
    pub by_value: bool,
}

impl Operation {
    /// A function of a user's own, by the symbol whose call is measured.
    pub(crate) fn of_call(name: &str, measured: &str) -> Operation {
        Operation {
            name: name.into(),
            set: String::new(),
            measure: measured.into(),
            bytes: 0,
            any_length: false,
            key: Key::Raw,
            fixed: Vec::new(),
            secret: BTreeMap::new(),
            public: false,
            rejects: false,
            by_value: false,
        }
    }
}

/// Variants of operations, in the order of a reader; each target has some of these.
pub const VARIANTS: [&str; 9] =
    ["O0", "portable", "small", "memory", "register", "nompy", "mpy16", "mpy32", "fast"];

/// The operations of all targets.
#[derive(Clone, Debug)]
pub struct Catalogue {
    sets: BTreeMap<String, BTreeMap<String, Operation>>,
    /// All names once, in the order of a reader: AES by key size, then modes, then hashes.
    names: Vec<String>,
}

impl Catalogue {
    /// Reads `device/ops.toml`.
    ///
    /// # Errors
    /// [`LabError::File`] or [`LabError::BadFile`] where it cannot be read.
    pub fn read(workspace: &Workspace) -> Result<Catalogue, LabError> {
        let (path, text) = workspace.read("device/ops.toml")?;
        let lines: BTreeMap<String, BTreeMap<String, Line>> =
            toml::from_str(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
        let operation = |set: &str, (name, line): (String, Line)| {
            let mut words = line.call.split(|c: char| !c.is_alphanumeric() && c != '_');
            let any_length = words.any(|word| word == "len");
            let operation = Operation {
                name: name.clone(),
                set: set.into(),
                measure: line.measure,
                bytes: line.bytes,
                any_length,
                key: line.key,
                fixed: line.fixed,
                secret: line.secret,
                public: line.public,
                rejects: line.rejects,
                by_value: false,
            };
            (name, operation)
        };
        let sets = lines
            .into_iter()
            .map(|(set, lines)| {
                let operations = lines.into_iter().map(|line| operation(&set, line)).collect();
                (set, operations)
            })
            .collect();
        Ok(Catalogue { sets, names: reading_order(&text) })
    }

    /// The names of all operations, in the order of a reader.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// The operations that exist on a target, in the order of a reader.
    ///
    /// # Errors
    /// [`LabError::BadFile`] where the target names a set that there is not.
    pub fn of(&self, target: &Target) -> Result<Vec<Operation>, LabError> {
        let mut found: BTreeMap<&str, &Operation> = BTreeMap::new();
        for set in target.toolchain.iter().flat_map(|toolchain| &toolchain.operations) {
            let operations = self.sets.get(set).ok_or_else(|| LabError::BadFile {
                path: target.file(),
                problem: format!("device/ops.toml has no set of operations '{set}'"),
            })?;
            found.extend(operations.iter().map(|(name, operation)| (name.as_str(), operation)));
        }
        Ok(self.names.iter().filter_map(|name| found.get(name.as_str()).map(|&op| op.clone())).collect())
    }

    /// The operations that a target has in a variant, in the order of a reader.
    ///
    /// # Errors
    /// As [`Catalogue::of`].
    pub fn built_as(&self, target: &Target, variant: &str) -> Result<Vec<Operation>, LabError> {
        let mut operations = self.of(target)?;
        operations.retain(|operation| {
            let toolchain = target.toolchain.as_ref();
            toolchain
                .is_some_and(|built| built.variants_of(&operation.set).iter().any(|known| known == variant))
        });
        Ok(operations)
    }
}

/// The names in the order in which the file has them; a name of a later set follows the one that it
/// begins with.
fn reading_order(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(['#', '['])) {
        let Some((name, _)) = line.split_once('=') else { continue };
        let name = name.trim().trim_matches('"').to_owned();
        if names.contains(&name) {
            continue;
        }
        let kin = names
            .iter()
            .rposition(|known| name.strip_prefix(known).is_some_and(|rest| rest.starts_with('-')));
        names.insert(kin.map_or(names.len(), |kin| kin + 1), name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::reading_order;

    #[test]
    fn a_set_s_own_operations_stand_beside_their_kin() {
        let text =
            "# a\n[c]\nsha1 = 1\nsha1-block = 2\nsha256 = 3\n[keyed]\nsha1 = 4\nsha1-keyed = 5\nmd5 = 6\n";
        assert_eq!(reading_order(text), ["sha1", "sha1-keyed", "sha1-block", "sha256", "md5"]);
    }
}
