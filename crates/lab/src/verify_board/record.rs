//! The file that a target's `[[accuracy]]` can cite.

use super::{BoardRow, Verified};
use crate::LabError;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Record<'a> {
    target: &'a str,
    /// The board, in its owner's words.
    board: &'a str,
    clock_hz: u64,
    firmware: String,
    firmware_sha256: &'a str,
    wattseal: &'a str,
    rounds: usize,
    largest_percent: f64,
    row: &'a [BoardRow],
}

impl Verified {
    /// Writes the rows, and what they are of, as TOML.
    ///
    /// # Errors
    /// [`LabError::File`]
    pub fn save(&self, path: &Path, board: &str) -> Result<(), LabError> {
        let name = self.firmware.file_name().map(|name| name.to_string_lossy().into_owned());
        let record = Record {
            target: &self.target,
            board,
            clock_hz: self.clock_hz,
            firmware: name.unwrap_or_default(),
            firmware_sha256: &self.firmware_sha256,
            wattseal: env!("CARGO_PKG_VERSION"),
            rounds: self.rounds,
            largest_percent: self.largest_percent(),
            row: &self.rows,
        };
        let failed = |error| LabError::File { path: path.into(), error };
        let text = toml::to_string(&record).map_err(|error| failed(std::io::Error::other(error)))?;
        let head = "# Cycles that a board counted, beside the model's: wattseal verify-board.\n";
        std::fs::write(path, format!("{head}{text}")).map_err(failed)
    }

    /// The table of a target file that cites the record.
    #[must_use]
    pub fn citation(&self, path: &Path, board: &str) -> String {
        let rows = self.rows.len();
        let source =
            format!("{board} at {} MHz, {rows} rows: {}", self.clock_hz as f64 / 1e6, path.display());
        format!("[[accuracy]]\ncycles = \"{}\"\nsource = {source:?}\n", self.bound())
    }
}
