//! The origin of a paper's figures: program, source tree, targets, compilers, date.

use lab::LabError;
use lab::origin::{Origin, today};
use lab::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Target of a paper's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetOrigin {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Name and version of its compiler: `avr-gcc 5.4.0`.
    pub compiler: String,
}

/// Origin of a paper's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Program and source tree.
    pub origin: Origin,
    /// Day of the run, UTC: `2026-11-28`.
    pub date: String,
    /// Random inputs for each figure.
    pub runs: u32,
    /// The targets that were run.
    pub targets: Vec<TargetOrigin>,
}

impl Provenance {
    pub(super) fn of(
        workspace: &Workspace,
        origin: Origin,
        runs: u32,
        compilers: &BTreeMap<String, String>,
    ) -> Result<Provenance, LabError> {
        let target = |(name, compiler): (&String, &String)| {
            let file = workspace.target(name)?.file();
            Ok(TargetOrigin { name: name.clone(), file, compiler: compiler.clone() })
        };
        Ok(Provenance {
            origin,
            date: today(),
            runs,
            targets: compilers.iter().map(target).collect::<Result<_, LabError>>()?,
        })
    }
}
