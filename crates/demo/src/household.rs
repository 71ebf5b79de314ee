//! Which meters there are, how they are set, and what they measure.
//!
//! Appliances are those of [`sim::street::load`]. They live [`SPEED`] times as fast as their meters, so that something is to be seen
//! within a minute; the pauses between their runs are chosen.

use sim::modelled::PHASE;
use sim::street::load::{self, LoadProfile, Run};
use wire::meter::{MeterId, Setup, Suite};

/// How much faster appliances go through their runs than the meters' clocks go.
pub const SPEED: u64 = 60;
/// The time of day at which a whole flat's load begins.
const BEGINS_H: f64 = 17.0;
const SECOND_NS: u64 = 1_000_000_000;

/// The group that JeeLib's examples have; 1 to 250 are allowed.
pub const GROUP: u8 = 212;
/// The collector's radio address: JeeLib's header for a packet to node 1.
pub const COLLECTOR_ADDRESS: u8 = 0x41;
/// A step of the converter: 512 on either side reach 409 V and 51 A of peak. Chosen.
const VOLTAGE_UV: u32 = 800_000;
const CURRENT_UA: u32 = 100_000;

/// A meter of the demonstration.
#[derive(Clone, Copy, Debug)]
pub struct Household {
    /// Its name on the radio channel.
    pub meter: MeterId,
    /// How it seals.
    pub suite: Suite,
    /// What it measures, in a word or two.
    pub label: &'static str,
    /// Seconds between two readings; with curves one takes up to 2.7 s to prepare.
    pub interval_s: u16,
    /// An appliance's run, and the pause behind it in seconds; a whole flat where there is none.
    run: Option<(Run, f64)>,
}

/// All meters: one for each suite.
pub const HOUSEHOLDS: [Household; 5] = [
    household(101, Suite::None, "Refrigerator", 1, Some((load::REFRIGERATOR, 0.0))),
    household(102, Suite::Aes128Gcm, "Kettle", 1, Some((load::KETTLE, 600.0))),
    household(103, Suite::Aes256Gcm, "Oven", 2, Some((load::OVEN, 600.0))),
    household(104, Suite::Ecies, "Washing machine", 4, Some((load::WASHING_MACHINE, 600.0))),
    household(105, Suite::EciesEcdsa, "Whole flat", 5, None),
];

const fn household(
    meter: MeterId,
    suite: Suite,
    label: &'static str,
    interval_s: u16,
    run: Option<(Run, f64)>,
) -> Household {
    Household { meter, suite, label, interval_s, run }
}

impl Household {
    /// What its meter is provisioned with.
    #[must_use]
    pub fn setup(&self) -> Setup {
        Setup {
            meter: self.meter,
            // JeeLib's header for a packet to a node; node 1 is the collector.
            address: 0x40 | (self.meter - HOUSEHOLDS[0].meter + 2) as u8,
            collector_address: COLLECTOR_ADDRESS,
            channel: GROUP,
            power: 0,
            interval_s: self.interval_s,
            suite: self.suite,
            voltage_uv: VOLTAGE_UV,
            current_ua: CURRENT_UA,
            phase: PHASE,
        }
    }

    /// What is drawn there. seed: of a whole flat.
    #[must_use]
    pub fn load(&self, seed: u64) -> Load {
        match self.run {
            Some((run, pause_s)) => {
                let phases = run.iter().copied().chain((pause_s > 0.0).then_some((0.0, pause_s)));
                let phases = phases.map(|(power_w, for_s)| (power_w, (for_s * 1e9) as u64 / SPEED));
                Load(Draws::Cycle(phases.collect()))
            }
            None => Load(Draws::Flat(Box::new(LoadProfile::new(seed, self.meter.into(), BEGINS_H)))),
        }
    }
}

/// What is drawn, over time.
#[derive(Clone, Debug)]
pub struct Load(Draws);

#[derive(Clone, Debug)]
enum Draws {
    /// Watts and nanoseconds, again and again.
    Cycle(Vec<(f64, u64)>),
    Flat(Box<LoadProfile>),
}

impl Load {
    /// The same power for ever, in watts.
    #[must_use]
    pub fn constant(power_w: f64) -> Load {
        Load(Draws::Cycle(vec![(power_w, 3600 * SECOND_NS)]))
    }

    /// What is drawn at a time in watts, and until when: nanoseconds of the meter's time.
    pub fn at(&mut self, now_ns: u64) -> (f64, u64) {
        match &mut self.0 {
            Draws::Flat(profile) => {
                let (power_w, until_ns) = profile.at(now_ns * SPEED);
                (power_w, (until_ns / SPEED).max(now_ns + 1))
            }
            Draws::Cycle(phases) => {
                let cycle_ns: u64 = phases.iter().map(|(_, for_ns)| for_ns).sum();
                let mut until_ns = now_ns - now_ns % cycle_ns.max(1);
                for &(power_w, for_ns) in phases.iter() {
                    until_ns += for_ns;
                    if until_ns > now_ns {
                        return (power_w, until_ns);
                    }
                }
                (0.0, u64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_meter_for_each_suite_and_no_two_have_one_address() {
        let suites: Vec<Suite> = HOUSEHOLDS.iter().map(|household| household.suite).collect();
        assert_eq!(suites, Suite::ALL);
        for (index, household) in HOUSEHOLDS.iter().enumerate() {
            assert_eq!(usize::from(household.setup().address), 0x42 + index);
        }
    }

    #[test]
    fn a_kettle_boils_for_three_seconds_of_thirteen() {
        let mut kettle = HOUSEHOLDS[1].load(1);
        assert_eq!(kettle.at(0), (2000.0, 3 * SECOND_NS));
        assert_eq!(kettle.at(3 * SECOND_NS), (0.0, 13 * SECOND_NS));
        assert_eq!(kettle.at(14 * SECOND_NS), (2000.0, 16 * SECOND_NS));
    }

    #[test]
    fn a_flat_s_day_passes_in_24_minutes() {
        let mut flat = HOUSEHOLDS[4].load(1);
        let mut now_ns = 0;
        let mut changes = 0;
        while now_ns < 24 * 60 * SECOND_NS {
            let (power_w, until_ns) = flat.at(now_ns);
            assert!((0.0..20_000.0).contains(&power_w) && until_ns > now_ns);
            now_ns = until_ns;
            changes += 1;
        }
        assert!(changes > 288, "{changes}: the course alone changes each five minutes");
    }
}
