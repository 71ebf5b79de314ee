//! Time and energy of a run whose clock may change: where it stands, in a few numbers, however often it does.

use crate::LabError;
use crate::target::Target;
use mcu::ClockChange;
use std::ops::Add;

/// What a part of a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub time_s: f64,
    /// At the active current, in joules.
    pub energy_j: f64,
}

impl Add for Spent {
    type Output = Spent;

    fn add(self, other: Spent) -> Spent {
        Spent { time_s: self.time_s + other.time_s, energy_j: self.energy_j + other.energy_j }
    }
}

/// A point of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timestamp {
    cycles: u64,
    /// Clock changes before it.
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
    /// How often it changed.
    pub changes: u64,
}

/// The way from cycles to time and energy.
pub struct Timeline<'a> {
    /// None: no time goes by.
    target: Option<&'a Target>,
    supply_v: f64,
    /// Where the clock last changed.
    last: Timestamp,
    seconds_per_cycle: f64,
    power_w: f64,
    clocks: Clocks,
    problem: Option<LabError>,
}

impl<'a> Timeline<'a> {
    /// One of which nobody asks for time.
    #[must_use]
    pub fn of_cycles() -> Timeline<'a> {
        Timeline {
            target: None,
            supply_v: 0.0,
            last: Timestamp::default(),
            seconds_per_cycle: 0.0,
            power_w: 0.0,
            clocks: Clocks { last_hz: 0, slowest_hz: 0, fastest_hz: 0, changes: 0 },
            problem: None,
        }
    }

    /// One that begins at cycle 0, at this clock and supply.
    ///
    /// # Errors
    /// [`LabError::Supply`] where the data sheet does not allow the two together.
    pub fn new(target: &'a Target, clock_hz: u64, supply_v: f64) -> Result<Timeline<'a>, LabError> {
        let mut timeline = Timeline { target: Some(target), supply_v, ..Timeline::of_cycles() };
        timeline.set_clock(target, clock_hz)?;
        timeline.clocks =
            Clocks { last_hz: clock_hz, slowest_hz: clock_hz, fastest_hz: clock_hz, changes: 0 };
        Ok(timeline)
    }

    fn set_clock(&mut self, target: &Target, clock_hz: u64) -> Result<(), LabError> {
        let refused = |error| LabError::Supply { target: target.name().into(), error };
        self.power_w = target.supply.power_w(clock_hz as f64, self.supply_v).map_err(refused)?;
        self.seconds_per_cycle = f64::from(target.part.clocks_per_cycle) / clock_hz as f64;
        Ok(())
    }

    /// The clock changes. What the data sheet does not allow is kept for [`Timeline::end`].
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

    /// The point of a cycle, of those since the clock last changed.
    #[must_use]
    pub fn at(&self, cycles: u64) -> Timestamp {
        let since = self.spent(cycles.saturating_sub(self.last.cycles));
        Timestamp { cycles, changes: self.last.changes, since_reset: self.last.since_reset + since }
    }

    /// What so many cycles take at the present clock.
    fn spent(&self, cycles: u64) -> Spent {
        let time_s = cycles as f64 * self.seconds_per_cycle;
        Spent { time_s, energy_j: time_s * self.power_w }
    }

    /// What went by from one point to another that is not before the clock last changed.
    #[must_use]
    pub fn between(&self, from: &Timestamp, to: &Timestamp) -> Spent {
        if from.changes == self.last.changes {
            // To the last digit what these cycles take at this clock.
            return self.spent(to.cycles - from.cycles);
        }
        let (from, to) = (from.since_reset, to.since_reset);
        Spent { time_s: to.time_s - from.time_s, energy_j: to.energy_j - from.energy_j }
    }

    /// Time and energy from reset to a cycle since the clock last changed.
    ///
    /// # Errors
    /// As [`Timeline::end`], in words.
    pub fn since_reset(&self, cycles: u64) -> Result<Spent, LabError> {
        match &self.problem {
            Some(problem) => Err(LabError::Unfinished(problem.to_string())),
            None => Ok(self.between(&Timestamp::default(), &self.at(cycles))),
        }
    }

    /// The clocks that the run had, at its end.
    ///
    /// # Errors
    /// [`LabError::Supply`] where one of them is more than the data sheet allows at the supply.
    pub fn end(self) -> Result<Clocks, LabError> {
        self.problem.map_or(Ok(self.clocks), Err)
    }
}
