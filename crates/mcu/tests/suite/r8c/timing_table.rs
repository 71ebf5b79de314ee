//! The table of R8C/Tiny cycles: it can be read as it says, and nothing is twice in it or missing.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = include_str!("../../../src/cores/r8c/timing.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    word_cycles: u32,
    word_cycles_from: String,
    word_cycles_page: String,
    row: Vec<TimingRow>,
    columns: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Several<T> {
    One(T),
    All(Vec<T>),
}

impl<T: Clone> Several<T> {
    /// One for each of `count` cells.
    fn for_cells(&self, count: usize) -> Vec<T> {
        match self {
            Several::One(value) => vec![value.clone(); count],
            Several::All(values) => {
                assert_eq!(values.len(), count);
                values.clone()
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimingRow {
    op: Several<String>,
    #[serde(default)]
    format: String,
    #[serde(default)]
    size: String,
    #[serde(default)]
    src: String,
    #[serde(default)]
    dest: String,
    bytes: Several<u32>,
    cycles: Several<u32>,
    words: Option<Several<u32>>,
    taken: Option<u32>,
    each: Option<u32>,
    times: Option<String>,
    least: Option<u32>,
    each_words: Option<u32>,
    from: String,
    page: Option<String>,
}

impl TimingRow {
    fn ops(&self) -> Vec<String> {
        match &self.op {
            Several::One(op) => vec![op.clone()],
            Several::All(ops) => ops.clone(),
        }
    }
}

/// Source and destination of each cell of a line.
fn cells(table: &Table, row: &TimingRow) -> Vec<(String, String)> {
    let list = |mode: &String| table.columns.get(mode).cloned();
    match (list(&row.src), list(&row.dest)) {
        (Some(_), Some(_)) => panic!("two lists in a line of {:?}", row.ops()),
        (Some(modes), None) => modes.into_iter().map(|mode| (mode, row.dest.clone())).collect(),
        (None, Some(modes)) => modes.into_iter().map(|mode| (row.src.clone(), mode)).collect(),
        (None, None) => vec![(row.src.clone(), row.dest.clone())],
    }
}

fn table() -> Table {
    toml::from_str(TABLE).unwrap()
}

/// Bytes that a mode adds to an instruction; `None` for an immediate, whose bytes depend on the
/// format.
fn extension(mode: &str) -> Option<u32> {
    Some(match mode {
        "" | "Rn" | "An" | "[An]" | "[A1A0]" | "creg" | "PC" | "R1H" | "R0L" | "C" | "#0" | "SP" => 0,
        "bit,Rn" | "bit,An" | "base:8[An]" | "bit,base:8[SB/FB]" | "bit,base:11[SB]" => 1,
        "dsp:8[An]" | "dsp:8[SB/FB]" | "dsp:8[SP]" => 1,
        "base:16[An]" | "bit,base:16[SB]" | "bit,base:16" => 2,
        "dsp:16[An]" | "dsp:16[SB]" | "abs16" => 2,
        "dsp:20[An]" | "dsp:20[A0]" | "abs20" => 3,
        "#IMM" => return None,
        other => panic!("no such mode: {other}"),
    })
}

fn is_memory(mode: &str) -> bool {
    mode.contains('[') || mode.starts_with("abs") || mode == "bit,base:16"
}

#[test]
fn no_cell_stands_twice_or_is_missing() {
    let table = table();
    let mut seen = BTreeSet::new();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for row in &table.row {
        let sizes: &[&str] = match row.size.as_str() {
            "" => &[""],
            "b" => &["b"],
            "w" => &["w"],
            "l" => &["l"],
            "bw" => &["b", "w"],
            other => panic!("no such size: {other}"),
        };
        for op in row.ops() {
            for (src, dest) in cells(&table, row) {
                for size in sizes {
                    let key = (op.clone(), row.format.clone(), *size, src.clone(), dest.clone());
                    assert!(seen.insert(key.clone()), "twice: {key:?}");
                    *count.entry(op.clone()).or_default() += 1;
                }
            }
        }
    }

    // In both sizes: two operands, one operand, an immediate and an operand.
    const TWO: usize = 128;
    const ONE: usize = 16;
    // `:S`: R0L/R0H, dsp:8[SB/FB], abs16.
    const SHORT: usize = 3;
    let expected: &[(&[&str], usize)] = &[
        (&["ABS", "ADCF", "NEG", "ROLC", "RORC", "XCHG", "ADJNZ", "SBJNZ"], ONE),
        (&["ADC", "SBB", "TST", "XOR", "MUL", "MULU"], TWO + ONE),
        // :G, :G #IMM, :Q, :S #IMM, :S src, SP in two sizes and :Q.
        (&["ADD"], TWO + ONE + ONE + SHORT + SHORT + 3),
        (&["SUB", "AND", "OR"], TWO + ONE + SHORT + SHORT),
        (&["CMP"], TWO + ONE + ONE + SHORT + SHORT),
        // :G, :G #IMM, :Q, :S #IMM, :S #IMM to An, :Z, :S to An, :S from Rn, :S to Rn, dsp:8[SP]
        // both ways.
        (&["MOV"], TWO + ONE + ONE + SHORT + 2 + SHORT + SHORT + 2 + SHORT + ONE + ONE),
        (&["NOT"], ONE + SHORT),
        (&["INC", "DEC"], SHORT + 1),
        (&["ROT"], 2 * ONE),
        (&["SHL", "SHA"], 2 * ONE + 2),
        (&["DIV", "DIVU", "DIVX"], ONE + 2),
        (&["DADC", "DADD", "DSBB", "DSUB"], 4),
        (&["LDE", "STE"], 3 * ONE),
        (&["LDC"], 8 + 1),
        (&["STC"], 8 + 8),
        (&["MOVA"], 2 * 5),
        (&["PUSHA"], 5),
        (&["MOVLL", "MOVLH", "MOVHL", "MOVHH"], 2 * 7),
        (&["EXTS"], 7 + 1),
        (&["STZ", "STNZ", "STZX"], SHORT),
        (&["PUSH"], ONE + 2 + 2),
        (&["POP"], ONE + 2),
        (&["BAND", "BNAND", "BOR", "BNOR", "BXOR", "BNXOR", "BNTST", "BTSTC", "BTSTS"], 8),
        (&["BCLR", "BSET", "BNOT", "BTST", "BMCnd"], 8 + 1),
        (&["JMPI", "JSRI"], 2 * 8),
        (&["JMP"], 4),
        (&["JSR", "JCnd", "RMPA", "SMOVB", "SMOVF", "SSTR"], 2),
        (&["BRK", "ENTER", "EXITD", "FCLR", "FSET", "INT", "INTO", "JMPS", "JSRS", "LDCTX", "LDIPL"], 1),
        (&["NOP", "POPC", "POPM", "PUSHC", "PUSHM", "REIT", "RTS", "STCTX", "UND", "WAIT"], 1),
    ];
    let expected: BTreeMap<String, usize> =
        expected.iter().flat_map(|(ops, cells)| ops.iter().map(|op| (op.to_string(), *cells))).collect();
    assert_eq!(count, expected);
}

#[test]
fn lengths_follow_the_modes_and_all_memory_costs_the_same() {
    let table = table();
    for row in &table.row {
        let cells = cells(&table, row);
        let (bytes, cycles) = (row.bytes.for_cells(cells.len()), row.cycles.for_cells(cells.len()));
        let opcode = |index: usize| {
            let (src, dest) = &cells[index];
            bytes[index] - extension(src).unwrap_or(0) - extension(dest).unwrap_or(0)
        };
        for (index, (src, dest)) in cells.iter().enumerate() {
            assert_eq!(opcode(index), opcode(0), "{:?} {src} {dest}", row.ops());
            assert!((1..=11).contains(&bytes[index]));
            assert!(cycles[index] > 0 || row.each.is_some());
            // Bits are numbered from An in one way and from a constant in the other.
            if row.src == "bits" || row.dest == "bits" {
                continue;
            }
            let memory = |(src, dest): &(String, String)| (is_memory(src), is_memory(dest));
            let first = cells.iter().position(|cell| memory(cell) == memory(&cells[index])).unwrap();
            // A multiplication's An is the one place where two registers of a line differ.
            if !row.ops().contains(&"MUL".to_owned()) {
                assert_eq!(cycles[index], cycles[first], "{:?} {src} {dest}", row.ops());
            }
        }
        if let Some(words) = &row.words {
            for ((src, dest), words) in cells.iter().zip(words.for_cells(cells.len())) {
                let stack = ["PUSH", "POP", "JSR", "RTS", "JMPS", "JSRS", "ENTER", "EXITD"];
                let has_memory = is_memory(src)
                    || is_memory(dest)
                    || row.ops().iter().any(|op| stack.iter().any(|name| op.starts_with(name)));
                assert!(words <= 4 && (words == 0 || has_memory), "{:?} {src} {dest}", row.ops());
            }
        }
        assert_eq!(row.each.is_some(), row.times.is_some());
        assert!(row.each.is_some() || row.least.is_none() && row.each_words.is_none());
        assert!(row.times.iter().all(|t| ["places", "registers", "R3", "context"].contains(&t.as_str())));
    }
}

/// `docs/reference/accuracy/r8c.md` says these numbers; they change together.
#[test]
fn every_line_says_whence_it_is() {
    let table = table();
    assert_eq!((table.word_cycles, table.word_cycles_from.as_str()), (1, "manual"));
    assert_eq!(table.word_cycles_page, "262");
    let mut count = BTreeMap::new();
    for row in &table.row {
        assert_eq!(row.page.is_some(), row.from != "inferred", "{:?}", row.ops());
        let sizes = if row.size == "bw" { 2 } else { 1 };
        *count.entry(row.from.as_str()).or_insert(0) += row.ops().len() * cells(&table, row).len() * sizes;
    }
    assert_eq!(count, BTreeMap::from([("m16c60", 2615)]));
}

/// Cells of the M16C/60 manual, REJ09B0137-0400, as its pages have them: bytes and cycles of `.B`.
#[test]
fn pages_that_were_read() {
    let table = table();
    let cell = |op: &str, format: &str, src: &str, dest: &str| {
        let mut found = Vec::new();
        for row in table.row.iter().filter(|row| row.ops().iter().any(|name| name == op)) {
            let cells = cells(&table, row);
            let index = cells.iter().position(|cell| (cell.0.as_str(), cell.1.as_str()) == (src, dest));
            if let (Some(index), true) = (index, row.format == format && row.size != "w") {
                found.push((
                    row.bytes.for_cells(cells.len())[index],
                    row.cycles.for_cells(cells.len())[index],
                ));
            }
        }
        assert_eq!(found.len(), 1, "{op}:{format} {src},{dest}");
        found[0]
    };
    // Page 163, 164, 165, 241: a comparison with a constant costs memory what an addition does.
    assert_eq!(cell("CMP", "G", "#IMM", "abs16"), (5, 4));
    assert_eq!(cell("CMP", "Q", "#IMM", "dsp:8[SB/FB]"), (3, 3));
    assert_eq!(cell("CMP", "S", "#IMM", "abs16"), (4, 3));
    assert_eq!(cell("TST", "", "#IMM", "[An]"), (3, 4));
    // Page 190, 199, 206, 226, 246.
    assert_eq!(cell("JSRI", "A", "abs16", ""), (4, 15));
    assert_eq!(cell("MOV", "G", "dsp:16[An]", "Rn"), (4, 3));
    assert_eq!(cell("MUL", "", "[An]", "An"), (2, 6));
    assert_eq!(cell("SBJNZ", "", "#IMM", "dsp:16[SB]"), (5, 5));
    assert_eq!(cell("XOR", "", "dsp:16[An]", "Rn"), (4, 3));
    // Page 155, 159, 184, 226, 237: what the notes add.
    for (op, dest, added) in
        [("BMCnd", "C", 1), ("BRK", "", 2), ("INTO", "", 19), ("SBJNZ", "general", 4), ("STZ", "short", 1)]
    {
        let row =
            table.row.iter().find(|row| row.ops().iter().any(|name| name == op) && row.dest == dest).unwrap();
        assert_eq!(row.taken, Some(added), "{op}");
    }
}
