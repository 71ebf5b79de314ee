//! The bench firmware: built by `device/Makefile`, kept by the content of everything that goes into it.

use crate::LabError;
use crate::target::{House, OperatingPoint, Target};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The operation that links the bench without any operation.
pub const EMPTY: &str = "empty";

/// Bench firmware of one target, variant and operating point, in a folder of its own.
#[derive(Clone, Debug)]
pub struct Build {
    folder: PathBuf,
}

impl Build {
    /// The ELF file of an operation.
    #[must_use]
    pub fn elf(&self, operation: &str) -> PathBuf {
        self.folder.join(format!("{operation}.elf"))
    }
}

/// Builds the named operations, and the empty program beside them, where they are not there yet.
///
/// # Errors
/// [`LabError::MissingTool`] for a compiler that is not installed, [`LabError::Build`] with what it said.
pub fn build(
    house: &House,
    target: &Target,
    point: &OperatingPoint,
    variant: &str,
    operations: &[&str],
) -> Result<Build, LabError> {
    let compiler = &target.toolchain.compiler;
    require(compiler)?;
    require("make")?;
    let key = content_key(house, target, point)?;
    let out = house.firmware_cache().join(&key);
    let folder = out.join(target.name()).join(variant);
    let build = Build { folder };
    // Two runs at once must not write the same objects; whoever comes second finds everything built.
    let _building = lock(&build.folder)?;
    let wanted: Vec<&str> =
        operations.iter().copied().chain([EMPTY]).filter(|op| !build.elf(op).is_file()).collect();
    if wanted.is_empty() {
        return Ok(build);
    }
    let what = format!("{} {variant} ({})", target.name(), wanted.join(", "));
    let output = Command::new("make")
        .arg("--directory")
        .arg(house.root().join("device"))
        .arg("--no-print-directory")
        .arg(format!("TARGET={}", target.name()))
        .arg("APP=bench")
        .arg(format!("VARIANT={variant}"))
        .arg(format!("OPS={}", wanted.join(" ")))
        .arg(format!("CLOCK={}", point.clock_hz))
        .arg(format!("WAIT_STATES={}", point.wait_states))
        .arg(format!("OUT={}", out.display()))
        .stdin(Stdio::null())
        // A make that calls this program must not lend its job slots and flags to the one below.
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .output()
        .map_err(|error| LabError::File { path: "make".into(), error })?;
    if !output.status.success() {
        let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
        if text.trim().is_empty() {
            text = String::from_utf8_lossy(&output.stdout).into_owned();
        }
        return Err(LabError::Build { what, output: text });
    }
    if let Some(missing) = wanted.iter().find(|op| !build.elf(op).is_file()) {
        let output = format!("make succeeded, but {} is not there", build.elf(missing).display());
        return Err(LabError::Build { what, output });
    }
    Ok(build)
}

/// Waits until no other process builds in `folder`; others wait until what is returned is dropped.
fn lock(folder: &Path) -> Result<File, LabError> {
    let path = folder.with_extension("lock");
    let failed = |error| LabError::File { path: path.clone(), error };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let file = File::create(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// Debian packages that bring a tool.
fn packages(tool: &str) -> &'static str {
    match tool {
        "avr-gcc" => "gcc-avr avr-libc",
        "arm-none-eabi-gcc" => "gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "clang" => "clang lld llvm",
        _ => "make",
    }
}

fn require(tool: &str) -> Result<(), LabError> {
    let status = Command::new(tool)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(LabError::MissingTool { tool: tool.into(), packages: packages(tool) }),
    }
}

/// A name for everything that decides what the compiler puts out: sources, target file, compiler, clock.
fn content_key(house: &House, target: &Target, point: &OperatingPoint) -> Result<String, LabError> {
    let mut digest = Sha256::new();
    let compiler = Command::new(&target.toolchain.compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| LabError::File { path: (&target.toolchain.compiler).into(), error })?;
    digest.update(&compiler.stdout);
    digest.update(format!("{} {}", point.clock_hz, point.wait_states));
    let mut files = vec![house.root().join("targets").join(format!("{}.toml", target.name()))];
    let device = house.root().join("device");
    sources(&device, &device.join("build"), &mut files)?;
    files.sort();
    for path in files {
        let bytes = std::fs::read(&path).map_err(|error| LabError::File { path: path.clone(), error })?;
        let name = path.strip_prefix(house.root()).unwrap_or(&path).to_string_lossy().into_owned();
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
    let mut key = String::new();
    for byte in &digest.finalize()[..8] {
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

fn sources(folder: &Path, skip: &Path, files: &mut Vec<PathBuf>) -> Result<(), LabError> {
    let failed = |error| LabError::File { path: folder.into(), error };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path == skip {
            continue;
        }
        if path.is_dir() {
            sources(&path, skip, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
