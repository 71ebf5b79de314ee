//! The faults of a campaign, on all processors of the host.

use super::change::{Change, Layout, Made, Model};
use super::markers::{Markers, Met, Sent};
use super::reference::{End, Reference, Step, finish};
use crate::LabError;
use crate::progress::Progress;
use crate::work;
use mcu::{Mcu, Stop, Until};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Snapshots along the window, from which workers begin: each is as large as the part's memories.
const SNAPSHOTS: u64 = 32;
/// Faults between two reports of the progress.
const REPORT_EVERY: u64 = 256;

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
pub struct Counts([u64; Outcome::ALL.len()]);

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
#[derive(Default)]
pub(super) struct Results {
    pub tallies: BTreeMap<u32, Tally>,
    /// The addresses of each bypass: of a skip, of all instructions that were skipped.
    pub bypasses: BTreeSet<Vec<u32>>,
}

/// A program and the faults that it gets.
pub(super) struct Campaign<'a> {
    pub reference: &'a Reference,
    pub layout: &'a Layout,
    pub markers: &'a Markers,
    pub models: &'a [Model],
    /// Cycles after the window's start at which a run hangs.
    pub hang_cycles: u64,
}

/// The faults that are chosen, by their numbers.
pub(super) struct Plan {
    /// Faults before each step, and of all.
    before: Vec<u64>,
    /// The numbers that were drawn; where absent, all.
    drawn: Option<Vec<u64>>,
}

impl Plan {
    /// All faults, or a sample of them.
    pub fn new(campaign: &Campaign<'_>, sample: Option<u64>, seed: u64) -> Plan {
        let (mut before, mut total) = (vec![0], 0);
        let reads_vary = campaign.models.contains(&Model::Load);
        let mut by_length: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        for step in 0..campaign.reference.steps.len() {
            let count = || campaign.changes(step).len() as u64;
            total += match reads_vary {
                true => count(),
                false => *by_length.entry(campaign.length(step)).or_insert_with(count),
            };
            before.push(total);
        }
        let drawn = sample.filter(|count| *count < total).map(|count| sampled(total, count, seed));
        Plan { before, drawn }
    }

    /// Number of faults that are chosen.
    pub fn len(&self) -> u64 {
        self.drawn.as_ref().map_or(self.total(), |drawn| drawn.len() as u64)
    }

    /// Number of faults that there are.
    pub fn total(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    pub fn is_sample(&self) -> bool {
        self.drawn.is_some()
    }

    /// Step of a chosen fault, and its number there.
    fn at(&self, index: u64) -> (usize, usize) {
        let number = self.drawn.as_ref().map_or(index, |drawn| drawn[index as usize]);
        let step = self.before.partition_point(|before| *before <= number) - 1;
        (step, (number - self.before[step]) as usize)
    }
}

/// Different numbers below `total`, in their order (Floyd's algorithm).
fn sampled(total: u64, count: u64, seed: u64) -> Vec<u64> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut found = BTreeSet::new();
    for last in total - count..total {
        let number = random.random_range(0..=last);
        if !found.insert(number) {
            found.insert(last);
        }
    }
    found.into_iter().collect()
}

/// A machine on its way through the window.
struct Walker {
    machine: Box<dyn Mcu>,
    sent: Sent,
}

impl Walker {
    /// Comes to a step of the window.
    ///
    /// # Errors
    /// The machine is not where it was in the reference run.
    fn advance(&mut self, number: usize, steps: &[Step], markers: &Markers) -> Result<(), LabError> {
        let Step { pc, cycles } = steps[number];
        let machine = &mut *self.machine;
        if machine.cycles() < cycles {
            let _ = machine.run(&Until { cycles: Some(cycles), addresses: Vec::new() });
        }
        if machine.pc() != pc {
            // Two instructions may begin in one cycle.
            let _ = machine.run(&Until { cycles: Some(cycles + 1), addresses: vec![pc] });
        }
        if (machine.pc(), machine.cycles()) != (pc, cycles) {
            return Err(LabError::Unfinished(format!(
                "instruction {number} of the window, at {pc:#x} in cycle {cycles}, cannot be stopped at: the run is at {:#x} in cycle {}",
                machine.pc(),
                machine.cycles()
            )));
        }
        self.sent.take(machine.board_mut(), markers);
        Ok(())
    }

    fn copy(&self) -> Walker {
        Walker { machine: self.machine.snapshot(), sent: self.sent.clone() }
    }
}

impl Campaign<'_> {
    /// The changes at a step, in their order.
    fn changes(&self, step: usize) -> Vec<Change> {
        let mut found = Vec::new();
        let length = self.length(step);
        for model in self.models {
            self.layout.changes(*model, length, self.reference.reads_of(step), &mut found);
        }
        found
    }

    fn length(&self, step: usize) -> Option<u32> {
        self.reference.lengths.get(&self.reference.steps[step].pc).copied()
    }

    fn start(&self) -> Walker {
        Walker { machine: self.reference.start(), sent: self.reference.sent.clone() }
    }

    fn limit(&self) -> u64 {
        self.reference.start_cycles.saturating_add(self.hang_cycles)
    }

    /// The change of an ID's text, `STEP:NAME`.
    pub fn named(&self, id: &str) -> Option<(usize, Change)> {
        let (step, name) = id.split_once(':')?;
        let step = step.parse().ok().filter(|step| *step < self.reference.steps.len())?;
        let change = self.layout.named(name, self.length(step), self.reference.reads_of(step))?;
        Some((step, change))
    }

    /// The ID of a fault.
    pub fn id(&self, step: usize, change: Change) -> String {
        format!("{step}:{}", self.layout.name(change))
    }

    /// A machine with a change made at a step, and how it ended where it did.
    ///
    /// # Errors
    /// The step cannot be come to; memory that cannot be changed.
    pub fn changed(&self, step: usize, change: Change) -> Result<Changed, LabError> {
        let mut walker = self.start();
        walker.advance(step, &self.reference.steps, self.markers)?;
        self.change(&walker, step, change)
    }

    fn change(&self, walker: &Walker, step: usize, change: Change) -> Result<Changed, LabError> {
        let Walker { mut machine, sent } = walker.copy();
        let reads = self.reference.reads_of(step);
        let made = self.layout.make(&mut *machine, change, reads, &self.markers.addresses)?;
        Ok(Changed { machine, sent, made })
    }

    /// Runs a fault to its end.
    ///
    /// # Errors
    /// Memory that cannot be changed.
    fn outcome(&self, walker: &Walker, step: usize, change: Change) -> Result<Outcome, LabError> {
        let mut changed = self.change(walker, step, change)?;
        Ok(self.judge(&mut changed).0)
    }

    /// Runs a changed machine to its end, and says what came of it.
    pub fn judge(&self, changed: &mut Changed) -> (Outcome, Option<End>) {
        let Changed { machine, sent, made } = changed;
        let skipped = match made {
            Made::Nothing => return (Outcome::NoEffect, None),
            Made::Changed { skipped } => *skipped,
            Made::Ran(_) => 0,
        };
        let end = match made {
            Made::Ran(stop) if *stop != Ok(Stop::Cycles) => {
                super::reference::end_of(stop.clone(), &mut **machine, self.markers, sent)
            }
            _ => finish(&mut **machine, self.markers, sent, self.limit()),
        };
        let outcome = self.classified(&end, skipped, &**machine);
        (outcome, Some(end))
    }

    fn classified(&self, end: &End, skipped: u64, machine: &dyn Mcu) -> Outcome {
        let reference = &self.reference.end;
        let as_before = || {
            (end.met, end.output, end.instructions.saturating_add(skipped))
                == (reference.met, reference.output, reference.instructions)
        };
        match (end.met, &end.stop) {
            (Some(Met::Bad(_)), _) => Outcome::Bypassed,
            (Some(Met::Good(_)), _) if as_before() => Outcome::NoEffect,
            (Some(Met::Good(_)), _) => Outcome::Detected,
            (None, Err(mcu::Fault::Returned { .. }) | Ok(Stop::Exit(_) | Stop::Address(_))) => Outcome::Other,
            (None, Err(_) | Ok(Stop::Breakpoint | Stop::PowerLost)) => Outcome::Crash,
            // The handler of a fault seldom returns.
            (None, Ok(_)) if machine.faults_entered().len() > self.reference.faults_entered => Outcome::Crash,
            (None, Ok(Stop::Halted | Stop::Cycles)) => Outcome::Hang,
        }
    }

    /// Time of the plan on all processors, from a run without a fault.
    pub fn estimate(&self, plan: &Plan) -> Duration {
        let begun = Instant::now();
        let Walker { mut machine, mut sent } = self.start();
        finish(&mut *machine, self.markers, &mut sent, self.limit());
        let all = begun.elapsed().as_secs_f64() * plan.len() as f64 / work::processors() as f64;
        Duration::try_from_secs_f64(all).unwrap_or(Duration::MAX)
    }

    /// Runs the faults of a plan; fewer if somebody ends it.
    ///
    /// # Errors
    /// The window cannot be gone through again; memory that cannot be changed.
    pub fn run(&self, plan: &Plan, progress: &dyn Progress) -> Result<Results, LabError> {
        let chunks = self.chunks(plan)?;
        let chunks = Mutex::new(chunks.into_iter());
        let (done, results) = (AtomicU64::new(0), Mutex::new(Ok(Results::default())));
        let worker = || {
            loop {
                let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((range, walker)) = next else { return };
                let found = self.run_chunk(plan, range, walker, &done, progress);
                let mut all = results.lock().unwrap_or_else(PoisonError::into_inner);
                match (&mut *all, found) {
                    (Ok(all), Ok(found)) => all.add(found),
                    (Ok(_), Err(error)) => *all = Err(error),
                    (Err(_), _) => return,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..work::processors() {
                scope.spawn(worker);
            }
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parts of the plan, each with the machine at its first step.
    fn chunks(&self, plan: &Plan) -> Result<Vec<(Range<u64>, Walker)>, LabError> {
        let (faults, mut walker) = (plan.len(), self.start());
        let count = SNAPSHOTS.min(faults);
        let mut chunks = Vec::new();
        for chunk in 0..count {
            let range = faults * chunk / count..faults * (chunk + 1) / count;
            walker.advance(plan.at(range.start).0, &self.reference.steps, self.markers)?;
            chunks.push((range, walker.copy()));
        }
        Ok(chunks)
    }

    fn run_chunk(
        &self,
        plan: &Plan,
        range: Range<u64>,
        mut walker: Walker,
        done: &AtomicU64,
        progress: &dyn Progress,
    ) -> Result<Results, LabError> {
        let mut results = Results::default();
        let mut here: Option<(usize, Vec<Change>)> = None;
        for index in range {
            if progress.is_cancelled() {
                break;
            }
            let (step, number) = plan.at(index);
            if here.as_ref().is_none_or(|(known, _)| *known != step) {
                walker.advance(step, &self.reference.steps, self.markers)?;
                here = Some((step, self.changes(step)));
            }
            let Some(change) = here.as_ref().and_then(|(_, changes)| changes.get(number)).copied() else {
                continue;
            };
            let outcome = self.outcome(&walker, step, change)?;
            let pc = self.reference.steps[step].pc;
            results.count(pc, (step, change), outcome);
            if outcome == Outcome::Bypassed {
                results.bypasses.insert(self.layout.concerned(&*walker.machine, pc, change));
            }
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            if count.is_multiple_of(REPORT_EVERY) || count == plan.len() {
                progress.report(count as usize, plan.len() as usize, "faults");
            }
        }
        Ok(results)
    }
}

impl Results {
    fn count(&mut self, pc: u32, fault: (usize, Change), outcome: Outcome) {
        let tally = self.tallies.entry(pc).or_default();
        tally.counts.0[outcome as usize] += 1;
        if outcome == Outcome::Bypassed && tally.bypass.is_none() {
            tally.bypass = Some(fault);
        }
    }

    fn add(&mut self, other: Results) {
        for (pc, tally) in &other.tallies {
            self.tallies.entry(*pc).or_default().add(tally);
        }
        self.bypasses.extend(other.bypasses);
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

/// A machine with a fault.
pub(super) struct Changed {
    pub machine: Box<dyn Mcu>,
    pub sent: Sent,
    pub made: Made,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_has_different_numbers_and_repeats_itself() {
        let sample = sampled(1_000, 300, 7);
        assert_eq!((sample.len(), sampled(1_000, 300, 7) == sample), (300, true));
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]) && sample[299] < 1_000);
        assert_ne!(sampled(1_000, 300, 8), sample);
        assert_eq!(sampled(5, 5, 1), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn instruction_common_to_several_bypasses_is_protected_alone() {
        let bypasses = [vec![2, 4], vec![4, 6], vec![8], vec![6, 8]];
        let results = Results { bypasses: bypasses.into(), ..Results::default() };
        assert_eq!(results.to_protect(), [4, 8].into());
    }
}
