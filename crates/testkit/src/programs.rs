//! Files that a test writes and then runs.
//!
//! Another process writes them: what this one has open for writing, a process that another test
//! starts meanwhile inherits until it runs its own program, and Linux runs no file that is open for
//! writing (execve(2), ETXTBSY).

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a shell script of `lines` to `path`.
///
/// # Panics
/// If it can't be written.
pub fn script(path: &Path, lines: &str) {
    install(Path::new("/dev/stdin"), path, format!("#!/bin/sh\n{lines}\n").as_bytes());
}

/// Copies the program at `from` to `path`.
///
/// # Panics
/// If it can't be copied.
pub fn copy(from: &Path, path: &Path) {
    install(from, path, &[]);
}

fn install(from: &Path, path: &Path, input: &[u8]) {
    let mut install = Command::new("install")
        .args(["-m", "755"])
        .args([from, path])
        .stdin(Stdio::piped())
        .spawn()
        .expect("install of coreutils");
    install.stdin.take().expect("piped").write_all(input).expect("taken");
    assert!(install.wait().expect("it ends").success(), "{} is not written", path.display());
}
