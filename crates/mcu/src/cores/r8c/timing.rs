//! Cycles of instructions: `timing.toml`, the manual's table.

use super::operation::{Op, Width};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

const TABLE: &str = include_str!("timing.toml");

/// Key of a line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// `MOV`, `BMCnd`.
    pub mnemonic: &'static str,
    /// The size specifier, where there is one.
    pub width: Option<Width>,
    /// The format, or the length specifier of a jump; empty where there is none.
    pub format: &'static str,
    /// The source's addressing mode, or nothing.
    pub source: &'static str,
    /// The destination's addressing mode, or nothing.
    pub destination: &'static str,
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = match self.width {
            None => "",
            Some(Width::Byte) => "b",
            Some(Width::Word) => "w",
            Some(Width::Long) => "l",
        };
        formatter.write_str(&name(self.mnemonic, self.format, size, self.source, self.destination))
    }
}

/// One name for the lines of the table and for what the decoder finds: `MOV.b:G [An],Rn`.
fn name(mnemonic: &str, format: &str, size: &str, source: &str, destination: &str) -> String {
    let mut name = mnemonic.to_string();
    for (mark, part) in [(".", size), (":", format), (" ", source), (",", destination)] {
        if !part.is_empty() {
            name.push_str(mark);
            name.push_str(part);
        }
    }
    name
}

/// The cycles of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Its length in bytes.
    pub bytes: u8,
    /// Cycles that it always takes.
    pub cycles: u8,
    /// Further cycles of a branch that is taken or a condition that holds, or of each repetition.
    pub further: u8,
    /// The least that it takes with its repetitions.
    pub least: u8,
}

/// The time of a decoded instruction; `None` where the table has no line of this name or of another
/// length.
pub fn of(form: &Form, op: &Op) -> Option<Time> {
    let time = table().get(&form.to_string()).copied()?;
    (time.bytes == op.length).then_some(time)
}

/// The table by the names of its lines.
fn table() -> &'static HashMap<String, Time> {
    static LINES: OnceLock<HashMap<String, Time>> = OnceLock::new();
    // The text is a part of this crate; a test reads it, too.
    LINES.get_or_init(|| read(TABLE).unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    word_cycles: u8,
    #[serde(rename = "word_cycles_from")]
    _word_cycles_from: String,
    #[serde(rename = "word_cycles_page")]
    _word_cycles_page: String,
    row: Vec<TimingRow>,
    columns: HashMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimingRow {
    op: OneOrMore<String>,
    #[serde(default)]
    format: String,
    #[serde(default)]
    size: String,
    #[serde(default)]
    src: String,
    #[serde(default)]
    dest: String,
    bytes: OneOrMore<u8>,
    cycles: OneOrMore<u8>,
    words: Option<OneOrMore<u8>>,
    #[serde(default)]
    taken: u8,
    #[serde(default)]
    each: u8,
    #[serde(default)]
    each_words: u8,
    #[serde(default, rename = "times")]
    _times: String,
    #[serde(default)]
    least: u8,
    #[serde(rename = "from")]
    _from: String,
    #[serde(default, rename = "page")]
    _page: String,
}

impl OneOrMore<u8> {
    /// The number of a cell.
    fn cell(&self, index: usize) -> Option<u8> {
        match self {
            OneOrMore::One(value) => Some(*value),
            OneOrMore::More(values) => values.get(index).copied(),
        }
    }
}

/// Every cell of the table by its name; `None` where the text is not of its form.
fn read(text: &str) -> Option<HashMap<String, Time>> {
    let table: Table = toml::from_str(text).ok()?;
    let mut lines = HashMap::new();
    for row in &table.row {
        let mnemonics = match &row.op {
            OneOrMore::One(one) => std::slice::from_ref(one),
            OneOrMore::More(more) => more,
        };
        let modes = |mode: &String| table.columns.get(mode).cloned().unwrap_or_else(|| vec![mode.clone()]);
        let (sources, destinations) = (modes(&row.src), modes(&row.dest));
        let cells = sources.len().max(destinations.len());
        let sizes: Vec<&str> = if row.size.is_empty() { vec![""] } else { row.size.split("").collect() };
        for size in sizes.iter().filter(|size| row.size.is_empty() || !size.is_empty()) {
            for cell in 0..cells {
                let source = sources.get(cell).or(sources.first())?;
                let destination = destinations.get(cell).or(destinations.first())?;
                let counted = row.size != "bw" || *size == "w";
                let words = row.words.as_ref().map_or(Some(0), |words| words.cell(cell))?;
                let words = if counted { words } else { 0 };
                let time = Time {
                    bytes: row.bytes.cell(cell)?,
                    cycles: row.cycles.cell(cell)? + table.word_cycles * words,
                    further: row.taken + row.each + table.word_cycles * row.each_words,
                    least: row.least,
                };
                for mnemonic in mnemonics {
                    let name = name(mnemonic, &row.format, size, source, destination);
                    // A line that stands twice is a mistake.
                    if lines.insert(name, time).is_some() {
                        return None;
                    }
                }
            }
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let lines = read(TABLE).expect("timing.toml");
        assert!(lines.len() > 1_000, "{} lines", lines.len());
        assert_eq!(lines["NOP"], Time { bytes: 1, cycles: 1, further: 0, least: 0 });
    }
}
