//! `wattseal.toml`: what a project builds, what of it is measured, and what that may cost.

use crate::compare::{Figure, Limit};
use crate::measure::Request;
use crate::traces::TraceFiles;
use crate::user_firmware::{Loading, Setup};
use crate::{LabError, names, units};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file's name.
pub const FILE: &str = "wattseal.toml";

/// A project, as its file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Command line for the shell that builds the ELF files.
    pub build: Option<String>,
    /// The rows that growth is compared with.
    #[serde(default = "baseline")]
    pub baseline: PathBuf,
    /// Of every row.
    #[serde(default)]
    limits: Limits,
    firmware: Vec<FirmwareEntry>,
}

fn baseline() -> PathBuf {
    "wattseal-baseline.json".into()
}

/// An ELF file, how it is run, and what it may cost.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirmwareEntry {
    elf: PathBuf,
    target: String,
    /// Address of a raw binary's first byte.
    base: Option<Quantity>,
    /// GNU ld's map of the program.
    map: Option<PathBuf>,
    clock: Option<Quantity>,
    crystal: Option<Quantity>,
    supply: Option<Quantity>,
    #[serde(default)]
    lenient: bool,
    #[serde(default)]
    stop_on_fault: Option<bool>,
    #[serde(default)]
    stub: Vec<String>,
    /// Fuse bytes of an AVR, as `--fuse` has them.
    #[serde(default)]
    fuse: Vec<String>,
    until: Option<String>,
    calls: Option<Quantity>,
    pin: Option<String>,
    marker: Option<String>,
    max_cycles: Option<Quantity>,
    input: Option<PathBuf>,
    uart: Option<String>,
    /// Signals at its pins.
    signals: Option<PathBuf>,
    /// Sleep that nothing ends is its end.
    #[serde(default)]
    ends_asleep: bool,
    /// Functions whose calls are measured, with their limits.
    #[serde(default)]
    functions: BTreeMap<String, Limits>,
    /// Of the intervals of `pin` or `marker`.
    #[serde(default)]
    region: Limits,
    /// Of the whole program.
    #[serde(default)]
    limits: Limits,
}

/// A number, or one with its unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Quantity {
    Whole(i64),
    Fraction(f64),
    Text(String),
}

impl Quantity {
    fn text(&self) -> String {
        match self {
            Quantity::Whole(number) => number.to_string(),
            Quantity::Fraction(number) => number.to_string(),
            Quantity::Text(text) => text.clone(),
        }
    }
}

/// Limits of a row: an absolute figure, or `+1%` more than the baseline.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    cycles: Option<Quantity>,
    flash: Option<Quantity>,
    ram: Option<Quantity>,
    stack: Option<Quantity>,
    energy: Option<Quantity>,
}

impl Limits {
    fn read(&self) -> Result<Vec<(Figure, Limit)>, String> {
        let Limits { cycles, flash, ram, stack, energy } = self;
        let all = [
            (Figure::Cycles, "cycles", cycles),
            (Figure::Flash, "flash", flash),
            (Figure::Ram, "ram", ram),
            (Figure::Stack, "stack", stack),
            (Figure::Energy, "energy", energy),
        ];
        let given = all.into_iter().filter_map(|(figure, key, value)| Some((figure, key, value.as_ref()?)));
        given
            .map(|(figure, key, value)| {
                let limit = Limit::read(figure, &value.text());
                Ok((figure, limit.map_err(|error| format!("limit of {key}: {error}, or +1%"))?))
            })
            .collect()
    }
}

/// Measurement of one ELF file.
pub(super) struct Measurement {
    pub request: Request,
    /// The ELF file, as the project's file has it.
    pub elf: PathBuf,
    /// True if sleep that nothing ends is the run's end.
    pub ends_asleep: bool,
    /// Of each row, of the whole program, and of a region.
    pub general: Vec<(Figure, Limit)>,
    pub program: Vec<(Figure, Limit)>,
    pub region: Vec<(Figure, Limit)>,
    /// Of each function, by the name that the project's file has.
    pub functions: BTreeMap<String, Vec<(Figure, Limit)>>,
}

impl Project {
    /// Reads the project's file.
    ///
    /// # Errors
    /// [`LabError::File`] for one that cannot be read, [`LabError::Usage`] for one that says what
    /// cannot be, with its line.
    pub fn read(path: &Path) -> Result<Project, LabError> {
        let text =
            std::fs::read_to_string(path).map_err(|error| LabError::File { path: path.into(), error })?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            LabError::Usage(format!("{}:{line}: {}", path.display(), explained(error.message())))
        })
    }

    /// Returns the project's measurements; `folder` is that of the project's file.
    pub(super) fn measurements(&self, path: &Path, folder: &Path) -> Result<Vec<Measurement>, LabError> {
        let of_entry = |entry: &FirmwareEntry| {
            let said =
                |problem| LabError::Usage(format!("{}: {}: {problem}", path.display(), entry.elf.display()));
            self.measurement(entry, folder).map_err(said)
        };
        self.firmware.iter().map(of_entry).collect()
    }

    fn measurement(&self, entry: &FirmwareEntry, folder: &Path) -> Result<Measurement, String> {
        let functions: Result<_, String> = entry
            .functions
            .iter()
            .map(|(name, limits)| {
                Ok((name.clone(), limits.read().map_err(|error| format!("{name}: {error}"))?))
            })
            .collect();
        let fuses: Result<_, String> = entry.fuse.iter().map(|text| text.parse()).collect();
        let base = quantity("base", &entry.base, units::address)?;
        let setup = Setup {
            elf: folder.join(&entry.elf),
            loading: Loading { base, map: entry.map.as_ref().map(|map| folder.join(map)) },
            target: match entry.target.ends_with(".toml") {
                true => folder.join(&entry.target).to_string_lossy().into_owned(),
                false => entry.target.clone(),
            },
            clock_hz: quantity("clock", &entry.clock, units::frequency)?,
            crystal_hz: quantity("crystal", &entry.crystal, units::frequency)?,
            supply_v: quantity("supply", &entry.supply, units::volts)?,
            lenient: entry.lenient,
            beside: Vec::new(),
            stop_on_fault: entry.stop_on_fault.unwrap_or(true),
            stubs: entry.stub.clone(),
            fuses: fuses.map_err(|error| format!("fuse: {error}"))?,
            signals: entry.signals.as_ref().map(|path| folder.join(path)),
        };
        let request = Request {
            setup,
            functions: entry.functions.keys().cloned().collect(),
            until: entry.until.clone(),
            calls: quantity("calls", &entry.calls, units::count)?,
            pin: entry.pin.clone(),
            marker: entry.marker.clone(),
            max_cycles: quantity("max_cycles", &entry.max_cycles, units::count)?.unwrap_or(MAX_CYCLES),
            flamegraph: None,
            traces: TraceFiles::default(),
            listing: None,
            input: entry.input.as_ref().map(|path| folder.join(path)),
            uart: entry.uart.clone(),
        };
        Ok(Measurement {
            request,
            elf: entry.elf.clone(),
            ends_asleep: entry.ends_asleep,
            general: self.limits.read()?,
            program: entry.limits.read()?,
            region: entry.region.read().map_err(|error| format!("region: {error}"))?,
            functions: functions?,
        })
    }
}

/// The most cycles of a run where nothing is said, as of `measure`.
const MAX_CYCLES: u64 = 1_000_000_000;

fn quantity<T>(
    key: &str,
    value: &Option<Quantity>,
    read: fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    value.as_ref().map(|value| read(&value.text()).map_err(|error| format!("{key}: {error}"))).transpose()
}

/// Explains a message of toml; for an unknown key, serde's list of known ones becomes the nearest.
fn explained(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(unknown) if message.starts_with("unknown field") => {
            format!("there is no key '{unknown}'{}", names::suggestion(unknown, quoted))
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let folder = std::env::temp_dir().join(format!("wattseal-project-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{}.toml", text.len()));
        std::fs::write(&path, text).unwrap();
        let error = Project::read(&path)
            .and_then(|project| project.measurements(&path, &folder).map(drop))
            .unwrap_err();
        assert!(error.is_usage());
        let path = path.display().to_string();
        error.to_string().replace(&path, "wattseal.toml")
    }

    #[test]
    fn project_error_names_line_and_nearest_key() {
        let one = "[[firmware]]\nelf = \"a.elf\"\ntarget = \"stm32f407\"\n";
        assert_eq!(
            problem(&one.replace("target", "tagret")),
            "wattseal.toml:3: there is no key 'tagret'; did you mean target?"
        );
        let key = problem(&format!("{one}limits = {{ cycels = 5 }}\n"));
        assert_eq!(key, "wattseal.toml:4: there is no key 'cycels'; did you mean cycles?");
        assert!(problem("build = \"make\"").contains("missing field `firmware`"));
        let limit = problem(&format!("{one}[firmware.functions.seal]\nenergy = 5\n"));
        assert!(limit.contains("a.elf: seal: limit of energy: '5' is not an energy: write 2mJ"), "{limit}");
        let growth = problem(&format!("[limits]\ncycles = \"+1\"\n{one}"));
        assert!(growth.contains("limit of cycles: '1' is not a growth: write 1%"), "{growth}");
        let clock = problem(&format!("{one}clock = \"fast\"\n"));
        assert!(clock.contains("clock: 'fast' is not a frequency"), "{clock}");
        let calls = problem(&format!("{one}calls = 0\n"));
        assert!(calls.contains("calls: '0' is not above 0"), "{calls}");
    }
}
