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
fn every_paper_has_claims_and_most_are_checked() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    for paper in Paper::named(&workspace, "all").expect("the papers") {
        let tested = paper.claims.iter().filter(|claim| claim.verdict != Verdict::CannotBeTested);
        let checked = tested.clone().filter(|claim| !claim.shows.is_empty()).count();
        assert!(tested.clone().count() > 1 && 2 * checked > tested.count(), "{}: {checked}", paper.id);
    }
}
