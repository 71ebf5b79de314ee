//! Every paper's text in every format. Nothing is measured: each cell has a figure that this test
//! gives it, so that all marks and notes are there.

use crate::reproduce::{NoDeliveries, Silence};
use lab::LabError;
use lab::delivery::{Deliveries, Delivery, DeliveryKind, Endpoints, NativeTimes};
use lab::progress::Progress;
use lab::workspace::Workspace;
use output::PaperFormat;
use papers::page;
use papers::paper::{FigureKind, Paper};
use papers::report::{Layout, PaperWriter};
use papers::reproduce::{PaperRow, Reproduction, TableChart, run, run_to_interruption};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ends the work after some reports.
struct EndAfter(AtomicUsize);

impl Progress for EndAfter {
    fn report(&self, _done: usize, _total: usize, _what: &str) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// A meter that delivers nothing.
struct Meter;

impl Deliveries for Meter {
    fn meter(&self, _: &Workspace) -> Result<String, LabError> {
        Ok("atmega128rfa1".into())
    }

    fn deliver(
        &self,
        _: &Workspace,
        _: &Endpoints,
        kind: &DeliveryKind,
        _: &dyn Progress,
    ) -> Result<Vec<Delivery>, LabError> {
        panic!("the work has ended before {kind:?}")
    }

    fn open_natively(&self, suite: &str) -> Result<NativeTimes, LabError> {
        let times_s = [1e-6, 2e-6, 4e-6].map(|time_s| time_s * suite.len() as f64).to_vec();
        Ok(NativeTimes { times_s, machine: "Measured natively on a made-up machine.".into() })
    }
}

/// All papers, each cell with a figure of some kind.
fn papers() -> Vec<Reproduction> {
    use FigureKind::{Derived, Measured, Modelled, Native, Quoted};
    let workspace = Workspace::find().expect("the tests run inside the project");
    let kinds = [Measured, Modelled, Derived, Quoted, Native];
    let reproduce = |name: &String| {
        let paper = Paper::read(&workspace, name).expect("the paper's file");
        let outcome = run_to_interruption(&workspace, &paper, &Meter, &EndAfter(AtomicUsize::new(0)));
        let mut outcome = outcome.expect("nothing is measured");
        assert!(outcome.is_interrupted, "{name}");
        for (row, kind) in outcome.rows.iter_mut().zip(kinds.into_iter().cycle()) {
            row.measured = Some(row.published.unwrap_or(1.0) * 0.75);
            row.ratio = row.published.map(|_| 0.75);
            row.kind = Some(kind);
        }
        outcome
    };
    Paper::names(&workspace).expect("papers").iter().map(reproduce).collect()
}

fn written(outcome: &Reproduction, format: PaperFormat) -> String {
    PaperWriter::new(format, Layout::default()).paper(outcome).expect("a text")
}

/// Checks braces, dollars, environments, and special letters outside of commands; returns the
/// number of environments.
fn check_latex(text: &str) -> usize {
    let (mut depth, mut dollars, mut environments, mut count) = (0i32, 0, Vec::new(), 0);
    for line in text.lines().filter(|line| !line.starts_with('%')) {
        let mut letters = line.chars().peekable();
        let mut before = ' ';
        let has_option = line.starts_with("\\caption[") || line == "\\begin{table}[htbp]";
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.peek().is_some_and(|next| !next.is_ascii_alphabetic()) => {
                    letters.next();
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                '$' => dollars += 1,
                '^' | '_' | '<' | '>' | '|' => assert!(dollars % 2 == 1, "{letter} in the text: {line}"),
                '%' | '#' | '~' | '"' => panic!("{letter} in the text: {line}"),
                '[' => assert!(before == '{' || has_option, "an option: {line}"),
                '-' => assert!(before != '-' || letters.peek() == Some(&'{'), "a ligature: {line}"),
                _ => assert!(letter.is_ascii() || ('À'..='ÿ').contains(&letter), "{letter}: {line}"),
            }
            before = letter;
        }
        assert!(depth >= 0 && dollars % 2 == 0, "{line}");
        for begun in line.split("\\begin{").skip(1) {
            environments.push(begun.split('}').next().unwrap_or_default());
            count += 1;
        }
        for ended in line.split("\\end{").skip(1) {
            assert_eq!(environments.pop(), ended.split('}').next(), "{line}");
        }
    }
    assert_eq!((depth, dollars % 2, environments), (0, 0, vec![]));
    count
}

#[test]
fn latex_of_every_paper_is_balanced_and_escaped() {
    for outcome in papers() {
        let text = written(&outcome, PaperFormat::Latex);
        let environments = check_latex(&text);
        assert!(environments >= 2 * outcome.tables.len(), "{}", outcome.id);
        let asked = outcome.rows.iter().map(|row| row.note.matches('?').count()).sum::<usize>();
        assert!(asked > 0 || !text.contains('?'), "{}: a letter that LaTeX has no name for", outcome.id);
        for tabular in text.split("\\begin{tabular}").skip(1) {
            let tabular = tabular.split("\\end{tabular}").next().unwrap_or_default();
            let columns = tabular.lines().next().unwrap_or_default().matches('r').count();
            for row in tabular.lines().filter(|line| line.starts_with("\\raggedright")) {
                let cells = row.replace("\\&", "").matches('&').count();
                assert_eq!(cells, columns, "{}: {row}", outcome.id);
            }
        }
    }
}

#[test]
fn latex_check_finds_what_is_wrong() {
    for wrong in ["{", "a_b", "50 %", "$x", "\\begin{table}", "a\\\\\n[2] b", "\u{3bc}"] {
        assert!(std::panic::catch_unwind(|| check_latex(wrong)).is_err(), "{wrong}");
    }
    check_latex("\\begin{tabular}{r}\na\\_b {[}2{]} $^{1}$ --{}\\\\\n\\end{tabular}");
}

#[test]
fn markdown_rows_have_as_many_cells_as_their_head() {
    for outcome in papers() {
        let text = written(&outcome, PaperFormat::Markdown);
        let lines: Vec<&str> = text.lines().collect();
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut tables = 0;
        for table in lines.split(|line| !line.starts_with('|')).filter(|table| !table.is_empty()) {
            tables += 1;
            assert!(table.len() > 2, "{}: {table:?}", outcome.id);
            for row in table {
                assert_eq!(cells(row), cells(table[0]), "{}: {row}", outcome.id);
            }
        }
        assert_eq!(tables, outcome.tables.len(), "{}", outcome.id);
    }
}

/// Elements without an end tag, by the HTML standard's list of void elements that a page has.
const VOID: [&str; 3] = ["br", "meta", "link"];

/// Checks that elements are nested, and that nothing is asked for beyond the page; returns the text
/// of its elements.
fn check_page(html: &str) -> String {
    let (mut open, mut text) = (Vec::new(), String::new());
    for piece in html.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').unwrap_or_else(|| panic!("an open tag: {piece}"));
        let name = tag.split([' ', '\n', '/']).find(|name| !name.is_empty()).unwrap_or_default();
        match tag {
            "!DOCTYPE html" => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "</{name}>"),
            _ if tag.ends_with('/') || VOID.contains(&name) => {}
            _ => open.push(name),
        }
        for attribute in ["src", "href", "action", "data", "srcset", "poster"] {
            for value in tag.split(&format!(" {attribute}=\"")).skip(1) {
                let value = value.split('"').next().unwrap_or_default();
                let is_link = name == "a" && attribute == "href";
                let is_page = value.ends_with(".html") && !value.contains([':', '/']);
                let is_inside = value.starts_with('#') || is_page;
                assert!(is_link && (is_inside || value.starts_with("https://doi.org/")), "{tag}");
            }
        }
        assert!(!["script", "iframe", "object", "embed", "img", "base", "form"].contains(&name), "{tag}");
        text += rest;
    }
    assert_eq!(open, Vec::<&str>::new());
    assert!(!html.contains("url(") && !html.contains("@import"));
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn page_of_every_paper_is_whole_and_asks_for_nothing() {
    for outcome in papers() {
        let html = page::page(&outcome, true).expect("a page");
        assert!(html.contains(
            "<meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        ));
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"));
        let text = check_page(&html);
        assert!(text.contains("Incomplete."), "{}", outcome.id);
        for part in [&outcome.title, &outcome.published_in] {
            assert!(text.contains(part.as_str()), "{}: {part}", outcome.id);
        }
        for (name, title) in &outcome.tables {
            assert!(text.contains(&format!("{name}: {title}")), "{}: {name}", outcome.id);
        }
        for row in &outcome.rows {
            let of = format!("{}: {} {}", outcome.id, row.table, row.row);
            assert!(text.contains(&row.row) && text.contains(&row.column), "{of}");
            for note in row.notes.iter().chain(&row.corroboration_source) {
                assert!(text.contains(note.as_str()), "{of}: {note}");
            }
        }
        for claim in &outcome.claims {
            for part in [&claim.text, &claim.at, &claim.because] {
                assert!(text.contains(part.as_str()), "{}: {part}", outcome.id);
            }
            for cell in &claim.cells {
                assert!(text.contains(cell.as_str()), "{}: {cell}", outcome.id);
            }
        }
        for link in html.split("href=\"#").skip(1) {
            let place = link.split('"').next().unwrap_or_default();
            assert!(html.contains(&format!(" id=\"{place}\"")), "{}: no #{place}", outcome.id);
        }
        assert_eq!(html.matches("<table>").count(), outcome.tables.len(), "{}", outcome.id);
        assert_eq!(html.matches("<caption>").count(), outcome.tables.len(), "{}", outcome.id);
        // Charts were made before the figures: without published ones they have no points.
        let is_drawn = |drawn: &&TableChart| {
            let mut points = drawn.chart.series.iter().flat_map(|series| &series.points);
            points.any(|(_, y)| y.is_finite())
        };
        let charts = outcome.charts.iter().filter(is_drawn).count();
        assert_eq!(html.matches("<svg ").count(), charts, "{}", outcome.id);
        assert_eq!(html.matches(" id=\"cell-").count(), outcome.rows.len(), "{}", outcome.id);
    }
}

#[test]
fn index_has_a_row_for_each_paper_and_says_what_is_missing() {
    let papers = papers();
    let entries: Vec<page::Entry> = papers.iter().map(page::Entry::of).collect();
    let html = page::index(&entries, papers.len());
    let text = check_page(&html);
    assert!(text.contains(&format!("0 of {} papers", papers.len())), "{text}");
    for outcome in &papers {
        let link = format!("<a href=\"{0}.html\">{0}</a>", outcome.id);
        assert!(html.contains(&link) && text.contains(&outcome.title), "{link}");
    }
    let wrong = Reproduction { wrong: vec!["a claim".into()], ..papers[0].clone() };
    assert!(!text.contains("Wrong: ") && page::index(&[page::Entry::of(&wrong)], 1).contains("Wrong: 1."));
    let whole: Vec<page::Entry> = papers
        .into_iter()
        .map(|outcome| page::Entry::of(&Reproduction { is_interrupted: false, ..outcome }))
        .collect();
    assert!(!page::index(&whole, whole.len()).contains("Incomplete."));
    assert!(page::index(&whole, whole.len() + 1).contains("Incomplete."));
}

#[test]
fn page_check_finds_what_is_wrong() {
    for wrong in
        ["<p><b></p></b>", "<a href=\"http://a.org\"></a>", "<img src=\"data:\">", "<script></script>"]
    {
        assert!(std::panic::catch_unwind(|| check_page(wrong)).is_err(), "{wrong}");
    }
    check_page("<p>a<br>b <a href=\"#c\">c</a></p>");
}

#[test]
fn text_of_a_paper_is_no_html() {
    let mut outcome = papers().remove(0);
    outcome.title = "<script>alert(\"1\")</script> & \"more\"".into();
    outcome.rows[0].notes = vec!["<img src=x onerror=y>".into()];
    outcome.rows[0].row = "a<b>".into();
    let html = page::page(&outcome, false).expect("a page");
    assert!(check_page(&html).contains("<script>alert(\"1\")</script> & \"more\""));
}

/// Whenever the end comes: a paper is interrupted if a figure is lost, and each lost one says so.
#[test]
fn paper_is_interrupted_where_a_figure_is_lost() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let paper = Paper::read(&workspace, "elumalai2011").expect("the paper's file");
    let whole = run(&workspace, &paper, &NoDeliveries, &Silence).expect("all figures");
    let never = EndAfter(AtomicUsize::new(usize::MAX));
    run_to_interruption(&workspace, &paper, &NoDeliveries, &never).expect("all figures");
    let reports = usize::MAX - never.0.into_inner();
    for end in 1..=reports {
        let end_after = EndAfter(AtomicUsize::new(end));
        let outcome =
            run_to_interruption(&workspace, &paper, &NoDeliveries, &end_after).expect("some figures");
        let rows = || outcome.rows.iter().zip(&whole.rows);
        let lost = rows().filter(|(row, all)| row.measured.is_none() && all.measured.is_some()).count();
        let noted = rows().filter(|(row, _)| row.note.contains("the run was interrupted")).count();
        assert_eq!((noted, outcome.is_interrupted), (lost, lost > 0), "after {end} of {reports} reports");
    }
}

#[test]
fn interrupted_run_keeps_what_was_measured() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let paper = Paper::read(&workspace, "fujdiak2015").expect("the paper's file");
    // Three builds and the first runs.
    let end = || EndAfter(AtomicUsize::new(5));
    let outcome = run_to_interruption(&workspace, &paper, &NoDeliveries, &end()).expect("some figures");
    let whole = run(&workspace, &paper, &NoDeliveries, &Silence).expect("all figures");
    let count = |outcome: &Reproduction| outcome.rows.iter().filter(|row| row.measured.is_some()).count();
    assert!(outcome.is_interrupted && !whole.is_interrupted);
    assert!((1..count(&whole)).contains(&count(&outcome)), "{} figures", count(&outcome));
    for (row, all) in outcome.rows.iter().zip(&whole.rows).filter(|(row, _)| row.measured.is_some()) {
        assert_eq!(row, all);
    }
    let noted = |row: &PaperRow| row.note.contains("the run was interrupted");
    for (row, all) in outcome.rows.iter().zip(&whole.rows) {
        let is_lost = row.measured.is_none() && all.measured.is_some();
        assert!(noted(row) || !is_lost, "{}", row.cell_name());
        assert!(!noted(row) || row.measured.is_none(), "{}", row.cell_name());
        assert!(!noted(all), "{}", all.cell_name());
    }
    for format in [PaperFormat::Table, PaperFormat::Latex, PaperFormat::Markdown] {
        let says = |outcome| written(outcome, format).contains("Incomplete. The run was interrupted");
        assert!(says(&outcome) && !says(&whole), "{format:?}");
    }
    assert!(page::page(&outcome, false).expect("a page").contains("Incomplete."));
    assert!(!page::page(&whole, false).expect("a page").contains("Incomplete."));
    let error = run(&workspace, &paper, &NoDeliveries, &end()).expect_err("interrupted");
    assert!(error.to_string().contains("interrupted"), "{error}");
}
