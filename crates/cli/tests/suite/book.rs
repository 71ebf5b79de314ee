//! The book: docs/SUMMARY.md lists its pages, each link of a page leads to a page and a heading,
//! and the text stays short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use testkit::documents::{home, pages};

const SUMMARY: &str = "docs/SUMMARY.md";
/// Documents beside the book.
const OUTSIDE: [&str; 4] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
/// Words of all documents outside tables and code: 55,000 for the book as it was made, and 900 for
/// the papers' claims and reports, and a node that configures itself; 700 for functions without a
/// board and images without names; 500 for signals, currents and serial ports; 400 for runners,
/// releases, tests in Python and boards' counts; 500 for devices in Python, wake on radio, the
/// RP2040's blocks and faster kernels; 600 for wireless M-Bus, slaves on a bus and converters;
/// 1,100 for faults, functions of C for constant time, public code and other makers' meters; 900
/// for power by program, marks of secrets, the bootloader's faults and telegrams by MQTT; 600 for
/// the meter that others read, and the tests' table of time; 250 for the costs of its telegrams.
const WORDS_MAX: usize = 55_000 + 900 + 700 + 500 + 400 + 500 + 600 + 1_100 + 900 + 250 + 600 + 250;
/// Words of a sentence, and the sentences that are longer still. The second number only falls.
const SENTENCE_WORDS_MAX: usize = 30;
const LONG_SENTENCES_MAX: usize = 66;
/// Columns of a line of text.
const COLUMNS_MAX: usize = 100;

/// The lines of a document outside its blocks of code.
fn prose(document: &str) -> Vec<String> {
    let text = fs::read_to_string(home().join(document)).expect("a document");
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// The pages and the documents beside them.
fn documents() -> Vec<String> {
    OUTSIDE.iter().map(|name| (*name).to_owned()).chain(pages()).collect()
}

/// The lines of a document outside its blocks of code and its tables.
fn text(document: &str) -> Vec<String> {
    let mut lines = prose(document);
    lines.retain(|line| !line.starts_with('|'));
    lines
}

/// Returns true if a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ") || {
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        number.len() < line.len() && number.starts_with(". ")
    }
}

/// The sentences of a document, in words. A colon ends one, because a list or a table often follows
/// it.
fn sentences(document: &str) -> Vec<Vec<String>> {
    let mut sentences = vec![Vec::new()];
    for line in text(document) {
        if line.trim().is_empty() || line.starts_with('#') || is_item(&line) {
            sentences.push(Vec::new());
        }
        for word in line.split_whitespace().filter(|_| !line.starts_with('#')) {
            sentences.last_mut().expect("one").push(word.to_owned());
            if word.trim_end_matches([')', '*', '"']).ends_with(['.', '!', '?', ':']) {
                sentences.push(Vec::new());
            }
        }
    }
    sentences
}

/// The targets of a line's links and pictures, without those in backquotes.
fn links(line: &str) -> Vec<String> {
    let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_owned()).collect()
}

/// A heading's anchor, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
    heading.trim().to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-")
}

/// The anchors of a document. A repeated heading has a number behind it.
fn anchors(document: &str) -> BTreeSet<String> {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let lines = prose(document);
    let headings = lines.iter().filter_map(|line| line.strip_prefix('#'));
    let numbered = headings.map(|heading| {
        let name = anchor(heading.trim_start_matches('#'));
        let before = count.entry(name.clone()).or_default();
        *before += 1;
        if *before == 1 { name } else { format!("{name}-{}", *before - 1) }
    });
    numbered.collect()
}

/// A link's path from the project's folder, and its anchor.
fn resolve(document: &str, link: &str) -> (String, String) {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    if path.is_empty() {
        return (document.to_owned(), anchor.to_owned());
    }
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{document}: {link} leaves the project"),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    (parts.join("/"), anchor.to_owned())
}

fn is_elsewhere(link: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

#[test]
fn summary_lists_each_page_once() {
    let mut listed: Vec<String> =
        prose(SUMMARY).iter().flat_map(|line| links(line)).map(|link| resolve(SUMMARY, &link).0).collect();
    listed.sort();
    assert_eq!(listed, pages(), "{SUMMARY} and the pages differ");
}

#[test]
fn every_link_leads_to_a_page_and_a_heading() {
    let mut problems = Vec::new();
    for document in documents().into_iter().chain([SUMMARY.to_owned()]) {
        for line in prose(&document) {
            for link in links(&line).iter().filter(|link| !is_elsewhere(link)) {
                let (path, anchor) = resolve(&document, link);
                let is_page = document.starts_with("docs/");
                if !home().join(&path).exists() {
                    problems.push(format!("{document}: there is no {path}"));
                } else if is_page && !path.starts_with("docs/") {
                    problems.push(format!("{document}: {link} is outside the book; write its path as code"));
                } else if !anchor.is_empty() && path.ends_with(".md") && !anchors(&path).contains(&anchor) {
                    problems.push(format!("{document}: {path} has no heading #{anchor}"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn text_of_all_documents_stays_within_its_limit() {
    let lines = documents().into_iter().flat_map(|document| text(&document));
    let words: usize = lines.map(|line| line.split_whitespace().count()).sum();
    assert!(words <= WORDS_MAX, "{words} words; shorten a page before another grows");
}

#[test]
fn long_sentences_become_fewer() {
    let mut found = Vec::new();
    for document in documents() {
        let long = sentences(&document).into_iter().filter(|words| words.len() > SENTENCE_WORDS_MAX);
        found.extend(long.map(|words| format!("{document}: {}", words.join(" "))));
    }
    let count = found.len();
    assert!(count <= LONG_SENTENCES_MAX, "{count} sentences are too long:\n{}", found.join("\n"));
}

/// A code span or a link that has no blank, or stands alone, may be longer.
#[test]
fn lines_of_text_end_at_their_column() {
    let is_generated = |page: &String| {
        ["json.md", "mutations.md", "sisters.md", "sources.md"].iter().any(|name| page.ends_with(name))
    };
    let mut found = Vec::new();
    for page in pages().into_iter().chain(["README.md".to_owned()]).filter(|page| !is_generated(page)) {
        for line in text(&page).iter().filter(|line| line.chars().count() > COLUMNS_MAX) {
            let is_one_piece = line.trim_start().starts_with(['`', '[', '!']) || is_item(line);
            if !is_one_piece {
                found.push(format!("{page}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "longer than {COLUMNS_MAX} columns:\n{}", found.join("\n"));
}

/// Folders whose files the pages name as code.
const FOLDERS: [&str; 7] = ["crates/", "device/", "web/", "targets/", "boards/", "papers/", "scenarios/"];

#[test]
fn every_path_that_a_page_names_is_there() {
    let mut problems = Vec::new();
    for document in pages() {
        let text = prose(&document).join("\n");
        for code in text.split('`').skip(1).step_by(2) {
            let path = code.split(':').next().unwrap_or_default();
            let is_path = FOLDERS.iter().any(|folder| path.starts_with(folder))
                && path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
                && !path.contains("/build");
            if is_path && !home().join(path).exists() {
                problems.push(format!("{document}: there is no {path}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn anchor_keeps_letters_digits_and_hyphens() {
    assert_eq!(anchor(" 5.1: 2 mJ a signature"), "51-2-mj-a-signature");
    assert_eq!(anchor(" What `ct` checks, and what that means"), "what-ct-checks-and-what-that-means");
    assert_eq!(links("[a](b.md#c) and `[d](e)` and ![f](g.svg)"), ["b.md#c", "g.svg"]);
}
