//! Every cell of `timing.toml` against the model.
//!
//! An assembler other than our decoder encodes an instruction. It has the cell's length and takes
//! the cell's cycles.

use mcu::{Fault, Mcu, Part, Stop, Until, new_machine};
use std::collections::HashMap;

/// The zero flag.
const Z: u32 = 4;
const TABLE: &str = include_str!("../../../src/cores/r8c/timing.toml");
const FORMS: &str = include_str!("forms.txt");

const PART: &str = r#"
name = "timing"
description = "RAM wherever the instructions reach"
core = "r8c"
default_clock_hz = 20000000
[[memory]]
name = "ram"
kind = "ram"
start = 0x100
size = 0x10f00
[[memory]]
name = "far"
kind = "ram"
start = 0x30000
size = 0x1000
[[memory]]
name = "special page vectors"
kind = "ram"
start = 0xffe00
size = 0x200
"#;

/// Repetitions of each instruction that repeats itself.
const TIMES: u64 = 3;
const START: u32 = 0x8000;

/// A cell as this test reads the table.
struct Cell {
    bytes: u64,
    cycles: u64,
    taken: u64,
}

/// The list of modes that a line's field means.
fn modes(table: &toml::Table, field: Option<&toml::Value>) -> Vec<String> {
    let name = field.map_or("", |value| value.as_str().expect("a string"));
    match table["columns"].get(name) {
        Some(list) => strings(list),
        None => vec![name.into()],
    }
}

fn strings(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::Array(values) => {
            values.iter().map(|value| value.as_str().expect("a string").into()).collect()
        }
        _ => vec![value.as_str().expect("a string").into()],
    }
}

fn number(value: Option<&toml::Value>, cell: usize) -> u64 {
    match value {
        None => 0,
        Some(toml::Value::Array(values)) => values[cell].as_integer().expect("a number") as u64,
        Some(value) => value.as_integer().expect("a number") as u64,
    }
}

/// Every cell by its name in `forms.txt`.
fn cells() -> HashMap<String, Cell> {
    let table: toml::Table = TABLE.parse().expect("timing.toml");
    let word_cycles = number(table.get("word_cycles"), 0);
    let mut cells = HashMap::new();
    for row in table["row"].as_array().expect("rows") {
        let (sources, destinations) = (modes(&table, row.get("src")), modes(&table, row.get("dest")));
        let sizes = row.get("size").map_or("", |size| size.as_str().expect("a string"));
        let format = row.get("format").map_or("", |format| format.as_str().expect("a string"));
        for op in strings(&row["op"]) {
            for size in if sizes == "bw" { vec!["b", "w"] } else { vec![sizes] } {
                for cell in 0..sources.len().max(destinations.len()) {
                    let mut name = op.clone();
                    let source = &sources[cell.min(sources.len() - 1)];
                    let destination = &destinations[cell.min(destinations.len() - 1)];
                    for (mark, part) in [(".", size), (":", format), (" ", source), (",", destination)] {
                        if !part.is_empty() {
                            name += mark;
                            name += part;
                        }
                    }
                    let words = if sizes == "bw" && size == "b" { 0 } else { number(row.get("words"), cell) };
                    let each =
                        number(row.get("each"), cell) + word_cycles * number(row.get("each_words"), cell);
                    let cycles = number(row.get("cycles"), cell) + word_cycles * words + each * TIMES;
                    let cell = Cell {
                        bytes: number(row.get("bytes"), cell),
                        cycles: cycles.max(number(row.get("least"), cell)),
                        taken: number(row.get("taken"), cell),
                    };
                    assert!(cells.insert(name.clone(), cell).is_none(), "{name} stands twice");
                }
            }
        }
    }
    cells
}

/// Registers and memory such that every addressing mode reaches RAM and everything that repeats
/// does so [`TIMES`] times.
fn prepare(machine: &mut dyn Mcu, code: &[u8], flags: u32) {
    assert!(machine.poke(START, code));
    // LDCTX, STCTX: the task's number is 0, it has three registers.
    assert!(machine.poke(0x500, &[0]) && machine.poke(0x600, &[0x07, 0x06]));
    // BRK's vector.
    assert!(machine.poke(0xffe4, &[0; 4]));
    for (name, value) in [
        ("r0", 0x1234),
        ("r1", 0x0302),
        ("r2", 0x0400),
        ("r3", 0x0003),
        ("a0", 0x0500),
        ("a1", 0x0901),
        ("sb", 0x0700),
        ("fb", 0x0800),
        ("isp", 0x1000),
        ("intb", 0x2000),
        ("flg", flags),
        ("pc", START),
    ] {
        assert!(machine.set_register(name, value));
    }
}

/// Returns true if a cell names byte operands in `A0` or `A1` that cannot be chosen: both operands
/// of an instruction, or the one that it changes in place. The manual's tables have one cell for
/// both sizes; its lists of operands tell them apart.
fn is_not_selectable(name: &str) -> bool {
    let (mnemonic, operands) = name.split_once([' ', ',']).unwrap_or((name, ""));
    let in_place = ["ABS", "ADCF", "ADJNZ", "NEG", "NOT", "ROLC", "RORC", "ROT", "SBJNZ", "SHA", "SHL"];
    let (mnemonic, size) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
    size.starts_with('b')
        && (operands == "An,An"
            || in_place.contains(&mnemonic) && operands.split(',').next_back() == Some("An"))
}

#[test]
fn every_cell_of_the_table_takes_its_cycles() {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    let mut cells = cells();
    let mut compared = 0;
    for line in FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut fields = line.split(" | ");
        let (name, code) = (fields.next().expect("name"), fields.next().expect("code"));
        let code: Vec<u8> = (0..code.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&code[at..at + 2], 16).expect("hexadecimal"))
            .collect();
        let cell = cells.remove(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!(code.len() as u64, cell.bytes, "bytes of {line}");
        if is_not_selectable(name) {
            prepare(&mut *machine, &code, 0);
            let stop = machine.run(&Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() });
            assert!(matches!(stop, Err(Fault::Opcode { .. })), "{line}: {stop:?}");
            continue;
        }
        // All flags clear, then C, Z and O set: each branch is taken in one of the two.
        let mut branched = [false; 2];
        for (run, flags) in [0x00, 0x25].into_iter().enumerate() {
            prepare(&mut *machine, &code, flags);
            let (cycles, instructions) = (machine.cycles(), machine.instructions());
            let until = Until { cycles: Some(cycles + 1), addresses: Vec::new() };
            let stop = machine.run(&until).unwrap_or_else(|fault| panic!("{line}: {fault}"));
            if name == "WAIT" {
                // It ends the run before it costs anything.
                assert_eq!((stop, machine.cycles()), (Stop::Halted, cycles));
                branched = [true, false];
                continue;
            }
            assert_eq!((stop, machine.instructions()), (Stop::Cycles, instructions + 1), "{line}");
            branched[run] = match name.split(' ').next() {
                Some("STZ") => flags & Z != 0,
                Some("STNZ") => flags & Z == 0,
                // The form is BMGT.
                Some("BMCnd,C") => flags == 0,
                // By its fixed vector.
                Some("BRK") => false,
                _ => machine.pc() != START + code.len() as u32,
            };
            let taken = if branched[run] { cell.taken } else { 0 };
            assert_eq!(
                machine.cycles() - cycles,
                cell.cycles + taken,
                "cycles of {line}, flags {flags:#04x}"
            );
            compared += 1;
        }
        let loops = name.starts_with("ADJNZ") || name.starts_with("SBJNZ") || name == "BRK";
        assert!(
            cell.taken == 0 || loops || branched[0] != branched[1],
            "{line} does not branch by the flags"
        );
    }
    assert!(cells.is_empty(), "{} cells are not tested, so {:?}", cells.len(), cells.keys().next());
    assert!(compared > 5_000);
}

#[test]
fn loop_pays_for_its_branch_only_if_it_is_taken() {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    // ADJNZ.W #-1,R2,.: 3 cycles, 4 more for a branch (REJ09B0001, "SBJNZ", note 1).
    prepare(&mut *machine, &[0xf9, 0xf2, 0xfe], 0);
    assert!(machine.set_register("r2", 2));
    for cycles in [7, 10] {
        let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
        assert_eq!(machine.run(&until), Ok(Stop::Cycles));
        assert_eq!(machine.cycles(), cycles);
    }
    assert_eq!(machine.pc(), START + 3);
}

/// REJ09B0137-0400, page 159: 27 cycles, two more where the vector is that of INTB.
#[test]
fn brk_pays_for_the_relocatable_vector() {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    for (erased, expected) in [(0x00, 27), (0xff, 29)] {
        prepare(&mut *machine, &[0x00], 0);
        assert!(machine.poke(0xffe7, &[erased]));
        let cycles = machine.cycles();
        let until = Until { cycles: Some(cycles + 1), addresses: Vec::new() };
        assert_eq!(machine.run(&until), Ok(Stop::Cycles));
        assert_eq!(machine.cycles() - cycles, expected);
    }
}
