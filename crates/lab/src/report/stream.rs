//! The rows of a bench, each written as soon as it is there.

use super::figure;
use crate::LabError;
use crate::accuracy::Bound;
use crate::row::BenchRow;
use console::style;
use output::{Format, csv_line, grouped, scaled};
use serde::Serialize;

/// A column of the table: its header, its width where the header is narrower, and whether it is set to the right.
type Column = (&'static str, usize, bool);

/// Wide enough for what is measured; a wider figure pushes its line to the right.
const FIGURES: [Column; 10] = [
    ("bytes", 5, true),
    ("runs", 4, true),
    ("cycles", 13, true),
    ("± sd", 9, true),
    ("time", 9, true),
    ("energy", 9, true),
    ("flash B", 7, true),
    ("RAM B", 6, true),
    ("stack B", 7, true),
    ("output", 6, true),
];

/// Writes rows one after the other: a table for each target, one array, or lines below one header.
pub struct RowWriter {
    format: Format,
    columns: Vec<Column>,
    /// Of the last row.
    target: Option<String>,
    /// What explains the marks of the table under way.
    feet: Vec<String>,
}

impl RowWriter {
    /// For rows of these operations and variants.
    pub fn new<'a>(format: Format, names: impl IntoIterator<Item = (&'a str, &'a str)>) -> RowWriter {
        let (mut operation, mut variant) = (0, 0);
        for (op, built) in names {
            operation = operation.max(op.chars().count());
            variant = variant.max(built.chars().count());
        }
        let names = [("operation", operation, false), ("variant", variant, false)];
        RowWriter {
            format,
            columns: names.into_iter().chain(FIGURES).collect(),
            target: None,
            feet: Vec::new(),
        }
    }

    /// A row, with what goes before it.
    ///
    /// # Errors
    /// None in practice: rows can always be written.
    pub fn row(&mut self, row: &BenchRow) -> Result<String, LabError> {
        let first = self.target.is_none();
        let text = match self.format {
            Format::Json => {
                let object = serde_json::to_string_pretty(row)
                    .map_err(|error| LabError::Usage(format!("cannot be written as JSON: {error}")))?;
                let start = if first { "[" } else { "," };
                format!("{start}\n  {}", object.replace('\n', "\n  "))
            }
            Format::Csv => csv_line(&FlatRow::from(row), first)?,
            Format::Table if self.target.as_ref() == Some(&row.target) => self.line(row),
            Format::Table => {
                let above = if first { String::new() } else { self.foot() + "\n" };
                self.feet.clear();
                above + &self.head(row) + &self.line(row)
            }
        };
        self.target = Some(row.target.clone());
        let foot = row.accuracy.foot();
        if !foot.is_empty() && !self.feet.contains(&foot) {
            self.feet.push(foot);
        }
        Ok(text)
    }

    /// What goes behind the last row.
    #[must_use]
    pub fn end(&self) -> String {
        match (self.format, &self.target) {
            (Format::Json, None) => "[]\n".into(),
            (Format::Json, Some(_)) => "\n]\n".into(),
            (Format::Table, Some(_)) => self.foot(),
            (Format::Csv, _) | (Format::Table, None) => String::new(),
        }
    }

    fn foot(&self) -> String {
        let feet: String = self.feet.iter().map(|foot| format!("{foot}\n")).collect();
        self.edge("└", "─", "┘") + &feet
    }

    fn edge(&self, left: &str, line: &str, right: &str) -> String {
        let width: usize = self.columns.iter().map(|column| width(column) + 2).sum();
        format!("{left}{}{right}\n", line.repeat(width + self.columns.len() - 1))
    }

    fn cells(&self, cells: impl IntoIterator<Item = String>) -> String {
        let cells = self.columns.iter().zip(cells).map(|(column, cell)| {
            let (width, (_, _, right)) = (width(column), column);
            if *right { format!(" {cell:>width$} ") } else { format!(" {cell:<width$} ") }
        });
        format!("│{}│\n", cells.collect::<Vec<_>>().join(" "))
    }

    fn head(&self, row: &BenchRow) -> String {
        format!(
            "{}  {} MHz, {} V, {}\n{}{}{}",
            row.target,
            row.clock_hz as f64 / 1e6,
            row.supply_v,
            scaled(row.power_w, "W"),
            self.edge("┌", "─", "┐"),
            self.cells(self.columns.iter().map(|(header, ..)| (*header).to_owned())),
            self.edge("╞", "═", "╡"),
        )
    }

    fn line(&self, row: &BenchRow) -> String {
        let output = if row.verified { "    ok".into() } else { style(" WRONG").red().to_string() };
        self.cells([
            row.op.clone(),
            row.variant.clone(),
            row.bytes.to_string(),
            row.runs.to_string(),
            grouped(row.cycles.mean.round() as i64) + row.accuracy.cycles.mark(),
            figure(Some(row.cycles.sd), "cycles"),
            scaled(row.time_s, "s"),
            scaled(row.energy_j, "J"),
            grouped(row.flash_bytes),
            grouped(row.ram_bytes),
            grouped(i64::from(row.stack_bytes)),
            output,
        ])
    }
}

fn width((header, width, _): &Column) -> usize {
    header.chars().count().max(*width)
}

/// A bench row with its cycles spread over columns of their own.
#[derive(Serialize)]
struct FlatRow<'a> {
    target: &'a str,
    op: &'a str,
    variant: &'a str,
    bytes: u16,
    clock_hz: u64,
    supply_v: f64,
    runs: u32,
    cycles_mean: f64,
    cycles_sd: f64,
    cycles_se: f64,
    cycles_min: u64,
    cycles_max: u64,
    accuracy: Bound,
    accuracy_source: &'a str,
    time_s: f64,
    power_w: f64,
    energy_j: f64,
    flash_bytes: i64,
    ram_bytes: i64,
    stack_bytes: u32,
    verified: bool,
}

impl<'a> From<&'a BenchRow> for FlatRow<'a> {
    fn from(row: &'a BenchRow) -> Self {
        FlatRow {
            target: &row.target,
            op: &row.op,
            variant: &row.variant,
            bytes: row.bytes,
            clock_hz: row.clock_hz,
            supply_v: row.supply_v,
            runs: row.runs,
            cycles_mean: row.cycles.mean,
            cycles_sd: row.cycles.sd,
            cycles_se: row.cycles.se,
            cycles_min: row.cycles.min,
            cycles_max: row.cycles.max,
            accuracy: row.accuracy.cycles,
            accuracy_source: &row.accuracy.source,
            time_s: row.time_s,
            power_w: row.power_w,
            energy_j: row.energy_j,
            flash_bytes: row.flash_bytes,
            ram_bytes: row.ram_bytes,
            stack_bytes: row.stack_bytes,
            verified: row.verified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::Accuracy;
    use crate::row::Cycles;

    fn row(target: &str, op: &str, cycles: &[u64]) -> BenchRow {
        let cycles = Cycles::of(cycles);
        BenchRow {
            target: target.into(),
            op: op.into(),
            variant: "fast".into(),
            bytes: 16,
            clock_hz: 16_000_000,
            supply_v: 5.0,
            runs: 3,
            cycles,
            accuracy: Accuracy {
                memory: None,
                floating_point: false,
                cycles: if target == "stm32f407" { Bound::Percent(1.2) } else { Bound::Exact },
                source: "a table".into(),
            },
            time_s: cycles.mean / 16e6,
            power_w: 0.0485,
            energy_j: cycles.mean / 16e6 * 0.0485,
            flash_bytes: 1_234,
            ram_bytes: 0,
            stack_bytes: 31,
            verified: true,
        }
    }

    fn written(format: Format, rows: &[BenchRow]) -> String {
        let names = rows.iter().map(|row| (row.op.as_str(), row.variant.as_str()));
        let mut writer = RowWriter::new(format, names);
        let text: String = rows.iter().map(|row| writer.row(row).unwrap()).collect();
        text + &writer.end()
    }

    fn some() -> Vec<BenchRow> {
        vec![
            row("atmega328p", "sha1", &[20_000; 3]),
            row("atmega328p", "ecies-ecdsa-seal-compressed", &[26_900_000, 26_800_001]),
            row("stm32f407", "sha1", &[4_000; 3]),
        ]
    }

    #[test]
    fn json_row_by_row_is_the_array_of_all() {
        let rows = some();
        assert_eq!(written(Format::Json, &rows), output::json(&rows).unwrap());
        assert_eq!(written(Format::Json, &[]), "[]\n");
    }

    #[test]
    fn csv_has_one_header() {
        let text = written(Format::Csv, &some());
        assert_eq!(text.lines().count(), 4);
        assert_eq!(text.matches("target,op,variant").count(), 1);
    }

    /// Columns stand one below the other, whatever the figures.
    #[test]
    fn all_lines_of_the_tables_are_equally_wide() {
        let text = written(Format::Table, &some());
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(['│', '┌', '╞', '└'])).collect();
        assert_eq!(lines.len(), 2 * 4 + 3);
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
        assert!(text.starts_with("atmega328p  16 MHz, 5 V, 48.50 mW\n┌─"), "{text}");
        assert!(text.contains("┘\n\nstm32f407  "), "{text}");
        assert!(text.contains("│ sha1 "), "{text}");
        assert!(text.contains(" 4,000~ ") && !text.contains("20,000~"), "{text}");
        assert!(text.ends_with("┘\n~ within 1.2 % of the part's cycles: a table\n"), "{text}");
    }
}
