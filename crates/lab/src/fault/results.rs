//! Outcomes of a campaign's faults, counted.

use super::change::Change;
use std::collections::{BTreeMap, BTreeSet};

/// Outcome of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// A good marker was met on another way, or another good marker.
    Detected,
    /// A bad marker was met.
    Bypassed,
    /// The core faulted, or the model stopped.
    Crash,
    /// The run came to a halt, or did not end.
    Hang,
    /// The program ended by itself, at no marker.
    Other,
    /// The run ended as without the fault, after as many instructions.
    NoEffect,
}

impl Outcome {
    /// All of them, in the order of [`Counts`].
    pub const ALL: [Outcome; 6] = [
        Outcome::Detected,
        Outcome::Bypassed,
        Outcome::Crash,
        Outcome::Hang,
        Outcome::Other,
        Outcome::NoEffect,
    ];

    /// Its name for a person.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Detected => "detected",
            Outcome::Bypassed => "bypassed",
            Outcome::Crash => "crash",
            Outcome::Hang => "hang",
            Outcome::Other => "other end",
            Outcome::NoEffect => "no effect",
        }
    }
}

/// Number of faults by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts(pub(super) [u64; Outcome::ALL.len()]);

impl Counts {
    /// Number of an outcome.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// Number of all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds others.
    pub fn add(&mut self, other: &Counts) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own += other);
    }
}

/// Faults at an instruction's address.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub counts: Counts,
    /// The first one that was bypassed: its step and its change.
    pub bypass: Option<(usize, Change)>,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.counts.add(&other.counts);
        let first = [self.bypass, other.bypass].into_iter().flatten().min();
        self.bypass = first;
    }
}

/// Results of a campaign, or of a part of it.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub tallies: BTreeMap<u32, Tally>,
    /// The addresses of each bypass: of a skip, of all instructions that were skipped.
    pub bypasses: BTreeSet<Vec<u32>>,
}

impl Results {
    pub fn count(&self) -> u64 {
        self.tallies.values().map(|tally| tally.counts.total()).sum()
    }

    pub fn tally(&mut self, pc: u32, fault: (usize, Change), outcome: Outcome) {
        let tally = self.tallies.entry(pc).or_default();
        tally.counts.0[outcome as usize] += 1;
        if outcome == Outcome::Bypassed && tally.bypass.is_none() {
            tally.bypass = Some(fault);
        }
    }

    pub fn add(&mut self, other: &Results) {
        for (pc, tally) in &other.tallies {
            self.tallies.entry(*pc).or_default().add(tally);
        }
        self.bypasses.extend(other.bypasses.iter().cloned());
    }

    /// A smallest set of instructions of which each bypass concerns one: those that a bypass
    /// concerns alone, then always the one that most of the others concern.
    pub fn to_protect(&self) -> BTreeSet<u32> {
        let alone = self.bypasses.iter().filter(|concerned| concerned.len() == 1);
        let mut protected: BTreeSet<u32> = alone.flatten().copied().collect();
        let mut open: Vec<&Vec<u32>> = self.bypasses.iter().collect();
        loop {
            open.retain(|concerned| !concerned.iter().any(|pc| protected.contains(pc)));
            let mut often: BTreeMap<u32, usize> = BTreeMap::new();
            open.iter().copied().flatten().for_each(|pc| *often.entry(*pc).or_default() += 1);
            let Some((pc, _)) = often.into_iter().max_by_key(|(pc, count)| (*count, u32::MAX - pc)) else {
                return protected;
            };
            protected.insert(pc);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_common_to_several_bypasses_is_protected_alone() {
        let bypasses = [vec![2, 4], vec![4, 6], vec![8], vec![6, 8]];
        let results = Results { bypasses: bypasses.into(), ..Results::default() };
        assert_eq!(results.to_protect(), [4, 8].into());
    }
}
