//! Lists the files that `src/lib.rs` takes in.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// From the project's folder: all that a command reads, and all that firmware is built from.
const TAKEN: [&str; 11] = [
    "bench.toml",
    "board-names.toml",
    "boards",
    "calibrations",
    "constant-time.toml",
    "device",
    "papers",
    "radios",
    "scenarios",
    "schemes.toml",
    "targets",
];

/// Folder of make's builds by hand.
const BUILT: &str = "device/build";

fn main() -> io::Result<()> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let built = project.join(BUILT);
    let mut files = Vec::new();
    for name in TAKEN {
        let path = project.join(name);
        // Cargo looks at all below a folder, and what make builds is no reason to build this again.
        let watched = if built.starts_with(&path) { entries(&path)? } else { vec![path.clone()] };
        for path in watched.iter().filter(|path| **path != built) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        list(&path, &built, &mut files)?;
    }
    files.sort();
    let mut list = String::from("&[\n");
    for path in &files {
        let name = path.strip_prefix(&project).map_err(io::Error::other)?;
        let _ = writeln!(list, "({name:?}, include_bytes!({path:?})),");
    }
    list.push(']');
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo gives OUT_DIR"))?;
    fs::write(Path::new(&out).join("files.rs"), list)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// All files at or below a path, without hidden ones and an editor's copies.
fn list(path: &Path, built: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path == built || name.starts_with('.') || name.ends_with('~') {
        return Ok(());
    }
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    entries(path)?.iter().try_for_each(|path| list(path, built, files))
}
