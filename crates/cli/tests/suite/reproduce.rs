//! `wattseal reproduce` as others rely on it: fields, charts, reports, and places that are refused
//! before the work.

use crate::contract::{home, refused, rows, stdout, wattseal};
use std::fs;
use std::io::Read;
use std::path::PathBuf;

const HEADER: &str = "paper,table,row,column,unit,published,measured,ratio,kind,accuracy,seed,note,\
                      corroboration,corroboration_source,compiler,version,commit\n";

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = home().join("target/contract-test").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("target/ can be written");
    folder
}

#[test]
fn reproduce_rows_have_the_contract_s_fields() {
    let rows = rows(&["reproduce", "fujdiak2015", "--format", "json"]);
    for row in &rows {
        let fields: Vec<&str> = row.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut expected = vec![
            "paper",
            "table",
            "row",
            "column",
            "unit",
            "published",
            "measured",
            "ratio",
            "kind",
            "accuracy",
            "seed",
            "note",
            "compiler",
            "version",
            "commit",
            "claims",
            "corroboration",
            "corroboration_source",
        ];
        expected.sort_unstable();
        let mut fields = fields;
        fields.sort_unstable();
        assert_eq!(fields, expected);
        assert_eq!(row["paper"], "fujdiak2015");
    }
    let cycles = rows.iter().find(|row| row["table"] == "Table 2").expect("cycles");
    assert_eq!((&cycles["kind"], &cycles["seed"]), (&"measured".into(), &1.into()), "{cycles}");
    let compiler = cycles["compiler"].as_str().expect("a compiler");
    assert!(compiler.starts_with("clang ") && compiler.contains('.'), "{cycles}");
    assert_eq!(cycles["version"], env!("CARGO_PKG_VERSION"));
    let commit = cycles["commit"].as_str().expect("a commit").trim_end_matches("-dirty");
    let is_hash = commit.len() == 12 && commit.chars().all(|digit| digit.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown", "{cycles}");
    let quoted = rows.iter().find(|row| row["table"] == "Table 1").expect("no measurement");
    assert!(quoted["compiler"].is_null() && quoted["commit"] == cycles["commit"], "{quoted}");
    let clock = rows.iter().find(|row| row["table"] == "Table 2, time").expect("times");
    assert!(clock["note"].as_str().expect("a note").contains("100 ns"), "{clock}");
}

/// The folder is made, with its parents; the files are there; standard output holds the rows as
/// without the option.
#[test]
fn reproduce_draws_the_figures_of_a_paper() {
    let folder = home().join("target/contract-test/plots/of mane2014");
    let _ = std::fs::remove_dir_all(&folder);
    let path = folder.display().to_string();
    let output = wattseal(&["reproduce", "mane2014", "--format", "csv", "--plots", &path]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&path), "{text}");
    assert!(stdout(&output).starts_with(HEADER));
    for figure in ["4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7"] {
        let file = folder.join(format!("mane2014-figure-{figure}.svg"));
        let svg = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        assert!(svg.starts_with("<svg") && svg.contains(&format!("Figure {figure}:")), "{file:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_a_failure_before_the_work() {
    let folder = home().join("target/contract-test");
    std::fs::create_dir_all(&folder).expect("target/ can be written");
    let file = folder.join("a file");
    std::fs::write(&file, "").expect("target/ can be written");
    let text = refused(&["reproduce", "mane2014", "--plots", &file.join("plots").display().to_string()], 1);
    assert!(text.contains("a file/plots") && text.contains("check the path"), "{text}");
}

#[test]
fn unwritable_plot_folder_fails_before_the_work() {
    let text = refused(&["reproduce", "mane2014", "--plots", "/proc/self"], 1);
    assert!(text.contains("/proc/self"), "{text}");
}

#[test]
fn a_misspelt_paper_is_wrong_usage_and_the_nearest_is_named() {
    let text = refused(&["reproduce", "fujdiak2014"], 2);
    assert!(text.contains("there is no paper 'fujdiak2014'; did you mean fujdiak2015"), "{text}");
}

/// The page has published and our figures of the rows that standard output has; nothing but the
/// page is left in its folder. A second run replaces it.
#[test]
fn report_has_the_figures_of_the_rows() {
    let folder = folder("report");
    let file = folder.join("fujdiak2015.html");
    fs::write(&file, "an earlier page").expect("target/ can be written");
    let path = file.display().to_string();
    let output = wattseal(&["reproduce", "fujdiak2015", "--format", "csv", "--report", &path]);
    let remark = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && remark.contains(&path), "{remark}");
    assert!(stdout(&output).starts_with(HEADER));
    let html = fs::read_to_string(&file).expect("a page");
    assert!(html.ends_with("</html>") && !html.contains("Incomplete."));
    for part in
        ["<td class=\"published first\"", "8,000", "7,288", "0.91", "clang ", "targets/msp430f5438a.toml"]
    {
        assert!(html.contains(part), "{part} is missing");
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
}

#[test]
fn report_in_an_impossible_place_fails_before_the_work() {
    let folder = folder("report places");
    let file = folder.join("a file");
    fs::write(&file, "").expect("target/ can be written");
    let below = file.join("page.html").display().to_string();
    let file = file.display().to_string();
    let folder = folder.display().to_string();
    for (paper, place, code, said) in [
        ("fujdiak2015", folder.as_str(), 2, "is a folder"),
        ("fujdiak2015", "/dev/full", 2, "no file for a page"),
        ("fujdiak2015", "target/contract-test/no folder/", 2, "no file for a page"),
        ("fujdiak2015", &below, 1, "check the path"),
        ("fujdiak2015", "/proc/self/page.html", 1, "/proc/self"),
        ("all", &file, 1, "a file"),
        ("all", "/proc/self", 1, "/proc/self"),
    ] {
        let text = refused(&["reproduce", paper, "--report", place], code);
        assert!(text.contains(said), "{place}: {text}");
    }
}

/// A reader of standard output that has gone takes nothing from the page.
#[test]
fn report_is_written_though_nobody_reads_the_tables() {
    let file = folder("report unread").join("page.html");
    fs::write(&file, "an earlier page").expect("target/ can be written");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(["reproduce", "fujdiak2015", "--report", &file.display().to_string()])
        .env("WATTSEAL_HOME", home())
        .stdout(writer)
        .output()
        .expect("the program runs");
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    assert!(fs::read_to_string(&file).expect("a page").ends_with("</html>"));
}

#[test]
fn papers_tables_are_latex_and_markdown() {
    let latex = wattseal(&["reproduce", "fujdiak2015", "--format", "latex"]);
    assert!(latex.status.success() && stdout(&latex).contains("\\begin{tabular}"), "{}", stdout(&latex));
    let markdown = wattseal(&["reproduce", "fujdiak2015", "--format", "markdown"]);
    let text = stdout(&markdown);
    assert!(markdown.status.success() && text.contains("\n| row | optimised, cycles"), "{text}");
}

/// Whenever Ctrl-C comes: exit code 1, whole papers, and what was measured of the one after them,
/// which says that it is incomplete.
#[test]
fn interrupted_papers_keep_what_was_measured() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(["reproduce", "all", "--fresh", "--format", "json"])
        .env("WATTSEAL_HOME", home())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut text = [0; 1];
    let mut stdout = program.stdout.take().expect("a pipe");
    stdout.read_exact(&mut text).expect("a first paper");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = std::process::Command::new("kill").args(["-INT", &program.id().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    let output = program.wait_with_output().expect("the end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let rest = char::from(text[0]).to_string() + &rest;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&rest).expect("an array of JSON");
    let paper = said.split("interrupted in ").nth(1).and_then(|rest| rest.split(':').next());
    let paper = paper.unwrap_or_else(|| panic!("no paper: {said}"));
    let of_it: Vec<_> = rows.iter().filter(|row| row["paper"] == paper).collect();
    let noted =
        |row: &serde_json::Value| row["note"].as_str().is_some_and(|note| note.contains("interrupted"));
    assert!(rows.iter().filter(|row| row["paper"] != paper).all(|row| !noted(row)), "{said}");
    assert_eq!(said.contains("what was measured of it is printed"), !of_it.is_empty(), "{said}");
    if !of_it.is_empty() {
        assert!(of_it.iter().any(|row| !row["measured"].is_null()) && of_it.iter().any(|row| noted(row)));
    }
}

/// A limit on the size of files stands for a full disk. Nothing is left behind.
#[test]
fn full_folder_fails_before_the_work() {
    let folder = folder("report full");
    let page = folder.join("page.html").display().to_string();
    let place = folder.display().to_string();
    for (paper, option, place) in
        [("fujdiak2015", "--report", &page), ("all", "--report", &place), ("fujdiak2015", "--plots", &place)]
    {
        let output = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_wattseal")])
            .args(["reproduce", paper, option, place])
            .env("WATTSEAL_HOME", home())
            .output()
            .expect("sh runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(output.stdout.is_empty() && said.contains("make room"), "{said}");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "{said}");
    }
}
