//! Counts of the style's rules over the whole tree, held as a ratchet.
//!
//! `tidy-counts.toml` has today's number of each rule and folder. A higher number fails and names
//! the places. A lower one fails, too, until it is written down:
//! `cargo test -p wattseal-cli --test suite -- --ignored renew_the_counts`
//! `tidy.toml` has the exceptions with their reasons, and the retired words.

use proc_macro2::TokenStream;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use testkit::documents::home;

mod circles;
mod rust;
mod text;

const COUNTS: &str = "crates/cli/tests/suite/tidy-counts.toml";
const RENEW: &str = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_counts";
/// Folders of built, fetched or copied files, besides those that begin with a dot.
const FOREIGN: [&str; 6] = ["target", "build", "node_modules", "dist", "__pycache__", "vendor"];
/// Places that a failure lists.
const LISTED_MAX: usize = 20;

/// A rule: its table of `tidy-counts.toml`, and the remedy for a place that breaks it.
struct Rule {
    name: &'static str,
    remedy: &'static str,
}

const RULES: [Rule; 9] = [
    Rule {
        name: "functions_over_80_lines",
        remedy: "cut the function; a dispatch loop is named in tidy.toml with the reason",
    },
    Rule {
        name: "files_over_600_lines",
        remedy: "cut the file by subject; the file of one dispatch loop is named in tidy.toml with the reason",
    },
    Rule { name: "lines_over_100_columns", remedy: "break the comment or the paragraph at column 100" },
    Rule {
        name: "doc_comments_with_a_question_word",
        remedy: "begin with a noun phrase or a verb in the third person; delete a comment that repeats the name",
    },
    Rule {
        name: "comments_with_a_vague_phrase",
        remedy: "name the number or the person: at most `max`, every `period_s`, for installations with",
    },
    Rule {
        name: "test_names_with_a_pronoun",
        remedy: "name subject, condition and result: attach_rejects_overlapping_buffer",
    },
    Rule { name: "test_names_of_60_letters", remedy: "name only subject, condition and result" },
    Rule { name: "folders_with_both_schemes", remedy: "move name/mod.rs to name.rs" },
    Rule { name: "modules_in_circles", remedy: "move what both modules need below them" },
];
/// Mark of the long functions that are named in `tidy.toml`: they break no rule.
const DISPATCH_LOOPS: &str = "dispatch_loops";
/// Mark of the long files that are named in `tidy.toml`: they break no rule.
const LONG_FILES: &str = "long_files";
const RETIRED: Rule = Rule { name: "retired_words", remedy: "use the better word of tidy.toml" };

/// A place that breaks a rule. Its group is the folder that is counted, or a retired word.
#[derive(Clone)]
struct Place {
    rule: &'static str,
    group: String,
    file: String,
    line: usize,
    text: String,
}

/// A file of the tree, by its path from the project's folder.
struct Source {
    path: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Generated files, which no rule counts.
    generated: BTreeSet<String>,
    /// Functions that may be long, as `file name`, with the reason.
    dispatch_loops: BTreeMap<String, String>,
    /// Files that may be long, with the reason.
    long_files: BTreeMap<String, String>,
    retired: Vec<RetiredWord>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetiredWord {
    word: String,
    better: String,
    /// Folder or file in which the word is retired; the whole tree where absent.
    #[serde(rename = "in", default)]
    within: String,
}

impl RetiredWord {
    /// Group of a place in this file; none where the word is not retired there.
    fn group(&self, path: &str) -> Option<String> {
        let group = || [self.word.as_str(), &self.within].join(" in ").trim_end_matches(" in ").to_owned();
        path.starts_with(&self.within).then(group)
    }
}

type Counts = BTreeMap<String, BTreeMap<String, usize>>;

static SETTINGS: LazyLock<Settings> =
    LazyLock::new(|| toml::from_str(include_str!("tidy.toml")).expect("tidy.toml"));

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let mut sources = Vec::new();
    read(&home(), Path::new(""), &mut sources);
    sources.retain(|source| !SETTINGS.generated.contains(&source.path));
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    let mut places = Vec::new();
    for source in &sources {
        text::check(source, &mut places);
    }
    text::check_schemes(&sources, &mut places);
    let of_rust = sources.iter().filter(|source| source.path.ends_with(".rs"));
    let parsed: Vec<(&Source, TokenStream)> = of_rust.map(|source| (source, rust::parse(source))).collect();
    for (source, tokens) in &parsed {
        rust::check(source, tokens, &mut places);
    }
    circles::check(&parsed, &mut places);
    places
});

/// Reads the files whose kind a rule knows.
fn read(home: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(home.join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        let path = folder.join(&name);
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            if !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                read(home, &path, found);
            }
        } else if kind.is_file() && text::is_known(&path) {
            let text = fs::read_to_string(entry.path()).expect("UTF-8");
            found.push(Source { path: path.to_str().expect("UTF-8").to_owned(), text });
        }
    }
}

/// Folder of a file that is counted: a crate, a folder of `device`, else the first folder.
fn group(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [first @ ("crates" | "device"), second, _, ..] => format!("{first}/{second}"),
        [first, _, ..] => (*first).to_owned(),
        _ => "files of the root".to_owned(),
    }
}

fn stated() -> Counts {
    toml::from_str(&fs::read_to_string(home().join(COUNTS)).expect("the counts")).expect(COUNTS)
}

/// Today's numbers. Each rule has its table, also an empty one.
fn counted() -> Counts {
    let rules = RULES.iter().chain([&RETIRED]);
    let mut counts: Counts = rules.map(|rule| (rule.name.to_owned(), BTreeMap::new())).collect();
    for place in PLACES.iter() {
        if let Some(rule) = counts.get_mut(place.rule) {
            *rule.entry(place.group.clone()).or_default() += 1;
        }
    }
    counts
}

/// The places of a group, those of the files that were changed last first.
fn listed(rule: &str, group: &str) -> String {
    let changed = |place: &&Place| {
        let metadata = fs::metadata(home().join(&place.file)).ok();
        std::cmp::Reverse(metadata.and_then(|metadata| metadata.modified().ok()))
    };
    let mut places: Vec<&Place> =
        PLACES.iter().filter(|place| place.rule == rule && place.group == group).collect();
    places.sort_by_cached_key(changed);
    let mut lines = String::new();
    for Place { file, line, text, .. } in places.iter().take(LISTED_MAX) {
        writeln!(lines, "  {file}:{line}: {text}").expect("memory");
    }
    if let Some(more) = places.len().checked_sub(LISTED_MAX + 1) {
        writeln!(lines, "  and {} more, in files that were changed earlier", more + 1).expect("memory");
    }
    lines
}

/// Compares a rule's numbers with those that are stated.
fn hold(rule: &Rule) {
    let (counted, stated) = (counted(), stated());
    let (counted, stated) = (&counted[rule.name], stated.get(rule.name).cloned().unwrap_or_default());
    let groups: BTreeSet<&String> = counted.keys().chain(stated.keys()).collect();
    let mut wrong = String::new();
    for group in groups {
        let (now, before) = (counted.get(group).copied(), stated.get(group).copied());
        let (now, before) = (now.unwrap_or_default(), before.unwrap_or_default());
        if now > before {
            writeln!(wrong, "{group}: {now} instead of {before}: {}", rule.remedy).expect("memory");
            wrong += &listed(rule.name, group);
        } else if now < before {
            writeln!(wrong, "{group}: {now} instead of {before}, write it down: {RENEW}").expect("memory");
        }
    }
    assert!(wrong.is_empty(), "{}, by {COUNTS}\n{wrong}", rule.name);
}

macro_rules! rules {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let name = stringify!($name);
                hold(RULES.iter().find(|rule| rule.name == name).expect("a rule"));
            }
        )*

        #[test]
        fn rules_all_have_a_test() {
            assert_eq!(RULES.map(|rule| rule.name), [$(stringify!($name)),*]);
        }
    };
}

rules! {
    functions_over_80_lines
    files_over_600_lines
    lines_over_100_columns
    doc_comments_with_a_question_word
    comments_with_a_vague_phrase
    test_names_with_a_pronoun
    test_names_of_60_letters
    folders_with_both_schemes
    modules_in_circles
}

#[test]
fn retired_words_do_not_come_back() {
    for RetiredWord { word, better, within } in &SETTINGS.retired {
        assert!(
            within.is_empty() || home().join(within).exists(),
            "tidy.toml: {word} is retired in {within}"
        );
        assert!(!better.is_empty(), "tidy.toml: {word} has no better word");
    }
    hold(&RETIRED);
}

#[test]
fn exceptions_are_needed_and_have_a_reason() {
    for path in &SETTINGS.generated {
        assert!(home().join(path).exists(), "tidy.toml: {path} does not exist");
    }
    for (mark, named) in [(DISPATCH_LOOPS, &SETTINGS.dispatch_loops), (LONG_FILES, &SETTINGS.long_files)] {
        for (name, reason) in named {
            let is_long = PLACES.iter().any(|place| place.rule == mark && place.group == *name);
            assert!(is_long, "tidy.toml: {name} is not long");
            assert!(!reason.is_empty(), "tidy.toml: {name} has no reason");
        }
    }
}

/// Writes the lower numbers. A number that grew stays as it was, and its rule fails.
#[test]
#[ignore = "writes tidy-counts.toml"]
fn renew_the_counts() {
    let stated = stated();
    let mut text = format!("# A number may only fall. Written by\n# `{RENEW}`\n");
    for (rule, groups) in counted() {
        writeln!(text, "\n[{rule}]").expect("memory");
        for (group, now) in groups {
            let before = stated.get(&rule).map(|groups| groups.get(&group).copied().unwrap_or_default());
            let number = before.map_or(now, |before| before.min(now));
            if number > 0 {
                writeln!(text, "\"{group}\" = {number}").expect("memory");
            }
        }
    }
    fs::write(home().join(COUNTS), text).expect("written");
}
