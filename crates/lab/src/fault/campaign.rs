//! The faults of a campaign, on all processors of the host.

use super::change::{Change, Made};
use super::fault_space::FaultSpace;
use super::markers::{Markers, Met, Sent};
use super::plan::{PARTS, Plan};
use super::pruning::{Comparison, DISTANCES, Known, Meeting, Pruning};
use super::quiet::Listener;
use super::reference::{End, end_of, finish};
use super::results::{Outcome, Results};
use super::state::State;
use super::walker::Walker;
use crate::LabError;
use crate::progress::Progress;
use crate::work;
use mcu::{Mcu, NoObserver, Part, Stop};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Faults between two reports of the progress.
const REPORT_EVERY: u64 = 256;

/// A program and the faults that it gets.
pub(super) struct Campaign<'a> {
    pub space: FaultSpace<'a>,
    pub markers: &'a Markers,
    /// Cycles after the window's start at which a run hangs.
    pub hang_cycles: u64,
    /// Runs whose outcome is known are cut short by it; where absent, none is.
    pub pruning: Option<&'a Pruning>,
    pub part: &'a Part,
}

impl Campaign<'_> {
    fn start(&self) -> Walker {
        Walker { machine: self.space.reference.start(), sent: self.space.reference.sent.clone() }
    }

    fn limit(&self) -> u64 {
        self.space.reference.start_cycles.saturating_add(self.hang_cycles)
    }

    /// A machine with a change made at a step, and how it ended where it did.
    ///
    /// # Errors
    /// The step cannot be come to; memory that cannot be changed.
    pub fn changed(&self, step: usize, change: Change) -> Result<Changed, LabError> {
        let mut walker = self.start();
        walker.advance(step, &self.space.reference.steps, self.markers)?;
        self.change(&walker, step, change)
    }

    fn change(&self, walker: &Walker, step: usize, change: Change) -> Result<Changed, LabError> {
        let Walker { mut machine, sent } = walker.copy();
        let reads = self.space.reference.reads_of(step);
        let stops = &self.markers.addresses;
        let made = self.space.layout.make(&mut *machine, change, reads, stops, &mut NoObserver)?;
        Ok(Changed { machine, sent, made })
    }

    /// Runs a changed machine to its end, and says what came of it.
    pub fn judge(&self, changed: &mut Changed) -> (Outcome, Option<End>) {
        let Changed { machine, sent, made } = changed;
        let Some((skipped, stop)) = made.progress() else { return (Outcome::NoEffect, None) };
        let (outcome, end) = self.end(&mut **machine, sent, skipped, stop);
        (outcome, Some(end))
    }

    /// Runs a machine on, unless it has come to a stop.
    fn end(
        &self,
        machine: &mut dyn Mcu,
        sent: &mut Sent,
        skipped: u64,
        stop: Option<Result<Stop, mcu::Fault>>,
    ) -> (Outcome, End) {
        let end = match stop {
            Some(stop) => end_of(stop, machine, self.markers, sent),
            None => finish(machine, self.markers, sent, self.limit(), None),
        };
        (self.classified(&end, skipped, machine), end)
    }

    fn classified(&self, end: &End, skipped: u64, machine: &dyn Mcu) -> Outcome {
        let reference = &self.space.reference.end;
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
            (None, Ok(_)) if machine.faults_entered().len() > self.space.reference.faults_entered => {
                Outcome::Crash
            }
            (None, Ok(Stop::Halted | Stop::Cycles)) => Outcome::Hang,
        }
    }

    /// Time of the plan on all processors, from a run without a fault.
    pub fn estimate(&self, plan: &Plan) -> Duration {
        let begun = Instant::now();
        let Walker { mut machine, mut sent } = self.start();
        finish(&mut *machine, self.markers, &mut sent, self.limit(), None);
        let all = begun.elapsed().as_secs_f64() * plan.len() as f64 / work::processors() as f64;
        Duration::try_from_secs_f64(all).unwrap_or(Duration::MAX)
    }

    /// Runs the faults of a plan that `state` does not have; fewer if somebody ends it.
    ///
    /// # Errors
    /// The window cannot be gone through again; memory that cannot be changed.
    pub fn run(
        &self,
        plan: &Plan,
        state: Option<&State>,
        progress: &dyn Progress,
    ) -> Result<Results, LabError> {
        let mut found_before = Results::default();
        state.iter().flat_map(|state| state.results.values()).for_each(|found| found_before.add(found));
        let count = Counter::new(plan.len(), found_before.count(), progress);
        let chunks = Mutex::new(self.chunks(plan, state)?.into_iter());
        let results = Mutex::new(Ok(found_before));
        let worker = || {
            loop {
                let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((blocks, walker)) = next else { return };
                let found = Chunk::new(self, plan, walker).run(blocks, state, &count);
                let mut all = results.lock().unwrap_or_else(PoisonError::into_inner);
                match (&mut *all, found) {
                    (Ok(all), Ok(found)) => all.add(&found),
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

    /// Parts of the plan that are open, each with the machine at its first step.
    fn chunks(&self, plan: &Plan, state: Option<&State>) -> Result<Vec<(Vec<u64>, Walker)>, LabError> {
        let blocks = plan.blocks();
        let (count, mut walker) = (PARTS.min(blocks), self.start());
        let mut chunks = Vec::new();
        for chunk in 0..count {
            let all = blocks * chunk / count..blocks * (chunk + 1) / count;
            let open: Vec<u64> =
                all.filter(|block| state.is_none_or(|state| !state.results.contains_key(block))).collect();
            let Some(first) = open.first() else { continue };
            let first = plan.at(plan.range_of(*first).start).0;
            walker.advance(first, &self.space.reference.steps, self.markers)?;
            chunks.push((open, walker.copy()));
        }
        Ok(chunks)
    }
}

/// Faults done, for a person who waits.
struct Counter<'a> {
    done: AtomicU64,
    planned: u64,
    /// Faults that were done before.
    found_before: u64,
    begun: Instant,
    progress: &'a dyn Progress,
}

impl Counter<'_> {
    fn new(planned: u64, found_before: u64, progress: &dyn Progress) -> Counter<'_> {
        Counter { done: AtomicU64::new(found_before), planned, found_before, begun: Instant::now(), progress }
    }

    fn add(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(REPORT_EVERY) || done == self.planned {
            let rate = self.begun.elapsed().as_secs_f64() / (done - self.found_before) as f64;
            let left = output::duration(rate * self.planned.saturating_sub(done) as f64);
            self.progress.report(done as usize, self.planned as usize, &format!("faults, {left} left"));
        }
    }
}

/// A worker's way through a part of the plan.
struct Chunk<'a> {
    campaign: &'a Campaign<'a>,
    plan: &'a Plan,
    walker: Walker,
    /// The machine that gets the faults.
    machine: Box<dyn Mcu>,
    /// The run without a fault, further on, with its steps.
    leaders: Vec<(usize, Walker)>,
    /// Outcomes of changes up to an instruction that uses what they change.
    known: HashMap<Change, (u32, Outcome)>,
}

impl Chunk<'_> {
    fn new<'a>(campaign: &'a Campaign<'a>, plan: &'a Plan, walker: Walker) -> Chunk<'a> {
        let (machine, leaders, known) = (walker.machine.snapshot(), Vec::new(), HashMap::new());
        Chunk { campaign, plan, walker, machine, leaders, known }
    }

    fn run(
        mut self,
        blocks: Vec<u64>,
        state: Option<&State>,
        count: &Counter<'_>,
    ) -> Result<Results, LabError> {
        let campaign = self.campaign;
        let is_over = || count.progress.is_cancelled() || state.is_some_and(State::has_failed);
        let mut results = Results::default();
        let mut here: Option<(usize, Vec<Change>)> = None;
        for block in blocks {
            let mut found = Results::default();
            for index in self.plan.range_of(block) {
                if is_over() {
                    results.add(&found);
                    return Ok(results);
                }
                let (step, number) = self.plan.at(index);
                if here.as_ref().is_none_or(|(known, _)| *known != step) {
                    self.walker.advance(step, &campaign.space.reference.steps, campaign.markers)?;
                    here = Some((step, campaign.space.changes(step)));
                }
                let change = here.as_ref().and_then(|(_, changes)| changes.get(number)).copied();
                let Some(change) = change else { continue };
                let outcome = self.outcome(step, change)?;
                let pc = campaign.space.reference.steps[step].pc;
                found.tally(pc, (step, change), outcome);
                if outcome == Outcome::Bypassed {
                    found.bypasses.insert(campaign.space.layout.concerned(&*self.walker.machine, pc, change));
                }
                count.add();
            }
            if let Some(state) = state {
                state.add(block, &found, &campaign.space);
            }
            results.add(&found);
        }
        Ok(results)
    }

    /// Returns the outcome of a fault, run or known.
    fn outcome(&mut self, step: usize, change: Change) -> Result<Outcome, LabError> {
        let next = match self.campaign.pruning.map(|pruning| pruning.known(step, change)) {
            Some(Known::NoEffect) => return Ok(Outcome::NoEffect),
            Some(Known::SameAs(next)) => Some(next),
            Some(Known::Nothing) | None => None,
        };
        let before = next.and_then(|next| self.known.get(&change).filter(|(known, _)| *known == next));
        if let Some((_, outcome)) = before {
            return Ok(*outcome);
        }
        let outcome = self.inject(step, change)?;
        if let Some(next) = next {
            self.known.insert(change, (next, outcome));
        }
        Ok(outcome)
    }

    /// Makes a change, and runs on as far as its outcome is known.
    fn inject(&mut self, step: usize, change: Change) -> Result<Outcome, LabError> {
        let campaign = self.campaign;
        if !self.machine.restore(&*self.walker.machine) {
            self.machine = self.walker.machine.snapshot();
        }
        let (stops, reads) = (&campaign.markers.addresses, campaign.space.reference.reads_of(step));
        let is_quiet = campaign.pruning.is_some_and(|pruning| pruning.is_quiet_from(step));
        let mut listener = Listener::new(campaign.part, is_quiet);
        let machine = &mut *self.machine;
        let made = match is_quiet {
            true => campaign.space.layout.make(machine, change, reads, stops, &mut listener)?,
            false => campaign.space.layout.make(machine, change, reads, stops, &mut NoObserver)?,
        };
        let Some((skipped, mut stop)) = made.progress() else { return Ok(Outcome::NoEffect) };
        if is_quiet && stop.is_none() {
            match self.follow(step, skipped, &mut listener)? {
                Meeting::Same => return Ok(Outcome::NoEffect),
                Meeting::Ended(ended) => stop = Some(ended),
                Meeting::Apart => {}
            }
        }
        let mut sent = self.walker.sent.clone();
        Ok(campaign.end(&mut *self.machine, &mut sent, skipped, stop).0)
    }

    /// Runs a machine with a fault on for some instructions beside the one without.
    fn follow(
        &mut self,
        step: usize,
        skipped: u64,
        listener: &mut Listener<'_>,
    ) -> Result<Meeting, LabError> {
        let campaign = self.campaign;
        let (reference, markers, limit) = (campaign.space.reference, campaign.markers, campaign.limit());
        // A run does not stop where it begins.
        if markers.at(&*self.machine).is_some() || markers.exit_code(&*self.machine).is_some() {
            return Ok(Meeting::Apart);
        }
        let comparison = Comparison { reference, markers, limit, step, skipped };
        for (number, distance) in DISTANCES.into_iter().enumerate() {
            let to = step + distance;
            if to >= reference.steps.len() {
                break;
            }
            if self.leaders.len() == number {
                self.leaders.push((step, self.walker.copy()));
            }
            let (at, leader) = &mut self.leaders[number];
            if *at != to {
                leader.advance(to, &reference.steps, markers)?;
                *at = to;
            }
            match comparison.follow(&mut *self.machine, (&*leader.machine, to), listener) {
                // It is on the same way, and may come to be the same further on.
                Meeting::Apart if self.machine.pc() == reference.steps[to].pc => {}
                met => return Ok(met),
            }
        }
        Ok(Meeting::Apart)
    }
}

/// A machine with a fault.
pub(super) struct Changed {
    pub machine: Box<dyn Mcu>,
    pub sent: Sent,
    pub made: Made,
}
