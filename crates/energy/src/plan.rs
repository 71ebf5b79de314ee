//! The search of a plan: which of many measured points meet what is asked for, what limits each of
//! them, and which are the best; or, where none does, what excludes them and how far the nearest
//! one is.

use std::cmp::Ordering;
use std::sync::Arc;

/// One way to do what a node does for a message: a microcontroller at a clock and a supply, a
/// scheme and how it is built, with all that follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Target name.
    pub target: Arc<str>,
    /// Scheme name.
    pub scheme: Arc<str>,
    /// Variant of its operations.
    pub variant: Arc<str>,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Security level of the scheme, in bits.
    pub security_bits: u32,
    /// Cycles of computation for a message.
    pub cycles: f64,
    /// Time of computation, in seconds.
    pub compute_s: f64,
    /// Energy of computation, in joules.
    pub compute_j: f64,
    /// Bytes on the air for a message; 0 without a radio.
    pub radio_bytes: u32,
    /// Packets that these take.
    pub radio_packets: u32,
    /// Time on the air, in seconds.
    pub radio_s: f64,
    /// Energy of sending, in joules.
    pub radio_j: f64,
    /// Program memory, in bytes.
    pub flash_bytes: u64,
    /// Static RAM and the deepest stack, in bytes.
    pub ram_bytes: u64,
    /// Power asleep, in watts; none where the target file has no such figure.
    pub sleep_w: Option<f64>,
    /// Energy of sleeping until the next message is due, in joules; 0 where no rate is given.
    pub sleep_j: f64,
    /// Life of the battery that was asked about, in seconds; none where there is none or `sleep_w`
    /// is unknown.
    pub life_s: Option<f64>,
    /// To what the capacitor asked about must be charged before a message (6.1), in volts; none
    /// where there is none.
    pub stored_v: Option<f64>,
    /// Mean power at the rate of messages, in watts; none without a rate or where `sleep_w` is
    /// unknown.
    pub mean_w: Option<f64>,
}

impl Candidate {
    /// Energy of a message: computation, sending, and sleeping until the next one, in joules.
    #[must_use]
    pub fn energy_j(&self) -> f64 {
        self.compute_j + self.radio_j + self.sleep_j
    }

    /// Returns the time from the wake-up to the end of the last packet, in seconds.
    #[must_use]
    pub fn latency_s(&self) -> f64 {
        self.compute_s + self.radio_s
    }
}

/// Quantity of a point that a requirement or a table names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Energy of a message, in joules, at most.
    Energy,
    /// Computation and time on the air, in seconds, at most.
    Latency,
    /// Security level, in bits, at least.
    Security,
    /// Program memory, in bytes, at most.
    Flash,
    /// Static RAM and stack, in bytes, at most.
    Ram,
    /// A message must be through before the next is due: computation and time on the air, in
    /// seconds, at most.
    Interval,
    /// Life of the battery, in seconds, at least.
    Life,
    /// Voltage of the capacitor by (6.1), in volts, at most what it bears.
    Stored,
    /// Mean power, in watts, at most what the panel gives.
    Harvest,
}

impl Quantity {
    /// Returns a candidate's value; none where it is not known.
    #[must_use]
    pub fn of(self, candidate: &Candidate) -> Option<f64> {
        match self {
            Quantity::Energy => Some(candidate.energy_j()),
            Quantity::Latency | Quantity::Interval => Some(candidate.latency_s()),
            Quantity::Security => Some(f64::from(candidate.security_bits)),
            Quantity::Flash => Some(candidate.flash_bytes as f64),
            Quantity::Ram => Some(candidate.ram_bytes as f64),
            Quantity::Life => candidate.life_s,
            Quantity::Stored => candidate.stored_v,
            Quantity::Harvest => candidate.mean_w,
        }
    }

    /// Returns true if more is better, so that a requirement is a least value.
    #[must_use]
    pub fn at_least(self) -> bool {
        matches!(self, Quantity::Security | Quantity::Life)
    }

    /// The word for it in tables and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Energy => "energy",
            Quantity::Latency => "latency",
            Quantity::Security => "security",
            Quantity::Flash => "flash",
            Quantity::Ram => "ram",
            Quantity::Interval => "rate",
            Quantity::Life => "life",
            Quantity::Stored => "capacitor",
            Quantity::Harvest => "panel",
        }
    }

    /// Its unit, in symbols of SI; bytes are `B`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Energy => "J",
            Quantity::Latency | Quantity::Interval | Quantity::Life => "s",
            Quantity::Security => "bit",
            Quantity::Flash | Quantity::Ram => "B",
            Quantity::Stored => "V",
            Quantity::Harvest => "W",
        }
    }
}

/// A quantity and the most, or the least, that it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// Quantity that is limited.
    pub quantity: Quantity,
    /// The limit, in its unit; above 0.
    pub limit: f64,
}

impl Requirement {
    /// Returns how far a candidate is beyond the limit, as a share of the limit: 0.16 is 16 % too
    /// much (or too little, where more is better), a negative one is slack. Infinite where the
    /// quantity is not known or no number.
    #[must_use]
    pub fn excess(&self, candidate: &Candidate) -> f64 {
        let value = match self.quantity.of(candidate) {
            Some(value) if !value.is_nan() => value,
            _ => return f64::INFINITY,
        };
        // A requirement that is written with few digits is met by what rounds to it: 1/6 s by
        // 0.16666...7 s.
        let share = value / self.limit - 1.0;
        let excess = if self.quantity.at_least() { -share } else { share };
        if excess.abs() < 1e-9 { 0.0 } else { excess }
    }
}

/// Requirement that limits a feasible point most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limiting {
    /// The quantity with the least slack.
    pub quantity: Quantity,
    /// Distance from the limit, as a share of it: 0.03 is 3 %.
    pub slack: f64,
}

/// A candidate that meets all requirements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Index of the candidate.
    pub index: usize,
    /// Requirement that limits it most; none where nothing was required.
    pub limiting: Option<Limiting>,
    /// True if no other feasible point is better in one of energy, latency, flash and RAM, and as
    /// good in the others.
    pub front: bool,
}

/// Candidates that one requirement excludes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exclusion {
    /// The requirement.
    pub requirement: Requirement,
    /// Candidates that do not meet it.
    pub excluded: usize,
    /// Those of them that meet all others.
    pub alone: usize,
    /// The candidate beyond this limit that is nearest to it: among those that meet all others
    /// where there are such (then `alone` is not 0). None where it excludes nothing, or its
    /// quantity is not known of any.
    pub nearest: Option<Nearest>,
}

/// A candidate and how far it is beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Index of the candidate.
    pub index: usize,
    /// Distance beyond the limit, as a share of it.
    pub excess: f64,
}

/// The result of [`search`].
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The feasible points: the front first, each part by rising energy.
    pub points: Vec<Point>,
    /// A line for each requirement, in their order.
    pub exclusions: Vec<Exclusion>,
    /// The candidate whose worst excess is least, where nothing is feasible. None where something
    /// is, or where there are no candidates or none of which all is known.
    pub closest: Option<Nearest>,
}

/// Looks through all candidates.
#[must_use]
pub fn search(candidates: &[Candidate], requirements: &[Requirement]) -> SearchResult {
    let mut feasible = Vec::new();
    let mut exclusions: Vec<Exclusion> = requirements
        .iter()
        .map(|&requirement| Exclusion { requirement, excluded: 0, alone: 0, nearest: None })
        .collect();
    let mut closest: Option<Nearest> = None;
    let mut excesses = vec![0.0; requirements.len()];
    for (index, candidate) in candidates.iter().enumerate() {
        for (excess, requirement) in excesses.iter_mut().zip(requirements) {
            *excess = requirement.excess(candidate);
        }
        let missed = excesses.iter().filter(|&&excess| excess > 0.0).count();
        if missed == 0 {
            feasible.push((index, limiting(requirements, &excesses)));
            continue;
        }
        for (exclusion, &excess) in exclusions.iter_mut().zip(&excesses) {
            if excess > 0.0 {
                note(exclusion, Nearest { index, excess }, missed == 1);
            }
        }
        let worst = Nearest { index, excess: excesses.iter().copied().fold(0.0, f64::max) };
        if worst.excess.is_finite() && closest.is_none_or(|known| worst.excess < known.excess) {
            closest = Some(worst);
        }
    }
    let front = pareto_front(&feasible.iter().map(|&(index, _)| &candidates[index]).collect::<Vec<_>>());
    let mut points: Vec<Point> = feasible
        .iter()
        .zip(&front)
        .map(|(&(index, limiting), &front)| Point { index, limiting, front })
        .collect();
    points.sort_by(|a, b| {
        b.front.cmp(&a.front).then_with(|| order(&candidates[a.index], &candidates[b.index]))
    });
    SearchResult { closest: closest.filter(|_| points.is_empty()), points, exclusions }
}

/// Counts a candidate that a requirement excludes.
fn note(exclusion: &mut Exclusion, candidate: Nearest, alone: bool) {
    exclusion.excluded += 1;
    // The first that fails here alone is nearer than whatever fails elsewhere, too.
    if alone && exclusion.alone == 0 {
        exclusion.nearest = None;
    }
    let counts = alone || exclusion.alone == 0;
    exclusion.alone += usize::from(alone);
    if counts
        && candidate.excess.is_finite()
        && exclusion.nearest.is_none_or(|known| candidate.excess < known.excess)
    {
        exclusion.nearest = Some(candidate);
    }
}

/// The requirement with the least slack.
fn limiting(requirements: &[Requirement], excesses: &[f64]) -> Option<Limiting> {
    requirements
        .iter()
        .zip(excesses)
        .map(|(requirement, &excess)| Limiting { quantity: requirement.quantity, slack: -excess })
        .min_by(|a, b| a.slack.total_cmp(&b.slack))
}

/// Returns the quantities that a plan minimises.
fn costs(candidate: &Candidate) -> [f64; 4] {
    [candidate.energy_j(), candidate.latency_s(), candidate.flash_bytes as f64, candidate.ram_bytes as f64]
}

/// By energy, then by latency, flash, RAM; then by name, so that the order is always the same.
fn order(a: &Candidate, b: &Candidate) -> Ordering {
    let names = |c: &Candidate| (c.target.clone(), c.scheme.clone(), c.variant.clone(), c.clock_hz);
    by_cost(&costs(a), &costs(b)).then_with(|| names(a).cmp(&names(b)))
}

fn by_cost(a: &[f64; 4], b: &[f64; 4]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Returns for each candidate whether no other is better in one of energy, latency, flash and RAM,
/// and as good in the others.
#[must_use]
pub fn pareto_front(candidates: &[&Candidate]) -> Vec<bool> {
    let mut rows: Vec<(usize, [f64; 4])> =
        candidates.iter().enumerate().map(|(index, candidate)| (index, costs(candidate))).collect();
    // In this order nothing that comes later can be better than what came before.
    rows.sort_by(|a, b| by_cost(&a.1, &b.1));
    let mut marks = vec![false; candidates.len()];
    let mut front: Vec<[f64; 4]> = Vec::new();
    for (index, row) in rows {
        let beaten = front.iter().position(|best| dominates(best, &row));
        match beaten {
            // Neighbours tend to be beaten by the same one.
            Some(at) => front.swap(at, at / 2),
            None => {
                front.push(row);
                marks[index] = true;
            }
        }
    }
    marks
}

fn dominates(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a != b
}
