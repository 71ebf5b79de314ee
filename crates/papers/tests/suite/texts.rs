//! The published figures and the papers' texts, which are not in the repository. With the folder of
//! the texts, each figure is looked for:
//!
//! ```text
//! PAPER_TEXTS=FOLDER cargo test -p wattseal-papers --test suite -- --ignored texts::
//! ```

use lab::workspace::Workspace;
use papers::paper::{Column, Line, Paper, Table};
use std::path::PathBuf;

/// Lines above and below a caption in which the figures of its table stand.
const REACH: usize = 30;
/// Scales between a file's unit and the text's: percent, and thousands.
const SCALES: [f64; 4] = [1.0, 1e-3, 1e3, 100.0];

fn papers() -> Vec<Paper> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    Paper::named(&workspace, "all").expect("the papers")
}

/// Returns the figures of a table that the paper prints, with their rows and columns.
fn printed(table: &Table) -> Vec<(&Line, &Column, f64)> {
    let columns: Vec<&Column> =
        table.columns.iter().filter(|column| column.published_as.is_empty()).collect();
    let figures = table.rows.iter().flat_map(|line| {
        columns.iter().zip(&line.published).map(move |(column, &figure)| (line, *column, figure))
    });
    figures
        .filter(|(line, column, figure)| !figure.is_nan() && !line.computed.contains(&column.name))
        .filter(|_| !table.at.is_empty())
        .collect()
}

/// Returns the numbers of a text, commas left out.
fn numbers(text: &str) -> Vec<f64> {
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let words = text.split(|letter| !is_of_number(letter));
    let plain = words.map(|word| word.trim_matches(['.', ',']).replace(',', ""));
    plain.filter_map(|word| word.parse().ok()).collect()
}

/// Returns the lines around a table's caption, or the whole text for what is no table of the paper.
fn around(text: &str, table: &Table) -> String {
    let packed = |line: &str| line.split_whitespace().collect::<String>().to_lowercase();
    let caption = packed(table.name.split(',').next().unwrap_or_default());
    let lines: Vec<&str> = text.lines().collect();
    let is_caption = |line: &&str| {
        let rest = packed(line).split(&caption).nth(1).map(|rest| rest.chars().next());
        rest.is_some_and(|next| !next.is_some_and(|next| next.is_ascii_digit()))
    };
    let near = |index: &usize| {
        let (from, to) = (index.saturating_sub(REACH), lines.len().min(index + REACH));
        table.name.starts_with("Table ") && lines[from..to].iter().any(is_caption)
    };
    let found: Vec<&str> = (0..lines.len()).filter(near).map(|index| lines[index]).collect();
    if found.is_empty() { text.to_owned() } else { found.join("\n") }
}

/// Returns the texts of a folder.
fn texts(folder: &PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of the texts");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

#[test]
fn numbers_of_a_text_lose_their_commas() {
    assert_eq!(numbers("57,48,345 cycles, 0.137 mJ (-128-bit) at 3.3V."), [5_748_345.0, 0.137, 128.0, 3.3]);
}

#[test]
fn table_with_published_figures_says_its_place() {
    for paper in papers() {
        for table in &paper.table {
            let mut published = table.rows.iter().flat_map(|line| &line.published);
            let has = published.any(|figure| !figure.is_nan());
            // Without a place none of them is printed, and notes of table or columns say so.
            let noted = table.columns.iter().map(|column| &column.note).chain([&table.note]);
            let derived = noted.into_iter().any(|note| note.starts_with("Published is"));
            assert!(!has || !table.at.is_empty() || derived, "{}, {}: where?", paper.id, table.name);
        }
    }
}

#[test]
#[ignore = "needs the papers' texts, in the folder PAPER_TEXTS"]
fn every_published_figure_stands_in_its_text() {
    let folder = std::env::var_os("PAPER_TEXTS").map(PathBuf::from).expect("PAPER_TEXTS");
    let texts = texts(&folder);
    let (mut looked_for, mut missing) = (0, Vec::new());
    for paper in papers() {
        let title = paper.title.to_lowercase();
        let Some(text) = texts.iter().find(|text| text.to_lowercase().contains(&title)) else { continue };
        for table in &paper.table {
            let known = numbers(&around(text, table));
            for (line, column, figure) in printed(table) {
                looked_for += 1;
                let is_it =
                    |known: &f64| SCALES.iter().any(|scale| (known / scale / figure - 1.0).abs() < 1e-9);
                if figure != 0.0 && !known.iter().any(is_it) {
                    missing
                        .push(format!("{}/{}/{}/{}: {figure}", paper.id, table.name, line.name, column.name));
                }
            }
        }
    }
    println!("{looked_for} figures looked for");
    assert!(looked_for > 0, "no text of a paper in {}", folder.display());
    assert!(missing.is_empty(), "not in the text:\n{}", missing.join("\n"));
}
