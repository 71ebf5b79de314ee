//! The documentation, as the tests compare it with the project.

use std::path::{Path, PathBuf};

/// The commands of `wattseal-collector`, as they begin a line of the documentation.
const COLLECTOR: [&str; 8] = ["collect", "meters", "tokens", "audit", "export", "backup", "migrate", "move"];

/// The project's folder.
///
/// # Panics
/// Where it is not there any more.
#[must_use]
pub fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's folder")
}

/// The lines of the ```sh blocks of a document.
///
/// # Panics
/// Where there is no such document.
#[must_use]
pub fn commands(document: &str) -> Vec<String> {
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

/// The command of a line that runs the launcher: `bench` of `./wattseal bench --all`.
fn command(line: &str) -> Option<&str> {
    line.strip_prefix("./wattseal ")?.split(' ').next()
}

/// Whether a line is for `wattseal-collector`.
#[must_use]
pub fn is_collector_s(line: &str) -> bool {
    command(line).is_some_and(|command| COLLECTOR.contains(&command))
}

/// Whether a line is for `wattseal-demo`.
#[must_use]
pub fn is_demo_s(line: &str) -> bool {
    command(line) == Some("demo")
}
