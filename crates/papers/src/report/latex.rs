//! Tables in LaTeX, for a document of class `article` without packages.

use super::grid::{Figure, Grid, Head};
use super::tally::Tally;
use super::{INCOMPLETE, meanings};
use crate::reproduce::Reproduction;
use output::latex_text;

/// Width of the text of an `article` on A4 or letter paper, in points.
const TEXT_PT: f64 = 345.0;
/// Width of a digit of `\footnotesize`, in points.
const LETTER_PT: f64 = 4.3;
/// Space at both sides of a column, in points.
const GAP_PT: f64 = 6.0;
/// Height of a table's line of `\footnotesize`, in points.
const LINE_PT: f64 = 10.9;
/// Height of a float beneath its caption, in points: a page of `article` has 550.
const FLOAT_PT: f64 = 460.0;
/// Width of the rows' headings, in points.
const HEADING_PT: f64 = 95.0;

/// A paper's tables: a `tabular` each, and a second one below for columns that have no room.
pub(super) fn tables(outcome: &Reproduction) -> String {
    let mut text = format!("% {}\n", outcome.citation().replace('\n', " "));
    text += &format!("% wattseal reproduce {} --format latex\n", outcome.id);
    if outcome.is_interrupted {
        text += &format!("\n\\noindent {}\n", latex_text(INCOMPLETE));
    }
    for grid in Grid::all(outcome) {
        text += "\n";
        text += &table(&grid);
    }
    text + &format!("\n\\noindent {}.\n", latex_text(&Tally::of(&outcome.rows).sentence()))
}

/// A piece of a float, with its height in points.
struct Piece {
    height_pt: f64,
    text: String,
}

/// A table in one float, or in several where one has no room.
fn table(grid: &Grid) -> String {
    let mut pieces: Vec<Piece> = groups(grid).iter().map(|columns| tabular(grid, columns)).collect();
    let mut notes: Vec<String> = meanings(grid.cells())
        .map(|(mark, meaning)| format!("{} {}", latex_text(mark), latex_text(meaning)))
        .collect();
    let numbered = grid.notes.iter().enumerate();
    notes.extend(numbered.map(|(index, note)| format!("$^{{{}}}$ {}", index + 1, latex_text(note))));
    pieces.extend(notes.iter().map(|note| Piece {
        height_pt: LINE_PT * (note.len() as f64 * LETTER_PT / TEXT_PT).ceil(),
        text: format!("\\par\\parbox{{\\linewidth}}{{\\raggedright {note}}}\n"),
    }));
    let (mut text, mut used) = (begin(grid, false), 0.0);
    for piece in pieces {
        if used > 0.0 && used + piece.height_pt > FLOAT_PT {
            text += &format!("\\end{{table}}\n\n{}", begin(grid, true));
            used = 0.0;
        }
        text += &piece.text;
        used += piece.height_pt;
    }
    text + "\\end{table}\n"
}

/// The head of a float.
fn begin(grid: &Grid, is_continued: bool) -> String {
    let title = latex_text(&format!("{}: {}", grid.name, grid.title));
    let caption = match is_continued {
        true => format!("\\caption[]{{{title} (continued)}}"),
        // The list of tables has no numbers of notes.
        false => format!("\\caption[{title}]{{{}}}", noted(&title, &grid.on_all)),
    };
    format!(
        "\\begin{{table}}[htbp]\n\\centering\n{caption}\n\\footnotesize\n\\setlength{{\\tabcolsep}}{{3pt}}\n\
         \\renewcommand{{\\arraystretch}}{{1.15}}\n"
    )
}

/// The figures of a column that are printed: a paper has no room for ratios.
fn figures(head: &Head) -> Vec<Figure> {
    head.figures.iter().copied().filter(|figure| *figure != Figure::Ratio).collect()
}

/// Width of a column, in points.
fn width_pt(grid: &Grid, index: usize) -> f64 {
    let head = &grid.columns[index];
    let width = |figure: &Figure| {
        let cells = grid.rows.iter().filter_map(|row| row.cells.get(index));
        let letters = cells.map(|cell| figure.text(cell.row).chars().count() + cell.notes.len()).max();
        letters.unwrap_or(0).max(figure.name().len()) as f64 * LETTER_PT + GAP_PT
    };
    let figures: f64 = figures(head).iter().map(width).sum();
    figures.max((head.text().chars().count() + head.notes.len()) as f64 * LETTER_PT + GAP_PT)
}

/// The columns in groups of which each fits beside the rows' headings.
fn groups(grid: &Grid) -> Vec<Vec<usize>> {
    let (mut groups, mut used) = (vec![Vec::new()], 0.0);
    for index in 0..grid.columns.len() {
        let width = width_pt(grid, index);
        if used + width > TEXT_PT - HEADING_PT - GAP_PT && used > 0.0 {
            groups.push(Vec::new());
            used = 0.0;
        }
        used += width;
        groups.last_mut().into_iter().for_each(|group: &mut Vec<usize>| group.push(index));
    }
    groups
}

fn tabular(grid: &Grid, columns: &[usize]) -> Piece {
    let heads: Vec<&Head> = columns.iter().map(|column| &grid.columns[*column]).collect();
    let count: usize = heads.iter().map(|head| figures(head).len()).sum();
    let mut text = format!("\\begin{{tabular}}{{p{{{HEADING_PT}pt}}{}}}\n\\hline\n", "r".repeat(count));
    for head in &heads {
        let name = noted(&latex_text(&head.text()), &head.notes);
        text += &format!(" & \\multicolumn{{{}}}{{r}}{{{name}}}", figures(head).len());
    }
    text += "\\\\\n";
    let has_ours = heads.iter().any(|head| figures(head).contains(&Figure::Ours));
    for figure in heads.iter().flat_map(|head| figures(head)) {
        text += &if has_ours { format!(" & {}", figure.name()) } else { String::new() };
    }
    text += if has_ours { "\\\\\n\\hline\n" } else { "\\hline\n" };
    let mut height_pt = 4.0 * LINE_PT;
    for row in &grid.rows {
        height_pt += LINE_PT * (row.name.chars().count() as f64 * LETTER_PT / HEADING_PT * 1.3).ceil();
        text += &format!("\\raggedright {}", noted(&latex_text(row.name), &row.notes));
        for column in columns {
            let figures = figures(&grid.columns[*column]);
            for (index, figure) in figures.iter().enumerate() {
                let cell = row.cells.get(*column);
                let last = index + 1 == figures.len();
                let notes = cell.filter(|_| last).map_or(&[][..], |cell| &cell.notes);
                let figure = cell.map_or(String::new(), |cell| latex_text(&figure.text(cell.row)));
                text += &format!(" & {}", noted(&figure, notes));
            }
        }
        text += "\\\\\n";
    }
    text += "\\hline\n\\end{tabular}\n\n";
    Piece { height_pt, text }
}

/// Numbers of notes behind a text.
fn noted(text: &str, notes: &[usize]) -> String {
    if notes.is_empty() {
        return text.to_owned();
    }
    let numbers: Vec<String> = notes.iter().map(usize::to_string).collect();
    format!("{text}$^{{{}}}$", numbers.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::shape::tests::cell;

    #[test]
    fn columns_without_room_stand_in_a_second_tabular() {
        let columns: Vec<String> = (0..7).map(|column| format!("variant {column}")).collect();
        let cells: Vec<_> =
            columns.iter().map(|column| cell("a", column, Some(346_290_644.0), Some(38_007_851.0))).collect();
        let grid = Grid::of("Table 1", "Cycles", &cells.iter().collect::<Vec<_>>());
        let text = table(&grid);
        assert_eq!(text.matches("\\begin{tabular}").count(), 4, "{text}");
        assert_eq!(text.matches("346,290,644").count(), 7, "{text}");
    }
}
