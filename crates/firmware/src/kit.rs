//! Surroundings of a function of a user's own: start-up, linker script, and how the target's
//! compiler is called. `device/Makefile` makes it once for a target and a clock.

use crate::FirmwareError;
use crate::build::{Source, compiler, content_key, lock, make_failed, require};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variant of start-up, which is the same in all.
const VARIANT: &str = "portable";

/// Start-up of a target, and its compiler.
#[derive(Clone, Debug)]
pub struct Kit {
    /// The folder with objects and linker script.
    pub folder: PathBuf,
    /// The C compiler's command.
    pub compiler: String,
    /// Its flags for compiling.
    pub flags: Vec<String>,
    /// Its flags for linking.
    pub link: Vec<String>,
    /// The libraries that it brings.
    pub libraries: Vec<String>,
    /// Ends of areas and memories for code, as `sdld-check.awk` takes them.
    pub areas: Option<(String, String)>,
}

impl Kit {
    /// Builds it where it is not there yet.
    ///
    /// # Errors
    /// [`FirmwareError::MissingTool`] for a compiler that is not installed,
    /// [`FirmwareError::Build`] with what it said.
    pub fn build(source: &Source<'_>) -> Result<Kit, FirmwareError> {
        let compiler = compiler(source)?;
        require("make")?;
        let out = source.cache().join(content_key(source, &compiler)?);
        let place = out.join(source.target).join(VARIANT);
        let folder = place.join(format!("kit-{}-{}", source.clock_hz, source.wait_states));
        let _building = lock(&place)?;
        if !folder.join("kit").is_file() {
            make(source, &out, &folder)?;
        }
        Kit::read(folder)
    }

    fn read(folder: PathBuf) -> Result<Kit, FirmwareError> {
        let path = folder.join("kit");
        let text = std::fs::read_to_string(&path).map_err(|error| FirmwareError::File { path, error })?;
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim())
        };
        let words = |name: &str| {
            field(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let areas = field("code").map(|code| (field("ends").unwrap_or_default().into(), code.into()));
        let mut flags = words("flags");
        let include = folder.join("include");
        if include.is_dir() {
            flags.extend(["-isystem".into(), include.display().to_string()]);
        }
        Ok(Kit {
            compiler: field("compiler").unwrap_or_default().into(),
            flags,
            link: words("link"),
            libraries: words("libraries"),
            areas,
            folder,
        })
    }

    /// Returns true if the compiler is sdcc, which has formats and an option of its own for each
    /// thing.
    #[must_use]
    pub fn is_sdcc(&self) -> bool {
        self.areas.is_some()
    }

    /// The start-up's objects.
    ///
    /// # Errors
    /// [`FirmwareError::File`] where the folder cannot be read.
    pub fn objects(&self) -> Result<Vec<PathBuf>, FirmwareError> {
        let failed = |error| FirmwareError::File { path: self.folder.clone(), error };
        let mut objects = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "o" || extension == "rel") {
                objects.push(path);
            }
        }
        objects.sort();
        Ok(objects)
    }
}

fn make(source: &Source<'_>, out: &Path, folder: &Path) -> Result<(), FirmwareError> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| FirmwareError::File { path: path.into(), error })
    };
    let target_file = source.target_file.map(absolute).transpose()?;
    let output = Command::new("make")
        .arg("--directory")
        .arg(source.root.join("device"))
        .args(["--no-print-directory", "APP=call"])
        .arg(format!("TARGET={}", source.target))
        .arg(format!("VARIANT={VARIANT}"))
        .arg(format!("CLOCK={}", source.clock_hz))
        .arg(format!("WAIT_STATES={}", source.wait_states))
        .arg(format!("OUT={}", absolute(out)?.display()))
        .arg(format!("KIT={}", absolute(folder)?.display()))
        .args(target_file.map(|file| format!("TARGET_FILE={}", file.display())))
        .arg("kit")
        .stdin(Stdio::null())
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .output()
        .map_err(|error| FirmwareError::File { path: "make".into(), error })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(make_failed(format!("the start-up of {}", source.target), &output)),
    }
}
