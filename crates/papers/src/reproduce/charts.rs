//! The charts of a paper's tables.

use super::{PaperRow, TableChart};
use crate::paper::{Drawing, Paper, Table};
use lab::plot::{Axis, Chart, Series, Style};

/// The chart of a table that is to be drawn; `cells` are its rows, column by column.
pub(super) fn chart(paper: &Paper, table: &Table, cells: &[PaperRow]) -> Option<TableChart> {
    let drawing = table.chart.as_ref()?;
    let in_box = |name: &String| drawing.boxes.as_ref().is_some_and(|boxes| boxes.contains(name));
    let drawn =
        |name: &String| !in_box(name) && (drawing.columns.is_empty() || drawing.columns.contains(name));
    let columns = || table.columns.iter().filter(|column| drawn(&column.name));
    let place = |index: usize| match drawing.over_clock {
        true => table.rows[index].clock_hz.map_or(f64::NAN, |clock_hz| clock_hz as f64 / 1e6),
        false => index as f64,
    };
    let mut series = Vec::new();
    series.extend(boxes(table, drawing, cells));
    for column in columns() {
        let cells = cells.iter().filter(|cell| cell.column == column.name).enumerate();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (index, cell) in cells {
            ours.push((place(index), cell.measured.unwrap_or(f64::NAN)));
            theirs.push((place(index), cell.published.unwrap_or(f64::NAN)));
        }
        let any = |points: &[(f64, f64)]| points.iter().any(|(x, y)| x.is_finite() && y.is_finite());
        if any(&ours) {
            let style = if drawing.over_clock { Style::Line } else { Style::Marks };
            let label = if column.theirs { column.name.clone() } else { format!("{}, here", column.name) };
            series.push(Series { label, points: ours, style });
        }
        if column.published_as.is_empty() && any(&theirs) {
            let label = format!("{}, published", column.name);
            series.push(Series { label, points: theirs, style: Style::Marks });
        }
    }
    let chart = Chart {
        title: format!("{}: {}", table.name, table.title),
        x: match drawing.over_clock {
            true => Axis { from_zero: true, ..Axis::linear("clock", "MHz") },
            false => Axis::of(table.rows.iter().map(|line| line.name.clone()).collect()),
        },
        y: vertical(drawing, columns().next().map_or("", |column| column.unit.as_str())),
        series,
        notes: (!table.note.is_empty()).then(|| table.note.clone()).into_iter().collect(),
    };
    let file = format!("{}-{}.svg", paper.id, file_name(&table.name));
    Some(TableChart { table: table.name.clone(), file, chart })
}

/// The boxes of a table's rows; none without a figure of ours.
fn boxes(table: &Table, drawing: &Drawing, cells: &[PaperRow]) -> Option<Series> {
    let columns = drawing.boxes.as_ref()?;
    let figure = |row: &str, column: &String| {
        let cell = cells.iter().find(|cell| cell.row == row && cell.column == *column);
        cell.and_then(|cell| cell.measured).unwrap_or(f64::NAN)
    };
    let of_row = |(index, name): (usize, &String)| {
        let points = columns.iter().map(|column| (index as f64, figure(name, column)));
        points.collect::<Vec<_>>()
    };
    let names: Vec<String> = table.rows.iter().map(|line| line.name.clone()).collect();
    let points: Vec<(f64, f64)> = names.iter().enumerate().flat_map(of_row).collect();
    let has_any = points.iter().any(|(_, y)| y.is_finite());
    has_any.then(|| Series { label: "runs, here".into(), points, style: Style::Boxes })
}

fn vertical(drawing: &Drawing, unit: &str) -> Axis {
    // The unit of pure numbers is 1.
    let unit = if unit == "1" { "" } else { unit };
    match drawing.log {
        true => Axis::log(&drawing.y, unit),
        false => Axis { from_zero: true, ..Axis::linear(&drawing.y, unit) },
    }
}

/// The name of a table as that of a file: `Figure 4.1` as `figure-4.1`.
fn file_name(table: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || letter == '.' { letter } else { ' ' };
    let words: String = table.to_lowercase().chars().map(plain).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}
