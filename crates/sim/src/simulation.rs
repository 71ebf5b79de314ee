//! The loop: node, circuit, sun, air and server, one step of virtual time after the other.
//!
//! While the processor runs, a step is [`crate::scenario::Step::awake_s`] at most; while it sleeps, longer, but a node
//! returns as soon as it wakes, and no step goes past what the server does next or past half the time for which the
//! storage holds the rail up. Within a step the node sees the voltages of its beginning.

use crate::circuit::Circuit;
use crate::ledger::{Ledger, Load};
use crate::node::{Advance, Counts, Node, Packet, SECOND_NS, Voltages};
use crate::outcome::{Event, EventKind, Misses, Outcome, Reason, Sample};
use crate::scenario::Step;
use crate::server::{Action, Server, Verdict};
use energy::sun::Irradiance;
use lab::LabError;
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The world around a node.
pub struct World {
    /// What it is called.
    pub title: String,
    /// Where the air's random numbers begin.
    pub seed: u64,
    /// How long it lasts, in days.
    pub days: f64,
    /// The sun from the beginning on.
    pub sun: Irradiance,
    /// Share of it that reaches the panel.
    pub sun_share: f64,
    /// Share of the packets that are lost.
    pub loss: f64,
    /// From this stored voltage on the firmware signs, in volts.
    pub threshold_v: f64,
    /// The supply below which the part loses its state, in volts.
    pub lowest_rail_v: f64,
    /// How finely time is cut.
    pub step: Step,
}

/// What came in the way since the last authentication was settled.
#[derive(Clone, Copy, Debug, Default)]
struct Obstacles {
    refused: bool,
    off: bool,
}

struct Run<'a> {
    world: &'a World,
    circuit: Circuit,
    server: Server,
    node: &'a mut dyn Node,
    air: StdRng,
    now_ns: u64,
    obstacles: Obstacles,
    counts: Counts,
    /// The firmware does not listen for lack of energy.
    closed: bool,
    latencies_ns: Vec<u64>,
    outcome: Outcome,
}

/// Told of the progress of a simulation: seconds to come, seconds done.
pub trait Progress {
    /// `done_s` of `total_s` have been simulated.
    fn report(&self, done_s: f64, total_s: f64);
}

/// Nobody is told.
pub struct Quiet;

impl Progress for Quiet {
    fn report(&self, _: f64, _: f64) {}
}

/// Runs a world to its end.
///
/// # Errors
/// What the node's model cannot execute, or an independent library that fails.
pub fn run(
    world: &World,
    circuit: Circuit,
    server: Server,
    node: &mut dyn Node,
    progress: &dyn Progress,
) -> Result<Outcome, LabError> {
    let loads = node.states().iter().map(|state| Load {
        part: state.part,
        state: state.name.clone(),
        time_s: 0.0,
        energy_j: 0.0,
    });
    let energy = Ledger { loads: loads.collect(), stored_start_j: circuit.stored_j(), ..Ledger::default() };
    let outcome = Outcome {
        title: world.title.clone(),
        seed: world.seed,
        days: world.days,
        threshold_v: world.threshold_v,
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
        min_v: circuit.stored_v(),
        max_v: circuit.stored_v(),
        energy,
        events: Vec::new(),
        trace: Vec::new(),
    };
    let mut run = Run {
        world,
        circuit,
        server,
        node,
        air: StdRng::seed_from_u64(world.seed ^ 0x6169_7200),
        now_ns: 0,
        obstacles: Obstacles::default(),
        counts: Counts::default(),
        closed: false,
        latencies_ns: Vec::new(),
        outcome,
    };
    run.live(progress)?;
    Ok(run.finish())
}

impl Run<'_> {
    fn live(&mut self, progress: &dyn Progress) -> Result<(), LabError> {
        let end_ns = nanoseconds(self.world.days * 86_400.0);
        let sample_ns = nanoseconds(self.world.step.sample_s).max(1);
        let mut next_sample_ns = 0;
        let mut asleep = false;
        let mut powered = false;
        if self.circuit.rail_is_on() {
            self.power_up()?;
            powered = true;
        }
        while self.now_ns < end_ns {
            if self.now_ns >= next_sample_ns {
                self.sample();
                progress.report(seconds(self.now_ns), seconds(end_ns));
                next_sample_ns += (self.now_ns - next_sample_ns) / sample_ns * sample_ns + sample_ns;
            }
            while self.server.next_ns() <= self.now_ns {
                self.server_acts(powered);
            }
            let event_ns = end_ns.min(next_sample_ns).min(self.server.next_ns());
            if powered {
                let advance = self.advance(event_ns, asleep)?;
                asleep = advance.asleep;
                if advance.power_lost || !self.circuit.rail_is_on() {
                    self.circuit.switch_off();
                    self.node.power_down();
                    self.counts = Counts::default();
                    self.closed = false;
                    self.outcome.resets += 1;
                    self.note(EventKind::PowerLost);
                    powered = false;
                }
            } else {
                self.obstacles.off = true;
                let limit_ns = event_ns.min(self.now_ns + nanoseconds(self.world.step.asleep_s));
                let dt_s = seconds(limit_ns - self.now_ns);
                self.outcome.off_s += dt_s;
                self.electricity(limit_ns, &[]);
                if self.circuit.rail_is_on() {
                    self.power_up()?;
                    powered = true;
                    asleep = false;
                }
            }
        }
        self.sample();
        Ok(())
    }

    fn power_up(&mut self) -> Result<(), LabError> {
        self.node.power_up(self.now_ns, self.voltages())?;
        self.note(EventKind::PowerUp);
        Ok(())
    }

    fn voltages(&self) -> Voltages {
        Voltages { rail_v: self.circuit.rail_v(), stored_v: self.circuit.stored_v() }
    }

    /// Lets the node live on for one step.
    fn advance(&mut self, event_ns: u64, asleep: bool) -> Result<Advance, LabError> {
        let step = &self.world.step;
        let longest_s = if asleep {
            // A current that no sleeping node has: a receiver's.
            let holds_s = self.circuit.holds_s(0.025, self.world.lowest_rail_v);
            (holds_s / 2.0).clamp(step.awake_s, step.asleep_s)
        } else {
            step.awake_s
        };
        let limit_ns = event_ns.min(self.now_ns + nanoseconds(longest_s).max(1));
        let mut advance = self.node.advance(limit_ns, self.voltages())?;
        advance.now_ns = advance.now_ns.max(self.now_ns + 1);
        self.electricity(advance.now_ns, &advance.draws);
        for packet in self.node.sent() {
            self.answer(&packet)?;
        }
        if !advance.asleep {
            let counts = self.node.counts()?;
            self.obstacles.refused |= counts.refused > self.counts.refused;
            if counts.wakes != self.counts.wakes {
                self.closed = counts.closed != self.counts.closed;
            }
            self.outcome.signed += counts.signed.saturating_sub(self.counts.signed);
            self.outcome.refused += counts.refused.saturating_sub(self.counts.refused);
            self.counts = counts;
        }
        Ok(advance)
    }

    /// Lets the circuit follow to `until_ns`, with these draws spread evenly.
    fn electricity(&mut self, until_ns: u64, draws: &[crate::node::Draw]) {
        let dt_s = seconds(until_ns - self.now_ns);
        let middle_s = seconds(self.now_ns) + dt_s / 2.0;
        let sun = self.world.sun.at(middle_s) * self.world.sun_share;
        let charge_c = draws.iter().map(|draw| draw.charge_c).sum();
        let energy = &mut self.outcome.energy;
        let rail_v = self.circuit.step(dt_s, sun, charge_c, energy);
        for draw in draws {
            let load = &mut energy.loads[draw.state];
            load.time_s += draw.time_s;
            load.energy_j += draw.charge_c * rail_v;
        }
        self.circuit.switch();
        self.now_ns = until_ns;
        self.outcome.min_v = self.outcome.min_v.min(self.circuit.stored_v());
        self.outcome.max_v = self.outcome.max_v.max(self.circuit.stored_v());
    }

    fn server_acts(&mut self, powered: bool) {
        match self.server.act(self.now_ns) {
            Action::Missed => {
                let reason = match self.obstacles {
                    Obstacles { off: true, .. } => Reason::NodeOff,
                    Obstacles { refused: true, .. } => Reason::NoEnergy,
                    _ => Reason::Radio,
                };
                *self.outcome.misses.count(reason) += 1;
                self.note(EventKind::Missed(reason));
                self.obstacles = Obstacles::default();
            }
            Action::Challenge(packets) => {
                self.obstacles = Obstacles { off: !powered, refused: self.closed };
                for packet in packets {
                    if powered && !self.lost() {
                        self.node.hear(&packet);
                    }
                }
            }
        }
    }

    fn lost(&mut self) -> bool {
        self.air.random::<f64>() < self.world.loss
    }

    fn answer(&mut self, packet: &Packet) -> Result<(), LabError> {
        if self.lost() {
            return Ok(());
        }
        match self.server.receive(packet)? {
            Verdict::Unheard | Verdict::Partial => {}
            Verdict::Accepted { latency_ns } => {
                self.outcome.authentications += 1;
                self.latencies_ns.push(latency_ns);
                self.obstacles = Obstacles::default();
                self.note(EventKind::Authenticated);
            }
            Verdict::Late => self.late(),
            Verdict::Rejected(why) => {
                self.outcome.rejected += 1;
                self.note(EventKind::Rejected(why));
            }
        }
        Ok(())
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

    fn note(&mut self, kind: EventKind) {
        self.outcome.events.push(Event { time_s: seconds(self.now_ns), kind });
    }

    fn sample(&mut self) {
        let time_s = seconds(self.now_ns);
        self.outcome.trace.push(Sample {
            time_s,
            sun_w_per_m2: self.world.sun.at(time_s) * self.world.sun_share,
            stored_v: self.circuit.stored_v(),
            rail_v: self.circuit.rail_v(),
            authentications: self.outcome.authentications,
            misses: self.outcome.misses.total(),
        });
    }

    fn finish(mut self) -> Outcome {
        let outcome = &mut self.outcome;
        outcome.energy.stored_end_j = self.circuit.stored_j();
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

fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}

fn nanoseconds(s: f64) -> u64 {
    (s * SECOND_NS as f64).round() as u64
}
