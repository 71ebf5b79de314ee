//! The tables of `bench.toml`: a line for each target, a column for each operation.

use super::parts::{self, part, repetition};
use super::section::{Section, WRONG};
use crate::row::BenchRow;
use crate::selection::{Table, Tables};
use output::{Column, NARROW, Sheet, grouped, scaled};

/// The tables; a `narrow` one that is too wide stands in several, one below the other.
pub(super) fn sections<'a>(tables: &'a Tables, rows: &[BenchRow], narrow: bool) -> Vec<Section<'a>> {
    let mut sections = Vec::new();
    for table in &tables.tables {
        let grid = Grid::of(table, rows);
        let groups = if narrow { grid.groups() } else { vec![(0..table.columns.len()).collect()] };
        let title = format!("{}: cycles and energy", table.variant);
        sections.extend(groups.iter().map(|columns| Section {
            title: title.clone(),
            sheet: grid.sheet(columns),
            feet: Vec::new(),
        }));
    }
    if let Some(last) = sections.last_mut() {
        let shown: Vec<_> = rows.iter().map(part).collect();
        last.feet = parts::feet(&shown);
        let name = |row: &BenchRow| format!("{} {} {}", row.target, row.op, row.variant);
        last.feet.extend(rows.iter().filter_map(|row| repetition(row, &name(row))));
    }
    sections
}

/// Cells of a table.
struct Grid<'a> {
    table: &'a Table,
    /// A target, and its cell in each column.
    lines: Vec<(String, Vec<String>)>,
}

impl<'a> Grid<'a> {
    fn of(table: &'a Table, rows: &[BenchRow]) -> Grid<'a> {
        let mut targets: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|row| row.variant == table.variant) {
            let is_column = table.columns.iter().any(|column| column.op == row.op);
            if is_column && !targets.contains(&row.target.as_str()) {
                targets.push(&row.target);
            }
        }
        let columns: Vec<Vec<String>> = table
            .columns
            .iter()
            .map(|column| {
                let of_target = |target: &&str| {
                    rows.iter().find(|row| {
                        row.target == *target && row.op == column.op && row.variant == table.variant
                    })
                };
                aligned(&targets.iter().map(of_target).collect::<Vec<_>>())
            })
            .collect();
        let line = |index: usize| columns.iter().map(|cells| cells[index].clone()).collect();
        let lines =
            targets.iter().enumerate().map(|(index, target)| ((*target).to_owned(), line(index))).collect();
        Grid { table, lines }
    }

    /// The columns in groups of which each fits into a narrow table.
    fn groups(&self) -> Vec<Vec<usize>> {
        let width = |text: &str| text.chars().count();
        let name = self.lines.iter().map(|(target, _)| width(target)).max().unwrap_or(0);
        let room = NARROW.saturating_sub(name + 4);
        let (mut groups, mut used): (Vec<Vec<usize>>, usize) = (vec![Vec::new()], 0);
        for index in 0..self.table.columns.len() {
            let cells = self.lines.iter().map(|(_, cells)| width(&cells[index]));
            let words = self.table.columns[index].heading.split_whitespace().map(width);
            let needed = cells.chain(words).max().unwrap_or(0) + 3;
            if used > 0 && used + needed > room {
                groups.push(Vec::new());
                used = 0;
            }
            used += needed;
            groups.last_mut().into_iter().for_each(|group| group.push(index));
        }
        groups
    }

    fn sheet(&self, columns: &[usize]) -> Sheet<'a> {
        let headings = columns
            .iter()
            .map(|index| Column::right(self.table.columns[*index].heading.as_str()).with_broken_header());
        let mut sheet = Sheet::new(&[Column::name("target")].into_iter().chain(headings).collect::<Vec<_>>());
        for (target, cells) in &self.lines {
            let cells = columns.iter().map(|index| cells[*index].clone());
            sheet.row([target.clone()].into_iter().chain(cells));
        }
        sheet
    }
}

/// Cycles and energy of each row, each below those of the others.
fn aligned(rows: &[Option<&BenchRow>]) -> Vec<String> {
    let texts: Vec<Option<(String, String)>> = rows
        .iter()
        .map(|row| {
            let row = (*row)?;
            if !row.verified {
                return Some((WRONG.into(), String::new()));
            }
            let cycles = grouped(row.cycles.mean.round() as i64) + row.accuracy.cycles.mark();
            let energy = scaled(row.energy_j, "J") + row.energy_accuracy.energy.mark();
            Some((cycles, energy))
        })
        .collect();
    let width = texts.iter().flatten().map(|(_, energy)| energy.chars().count()).max().unwrap_or(0);
    let text = |(cycles, energy): &(String, String)| format!("{cycles}  {energy:>width$}");
    texts.iter().map(|cell| cell.as_ref().map_or_else(String::new, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::stream::tests::row;
    use crate::selection;

    fn tables() -> Tables {
        let column = |heading: &str, op: &str| selection::Column { heading: heading.into(), op: op.into() };
        let columns = vec![
            column("AES-128-GCM seal of 16 bytes", "aes128-gcm-seal"),
            column("ECDSA P-256, sign", "ecdsa-p256-sign"),
            column("verify", "ecdsa-p256-verify"),
            column("ECDH P-256", "p256-ecdh"),
        ];
        Tables { tables: vec![Table { variant: "fast".into(), columns }] }
    }

    #[test]
    fn wide_table_stands_in_several_and_drops_no_column() {
        let ops = ["aes128-gcm-seal", "ecdsa-p256-sign", "ecdsa-p256-verify"];
        let rows: Vec<BenchRow> = ["atmega328p", "stm32f407"]
            .iter()
            .flat_map(|target| ops.map(|op| row(target, op, &[17_600_000; 3])))
            .collect();
        let tables = tables();
        let narrow = sections(&tables, &rows, true);
        assert_eq!(narrow.len(), 2);
        let text: String = narrow.iter().map(|section| section.sheet.table(false)).collect();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for column in &tables.tables[0].columns {
            let first = column.heading.split(' ').next().expect("a word");
            assert!(text.contains(first), "{text}");
        }
        assert_eq!(text.matches("17,600,000").count(), 6, "{text}");
        let wide = sections(&tables, &rows, false);
        assert!(wide.len() == 1 && wide[0].feet.iter().any(|foot| foot.contains("stm32f407 (1.2 %)")));
    }

    #[test]
    fn wrong_output_has_no_costs() {
        let wrong = BenchRow { verified: false, ..row("r8c", "p256-ecdh", &[1; 3]) };
        let tables = tables();
        let text = sections(&tables, &[wrong], false)[0].sheet.table(true);
        assert!(text.contains(WRONG) && !text.contains('J'), "{text}");
    }
}
