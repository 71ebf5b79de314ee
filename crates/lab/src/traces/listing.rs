//! The instructions of a function: how often each was executed, in how many cycles, and from which
//! source line it is.

use super::counts::InstructionCounts;
use firmware::{Disassembled, Firmware};
use mcu::{CoreName, Mcu};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most bytes of a row where the beginning of the next instruction is not known.
const MOST_BYTES: u32 = 8;

/// One instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListingRow {
    /// Its address, as in the ELF file.
    pub address: u32,
    /// Its opcode in hexadecimal, in words as the manual of the core writes it.
    pub opcode: String,
    /// Mnemonic and operands; absent where nothing disassembles them.
    pub instruction: Option<String>,
    /// The source file that it is from, as the compiler was given it.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// That line's text, where the file can be read.
    pub source: Option<String>,
    /// Number of executions.
    pub executions: u64,
    /// Cycles from its beginning to that of the next one, in all.
    pub cycles: u64,
    /// The same for one execution, on average.
    pub cycles_per_execution: Option<f64>,
}

/// The instructions of a function, by address.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The function.
    pub function: String,
    /// Its instructions, those that were not executed too.
    pub rows: Vec<ListingRow>,
    /// Why the instructions have no names, where they have none.
    pub without_names: Option<String>,
}

impl Listing {
    pub(super) fn new(
        firmware: &Firmware,
        function: usize,
        counts: &InstructionCounts,
        machine: &dyn Mcu,
    ) -> Listing {
        let extent = firmware.extent(function);
        let (disassembled, without_names) = match firmware.disassemble(extent.clone()) {
            Ok(disassembled) => (disassembled, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let mut begins: BTreeSet<u32> = counts.within(extent.clone()).map(|(pc, _)| pc).collect();
        begins.extend(disassembled.iter().map(|found| found.address));
        begins.insert(extent.start);
        let mut names: BTreeMap<u32, String> =
            disassembled.into_iter().map(|Disassembled { address, text }| (address, text)).collect();
        let lines = firmware.source_lines(function);
        let mut sources = Sources::default();
        let mut rows = Vec::new();
        let mut address = extent.start;
        while address < extent.end {
            let next = begins.range(address + 1..).next().copied().unwrap_or(extent.end);
            let next = next.min(extent.end).min(address.saturating_add(MOST_BYTES));
            let mut bytes = vec![0; (next - address) as usize];
            let known = machine.peek(address, &mut bytes);
            let from = lines.iter().find(|line| line.addresses.contains(&address));
            let count = counts.get(address);
            let each = count.cycles as f64 / count.executions as f64;
            rows.push(ListingRow {
                address,
                opcode: if known { opcode(firmware.core(), &bytes) } else { String::new() },
                instruction: names.remove(&address),
                file: from.map(|from| from.file.clone()),
                line: from.map(|from| from.line),
                source: from.and_then(|from| sources.line(&from.file, from.line)),
                executions: count.executions,
                cycles: count.cycles,
                cycles_per_execution: (count.executions > 0).then_some(each),
            });
            address = next;
        }
        Listing { function: firmware.functions()[function].name.clone(), rows, without_names }
    }

    /// Cycles of the function's own instructions.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.rows.iter().map(|row| row.cycles).sum()
    }
}

/// The texts of source files.
#[derive(Default)]
struct Sources(BTreeMap<String, Vec<String>>);

impl Sources {
    fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let lines = self.0.entry(file.into()).or_insert_with(|| {
            // Firmware is often built elsewhere: then there is only the number.
            let text = std::fs::read(file).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(ToOwned::to_owned).collect()
        });
        lines.get(line.checked_sub(1)? as usize).cloned()
    }
}

/// An opcode as the manuals write it: of AVR, MSP430 and Thumb in words of 16 bits, of RISC-V as
/// one number, else byte by byte.
fn opcode(core: CoreName, bytes: &[u8]) -> String {
    let unit = match core {
        CoreName::R8c | CoreName::Mcs51 | CoreName::Hc08 => 1,
        CoreName::QingkeV2 => bytes.len().clamp(2, 4),
        _ => 2,
    };
    let words = bytes.chunks(unit).map(|word| {
        word.iter().rev().fold(String::with_capacity(8), |digits, byte| digits + &format!("{byte:02x}"))
    });
    words.collect::<Vec<_>>().join(" ")
}
