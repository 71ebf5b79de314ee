//! History of a run: snapshots, between which it is run again.

use mcu::Mcu;

/// Cycles between the first snapshots.
const FIRST: u64 = 1_000_000;

/// More snapshots are thinned out: each is as large as the part's memories.
const MOST: usize = 32;

/// Snapshots of a run since its beginning, or since somebody changed the machine.
pub(super) struct History {
    /// The earliest first, which is the beginning.
    snapshots: Vec<Box<dyn Mcu>>,
    /// Cycles between two of them.
    every: u64,
}

impl History {
    /// The run begins with the machine as it is.
    pub fn begin(machine: &dyn Mcu) -> History {
        History { snapshots: vec![machine.snapshot()], every: FIRST }
    }

    /// Keeps the machine as it is, if that is far from the last snapshot.
    pub fn keep(&mut self, machine: &dyn Mcu) {
        let last = self.snapshots.last().map_or(0, |last| last.cycles());
        if machine.cycles() < last.saturating_add(self.every) {
            return;
        }
        self.snapshots.push(machine.snapshot());
        if self.snapshots.len() > MOST {
            let mut number = 0;
            self.snapshots.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// The snapshots before a cycle, the latest first, each with the cycle up to which it is the
    /// nearest.
    pub fn before(&self, cycles: u64) -> impl Iterator<Item = (&dyn Mcu, u64)> {
        let earlier = self.snapshots.iter().filter(move |snapshot| snapshot.cycles() < cycles);
        let ends = self.snapshots.iter().skip(1).map(|next| next.cycles());
        let ends: Vec<u64> = ends.map(|end| end.min(cycles)).chain([cycles]).collect();
        earlier.zip(ends).map(|(snapshot, end)| (&**snapshot, end)).collect::<Vec<_>>().into_iter().rev()
    }
}
