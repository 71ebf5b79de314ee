//! Firmware, of the bench and other programs: built by `device/Makefile`, kept by the content of
//! everything that goes into it.

use crate::toolchain::Toolchain;
use crate::{FirmwareError, suggestion};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The operation that links the bench without any operation.
pub const EMPTY: &str = "empty";

/// The app that is the meter.
const METER: &str = "meter";

/// In a port's folder: makes sure that its tools are there, and writes their folder to standard
/// output.
const TOOLS_SCRIPT: &str = "build-binutils";

/// Sources of firmware, and its target.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The project's folder, with `device/` and `targets/`.
    pub root: &'a Path,
    /// Cache of built firmware, in a folder `firmware`.
    pub cache: &'a Path,
    /// The target's name.
    pub target: &'a str,
    /// The target's file, where that is none of the project's `targets/`.
    pub target_file: Option<&'a Path>,
    /// Toolchain of the target.
    pub toolchain: &'a Toolchain,
    /// The board whose wiring the drivers have; the target's first one where none is given.
    pub board: Option<&'a str>,
    /// Core clock that start-up sets, in Hz.
    pub clock_hz: u64,
    /// Flash wait states that it sets.
    pub wait_states: u8,
}

impl Source<'_> {
    /// Returns the folder of built firmware.
    pub(crate) fn cache(&self) -> PathBuf {
        self.cache.join("firmware")
    }
}

/// Firmware of one target, variant and operating point, in a folder of its own.
#[derive(Clone, Debug)]
pub struct Build {
    folder: PathBuf,
    extension: &'static str,
}

impl Build {
    /// The linked program of an operation, or of an app that is none of the bench's, as
    /// [`crate::elf::Firmware::read`] takes it.
    #[must_use]
    pub fn image(&self, operation: &str) -> PathBuf {
        self.folder.join(format!("{operation}.{}", self.extension))
    }
}

/// Builds the named operations, and the empty program beside them, where they are not there yet.
///
/// # Errors
/// [`FirmwareError::MissingTool`] for a compiler that is not installed, [`FirmwareError::Build`]
/// with what it said.
pub fn build(source: &Source<'_>, variant: &str, operations: &[&str]) -> Result<Build, FirmwareError> {
    let wanted: Vec<&str> = operations.iter().copied().chain([EMPTY]).collect();
    make(source, variant, "bench", &wanted, &Choice::default())
}

/// Builds a program of its own, such as the harvested `node`, where it is not there yet. Returns
/// the linked program.
///
/// # Errors
/// [`FirmwareError::MissingTool`] for a compiler that is not installed, [`FirmwareError::Build`]
/// with what it said, also where there is no such program for the target.
pub fn build_app(source: &Source<'_>, variant: &str, app: &str) -> Result<PathBuf, FirmwareError> {
    make(source, variant, app, &[app], &Choice::default()).map(|build| build.image(app))
}

/// A slot of a bootloader's, which a program is linked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The first.
    A,
    /// The second.
    B,
}

/// As [`build_app`], linked for a slot of the target's bootloader.
///
/// # Errors
/// As [`build_app`]; a target that there is no bootloader for.
pub fn build_for_slot(
    source: &Source<'_>,
    variant: &str,
    app: &str,
    slot: Slot,
) -> Result<PathBuf, FirmwareError> {
    let choice = Choice { slot: Some(slot), ..Choice::default() };
    make(source, variant, app, &[app], &choice).map(|build| build.image(app))
}

/// Builds the meter with these suites of its protocol, by their names, where it is not there yet;
/// with those of the board's first build where there are none. Returns the linked program.
///
/// # Errors
/// As [`build_app`]; a suite that there is not.
pub fn build_meter(source: &Source<'_>, variant: &str, suites: &[String]) -> Result<PathBuf, FirmwareError> {
    let choice = Choice { suites, ..Choice::default() };
    make(source, variant, METER, &[METER], &choice).map(|build| build.image(METER))
}

/// As [`build_meter`], linked for a slot of the target's bootloader: such a meter takes images by
/// radio.
///
/// # Errors
/// As [`build_meter`]; a target that there is no bootloader for.
pub fn build_meter_for_slot(
    source: &Source<'_>,
    variant: &str,
    suites: &[String],
    slot: Slot,
) -> Result<PathBuf, FirmwareError> {
    let choice = Choice { suites, slot: Some(slot) };
    make(source, variant, METER, &[METER], &choice).map(|build| build.image(METER))
}

/// Further variables for `device/Makefile`.
#[derive(Default)]
struct Choice<'a> {
    /// SUITES
    suites: &'a [String],
    /// SLOT
    slot: Option<Slot>,
}

impl Choice<'_> {
    /// SLOT's value.
    fn slot(&self) -> &'static str {
        match self.slot {
            None => "",
            Some(Slot::A) => "a",
            Some(Slot::B) => "b",
        }
    }
}

/// Makes the wanted programs of an app where they are not there yet.
fn make(
    source: &Source<'_>,
    variant: &str,
    app: &str,
    programs: &[&str],
    choice: &Choice<'_>,
) -> Result<Build, FirmwareError> {
    let compiler = compiler(source)?;
    require("make")?;
    // Every clock is built in one place, because few objects differ, and its programs are put away
    // from there.
    let out = source.cache().join(content_key(source, &compiler)?);
    let boards = boards(source)?;
    let mut place = target_folder(source.target, source.board, &boards)?;
    if !choice.suites.is_empty() {
        place = format!("{place}-{}", choice.suites.join("+"));
    }
    if choice.slot.is_some() {
        place = format!("{place}-slot-{}", choice.slot());
    }
    let place = Path::new(&place).join(variant);
    let folder = out.join(format!("{}-{}", source.clock_hz, source.wait_states)).join(&place);
    let extension = if source.toolchain.compiler == "sdcc" { "ihx" } else { "elf" };
    let build = Build { folder, extension };
    let made = Build { folder: out.join(&place), extension };
    let missing = || programs.iter().copied().filter(|op| !build.image(op).is_file()).collect::<Vec<_>>();
    // A run whose programs are there does not wait for others' builds.
    if missing().is_empty() {
        return Ok(build);
    }
    // Two runs at once must not write the same objects; the second finds everything built.
    let _building = lock(&made.folder)?;
    let wanted = missing();
    if wanted.is_empty() {
        return Ok(build);
    }
    // make runs elsewhere.
    let target_file = source.target_file.map(|path| {
        std::path::absolute(path).map_err(|error| FirmwareError::File { path: path.into(), error })
    });
    let target_file = target_file.transpose()?;
    let what = format!("{} {variant} ({})", source.target, wanted.join(", "));
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let output = Command::new("make")
        .arg(format!("--jobs={jobs}"))
        .arg("--directory")
        .arg(source.root.join("device"))
        .arg("--no-print-directory")
        .arg(format!("TARGET={}", source.target))
        .arg(format!("APP={app}"))
        .arg(format!("VARIANT={variant}"))
        .arg(format!("OPS={}", wanted.join(" ")))
        .arg(format!("CLOCK={}", source.clock_hz))
        .arg(format!("WAIT_STATES={}", source.wait_states))
        .arg(format!("SUITES={}", choice.suites.join(" ")))
        .arg(format!("SLOT={}", choice.slot()))
        .arg(format!("OUT={}", out.display()))
        .args(target_file.map(|file| format!("TARGET_FILE={}", file.display())))
        .args(source.board.map(|board| format!("BOARD={board}")))
        .stdin(Stdio::null())
        // A make that calls this program must not lend its job slots and flags to the one below.
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .output()
        .map_err(|error| FirmwareError::File { path: "make".into(), error })?;
    if !output.status.success() {
        return Err(make_failed(what, &output));
    }
    for program in wanted {
        if !made.image(program).is_file() {
            let output = format!("make succeeded, but {} is not there", made.image(program).display());
            return Err(FirmwareError::Build { what, output });
        }
        put_away(&made.image(program), &build.image(program))?;
    }
    Ok(build)
}

/// The error of a tool that failed, with what it said.
pub(crate) fn make_failed(what: String, output: &Output) -> FirmwareError {
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    if text.trim().is_empty() {
        text = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    FirmwareError::Build { what, output: text }
}

/// Copies a linked program, and the linker's map where one stands beside it; the program last and
/// at once, because its being there says that all is.
fn put_away(from: &Path, to: &Path) -> Result<(), FirmwareError> {
    let failed = |error| FirmwareError::File { path: to.into(), error };
    std::fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed)?;
    let map = from.with_extension("map");
    if map.is_file() {
        std::fs::copy(&map, to.with_extension("map")).map_err(failed)?;
    }
    let draft = to.with_extension("draft");
    std::fs::copy(from, &draft).map_err(failed)?;
    std::fs::rename(&draft, to).map_err(failed)
}

/// Waits until no other process builds in `folder`; others wait until what is returned is dropped.
pub(crate) fn lock(folder: &Path) -> Result<File, FirmwareError> {
    let path = folder.with_extension("lock");
    let failed = |error| FirmwareError::File { path: path.clone(), error };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let file = File::create(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// Debian packages that bring a tool.
fn packages(tool: &str) -> String {
    use std::sync::LazyLock;
    // The launcher installs by the same list.
    static BY_TOOL: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
        let mut by_tool = BTreeMap::<&str, String>::new();
        for line in include_str!("../../../packages.txt").lines().filter(|line| !line.starts_with('#')) {
            if let [_, tool, package, ..] = line.split_whitespace().collect::<Vec<_>>()[..] {
                let packages = by_tool.entry(tool).or_default();
                *packages += if packages.is_empty() { "" } else { " " };
                *packages += package;
            }
        }
        by_tool
    });
    BY_TOOL.get(tool).cloned().unwrap_or_else(|| tool.to_owned())
}

pub(crate) fn require(tool: &str) -> Result<(), FirmwareError> {
    match version(Path::new(tool)) {
        Some(_) => Ok(()),
        None => Err(FirmwareError::MissingTool { tool: tool.into(), packages: packages(tool) }),
    }
}

/// Returns a tool's version output; `None` where it is not there.
fn version(tool: &Path) -> Option<Vec<u8>> {
    let output =
        Command::new(tool).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Returns name and version of the target's compiler or assembler: `avr-gcc 5.4.0`.
///
/// # Errors
/// [`FirmwareError::MissingTool`] for a compiler that is not installed, [`FirmwareError::Build`]
/// for one whose script failed.
pub fn compiler_version(source: &Source<'_>) -> Result<String, FirmwareError> {
    let output = version(&compiler(source)?).unwrap_or_default();
    Ok(named(&source.toolchain.compiler, &output))
}

/// Returns name and version of a compiler by its command: `clang-16 16.0.6`.
///
/// # Errors
/// [`FirmwareError::MissingTool`] for one that is not installed or has no version.
pub fn version_of(command: &str) -> Result<String, FirmwareError> {
    let output = version(Path::new(command));
    let missing = || FirmwareError::MissingTool { tool: command.into(), packages: packages(command) };
    output.map(|output| named(command, &output)).ok_or_else(missing)
}

fn named(compiler: &str, output: &[u8]) -> String {
    let output = String::from_utf8_lossy(output);
    format!("{compiler} {}", version_number(output.lines().next().unwrap_or_default()))
}

/// The number in the first line of a tool's version output; the line itself where there is none.
/// Numbers in parentheses are those of packages.
fn version_number(line: &str) -> &str {
    let mut depth = 0i32;
    for word in line.split_whitespace() {
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit())
            && word.contains('.')
            && word.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        if depth == 0 && is_number {
            return word;
        }
        depth += word.matches('(').count() as i32 - word.matches(')').count() as i32;
    }
    line
}

/// The target's compiler or assembler: from the search path, or from where the port's own script
/// puts it, which builds it the first time.
pub(crate) fn compiler(source: &Source<'_>) -> Result<PathBuf, FirmwareError> {
    let name = &source.toolchain.compiler;
    if version(Path::new(name)).is_some() {
        return Ok(name.into());
    }
    let script = source.root.join("device/ports").join(&source.toolchain.port).join(TOOLS_SCRIPT);
    if !script.is_file() {
        return Err(FirmwareError::MissingTool { tool: name.clone(), packages: packages(name) });
    }
    // What it has to say while it builds goes to standard error as it comes.
    let output = Command::new(&script)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| FirmwareError::File { path: script.clone(), error })?;
    if !output.status.success() {
        let output = format!("{} failed; what it said is above", script.display());
        return Err(FirmwareError::Build { what: name.clone(), output });
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join(name))
}

/// A name for everything that decides what the compiler puts out, the clock and its wait states
/// excepted.
pub(crate) fn content_key(source: &Source<'_>, compiler: &Path) -> Result<String, FirmwareError> {
    let mut key = String::new();
    for byte in &content(source, compiler)?[..8] {
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

/// The files of the target's boards, by name: those that `device/Makefile` chooses from.
fn boards(source: &Source<'_>) -> Result<BTreeMap<String, PathBuf>, FirmwareError> {
    let folder = source.root.join("boards");
    let failed = |error| FirmwareError::File { path: folder.clone(), error };
    let mut boards = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".toml")) else {
            continue;
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|error| FirmwareError::File { path: path.clone(), error })?;
        if is_board_of(&text, source.target) {
            boards.insert(name.to_owned(), path);
        }
    }
    Ok(boards)
}

/// Returns true if a board's file names a target as its own, as `device/Makefile` looks for it.
fn is_board_of(text: &str, target: &str) -> bool {
    let named = format!("\"{target}\"");
    text.lines().filter_map(|line| line.split_once('=')).any(|(key, value)| {
        key.trim_end_matches(' ') == "target" && value.trim_start_matches(' ').starts_with(&named)
    })
}

/// The folder of a target's programs in the folder that make builds in: of another board than the
/// first one of its own.
fn target_folder(
    target: &str,
    board: Option<&str>,
    boards: &BTreeMap<String, PathBuf>,
) -> Result<String, FirmwareError> {
    match board {
        Some(board) if !boards.contains_key(board) => Err(FirmwareError::UnknownName {
            what: "board",
            name: board.into(),
            suggestion: suggestion(board, boards.keys().map(String::as_str)),
        }),
        Some(board) if boards.keys().next().is_none_or(|first| first != board) => {
            Ok(format!("{target}-{board}"))
        }
        _ => Ok(target.into()),
    }
}

/// A hash of everything that decides what the compiler puts out, the clock and its wait states
/// excepted: sources under `device/`, the files of target and boards, compiler.
///
/// # Errors
/// [`FirmwareError::File`] for a source that cannot be read.
pub fn content(source: &Source<'_>, compiler: &Path) -> Result<[u8; 32], FirmwareError> {
    let mut digest = Sha256::new();
    digest.update(version(compiler).unwrap_or_default());
    let target_file = source.root.join("targets").join(format!("{}.toml", source.target));
    let mut files = vec![source.target_file.map_or(target_file, Path::to_owned)];
    files.extend(boards(source)?.into_values());
    let device = source.root.join("device");
    sources(&device, &device.join("build"), &mut files)?;
    files.sort();
    for path in files {
        let bytes =
            std::fs::read(&path).map_err(|error| FirmwareError::File { path: path.clone(), error })?;
        let name = path.strip_prefix(source.root).unwrap_or(&path).to_string_lossy().into_owned();
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
    Ok(digest.finalize().into())
}

fn sources(folder: &Path, skip: &Path, files: &mut Vec<PathBuf>) -> Result<(), FirmwareError> {
    let failed = |error| FirmwareError::File { path: folder.into(), error };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_number_outside_parentheses() {
        for (line, number) in [
            ("avr-gcc (GCC) 5.4.0", "5.4.0"),
            ("arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205", "12.2.1"),
            ("Debian clang version 14.0.6", "14.0.6"),
            ("SDCC : mcs51/z80/ds400/hc08/mos6502 4.2.0 #13081 (Linux)", "4.2.0"),
            ("GNU assembler (GNU Binutils 2.39) 2.40", "2.40"),
            ("a tool without a number", "a tool without a number"),
        ] {
            assert_eq!(version_number(line), number);
        }
    }

    #[test]
    fn a_board_is_of_the_target_that_it_names() {
        let text = "description = \"msp430f5438a\"\ntarget = \"atmega328p\" # at 16 MHz\n";
        assert!(is_board_of(text, "atmega328p"));
        assert!(!is_board_of(text, "atmega328"));
        assert!(!is_board_of(text, "msp430f5438a"));
    }

    #[test]
    fn only_other_boards_than_the_first_have_a_folder_of_their_own() {
        let boards = ["emontx", "jeenode"].map(|name| (name.to_owned(), PathBuf::new())).into();
        let folder = |board| target_folder("atmega328p", board, &boards);
        assert_eq!(folder(None).expect("known"), "atmega328p");
        assert_eq!(folder(Some("emontx")).expect("known"), "atmega328p");
        assert_eq!(folder(Some("jeenode")).expect("known"), "atmega328p-jeenode");
        let error = folder(Some("jeenod")).expect_err("unknown").to_string();
        assert!(error.contains("no board 'jeenod'; did you mean jeenode"), "{error}");
    }
}
