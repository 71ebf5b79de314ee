//! Parts that are killed, paused and cut off, networks that are cut and slow, and a gateway that
//! attacks, one after the other, by chance with a seed; and what is mended after a while.

use crate::chaos::ClusterError;
use crate::chaos::machines::Machines;
use crate::chaos::network::Condition;
use crate::chaos::parts::{Harm, Kind, PartId, RULES, Rule};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};
use wire::meter::MeterId;

/// From one harm to the next, in ms.
const APART_MS: std::ops::Range<u64> = 1000..4000;
/// Time in ms after which a killed part is started again.
const AWAY_MS: std::ops::Range<u64> = 0..3000;
/// A pause, in ms: longer than a lease, which is 3 s.
const PAUSE_MS: std::ops::Range<u64> = 3300..6000;
/// A primary that was cut off goes on for that, in ms.
const STALE_MS: std::ops::Range<u64> = 500..4000;
/// A network is broken, or slow, for that, in ms.
const BROKEN_MS: std::ops::Range<u64> = 500..6000;
const SLOW_MS: std::ops::Range<u64> = 3000..8000;
/// By that everything comes later on a slow network, each way, in ms: a lease is renewed within 600
/// ms, or tried again.
const DELAY_MS: std::ops::Range<u64> = 50..500;
/// A hostile gateway attacks for that, in ms.
const ATTACK_MS: std::ops::Range<u64> = 3000..8000;

/// State of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Up,
    /// Until it is mended.
    Harmed(Harm, Instant),
    /// A standby that is made.
    Begins,
}

/// Harm to a part, and its end.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    pub part: PartId,
    pub harm: Harm,
    pub from: Instant,
    /// `None`: it is not mended yet.
    pub until: Option<Instant>,
}

/// The schedule, and what it has done so far.
pub struct Chaos {
    rng: StdRng,
    next: Instant,
    /// In whose names a hostile gateway forges packets.
    meters: Vec<MeterId>,
    /// Each part with its state, and since when.
    pub states: Vec<(PartId, State, Instant)>,
    pub done: Vec<Done>,
}

impl Chaos {
    /// meters: in whose names a hostile gateway forges packets.
    #[must_use]
    pub fn new(seed: u64, now: Instant, meters: Vec<MeterId>) -> Chaos {
        let states = PartId::all().into_iter().map(|part| (part, State::Up, now)).collect();
        let next = now + Duration::from_millis(APART_MS.end);
        Chaos { rng: StdRng::seed_from_u64(seed), next, meters, states, done: Vec::new() }
    }

    fn set(&mut self, part: PartId, state: State) {
        let now = Instant::now();
        for entry in self.states.iter_mut().filter(|(known, ..)| *known == part) {
            (entry.1, entry.2) = (state, now);
        }
    }

    /// Mends what is due, and does harm when it is time. Returns what it has done.
    ///
    /// # Errors
    /// Errors of starting parts.
    pub fn step(&mut self, machines: &mut Machines, harms: bool) -> Result<Option<Done>, ClusterError> {
        self.mend(machines, Instant::now())?;
        if !harms || Instant::now() < self.next {
            return Ok(None);
        }
        let Some((part, harm)) = self.choose(machines.primary(), Instant::now()) else { return Ok(None) };
        let done = self.harm(machines, part, harm)?;
        // From its end on: to promote a standby takes a while.
        self.next = Instant::now() + self.some(APART_MS);
        Ok(Some(done))
    }

    /// Returns true if all parts are up.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        self.states.iter().all(|(_, state, _)| *state == State::Up)
    }

    fn some(&mut self, ms: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.random_range(ms))
    }

    /// Chooses the next part to harm, and the harm, as the table of parts allows it at the moment.
    fn choose(&mut self, primary: PartId, now: Instant) -> Option<(PartId, Harm)> {
        let states = &self.states;
        let of = |kind: Kind| states.iter().filter(move |(part, ..)| part.kind == kind);
        let may = |rule: &Rule| match rule.all_up_for {
            Duration::ZERO => of(rule.kind).any(|(_, state, _)| *state == State::Up),
            long => of(rule.kind)
                .all(|(_, state, since)| *state == State::Up && now.duration_since(*since) >= long),
        };
        let rules: Vec<&Rule> = RULES.iter().filter(|rule| may(rule)).collect();
        let all: u32 = rules.iter().map(|rule| rule.weight).sum();
        let mut at = self.rng.random_range(0..all.max(1));
        let rule = rules.into_iter().find(|rule| {
            let found = at < rule.weight;
            at = at.saturating_sub(rule.weight);
            found
        })?;
        let up = of(rule.kind).filter(|(_, state, _)| *state == State::Up).map(|(part, ..)| *part);
        let up: Vec<PartId> = up.filter(|part| part.kind != Kind::Postgres || *part == primary).collect();
        let part = *up.get(self.rng.random_range(0..up.len().max(1)))?;
        Some((part, rule.harms[self.rng.random_range(0..rule.harms.len())]))
    }

    fn harm(&mut self, machines: &mut Machines, part: PartId, harm: Harm) -> Result<Done, ClusterError> {
        let from = Instant::now();
        let lasts = match harm {
            Harm::Kill => self.some(AWAY_MS),
            Harm::Pause | Harm::Hold => self.some(PAUSE_MS),
            Harm::Split => self.some(STALE_MS),
            Harm::Break => self.some(BROKEN_MS),
            Harm::Delay => self.some(SLOW_MS),
            Harm::Attack => self.some(ATTACK_MS),
        };
        match harm {
            Harm::Kill => machines.kill(part)?,
            Harm::Pause => machines.hold(part, true),
            Harm::Split => machines.split()?,
            Harm::Hold => machines.network().set(part, Condition::Holds),
            Harm::Break => machines.network().set(part, Condition::Refuses),
            Harm::Delay => {
                let delay = self.some(DELAY_MS);
                machines.network().set(part, Condition::Delays(delay));
            }
            Harm::Attack => machines.attack(part, &self.meters, (self.rng.random(), lasts))?,
        }
        let is_made = part.kind == Kind::Postgres && harm == Harm::Kill;
        self.set(part, if is_made { State::Begins } else { State::Harmed(harm, Instant::now() + lasts) });
        let done = Done { part, harm, from, until: None };
        self.done.push(done);
        Ok(done)
    }

    fn mend(&mut self, machines: &mut Machines, now: Instant) -> Result<(), ClusterError> {
        let due = |state: &State| match state {
            State::Harmed(harm, until) if *until <= now => Some(*harm),
            _ => None,
        };
        let mended: Vec<(PartId, Harm)> =
            self.states.iter().filter_map(|(part, state, _)| Some((*part, due(state)?))).collect();
        for (part, harm) in mended {
            match harm {
                Harm::Kill => machines.run(part)?,
                Harm::Pause => machines.hold(part, false),
                Harm::Split => machines.join()?,
                Harm::Hold | Harm::Break | Harm::Delay => machines.network().set(part, Condition::Carries),
                Harm::Attack => machines.end_attack(),
            }
            match harm {
                Harm::Split => self.set(part, State::Begins),
                _ => self.mended(part),
            }
        }
        let begins = self.states.iter().find(|(_, state, _)| *state == State::Begins).map(|(part, ..)| *part);
        if let Some(part) = begins
            && machines.settle()?
        {
            self.mended(part);
        }
        Ok(())
    }

    fn mended(&mut self, part: PartId) {
        self.set(part, State::Up);
        let now = Instant::now();
        for done in self.done.iter_mut().filter(|done| done.part == part && done.until.is_none()) {
            done.until = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the harms that are possible at the moment, in many draws.
    fn drawn(chaos: &mut Chaos, now: Instant) -> std::collections::BTreeSet<(PartId, Harm)> {
        let primary = PartId { kind: Kind::Postgres, index: 1 };
        (0..2000).filter_map(|_| chaos.choose(primary, now)).collect()
    }

    #[test]
    fn the_table_of_parts_says_what_is_harmed() {
        let begun = Instant::now();
        let mut chaos = Chaos::new(7, begun, Vec::new());
        let of = |drawn: &std::collections::BTreeSet<(PartId, Harm)>, kind| {
            drawn.iter().filter(|(part, _)| part.kind == kind).count()
        };
        let first = drawn(&mut chaos, begun);
        assert_eq!((of(&first, Kind::Nats), of(&first, Kind::Postgres)), (0, 0), "they were not up for long");
        assert_eq!(of(&first, Kind::Routes), 0, "nor these");
        assert_eq!((of(&first, Kind::Worker), of(&first, Kind::Gateway)), (4, 4));
        assert_eq!(of(&first, Kind::HostileGateway), 1, "it attacks at any time");
        let later = begun + Duration::from_secs(60);
        let all = drawn(&mut chaos, later);
        assert_eq!((of(&all, Kind::Nats), of(&all, Kind::Worker)), (6, 4));
        assert_eq!((of(&all, Kind::ToNats), of(&all, Kind::ToPostgres)), (15, 9));
        assert_eq!(of(&all, Kind::Routes), 21);
        assert_eq!(of(&all, Kind::Postgres), 3, "the primary alone: {all:?}");
        chaos.set(PartId { kind: Kind::Nats, index: 2 }, State::Harmed(Harm::Kill, later));
        chaos.set(PartId { kind: Kind::Postgres, index: 0 }, State::Begins);
        chaos.set(PartId { kind: Kind::Worker, index: 0 }, State::Harmed(Harm::Pause, later));
        chaos.set(PartId { kind: Kind::Routes, index: 6 }, State::Harmed(Harm::Break, later));
        chaos.set(PartId { kind: Kind::HostileGateway, index: 0 }, State::Harmed(Harm::Attack, later));
        let left = drawn(&mut chaos, later);
        assert_eq!(of(&left, Kind::Routes), 0, "one after the other: {left:?}");
        assert_eq!((of(&left, Kind::Nats), of(&left, Kind::Postgres)), (0, 0), "{left:?}");
        assert_eq!(of(&left, Kind::Worker), 2, "the other one");
        assert_eq!(of(&left, Kind::HostileGateway), 0, "one attack after the other");
    }

    #[test]
    fn a_seed_gives_the_same_harms() {
        let now = Instant::now();
        let harms = |seed| {
            let mut chaos = Chaos::new(seed, now, Vec::new());
            let primary = PartId { kind: Kind::Postgres, index: 0 };
            let later = now + Duration::from_secs(60);
            (0..50).map(|_| chaos.choose(primary, later)).collect::<Vec<_>>()
        };
        assert_eq!(harms(3), harms(3));
        assert_ne!(harms(3), harms(4));
    }
}
