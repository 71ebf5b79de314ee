//! Counts of a harvested node's life.

use super::outcome::{Event, EventKind, Misses, Outcome, Reason, Sample};
use crate::energy_account::EnergyAccount;
use crate::node::SignerCounts;
use crate::simulation::Recorder;
use crate::site::{Site, SiteEvent};
use crate::station::BaseEvent;
use crate::time::{nanoseconds, seconds};
use lab::LabError;

/// Obstacles since the last authentication was settled.
#[derive(Clone, Copy, Debug, Default)]
struct Obstacles {
    refused: bool,
    off: bool,
}

/// Subject of a run.
#[derive(Clone, Debug)]
pub struct Run {
    pub title: String,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Duration in days.
    pub days: f64,
    /// From this stored voltage on the firmware signs, in volts.
    pub threshold_v: f64,
    /// Between two samples of the trace, in seconds.
    pub sample_s: f64,
}

/// The recorder.
pub struct HarvestRecorder {
    end_ns: u64,
    sample_ns: u64,
    next_sample_ns: u64,
    powered: bool,
    obstacles: Obstacles,
    counts: SignerCounts,
    /// The firmware does not listen for lack of energy.
    closed: bool,
    latencies_ns: Vec<u64>,
    outcome: Outcome,
}

impl HarvestRecorder {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(run: Run) -> HarvestRecorder {
        HarvestRecorder {
            end_ns: nanoseconds(run.days * 86_400.0),
            sample_ns: nanoseconds(run.sample_s).max(1),
            next_sample_ns: 0,
            powered: false,
            obstacles: Obstacles::default(),
            counts: SignerCounts::default(),
            closed: false,
            latencies_ns: Vec::new(),
            outcome: Outcome {
                title: run.title,
                seed: run.seed,
                days: run.days,
                threshold_v: run.threshold_v,
                authentications: 0,
                misses: Misses::default(),
                rejected: 0,
                resets: 0,
                off_s: 0.0,
                signed: 0,
                refused: 0,
                mean_latency_s: None,
                max_latency_s: None,
                rail_j_per_authentication: None,
                active_j_per_signature: None,
                min_v: 0.0,
                max_v: 0.0,
                energy: EnergyAccount::default(),
                events: Vec::new(),
                trace: Vec::new(),
            },
        }
    }

    /// When the run ends, in nanoseconds.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn note(&mut self, at_ns: u64, kind: EventKind) {
        self.outcome.events.push(Event { time_s: seconds(at_ns), kind });
    }

    fn count(&mut self, counts: SignerCounts) {
        self.obstacles.refused |= counts.refused > self.counts.refused;
        if counts.wakes != self.counts.wakes {
            self.closed = counts.closed != self.counts.closed;
        }
        self.outcome.signed += counts.signed.saturating_sub(self.counts.signed);
        self.outcome.refused += counts.refused.saturating_sub(self.counts.refused);
        self.counts = counts;
    }

    fn missed(&mut self, now_ns: u64) {
        let reason = match self.obstacles {
            Obstacles { off: true, .. } => Reason::NodeOff,
            Obstacles { refused: true, .. } => Reason::NoEnergy,
            _ => Reason::Radio,
        };
        *self.outcome.misses.count(reason) += 1;
        self.note(now_ns, EventKind::Missed(reason));
        self.obstacles = Obstacles::default();
    }

    /// The answer to the challenge that was missed last has come after all.
    fn late(&mut self) {
        let missed = self.outcome.events.iter_mut().rev().find_map(|event| match &mut event.kind {
            EventKind::Missed(reason) => Some(reason),
            _ => None,
        });
        if let Some(reason) = missed {
            let before = std::mem::replace(reason, Reason::Late);
            *self.outcome.misses.count(before) -= 1;
            *self.outcome.misses.count(Reason::Late) += 1;
        }
    }

    fn sample(&mut self, now_ns: u64, site: &Site) {
        let Some(harvest) = site.harvest() else { return };
        let time_s = seconds(now_ns);
        self.outcome.trace.push(Sample {
            time_s,
            sun_w_per_m2: harvest.sun_w_per_m2(time_s),
            stored_v: harvest.circuit.stored_v(),
            rail_v: harvest.circuit.rail_v(),
            authentications: self.outcome.authentications,
            misses: self.outcome.misses.total(),
        });
    }

    /// Returns the outcome at the end.
    #[must_use]
    pub fn finish(mut self, now_ns: u64, site: &Site) -> Outcome {
        self.sample(now_ns, site);
        let outcome = &mut self.outcome;
        if let Some(harvest) = site.harvest() {
            outcome.energy = harvest.account.clone();
            outcome.energy.stored_end_j = harvest.circuit.stored_j();
            (outcome.min_v, outcome.max_v) = harvest.extremes_v;
        }
        let longest = self.latencies_ns.iter().max();
        outcome.max_latency_s = longest.map(|&ns| seconds(ns));
        let count = self.latencies_ns.len();
        if count > 0 {
            outcome.mean_latency_s = Some(seconds(self.latencies_ns.iter().sum::<u64>()) / count as f64);
            outcome.rail_j_per_authentication = Some(outcome.energy.used_j() / count as f64);
        }
        if outcome.signed > 0 {
            let active =
                outcome.energy.loads.iter().filter(|load| load.part == "cpu" && load.state == "active");
            let active_j: f64 = active.map(|load| load.energy_j).sum();
            outcome.active_j_per_signature = Some(active_j / outcome.signed as f64);
        }
        self.outcome
    }
}

impl Recorder for HarvestRecorder {
    fn next_ns(&self) -> u64 {
        self.next_sample_ns
    }

    fn site_event(&mut self, _: usize, at_ns: u64, event: SiteEvent) -> Result<(), LabError> {
        match event {
            SiteEvent::PowerUp => {
                self.powered = true;
                self.note(at_ns, EventKind::PowerUp);
            }
            SiteEvent::PowerCut { .. } => {
                (self.powered, self.closed) = (false, false);
                self.counts = SignerCounts::default();
                self.outcome.resets += 1;
                self.note(at_ns, EventKind::PowerLost);
            }
            SiteEvent::Off(for_s) => {
                self.obstacles.off = true;
                self.outcome.off_s += for_s;
            }
            SiteEvent::Signer(counts) => self.count(counts),
            SiteEvent::Call(_) | SiteEvent::Meter(_) => {}
        }
        Ok(())
    }

    fn base_event(&mut self, now_ns: u64, event: BaseEvent) -> Result<(), LabError> {
        match event {
            BaseEvent::Challenge => self.obstacles = Obstacles { off: !self.powered, refused: self.closed },
            BaseEvent::Missed => self.missed(now_ns),
            BaseEvent::Authenticated { latency_ns } => {
                self.outcome.authentications += 1;
                self.latencies_ns.push(latency_ns);
                self.obstacles = Obstacles::default();
                self.note(now_ns, EventKind::Authenticated);
            }
            BaseEvent::Late => self.late(),
            BaseEvent::Rejected(why) => {
                self.outcome.rejected += 1;
                self.note(now_ns, EventKind::Rejected(why));
            }
            BaseEvent::Delivered(_)
            | BaseEvent::Answered(..)
            | BaseEvent::Commanded(_)
            | BaseEvent::KeysStored(_)
            | BaseEvent::ImageGiven(..)
            | BaseEvent::PieceTaken { .. } => {}
        }
        Ok(())
    }

    fn passed(&mut self, now_ns: u64, sites: &[Site]) -> Result<(), LabError> {
        if now_ns >= self.next_sample_ns && now_ns < self.end_ns {
            let sample_ns = self.sample_ns;
            self.next_sample_ns += (now_ns - self.next_sample_ns) / sample_ns * sample_ns + sample_ns;
            if let Some(site) = sites.first() {
                self.sample(now_ns, site);
            }
        }
        Ok(())
    }
}
