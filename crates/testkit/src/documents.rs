//! The documentation, as the tests compare it with the project.

use std::path::{Path, PathBuf};

/// The commands of `wattseal-collector`, as they begin a line of the documentation.
const COLLECTOR: [&str; 8] = ["collect", "meters", "tokens", "audit", "export", "backup", "migrate", "move"];

/// The project's folder.
///
/// # Panics
/// If the folder does not exist any more.
#[must_use]
pub fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's folder")
}

/// The Markdown files of a folder of the project and of those below it, by their paths from the
/// project's folder.
fn collect_markdown(folder: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(home().join(folder)).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let at = format!("{folder}/{name}");
        if path.is_dir() && name != "build" {
            collect_markdown(&at, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(at);
        }
    }
}

/// The pages of the book, sorted, by their paths from the project's folder: `docs/how-to/plan.md`.
///
/// # Panics
/// If the folder cannot be read.
#[must_use]
pub fn pages() -> Vec<String> {
    let mut found = Vec::new();
    collect_markdown("docs", &mut found);
    found.retain(|page| page != "docs/SUMMARY.md");
    found.sort();
    found
}

/// The lines of the ```sh blocks of a document.
///
/// # Panics
/// If there is no such document.
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

/// Returns true if a line is for `wattseal-collector`.
#[must_use]
pub fn is_collector_s(line: &str) -> bool {
    command(line).is_some_and(|command| COLLECTOR.contains(&command))
}

/// Returns true if a line is for `wattseal-demo`.
#[must_use]
pub fn is_demo_s(line: &str) -> bool {
    command(line) == Some("demo") && !is_cluster_s(line)
}

/// Returns true if a line is for `wattseal-chaos`.
#[must_use]
pub fn is_cluster_s(line: &str) -> bool {
    line.starts_with("./wattseal demo --cluster")
}
