//! Rows of a bench: those that match patterns, or those of the tables that `bench.toml` lists.

use crate::operations::{Catalogue, VARIANTS};
use crate::workspace::Workspace;
use crate::{LabError, names};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Those of the tables of `bench.toml`.
    Tables,
    /// Those that match one of the patterns of each kind; where there is none of a kind, all.
    Matching { targets: Vec<String>, operations: Vec<String>, variants: Vec<String> },
}

/// `bench.toml`: the README's tables, which are what is measured where nothing is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// One after the other.
    #[serde(rename = "table")]
    pub tables: Vec<Table>,
}

/// A table: a row for each target that has its operations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub variant: String,
    /// From left to right.
    pub columns: Vec<Column>,
}

/// A column: an operation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Heading in the README.
    pub heading: String,
    pub op: String,
}

impl Tables {
    /// Reads `bench.toml`.
    ///
    /// # Errors
    /// [`LabError::File`] or [`LabError::BadFile`] where it cannot be read.
    pub fn read(workspace: &Workspace) -> Result<Tables, LabError> {
        let (path, text) = workspace.read("bench.toml")?;
        toml::from_str(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })
    }
}

/// The rows of a choice, by names that exist.
pub(crate) struct Selection {
    targets: Vec<String>,
    /// Operation and variant.
    rows: Vec<(String, &'static str)>,
}

impl Selection {
    /// Finds the names that are meant.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] for a name that does not exist, and as [`Tables::read`].
    pub(crate) fn new(
        workspace: &Workspace,
        choice: &Choice,
        catalogue: &Catalogue,
    ) -> Result<Selection, LabError> {
        let known = catalogue.names();
        let mut rows = Vec::new();
        let mut add = |operations: &[String], variants: &[String]| -> Result<(), LabError> {
            let variants = names::select("variant", variants, &VARIANTS)?;
            for operation in names::select("operation", operations, &known)? {
                rows.extend(variants.iter().map(|&variant| (operation.to_owned(), variant)));
            }
            Ok(())
        };
        let targets = match choice {
            Choice::Matching { targets, operations, variants } => {
                add(operations, variants)?;
                targets.clone()
            }
            Choice::Tables => {
                for Table { variant, columns } in Tables::read(workspace)?.tables {
                    let variant = [variant];
                    for column in columns {
                        add(&[column.op], &variant)?;
                    }
                }
                Vec::new()
            }
        };
        Ok(Selection { targets, rows })
    }

    /// Patterns of the targets; all where there is none.
    pub(crate) fn targets(&self) -> &[String] {
        &self.targets
    }

    /// Returns true if an operation is asked for in a variant.
    pub(crate) fn has(&self, operation: &str, variant: &str) -> bool {
        self.rows.iter().any(|(name, built)| name == operation && *built == variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_refused() {
        let good = "[[table]]\nvariant = \"fast\"\ncolumns = [{ heading = \"A\", op = \"sha1\" }]\n";
        assert!(toml::from_str::<Tables>(good).is_ok());
        for wrong in [
            format!("{good}title = \"a\"\n"),
            format!("runs = 3\n{good}"),
            good.replace("op = ", "target = \"r8c\", op = "),
        ] {
            assert!(toml::from_str::<Tables>(&wrong).is_err(), "{wrong}");
        }
    }
}
