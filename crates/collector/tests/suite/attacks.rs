//! The service against the attacks of `crates/testkit/protocol`, which speak the protocol from its
//! document and share no code with this project.

use std::path::Path;
use std::process::Command;

/// Runs a program of that folder with Debian's Python, whose `python3-cryptography` it needs.
fn python(program: &str, arguments: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/protocol");
    let mut command = Command::new("/usr/bin/python3");
    let output =
        command.arg("-B").arg(folder.join(program)).args(arguments).output().expect("python3 is installed");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{program}:\n{said}");
    println!("{said}");
}

#[test]
fn attacks_come_to_nothing() {
    python("attacks.py", &["--wattseal", env!("CARGO_BIN_EXE_wattseal-collector")]);
}

#[test]
fn the_vectors_are_what_the_program_prints() {
    python("vectors.py", &["--check"]);
    python("updates.py", &["--check"]);
}
