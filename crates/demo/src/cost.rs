//! What readings cost, suite by suite: from cycles and states to microjoules.
//!
//! The processor's current is that of the target's file at the board's supply and clock, awake and asleep; the radio's that of its
//! file, state by state. 16 MHz at 3.3 V, as the emonTx has it, is more than the data sheet allows, and its straight lines are
//! continued to there. What the converter, the timers and the EEPROM draw beside the core is in neither.

use crate::ledger::{Reading, Spent};
use lab::LabError;
use lab::target::{Target, Workspace};
use mcu::chips::rfm12b::Rfm12b;
use serde::Serialize;
use sim::modelled::{CLOCK_HZ, SUPPLY_V};
use std::time::Duration;
use wire::meter::Suite;

/// The file of the meter's radio.
const RADIO: &str = "rfm12b";
/// How the meter's processor sleeps, by the name that its target's file has for it.
const SLEEP: &str = "idle";

/// What the meter draws, in amperes at [`SUPPLY_V`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Currents {
    /// The processor, awake.
    pub active_a: f64,
    /// The processor, asleep.
    pub asleep_a: f64,
    /// The radio, in each of [`Rfm12b::STATES`].
    pub radio_a: [f64; Rfm12b::STATES.len()],
    /// How long a byte is on the air, in nanoseconds.
    pub byte_ns: u64,
}

impl Currents {
    /// Those of a target and of `radios/rfm12b.toml`.
    ///
    /// # Errors
    /// Files without what is asked for.
    pub fn new(workspace: &Workspace, target: &Target) -> Result<Currents, LabError> {
        let radio = workspace.radio(RADIO)?;
        let bad = |problem: String| LabError::Protocol { what: RADIO.into(), problem };
        let mut radio_a = [0.0; Rfm12b::STATES.len()];
        for (current_a, state) in radio_a.iter_mut().zip(Rfm12b::STATES) {
            *current_a = radio.state_a(state).map_err(|error| bad(error.to_string()))?;
        }
        let clock_hz = CLOCK_HZ as f64;
        let supply = &target.supply;
        let active_a = supply.continued_a(clock_hz, SUPPLY_V);
        let sleep = supply.sleep(SLEEP).ok_or_else(|| LabError::Protocol {
            what: target.name().into(),
            problem: format!("its file has no current for the sleep mode {SLEEP}"),
        })?;
        Ok(Currents {
            active_a: active_a.map_err(|error| LabError::Supply { target: target.name().into(), error })?,
            asleep_a: sleep.current_at(clock_hz, SUPPLY_V),
            radio_a,
            byte_ns: sim::street::air::byte_ns(radio.bit_rate_hz),
        })
    }

    /// What the processor took, in joules.
    #[must_use]
    pub fn processor_j(&self, spent: &Spent) -> f64 {
        let charge = spent.active_cycles as f64 * self.active_a + spent.asleep_cycles as f64 * self.asleep_a;
        SUPPLY_V * charge / CLOCK_HZ as f64
    }

    /// What the radio took, in joules.
    #[must_use]
    pub fn radio_j(&self, spent: &Spent) -> f64 {
        let states = spent.radio_ns.iter().zip(self.radio_a);
        SUPPLY_V * states.map(|(&ns, current_a)| ns as f64 * 1e-9 * current_a).sum::<f64>()
    }
}

/// What was measured of the readings of one suite.
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

    /// How many there are.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.readings
    }

    /// What they cost.
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
            prepare_ms: prepare_cycles / CLOCK_HZ as f64 * 1e3,
            processor_uj: mean(1e6 * currents.processor_j(&self.spent)),
            radio_uj: mean(1e6 * currents.radio_j(&self.spent)),
            air_bytes: mean(self.air_bytes as f64),
            round_trip_ms: median.map_or(f64::NAN, |&ns| Duration::from_nanos(ns).as_secs_f64() * 1e3),
        }
    }
}

/// What a reading costs its meter; means, where nothing else is said. Without readings the figures are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// How it is sealed.
    pub suite: &'static str,
    /// Readings that were acknowledged.
    pub readings: u64,
    /// How often they went out again, all together.
    pub resent: u64,
    /// From the plain measurement to the sealed message, in cycles; the sampler's interrupts are among them.
    pub prepare_cycles: f64,
    /// The same, in milliseconds.
    pub prepare_ms: f64,
    /// The processor from the beginning of sealing to the acknowledgement, in microjoules.
    pub processor_uj: f64,
    /// The radio meanwhile, listening and waiting to send again included, in microjoules.
    pub radio_uj: f64,
    /// Bytes that the meter had on the air, with preambles and check sums.
    pub air_bytes: f64,
    /// From the beginning of sealing to the acknowledgement's acceptance, in milliseconds: the median.
    pub round_trip_ms: f64,
}
