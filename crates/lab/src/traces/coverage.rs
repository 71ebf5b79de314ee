//! The coverage of source lines as a tracefile of lcov (geninfo(1), "FILES").

use super::counts::InstructionCounts;
use firmware::{Firmware, SourceLine};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Coverage of a source file.
#[derive(Default)]
struct FileCoverage {
    /// Line, name and calls of each function.
    functions: Vec<(u32, String, u64)>,
    /// Executions of each line that has code: those of its most frequent instruction.
    lines: BTreeMap<u32, u64>,
}

/// Writes the coverage of all functions that have source lines.
pub(super) fn write(file: File, firmware: &Firmware, counts: &InstructionCounts) -> io::Result<()> {
    let mut files: BTreeMap<String, FileCoverage> = BTreeMap::new();
    for (index, function) in firmware.functions().iter().enumerate() {
        let lines = firmware.source_lines(index);
        if let Some(first) = lines.iter().find(|line| line.addresses.contains(&function.address)) {
            let calls = counts.get(function.address).executions;
            let of_file = files.entry(first.file.clone()).or_default();
            of_file.functions.push((first.line, function.name.clone(), calls));
        }
        for SourceLine { addresses, file, line } in lines {
            let executions = counts.within(addresses).map(|(_, count)| count.executions).max();
            let lines = &mut files.entry(file).or_default().lines;
            let most = lines.entry(line).or_default();
            *most = executions.unwrap_or(0).max(*most);
        }
    }
    let mut out = BufWriter::new(file);
    writeln!(out, "TN:")?;
    for (name, FileCoverage { functions, lines }) in files {
        writeln!(out, "SF:{name}")?;
        for (line, function, _) in &functions {
            writeln!(out, "FN:{line},{function}")?;
        }
        for (_, function, calls) in &functions {
            writeln!(out, "FNDA:{calls},{function}")?;
        }
        let called = functions.iter().filter(|(_, _, calls)| *calls > 0).count();
        writeln!(out, "FNF:{}\nFNH:{called}", functions.len())?;
        for (line, executions) in &lines {
            writeln!(out, "DA:{line},{executions}")?;
        }
        let hit = lines.values().filter(|executions| **executions > 0).count();
        writeln!(out, "LH:{hit}\nLF:{}\nend_of_record", lines.len())?;
    }
    out.flush()
}
