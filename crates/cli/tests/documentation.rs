//! A command that the documentation shows is a command that works: every `./wattseal` and `make` line of its shell
//! blocks is run as it stands, in order; a bench that does not say how many runs it wants gets one. The collector's lines and the
//! demonstration's are run by the tests of their own crates.

use std::path::Path;
use std::process::Command;
use testkit::documents::{commands, home, is_collector_s, is_demo_s};

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
            if line == "./wattseal test" || is_collector_s(&line) || is_demo_s(&line) {
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

/// The text of all files with one of these endings below a folder, but for what is built.
fn sources(folder: &Path, endings: &[&str], text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            sources(&path, endings, text);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
            text.push_str(&std::fs::read_to_string(&path).expect("a text"));
        }
    }
}

/// docs/security.md promises nothing without a test that shows it.
#[test]
fn the_threat_model_names_tests_that_are_there() {
    let mut text = String::new();
    sources(&home().join("crates"), &["rs", "py"], &mut text);
    let document = std::fs::read_to_string(home().join("docs/security.md")).expect("a document");
    let rows = document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| does "));
    let mut count = 0;
    for row in rows {
        let tests = row.trim_end_matches('|').rsplit('|').next().expect("a last column");
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test shows: {row}");
        for name in names {
            let is_there = text.contains(&format!("fn {name}(")) || text.contains(&format!("def {name}("));
            assert!(is_there, "there is no test {name}, which is to show: {row}");
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

/// docs/mutations.md lists what `crates/testkit/mutations` has.
#[test]
fn the_page_of_mutations_is_what_the_program_prints() {
    let program = home().join("crates/testkit/mutations/run.py");
    let printed = Command::new("/usr/bin/python3").arg(program).arg("--page").output().expect("it runs");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let page = std::fs::read_to_string(home().join("docs/mutations.md")).expect("a document");
    assert!(page.ends_with(&*String::from_utf8_lossy(&printed.stdout)), "run.py --page prints another table");
}
