//! Decision of a node before each signature.

use crate::harvest::scenario::SchemeName;

/// A configuration with the cost of a signature and its packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Configuration {
    /// Signature scheme.
    pub scheme: SchemeName,
    /// Clock of the processor, in Hz.
    pub clock_hz: u64,
    /// Voltage of the rail.
    pub supply_v: f64,
    /// From the beginning of a signature to its last packet, in seconds.
    pub time_s: f64,
    /// Charge that it takes from the rail, in coulombs.
    pub charge_c: f64,
}

/// The storage, as a node sees it before a signature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stored {
    /// Its voltage.
    pub voltage_v: f64,
    /// Energy above the voltage at which the rail is switched off, in joules.
    pub usable_j: f64,
    /// Change of that energy over the horizon before, in watts.
    pub rate_w: f64,
    /// Its highest voltage.
    pub highest_v: f64,
    /// E_ov of Mane (2014), equation (6.1), in joules.
    pub overhead_j: f64,
}

/// A node's way to decide.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Always this configuration.
    Fixed(Configuration),
    /// Configuration by the stored energy and its rate.
    Configured(Configured),
}

/// Configurations that a node chooses from.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured {
    /// Of each scheme, the strongest first: the one with the least charge, and the fastest.
    pub schemes: Vec<[Configuration; 2]>,
    /// Time for which what is stored must last, in seconds.
    pub horizon_s: f64,
    /// Share of the highest voltage from which energy is free.
    pub full: f64,
}

impl Policy {
    /// The configuration of the next signature; none if too little is stored.
    #[must_use]
    pub fn choose(&self, stored: &Stored) -> Option<Configuration> {
        match self {
            Policy::Fixed(configuration) => stored.suffices_for(configuration).then_some(*configuration),
            Policy::Configured(configured) => configured.choose(stored),
        }
    }

    /// Its name in a report.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Policy::Fixed(Configuration { scheme, clock_hz, supply_v, .. }) => {
                let scheme = match scheme {
                    SchemeName::P256 => "P-256",
                    SchemeName::Secp160r1 => "secp160r1",
                };
                format!("{scheme}, {} MHz, {supply_v} V", *clock_hz as f64 / 1e6)
            }
            Policy::Configured(_) => "configures itself".into(),
        }
    }
}

impl Stored {
    /// Energy that a configuration takes out of the storage, in joules: a linear regulator passes
    /// the charge on.
    fn taken_j(&self, configuration: &Configuration) -> f64 {
        configuration.charge_c * self.voltage_v
    }

    /// Equation (6.1).
    fn suffices_for(&self, configuration: &Configuration) -> bool {
        self.usable_j >= 2.0 * self.taken_j(configuration) + self.overhead_j
    }
}

impl Configured {
    /// The strongest scheme whose signature can be paid, and which leaves enough for its like after
    /// the horizon at the present rate; the weakest one if it can be paid. The fastest clock while
    /// the storage is full, and the one with the least charge else.
    fn choose(&self, stored: &Stored) -> Option<Configuration> {
        let is_full = stored.voltage_v >= self.full * stored.highest_v;
        let later = Stored { usable_j: stored.usable_j + stored.rate_w * self.horizon_s, ..*stored };
        let lasts = |[frugal, _]: &&[Configuration; 2]| {
            stored.suffices_for(frugal) && (is_full || later.suffices_for(frugal))
        };
        let weakest = self.schemes.last().filter(|[frugal, _]| stored.suffices_for(frugal));
        let [frugal, fastest] = self.schemes.iter().find(lasts).or(weakest)?;
        Some(if is_full { *fastest } else { *frugal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(scheme: SchemeName, clock_hz: u64, charge_c: f64) -> Configuration {
        Configuration { scheme, clock_hz, supply_v: 2.2, time_s: 1.0, charge_c }
    }

    fn policy() -> Policy {
        let of = |scheme, charge_c| {
            [configuration(scheme, 8_000_000, charge_c), configuration(scheme, 25_000_000, 1.5 * charge_c)]
        };
        let schemes = vec![of(SchemeName::P256, 1.0), of(SchemeName::Secp160r1, 0.5)];
        Policy::Configured(Configured { schemes, horizon_s: 100.0, full: 0.9 })
    }

    fn chosen(usable_j: f64, rate_w: f64, voltage_v: f64) -> Option<(SchemeName, u64)> {
        let stored = Stored { voltage_v, usable_j, rate_w, highest_v: 5.0, overhead_j: 0.1 };
        policy().choose(&stored).map(|chosen| (chosen.scheme, chosen.clock_hz))
    }

    #[test]
    fn scheme_follows_energy_and_clock_a_full_store() {
        use SchemeName::{P256, Secp160r1};
        // P-256 takes 1 C at 3 V: 6.1 J by (6.1), secp160r1 half of it.
        assert_eq!(chosen(6.2, 0.0, 3.0), Some((P256, 8_000_000)));
        assert_eq!(chosen(6.0, 1.0, 3.0), Some((Secp160r1, 8_000_000)));
        // What falls by 0.1 W has 10 J less after the horizon.
        assert_eq!(chosen(16.0, -0.1, 3.0), Some((Secp160r1, 8_000_000)));
        assert_eq!(chosen(16.2, -0.1, 3.0), Some((P256, 8_000_000)));
        assert_eq!(chosen(3.0, 1.0, 3.0), None);
        // At 4.5 V of 5 V energy is free: 9.1 J are asked for there.
        assert_eq!(chosen(9.2, -1.0, 4.5), Some((P256, 25_000_000)));
    }

    #[test]
    fn fixed_node_signs_when_its_signature_is_paid() {
        let policy = Policy::Fixed(configuration(SchemeName::P256, 8_000_000, 1.0));
        let stored =
            |usable_j| Stored { voltage_v: 3.0, usable_j, rate_w: -1.0, highest_v: 5.0, overhead_j: 0.1 };
        assert!(policy.choose(&stored(6.1)).is_some() && policy.choose(&stored(6.0)).is_none());
        assert_eq!(policy.name(), "P-256, 8 MHz, 2.2 V");
    }
}
