//! Claims of the papers. Each refers to cells that exist, and states the verdict that they show.

use lab::workspace::Workspace;
use papers::claim::Verdict;
use papers::paper::Paper;

const TABLE: &str = r#"
id = "paper2026"
title = "Title"
published_in = "Journal"

[[table]]
name = "Table 1"
title = "Cells"
columns = [{ name = "w/o unit", unit = "1" }]
rows = [{ name = "row", published = [1] }, { name = "other", published = [2] }]
"#;

/// Parses a paper with one claim, of which `rest` are the last lines.
fn with_claim(verdict: &str, rest: &str) -> Result<Paper, String> {
    let claim = format!("text = \"Less.\"\nat = \"section 1\"\nverdict = \"{verdict}\"\nbecause = \"1 is.\"");
    Paper::parse(&format!("{TABLE}\n[[claims]]\n{claim}\n{rest}\n"))
}

#[test]
fn claim_names_cells_that_exist() {
    let known = with_claim("holds", "cells = [\"Table 1/row/w/o unit\"]").expect("a known cell");
    assert_eq!(known.claims[0].cells, ["Table 1/row/w/o unit"]);
    let refused = |verdict: &str, rest: &str, why: &str| {
        let problem = with_claim(verdict, rest).expect_err(rest);
        assert!(problem.contains(why), "{rest}: {problem}");
    };
    refused("holds", "cells = [\"Table 1/row/w/o\"]", "there is no cell 'Table 1/row/w/o'");
    refused("depends", "", "names no cell");
    refused("holds", "shows = [{ less = [\"Table 2/row/w/o unit\", \"a\"] }]", "there is no cell 'Table 2");
    refused("holds", "shows = [{ less = [\"Table 1/row/w/o unit\"] }]", "cannot fail");
    refused("holds", "shows = [{ figure = { of = \"Table 1/row/w/o unit\" } }]", "cannot fail");
    refused(
        "cannot be tested",
        "shows = [{ figure = { of = \"Table 1/row/w/o unit\", to = 1 } }]",
        "condition",
    );
    refused("is true", "", "unknown variant");
    refused("not shown in this run", "", "unknown variant");
    assert!(with_claim("cannot be tested", "").is_ok());
}

#[test]
fn figures_do_not_prove_a_claim_that_is_made_from_them() {
    let figure = "figure = { of = \"Table 1/row/w/o unit\", to = 1 }";
    let rest = format!("by_published = true\nshows = [{{ {figure} }}]");
    assert!(with_claim("holds", &rest).is_ok());
    let claim = "text = \"Less.\"\nat = \"a file\"\nverdict = \"holds\"\nbecause = \"1 is.\"";
    let paper = format!("has_text = false\n{TABLE}\n[[claims]]\n{claim}\n{rest}\n");
    let problem = Paper::parse(&paper).expect_err("no text");
    assert!(problem.contains("cannot prove it"), "{problem}");
}

#[test]
fn cells_of_a_condition_are_cells_of_the_claim() {
    let both = "[\"Table 1/row/w/o unit\", \"Table 1/other/w/o unit\"]";
    let paper = with_claim("holds", &format!("shows = [{{ less = {both} }}]")).expect("a paper");
    assert_eq!(paper.claims[0].cells, ["Table 1/row/w/o unit", "Table 1/other/w/o unit"]);
}

#[test]
fn reasons_name_cells_that_exist() {
    let parsed = |because: &str| {
        let claim = "text = \"Less.\"\nat = \"section 1\"\nverdict = \"cannot be tested\"";
        Paper::parse(&format!("{TABLE}\n[[claims]]\n{claim}\nbecause = \"{because}\"\n"))
    };
    let known = parsed("Ours takes {Table 1/row/w/o unit / published Table 1/other/w/o unit}.");
    let both = ["Table 1/row/w/o unit", "Table 1/other/w/o unit"];
    assert_eq!(known.expect("known cells").claims[0].cells, both);
    for (because, why) in
        [("{Table 1/row}", "there is no cell 'Table 1/row'"), ("{Table 1", "no closing brace")]
    {
        let problem = parsed(because).expect_err(because);
        assert!(problem.contains(why), "{because}: {problem}");
    }
}

/// Words behind which a sentence has others' figures.
const OTHERS: [&str; 6] = ["paper", "thesis", "published", "pqm4", "m4fspeed", "ST's"];
/// Units of what is measured.
const UNITS: [&str; 16] = [
    "%", "times", "cycles", "bytes", "kB", "KiB", "s", "ms", "µs", "mJ", "µJ", "mW", "mA", "million",
    "thousand", "MHz",
];

/// Returns the first figure with a unit that the file states in a sentence on ours.
fn stated_figure(sentence: &str) -> Option<String> {
    let mut words = Vec::new();
    let outside = sentence.split('{').enumerate();
    for part in
        outside.map(|(index, part)| if index == 0 { part } else { part.split('}').nth(1).unwrap_or("") })
    {
        words.extend(part.split_whitespace().map(|word| word.trim_matches([',', '.', ':', ';', '(', ')'])));
    }
    let is_ours = words.iter().any(|word| ["our", "ours", "us"].contains(&word.to_lowercase().as_str()));
    let ours = words.iter().position(|word| OTHERS.iter().any(|other| word.starts_with(other)));
    let words = &words[..ours.unwrap_or(words.len())];
    let is_figure = |pair: &&[&str]| {
        pair[0].starts_with(|letter: char| letter.is_ascii_digit()) && UNITS.contains(&pair[1])
    };
    words.windows(2).find(is_figure).filter(|_| is_ours).map(|pair| pair.join(" "))
}

/// A figure of ours in a reason would outlive the code that it is of.
#[test]
fn reasons_take_figures_of_ours_from_the_run() {
    assert_eq!(stated_figure("Ours takes 16.5 ms."), Some("16.5 ms".to_owned()));
    assert_eq!(stated_figure("Ours takes {a/b/c}, where the paper has 16.5 ms."), None);
    assert_eq!(stated_figure("It takes 2 s"), None);
    let workspace = Workspace::find().expect("the tests run inside the project");
    for paper in Paper::named(&workspace, "all").expect("the papers") {
        for claim in &paper.claims {
            let stated = claim.because.split(". ").find_map(stated_figure);
            assert_eq!(stated, None, "{}: {}", paper.id, claim.because);
        }
    }
}

#[test]
fn every_paper_has_claims_and_most_are_checked() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    for paper in Paper::named(&workspace, "all").expect("the papers") {
        let tested = paper.claims.iter().filter(|claim| claim.verdict != Verdict::CannotBeTested);
        let checked = tested.clone().filter(|claim| !claim.shows.is_empty()).count();
        assert!(tested.clone().count() > 1 && 2 * checked > tested.count(), "{}: {checked}", paper.id);
    }
}
