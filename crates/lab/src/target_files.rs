//! Target files as they are read: the project's, their sisters, and a user's own.

use crate::accuracy::{self, Accuracy};
use crate::energy_accuracy::{self, EnergyAccuracy};
use crate::files::Files;
use crate::sister::Sister;
use crate::target::{Planning, Target};
use crate::workspace::Workspace;
use crate::{LabError, names};
use energy::Supply;
use firmware::Toolchain;
use mcu::Part;
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct LabFile {
    toolchain: Option<Toolchain>,
    #[serde(default)]
    plan: Planning,
    accuracy: Vec<Accuracy>,
    #[serde(rename = "sister", default)]
    sisters: Vec<Sister>,
    #[serde(default)]
    energy_accuracy: Vec<EnergyAccuracy>,
}

impl Workspace {
    /// Returns the targets that operations are built for, of those asked for by name, pattern, file
    /// or folder, otherwise of all.
    ///
    /// # Errors
    /// [`Workspace::target`]'s; [`Target::toolchain`]'s for one asked for by its name, and where
    /// nothing else is asked for.
    pub fn targets_with_operations(&self, asked: &[String]) -> Result<Vec<Target>, LabError> {
        let known = self.target_names()?;
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let (own, named): (Vec<&String>, Vec<&String>) = asked.iter().partition(|name| is_file(name));
        let named: Vec<String> = named.into_iter().cloned().collect();
        let (mut boards, mut others) = (Vec::new(), Vec::new());
        for name in named {
            let is_board = !known.contains(&name.as_str()) && self.named_board(&name)?.is_some();
            if is_board { boards.push(name) } else { others.push(name) }
        }
        let named = others;
        for name in &named {
            if !known.contains(&name.as_str()) && self.sister(name)?.is_some() {
                self.target(name)?.toolchain()?;
            }
        }
        let mut names = own_files(&own)?;
        names.extend(boards);
        if !named.is_empty() || names.is_empty() {
            names.extend(names::select("target", &named, &known)?.into_iter().map(str::to_owned));
        }
        let mut targets = Vec::new();
        let mut unbuilt = None;
        for name in names {
            let target = self.target(&name)?;
            match target.toolchain() {
                Ok(_) => targets.push(target),
                Err(error) if asked.contains(&name) => return Err(error),
                Err(error) => unbuilt = Some(error),
            }
        }
        unbuilt.filter(|_| targets.is_empty()).map_or(Ok(targets), Err)
    }

    /// One target by its exact name, or by the path of its file, calibrated where
    /// [`Workspace::calibrated`] says so.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest names; [`LabError::BadFile`] for a malformed
    /// target file.
    pub fn target(&self, name: &str) -> Result<Target, LabError> {
        if is_file(name) {
            return self.own_target(Path::new(name));
        }
        let mut base = name.to_owned();
        if !self.target_names()?.contains(&base) {
            if let Some(board) = self.named_board(name)? {
                return board.on(self.target(&board.target)?);
            }
            base = self.sister(name)?.ok_or_else(|| self.no_target(name).unwrap_or_else(|error| error))?.0;
        }
        let (path, text) = self.read(format!("targets/{base}.toml"))?;
        self.target_from(None, Some(name).filter(|name| *name != base), path, text)
    }

    /// The target of a user's own file.
    fn own_target(&self, path: &Path) -> Result<Target, LabError> {
        if path.is_dir() {
            let said = format!("{} is a folder; name one of the target files in it", path.display());
            return Err(LabError::Usage(said));
        }
        let text =
            std::fs::read_to_string(path).map_err(|error| LabError::File { path: path.into(), error })?;
        let target = self.target_from(Some(path.into()), None, path.into(), text)?;
        // Folders of what is built for it are named after it.
        let is_name = |text: &str| {
            let rest = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            rest && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        if !is_name(target.name()) {
            let problem =
                format!("name = \"{}\": a name has letters, digits, '-', '_' and '.'", target.name());
            return Err(LabError::BadFile { path: path.into(), problem });
        }
        Ok(target)
    }

    fn target_from(
        &self,
        own_file: Option<PathBuf>,
        sister: Option<&str>,
        path: PathBuf,
        text: String,
    ) -> Result<Target, LabError> {
        let bad = |problem: String| LabError::BadFile { path: path.clone(), problem };
        let own: LabFile = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let mut target = Target {
            part: Part::from_toml(&text).map_err(|error| bad(error.to_string()))?,
            supply: Supply::from_toml(&text).map_err(|error| bad(error.to_string()))?,
            toolchain: own.toolchain,
            planning: own.plan,
            accuracy: own.accuracy,
            energy_accuracy: own.energy_accuracy,
            own_file,
            sister_of: None,
            differs: None,
            text: text.into(),
        };
        let named = sister.and_then(|name| {
            Some((name, own.sisters.iter().find(|one| one.names.iter().any(|n| n == name))?))
        });
        if let Some((name, sister)) = named {
            target.sister_of = Some(target.part.name.clone());
            target.differs.clone_from(&sister.differs);
            sister.put_on(name, &mut target.part).map_err(bad)?;
        }
        accuracy::check(&target.accuracy, &target.part).map_err(bad)?;
        energy_accuracy::check(&target.energy_accuracy, &target.supply).map_err(bad)?;
        if let Some(calibration) = &self.calibration {
            calibration.put_on(&mut target)?;
        }
        Ok(target)
    }
}

/// Returns true if the argument is a target's file, or a folder of such, and no name.
fn is_file(asked: &str) -> bool {
    asked.contains('/') || asked.ends_with(".toml")
}

/// The files that are asked for by themselves, or by their folder.
fn own_files(asked: &[&String]) -> Result<Vec<String>, LabError> {
    let mut files = Vec::new();
    for asked in asked {
        let path = Path::new(asked.as_str());
        if !path.is_dir() {
            files.push(asked.to_string());
            continue;
        }
        let names = Files::Folder(path.into()).names("", ".toml");
        let names = names.map_err(|error| LabError::File { path: path.into(), error })?;
        if names.is_empty() {
            return Err(LabError::Usage(format!(
                "{} has no target files, whose names end in .toml",
                path.display()
            )));
        }
        files.extend(
            names.iter().map(|name| path.join(format!("{name}.toml")).to_string_lossy().into_owned()),
        );
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use crate::target::Target;
    use crate::workspace::Workspace;

    /// The machine of every target begins at its own supply, or at the one that was asked for.
    #[test]
    fn machine_has_the_supply_of_its_target() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        for name in workspace.target_names().expect("targets") {
            let mut target = workspace.target(&name).expect("a target");
            let (default_v, max_v, min_v) =
                (target.supply.default_v, target.supply.max_v, target.supply.min_v());
            let supply_v = |target: &Target| {
                let machine = mcu::new_machine(&target.part, target.part.default_clock_hz);
                machine.map(|machine| machine.board().supply_v)
            };
            assert_eq!(supply_v(&target), Ok(default_v), "{name}");
            assert_eq!(target.set_supply(Some(max_v)).ok(), Some(max_v), "{name}");
            assert_eq!(supply_v(&target), Ok(max_v), "{name}");
            assert!(target.set_supply(Some(min_v / 2.0)).is_err(), "{name}");
            assert_eq!(target.set_supply(None).ok(), Some(default_v), "{name}");
            assert_eq!(supply_v(&target), Ok(default_v), "{name}");
        }
    }

    /// In a project with two targets, of which one has no toolchain.
    #[test]
    fn a_pattern_passes_over_targets_that_nothing_is_built_for() {
        let ours = Workspace::find().expect("the tests run inside the project");
        let root = std::env::temp_dir().join(format!("wattseal-targets-{}", std::process::id()));
        std::fs::create_dir_all(root.join("targets")).expect("a folder");
        std::fs::create_dir_all(root.join("device")).expect("a folder");
        std::fs::copy(ours.root().expect("a folder").join("device/ops.toml"), root.join("device/ops.toml"))
            .expect("a copy");
        for name in ["r8c", "rp2040"] {
            let text = ours.read(format!("targets/{name}.toml")).expect("a target file").1;
            let (before, table) = text.split_once("[toolchain]").expect("a toolchain");
            let after = table.split_once("\n\n").expect("a table after it").1;
            let without = format!("{before}{after}");
            let text = if name == "rp2040" { without } else { text };
            std::fs::write(root.join(format!("targets/{name}.toml")), text).expect("a copy");
        }
        let workspace = Workspace::at(&root).expect("a project");
        let asked = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let targets = workspace.targets_with_operations(&names).map_err(|error| error.to_string())?;
            Ok::<_, String>(targets.iter().map(|target| target.name().to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(asked(&["r[pz8]*"]).unwrap(), ["r8c"]);
        for refused in [&["rp2040"][..], &["rp*"], &["r8c", "rp2040"]] {
            let error = asked(refused).unwrap_err();
            assert!(error.contains("targets/rp2040.toml has no [toolchain]"), "{error}");
        }
        std::fs::remove_dir_all(&root).expect("a folder");
    }
}
