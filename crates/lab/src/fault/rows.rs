//! Rows of a campaign: by source line, or by instruction where there is none.

use super::campaign::Campaign;
use super::results::{Counts, Outcome, Results, Tally};
use super::{FaultRow, RowKind};
use crate::origin::Provenance;
use ::firmware::Firmware;
use std::collections::{BTreeMap, BTreeSet};

/// A row without faults.
pub(super) fn blank(provenance: Provenance) -> FaultRow {
    FaultRow {
        firmware: String::new(),
        target: String::new(),
        kind: RowKind::Total,
        place: String::new(),
        pc: 0,
        instruction: None,
        faults: 0,
        detected: 0,
        bypassed: 0,
        crash: 0,
        hang: 0,
        other: 0,
        no_effect: 0,
        protect: String::new(),
        example: None,
        complete: true,
        provenance,
    }
}

/// The faults at an address.
type At<'a> = (u32, &'a Tally);

/// Rows of a campaign.
pub(super) struct Rows<'a> {
    pub firmware: &'a Firmware,
    pub campaign: &'a Campaign<'a>,
    pub to_protect: &'a BTreeSet<u32>,
    pub blank: FaultRow,
}

impl Rows<'_> {
    pub fn of(&self, results: &Results) -> Vec<FaultRow> {
        // Instructions of a line in a function, where the file has lines.
        let mut groups: BTreeMap<(String, Option<u32>), Vec<At<'_>>> = BTreeMap::new();
        for (pc, tally) in &results.tallies {
            let (place, has_line) = self.place(*pc);
            groups.entry((place, (!has_line).then_some(*pc))).or_default().push((*pc, tally));
        }
        let mut rows: Vec<FaultRow> = groups
            .iter()
            .map(|((place, address), tallies)| {
                let kind = if address.is_some() { RowKind::Instruction } else { RowKind::Line };
                self.row(kind, place.clone(), tallies)
            })
            .collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.bypassed), row.pc));
        let all: Vec<At<'_>> = results.tallies.iter().map(|(pc, tally)| (*pc, tally)).collect();
        rows.push(self.row(RowKind::Total, String::new(), &all));
        rows
    }

    /// Function and line of an address; without a line, with its distance in the function.
    fn place(&self, pc: u32) -> (String, bool) {
        let index = self.firmware.function_at(pc);
        let function = index.map(|index| &self.firmware.functions()[index]);
        match (self.firmware.source_line(pc), function) {
            (Some((file, line)), Some(function)) => (format!("{} at {file}:{line}", function.name), true),
            (Some((file, line)), None) => (format!("{file}:{line}"), true),
            (None, Some(function)) => (format!("{}+{:#x}", function.name, pc - function.address), false),
            (None, None) => (format!("{pc:#x}"), false),
        }
    }

    fn row(&self, kind: RowKind, place: String, tallies: &[At<'_>]) -> FaultRow {
        let mut counts = Counts::default();
        tallies.iter().for_each(|(_, tally)| counts.add(&tally.counts));
        let protect = tallies.iter().filter(|(pc, _)| self.to_protect.contains(pc));
        let protect: Vec<String> = protect.map(|(pc, _)| format!("{pc:#x}")).collect();
        let bypass = tallies.iter().filter_map(|(_, tally)| tally.bypass).min();
        FaultRow {
            kind,
            place,
            pc: tallies.first().map_or(0, |(pc, _)| *pc),
            instruction: match (kind, tallies) {
                (RowKind::Line | RowKind::Instruction, [(pc, _)]) => self.text(*pc),
                _ => None,
            },
            faults: counts.total(),
            detected: counts.of(Outcome::Detected),
            bypassed: counts.of(Outcome::Bypassed),
            crash: counts.of(Outcome::Crash),
            hang: counts.of(Outcome::Hang),
            other: counts.of(Outcome::Other),
            no_effect: counts.of(Outcome::NoEffect),
            protect: protect.join(" "),
            example: bypass.map(|(step, change)| self.campaign.space.id(step, change)),
            ..self.blank.clone()
        }
    }

    fn text(&self, pc: u32) -> Option<String> {
        let length = self.campaign.space.reference.lengths.get(&pc).copied().unwrap_or(1);
        let found = self.firmware.disassemble(pc..pc.saturating_add(length)).ok()?;
        found.into_iter().next().map(|found| found.text)
    }
}
