//! Recordings: the edges of a value change dump, the columns of a table.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use vcd::{Command, IdCode, Parser, Value};

/// Edges of a one-bit signal in a value change dump (IEEE 1364, clause 18), in nanoseconds from the
/// dump's time 0. A change to x leaves the level as it was.
pub(crate) fn edges(path: &Path, signal: &str) -> Result<Vec<(u64, Option<bool>)>, String> {
    let said = |problem: String| format!("{}: {problem}", path.display());
    let file = File::open(path).map_err(|error| said(format!("{error}; {}", output::advice(&error))))?;
    let mut parser = Parser::new(BufReader::new(file));
    let unread = |error| said(format!("it is no value change dump: {error}"));
    let header = parser.parse_header().map_err(unread)?;
    let names: Vec<&str> = signal.split('.').collect();
    let Some(variable) = header.find_var(&names) else {
        return Err(said(format!("there is no signal '{signal}'; write it with its scopes: top.uart.rx")));
    };
    if variable.size != 1 {
        return Err(said(format!("'{signal}' has {} bits; a pin takes one", variable.size)));
    }
    let Some((count, unit)) = header.timescale else {
        return Err(said("it has no $timescale".into()));
    };
    // Ticks in femtoseconds, the smallest unit of the format.
    let tick_fs = u128::from(count) * (1_000_000_000_000_000 / u128::from(unit.divisor()));
    changes(parser, variable.code, tick_fs).map_err(unread)
}

fn changes(
    parser: Parser<BufReader<File>>,
    code: IdCode,
    tick_fs: u128,
) -> std::io::Result<Vec<(u64, Option<bool>)>> {
    let mut edges: Vec<(u64, Option<bool>)> = Vec::new();
    let mut now_ns = 0;
    for command in parser {
        match command? {
            Command::Timestamp(ticks) => {
                now_ns = u64::try_from(u128::from(ticks) * tick_fs / 1_000_000).unwrap_or(u64::MAX);
            }
            Command::ChangeScalar(of, value) if of == code => {
                let level = match value {
                    Value::V0 => Some(false),
                    Value::V1 => Some(true),
                    Value::Z => None,
                    Value::X => continue,
                };
                match edges.last_mut() {
                    // Of several changes in a nanosecond the last one stays.
                    Some(last) if last.0 == now_ns => last.1 = level,
                    _ => edges.push((now_ns, level)),
                }
            }
            _ => {}
        }
    }
    Ok(edges)
}

/// A column of a table, by its heading; where absent, by its place.
#[derive(Clone, Copy)]
pub(crate) struct Column<'a> {
    pub heading: Option<&'a str>,
    pub place: usize,
    /// The units that its heading may end with, and their factors: `Current(uA)`, `time_ms`.
    pub units: &'a [(&'a str, f64)],
}

/// Units of a column of times.
pub(crate) const TIMES: [(&str, f64); 5] =
    [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)];

impl Column<'_> {
    /// Place and factor in a table with these headings.
    fn find(self, headings: &csv::StringRecord) -> Result<(usize, f64), String> {
        let place = match self.heading {
            None => self.place,
            Some(name) => headings.iter().position(|heading| heading == name).ok_or_else(|| {
                let known: Vec<&str> = headings.iter().collect();
                format!("there is no column '{name}'; it has {}", known.join(", "))
            })?,
        };
        let heading = headings.get(place).unwrap_or_default().trim_end_matches(')');
        let unit = heading.rsplit(['(', '_']).next().unwrap_or_default();
        let factor = self.units.iter().find(|(name, _)| *name == unit).map_or(1.0, |(_, factor)| *factor);
        Ok((place, factor))
    }
}

/// Times in nanoseconds and values of two columns of a CSV file with a line of headings. Times
/// ascend from 0. A heading without a unit has seconds, and the values' own unit.
pub(crate) fn columns(path: &Path, time: Column<'_>, value: Column<'_>) -> Result<Vec<(u64, f64)>, String> {
    let said = |problem: String| format!("{}: {problem}", path.display());
    let reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_path(path);
    let mut reader = reader.map_err(|error| said(error.to_string()))?;
    let headings = reader.headers().map_err(|error| said(error.to_string()))?;
    let (time, time_factor) = time.find(headings).map_err(said)?;
    let (value, factor) = value.find(headings).map_err(said)?;
    let mut rows: Vec<(u64, f64)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| said(error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |column: usize| {
            let cell = record.get(column).unwrap_or_default();
            let number = cell.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| said(format!("line {line}: '{cell}' is no number")))
        };
        let time_s = number(time)? * time_factor;
        let at_ns = (time_s * 1e9).round();
        if !(0.0..9e18).contains(&at_ns) || rows.last().is_some_and(|(last, _)| at_ns as u64 <= *last) {
            return Err(said(format!(
                "line {line}: the time {time_s} s is not after the one before, from 0 s on"
            )));
        }
        rows.push((at_ns as u64, number(value)? * factor));
    }
    if rows.is_empty() {
        return Err(said("it has no row below its headings".into()));
    }
    Ok(rows)
}
