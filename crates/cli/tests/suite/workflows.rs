//! The workflows of `.github/`: what they run exists, and their jobs together are the tiers.

use crate::launcher::with_tests;
use crate::tiers::{named_packages, packages};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::documents::home;
use yaml_rust2::{Yaml, YamlLoader};

/// Programs of a runner, and words of the shell.
const GIVEN: [&str; 7] = ["apt-get", "cat", "curl", "echo", "gh", "git", "sh"];

fn yaml(path: &Path) -> Yaml {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())).remove(0)
}

/// Returns the workflows, each with its name.
fn workflows() -> Vec<(String, Yaml)> {
    let files = fs::read_dir(home().join(".github/workflows")).expect("workflows");
    let paths = files.map(|file| file.expect("an entry").path());
    let mut found: Vec<_> =
        paths.map(|path| (path.file_stem().expect("a name").display().to_string(), yaml(&path))).collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Returns the steps of a workflow and of the project's actions that they use.
fn steps(workflow: &Yaml) -> Vec<Yaml> {
    let jobs = workflow["jobs"].as_hash().expect("jobs");
    let mut found: Vec<Yaml> =
        jobs.values().flat_map(|job| job["steps"].as_vec().expect("steps").clone()).collect();
    let own: BTreeSet<PathBuf> = found
        .iter()
        .filter_map(|step| step["uses"].as_str()?.strip_prefix("./"))
        .map(|action| home().join(action).join("action.yml"))
        .collect();
    for action in own {
        found.extend(yaml(&action)["runs"]["steps"].as_vec().expect("steps").clone());
    }
    found
}

/// Returns the first word of each command of a script.
fn commands(script: &str) -> Vec<&str> {
    let lines = script.lines().flat_map(|line| line.split("&&")).flat_map(|part| part.split(" | "));
    lines.filter_map(|command| command.split_whitespace().next()).collect()
}

#[test]
fn workflows_run_commands_that_exist() {
    let found = workflows();
    assert_eq!(
        found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["full", "long", "quick", "release"]
    );
    for (name, workflow) in found {
        assert_eq!(workflow["name"].as_str(), Some(name.as_str()));
        let mut own = 0;
        for step in steps(&workflow) {
            for command in step["run"].as_str().map(commands).unwrap_or_default() {
                let program = home().join(command);
                own += usize::from(program.is_file());
                assert!(GIVEN.contains(&command) || program.is_file(), "{name}: there is no {command}");
            }
        }
        assert!(own > 0, "{name} runs nothing of the project");
    }
}

/// Returns the arguments of the launcher in each row of a matrix.
fn rows(workflow: &Yaml) -> Vec<String> {
    let rows = workflow["jobs"]["test"]["strategy"]["matrix"]["include"].as_vec().expect("rows");
    rows.iter().map(|row| row["arguments"].as_str().expect("arguments").to_owned()).collect()
}

#[test]
fn jobs_of_a_tier_are_all_of_its_parts() {
    // Python tests its own package.
    let expected: BTreeSet<String> =
        packages().into_keys().filter(|name| name != "wattseal-python").collect();
    for (name, workflow) in workflows().iter().filter(|(name, _)| ["full", "long"].contains(&name.as_str())) {
        let rows = rows(workflow);
        let named: Vec<String> = rows.iter().flat_map(|row| named_packages(row)).collect();
        let distinct: BTreeSet<String> = named.iter().cloned().collect();
        assert_eq!(distinct, expected, "{name}");
        assert_eq!(distinct.len(), named.len(), "{name} tests a package in two jobs");
        let parts: &[&str] =
            if name == "full" { &["lints", "mutations", "dashboard"] } else { &["mutations"] };
        for part in parts {
            assert!(rows.contains(&format!("--only {part}")), "{name}: no job runs {part}");
        }
    }
}

/// The launcher takes the arguments of each job.
#[test]
fn launcher_takes_the_arguments_of_every_job() {
    let launcher = with_tests();
    for (name, workflow) in workflows() {
        for step in steps(&workflow) {
            let Some(line) = step["run"].as_str().and_then(|line| line.strip_prefix("./wattseal test "))
            else {
                continue;
            };
            let line = line.replace("\"$BASE\"", "HEAD");
            let lines = if line.contains("$ARGUMENTS") {
                rows(&workflow).iter().map(|row| line.replace("$ARGUMENTS", row)).collect()
            } else {
                vec![line]
            };
            for line in lines {
                let (output, log) = launcher.run(&format!("test {line}"));
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && !log.is_empty(), "{name}: {line}: {said}");
            }
        }
    }
}
