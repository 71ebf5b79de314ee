//! Outcome of a network's simulation.

use crate::radio::Traffic;
use crate::station::collector::CollectorCounts;
use serde::Serialize;
use std::collections::BTreeMap;

/// Times, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Number of meters.
    pub count: u64,
    /// Their mean.
    pub mean_s: f64,
    /// The one in the middle.
    pub p50_s: f64,
    /// The one that 99 of 100 are not above.
    pub p99_s: f64,
}

impl Spread {
    /// Of these times.
    #[must_use]
    pub fn of(mut times_s: Vec<f64>) -> Spread {
        let count = times_s.len();
        if count == 0 {
            return Spread::default();
        }
        times_s.sort_by(f64::total_cmp);
        // The nearest rank: the smallest time that this share of all does not exceed.
        let rank = |share: f64| times_s[((share * count as f64).ceil() as usize).clamp(1, count) - 1];
        Spread {
            count: count as u64,
            mean_s: times_s.iter().sum::<f64>() / count as f64,
            p50_s: rank(0.5),
            p99_s: rank(0.99),
        }
    }
}

/// A meter, a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeterRow {
    /// Its name on the channel.
    pub meter: u16,
    /// `host`, or its microcontroller.
    pub kind: String,
    /// Its board; none where the firmware is built for the host.
    pub board: Option<String>,
    /// Suite at the beginning.
    pub suite: &'static str,
    /// Between two measurements, in seconds.
    pub interval_s: u16,
    /// Reports made: measurements and alerts.
    pub made: u64,
    /// Of these, measurements.
    pub measurements: u64,
    /// Reports that its journal had to the end before they were acknowledged.
    pub kept: u64,
    /// Reports delivered.
    pub delivered: u64,
    /// Of these, measurements.
    pub delivered_measurements: u64,
    /// Measurements lost for want of room.
    pub lost: u64,
    /// Reports sent, each attempt counted.
    pub sent: u64,
    /// Of these, beyond the first attempt.
    pub resent: u64,
    /// Packets that it refused.
    pub refused: u64,
    /// Commands that it carried out.
    pub commands: u64,
    /// Losses of power.
    pub cuts: u64,
    /// Of these, while a byte was written.
    pub cuts_while_writing: u64,
    /// Of these, while its flash was erased or programmed.
    pub cuts_within_flash: u64,
    /// Starts that no loss of power explains: commanded ones.
    pub restarts: u64,
    /// The longest from power-up to its first bit on the air, in seconds.
    pub back_s: f64,
    /// Bytes on the air for each measurement delivered, its acknowledgements not counted.
    pub air_bytes_per_measurement: f64,
    /// Energy that its measurements tell, in watt-hours.
    pub energy_wh: f64,
    /// The load's over the same times, in watt-hours.
    pub load_wh: f64,
    /// Keys of suite aes256-gcm-rekeyed that were renewed.
    pub keys_renewed: u64,
    /// The fewest bytes of stack that were never touched; none where it has no such stack.
    pub stack_untouched: Option<u32>,
}

/// Counts of the attacker.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attacks {
    /// Packets sent, by what was done to them.
    pub sent: BTreeMap<&'static str, u64>,
    /// Accepted with suite `none`. One with another suite ends the run.
    pub accepted_unprotected: u64,
    /// Measurements that tell a time that is late, because a set time was held back. A time that is
    /// late otherwise, or to come, ends the run.
    pub times_late: u64,
}

/// Outcome of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkOutcome {
    /// The scenario's title.
    pub title: String,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Simulated time, in hours, without that for what was still to come.
    pub hours: f64,
    /// That, in seconds.
    pub settled_s: f64,
    /// Wall time, in seconds.
    pub wall_s: f64,
    /// Meters' seconds simulated in a second.
    pub meter_seconds_per_second: f64,
    /// The meters.
    pub meters: Vec<MeterRow>,
    /// From a report's first bit on the air to its acknowledgement, by suite.
    pub round_trips: BTreeMap<&'static str, Spread>,
    /// From a command's first sending to its answer, by suite.
    pub commands: BTreeMap<&'static str, Spread>,
    /// Traffic on the air.
    pub traffic: Traffic,
    /// Share of the time for which somebody was sending, each sender's counted.
    pub air_utilisation: f64,
    /// The collector.
    pub collector: CollectorCounts,
    /// The attacker.
    pub attacks: Attacks,
}

impl NetworkOutcome {
    /// The sum of something over all meters.
    pub fn sum(&self, of: impl Fn(&MeterRow) -> u64) -> u64 {
        self.meters.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let spread = Spread::of((1..=200).rev().map(f64::from).collect());
        assert_eq!((spread.count, spread.mean_s, spread.p50_s, spread.p99_s), (200, 100.5, 100.0, 198.0));
        assert_eq!(Spread::of(vec![3.0]).p99_s, 3.0);
        assert_eq!(Spread::of(Vec::new()).count, 0);
    }
}
