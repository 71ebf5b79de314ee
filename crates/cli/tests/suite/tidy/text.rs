//! Rules that need only a file's lines and its name.

use super::{LONG_FILES, Place, SETTINGS, Source, group};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FILE_LINES_MAX: usize = 600;
const COLUMNS_MAX: usize = 100;
const QUESTION_WORDS: [&str; 11] =
    ["What", "Whatever", "Who", "Whoever", "Whom", "Whose", "Which", "How", "Where", "Wherever", "Whether"];
/// Phrases that stand for a number or a person without naming them.
const VAGUE_PHRASES: [&str; 3] = ["so many", "so often", "for who "];
/// Endings of the files that are read, each with the beginnings of its comment lines.
const KINDS: [(&str, &[&str]); 9] = [
    ("rs", &["//"]),
    ("c", &["//", "/*", "* "]),
    ("h", &["//", "/*", "* "]),
    ("S", &["//", "/*", "* ", "; ", "# ", "@ "]),
    ("ts", &["//", "/*", "* "]),
    ("tsx", &["//", "/*", "* "]),
    ("py", &["#"]),
    ("toml", &["#"]),
    ("md", &[]),
];
/// Endings of the files that are programs.
const PROGRAMS: [&str; 6] = ["rs", "c", "h", "ts", "tsx", "py"];

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

pub fn is_known(path: &Path) -> bool {
    KINDS.iter().any(|(kind, _)| path.extension().is_some_and(|ending| ending == *kind))
}

/// Adds the places of a file that break a rule.
pub fn check(source: &Source, places: &mut Vec<Place>) {
    check_length(source, places);
    check_columns(source, places);
    if ending(&source.path) == "rs" {
        check_doc_comments(source, places);
        check_phrases(source, places);
    }
    check_name(source, places);
    if ending(&source.path) == "c" {
        check_words(source, places);
    }
}

fn place(rule: &'static str, source: &Source, line: usize, text: String) -> Place {
    Place { rule, group: group(&source.path), file: source.path.clone(), line, text }
}

fn check_length(source: &Source, places: &mut Vec<Place>) {
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX && PROGRAMS.contains(&ending(&source.path)) {
        let place = place("files_over_600_lines", source, lines, format!("{lines} lines"));
        places.push(if SETTINGS.long_files.contains_key(&source.path) {
            Place { rule: LONG_FILES, group: source.path.clone(), ..place }
        } else {
            place
        });
    }
}

/// Checks comments, and Markdown outside code blocks and tables.
fn check_columns(source: &Source, places: &mut Vec<Place>) {
    let kind = ending(&source.path);
    let (_, comments) = KINDS.iter().find(|(name, _)| *name == kind).expect("a known kind");
    let mut is_code = false;
    for (number, line) in source.text.lines().enumerate() {
        let trimmed = line.trim_start();
        let is_prose = if kind == "md" {
            is_code ^= trimmed.starts_with("```");
            !is_code && !trimmed.starts_with('|')
        } else {
            comments.iter().any(|begin| trimmed.starts_with(begin))
        };
        let columns = line.chars().count();
        if is_prose && columns > COLUMNS_MAX {
            places.push(place("lines_over_100_columns", source, number + 1, format!("{columns} columns")));
        }
    }
}

/// Checks the first word of each paragraph of the documentation.
fn check_doc_comments(source: &Source, places: &mut Vec<Place>) {
    let mut begins = true;
    for (number, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            begins = true;
            continue;
        };
        let text = text.trim_start();
        let first = text.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        if begins && QUESTION_WORDS.contains(&first) {
            let rule = "doc_comments_with_a_question_word";
            places.push(place(rule, source, number + 1, text.to_owned()));
        }
        begins = text.is_empty() || text.starts_with("# ");
    }
}

fn check_phrases(source: &Source, places: &mut Vec<Place>) {
    for (number, line) in source.text.lines().enumerate() {
        let comment = line.trim_start();
        let lower = comment.to_lowercase();
        if comment.starts_with("//") && VAGUE_PHRASES.iter().any(|phrase| lower.contains(phrase)) {
            places.push(place("comments_with_a_vague_phrase", source, number + 1, comment.to_owned()));
        }
    }
}

/// Checks the file's name, or its folder's where it is `mod.rs`, against the retired words.
fn check_name(source: &Source, places: &mut Vec<Place>) {
    let path = Path::new(&source.path);
    let named = if path.ends_with("mod.rs") { path.parent().unwrap_or(path) } else { path };
    let Some(stem) = named.file_stem().and_then(|stem| stem.to_str()) else { return };
    for retired in SETTINGS.retired.iter().filter(|retired| retired.word == stem) {
        if let Some(group) = retired.group(&source.path) {
            let text = format!("the file's name, better: {}", retired.better);
            places.push(Place { group, ..place("retired_words", source, 1, text) });
        }
    }
}

/// Checks the identifiers of a C file against the retired words.
fn check_words(source: &Source, places: &mut Vec<Place>) {
    let groups = SETTINGS.retired.iter().map(|retired| (retired, retired.group(&source.path)));
    let retired: Vec<_> = groups.filter_map(|(retired, group)| group.map(|group| (retired, group))).collect();
    for (number, line) in source.text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for name in code.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            for (retired, group) in retired.iter().filter(|(retired, _)| retired.word == name) {
                let text = format!("{name}, better: {}", retired.better);
                places
                    .push(Place { group: group.clone(), ..place("retired_words", source, number + 1, text) });
            }
        }
    }
}

/// Adds the folders with both `one/mod.rs`, and `other.rs` beside `other/`.
pub fn check_schemes(sources: &[Source], places: &mut Vec<Place>) {
    let paths: BTreeSet<&Path> = sources.iter().map(|source| Path::new(&source.path)).collect();
    let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    let mut schemes = BTreeMap::<&Path, [Option<&Path>; 2]>::new();
    for folder in folders {
        let Some(parent) = folder.parent() else { continue };
        let inside = paths.get(folder.join("mod.rs").as_path());
        let beside = paths.get(folder.with_extension("rs").as_path());
        let [first, second] = schemes.entry(parent).or_default();
        *first = first.or(inside.copied());
        *second = second.or(beside.copied());
    }
    for (folder, scheme) in schemes {
        if let [Some(inside), Some(beside)] = scheme {
            let folder = folder.to_str().expect("UTF-8").to_owned();
            let text = format!("{} and {}", inside.display(), beside.display());
            let group = group(&format!("{folder}/_"));
            places.push(Place { rule: "folders_with_both_schemes", group, file: folder, line: 1, text });
        }
    }
}
