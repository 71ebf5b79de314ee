//! The book: docs/SUMMARY.md lists its pages, and each link of a page leads to a page and a heading.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use testkit::documents::{home, pages};

const SUMMARY: &str = "docs/SUMMARY.md";

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
    let roots = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", SUMMARY];
    let roots = roots.iter().map(|name| (*name).to_owned()).filter(|name| home().join(name).is_file());
    for document in roots.chain(pages()) {
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
