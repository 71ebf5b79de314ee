//! Reports of `bench` and `measure` as pages of HTML.

use super::arrangement::Arrangement;
use super::parts::{self, PartRow};
use super::section::{Section, WRONG};
use super::{called, measured, picture};
use crate::LabError;
use crate::call::CallRow;
use crate::measure::{MeasureRow, flamegraph};
use crate::origin::{Provenance, today};
use crate::page::{data_address, document};
use crate::power_states::{ACTIVE, StateSpent};
use crate::rank::Rank;
use crate::row::BenchRow;
use crate::traces::{Listing, ListingRow};
use maud::{Markup, PreEscaped, html};
use output::{Sheet, grouped, scaled};

/// Parts of a run of `measure` beside its rows.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredRun<'a> {
    /// Lines of the flame graph.
    pub folded: &'a [String],
    pub states: &'a [StateSpent],
    pub listing: Option<&'a Listing>,
    /// Remarks for a person.
    pub remarks: &'a str,
}

/// The page of a bench: its tables, and the parts as bars.
///
/// # Errors
/// [`LabError::Chart`] for a chart that cannot be drawn.
pub fn bench_page(rows: &[BenchRow], arrangement: &Arrangement, command: &str) -> Result<String, LabError> {
    let mut rows = rows.to_vec();
    arrangement.sort(&mut rows);
    let sections = arrangement.sections(&rows, false, false);
    let by = arrangement.rank().unwrap_or(Rank::Energy);
    let has_figures = rows.iter().any(|row| row.verified);
    let chart = has_figures.then(|| picture::picture(&rows, by)).transpose()?;
    let origins: Vec<(&str, &Provenance)> =
        rows.iter().map(|row| (row.target.as_str(), &row.provenance)).collect();
    let body = html! {
        main {
            h1 { "Costs of operations" }
            @for section in &sections { (table(section)) }
            @if let Some(svg) = &chart { (drawn(svg, "Parts side by side")) }
            (origin(&origins, command))
        }
    };
    Ok(document("Costs of operations", &body))
}

/// The page of a call: its parts in a table and as bars.
///
/// # Errors
/// [`LabError::Chart`] for a chart that cannot be drawn.
pub fn call_page(rows: &[CallRow], by: Option<Rank>, command: &str) -> Result<String, LabError> {
    let parts: Vec<PartRow<'_>> = rows.iter().map(called::part).collect();
    let call = rows.first().map_or("", |row| row.call.as_str());
    let section =
        Section { title: call.to_owned(), sheet: parts::sheet(&parts, None), feet: parts::feet(&parts) };
    let has_figures = rows.iter().any(|row| row.problem.is_none());
    let by = by.unwrap_or(Rank::Energy);
    let chart = has_figures.then(|| picture::parts(call, &parts, by)).transpose()?;
    let origins: Vec<(&str, &Provenance)> =
        rows.iter().map(|row| (row.target.as_str(), &row.provenance)).collect();
    let problems = rows.iter().filter_map(|row| Some((&row.target, row.problem.as_ref()?)));
    let body = html! {
        main {
            h1 { "Costs of a function" }
            @for (target, problem) in problems { p.incomplete { strong { (target) ": " } (problem) } }
            (table(&section))
            @if let Some(svg) = &chart { (drawn(svg, "Parts side by side")) }
            (origin(&origins, command))
        }
    };
    Ok(document("Costs of a function", &body))
}

/// The page of a measurement: rows, flame graph, lines of a function.
///
/// # Errors
/// [`LabError::Chart`] for a flame graph that cannot be drawn.
pub fn measured_page(rows: &[MeasureRow], run: MeasuredRun<'_>, command: &str) -> Result<String, LabError> {
    let title = rows.first().map_or_else(String::new, |row| format!("{} on {}", row.firmware, row.target));
    let graph = (!run.folded.is_empty())
        .then(|| flamegraph::svg(run.folded, "Cycles by function".into(), true))
        .transpose()
        .map_err(|problem| LabError::Chart { title: title.clone(), problem })?;
    let origins: Vec<(&str, &Provenance)> =
        rows.iter().filter_map(|row| Some((row.target.as_str(), row.provenance.as_ref()?))).take(1).collect();
    let why = rows.iter().find_map(|row| row.ended.as_ref()?.why.as_ref());
    let body = html! {
        main {
            h1 { (title) }
            @if let Some(why) = why {
                p.incomplete role="alert" { strong { "The run did not end as it should. " } (why) }
            }
            @for section in measured::sections(rows) { (table(&section)) }
            @if let Some(svg) = &graph {
                h2 { "Flame graph" }
                figure.chart tabindex="0" aria-label="Flame graph" {
                    img alt="Cycles of each function, above its caller" src=(data_address(svg));
                }
            }
            @if let Some(listing) = run.listing { (lines(listing, joules_per_cycle(run.states))) }
            @for remark in run.remarks.lines() { p.aside { (remark.trim_start_matches("wattseal: ")) } }
            (origin(&origins, command))
        }
    };
    Ok(document(&title, &body))
}

/// Mean energy of a cycle in which the core runs; none of a run without one.
fn joules_per_cycle(states: &[StateSpent]) -> Option<f64> {
    let active = states.iter().find(|state| state.state == ACTIVE && state.cycles > 0)?;
    Some(active.energy_j / active.cycles as f64)
}

fn table(section: &Section<'_>) -> Markup {
    let Section { title, sheet, feet } = section;
    html! {
        section {
            @if !title.is_empty() { h2 { (title) } }
            (grid(sheet, title))
            @for foot in feet { p.legend { (foot) } }
        }
    }
}

fn grid(sheet: &Sheet<'_>, title: &str) -> Markup {
    let sides: Vec<bool> = sheet.headers().map(|(_, right)| right).collect();
    html! {
        div.box role="region" aria-label=(title) tabindex="0" {
            table {
                caption { (title) }
                thead {
                    tr { @for (header, right) in sheet.headers() { th.figure[right] scope="col" { (header) } } }
                }
                tbody {
                    @for row in sheet.rows() {
                        tr {
                            @for (index, (cell, right)) in row.iter().zip(&sides).enumerate() {
                                @if index == 0 { th scope="row" { (cell) } }
                                @else { td.words[!right].worse[cell == WRONG] { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn drawn(svg: &str, label: &str) -> Markup {
    html! {
        figure.chart tabindex="0" aria-label=(label) { (PreEscaped(svg)) }
    }
}

/// The source lines of a function, each with its instructions.
fn lines(listing: &Listing, joules_per_cycle: Option<f64>) -> Markup {
    let all = listing.cycles().max(1) as f64;
    let energy = |cycles: u64| {
        joules_per_cycle.map_or_else(|| "–".into(), |joules| scaled(joules * cycles as f64, "J"))
    };
    let count = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
    let groups = listing.rows.chunk_by(|one, other| (&one.file, one.line) == (&other.file, other.line));
    html! {
        section {
            h2 { (listing.function) ", line by line" }
            p.aside { "Own cycles of the function, and their energy at the run's mean current while the core runs." }
            div.box role="region" aria-label="Source lines" tabindex="0" {
                table {
                    caption { "Source lines" }
                    thead {
                        tr {
                            th scope="col" { "line" }
                            th scope="col" { "source" }
                            @for header in ["executed", "cycles", "share", "energy"] {
                                th.figure scope="col" { (header) }
                            }
                        }
                    }
                    tbody {
                        @for rows in groups {
                            @let cycles: u64 = rows.iter().map(|row| row.cycles).sum();
                            @let executions = rows.iter().map(|row| row.executions).max().unwrap_or(0);
                            tr {
                                th scope="row" { (place(&rows[0])) }
                                td.source {
                                    details {
                                        summary { code { (rows[0].source.as_deref().unwrap_or("–")) } }
                                        code { @for row in rows { (instruction(row)) "\n" } }
                                    }
                                }
                                td { (count(executions)) }
                                td { (count(cycles)) }
                                td { (format!("{:.1} %", 100.0 * cycles as f64 / all)) }
                                td { (energy(cycles)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn place(row: &ListingRow) -> String {
    let file = row.file.as_deref().unwrap_or_default();
    let file = file.rsplit('/').next().unwrap_or(file);
    row.line.map_or_else(|| "–".into(), |line| format!("{file}:{line}"))
}

fn instruction(row: &ListingRow) -> String {
    let ListingRow { address, opcode, instruction, executions, cycles, .. } = row;
    let instruction = instruction.as_deref().unwrap_or_default();
    format!("{address:>8x}  {opcode:<9}  {instruction:<24} {executions:>9} × {cycles} cycles")
}

/// Program, targets, compilers, seeds and command.
fn origin(origins: &[(&str, &Provenance)], command: &str) -> Markup {
    let mut targets: Vec<(&str, &Provenance)> = Vec::new();
    for (target, provenance) in origins {
        if !targets.iter().any(|(known, of)| known == target && of.compiler == provenance.compiler) {
            targets.push((target, provenance));
        }
    }
    html! {
        section {
            h2 { "Origin of these figures" }
            dl {
                @if let Some((_, Provenance { version, commit, seed, .. })) = targets.first() {
                    dt { "program" } dd { "wattseal " (version) ", commit " code { (commit.as_str()) } }
                    @if let Some(seed) = seed { dt { "seed" } dd { (seed) } }
                }
                dt { "date" } dd { (today()) }
                @for (target, provenance) in &targets {
                    dt { (target) }
                    dd {
                        @if let Some(compiler) = &provenance.compiler { (compiler) ", " }
                        "target file " code { (provenance.target_sha256[..16]) }
                    }
                }
                dt { "command" } dd { code { (command) } }
            }
        }
    }
}
