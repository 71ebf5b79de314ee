//! docs/reference/sources.md and docs/reference/sisters.md are generated here: the facts whose
//! source was not at hand, and the parts with other sizes.

use lab::workspace::Workspace;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::documents::home;

/// The mark of a fact that was remembered. Another text behind these two words is about a part's
/// memory.
const MARK: &str = "from memory";
const ENDS_OF_MARK: [&str; 8] = [",", ".", ";", ":", ")", "\"", " of the ", " of AN"];
/// Folders and files with facts about parts, and the endings of the files.
const PLACES: [&str; 7] =
    ["targets", "radios", "boards", "board-names.toml", "papers", "crates/mcu/src", "device"];
const ENDINGS: [&str; 5] = ["toml", "rs", "c", "h", "S"];

/// A remembered fact: its file, the table of a TOML file that it is in, and its sentence.
struct Remembered {
    file: String,
    table: Option<String>,
    sentence: String,
}

/// A file with one of the endings, or those below a folder, sorted, but for what is built.
fn files(path: &Path, found: &mut BTreeSet<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            let path = entry.expect("an entry").path();
            if !path.ends_with("build") {
                files(&path, found);
            }
        }
    } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|wanted| ending == *wanted)) {
        found.insert(path.into());
    }
}

/// A line of a comment or a value without what marks it as one.
fn words(line: &str) -> &str {
    line.trim().trim_start_matches(['/', '#', '*', '!']).trim_end_matches("*/").trim()
}

fn is_comment(line: &str) -> bool {
    ["#", "//", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// Returns the places at which the mark begins in a text.
fn marks(text: &str) -> Vec<usize> {
    let is_mark = |at: &usize| ENDS_OF_MARK.iter().any(|end| text[at + MARK.len()..].starts_with(end));
    text.match_indices(MARK).map(|(at, _)| at).filter(is_mark).collect()
}

/// The sentence around a place of a text, with the one before it where it would be the mark alone.
fn sentence(text: &str, at: usize) -> String {
    let begins = |before: &str| {
        let ends = [". ", "; ", "source = \"", "what = \""];
        ends.iter()
            .filter_map(|end| before.rfind(end).map(|place| place + end.len()))
            .max()
            .unwrap_or_default()
    };
    let mut begin = begins(&text[..at]);
    if begin == at {
        begin = begins(text[..at].trim_end_matches(['.', ';', ' ']));
    }
    let end = [". ", "; ", "\" "].iter().filter_map(|end| text[at..].find(end)).min();
    let end = end.map_or(text.len(), |length| at + length);
    text[begin..end].trim_matches(['"', '}', ' ', '.', ',']).replace('|', "/")
}

fn remembered() -> Vec<Remembered> {
    let mut found = BTreeSet::new();
    for place in PLACES {
        files(&home().join(place), &mut found);
    }
    let mut rows = Vec::new();
    for path in found {
        let text = fs::read_to_string(&path).expect("a text");
        let lines: Vec<&str> = text.lines().collect();
        let file = path.strip_prefix(home()).expect("below it").display().to_string();
        let mut at = 0;
        while at < lines.len() {
            // A comment is one text over its lines, another line is one by itself.
            let length = match is_comment(lines[at]) {
                true => lines[at..].iter().take_while(|line| is_comment(line)).count(),
                false => 1,
            };
            let joined: Vec<&str> = lines[at..at + length].iter().map(|line| words(line)).collect();
            let joined = joined.join(" ");
            for mark in marks(&joined) {
                let table = table(&lines, at, length).filter(|_| file.ends_with(".toml"));
                rows.push(Remembered { file: file.clone(), table, sentence: sentence(&joined, mark) });
            }
            at += length;
        }
    }
    rows
}

/// Returns true if a line of TOML begins a table.
fn is_table(line: &&str) -> bool {
    line.starts_with('[')
}

/// The TOML table that lines are in, or that a comment stands above, with the name in it.
fn table(lines: &[&str], at: usize, length: usize) -> Option<String> {
    let above = is_comment(lines[at]).then(|| lines.get(at + length)).flatten().is_some_and(is_table);
    let head = if above { at + length } else { lines[..at].iter().rposition(is_table)? };
    let name = lines[head + 1..].iter().take_while(|line| !line.is_empty() && !is_table(line));
    let name = { name }
        .find_map(|line| line.strip_prefix("name = \"").or_else(|| line.strip_prefix("names = [\"")))
        .and_then(|name| name.split('"').next());
    let table = lines[head].trim_matches(['[', ']']);
    Some(name.map_or_else(|| table.to_owned(), |name| format!("{table} {name}")))
}

/// The results that a remembered fact decides on.
fn depends(row: &Remembered) -> String {
    let table = row.table.as_deref().unwrap_or_default();
    let of_tables = [
        ("cortex_m", "what a program reads of CPUID, SYST_CALIB and MPU_TYPE; comparators of a debugger"),
        ("supply.sleep", "energies asleep: `plan --rate`, `simulate`, and sleep in `run` and `measure`"),
        ("supply.change", "how long a start or a change of the clock takes: `plan`, `simulate`"),
        ("supply.brown_out", "the voltage at which a falling supply resets the part: `simulate`"),
        ("supply.module", "energies of modules: `plan`, `simulate`"),
        ("supply", "all energies of the part, and the limits of `--supply` and `--clock`"),
        ("flash", "wait states: cycles at the clocks concerned"),
        ("memory", "which addresses there are"),
        ("board", "clock, crystal and supply where `--target` is the board's name"),
        ("fuses", "what the fuses of an image do"),
    ];
    if let Some(name) = table.strip_prefix("peripheral ") {
        return format!("programs that use {name}");
    }
    if let Some((_, depends)) = of_tables.iter().find(|(name, _)| table.starts_with(name)) {
        return (*depends).to_owned();
    }
    // The last two names of the path, without what each has.
    let path = row.file.rsplit_once('.').map_or(row.file.as_str(), |(path, _)| path).trim_end_matches("/mod");
    let mut names: Vec<&str> = path.rsplit('/').take(2).collect();
    names.reverse();
    let name = names.join("/");
    match row.file.split('/').next() {
        Some("crates") => format!("the model `{name}`"),
        Some("device") => format!("the firmware's `{name}`, in its comments and bounds"),
        _ => "the part's file".to_owned(),
    }
}

fn page_of_sources() -> String {
    let rows = remembered();
    let mut page = "# Facts whose source was not at hand\n\n\
        The project's files mark a fact \"from memory\" when nobody has held it beside its document.\n\
        This table lists each mark. `crates/cli/tests/suite/pages.rs` makes it and holds it to the files:\n\
        `cargo test -p wattseal-cli --test suite -- --ignored renew_the_pages`. Remove a mark with the citation that confirms it.\n"
        .to_owned();
    page += &format!("\nThere are {} marks.\n\n", rows.len());
    page += "| file | table | fact | depends on it |\n| --- | --- | --- | --- |\n";
    for row in &rows {
        let table = row.table.as_deref().unwrap_or_default();
        page += &format!("| `{}` | {table} | {} | {} |\n", row.file, row.sentence, depends(row));
    }
    page
}

fn page_of_sisters() -> String {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let mut page = "# Sister parts\n\n\
        `--target` takes these names, too: parts of a target's family with other sizes of memory, or in another package.\n\
        Everything but the sizes is the target's: cycles, currents, peripherals and ports. The last column says how the part differs\n\
        beyond that; the model does not have those differences. An operation of `bench` is built for the target alone.\n\
        The sisters stand in the target's file as `[[sister]]`, with the source of their sizes. The test that compares this page\n\
        with them also makes it: `cargo test -p wattseal-cli --test suite -- --ignored renew_the_pages`.\n\n\
        | names | sister of | sizes, bytes | differs |\n| --- | --- | --- | --- |\n"
        .to_owned();
    for (target, sister) in workspace.sisters().expect("target files") {
        let sizes: Vec<String> =
            sister.sizes.iter().map(|(memory, size)| format!("{memory} {size}")).collect();
        let sizes = if sizes.is_empty() { "the target's".into() } else { sizes.join(", ") };
        let names: Vec<String> = sister.names.iter().map(|name| format!("`{name}`")).collect();
        let differs = sister.differs.unwrap_or_default();
        page += &format!("| {} | {target} | {sizes} | {differs} |\n", names.join(", "));
    }
    page
}

fn pages() -> [(PathBuf, String); 2] {
    [("sources", page_of_sources()), ("sisters", page_of_sisters())]
        .map(|(name, page)| (home().join(format!("docs/reference/{name}.md")), page))
}

#[test]
fn the_generated_pages_are_of_the_files() {
    for (path, page) in pages() {
        let there = fs::read_to_string(&path).unwrap_or_default();
        let renew = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_pages";
        assert!(there == page, "{} is of other files; {renew}", path.display());
    }
}

#[test]
#[ignore = "writes docs/reference/sources.md and docs/reference/sisters.md"]
fn renew_the_pages() {
    for (path, page) in pages() {
        fs::write(path, page).expect("written");
    }
}

#[test]
fn a_mark_is_told_from_a_part_s_memory() {
    assert_eq!(marks("tWRITE: 41 us (from memory, not yet compared)").len(), 1);
    assert_eq!(marks("the limits are from memory of the data sheet").len(), 1);
    assert!(marks("a word read from memory takes four cycles").is_empty());
    let text = "SLAU208, PMM. A step takes 150 us; DCO: from memory, not yet compared. The rest is compared";
    assert_eq!(sentence(text, marks(text)[0]), "DCO: from memory, not yet compared");
    let text = "The bus. A step takes 150 us; from memory, not yet compared";
    assert_eq!(sentence(text, marks(text)[0]), "A step takes 150 us; from memory, not yet compared");
}
