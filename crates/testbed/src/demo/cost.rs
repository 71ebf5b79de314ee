//! Cost of readings, suite by suite: from cycles and states to microjoules.
//!
//! The processor's current is that of the target's file at the board's supply and clock, awake and
//! asleep; the radio's that of its file, state by state. 16 MHz at 3.3 V, as the emonTx has it, is
//! more than the data sheet allows, and its straight lines are continued to there. What the
//! converter, the timers and the EEPROM draw beside the core is in neither.

use lab::LabError;
use lab::workspace::Workspace;
use serde::Serialize;
use sim::node::RADIO_STATES;
use sim::node::emulated::{BoardFirmware, radio_states};
use sim::reading_account::{Reading, Spent};
use std::time::Duration;
use wire::meter::Suite;

/// Sleep mode of the meter's processor, by the name in its target's file.
const SLEEP: &str = "idle";

/// Currents of the meter, in amperes at its board's supply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Currents {
    /// The processor, awake.
    pub active_a: f64,
    /// The processor, asleep.
    pub asleep_a: f64,
    /// The radio, in each of its states.
    pub radio_a: [f64; RADIO_STATES],
    /// Duration of a byte on the air, in nanoseconds.
    pub byte_ns: u64,
    supply_v: f64,
    clock_hz: f64,
}

impl Currents {
    /// Those of a board's target and of its radio's file.
    ///
    /// # Errors
    /// Files without what is asked for.
    pub fn new(workspace: &Workspace, firmware: &BoardFirmware) -> Result<Currents, LabError> {
        let (board, target) = (&firmware.board, &firmware.target);
        let bad = |what: &str, problem: String| LabError::Protocol { what: what.into(), problem };
        let chip = board.radio().ok_or_else(|| bad(&board.name, "it has no radio".into()))?.model;
        let radio = workspace.radio(chip.as_str())?;
        let mut radio_a = [0.0; RADIO_STATES];
        for (current_a, state) in radio_a.iter_mut().zip(radio_states(chip)) {
            *current_a = radio.state_a(state).map_err(|error| bad(chip.as_str(), error.to_string()))?;
        }
        let (clock_hz, supply_v) = (board.clock_hz as f64, board.supply_v);
        let supply = &target.supply;
        let active_a = supply.continued_a(clock_hz, supply_v);
        let sleep = supply.sleep(SLEEP).ok_or_else(|| {
            bad(target.name(), format!("its file has no current for the sleep mode {SLEEP}"))
        })?;
        Ok(Currents {
            active_a: active_a.map_err(|error| LabError::Supply { target: target.name().into(), error })?,
            asleep_a: sleep.current_at(clock_hz, supply_v),
            radio_a,
            byte_ns: sim::radio::byte_ns(radio.bit_rate_hz),
            supply_v,
            clock_hz,
        })
    }

    /// Returns the energy of the processor, in joules.
    #[must_use]
    pub fn processor_j(&self, spent: &Spent) -> f64 {
        let charge = spent.active_cycles as f64 * self.active_a + spent.asleep_cycles as f64 * self.asleep_a;
        self.supply_v * charge / self.clock_hz
    }

    /// Returns the energy of the radio, in joules.
    #[must_use]
    pub fn radio_j(&self, spent: &Spent) -> f64 {
        let states = spent.radio_ns.iter().zip(self.radio_a);
        self.supply_v * states.map(|(&ns, current_a)| ns as f64 * 1e-9 * current_a).sum::<f64>()
    }
}

/// Measurements of the readings of one suite.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    readings: u64,
    resent: u64,
    prepare_cycles: u64,
    air_bytes: u64,
    spent: Spent,
    /// In nanoseconds, in order.
    round_trips_ns: Vec<u64>,
}

impl Tally {
    /// Adds a reading.
    pub fn add(&mut self, reading: &Reading) {
        self.readings += 1;
        self.resent += reading.resent;
        self.prepare_cycles += reading.prepare_cycles;
        self.air_bytes += reading.air_bytes;
        self.spent = self.spent.and(&reading.spent);
        let at = self.round_trips_ns.partition_point(|&ns| ns < reading.round_trip_ns);
        self.round_trips_ns.insert(at, reading.round_trip_ns);
    }

    /// Number of readings.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.readings
    }

    /// Returns their cost.
    #[must_use]
    pub fn cost(&self, suite: Suite, currents: &Currents) -> Cost {
        // Where there is none, no figure: JSON has null for it.
        let mean = |sum: f64| if self.readings == 0 { f64::NAN } else { sum / self.readings as f64 };
        let prepare_cycles = mean(self.prepare_cycles as f64);
        let median = self.round_trips_ns.get(self.round_trips_ns.len() / 2);
        Cost {
            suite: suite.name(),
            readings: self.readings,
            resent: self.resent,
            prepare_cycles,
            prepare_ms: prepare_cycles / currents.clock_hz * 1e3,
            processor_uj: mean(1e6 * currents.processor_j(&self.spent)),
            radio_uj: mean(1e6 * currents.radio_j(&self.spent)),
            air_bytes: mean(self.air_bytes as f64),
            round_trip_ms: median.map_or(f64::NAN, |&ns| Duration::from_nanos(ns).as_secs_f64() * 1e3),
        }
    }
}

/// Cost of a reading for its meter; means, where nothing else is said. Without readings the figures
/// are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Suite of the readings.
    pub suite: &'static str,
    /// Readings that were acknowledged.
    pub readings: u64,
    /// Number of repetitions, all together.
    pub resent: u64,
    /// From the plain measurement to the sealed message, in cycles; the sampler's interrupts are
    /// among them.
    pub prepare_cycles: f64,
    /// The same, in milliseconds.
    pub prepare_ms: f64,
    /// The processor from the beginning of sealing to the acknowledgement, in microjoules.
    pub processor_uj: f64,
    /// The radio meanwhile, listening and waiting to send again included, in microjoules.
    pub radio_uj: f64,
    /// Bytes that the meter had on the air, with preambles and check sums.
    pub air_bytes: f64,
    /// From the beginning of sealing to the acknowledgement's acceptance, in milliseconds: the
    /// median.
    pub round_trip_ms: f64,
}
