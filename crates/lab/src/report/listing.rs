//! A function's instructions, beneath the source lines that they are from.

use crate::traces::{Listing, ListingRow};
use output::{Format, OutputError, csv, grouped, json};
use std::collections::BTreeMap;

/// Maximum number of lines that are named under the time's distribution.
const MOST_LINES: usize = 10;

/// Columns up to those of figures.
const TEXT_WIDTH: usize = 51;

/// The instructions of a function.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn listing(listing: &Listing, format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(&listing.rows),
        Format::Csv => csv(&listing.rows),
        Format::Table => Ok(text(listing)),
    }
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Text of `width` columns, padded or cut.
fn fitted(text: &str, width: usize) -> String {
    let mut shown: String = text.chars().take(width).collect();
    if text.chars().count() > width {
        shown.truncate(shown.char_indices().nth(width - 1).map_or(0, |(at, _)| at));
        shown.push('~');
    }
    format!("{shown:<width$}")
}

fn text(listing: &Listing) -> String {
    let all = listing.cycles();
    let executed: u64 = listing.rows.iter().map(|row| row.executions).sum();
    let share = |cycles: u64| format!("{:.1} %", 100.0 * cycles as f64 / all.max(1) as f64);
    let mut out = format!(
        "{}: {} cycles of its own, {} instructions\n\n{:TEXT_WIDTH$}{:>9} {:>11} {:>7}\n",
        listing.function,
        count(all),
        count(executed),
        " address  opcode     instruction",
        "executed",
        "cycles",
        "each"
    );
    let mut file = None;
    let lines = listing.rows.chunk_by(|a, b| (&a.file, a.line) == (&b.file, b.line));
    for rows in lines {
        let first = &rows[0];
        if first.file != file {
            file.clone_from(&first.file);
            out += &format!("\n{}\n", file.as_deref().unwrap_or("no source line"));
        }
        if let Some(line) = first.line {
            let cycles: u64 = rows.iter().map(|row| row.cycles).sum();
            let head = fitted(&format!("{line:>5} {}", source(first)), TEXT_WIDTH);
            let shown = if cycles == 0 { String::new() } else { count(cycles) };
            let part = if cycles == 0 { String::new() } else { share(cycles) };
            out += format!("{head}{:>9} {shown:>11} {part:>7}", "").trim_end();
            out.push('\n');
        }
        for row in rows {
            out += &instruction(row);
        }
    }
    out + &summary(listing, share)
}

fn source(row: &ListingRow) -> String {
    row.source.as_deref().unwrap_or_default().replace('\t', "    ")
}

fn instruction(row: &ListingRow) -> String {
    let ListingRow { address, opcode, executions, cycles, .. } = row;
    let instruction = row.instruction.as_deref().unwrap_or_default();
    let begin = fitted(&format!("{address:>8x}  {opcode:<9}  {instruction}"), TEXT_WIDTH);
    let figures = match row.cycles_per_execution {
        None => format!("{:>9}", "-"),
        Some(each) => {
            let each = if each.fract() == 0.0 { format!("{each:.0}") } else { format!("{each:.2}") };
            format!("{:>9} {:>11} {each:>7}", count(*executions), count(*cycles))
        }
    };
    format!("{begin}{figures}\n")
}

/// The lines that take the most cycles, whatever instructions they are spread over.
fn summary(listing: &Listing, share: impl Fn(u64) -> String) -> String {
    let mut lines: BTreeMap<(&str, u32), (u64, &ListingRow)> = BTreeMap::new();
    for row in &listing.rows {
        if let (Some(file), Some(line)) = (&row.file, row.line) {
            lines.entry((file, line)).or_insert((0, row)).0 += row.cycles;
        }
    }
    let mut lines: Vec<_> = lines.into_iter().filter(|(_, (cycles, _))| *cycles > 0).collect();
    lines.sort_by_key(|(_, (cycles, _))| std::cmp::Reverse(*cycles));
    if lines.is_empty() {
        return String::new();
    }
    let mut out = "\nWhere the time goes, by source line:\n".to_owned();
    for ((file, line), (cycles, row)) in lines.into_iter().take(MOST_LINES) {
        let file = file.rsplit('/').next().unwrap_or(file);
        let place = format!("{file}:{line}");
        let line = format!("{:>7} {:>12}  {place:<18}  {}", share(cycles), count(cycles), source(row).trim());
        out += fitted(&line, 80).trim_end();
        out.push('\n');
    }
    out
}
