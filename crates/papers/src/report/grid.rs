//! A table in the paper's rows and columns, with each note at the place that it is about.

use super::{CORROBORATION, exact, ours, ratio};
use crate::reproduce::{PaperRow, Reproduction};
use std::collections::BTreeMap;

/// A table of a paper.
pub(crate) struct Grid<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) columns: Vec<Head<'a>>,
    pub(crate) rows: Vec<Row<'a>>,
    /// Its notes in the order of its cells. Places name them by number, from 1.
    pub(crate) notes: Vec<&'a str>,
    /// The notes that are about all of it.
    pub(crate) on_all: Vec<usize>,
}

/// A column of it.
pub(crate) struct Head<'a> {
    pub(crate) name: &'a str,
    pub(crate) unit: &'a str,
    /// The figures that some of its cells have.
    pub(crate) figures: Vec<Figure>,
    pub(crate) notes: Vec<usize>,
}

/// A row of it.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) cells: Vec<Cell<'a>>,
    pub(crate) notes: Vec<usize>,
}

/// A cell, with the notes that are about it alone.
pub(crate) struct Cell<'a> {
    pub(crate) row: &'a PaperRow,
    pub(crate) notes: Vec<usize>,
}

/// A figure of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Published,
    /// Figure of the paper's own code on our models.
    Corroboration,
    Ours,
    Ratio,
}

impl Figure {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Figure::Published => "published",
            Figure::Corroboration => CORROBORATION,
            Figure::Ours => "ours",
            Figure::Ratio => "ratio",
        }
    }

    /// Its text in a cell: a dash where there is none.
    pub(crate) fn text(self, row: &PaperRow) -> String {
        match self {
            Figure::Published => exact(row.published),
            Figure::Corroboration => exact(row.corroboration),
            Figure::Ours => ours(row),
            Figure::Ratio => ratio(row),
        }
    }

    fn is_in(self, row: &PaperRow) -> bool {
        match self {
            Figure::Published => row.published.is_some(),
            Figure::Corroboration => row.corroboration.is_some(),
            Figure::Ours => row.measured.is_some(),
            Figure::Ratio => row.ratio.is_some(),
        }
    }
}

impl Head<'_> {
    /// Name and unit.
    pub(crate) fn text(&self) -> String {
        if self.unit == "1" { self.name.to_owned() } else { format!("{}, {}", self.name, self.unit) }
    }
}

impl<'a> Grid<'a> {
    /// All tables of a paper.
    pub(crate) fn all(outcome: &'a Reproduction) -> Vec<Grid<'a>> {
        let rows = |name: &String| outcome.rows.iter().filter(|row| row.table == *name).collect::<Vec<_>>();
        outcome.tables.iter().map(|(name, title)| Grid::of(name, title, &rows(name))).collect()
    }

    /// A table of these cells, row by row.
    pub(crate) fn of(name: &'a str, title: &'a str, cells: &[&'a PaperRow]) -> Grid<'a> {
        let rows: Vec<&[&'a PaperRow]> = cells.chunk_by(|a, b| a.row == b.row).collect();
        let mut columns = Vec::new();
        for (index, cell) in rows.first().copied().unwrap_or_default().iter().enumerate() {
            let cells = || rows.iter().filter_map(|row| row.get(index));
            let mut figures = vec![Figure::Published, Figure::Corroboration, Figure::Ours, Figure::Ratio];
            figures.retain(|figure| cells().any(|cell| figure.is_in(cell)));
            if figures.is_empty() {
                figures.push(Figure::Ours);
            }
            columns.push(Head { name: &cell.column, unit: &cell.unit, figures, notes: Vec::new() });
        }
        let row = |cells: &&[&'a PaperRow]| Row {
            name: &cells[0].row,
            cells: cells.iter().map(|row| Cell { row, notes: Vec::new() }).collect(),
            notes: Vec::new(),
        };
        let rows = rows.iter().map(row).collect();
        let mut grid = Grid { name, title, columns, rows, notes: Vec::new(), on_all: Vec::new() };
        grid.place_notes();
        grid
    }

    /// Puts each note where it is about all: at the table, a column, a row, or a cell.
    fn place_notes(&mut self) {
        let mut places: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for (r, row) in self.rows.iter().enumerate() {
            for (c, cell) in row.cells.iter().enumerate() {
                for note in &cell.row.notes {
                    if !self.notes.contains(&note.as_str()) {
                        self.notes.push(note);
                    }
                    places.entry(note).or_default().push((r, c));
                }
            }
        }
        // The numbers follow the order in which a reader meets them.
        self.place(&mut places);
        self.renumber();
    }

    fn place(&mut self, places: &mut BTreeMap<&str, Vec<(usize, usize)>>) {
        let all = self.rows.iter().map(|row| row.cells.len()).sum::<usize>();
        for number in 1..=self.notes.len() {
            let mut left = places.remove(self.notes[number - 1]).unwrap_or_default();
            if left.len() == all {
                self.on_all.push(number);
                continue;
            }
            for (c, head) in self.columns.iter_mut().enumerate() {
                if left.iter().filter(|place| place.1 == c).count() == self.rows.len() {
                    head.notes.push(number);
                    left.retain(|place| place.1 != c);
                }
            }
            for (r, row) in self.rows.iter_mut().enumerate() {
                if left.iter().filter(|place| place.0 == r).count() == row.cells.len() {
                    row.notes.push(number);
                    left.retain(|place| place.0 != r);
                }
            }
            for (r, c) in left {
                self.rows[r].cells[c].notes.push(number);
            }
        }
    }

    fn renumber(&mut self) {
        let heads = self.columns.iter_mut().map(|head| &mut head.notes);
        let rows = self.rows.iter_mut().flat_map(|row| {
            std::iter::once(&mut row.notes).chain(row.cells.iter_mut().map(|cell| &mut cell.notes))
        });
        let mut order = Vec::new();
        for number in std::iter::once(&mut self.on_all).chain(heads).chain(rows).flatten() {
            let known = order.iter().position(|known| known == number);
            let place = known.unwrap_or_else(|| {
                order.push(*number);
                order.len() - 1
            });
            *number = place + 1;
        }
        self.notes = order.iter().map(|number| self.notes[number - 1]).collect();
    }

    /// All cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a PaperRow> {
        self.rows.iter().flat_map(|row| row.cells.iter().map(|cell| cell.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::shape::tests::cell;

    #[test]
    fn notes_stand_at_the_largest_place_they_are_about() {
        let mut cells: Vec<PaperRow> = ["a", "b"]
            .iter()
            .flat_map(|row| ["x", "y"].map(|column| cell(row, column, Some(1.0), Some(2.0))))
            .collect();
        for (index, notes) in [
            ["row a", "column x", "all"].as_slice(),
            &["all", "row a", "cell"],
            &["all", "column x"],
            &["all"],
        ]
        .iter()
        .enumerate()
        {
            cells[index].notes = notes.iter().map(|note| (*note).to_owned()).collect();
        }
        let grid = Grid::of("Table 1", "", &cells.iter().collect::<Vec<_>>());
        assert_eq!(grid.notes, ["all", "column x", "row a", "cell"]);
        assert_eq!(grid.on_all, [1]);
        assert_eq!(grid.columns.iter().map(|head| head.notes.clone()).collect::<Vec<_>>(), [vec![2], vec![]]);
        assert_eq!(grid.rows.iter().map(|row| row.notes.clone()).collect::<Vec<_>>(), [vec![3], vec![]]);
        let own: Vec<_> = grid.rows.iter().flat_map(|row| row.cells.iter().map(|cell| &cell.notes)).collect();
        assert_eq!(own, [&vec![], &vec![4], &vec![], &vec![]]);
    }

    #[test]
    fn columns_have_the_figures_that_some_cell_has() {
        let cells = [cell("a", "x", Some(1.0), None), cell("a", "y", None, Some(1.0))];
        let grid = Grid::of("Table 1", "", &cells.iter().collect::<Vec<_>>());
        let figures: Vec<_> = grid.columns.iter().map(|head| head.figures.clone()).collect();
        assert_eq!(figures, [[Figure::Published], [Figure::Ours]]);
    }
}
