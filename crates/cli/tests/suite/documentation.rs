//! A command that the documentation shows is a command that works: every `./wattseal` and `make`
//! line of its shell blocks is run as it stands, in order; a bench that does not say how many runs
//! it wants gets one, and one of all rows gets a target. The collector's lines and the
//! demonstration's are run by the tests of their own crates.

use lab::operations::{Catalogue, VARIANTS};
use lab::plot::{Axis, Chart, Series, Style, svg};
use lab::workspace::Workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use testkit::documents::{commands, home, is_cluster_s, is_collector_s, is_demo_s};
use testkit::random::{Random, seed};

/// Runs a line as it stands, once: documents repeat each other, and their tests run at the same
/// time.
fn run(document: &str, line: &str) {
    static LINES: Mutex<BTreeMap<String, Arc<OnceLock<()>>>> = Mutex::new(BTreeMap::new());
    // The launcher would build a second binary; the one under test is here.
    let mut run = line.replacen("./wattseal", env!("CARGO_BIN_EXE_wattseal"), 1);
    // Figures of an earlier measurement would verify nothing.
    if line.starts_with("./wattseal bench") {
        run.push_str(" --fresh");
    }
    // One run of each row is verified; more of them would take minutes. What the tables of
    // README.md show is measured in full.
    if line.starts_with("./wattseal bench ") && !line.contains("--runs") {
        run.push_str(" --runs 1");
    }
    if line.starts_with("./wattseal bench --all") {
        run.push_str(&sample_of_sweep(&mut Random::new(seed())));
    }
    let once = LINES.lock().expect("no panic").entry(line.to_owned()).or_default().clone();
    once.get_or_init(|| {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&run).current_dir(home()).env("WATTSEAL_HOME", home());
        let output = command.output().expect("a shell");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{document}: {line}\n{error}");
    });
}

/// Further arguments of the sweep, which is a command of its own. Here it is of one target, another
/// each time, without one of the compiler's two slow builds of the curves, which take longer than
/// all else together; and of a third of the operations, in the long tier of all.
fn sample_of_sweep(random: &mut Random) -> String {
    let left_out = ["portable", "small"][random.below(2) as usize];
    let variants: Vec<&str> = VARIANTS.into_iter().filter(|variant| *variant != left_out).collect();
    let workspace = Workspace::at(&home()).expect("the project");
    let targets = workspace.target_names().expect("the target files");
    let name = &targets[random.below(targets.len() as u32) as usize];
    let mut arguments = format!(" --cold --target {name}");
    variants.iter().for_each(|variant| arguments.push_str(&format!(" --variant {variant}")));
    if std::env::var("WATTSEAL_ORACLE").is_ok_and(|length| length == "long") {
        return arguments;
    }
    let target = workspace.target(name).expect("a target");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut names = BTreeSet::new();
    for variant in variants {
        let built = catalogue.built_as(&target, variant).expect("the target's sets");
        names.extend(built.into_iter().map(|operation| operation.name));
    }
    let first = random.below(3) as usize;
    names.iter().skip(first).step_by(3).for_each(|name| arguments.push_str(&format!(" --op {name}")));
    arguments
}

/// The lines of a document that are run here; `./wattseal test` runs this one.
fn own(document: &str) -> Vec<String> {
    let mut lines = commands(document);
    let is_another_s = |line: &str| is_collector_s(line) || is_demo_s(line) || is_cluster_s(line);
    lines.retain(|line| line != "./wattseal test" && !is_another_s(line));
    lines
}

macro_rules! documents {
    ($($name:ident: $document:literal)*) => {
        $(
            #[test]
            fn $name() {
                for line in own($document) {
                    run($document, &line);
                }
            }
        )*

        #[test]
        fn commands_are_found() {
            let count: usize = [$($document),*].into_iter().map(|document| own(document).len()).sum();
            assert!(count >= 8, "only {count} commands were found");
        }
    };
}

documents! {
    every_command_of_readme_works: "README.md"
    every_command_of_ci_works: "docs/how-to/ci.md"
    every_command_of_energy_works: "docs/reference/energy.md"
    every_command_of_constant_time_works: "docs/how-to/constant-time.md"
    every_command_of_installing_works: "docs/how-to/installing.md"
    every_command_of_measuring_works: "docs/how-to/measuring.md"
    every_command_of_papers_works: "docs/how-to/papers.md"
    every_command_of_plan_works: "docs/how-to/plan.md"
    every_command_of_post_quantum_works: "docs/reference/post-quantum.md"
    every_command_of_simulate_works: "docs/how-to/simulate.md"
    every_command_of_the_tutorial_of_firmware_works: "docs/tutorials/measure-your-firmware.md"
    every_command_of_the_tutorial_of_parts_works: "docs/tutorials/choose-a-part.md"
    every_command_of_the_tutorial_of_home_assistant_works: "docs/tutorials/home-assistant.md"
}

/// A figure as the documentation has it, `17.6 M`, `6.3 µJ`, `2,078 cycles` or `160 B`: its value,
/// and by how much a rounded one may differ.
pub fn quantity(text: &str) -> (f64, f64) {
    let mut words = text.split_whitespace();
    let digits = words.next().expect("a figure").replace(',', "");
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = match words.next().expect("a unit") {
        "M" | "MHz" => 1e6,
        "mJ" => 1e-3,
        "µJ" => 1e-6,
        "nJ" => 1e-9,
        "ms" => 1e-3,
        "J" | "V" | "cycles" | "machine" | "B" | "s" | "bits" | "years" => 1.0,
        unit => panic!("{text}: no such unit as {unit}"),
    };
    let value: f64 = digits.parse().expect("a number");
    (value * scale, 0.500_001 * scale / 10f64.powi(decimals as i32))
}

/// Returns true if the figures of a cell, `2,078 cycles, 6.3 µJ`, are these, rounded.
pub fn is_rounded(cell: &str, figures: [f64; 2]) -> bool {
    let shown: Vec<(f64, f64)> = cell.split(", ").map(quantity).collect();
    shown.len() == 2
        && shown.iter().zip(figures).all(|((value, tolerance), figure)| (value - figure).abs() <= *tolerance)
}

pub fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// The rows of a command as JSON.
fn json_of(line: &str) -> Vec<serde_json::Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
    let output =
        command.args(line.split(' ')).args(["--format", "json"]).env("WATTSEAL_HOME", home()).output();
    let output = output.expect("wattseal runs");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("an array")
}

/// The R8C's figures in docs/reference/accuracy.md, from which it says what an error of the cycle
/// table would change.
#[test]
fn the_r8c_s_counts_are_what_bench_and_ct_say() {
    let document =
        std::fs::read_to_string(home().join("docs/reference/accuracy/r8c.md")).expect("a document");
    let benched = json_of("bench --target r8c --op aes128-encrypt --runs 1");
    let checked = json_of("ct --target r8c --op aes128-encrypt --runs 1");
    for variant in ["memory", "register", "fast"] {
        let begin = format!("| `{variant}` | ");
        let lines: Vec<&str> = document.lines().filter(|line| line.starts_with(&begin)).collect();
        let [line] = lines.as_slice() else { panic!("{variant}: {lines:?}") };
        let shown = |column: usize| -> u64 {
            cells(line)[column].replace(',', "").parse().unwrap_or_else(|_| panic!("{line}"))
        };
        let row = |rows: &[serde_json::Value]| {
            rows.iter().find(|row| row["variant"] == variant).unwrap_or_else(|| panic!("{variant}")).clone()
        };
        let cycles = row(&benched)["cycles"]["min"].as_u64().expect("cycles");
        let instructions = row(&checked)["instructions"].as_u64().expect("instructions");
        assert_eq!([1, 3, 4].map(shown), [cycles, instructions, cycles + instructions], "{variant}");
    }
}

/// The tables of README.md that bench.toml lists have the figures of `bench`, for every target that
/// has them.
#[test]
fn the_tables_of_costs_are_what_bench_measures() {
    // Measured anew, and then once more from what was kept.
    run("docs/reference/costs.md", "./wattseal bench");
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(["bench", "--format", "json"])
        .env("WATTSEAL_HOME", home())
        .output()
        .expect("wattseal runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("an array");
    let workspace = lab::workspace::Workspace::find().expect("a clone of the project");
    let page = std::fs::read_to_string(home().join("docs/reference/costs.md")).expect("a document");
    let (mut count, mut stale) = (0, Vec::new());
    for table in lab::selection::Tables::read(&workspace).expect("bench.toml").tables {
        let is_head = |line: &&str| {
            line.starts_with("| target |")
                && table.columns.iter().all(|column| cells(line).contains(&column.heading.as_str()))
        };
        let mut lines =
            page.lines().skip_while(|line| !is_head(line)).take_while(|line| line.starts_with('|'));
        let head = cells(
            lines.next().unwrap_or_else(|| panic!("docs/reference/costs.md has no table with {table:?}")),
        );
        for wanted in ["accuracy", "energy accuracy"] {
            assert!(
                head.contains(&wanted),
                "docs/reference/costs.md does not say how far its figures may be off"
            );
        }
        for line in lines.skip(1) {
            let line = cells(line);
            let label = line[0].split(' ').next().unwrap_or_default().to_lowercase();
            let of_target: Vec<_> = rows
                .iter()
                .filter(|row| row["target"].as_str().is_some_and(|name| name.ends_with(&label)))
                .filter(|row| row["variant"] == table.variant.as_str())
                .collect();
            assert!(!of_target.is_empty(), "no target is called {}", line[0]);
            for (heading, cell) in head.iter().zip(&line).skip(1) {
                let number = |row: &serde_json::Value, field: &str| row[field].as_f64().expect("a number");
                let column = table.columns.iter().find(|column| column.heading == *heading);
                let (shown, figures) = match column {
                    None if heading.ends_with("accuracy") => {
                        let of_row = |row: &serde_json::Value| match *heading {
                            "accuracy" => row["accuracy"]["cycles"].clone(),
                            _ => row["energy_accuracy"]["energy"].clone(),
                        };
                        if of_target.iter().any(|row| of_row(row) != *cell) {
                            stale.push(format!(
                                "{}: '{cell}' where bench has {}",
                                line[0],
                                of_row(of_target[0])
                            ));
                        }
                        continue;
                    }
                    None => {
                        assert_eq!(*heading, "clock, supply");
                        let row = of_target[0];
                        (true, [number(row, "clock_hz"), number(row, "supply_v")])
                    }
                    Some(column) => match of_target.iter().find(|row| row["op"] == column.op.as_str()) {
                        None => (false, [0.0; 2]),
                        Some(row) => {
                            count += 1;
                            (true, [number(&row["cycles"], "mean"), number(row, "energy_j")])
                        }
                    },
                };
                if shown == cell.is_empty() || (shown && !is_rounded(cell, figures)) {
                    stale.push(format!("{}, {heading}: '{cell}' where bench has {figures:?}", line[0]));
                }
            }
        }
    }
    assert!(stale.is_empty(), "docs/reference/costs.md's tables are stale:\n{}", stale.join("\n"));
    assert_eq!(count, rows.len(), "docs/reference/costs.md's tables lack targets that bench has");
}

/// The parts of README.md's chart: all of them do not fit side by side.
const CHARTED: [&str; 11] = [
    "ATmega328P",
    "ATmega2560",
    "MSP430F5438A",
    "MSP430FR5994",
    "STM32F051",
    "SAMD21",
    "RP2040",
    "STM32F103",
    "STM32F407",
    "nRF52840",
    "STM32F767",
];

/// The chart of README.md: two columns of docs/reference/costs.md's tables.
fn chart_of_costs() -> String {
    let page = std::fs::read_to_string(home().join("docs/reference/costs.md")).expect("a document");
    let lines: Vec<&str> = page.lines().collect();
    let tables = lines.split(|line| !line.starts_with('|')).filter(|table| table.len() > 2);
    let tables: Vec<Vec<Vec<&str>>> =
        tables.map(|table| table.iter().map(|line| cells(line)).collect()).collect();
    let name = |line: &[&str]| line[0].split(' ').next().unwrap_or_default().to_owned();
    let series = |table: &[Vec<&str>], head: &str, label: &str| {
        let column = table[0].iter().position(|cell| *cell == head).expect("a column");
        let point = |line: &Vec<&str>| {
            let at = CHARTED.iter().position(|part| *part == name(line))?;
            let energy = line[column].split(", ").nth(1).expect("cycles and energy");
            Some((at as f64, quantity(energy).0 / 1e-6))
        };
        let points = table[2..].iter().filter_map(point).collect();
        Series { label: label.into(), points, style: Style::Marks }
    };
    svg(&Chart {
        title: "Energy of an operation, by part".into(),
        x: Axis::of(CHARTED.map(str::to_owned).to_vec()),
        y: Axis::log("energy", "µJ"),
        series: vec![
            series(&tables[0], "AES-128-GCM seal of 16 bytes", "AES-128-GCM seal of 16 bytes"),
            series(&tables[1], "ECDSA P-256, sign", "ECDSA P-256 signature"),
        ],
        notes: vec![
            "Variant fast, each part's default clock and supply; the processor alone, typical current."
                .into(),
        ],
    })
    .expect("points in both")
}

#[test]
fn chart_of_costs_is_of_the_tables() {
    let there = std::fs::read_to_string(home().join("docs/reference/costs.svg")).unwrap_or_default();
    let renew = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_chart_of_costs";
    assert!(there == chart_of_costs(), "docs/reference/costs.svg is of other figures; {renew}");
}

#[test]
#[ignore = "writes docs/reference/costs.svg"]
fn renew_the_chart_of_costs() {
    std::fs::write(home().join("docs/reference/costs.svg"), chart_of_costs()).expect("written");
}

/// The rows of `bench` with these arguments, measured anew.
pub fn measured(arguments: &[&str]) -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(["bench", "--format", "json", "--fresh"])
        .args(arguments)
        .env("WATTSEAL_HOME", home())
        .output()
        .expect("wattseal runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("an array")
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

/// docs/explanation/security.md promises nothing without a test that shows it.
#[test]
fn the_threat_model_names_tests_that_are_there() {
    let mut text = String::new();
    sources(&home().join("crates"), &["rs", "py"], &mut text);
    let document = std::fs::read_to_string(home().join("docs/explanation/security.md")).expect("a document");
    let rows = document.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| test |"));
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

/// Pages show the example files that their commands use.
#[test]
fn the_pages_show_the_example_files() {
    let read = |path: &str| std::fs::read_to_string(home().join(path)).expect("a document");
    for (page, example) in [("ci", "wattseal"), ("constant-time", "matrix"), ("signals", "signals")] {
        let shown = format!("```toml\n{}```", read(&format!("docs/examples/{example}.toml")));
        assert!(read(&format!("docs/how-to/{page}.md")).contains(&shown), "{page}");
    }
}

/// docs/reference/mutations.md lists what `crates/testkit/mutations` has.
#[test]
fn the_page_of_mutations_is_what_the_program_prints() {
    let program = home().join("crates/testkit/mutations/run.py");
    let printed = Command::new("/usr/bin/python3").arg(program).arg("--page").output().expect("it runs");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let page = std::fs::read_to_string(home().join("docs/reference/mutations.md")).expect("a document");
    assert!(page.ends_with(&*String::from_utf8_lossy(&printed.stdout)), "run.py --page prints another table");
}

/// docs/explanation/map.md names each folder of the project and each crate, and no path that is not
/// there.
#[test]
fn the_map_is_true_and_complete() {
    let read = |path: &str| std::fs::read_to_string(home().join(path)).expect("a document");
    let (readme, page) = (read("README.md"), read("docs/explanation/map.md"));
    let map: Vec<&str> =
        page.lines().skip_while(|line| *line != "| folder | what is in it |").skip(2).collect();
    let named: Vec<&str> = map
        .iter()
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| cells(line)[0].split(", ").map(|name| name.trim_matches('`')).collect::<Vec<_>>())
        .collect();
    for name in &named {
        assert!(home().join(name).exists(), "the map names {name}, which is not there");
    }
    let folders = |folder: &str| {
        let entries = std::fs::read_dir(home().join(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry")).filter(|entry| entry.path().is_dir());
        names.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect::<Vec<_>>()
    };
    let top = folders(".")
        .into_iter()
        .filter(|name| !name.starts_with('.') && !["target", "crates"].contains(&name.as_str()));
    let crates = folders("crates").into_iter().map(|name| format!("crates/{name}"));
    for name in top.chain(crates) {
        let is_named = named.iter().any(|entry| entry.trim_end_matches('/') == name);
        assert!(is_named, "docs/explanation/map.md does not name {name}");
    }
    let questions = page.lines().skip_while(|line| *line != "| question | look in |").skip(2);
    let paths: Vec<&str> = questions
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|path| path.contains('/'))
        .collect();
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        assert!(home().join(path).exists(), "the map names {path}, which is not there");
    }
    assert!(readme.lines().count() <= 150, "README.md is longer than a reader's patience");
}
