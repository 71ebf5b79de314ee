//! Report of a paper as a page of HTML, and the index of several. A page asks for nothing beyond
//! itself.

use crate::claim::{self, Verdict};
use crate::report::grid::{Cell, Figure, Grid, Head, Row};
use crate::report::meanings;
use crate::report::tally::Tally;
use crate::reproduce::provenance::Provenance;
use crate::reproduce::{Reproduction, TableChart};
use lab::page::document;
use lab::{LabError, plot};
use maud::{Markup, PreEscaped, html};

/// Counts of published figures in the index.
const CELLS: [&str; 7] =
    ["all", "within 10 %", "better", "worse", "other", "not measured", "derived, quoted"];

/// A paper in the index of a site.
#[derive(Clone, Debug)]
pub struct Entry {
    id: String,
    title: String,
    published_in: String,
    tally: Tally,
    /// Counts of the claims by their verdicts, in the order of [`Verdict::ALL`].
    verdicts: [usize; 4],
    /// Number of claims that were not shown.
    not_shown: usize,
    /// Number of wrong outputs and claims.
    wrong: usize,
    is_interrupted: bool,
}

impl Entry {
    /// The entry of a reproduced paper.
    #[must_use]
    pub fn of(outcome: &Reproduction) -> Entry {
        let count = |verdict| outcome.claims.iter().filter(|claim| claim.verdict == verdict).count();
        Entry {
            verdicts: Verdict::ALL.map(count),
            not_shown: count(Verdict::NotShown),
            wrong: outcome.wrong.len(),
            id: outcome.id.clone(),
            title: outcome.title.clone(),
            published_in: outcome.published_in.clone(),
            tally: Tally::of(&outcome.rows),
            is_interrupted: outcome.is_interrupted,
        }
    }
}

/// Name of a paper's page in a site.
#[must_use]
pub fn file_name(id: &str) -> String {
    format!("{id}.html")
}

/// A paper's page, with a link to the index if it is a page of a site.
///
/// # Errors
/// [`LabError::Chart`] for a chart that cannot be drawn. One without points is left out.
pub fn page(outcome: &Reproduction, in_site: bool) -> Result<String, LabError> {
    let grids = Grid::all(outcome);
    let mut tables = Vec::new();
    for (index, grid) in grids.iter().enumerate() {
        let drawn = outcome.charts.iter().find(|drawn| drawn.table == grid.name);
        let chart = drawn.filter(|drawn| has_points(drawn)).map(figure).transpose()?;
        tables.push(table(&outcome.id, index + 1, grid, chart));
    }
    let tally = Tally::of(&outcome.rows);
    let body = html! {
        @if in_site { nav { a href="index.html" { "All papers" } } }
        main {
            h1 { (outcome.title) }
            p.citation { (outcome.published_in) }
            @if outcome.is_interrupted {
                p.incomplete role="alert" {
                    strong { "Incomplete. " }
                    "The run was interrupted: figures that were not measured are dashes."
                }
            }
            @for sentence in &outcome.wrong {
                p.incomplete { strong { "Wrong. " } (sentence) "." }
            }
            p.summary { (summary(&tally)) }
            @if !outcome.claims.is_empty() { p.summary { (sentence_case(&claim::summary(&outcome.claims))) } }
            (explanation())
            nav aria-label="Tables" {
                ul.contents {
                    @for (index, grid) in grids.iter().enumerate() {
                        li { a href={ "#table-" (index + 1) } { (grid.name) ": " (grid.title) } }
                    }
                    @if !outcome.claims.is_empty() { li { a href="#claims" { "Claims of the text" } } }
                    li { a href="#origin" { "Origin of these figures" } }
                }
            }
            @for table in &tables { (table) }
            @if !outcome.claims.is_empty() { (claims(outcome, &grids)) }
            (origin(outcome))
        }
    };
    Ok(document(&format!("{} reproduced", outcome.id), &body))
}

/// The index of a site, of which `wanted` papers are to be pages.
#[must_use]
pub fn index(papers: &[Entry], wanted: usize) -> String {
    let is_partial = papers.len() < wanted || papers.iter().any(|paper| paper.is_interrupted);
    let body = html! {
        main {
            h1 { "Published figures, reproduced" }
            @if is_partial {
                p.incomplete role="alert" {
                    strong { "Incomplete. " }
                    (papers.iter().filter(|paper| !paper.is_interrupted).count()) " of " (wanted)
                    " papers are reproduced as a whole."
                }
            }
            p { "Published figures, each once, by ours beside it, and claims of the text by their verdict." }
            div.box role="region" aria-label="Papers" tabindex="0" {
                table.index {
                    caption { "Papers" }
                    thead {
                        tr {
                            th scope="col" rowspan="2" { "paper" }
                            th.first scope="colgroup" colspan=(CELLS.len()) { "published figures" }
                            th.first scope="colgroup" colspan=(Verdict::ALL.len()) { "claims" }
                        }
                        tr {
                            @for (index, name) in CELLS.iter().enumerate() {
                                th.figure.first[index == 0] scope="col" { (name) }
                            }
                            @for (index, verdict) in Verdict::ALL.iter().enumerate() {
                                th.figure.first[index == 0] scope="col" { (verdict.name()) }
                            }
                        }
                    }
                    tbody { @for paper in papers { (row_of(paper)) } }
                }
            }
            (explanation())
            p.aside { "Command: " code { "./wattseal reproduce all --report FOLDER" } }
        }
    };
    document("Published figures, reproduced", &body)
}

fn row_of(paper: &Entry) -> Markup {
    let Tally { within, better, worse, other_lower, other_higher, missing, derived } = paper.tally;
    let other = other_lower + other_higher;
    let counts: [usize; CELLS.len()] = [paper.tally.count(), within, better, worse, other, missing, derived];
    html! {
        tr {
            th scope="row" {
                a href=(file_name(&paper.id)) { (paper.id) } br;
                span.aside { (paper.title) ". " span.authors { (paper.published_in) } }
                @if paper.is_interrupted { " " strong { "(incomplete)" } }
                @if paper.not_shown > 0 { " " (paper.not_shown) " claims are not shown." }
                @if paper.wrong > 0 { " " strong { "Wrong: " (paper.wrong) "." } }
            }
            @for (index, count) in counts.iter().enumerate() { td.first[index == 0] { (count) } }
            @for (index, count) in paper.verdicts.iter().enumerate() { td.first[index == 0] { (count) } }
        }
    }
}

/// All counts in one line.
fn summary(tally: &Tally) -> String {
    let Tally { within, better, worse, other_lower, other_higher, missing, derived } = tally;
    let other = match other_lower + other_higher {
        0 => String::new(),
        other => format!("{other} otherwise different, "),
    };
    format!(
        "{} published figures are compared: {within} within 10\u{a0}%, {better} better, {worse} worse, {other}\
         {missing} not measured, {derived} derived or quoted.",
        tally.count()
    )
}

fn explanation() -> Markup {
    html! {
        p.aside {
            "Less is better for cycles, bytes, times, powers and energies: better is more than 10 % below the \
             published figure, worse is more than 10 % above it. Deviations, shares, clocks and voltages \
             that are off by more are \u{201c}otherwise different\u{201d}. Derived, quoted \
             and native figures reproduce nothing. The ratio is ours over the published figure."
        }
    }
}

/// A table with its chart, its notes and its command.
fn table(id: &str, number: usize, grid: &Grid, chart: Option<Markup>) -> Markup {
    let place = format!("table-{number}");
    html! {
        section aria-labelledby={ (place) "-name" } {
            h2 id=(place) {
                span id={ (place) "-name" } { (grid.name) ": " (grid.title) }
                (references(&place, &grid.on_all))
            }
            div.box role="region" aria-labelledby={ (place) "-name" } tabindex="0" {
                table {
                    caption { (grid.name) ": " (grid.title) }
                    (head(&place, grid))
                    tbody {
                        @for (index, row) in grid.rows.iter().enumerate() { (line(number, grid, index, row)) }
                    }
                }
            }
            @for (mark, meaning) in meanings(grid.cells()) { p.legend { (mark) " " (meaning) } }
            @if let Some(chart) = chart { (chart) }
            @if !grid.notes.is_empty() {
                ol.notes {
                    @for (index, note) in grid.notes.iter().enumerate() {
                        li id={ (place) "-note-" (index + 1) } { (note) }
                    }
                }
            }
            p.aside { "Command: " code { "./wattseal reproduce " (id) } (made_with(grid)) }
        }
    }
}

fn head(place: &str, grid: &Grid) -> Markup {
    let has_figures = grid.columns.iter().any(|head| head.figures != [Figure::Published]);
    html! {
        thead {
            tr {
                th scope="col" rowspan=[has_figures.then_some("2")] { "row" }
                @for head in &grid.columns {
                    th.first scope="colgroup" colspan=(head.figures.len()) {
                        (head.text()) (references(place, &head.notes))
                    }
                }
            }
            @if has_figures {
                tr {
                    @for head in &grid.columns {
                        @for (index, figure) in head.figures.iter().enumerate() {
                            th.figure.first[index == 0] scope="col" { (figure.name()) }
                        }
                    }
                }
            }
        }
    }
}

fn line(number: usize, grid: &Grid, index: usize, row: &Row) -> Markup {
    let place = format!("table-{number}");
    html! {
        tr {
            th scope="row" { (row.name) (references(&place, &row.notes)) }
            @for (column, (head, cell)) in grid.columns.iter().zip(&row.cells).enumerate() {
                (figures(&place, &cell_id(number, index, column), head, cell))
            }
        }
    }
}

fn figures(place: &str, id: &str, head: &Head, cell: &Cell) -> Markup {
    let row = cell.row;
    let reproduces = row.kind.is_some_and(|kind| kind.reproduces());
    let single = Tally::of_cell(row);
    let last = head.figures.len() - 1;
    html! {
        @for (index, figure) in head.figures.iter().enumerate() {
            @let is_ratio = *figure == Figure::Ratio && reproduces;
            td.(figure.name()).first[index == 0].better[is_ratio && single.better > 0]
                .worse[is_ratio && single.worse > 0] id=[(index == 0).then_some(id)] {
                (figure.text(row))
                @if index == last { (references(place, &cell.notes)) }
            }
        }
    }
}

/// Name of a cell's first figure in its page.
fn cell_id(table: usize, row: usize, column: usize) -> String {
    format!("cell-{table}-{row}-{column}")
}

/// Links to notes of a table.
fn references(place: &str, notes: &[usize]) -> Markup {
    html! {
        @if !notes.is_empty() {
            sup {
                @for (index, note) in notes.iter().enumerate() {
                    @if index > 0 { "," }
                    a href={ "#" (place) "-note-" (note) } aria-label={ "note " (note) } { (note) }
                }
            }
        }
    }
}

/// Compilers, seeds and bounds of a table's figures.
fn made_with(grid: &Grid) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut add = |part: Option<String>| {
        if let Some(part) = part.filter(|part| !parts.contains(part)) {
            parts.push(part);
        }
    };
    grid.cells().for_each(|row| add(row.compiler.clone()));
    grid.cells().for_each(|row| add(row.seed.map(|seed| format!("seed {seed}"))));
    let mut bounds: Vec<String> = Vec::new();
    for bound in grid.cells().filter_map(|row| row.accuracy).map(|bound| bound.to_string()) {
        if !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
    if !bounds.is_empty() {
        parts.push(format!("accuracy of cycles: {}", bounds.join(", ")));
    }
    if parts.is_empty() { parts.concat() } else { format!(" \u{b7} {}", parts.join(" \u{b7} ")) }
}

/// A chart, without the sentences that stand as notes of its table.
fn figure(drawn: &TableChart) -> Result<Markup, LabError> {
    let title = drawn.chart.title.clone();
    let svg = plot::svg(&plot::Chart { notes: Vec::new(), ..drawn.chart.clone() })?;
    let label = html! { (title) }.into_string();
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1);
    Ok(html! {
        figure.chart tabindex="0" aria-label={ "Chart of " (title) } { (PreEscaped(svg)) }
    })
}

fn has_points(drawn: &TableChart) -> bool {
    let mut points = drawn.chart.series.iter().flat_map(|series| &series.points);
    points.any(|(x, y)| x.is_finite() && y.is_finite() && (!drawn.chart.y.log || *y > 0.0))
}

/// The claims of the paper's text, each with the verdict that its cells show.
fn claims(outcome: &Reproduction, grids: &[Grid]) -> Markup {
    html! {
        section aria-labelledby="claims" {
            h2 id="claims" { "Claims of the text" }
            ul.claims {
                @for claim in &outcome.claims {
                    @let is_refuted = claim.verdict == Verdict::DoesNotHold;
                    li.holds[claim.verdict == Verdict::Holds].fails[is_refuted] {
                        p { (claim.text) " " span.aside { "(" (claim.at) ")" } }
                        p { span.verdict { (sentence_case(&claim.finding())) } ": " (claim.because) }
                        @if !claim.cells.is_empty() {
                            p.aside {
                                "Cells: "
                                @for (index, cell) in claim.cells.iter().enumerate() {
                                    @if index > 0 { ", " }
                                    a href={ "#" (place_of(grids, cell)) } { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Name of a cell in its page, by its name in the paper's file.
fn place_of(grids: &[Grid], cell: &str) -> String {
    let mut places = grids.iter().enumerate().flat_map(|(table, grid)| {
        grid.rows.iter().enumerate().flat_map(move |(row, cells)| {
            cells.cells.iter().enumerate().map(move |(column, cell)| (table + 1, row, column, cell.row))
        })
    });
    let found = places.find(|(.., row)| row.cell_name() == cell);
    found.map_or_else(String::new, |(table, row, column, _)| cell_id(table, row, column))
}

/// A sentence with a capital letter.
fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn origin(outcome: &Reproduction) -> Markup {
    let Provenance { origin, date, runs, targets } = &outcome.provenance;
    let seed = outcome.rows.iter().find_map(|row| row.seed);
    html! {
        section aria-labelledby="origin" {
            h2 id="origin" { "Origin of these figures" }
            dl {
                dt { "paper" } dd { (outcome.citation()) }
                dt { "program" } dd { "wattseal " (origin.version) ", commit " code { (origin.commit.as_str()) } }
                dt { "date" } dd { (date) }
                @if let Some(seed) = seed {
                    dt { "inputs" } dd { (runs) " random inputs for each figure, seed " (seed) }
                }
                @for target in targets {
                    dt { (target.name) }
                    dd { (target.compiler) ", " code { (target.file.display()) } }
                }
                dt { "file" } dd { code { "papers/" (outcome.id) ".toml" } }
                dt { "command" } dd { code { "./wattseal reproduce " (outcome.id) " --report FILE.html" } }
            }
        }
    }
}
