//! Names that commands take: targets, operations, variants, schemes, papers, boards.

mod rows;

pub use rows::{BoardEntry, OpEntry, PaperEntry, SchemeEntry, TargetEntry, VariantEntry};

use crate::operations::{Catalogue, VARIANTS};
use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, schemes};
use mcu::MemoryKind;
use output::{Column, Format, Sheet, csv, json};
use serde::{Deserialize, Serialize};

/// An entry of a list.
pub trait Entry: Serialize {
    /// Columns of a table.
    fn columns() -> Vec<Column<'static>>;

    /// Cells below them.
    fn cells(&self) -> Vec<String>;
}

/// Writes a list.
///
/// # Errors
/// None in practice: entries can always be written.
pub fn text<E: Entry>(entries: &[E], format: Format, wide: bool) -> Result<String, LabError> {
    Ok(match format {
        Format::Json => json(entries)?,
        Format::Csv => csv(entries)?,
        Format::Table => {
            let mut sheet = Sheet::new(&E::columns());
            entries.iter().for_each(|entry| sheet.row(entry.cells()));
            sheet.table(wide)
        }
    })
}

/// All targets.
///
/// # Errors
/// [`Workspace::target`]'s.
pub fn targets(workspace: &Workspace) -> Result<Vec<TargetEntry>, LabError> {
    all_targets(workspace)?.iter().map(|target| target_entry(workspace, target)).collect()
}

fn all_targets(workspace: &Workspace) -> Result<Vec<Target>, LabError> {
    workspace.target_names()?.iter().map(|name| workspace.target(name)).collect()
}

fn target_entry(workspace: &Workspace, target: &Target) -> Result<TargetEntry, LabError> {
    #[derive(Deserialize)]
    struct Core {
        core: String,
    }
    let bad = |error: toml::de::Error| LabError::BadFile { path: target.file(), problem: error.to_string() };
    let Core { core } = toml::from_str(&target.text).map_err(bad)?;
    let bytes = |kinds: &[MemoryKind]| {
        let memories = target.part.memories.iter().filter(|memory| kinds.contains(&memory.kind));
        memories.map(|memory| memory.size).sum()
    };
    let is_program = |kind| matches!(kind, MemoryKind::Flash | MemoryKind::Fram);
    let program = target.part.memories.iter().find(|memory| is_program(memory.kind));
    let point = target.operating_point(None, None)?;
    let accuracy = target.accuracy_of_computation(program.map_or(0, |memory| memory.start), &point);
    let sisters = workspace.sisters()?.into_iter().filter(|(of, _)| of == target.name());
    let sisters: Vec<String> = sisters.flat_map(|(_, sister)| sister.names).collect();
    Ok(TargetEntry {
        target: target.name().into(),
        description: target.part.description.clone(),
        core,
        clock_hz: point.clock_hz,
        supply_v: point.supply_v,
        flash_bytes: bytes(&[MemoryKind::Flash, MemoryKind::Fram]),
        ram_bytes: bytes(&[MemoryKind::Ram, MemoryKind::Tcm]),
        accuracy: accuracy.cycles,
        energy_accuracy: target.energy_accuracy_at(point.clock_hz as f64).energy,
        compiler: target.toolchain.as_ref().map(|toolchain| toolchain.compiler.clone()),
        sisters: sisters.join(" "),
    })
}

/// All operations of the bench.
///
/// # Errors
/// [`Catalogue::read`]'s and [`Workspace::target`]'s.
pub fn operations(workspace: &Workspace) -> Result<Vec<OpEntry>, LabError> {
    let catalogue = Catalogue::read(workspace)?;
    let mut found: Vec<OpEntry> = Vec::new();
    let mut targets: Vec<Vec<String>> = Vec::new();
    let mut variants: Vec<Vec<&str>> = Vec::new();
    for target in all_targets(workspace)? {
        for variant in VARIANTS {
            for operation in catalogue.built_as(&target, variant)? {
                let known = found.iter().position(|entry| entry.op == operation.name);
                let at = known.unwrap_or(found.len());
                if known.is_none() {
                    found.push(OpEntry::of(&operation));
                    targets.push(Vec::new());
                    variants.push(Vec::new());
                }
                if !targets[at].iter().any(|name| name == target.name()) {
                    targets[at].push(target.name().into());
                }
                if !variants[at].contains(&variant) {
                    variants[at].push(variant);
                }
            }
        }
    }
    for ((entry, targets), variants) in found.iter_mut().zip(targets).zip(variants) {
        entry.targets = targets.join(" ");
        let known = VARIANTS.into_iter().filter(|variant| variants.contains(variant));
        entry.variants = known.collect::<Vec<_>>().join(" ");
    }
    let order = catalogue.names();
    found.sort_by_key(|entry| order.iter().position(|name| *name == entry.op));
    Ok(found)
}

/// All variants of builds.
///
/// # Errors
/// [`Catalogue::read`]'s and [`Workspace::target`]'s.
pub fn variants(workspace: &Workspace) -> Result<Vec<VariantEntry>, LabError> {
    let catalogue = Catalogue::read(workspace)?;
    let targets = all_targets(workspace)?;
    let entry = |variant: &&'static str| -> Result<VariantEntry, LabError> {
        let mut names: Vec<&str> = Vec::new();
        for target in &targets {
            if !catalogue.built_as(target, variant)?.is_empty() {
                names.push(target.name());
            }
        }
        Ok(VariantEntry { variant, about: rows::about(variant), targets: names.join(" ") })
    };
    VARIANTS.iter().map(entry).collect()
}

/// All schemes of a node.
///
/// # Errors
/// [`schemes::read`]'s.
pub fn schemes(workspace: &Workspace) -> Result<Vec<SchemeEntry>, LabError> {
    let entry = |scheme: schemes::Scheme| SchemeEntry {
        scheme: scheme.name,
        kind: scheme.kind,
        security_bits: scheme.security_bits,
        bytes: scheme.bytes,
        ops: scheme.ops.join(" "),
        what: scheme.what,
    };
    Ok(schemes::read(workspace)?.into_iter().map(entry).collect())
}

/// All papers that can be reproduced.
///
/// # Errors
/// [`LabError::File`] or [`LabError::BadFile`] for a paper's file.
pub fn papers(workspace: &Workspace) -> Result<Vec<PaperEntry>, LabError> {
    #[derive(Deserialize)]
    struct Head {
        title: String,
        published_in: String,
    }
    let entry = |paper: String| -> Result<PaperEntry, LabError> {
        let (path, text) = workspace.read(format!("papers/{paper}.toml"))?;
        let Head { title, published_in } =
            toml::from_str(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
        Ok(PaperEntry { paper, title, published_in })
    };
    workspace.names_in("papers")?.into_iter().map(entry).collect()
}

/// All boards that people name in place of a target.
///
/// # Errors
/// [`Workspace::named_boards`]'s and [`Workspace::target`]'s.
pub fn boards(workspace: &Workspace) -> Result<Vec<BoardEntry>, LabError> {
    let mut entries = Vec::new();
    for board in workspace.named_boards()? {
        let target = board.names.first().map(|name| workspace.target(name)).transpose()?;
        let clock_hz = target.map_or(0, |target| target.part.default_clock_hz);
        let clock_hz = board.clock_hz.unwrap_or(clock_hz);
        let (target, supply_v, source) = (board.target, board.supply_v, board.source);
        entries.push(BoardEntry { board: board.names.join(" "), target, clock_hz, supply_v, source });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits<E: Entry>(entries: &[E], least: usize) -> String {
        assert!(entries.len() >= least, "{}", entries.len());
        let table = text(entries, Format::Table, false).expect("a table");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        let csv = text(entries, Format::Csv, false).expect("CSV");
        assert!(csv.lines().count() > least, "{csv}");
        table
    }

    #[test]
    fn lists_have_what_commands_take() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        let names = workspace.target_names().expect("targets");
        let table = fits(&targets(&workspace).expect("targets"), names.len());
        assert!(names.iter().all(|name| table.contains(name)), "{table}");
        let catalogue = Catalogue::read(&workspace).expect("operations");
        let found = operations(&workspace).expect("operations");
        let listed: Vec<&str> = found.iter().map(|entry| entry.op.as_str()).collect();
        assert_eq!(listed, catalogue.names());
        let sha256 = found.iter().find(|entry| entry.op == "sha256").expect("sha256");
        assert!(sha256.targets.contains("mc68hc08") && sha256.variants.starts_with("O0 portable"));
        fits(&found, 50);
        fits(&variants(&workspace).expect("variants"), VARIANTS.len());
        fits(&schemes(&workspace).expect("schemes"), 5);
        fits(&papers(&workspace).expect("papers"), 5);
        assert!(fits(&boards(&workspace).expect("boards"), 5).contains("bluepill"));
    }
}
