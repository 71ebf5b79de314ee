//! The Cortex-M0 and the flash of the STM32F0 against what manuals and measurements say: `m0.toml`.

use super::programs::{assemble, part};
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};
use serde::Deserialize;
use std::collections::BTreeMap;

const FLASH: u32 = 0x0800_0000;
const SRAM: u32 = 0x2000_0000;
const FLASH_ACR: u32 = 0x4002_2000;
/// Settings of FLASH_ACR.
const SETTINGS: [u32; 4] = [0, PREFETCH, ONE_WAIT, ONE_WAIT | PREFETCH];
const ONE_WAIT: u32 = 1;
const PREFETCH: u32 = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sources: BTreeMap<String, String>,
    row: Vec<Row>,
    #[serde(rename = "loop")]
    loops: Vec<Row>,
    pair: Vec<Pair>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    source: String,
    what: String,
    #[serde(default)]
    setup: String,
    #[serde(default)]
    ops: Vec<String>,
    code: Vec<String>,
    #[serde(default)]
    jumps: bool,
    #[serde(default)]
    literals: u64,
    #[serde(default)]
    flash_data: u64,
    cycles: u64,
}

/// Loops of which the first is faster, with `pad` in front of both.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    source: String,
    what: String,
    pad: Vec<String>,
    first: String,
    second: String,
    /// Cycles of a turn; none: it is not said how many.
    faster: Option<u64>,
}

/// A sequence of a row.
struct Case {
    row: Row,
    code: String,
    /// Begin and end of its copies in the flash, a few and many of them.
    few: [u32; 2],
    many: [u32; 2],
}

const FEW: usize = 4;
const MANY: usize = 14;

fn file() -> File {
    toml::from_str(include_str!("m0.toml")).expect("m0.toml")
}

fn lines(code: &str) -> String {
    code.replace(';', "\n")
}

/// The sequences of some rows.
fn codes(rows: &[Row]) -> Vec<(Row, String)> {
    let mut codes = Vec::new();
    for row in rows {
        let none = [String::new()];
        let ops = if row.ops.is_empty() { &none } else { row.ops.as_slice() };
        for code in &row.code {
            codes.extend(ops.iter().map(|op| (row.clone(), code.replace("OP", op))));
        }
    }
    codes
}

/// The bytes of a flash with all of `blocks`, each between a BX LR and a word of data, and where
/// each begins and ends.
fn program(name: &str, blocks: &[String]) -> (Vec<u8>, Vec<[u32; 2]>) {
    let mut text = String::new();
    for index in 0..blocks.len() {
        text += &format!(".word begin{index}, end{index}\n");
    }
    for (index, block) in blocks.iter().enumerate() {
        text += &format!(
            ".balign 4\nbegin{index}:\n8: bx lr\n.balign 4\n{block}\nbkpt 0\n.balign 4\n9: .word 0x11223344\nend{index}:\n"
        );
    }
    // STR r6, [r1]; BKPT: sets FLASH_ACR.
    text = format!(".global _start\n_start:\nstr r6, [r1]\nbkpt 0\n{text}");
    let bytes = assemble("cortex-m0", name, &text);
    let word = |index: usize| u32::from_le_bytes(bytes[index * 4 + 4..][..4].try_into().expect("four bytes"));
    let places = (0..blocks.len()).map(|index| [word(2 * index), word(2 * index + 1)]).collect();
    (bytes, places)
}

/// An STM32F051 with a program in its flash, at a setting of FLASH_ACR.
struct Machine<'a> {
    mcu: Box<dyn Mcu>,
    flash: &'a [u8],
    setting: u32,
}

impl<'a> Machine<'a> {
    fn new(flash: &'a [u8], setting: u32) -> Self {
        let mut mcu = new_machine(&part("stm32f051"), 24_000_000).expect("a machine");
        mcu.load(&Image { segments: vec![Segment { address: FLASH, bytes: flash.to_vec() }] })
            .expect("it fits");
        Machine { mcu, flash, setting }
    }

    /// Runs from an address to the next BKPT: cycles.
    fn run(&mut self, start: u32, registers: &[(&str, u32)], what: &str) -> u64 {
        for (name, value) in registers {
            assert!(self.mcu.set_register(name, *value), "{name}");
        }
        self.mcu.set_pc(start);
        let before = self.mcu.cycles();
        let stop = self.mcu.run(&Until { cycles: Some(before + 100_000), ..Until::default() });
        assert_eq!(stop, Ok(Stop::Breakpoint), "{what}: {:x?}", self.mcu.registers());
        self.mcu.cycles() - before
    }

    /// Cycles of a block from after a reset on, in the flash or copied to SRAM.
    fn block(&mut self, [begin, end]: [u32; 2], in_sram: bool, counter: Option<u32>, what: &str) -> u64 {
        self.mcu.reset();
        self.run(FLASH, &[("r1", FLASH_ACR), ("r6", self.setting)], what);
        let start = if in_sram {
            let bytes = &self.flash[(begin - FLASH) as usize..(end - FLASH) as usize];
            assert!(self.mcu.poke(SRAM, bytes));
            SRAM
        } else {
            begin
        };
        let registers = [
            ("r0", 0),
            ("r1", SRAM + 0x1800),
            ("r2", SRAM + 0x1900),
            ("r3", SRAM + 0x1a00),
            ("r4", 0x1234_5678),
            ("r5", 3),
            ("r6", 0x8000_0000),
            ("r7", counter.unwrap_or(FLASH)),
            ("sp", SRAM + 0x1e00),
        ];
        // Behind the BX LR and what aligns.
        self.run(start + 4, &registers, what)
    }
}

/// A tenth of what ten more take.
fn one(few: u64, many: u64, what: &str) -> u64 {
    let ten = many - few;
    assert_eq!(ten % 10, 0, "{what}: the same cycles each time, {ten} in ten");
    ten / 10
}

fn cases() -> (Vec<u8>, Vec<Case>) {
    let codes = codes(&file().row);
    let mut blocks = Vec::new();
    for (row, code) in &codes {
        for copies in [FEW, MANY] {
            let code = format!("{}\n", lines(code)).repeat(copies);
            blocks.push(format!("{}\n.balign 4\n{code}", lines(&row.setup)));
        }
    }
    let (bytes, places) = program("m0-rows", &blocks);
    let cases = codes
        .into_iter()
        .zip(places.chunks(2))
        .map(|((row, code), places)| Case { row, code, few: places[0], many: places[1] })
        .collect();
    (bytes, cases)
}

/// Least and most published cycles of a sequence; `None` where nothing is published.
fn published(case: &Case, setting: u32, in_sram: bool) -> Option<[u64; 2]> {
    let Row { cycles, literals, flash_data, jumps, .. } = case.row;
    let waits = setting & ONE_WAIT != 0;
    let prefetch = setting & PREFETCH != 0;
    if !waits || (in_sram && flash_data == 0) {
        Some([cycles; 2])
    } else if in_sram {
        (!prefetch).then_some([cycles + flash_data; 2])
    } else if jumps {
        None
    } else if prefetch {
        (literals + flash_data == 0).then_some([cycles; 2])
    } else {
        let length = |[begin, end]: [u32; 2]| u64::from(end - begin);
        let words = (length(case.many) - length(case.few)).div_ceil(40);
        Some([cycles, cycles + words + literals + flash_data])
    }
}

#[test]
fn cortex_m0_rows() {
    let sources = file().sources;
    let (flash, cases) = cases();
    let mut wrong = Vec::new();
    for setting in SETTINGS {
        let mut machine = Machine::new(&flash, setting);
        for (case, in_sram) in cases.iter().flat_map(|case| [(case, false), (case, true)]) {
            assert!(sources.contains_key(&case.row.source), "{}: no such source", case.row.source);
            let Some([least, most]) = published(case, setting, in_sram) else { continue };
            let place = if in_sram { "SRAM" } else { "flash" };
            let what = format!(
                "{} ({}): {}: {place}, FLASH_ACR {setting}",
                case.row.what, case.row.source, case.code
            );
            let few = machine.block(case.few, in_sram, None, &what);
            let many = machine.block(case.many, in_sram, None, &what);
            let ten = many - few;
            if ten < 10 * least || ten > 10 * most {
                wrong.push(format!("{what}: {ten} in ten, not {least} to {most} each"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Cycles of a turn of each loop at a setting.
fn turns(name: &str, codes: &[String], setting: u32, in_sram: bool) -> Vec<u64> {
    let blocks: Vec<String> =
        codes.iter().map(|code| format!("1:\n{}\nsubs r7, #1\nbne 1b", lines(code))).collect();
    let (flash, places) = program(name, &blocks);
    let mut machine = Machine::new(&flash, setting);
    let turn = |(place, code): (&[u32; 2], &String)| {
        let mut run = |count: usize| machine.block(*place, in_sram, Some(count as u32), code);
        one(run(FEW), run(MANY), code)
    };
    places.iter().zip(codes).map(turn).collect()
}

#[test]
fn cortex_m0_loops() {
    let file = file();
    let (rows, loops): (Vec<Row>, Vec<String>) = codes(&file.loops).into_iter().unzip();
    for (setting, in_sram) in SETTINGS.into_iter().flat_map(|setting| [(setting, false), (setting, true)]) {
        if in_sram || setting & ONE_WAIT == 0 {
            for (row, cycles) in rows.iter().zip(turns("m0-loops", &loops, setting, in_sram)) {
                assert!(file.sources.contains_key(&row.source), "{}: no such source", row.source);
                assert_eq!(cycles, row.cycles, "{}", row.what);
            }
        }
    }
}

#[test]
fn cortex_m0_pairs() {
    let file = file();
    for pair in &file.pair {
        assert!(file.sources.contains_key(&pair.source), "{}: no such source", pair.source);
        let loops: Vec<String> = pair
            .pad
            .iter()
            .flat_map(|pad| [&pair.first, &pair.second].map(|code| format!("{pad}\n{code}")))
            .collect();
        let turns = turns("m0-pairs", &loops, ONE_WAIT | PREFETCH, false);
        for (pad, turn) in pair.pad.iter().zip(turns.chunks(2)) {
            let (first, second) = (turn[0], turn[1]);
            let holds = pair.faster.map_or(first < second, |faster| first + faster == second);
            assert!(holds, "{}: behind {pad:?}: {first} and {second}", pair.what);
        }
    }
}
