//! Time and energy of a run whose clock may change: where it stands, in a few numbers, however
//! often it does.

use crate::LabError;
use crate::energy_accuracy::EnergyAccuracy;
use crate::target::Target;
use energy::{Fetch, SupplyError};
use mcu::{ClockChange, SleepInterval};
use std::ops::{Add, Sub};

/// Cost of a part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub time_s: f64,
    /// At the active current while the core ran, and at a sleep mode's while it slept in that, in
    /// joules.
    pub energy_j: f64,
    /// Of the time, what the core slept, in seconds.
    pub asleep_s: f64,
    /// Of the energy, what it took asleep, in joules.
    pub asleep_j: f64,
    /// Of the time asleep, what the target file has no current for: counted at an upper bound, in
    /// seconds.
    pub bounded_s: f64,
}

impl Add for Spent {
    type Output = Spent;

    fn add(self, other: Spent) -> Spent {
        Spent {
            time_s: self.time_s + other.time_s,
            energy_j: self.energy_j + other.energy_j,
            asleep_s: self.asleep_s + other.asleep_s,
            asleep_j: self.asleep_j + other.asleep_j,
            bounded_s: self.bounded_s + other.bounded_s,
        }
    }
}

impl Sub for Spent {
    type Output = Spent;

    fn sub(self, other: Spent) -> Spent {
        Spent {
            time_s: self.time_s - other.time_s,
            energy_j: self.energy_j - other.energy_j,
            asleep_s: self.asleep_s - other.asleep_s,
            asleep_j: self.asleep_j - other.asleep_j,
            bounded_s: self.bounded_s - other.bounded_s,
        }
    }
}

/// A point of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timestamp {
    cycles: u64,
    /// Changes of the clock, and sleeps, before it.
    changes: u64,
    since_reset: Spent,
}

/// The clocks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The clock at its end, in Hz.
    pub last_hz: u64,
    /// The slowest and the fastest that it had.
    pub slowest_hz: u64,
    pub fastest_hz: u64,
    pub changes: u64,
}

impl Clocks {
    /// Bounds on energies at these clocks, each once: first that of the clock at the end.
    pub(crate) fn energy_accuracies(&self, target: &Target) -> Vec<EnergyAccuracy> {
        let mut accuracies: Vec<EnergyAccuracy> = Vec::new();
        for clock_hz in [self.last_hz, self.fastest_hz, self.slowest_hz] {
            let accuracy = target.energy_accuracy_at(clock_hz as f64);
            if !accuracies.contains(&accuracy) {
                accuracies.push(accuracy);
            }
        }
        accuracies
    }
}

/// The way from cycles to time and energy.
pub struct Timeline<'a> {
    /// None: no time goes by.
    target: Option<&'a Target>,
    supply_v: f64,
    fetch: Fetch,
    /// Time of the last clock change or wake-up of the core.
    last: Timestamp,
    seconds_per_cycle: f64,
    power_w: f64,
    clocks: Clocks,
    /// A clock that the supply does not allow.
    problem: Option<SupplyError>,
}

impl<'a> Timeline<'a> {
    /// One of which nobody asks for time.
    #[must_use]
    pub fn of_cycles() -> Timeline<'a> {
        Timeline {
            target: None,
            supply_v: 0.0,
            fetch: Fetch::Flash,
            last: Timestamp::default(),
            seconds_per_cycle: 0.0,
            power_w: 0.0,
            clocks: Clocks { last_hz: 0, slowest_hz: 0, fastest_hz: 0, changes: 0 },
            problem: None,
        }
    }

    /// One that begins at cycle 0, at this clock and supply, of a program that executes from there.
    ///
    /// # Errors
    /// [`LabError::Supply`] where the data sheet does not allow the two together.
    pub fn new(
        target: &'a Target,
        clock_hz: u64,
        supply_v: f64,
        fetch: Fetch,
    ) -> Result<Timeline<'a>, LabError> {
        let mut timeline = Timeline { target: Some(target), supply_v, fetch, ..Timeline::of_cycles() };
        timeline.set_clock(target, clock_hz).map_err(|error| refused(target, error))?;
        timeline.clocks =
            Clocks { last_hz: clock_hz, slowest_hz: clock_hz, fastest_hz: clock_hz, changes: 0 };
        Ok(timeline)
    }

    /// The same point of the same run, of an equal target that lives elsewhere.
    pub(crate) fn rebound<'b>(&self, target: &'b Target) -> Timeline<'b> {
        Timeline {
            target: self.target.map(|_| target),
            supply_v: self.supply_v,
            fetch: self.fetch,
            last: self.last,
            seconds_per_cycle: self.seconds_per_cycle,
            power_w: self.power_w,
            clocks: self.clocks,
            problem: self.problem.clone(),
        }
    }

    fn set_clock(&mut self, target: &Target, clock_hz: u64) -> Result<(), SupplyError> {
        let current_a = target.supply.current_at(clock_hz as f64, self.supply_v, self.fetch);
        self.power_w = current_a? * self.supply_v;
        self.seconds_per_cycle = f64::from(target.part.clocks_per_cycle) / clock_hz as f64;
        Ok(())
    }

    /// The clock changes. A change that the data sheet does not allow is stored for
    /// [`Timeline::end`].
    pub fn change(&mut self, change: &ClockChange) {
        let Some(target) = self.target else { return };
        if change.clock_hz == self.clocks.last_hz || self.problem.is_some() {
            return;
        }
        self.last = Timestamp { changes: self.last.changes + 1, ..self.at(change.cycles) };
        self.problem = self.set_clock(target, change.clock_hz).err();
        let Clocks { slowest_hz, fastest_hz, changes, .. } = self.clocks;
        self.clocks = Clocks {
            last_hz: change.clock_hz,
            slowest_hz: slowest_hz.min(change.clock_hz),
            fastest_hz: fastest_hz.max(change.clock_hz),
            changes: changes + 1,
        };
    }

    /// The core sleeps: at its mode's current, or an upper bound where the target file has none.
    pub fn sleep(&mut self, interval: &SleepInterval) {
        let Some(target) = self.target.filter(|_| self.problem.is_none()) else { return };
        let clock_hz = self.clocks.last_hz as f64;
        let active_a = self.power_w / self.supply_v;
        let sleeping = target.sleeping(interval.mode, clock_hz, self.supply_v, active_a);
        let begun = self.at(interval.from);
        let time_s = interval.to.saturating_sub(begun.cycles) as f64 * self.seconds_per_cycle;
        let asleep_j = time_s * sleeping.current_a * self.supply_v;
        let bounded_s = if sleeping.is_bound { time_s } else { 0.0 };
        let asleep = Spent { time_s, energy_j: asleep_j, asleep_s: time_s, asleep_j, bounded_s };
        self.last = Timestamp {
            cycles: interval.to,
            changes: begun.changes + 1,
            since_reset: begun.since_reset + asleep,
        };
    }

    /// The point of a cycle, of those since the clock last changed or the core last woke.
    #[must_use]
    pub fn at(&self, cycles: u64) -> Timestamp {
        let since = self.spent(cycles.saturating_sub(self.last.cycles));
        Timestamp { cycles, changes: self.last.changes, since_reset: self.last.since_reset + since }
    }

    /// Cost of `cycles` cycles at the present clock while the core runs.
    fn spent(&self, cycles: u64) -> Spent {
        let time_s = cycles as f64 * self.seconds_per_cycle;
        Spent { time_s, energy_j: time_s * self.power_w, ..Spent::default() }
    }

    /// Cost from one point to another that is not before the clock last changed or the core last
    /// woke.
    #[must_use]
    pub fn between(&self, from: &Timestamp, to: &Timestamp) -> Spent {
        if from.changes == self.last.changes {
            // To the last digit what these cycles take at this clock.
            return self.spent(to.cycles - from.cycles);
        }
        to.since_reset - from.since_reset
    }

    /// Time and energy from reset to a cycle since the clock last changed.
    ///
    /// # Errors
    /// As [`Timeline::end`], in words.
    pub fn since_reset(&self, cycles: u64) -> Result<Spent, LabError> {
        match self.refusal() {
            Some(problem) => Err(LabError::Unfinished(problem.to_string())),
            None => Ok(self.between(&Timestamp::default(), &self.at(cycles))),
        }
    }

    /// The clocks that the run had, at its end.
    ///
    /// # Errors
    /// [`LabError::Supply`] where one of them is more than the data sheet allows at the supply.
    pub fn end(self) -> Result<Clocks, LabError> {
        self.refusal().map_or(Ok(self.clocks), Err)
    }

    /// The clock that the supply does not allow, as an error.
    fn refusal(&self) -> Option<LabError> {
        Some(refused(self.target?, self.problem.clone()?))
    }
}

fn refused(target: &Target, error: SupplyError) -> LabError {
    LabError::Supply { target: target.name().into(), error }
}
