//! A command that the documentation shows is a command that works: every `./wattseal` and `make` line of its shell
//! blocks is run as it stands, in order; a bench that does not say how many runs it wants gets one.

use std::path::{Path, PathBuf};
use std::process::Command;

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's folder")
}

/// The lines of the ```sh blocks of a document.
fn commands(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(home().join(document)).expect("a document");
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && !line.is_empty() {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn every_command_shown_works() {
    let mut count = 0;
    for document in [
        "README.md",
        "docs/architecture.md",
        "docs/accuracy.md",
        "docs/constant-time.md",
        "docs/plan.md",
        "docs/simulate.md",
    ] {
        for line in commands(document) {
            // This test is part of what that command runs.
            if line == "./wattseal test" {
                continue;
            }
            // The launcher would build a second binary; the one under test is here.
            let mut run = line.replacen("./wattseal", env!("CARGO_BIN_EXE_wattseal"), 1);
            // All rows with all their runs take many minutes.
            if line.starts_with("./wattseal bench") && !line.contains("--runs") {
                run.push_str(" --runs 1");
            }
            let output = Command::new("sh")
                .arg("-c")
                .arg(&run)
                .current_dir(home())
                .env("WATTSEAL_HOME", home())
                .output()
                .expect("a shell");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{document}: {line}\n{error}");
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} commands were found");
}
