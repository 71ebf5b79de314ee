//! Meters of the demonstration: their settings, and their loads.
//!
//! Appliances are those of [`sim::load`]. They live [`SPEED`] times as fast as their meters, so
//! that something is to be seen within a minute; the pauses between their runs are chosen.

use sim::load::{self, Load, LoadProfile, Run};
use sim::radio::Framing;
use wire::meter::{MeterId, Setup, Suite};

/// Speed of the appliances' runs against the meters' clocks.
pub const SPEED: u64 = 60;
/// The time of day at which a whole flat's load begins.
const BEGINS_H: f64 = 17.0;

/// The group that JeeLib's examples have; 1 to 250 are allowed.
const GROUP: u8 = 212;
/// Framing of packets on the air.
pub const FRAMING: Framing = Framing::Rfm12b { group: GROUP };
/// The collector's radio address: JeeLib's header for a packet to node 1.
pub const COLLECTOR_ADDRESS: u8 = 0x41;
/// A step of the converter: 512 on either side reach 409 V and 51 A of peak. Chosen.
const VOLTAGE_UV: u32 = 800_000;
const CURRENT_UA: u32 = 100_000;

/// A meter of the demonstration.
#[derive(Clone, Copy, Debug)]
pub struct MeterSite {
    /// Its name on the radio channel.
    pub meter: MeterId,
    /// Suite of the meter.
    pub suite: Suite,
    /// Label of the load, in a word or two.
    pub label: &'static str,
    /// Seconds between two readings; with curves one takes up to 2.7 s to prepare.
    pub interval_s: u16,
    /// An appliance's run, and the pause behind it in seconds; a whole flat where there is none.
    run: Option<(Run, f64)>,
}

/// All meters: one for each suite.
pub const METER_SITES: [MeterSite; Suite::WITH_FIXED_KEYS.len()] = [
    meter_site(101, Suite::None, "Refrigerator", 1, Some((load::REFRIGERATOR, 0.0))),
    meter_site(102, Suite::Aes128Gcm, "Kettle", 1, Some((load::KETTLE, 600.0))),
    meter_site(103, Suite::Aes256Gcm, "Oven", 2, Some((load::OVEN, 600.0))),
    meter_site(104, Suite::Ecies, "Washing machine", 4, Some((load::WASHING_MACHINE, 600.0))),
    meter_site(105, Suite::EciesEcdsa, "Whole flat", 5, None),
    meter_site(106, Suite::AsconAead128, "Second refrigerator", 1, Some((load::REFRIGERATOR, 0.0))),
];

const fn meter_site(
    meter: MeterId,
    suite: Suite,
    label: &'static str,
    interval_s: u16,
    run: Option<(Run, f64)>,
) -> MeterSite {
    MeterSite { meter, suite, label, interval_s, run }
}

impl MeterSite {
    /// Returns the provisioning of its meter. phase: the board's.
    #[must_use]
    pub fn setup(&self, phase: i16) -> Setup {
        Setup {
            meter: self.meter,
            // JeeLib's header for a packet to a node; node 1 is the collector.
            address: 0x40 | (self.meter - METER_SITES[0].meter + 2) as u8,
            collector_address: COLLECTOR_ADDRESS,
            channel: GROUP,
            power: 0,
            interval_s: self.interval_s,
            suite: self.suite,
            voltage_uv: VOLTAGE_UV,
            current_ua: CURRENT_UA,
            phase,
        }
    }

    /// Returns its load. seed: of a whole flat.
    #[must_use]
    pub fn load(&self, seed: u64) -> Load {
        match self.run {
            Some((run, pause_s)) => {
                let phases = run.iter().copied().chain((pause_s > 0.0).then_some((0.0, pause_s)));
                Load::Cycle(phases.map(|(power_w, for_s)| (power_w, (for_s * 1e9) as u64 / SPEED)).collect())
            }
            None => Load::FastProfile(Box::new(LoadProfile::new(seed, self.meter.into(), BEGINS_H)), SPEED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::time::SECOND_NS;

    #[test]
    fn there_is_a_meter_for_each_suite_and_no_two_have_one_address() {
        let suites: Vec<Suite> = METER_SITES.iter().map(|site| site.suite).collect();
        assert_eq!(suites, Suite::WITH_FIXED_KEYS);
        for (index, site) in METER_SITES.iter().enumerate() {
            assert_eq!(usize::from(site.setup(0).address), 0x42 + index);
        }
    }

    #[test]
    fn a_kettle_boils_for_three_seconds_of_thirteen() {
        let mut kettle = METER_SITES[1].load(1);
        assert_eq!(kettle.at(0), (2000.0, 3 * SECOND_NS));
        assert_eq!(kettle.at(3 * SECOND_NS), (0.0, 13 * SECOND_NS));
        assert_eq!(kettle.at(14 * SECOND_NS), (2000.0, 16 * SECOND_NS));
    }

    #[test]
    fn a_flat_s_day_passes_in_24_minutes() {
        let mut flat = METER_SITES[4].load(1);
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
