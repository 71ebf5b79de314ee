//! Every figure of README.md and docs/*.md has a claim in docs/figures.toml: a test that compares
//! it, or the day of its measurement.

use crate::documentation::cells;
use lab::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use testkit::documents::{commands, home, pages};

const REGISTRY: &str = "docs/figures.toml";
/// The claim of all sections of a document that have none of their own.
const OF_ALL: &str = "sections_of_one_kind";
/// Units whose figures in a text need a claim.
const UNITS: [&str; 17] = [
    "%", "cycles", "bytes", "KiB", "kB", "MB", "B", "mJ", "µJ", "nJ", "J", "µA", "mA", "ms", "µs", "ns", "s",
];

/// A heading's part of a document: its tables and blocks with a figure, and whether its text has
/// one.
#[derive(Debug, Default)]
struct Section {
    heading: String,
    tables: usize,
    has_text: bool,
    text: String,
}

impl Section {
    fn claims(&self) -> usize {
        self.tables + usize::from(self.has_text)
    }
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// Returns true if a line has a number with one of the units behind it.
fn has_figure(line: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || ",.".contains(c);
    line.char_indices().filter(|(_, c)| c.is_ascii_digit()).any(|(at, _)| {
        let behind = line[at..].trim_start_matches(is_part).trim_start();
        UNITS.iter().any(|unit| {
            let ends =
                |rest: &str| *unit == "%" || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            behind.strip_prefix(unit).is_some_and(ends)
        })
    })
}

/// A table's text without what stands in backquotes.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// The sections of a document that have figures.
fn sections(document: &str) -> Vec<Section> {
    let text = std::fs::read_to_string(home().join(document)).expect("a document");
    let mut sections = vec![Section::default()];
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            sections.push(Section { heading: line.to_owned(), ..Section::default() });
            continue;
        }
        let section = sections.last_mut().expect("one");
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            // Commands and files are run or read by tests of their own.
            let is_output = ["", "text", "console"].contains(&language);
            section.tables += usize::from(is_output && has_digit(&body.join("\n")));
        } else if line.starts_with('|') {
            let mut body = String::new();
            let _rule = lines.next_if(|line| line.starts_with('|'));
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                body += row;
            }
            section.tables += usize::from(has_digit(&without_code(&body)));
        } else {
            section.has_text |= has_figure(line);
            section.text += line;
            section.text.push('\n');
        }
    }
    sections.retain(|section| section.claims() > 0);
    sections
}

/// README.md and the pages, by their paths.
fn documents() -> Vec<String> {
    let mut found = pages();
    found.push("README.md".into());
    found.sort();
    found
}

/// All files of the crates that hold tests, with their text.
fn tests() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![home().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("a text");
                found.push((path, text));
            }
        }
    }
    found
}

/// Returns true if a section has the date of its measurement: `Measured by 2026-11-29`.
fn is_dated(section: &Section) -> bool {
    section.text.split("easured by ").skip(1).any(|rest| {
        let date: Vec<&str> = rest.split([' ', '.', ',']).next().unwrap_or_default().split('-').collect();
        let is_number = |part: &&str| part.parse::<u32>().is_ok();
        date.len() == 3 && date[0].len() == 4 && date.iter().all(is_number)
    })
}

/// Why a claim of a section does not hold; nothing where it does.
fn problem(claim: &str, document: &str, section: &Section, tests: &[(PathBuf, String)]) -> Option<String> {
    match claim {
        "rule" | "published" => None,
        "measured" if is_dated(section) => None,
        "measured" => Some("does not say 'Measured by YEAR-MONTH-DAY with ...'".into()),
        _ => match claim.strip_prefix("held: ") {
            Some(file) => (!home().join(file).is_file()).then(|| format!("there is no {file}")),
            None => {
                let definition = format!("fn {claim}(");
                let name = document.rsplit('/').next().unwrap_or_default();
                let compares =
                    |(_, text): &(PathBuf, String)| text.contains(&definition) && text.contains(name);
                (!tests.iter().any(compares)).then(|| format!("no file that names it has a test {claim}"))
            }
        },
    }
}

#[test]
fn each_figure_of_the_documents_has_its_claim() {
    let registry = std::fs::read_to_string(home().join(REGISTRY)).expect("the registry");
    let mut registry: BTreeMap<String, BTreeMap<String, toml::Value>> =
        toml::from_str(&registry).expect("well-formed");
    let tests = tests();
    let mut problems = Vec::new();
    for document in documents() {
        let mut claimed = registry.remove(&document).unwrap_or_default();
        let of_all = claimed.remove(OF_ALL).map(|claim| claim.as_str().expect("a claim").to_owned());
        for section in sections(&document) {
            let at = format!("{document}, '{}'", section.heading);
            let claims: Vec<String> = match (claimed.remove(&section.heading), &of_all) {
                (Some(claims), _) => claims.try_into().expect("a list of claims"),
                (None, Some(claim)) => vec![claim.clone(); section.claims()],
                (None, None) => Vec::new(),
            };
            if claims.len() != section.claims() {
                let (count, tables) = (claims.len(), section.tables);
                let text = if section.has_text { " and its text" } else { "" };
                problems.push(format!("{at}: {count} claims of {tables} tables and blocks{text}"));
            }
            let unfounded = claims.iter().filter_map(|claim| problem(claim, &document, &section, &tests));
            problems.extend(unfounded.map(|problem| format!("{at}: {problem}")));
        }
        problems.extend(claimed.into_keys().map(|heading| format!("{document}: no figures in '{heading}'")));
    }
    problems.extend(registry.into_keys().map(|document| format!("{document} is no document")));
    assert!(problems.is_empty(), "{REGISTRY} and the documents differ:\n{}", problems.join("\n"));
}

#[test]
fn a_figure_is_a_number_with_a_unit() {
    for line in ["it takes 5 cycles", "2,078 cycles", "by 1.9 %", "36 bytes", "in 0.3 s."] {
        assert!(has_figure(line), "{line}");
    }
    for line in ["section 3.5.1", "RM0008, table 63", "4 bits", "the 3 states", "STM32F407"] {
        assert!(!has_figure(line), "{line}");
    }
}

/// docs/reference/accuracy.md's first table has the bound of each target's file.
#[test]
fn every_bound_of_the_summary_is_its_target_s() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let page = std::fs::read_to_string(home().join("docs/reference/accuracy.md")).expect("a document");
    let table = page.lines().skip_while(|line| !line.starts_with("| processor |"));
    let mut known = workspace.target_names().expect("targets");
    for row in table.skip(2).take_while(|line| line.starts_with('|')) {
        let row = cells(row);
        let groups: Vec<&str> = row[1].split("; ").collect();
        let bounds: Vec<&str> = row[2].split("; ").collect();
        assert!(bounds.len() == groups.len(), "a bound for each group of targets: {row:?}");
        for (group, bound) in groups.into_iter().zip(bounds) {
            for name in group.split(", ") {
                let target = workspace.target(name).expect("a target");
                let general = target.accuracy.iter().find(|one| one.is_general()).expect("a general entry");
                let mut stated = general.cycles.to_string();
                for one in &target.accuracy {
                    let condition = match one {
                        one if one.computation => "computation",
                        one if one.without_wait_states => "without wait states",
                        _ => continue,
                    };
                    stated += &format!(", {condition} {}", one.cycles);
                }
                assert_eq!(stated, bound, "docs/reference/accuracy.md, {name}");
                known.retain(|known| known != name);
            }
        }
    }
    assert!(known.is_empty(), "docs/reference/accuracy.md's first table lacks {known:?}");
}

/// docs/reference/energy.md's table of bounds has each one that is no estimate, by its target.
#[test]
fn every_energy_bound_of_the_page_is_its_target_s() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let page = std::fs::read_to_string(home().join("docs/reference/energy.md")).expect("a document");
    let table = page.lines().skip_while(|line| !line.starts_with("| target | energy | against what |"));
    let rows = table.skip(2).take_while(|line| line.starts_with('|')).map(cells);
    let mut said: Vec<(String, String)> = rows
        .filter(|row| row[1] != "estimate")
        .map(|row| (row[0].split([',', ' ']).next().unwrap_or_default().to_lowercase(), row[1].to_owned()))
        .collect();
    let mut stated = Vec::new();
    for name in workspace.target_names().expect("targets") {
        let target = workspace.target(&name).expect("a target");
        let bounds = target.energy_accuracy.iter().map(|one| one.energy.to_string());
        stated.extend(bounds.filter(|bound| bound != "estimate").map(|bound| (name.clone(), bound)));
    }
    said.sort();
    stated.sort();
    assert_eq!(said, stated, "docs/reference/energy.md");
}

/// Output of the commands of a page, on both streams, without and with the columns of `--wide`.
fn printed(commands: &[String]) -> String {
    let mut printed = String::new();
    for (line, wide) in commands.iter().flat_map(|line| [(line, ""), (line, " --wide")]) {
        let line = line.replacen("./wattseal", env!("CARGO_BIN_EXE_wattseal"), 1) + wide;
        let mut command = Command::new("sh");
        command.arg("-c").arg(&line).current_dir(home()).env("WATTSEAL_HOME", home());
        let output = command.output().expect("a shell");
        printed += &String::from_utf8_lossy(&output.stdout);
        printed += &String::from_utf8_lossy(&output.stderr);
    }
    printed
}

/// The lines of a page's blocks of output, and the commands that stand in them behind `$ `.
fn blocks(page: &str) -> (Vec<String>, Vec<String>) {
    let text = std::fs::read_to_string(home().join(page)).expect("a document");
    let mut lines = text.lines();
    let (mut shown, mut run) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
            match line.strip_prefix("$ ") {
                Some(command) => run.push(command.to_owned()),
                None if ["", "console"].contains(&language) && !line.is_empty() && line != "..." => {
                    shown.push(line.to_owned());
                }
                None => {}
            }
        }
    }
    (shown, run)
}

/// The lines that were not printed. A line that ends in `...` is the beginning of one.
fn stale(shown: &[String], printed: &str) -> Vec<String> {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let is_printed = |line: &str| match line.strip_suffix("...") {
        Some(begin) => printed.iter().any(|line| line.starts_with(begin.trim_end())),
        None => printed.contains(&line.trim_end()),
    };
    shown.iter().filter(|line| !is_printed(line)).cloned().collect()
}

/// Each line of docs/how-to/plan.md's blocks stands so in what one of its commands prints, in one
/// width or the other.
#[test]
fn the_blocks_of_the_page_of_plan_are_what_it_prints() {
    const PAGE: &str = "docs/how-to/plan.md";
    let (shown, run) = blocks(PAGE);
    let stale = stale(&shown, &printed(&[run, commands(PAGE)].concat()));
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
    assert!(shown.len() > 50, "{}", shown.len());
}

/// Each line of the results of README.md and of the tutorials stands so in what a command of the
/// page prints.
#[test]
fn results_are_what_their_commands_print() {
    for page in ["README.md", "docs/tutorials/measure-your-firmware.md", "docs/tutorials/choose-a-part.md"] {
        let (shown, run) = blocks(page);
        let stale = stale(&shown, &printed(&run));
        assert!(stale.is_empty(), "{page} is stale:\n{}", stale.join("\n"));
        assert!(shown.len() > 4 && !run.is_empty(), "{page}: {shown:?}");
    }
}
