//! The rows of a bench, each written as soon as it is there, where its place is known by then.

use super::arrangement::Arrangement;
use super::parts::repetition;
use super::section::{self, WRONG, texts};
use super::{history, junit};
use crate::accuracy::Bound;
use crate::compare::{self, BENCH};
use crate::energy_accuracy::EnergyBound;
use crate::row::BenchRow;
use crate::{LabError, report};
use console::style;
use output::{NARROW, ReportFormat, csv, csv_line, figure, grouped, json, json_item, markdown_row, scaled};
use serde::Serialize;

/// A column of the table.
#[derive(Clone, Copy)]
struct Column {
    header: &'static str,
    /// Width of the column, where the header is narrower. A wider figure pushes its line to the
    /// right.
    width: usize,
    right: bool,
    /// The column with the highest one goes first where a table is too wide; those with 0 stay.
    spare: u8,
}

impl Column {
    const fn figure(header: &'static str, width: usize, spare: u8) -> Column {
        Column { header, width, right: true, spare }
    }

    const fn name(header: &'static str, width: usize) -> Column {
        Column { header, width, right: false, spare: 0 }
    }

    fn width(&self) -> usize {
        self.header.chars().count().max(self.width)
    }
}

const FIGURES: [Column; 10] = [
    Column::figure("bytes", 5, 6),
    Column::figure("runs", 4, 7),
    Column::figure("cycles", 13, 0),
    Column::figure("± sd", 9, 5),
    Column::figure("time", 9, 3),
    Column::figure("energy", 9, 0),
    Column::figure("flash B", 7, 0),
    Column::figure("RAM B", 6, 2),
    Column::figure("stack B", 7, 1),
    Column::figure(OUTPUT, 6, 4),
];
const OUTPUT: &str = "output";

/// Writes rows one after the other: a table for each target, one array, or lines below one header.
/// Other tables, ranked rows and JUnit's report, which says first how many there are, come at the
/// end.
pub struct RowWriter {
    format: ReportFormat,
    wide: bool,
    arrangement: Arrangement,
    columns: Vec<Column>,
    /// Of them, those that the table has.
    shown: Vec<bool>,
    /// Of the last row.
    target: Option<String>,
    /// Explanations of the marks of the table under way.
    feet: Vec<String>,
    /// Rows of what comes at the end.
    rows: Vec<BenchRow>,
}

impl RowWriter {
    /// For rows of these operations and variants; a table that may not be `wide` has no more
    /// columns than fit in 80.
    pub fn new<'a>(
        format: ReportFormat,
        wide: bool,
        arrangement: Arrangement,
        names: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> RowWriter {
        let (mut operation, mut variant) = (0, 0);
        for (op, built) in names {
            operation = operation.max(op.chars().count());
            variant = variant.max(built.chars().count());
        }
        let names = [Column::name("operation", operation), Column::name("variant", variant)];
        let columns: Vec<Column> = names.into_iter().chain(FIGURES).collect();
        let shown = vec![true; columns.len()];
        let (target, feet, rows) = (None, Vec::new(), Vec::new());
        let mut writer = RowWriter { format, wide, arrangement, columns, shown, target, feet, rows };
        while !wide && writer.width() + 2 > NARROW {
            let spare = |column: &usize| writer.columns[*column].spare;
            let shown = (0..writer.columns.len()).filter(|column| writer.shown[*column]);
            let Some(column) = shown.filter(|column| spare(column) > 0).max_by_key(spare) else { break };
            writer.shown[column] = false;
        }
        writer
    }

    /// Returns true if a row's place is only known at the end.
    fn comes_at_end(&self) -> bool {
        match self.format {
            ReportFormat::Json | ReportFormat::Csv => self.arrangement.rank().is_some(),
            ReportFormat::Table | ReportFormat::Markdown => self.arrangement != Arrangement::Targets,
            _ => true,
        }
    }

    /// Between the borders.
    fn width(&self) -> usize {
        let shown = self.columns.iter().zip(&self.shown).filter(|(_, shown)| **shown);
        shown.map(|(column, _)| column.width() + 3).sum::<usize>() - 1
    }

    /// A row, with what goes before it.
    ///
    /// # Errors
    /// None in practice: rows can always be written.
    pub fn row(&mut self, row: &BenchRow) -> Result<String, LabError> {
        if self.comes_at_end() {
            self.rows.push(row.clone());
            return Ok(String::new());
        }
        let first = self.target.is_none();
        let text = match self.format {
            ReportFormat::Json => json_item(row, first)?,
            ReportFormat::Csv => csv_line(&FlatRow::from(row), first)?,
            ReportFormat::Markdown => {
                let head = if first { self.markdown_head() } else { String::new() };
                let cells = self.texts(row);
                head + &markdown_row(
                    std::iter::once(row.target.as_str()).chain(cells.iter().map(String::as_str)),
                )
            }
            _ if self.target.as_ref() == Some(&row.target) => self.line(row),
            _ => {
                let above = if first { String::new() } else { self.foot() + "\n" };
                self.feet.clear();
                above + &self.head(row) + &self.line(row)
            }
        };
        self.target = Some(row.target.clone());
        for foot in [row.accuracy.foot(), row.energy_accuracy.foot()] {
            if !foot.is_empty() && !self.feet.contains(&foot) {
                self.feet.push(foot);
            }
        }
        self.feet.extend(repetition(row, &format!("{} {}", row.op, row.variant)));
        Ok(text)
    }

    /// Returns the text behind the last row, of a run that ended early with its error.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a format that has no rows of a bench.
    pub fn end(&mut self, error: Option<&LabError>) -> Result<String, LabError> {
        if self.comes_at_end() {
            return self.all(error);
        }
        Ok(match (self.format, &self.target) {
            (ReportFormat::Json, None) => "[]\n".into(),
            (ReportFormat::Json, Some(_)) => "\n]\n".into(),
            (ReportFormat::Table, Some(_)) => self.foot() + &self.left_out(),
            (ReportFormat::Markdown, Some(_)) => self.feet.iter().map(|foot| format!("\n{foot}\n")).collect(),
            _ => String::new(),
        })
    }

    /// All rows.
    fn all(&mut self, error: Option<&LabError>) -> Result<String, LabError> {
        self.arrangement.sort(&mut self.rows);
        let rows = &self.rows;
        Ok(match self.format {
            ReportFormat::Json => json(rows)?,
            ReportFormat::Csv => csv(&rows.iter().map(FlatRow::from).collect::<Vec<_>>())?,
            ReportFormat::Junit => junit::unfinished(&compare::measured(rows, &BENCH)?, "bench", error)?,
            ReportFormat::GithubBenchmark => history::github(&compare::measured(rows, &BENCH)?)?,
            ReportFormat::Bencher => history::bencher(&compare::measured(rows, &BENCH)?)?,
            ReportFormat::Sarif => return Err(report::not_offered(self.format)),
            ReportFormat::Table | ReportFormat::Markdown | ReportFormat::Latex => {
                let is_table = self.format == ReportFormat::Table;
                let sections = self.arrangement.sections(rows, is_table && !self.wide, is_table);
                texts(&sections, self.format, self.wide)
            }
        })
    }

    fn markdown_head(&self) -> String {
        let headers = self.columns.iter().map(|column| column.header);
        let rules = self.columns.iter().map(|column| if column.right { "---:" } else { "---" });
        markdown_row(std::iter::once("target").chain(headers))
            + &markdown_row(std::iter::once("---").chain(rules))
    }

    fn foot(&self) -> String {
        self.edge("└", "─", "┘") + &section::lines(&self.feet, self.wide)
    }

    /// Remark on the columns that no table has.
    fn left_out(&self) -> String {
        let hidden = self.columns.iter().zip(&self.shown).filter(|(_, shown)| !**shown);
        output::left_out(hidden.map(|(column, _)| column.header))
    }

    fn edge(&self, left: &str, line: &str, right: &str) -> String {
        format!("{left}{}{right}\n", line.repeat(self.width()))
    }

    fn cells(&self, cells: impl IntoIterator<Item = String>) -> String {
        let cells = self.columns.iter().zip(&self.shown).zip(cells).filter(|((_, shown), _)| **shown);
        let cells = cells.map(|((column, _), cell)| {
            let width = column.width();
            // Behind the width's back, which would count what colours it.
            let wrong = cell == WRONG;
            let cell = if column.right { format!(" {cell:>width$} ") } else { format!(" {cell:<width$} ") };
            if wrong { cell.replace(WRONG, &style(WRONG).red().to_string()) } else { cell }
        });
        format!("│{}│\n", cells.collect::<Vec<_>>().join(" "))
    }

    fn head(&self, row: &BenchRow) -> String {
        format!(
            "{}  {} MHz, {} V, {}, {}\n{}{}{}",
            row.target,
            row.clock_hz as f64 / 1e6,
            row.supply_v,
            row.memory,
            scaled(row.power_w, "W"),
            self.edge("┌", "─", "┐"),
            self.cells(self.columns.iter().map(|column| column.header.to_owned())),
            self.edge("╞", "═", "╡"),
        )
    }

    fn line(&self, row: &BenchRow) -> String {
        let has_output =
            self.columns.iter().zip(&self.shown).any(|(column, shown)| column.header == OUTPUT && *shown);
        let mut texts = self.texts(row);
        if !row.verified && !has_output {
            // Costs of what does not work mean nothing.
            texts[CYCLES] = WRONG.into();
        }
        self.cells(texts)
    }

    fn texts(&self, row: &BenchRow) -> [String; 12] {
        [
            row.op.clone(),
            row.variant.clone(),
            row.bytes.to_string(),
            row.runs.to_string(),
            grouped(row.cycles.mean.round() as i64) + row.accuracy.cycles.mark(),
            figure(Some(row.cycles.sd), "cycles"),
            scaled(row.time_s, "s"),
            scaled(row.energy_j, "J") + row.energy_accuracy.energy.mark(),
            grouped(row.flash_bytes),
            grouped(row.ram_bytes),
            grouped(i64::from(row.stack_bytes)),
            if row.verified { "ok".into() } else { WRONG.into() },
        ]
    }
}

/// The place of the cycles in a line.
const CYCLES: usize = 4;

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
    energy_accuracy: EnergyBound,
    energy_accuracy_source: &'a str,
    memory: &'a str,
    flash_bytes: i64,
    ram_bytes: i64,
    stack_bytes: u32,
    verified: bool,
    version: &'a str,
    commit: &'a str,
    compiler: Option<&'a str>,
    target_sha256: &'a str,
    seed: Option<u64>,
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
            energy_accuracy: row.energy_accuracy.energy,
            energy_accuracy_source: &row.energy_accuracy.source,
            memory: &row.memory,
            flash_bytes: row.flash_bytes,
            ram_bytes: row.ram_bytes,
            stack_bytes: row.stack_bytes,
            verified: row.verified,
            version: &row.provenance.version,
            commit: row.provenance.commit.as_str(),
            compiler: row.provenance.compiler.as_deref(),
            target_sha256: &row.provenance.target_sha256,
            seed: row.provenance.seed,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::accuracy::Accuracy;
    use crate::energy_accuracy::EnergyAccuracy;
    use crate::origin::{Commit, Provenance};
    use crate::row::Cycles;

    pub(in crate::report) fn row(target: &str, op: &str, samples: &[u64]) -> BenchRow {
        let cycles = Cycles::of(samples);
        BenchRow {
            target: target.into(),
            op: op.into(),
            variant: "fast".into(),
            bytes: 16,
            clock_hz: 16_000_000,
            supply_v: 5.0,
            runs: u32::try_from(samples.len()).unwrap(),
            cycles,
            accuracy: Accuracy {
                memory: None,
                floating_point: false,
                uncached: false,
                computation: false,
                without_wait_states: false,
                cycles: if target == "stm32f407" { Bound::Percent(1.2) } else { Bound::Exact },
                source: "a table".into(),
            },
            time_s: cycles.mean / 16e6,
            power_w: 0.0485,
            energy_j: cycles.mean / 16e6 * 0.0485,
            energy_accuracy: EnergyAccuracy {
                max_hz: None,
                energy: EnergyBound::Percent(29.0),
                source: "a board".into(),
                programs: Vec::new(),
            },
            memory: "flash".into(),
            flash_bytes: 1_234,
            ram_bytes: 0,
            stack_bytes: 31,
            verified: true,
            provenance: Provenance {
                version: "0.2.0".into(),
                commit: Commit::of(None),
                compiler: Some("avr-gcc 5.4.0".into()),
                target_sha256: "00".into(),
                seed: Some(1),
            },
        }
    }

    fn written(format: ReportFormat, rows: &[BenchRow]) -> String {
        let names = rows.iter().map(|row| (row.op.as_str(), row.variant.as_str()));
        let mut writer = RowWriter::new(format, true, Arrangement::Targets, names);
        let text: String = rows.iter().map(|row| writer.row(row).unwrap()).collect();
        text + &writer.end(None).unwrap()
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
        assert_eq!(written(ReportFormat::Json, &rows), output::json(&rows).unwrap());
        assert_eq!(written(ReportFormat::Json, &[]), "[]\n");
    }

    /// Fewer columns; what does not work is seen in those that are left.
    #[test]
    fn a_table_is_80_columns_wide_unless_it_may_be_wider() {
        let rows = [row("atmega328p", "aes128-gcm-seal", &[99_999_999; 3])];
        let wrong = BenchRow { verified: false, ..rows[0].clone() };
        let names = [("ecies-ecdsa-seal-compressed", "portable")];
        let mut writer = RowWriter::new(ReportFormat::Table, false, Arrangement::Targets, names);
        let text = writer.row(&rows[0]).unwrap() + &writer.row(&wrong).unwrap() + &writer.end(None).unwrap();
        let width = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!((60..=80).contains(&width), "{text}");
        assert!(text.contains("99,999,999") && text.contains("WRONG") && text.contains("energy"), "{text}");
        let (table, left_out) = text.split_once("with --wide, too: ").expect("what is left out");
        assert!(!table.contains("runs") && left_out.contains("runs") && left_out.contains("time"), "{text}");
    }

    #[test]
    fn markdown_is_one_table_and_junit_one_report() {
        let rows = some();
        let text = written(ReportFormat::Markdown, &rows);
        assert!(text.starts_with("| target | operation | variant |"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("| ")).count(), 2 + 3, "{text}");
        let mut rows = rows;
        rows[1].verified = false;
        let text = written(ReportFormat::Junit, &rows);
        assert!(
            text.contains("<testsuites name=\"wattseal bench\" tests=\"3\" skipped=\"0\" failures=\"1\""),
            "{text}"
        );
        assert!(text.contains("<failure message=\"WRONG output\""), "{text}");
    }

    /// Runs end at a budget, too; then the table says how well its mean is known, once for the
    /// row's own target.
    #[test]
    fn a_mean_that_is_not_known_to_two_percent_says_so() {
        let rows = [
            row("atmega328p", "winternitz-sign", &[90_000_000, 110_000_000].repeat(5)),
            row("atmega328p", "sha1", &[20_000; 3]),
            row("i8051", "sha1", &[20_000; 3]),
        ];
        let text = written(ReportFormat::Table, &rows);
        // 10/√9 percent by the quantile of 9 degrees of freedom.
        let foot = "measured: a board\n± winternitz-sign fast: mean of 10 runs, known to 7.6 % (95 % confidence)\n\ni8051  ";
        assert!(text.contains(foot) && text.matches('±').count() == 3, "{text}");
    }

    #[test]
    fn csv_has_one_header() {
        let text = written(ReportFormat::Csv, &some());
        assert_eq!(text.lines().count(), 4);
        assert_eq!(text.matches("target,op,variant").count(), 1);
    }

    /// Columns stand one below the other, whatever the figures.
    #[test]
    fn all_lines_of_the_tables_are_equally_wide() {
        let text = written(ReportFormat::Table, &some());
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(['│', '┌', '╞', '└'])).collect();
        assert_eq!(lines.len(), 2 * 4 + 3);
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
        assert!(text.starts_with("atmega328p  16 MHz, 5 V, flash, 48.50 mW\n┌─"), "{text}");
        assert!(text.contains("measured: a board\n\nstm32f407  "), "{text}");
        assert!(text.contains("│ sha1 "), "{text}");
        assert!(text.contains(" 4,000~ ") && !text.contains("20,000~"), "{text}");
        assert!(text.contains(" 60.63 µJ~ "), "{text}");
        assert!(text.ends_with(
            "┘\n~ within 1.2 % of the part's cycles: a table\nenergy ~ within 29 % of what others measured: a board\n"
        ), "{text}");
    }
}
