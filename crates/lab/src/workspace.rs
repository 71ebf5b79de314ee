//! The project's files, and where its results are kept.

use crate::calibration::Calibrated;
use crate::files::{Embedded, Files};
use crate::origin::Origin;
use crate::result_cache::Content;
use crate::target::{OperatingPoint, Target};
use crate::{LabError, cache, names};
use energy::Calibration;
use energy::radio::Radio;
use firmware::Source;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The project: its data, the sources of its firmware, where what is built of them is kept; and
/// what corrects its targets.
#[derive(Clone, Debug)]
pub struct Workspace {
    files: Files,
    /// Once they are needed.
    root: OnceLock<PathBuf>,
    cache: OnceLock<PathBuf>,
    origin: OnceLock<Origin>,
    asked_cache: Option<PathBuf>,
    pub(crate) calibration: Option<Calibrated>,
}

impl Workspace {
    /// Finds it: `WATTSEAL_HOME`, else the first folder from here upwards that has `targets` and
    /// `device`.
    ///
    /// # Errors
    /// [`LabError::Usage`] where there is none.
    pub fn find() -> Result<Workspace, LabError> {
        Workspace::clone_around()?.ok_or_else(|| {
            LabError::Usage(
                "not inside a clone of the project; run ./wattseal there, or set WATTSEAL_HOME".into(),
            )
        })
    }

    /// Finds it as [`Workspace::find`] does; where there is none it is what this program has in
    /// itself.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a `WATTSEAL_HOME` that is none.
    pub fn find_or(embedded: Embedded) -> Result<Workspace, LabError> {
        let own = || Workspace::of(Files::Program(embedded));
        Ok(Workspace::clone_around()?.unwrap_or_else(own))
    }

    fn clone_around() -> Result<Option<Workspace>, LabError> {
        if let Some(home) = std::env::var_os("WATTSEAL_HOME") {
            let root = PathBuf::from(home);
            let given = Workspace::at(&root).ok_or_else(|| {
                LabError::Usage(format!(
                    "WATTSEAL_HOME is {}, which has no targets/ and device/; point it at a clone of the project",
                    root.display()
                ))
            });
            return given.map(Some);
        }
        let here = std::env::current_dir().map_err(|error| LabError::File { path: ".".into(), error })?;
        Ok(here.ancestors().find_map(Workspace::at))
    }

    /// The one in this folder; none where it has no `targets` and no `device`.
    #[must_use]
    pub fn at(root: &Path) -> Option<Workspace> {
        let is_one = root.join("targets").is_dir() && root.join("device/ops.toml").is_file();
        is_one.then(|| Workspace::of(Files::Folder(root.to_path_buf())))
    }

    fn of(files: Files) -> Workspace {
        Workspace {
            files,
            root: OnceLock::new(),
            cache: OnceLock::new(),
            origin: OnceLock::new(),
            asked_cache: None,
            calibration: None,
        }
    }

    /// The same one, which keeps what is built and measured in this folder; in its own where none
    /// is given.
    #[must_use]
    pub fn cached_in(mut self, folder: Option<PathBuf>) -> Workspace {
        self.asked_cache = folder;
        self
    }

    /// The project's folder; where it is in the program, that is unpacked into the cache.
    ///
    /// # Errors
    /// [`Workspace::cache`]'s; [`LabError::File`] where it cannot be unpacked.
    pub fn root(&self) -> Result<&Path, LabError> {
        if let Some(root) = self.root.get() {
            return Ok(root);
        }
        let root = match &self.files {
            Files::Folder(root) => root.clone(),
            Files::Program(embedded) => {
                let mut content = Content::new();
                for (name, contents) in embedded.0 {
                    content.bytes(name.as_bytes());
                    content.bytes(contents);
                }
                let root = self.cache()?.join("project").join(&content.name()[..16]);
                embedded.unpack(&root).map_err(|error| LabError::File { path: root.clone(), error })?;
                root
            }
        };
        Ok(self.root.get_or_init(|| root))
    }

    /// The project's folder; none where the project is in the program.
    fn folder(&self) -> Option<&Path> {
        match &self.files {
            Files::Folder(root) => Some(root),
            Files::Program(_) => None,
        }
    }

    /// This program and the commit of the project's folder.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        self.origin.get_or_init(|| Origin::of(self.folder()))
    }

    /// Folder of built firmware and measured figures.
    ///
    /// # Errors
    /// [`LabError::Unfinished`] where there is no such folder that can be written.
    pub fn cache(&self) -> Result<&Path, LabError> {
        if let Some(cache) = self.cache.get() {
            return Ok(cache);
        }
        let folder = match (&self.asked_cache, &self.files) {
            (Some(folder), _) => folder.clone(),
            (None, Files::Folder(root)) => cache::folder(Some(root))?,
            (None, Files::Program(_)) => cache::folder(None)?,
        };
        let folder = cache::prepare(folder)?;
        Ok(self.cache.get_or_init(|| folder))
    }

    /// Folder of measured figures.
    ///
    /// # Errors
    /// [`Workspace::cache`]'s.
    pub fn figures_cache(&self) -> Result<PathBuf, LabError> {
        Ok(self.cache()?.join("figures"))
    }

    /// Reads a file of the project; returns its path in messages and its contents.
    ///
    /// # Errors
    /// [`LabError::File`] where it cannot be read.
    pub fn read(&self, file: impl AsRef<Path>) -> Result<(PathBuf, String), LabError> {
        let path = self.files.path(file.as_ref());
        match self.files.read(file.as_ref()) {
            Ok(text) => Ok((path, text)),
            Err(error) => Err(LabError::File { path, error }),
        }
    }

    /// Reads a user's file, or the project's where the user has none of that name; returns its path
    /// in messages and its contents.
    ///
    /// # Errors
    /// [`LabError::File`] where it cannot be read.
    pub fn read_own(&self, file: &Path) -> Result<(PathBuf, String), LabError> {
        if !file.exists() && self.files.has(file) {
            return self.read(file);
        }
        let text =
            std::fs::read_to_string(file).map_err(|error| LabError::File { path: file.into(), error })?;
        Ok((file.into(), text))
    }

    /// Returns true if the project has a file.
    #[must_use]
    pub fn has(&self, file: impl AsRef<Path>) -> bool {
        self.files.has(file.as_ref())
    }

    /// Returns the sources of firmware for a target at an operating point.
    ///
    /// # Errors
    /// [`Target::toolchain`]'s, [`Workspace::root`]'s.
    pub fn source<'a>(&'a self, target: &'a Target, point: &OperatingPoint) -> Result<Source<'a>, LabError> {
        Ok(Source {
            root: self.root()?,
            cache: self.cache()?,
            target: target.name(),
            target_file: target.own_file.as_deref(),
            toolchain: target.toolchain()?,
            board: None,
            clock_hz: point.clock_hz,
            wait_states: point.wait_states,
        })
    }

    /// The names of all targets, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] where the folder cannot be read.
    pub fn target_names(&self) -> Result<Vec<String>, LabError> {
        self.names_in("targets")
    }

    /// The names of the TOML files in a folder of the project, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] where the folder cannot be read.
    pub fn names_in(&self, folder: &str) -> Result<Vec<String>, LabError> {
        self.names_ending(folder, ".toml")
    }

    /// The names of a folder's files that end so, without that end, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] where the folder cannot be read.
    pub fn names_ending(&self, folder: &str, end: &str) -> Result<Vec<String>, LabError> {
        let failed = |error| LabError::File { path: self.files.path(Path::new(folder)), error };
        self.files.names(folder, end).map_err(failed)
    }

    /// One radio by its exact name.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest names; [`LabError::BadFile`] for a malformed
    /// file.
    pub fn radio(&self, name: &str) -> Result<Radio, LabError> {
        let known = self.names_in("radios")?;
        if !known.iter().any(|candidate| candidate == name) {
            let suggestion = names::suggestion(name, known.iter().map(String::as_str));
            return Err(LabError::UnknownName { what: "radio", name: name.into(), suggestion });
        }
        let (path, text) = self.read(format!("radios/{name}.toml"))?;
        Radio::from_toml(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })
    }

    /// The same workspace, with a target's active current corrected by a calibration file.
    ///
    /// # Errors
    /// [`LabError::File`] where it cannot be read. [`LabError::BadFile`] where it is malformed,
    /// contradicts the data sheet or leaves it. [`LabError::UnknownName`] for a target that does
    /// not exist.
    pub fn calibrated(mut self, path: &Path) -> Result<Workspace, LabError> {
        let (path, text) = self.read_own(path)?;
        self.calibration = Some(self.fitted(path, &text)?);
        Ok(self)
    }

    /// Reads a calibration file's text, and fits it to its target.
    pub(crate) fn fitted(&self, path: PathBuf, text: &str) -> Result<Calibrated, LabError> {
        let file = Calibration::from_toml(text)
            .map_err(|error| LabError::BadFile { path: path.clone(), problem: error.to_string() })?;
        let known = self.target_names()?;
        if !known.contains(&file.target) {
            let suggestion = names::suggestion(&file.target, known.iter().map(String::as_str));
            let problem = format!("there is no target '{}'{suggestion}", file.target);
            return Err(LabError::BadFile { path, problem });
        }
        let supply = self.uncalibrated().target(&file.target)?.supply;
        Calibrated::fit(path, file, &supply)
    }

    /// The same workspace with the data sheets' currents.
    #[must_use]
    pub fn uncalibrated(&self) -> Workspace {
        let mut workspace = self.clone();
        workspace.calibration = None;
        workspace
    }

    /// The calibration that its targets are corrected by.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibrated> {
        self.calibration.as_ref()
    }

    /// Refuses a calibration of none of these targets, which would do nothing without a word.
    ///
    /// # Errors
    /// [`LabError::Usage`] with the target that it is of.
    pub fn calibration_is_of<'a>(&self, targets: impl IntoIterator<Item = &'a str>) -> Result<(), LabError> {
        let Some(Calibrated { path, file, .. }) = &self.calibration else { return Ok(()) };
        if targets.into_iter().any(|name| name == file.target) {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{} calibrates {}, which is not asked for; add --target {} or leave --calibration out",
            path.display(),
            file.target,
            file.target
        )))
    }
}
