//! In what two runs of an operation differ first.

use super::Difference;
use ::firmware::Firmware;
use mcu::{Access, AccessKind, Observer, Step, Tables, Trace};

/// Something that an onlooker can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// An instruction at `pc`; the one before it took `elapsed` cycles.
    Step { pc: u32, elapsed: u64 },
    /// An access by the instruction before, to a place or to any in a table.
    Access { address: u32, size: u8, kind: AccessKind, table: Option<usize> },
    /// The call is over; the last instruction took `elapsed` cycles.
    End { elapsed: u64 },
}

impl Seen {
    /// Returns true if an observer could not tell this from the other.
    fn looks_like(&self, other: &Seen) -> bool {
        match (self, other) {
            (Seen::Access { size: s, table: Some(a), .. }, Seen::Access { size: t, table: Some(b), .. }) => {
                (s, a) == (t, b)
            }
            _ => self == other,
        }
    }
}

/// All that can be told of an interval of [`Trace::INTERVAL`] instructions.
pub(super) struct Record<'a> {
    tables: &'a Tables,
    /// The instruction with which it begins.
    from: u64,
    instructions: u64,
    /// The instruction under way, and when it began.
    pc: u32,
    cycles: u64,
    /// The instruction before the interval.
    before: u32,
    seen: Vec<Seen>,
}

impl Record<'_> {
    pub fn new(from: u64, tables: &Tables) -> Record<'_> {
        Record { tables, from, instructions: 0, pc: 0, cycles: 0, before: 0, seen: Vec::new() }
    }

    /// Returns true if the instruction under way belongs to the interval.
    fn open(&self) -> bool {
        // One more than the interval, for the time of its last instruction.
        let last = self.from + Trace::INTERVAL;
        self.instructions > self.from && self.instructions <= last + 1
    }

    pub fn end(&mut self, cycles: u64) {
        if self.open() {
            self.seen.push(Seen::End { elapsed: cycles - self.cycles });
        }
    }
}

impl Observer for Record<'_> {
    fn step(&mut self, step: &Step) {
        let elapsed = if self.instructions == 0 { 0 } else { step.cycles - self.cycles };
        if self.instructions == self.from {
            self.before = self.pc;
        }
        self.instructions += 1;
        (self.pc, self.cycles) = (step.pc, step.cycles);
        if self.open() {
            self.seen.push(Seen::Step { pc: step.pc, elapsed });
        }
    }

    fn access(&mut self, access: &Access) {
        if self.open() {
            let Access { address, size, kind, .. } = *access;
            let table = self.tables.find(address).filter(|_| kind == AccessKind::Read);
            self.seen.push(Seen::Access { address, size, kind, table });
        }
    }
}

/// The first difference of two runs.
pub(super) struct Finding {
    pub differs: Difference,
    pub pc: u32,
    pub what: String,
}

/// Says in what `other`, which is that of `run`, differs first from `plain`; nothing where the
/// interval shows no difference.
pub(super) fn finding(
    firmware: &Firmware,
    run: u32,
    plain: &Record<'_>,
    other: &Record<'_>,
) -> Option<Finding> {
    let same = plain.seen.iter().zip(&other.seen).take_while(|(a, b)| a.looks_like(b)).count();
    let (a, b) = (*plain.seen.get(same)?, *other.seen.get(same)?);
    let pc = plain.seen[..same]
        .iter()
        .rev()
        .find_map(|seen| match seen {
            Seen::Step { pc, .. } => Some(*pc),
            _ => None,
        })
        .unwrap_or(plain.before);
    let (differs, ours, theirs) = match (a, b) {
        (Seen::Step { pc: x, elapsed: s }, Seen::Step { pc: y, elapsed: t }) if x == y => {
            (Difference::Time, took(s), took(t))
        }
        (Seen::End { elapsed: s }, Seen::End { elapsed: t }) => (Difference::Time, took(s), took(t)),
        // One of them is no access: an instruction executed under a condition, or as often as a
        // register says.
        (Seen::Access { .. }, _) | (_, Seen::Access { .. }) => {
            (Difference::Address, did(firmware, a), did(firmware, b))
        }
        _ => (Difference::Branch, did(firmware, a), did(firmware, b)),
    };
    Some(Finding { differs, pc, what: format!("run 0 {ours}, run {run} {theirs}") })
}

fn took(cycles: u64) -> String {
    format!("took {cycles} cycle{}", if cycles == 1 { "" } else { "s" })
}

/// Describes an event as the action of the instruction before it.
fn did(firmware: &Firmware, seen: Seen) -> String {
    match seen {
        Seen::Step { pc, .. } => format!("went on to {pc:#x}{}", firmware.place(pc)),
        Seen::Access { address, size, kind, .. } => {
            let verb = if kind == AccessKind::Read { "read" } else { "wrote" };
            let name = firmware.object_at(address).map_or_else(String::new, |name| format!(" ({name})"));
            format!("{verb} {size} byte{} at {address:#x}{name}", if size == 1 { "" } else { "s" })
        }
        Seen::End { .. } => "returned".into(),
    }
}
