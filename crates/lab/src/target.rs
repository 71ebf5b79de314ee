//! The target files, and where the project's files are.

use crate::accuracy::Accuracy;
use crate::calibration::Calibrated;
use crate::energy_accuracy::{self, EnergyAccuracy};
use crate::files::{Embedded, Files};
use crate::origin::Origin;
use crate::result_cache::Content;
use crate::{LabError, cache, names};
use energy::radio::Radio;
use energy::{Fetch, SleepMode, Supply};
use firmware::{Firmware, Source, Toolchain};
use mcu::{MemoryKind, Part};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The `[plan]` table of a target file: what a plan chooses from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planning {
    /// Clocks, rising, in MHz: those that start-up makes or crystals have; the target's own where
    /// there is none.
    pub clocks_mhz: Vec<f64>,
    /// The sleep mode of `[[supply.sleep]]` in which it waits for its next message.
    #[serde(default)]
    pub sleep: Option<String>,
    /// Names of `[[supply.module]]` that run on in it.
    #[serde(default)]
    pub modules: Vec<String>,
}

/// A microcontroller with all that its target file says.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its file, where that is none of the project's.
    pub own_file: Option<PathBuf>,
    /// The target that it is a sister of, in whose file it stands.
    pub sister_of: Option<String>,
    /// Differences of that sister from the target beyond the model.
    pub differs: Option<String>,
    /// Text of its file.
    pub text: Arc<str>,
    /// For the processor models.
    pub part: Part,
    /// For cycles that become joules.
    pub supply: Supply,
    /// For building firmware, where the project builds any for it.
    pub toolchain: Option<Toolchain>,
    /// For choosing a clock.
    pub planning: Planning,
    /// Bounds on the model's cycles against the part's.
    pub accuracy: Vec<Accuracy>,
    /// Bounds on energies against the part's beside that, by clock.
    pub energy_accuracy: Vec<EnergyAccuracy>,
}

impl Target {
    /// Its name, as on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.part.name
    }

    /// Path of its file in messages.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        let base = self.sister_of.as_deref().unwrap_or(self.name());
        self.own_file.clone().unwrap_or_else(|| format!("targets/{base}.toml").into())
    }

    /// Returns the toolchain of firmware for it.
    ///
    /// # Errors
    /// [`LabError::Usage`] where there is none.
    pub fn toolchain(&self) -> Result<&Toolchain, LabError> {
        if let Some(base) = &self.sister_of {
            return Err(LabError::Usage(format!(
                "{} is a sister of {base}, on which operations take the same cycles: give --target {base} for them; \
                 'wattseal measure FIRMWARE.elf --target {}' runs firmware of yours",
                self.name(),
                self.name()
            )));
        }
        self.toolchain.as_ref().ok_or_else(|| {
            let file = self.file();
            let asked = self.own_file.as_ref().map_or(self.name().into(), |own| own.to_string_lossy());
            LabError::Usage(format!(
                "{} has no [toolchain]: no operation is built for it; \
                 'wattseal measure FIRMWARE.elf --target {asked}' runs firmware of yours",
                file.display()
            ))
        })
    }

    /// Sets the supply of every machine of this target, in volts; its default where none is asked
    /// for. Says which one it is.
    ///
    /// # Errors
    /// [`LabError::Supply`] with the limits.
    pub fn set_supply(&mut self, supply_v: Option<f64>) -> Result<f64, LabError> {
        let supply_v = supply_v.unwrap_or(self.supply.default_v);
        let allowed = self.supply.check_supply(supply_v);
        allowed.map_err(|error| LabError::Supply { target: self.name().into(), error })?;
        self.part.supply_v = supply_v;
        Ok(supply_v)
    }

    /// Checks a clock and a supply against the data sheet, and fills in what was not asked for.
    ///
    /// # Errors
    /// [`LabError::Supply`] with the limits.
    pub fn operating_point(
        &self,
        clock_hz: Option<u64>,
        supply_v: Option<f64>,
    ) -> Result<OperatingPoint, LabError> {
        let clock_hz = clock_hz.unwrap_or(self.part.default_clock_hz);
        let supply_v = supply_v.unwrap_or(self.supply.default_v);
        let refuse = |error| LabError::Supply { target: self.name().into(), error };
        let power_w = self.supply.power_w(clock_hz as f64, supply_v).map_err(refuse)?;
        let wait_states = self.part.wait_states(clock_hz, supply_v).ok_or_else(|| {
            LabError::Usage(format!(
                "{}: the flash has no wait states for {} MHz at {supply_v} V; lower the clock or raise the supply",
                self.name(),
                clock_hz as f64 / 1e6
            ))
        })?;
        Ok(OperatingPoint { clock_hz, supply_v, wait_states, power_w })
    }

    /// Current while it waits for its next message, in amperes: the sleep mode of the `[plan]`
    /// table and the modules that run on in it. None where the file names no mode.
    #[must_use]
    pub fn waiting_a(&self, clock_hz: f64, supply_v: f64) -> Option<f64> {
        let mode = self.supply.sleep(self.planning.sleep.as_deref()?)?;
        let modules = self.planning.modules.iter().filter_map(|name| self.supply.module(name));
        Some(self.asleep_a(mode, clock_hz, supply_v) + modules.map(|module| module.current_a).sum::<f64>())
    }

    /// Current while its core sleeps in the mode of this name, at a clock at which it draws
    /// `active_a` running.
    #[must_use]
    pub fn sleeping(&self, mode: &str, clock_hz: f64, supply_v: f64, active_a: f64) -> Sleeping {
        let Some(mode) = self.supply.sleep(mode) else {
            return Sleeping { current_a: active_a, is_bound: true };
        };
        let current_a = self.asleep_a(mode, clock_hz, supply_v);
        if mode.is_known_at(clock_hz) {
            return Sleeping { current_a, is_bound: false };
        }
        // Of one clock: a slower one draws no more, of a faster one nothing is known.
        let is_slower = mode.clock_hz.is_some_and(|measured_hz| clock_hz < measured_hz);
        let bound_a = if is_slower { current_a.min(active_a) } else { active_a };
        Sleeping { current_a: bound_a, is_bound: true }
    }

    /// Current in a sleep mode that it enters from this clock, in amperes.
    #[must_use]
    fn asleep_a(&self, mode: &SleepMode, clock_hz: f64, supply_v: f64) -> f64 {
        let level =
            self.supply.levels.iter().position(|level| level.name == self.supply.level(clock_hz).name);
        match level.filter(|_| !mode.by_level_a.is_empty()) {
            Some(level) => mode.current_at_level(level),
            None => mode.current_at(clock_hz, supply_v),
        }
    }

    /// Bound on the cycles of code at an address.
    #[must_use]
    pub fn accuracy_at(&self, address: u32) -> &Accuracy {
        let memory = self.part.memory_at(address).map(|memory| memory.name.as_str());
        let general = self.accuracy.iter().position(Accuracy::is_general);
        let named = self
            .accuracy
            .iter()
            .position(|accuracy| memory.is_some() && accuracy.memory.as_deref() == memory);
        // A target file without a general entry is refused.
        &self.accuracy[named.or(general).unwrap_or_default()]
    }

    /// As [`Target::accuracy_at`], of code that computes at this clock and supply throughout.
    #[must_use]
    pub fn accuracy_of_computation(&self, address: u32, point: &OperatingPoint) -> &Accuracy {
        let at_address = self.accuracy_at(address);
        if !at_address.is_general() {
            return at_address;
        }
        let mut accuracies = self.accuracy.iter();
        let without_waits =
            accuracies.find(|accuracy| accuracy.without_wait_states && point.wait_states == 0);
        let of_computation = || self.accuracy.iter().find(|accuracy| accuracy.computation);
        without_waits.or_else(of_computation).unwrap_or(at_address)
    }

    /// Bound on energies at a clock beside that of their cycles.
    #[must_use]
    pub fn energy_accuracy_at(&self, clock_hz: f64) -> EnergyAccuracy {
        energy_accuracy::at(&self.energy_accuracy, clock_hz)
    }

    /// Returns the currents of code at an address: RAM's if it is there and the data sheet tells
    /// them apart.
    #[must_use]
    pub fn fetch_at(&self, address: u32) -> Fetch {
        let kind = self.part.memory_at(address).map(|memory| memory.kind);
        let is_ram = matches!(kind, Some(MemoryKind::Ram | MemoryKind::Tcm));
        if is_ram && self.supply.tells_ram_apart() { Fetch::Ram } else { Fetch::Flash }
    }

    /// Returns the currents of a program: those of code at its first function.
    #[must_use]
    pub fn fetch_of(&self, firmware: &Firmware) -> Fetch {
        self.fetch_at(firmware.functions().first().map_or(0, |function| function.address))
    }

    /// Bound on the cycles of programs that use the floating-point unit, where that is told apart.
    #[must_use]
    pub fn accuracy_in_float(&self) -> Option<&Accuracy> {
        self.accuracy.iter().find(|accuracy| accuracy.floating_point)
    }

    /// Bound on the cycles of programs with the flash's instruction cache off, where that is told
    /// apart.
    #[must_use]
    pub fn accuracy_uncached(&self) -> Option<&Accuracy> {
        self.accuracy.iter().find(|accuracy| accuracy.uncached)
    }

    /// Duration of one cycle of its model, in seconds.
    #[must_use]
    pub fn seconds_per_cycle(&self, point: &OperatingPoint) -> f64 {
        f64::from(self.part.clocks_per_cycle) / point.clock_hz as f64
    }
}

/// Current of a part asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleeping {
    /// In amperes.
    pub current_a: f64,
    /// The target file has no current of the mode at the clock: this is an upper bound, the active
    /// current or what the mode draws at a faster clock.
    pub is_bound: bool,
}

/// A clock and a supply that go together, with what follows from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoint {
    /// Core clock, in Hz.
    pub clock_hz: u64,
    pub supply_v: f64,
    /// Flash wait states that the firmware sets.
    pub wait_states: u8,
    /// Active power, in watts.
    pub power_w: f64,
}

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
}
