//! The supply of a microcontroller, as its data sheet gives it.

use crate::cache::CacheCharges;
use crate::current::{Adjustment, Point, at};
use crate::states::{BrownOut, Change, Module, SleepMode};
use serde::Deserialize;
use thiserror::Error;

/// The highest clock from a supply voltage up.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Supply, in volts.
    pub supply_v: f64,
    /// Highest clock there, in Hz.
    pub clock_hz: f64,
}

/// A core-voltage level, where a part has such; parts without have one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its name in the data sheet: `PMMCOREV 2`; empty where there is but one.
    #[serde(default)]
    pub name: String,
    /// Highest clock at this level, in Hz.
    pub max_hz: f64,
    /// Currents while executing from flash.
    pub points: Vec<Point>,
    /// Currents while executing from RAM, where the data sheet has them.
    #[serde(default)]
    pub ram_points: Vec<Point>,
}

/// Memory from which the core fetches its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// From flash, as firmware usually does.
    Flash,
    /// From RAM.
    Ram,
}

/// The lowest clock of a part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LowestClock {
    /// It, in Hz.
    pub clock_hz: f64,
    /// Document and table of the figures.
    pub source: String,
}

/// The `[supply]` table of a target file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supply {
    /// Data sheet, document number, tables.
    pub source: String,
    /// Coverage of the source for the default clock and supply, in a sentence for the reader of an
    /// energy figure.
    pub note: String,
    /// The memory that programs execute from where the currents are those of [`Level::points`]:
    /// `flash`, `FRAM`.
    #[serde(default = "flash")]
    pub memory: String,
    /// The supply where none is asked for, in volts.
    pub default_v: f64,
    /// Highest supply, in volts.
    pub max_v: f64,
    /// Highest clock by supply, rising; the first row holds the lowest supply.
    #[serde(rename = "limit")]
    pub limits: Vec<Limit>,
    /// The lowest clock that the part runs at, where its data sheet gives one.
    #[serde(default)]
    pub lowest: Option<LowestClock>,
    /// True if the highest clock rises linearly between two rows of `limit` (AVR), false if in
    /// steps (the others).
    #[serde(default)]
    pub linear_limits: bool,
    /// Core-voltage levels, rising.
    #[serde(rename = "level")]
    pub levels: Vec<Level>,
    /// Sleep modes, from the lightest down.
    #[serde(rename = "sleep", default)]
    pub sleeps: Vec<SleepMode>,
    /// Currents of the microcontroller's parts beside the core.
    #[serde(rename = "module", default)]
    pub modules: Vec<Module>,
    /// Durations of the start, and of changes of the core level and the clock.
    #[serde(default)]
    pub change: Change,
    /// Supplies below which the part resets itself; the first is in force after a reset.
    #[serde(rename = "brown_out", default)]
    pub brown_outs: Vec<BrownOut>,
    /// Charges of cycles by the answers of the read cache, where somebody measured them.
    #[serde(default)]
    pub cache: Option<CacheCharges>,
    /// Effect of a calibration on the active currents.
    #[serde(skip)]
    pub(crate) adjustment: Adjustment,
}

fn flash() -> String {
    "flash".into()
}

/// A clock and a supply that do not go together, or a target file that does not say what it must.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SupplyError {
    /// The supply is outside the part's range.
    #[error("{supply_v} V is outside the {min_v} V to {max_v} V that {source_document} allows")]
    Voltage {
        /// Asked for, in volts.
        supply_v: f64,
        /// Lowest allowed, in volts.
        min_v: f64,
        /// Highest allowed, in volts.
        max_v: f64,
        /// Document with the limit.
        source_document: String,
    },
    /// The clock is too high at this supply.
    #[error(
        "{clock} MHz is too fast at {supply_v} V: {source_document} allows {limit} MHz there{needs}",
        clock = clock_hz / 1e6, limit = (limit_hz / 1e4).floor() / 1e2,
        needs = needs_v.map_or(String::new(), |v| format!("; this clock needs {v:.2} V"))
    )]
    Clock {
        /// Asked for, in Hz.
        clock_hz: f64,
        /// Asked for, in volts.
        supply_v: f64,
        /// Highest clock at that supply, in Hz.
        limit_hz: f64,
        /// The supply from which the clock is allowed, where there is one.
        needs_v: Option<f64>,
        /// Document with the limit.
        source_document: String,
    },
    /// The clock is too low.
    #[error("{clock} MHz is too slow: {source_document} allows no less than {limit} MHz", clock = clock_hz / 1e6, limit = limit_hz / 1e6)]
    Slow {
        /// Asked for, in Hz.
        clock_hz: f64,
        /// Lowest clock, in Hz.
        limit_hz: f64,
        /// Document with the limit.
        source_document: String,
    },
    /// No clock at all.
    #[error("a clock of {clock_hz} Hz is none; give one above zero")]
    NoClock {
        /// Asked for, in Hz.
        clock_hz: f64,
    },
    /// The data sheet has no current for code in RAM.
    #[error("{source_document} gives no current for code in RAM; ask for that of code in flash")]
    NoRamCurrent {
        /// Document that would have the figures.
        source_document: String,
    },
    /// Too few currents to fit a line to.
    #[error("a fit needs currents at two clocks; at {supply_v} V {level} has {clocks}; take another level or supply",
        level = if level.is_empty() { "the part" } else { level })]
    Fit {
        /// Core level of the points.
        level: String,
        /// Asked for, in volts.
        supply_v: f64,
        /// Number of the clocks with a point.
        clocks: usize,
    },
    /// A calibration, or a line through points far away, leaves no current here.
    #[error(
        "the points of the target file, and the calibration where there is one, make {current_ma:.3} mA of the current \
         at {clock} MHz, {supply_v} V; give them one near there", clock = clock_hz / 1e6, current_ma = current_a * 1e3
    )]
    Calibrated {
        /// Asked for, in Hz.
        clock_hz: f64,
        /// Asked for, in volts.
        supply_v: f64,
        /// Resulting current, in amperes: nothing, or less.
        current_a: f64,
    },
    /// The `[supply]` table is missing or wrong.
    #[error("target file: {0}")]
    File(String),
}

#[derive(Deserialize)]
struct File {
    supply: Supply,
}

impl Supply {
    /// Reads the supply out of a target file.
    ///
    /// # Errors
    /// [`SupplyError::File`] with what is missing or wrong and the line.
    pub fn from_toml(text: &str) -> Result<Supply, SupplyError> {
        let supply =
            toml::from_str::<File>(text).map_err(|error| SupplyError::File(error.to_string()))?.supply;
        supply.check_figures().map_err(|problem| SupplyError::File(format!("[supply] {problem}")))?;
        Ok(supply)
    }

    /// The lowest supply of the part, in volts.
    #[must_use]
    pub fn min_v(&self) -> f64 {
        self.limits[0].supply_v
    }

    /// The highest clock at a supply, in Hz.
    #[must_use]
    pub fn max_clock_hz(&self, supply_v: f64) -> f64 {
        let mut highest = 0.0;
        for (index, row) in self.limits.iter().enumerate() {
            if supply_v < row.supply_v {
                break;
            }
            highest = match self.limits.get(index + 1) {
                Some(next) if self.linear_limits => {
                    let share = ((supply_v - row.supply_v) / (next.supply_v - row.supply_v)).min(1.0);
                    row.clock_hz + share * (next.clock_hz - row.clock_hz)
                }
                _ => row.clock_hz,
            };
        }
        highest
    }

    /// The lowest supply at which a clock is allowed, in volts.
    #[must_use]
    pub fn needed_v(&self, clock_hz: f64) -> Option<f64> {
        let index = self.limits.iter().position(|row| row.clock_hz >= clock_hz)?;
        let row = self.limits[index];
        if index == 0 || !self.linear_limits {
            return Some(row.supply_v);
        }
        let before = self.limits[index - 1];
        let share = (clock_hz - before.clock_hz) / (row.clock_hz - before.clock_hz);
        Some(before.supply_v + share * (row.supply_v - before.supply_v))
    }

    /// Checks that the data sheet allows this supply.
    ///
    /// # Errors
    /// [`SupplyError::Voltage`] with the limits.
    pub fn check_supply(&self, supply_v: f64) -> Result<(), SupplyError> {
        if (self.min_v()..=self.max_v).contains(&supply_v) {
            return Ok(());
        }
        Err(SupplyError::Voltage {
            supply_v,
            min_v: self.min_v(),
            max_v: self.max_v,
            source_document: self.source.clone(),
        })
    }

    /// Checks that the data sheet allows this clock at this supply.
    ///
    /// # Errors
    /// [`SupplyError::Voltage`], [`SupplyError::Clock`] or [`SupplyError::Slow`] with the limits;
    /// [`SupplyError::NoClock`] for one that is not above zero.
    pub fn check(&self, clock_hz: f64, supply_v: f64) -> Result<(), SupplyError> {
        self.check_supply(supply_v)?;
        if clock_hz.is_nan() || clock_hz <= 0.0 {
            return Err(SupplyError::NoClock { clock_hz });
        }
        if let Some(LowestClock { clock_hz: limit_hz, source }) =
            self.lowest.as_ref().filter(|lowest| clock_hz < lowest.clock_hz)
        {
            let source_document = source.clone();
            return Err(SupplyError::Slow { clock_hz, limit_hz: *limit_hz, source_document });
        }
        let limit_hz = self.max_clock_hz(supply_v);
        // A kilohertz of slack, so that a limit read off a linear rise can be asked for as it is
        // printed.
        if clock_hz > limit_hz + 1e3 {
            return Err(SupplyError::Clock {
                clock_hz,
                supply_v,
                limit_hz,
                needs_v: self.needed_v(clock_hz),
                source_document: self.source.clone(),
            });
        }
        Ok(())
    }

    /// The core-voltage level that the firmware sets for a clock: the lowest that allows it.
    #[must_use]
    pub fn level(&self, clock_hz: f64) -> &Level {
        self.levels
            .iter()
            .find(|level| clock_hz <= level.max_hz + 1e3)
            .unwrap_or(&self.levels[self.levels.len() - 1])
    }

    /// The active current at a clock and supply, in amperes, executing from flash:
    /// [`Supply::current_at`].
    ///
    /// # Errors
    /// As [`Supply::check`].
    pub fn current_a(&self, clock_hz: f64, supply_v: f64) -> Result<f64, SupplyError> {
        self.current_at(clock_hz, supply_v, Fetch::Flash)
    }

    /// The active current at a clock and supply, in amperes: linear in the clock along the points
    /// of one supply (continued beyond the outermost two, or in proportion where there is one),
    /// linear in the supply between the two nearest, and the same at every supply where the data
    /// sheet knows one alone (a part whose core stands behind a linear regulator). After
    /// [`Supply::calibrated`], what the calibration makes of that.
    ///
    /// # Errors
    /// As [`Supply::check`]; [`SupplyError::NoRamCurrent`] where the data sheet has no current for
    /// code in RAM; [`SupplyError::Calibrated`] where a calibration leaves none.
    pub fn current_at(&self, clock_hz: f64, supply_v: f64, fetch: Fetch) -> Result<f64, SupplyError> {
        self.check(clock_hz, supply_v)?;
        self.between_points(clock_hz, supply_v, fetch)
    }

    /// The active current from flash as [`Supply::current_a`] has it, and beyond the clock that the
    /// data sheet allows at a supply: there its straight lines go on. For boards that are built so
    /// all the same.
    ///
    /// # Errors
    /// As [`Supply::check_supply`]; [`SupplyError::NoClock`], [`SupplyError::Calibrated`].
    pub fn continued_a(&self, clock_hz: f64, supply_v: f64) -> Result<f64, SupplyError> {
        match self.check(clock_hz, supply_v) {
            Ok(()) | Err(SupplyError::Clock { .. }) => self.between_points(clock_hz, supply_v, Fetch::Flash),
            Err(error) => Err(error),
        }
    }

    fn between_points(&self, clock_hz: f64, supply_v: f64, fetch: Fetch) -> Result<f64, SupplyError> {
        let level = self.level(clock_hz);
        let points = match fetch {
            Fetch::Flash => &level.points,
            Fetch::Ram => &level.ram_points,
        };
        if points.is_empty() {
            return Err(SupplyError::NoRamCurrent { source_document: self.source.clone() });
        }
        let current_a = self.adjustment.apply(at(points, clock_hz, supply_v));
        if current_a <= 0.0 {
            return Err(SupplyError::Calibrated { clock_hz, supply_v, current_a });
        }
        Ok(current_a)
    }

    /// A sleep mode by the name that the machine reports.
    #[must_use]
    pub fn sleep(&self, name: &str) -> Option<&SleepMode> {
        self.sleeps.iter().find(|mode| mode.name == name)
    }

    /// Returns the current of a sleep mode, in amperes, at the clock and supply that its entry
    /// names.
    #[must_use]
    pub fn sleep_a(&self, name: &str) -> Option<f64> {
        self.sleep(name).map(|mode| mode.current_a)
    }

    /// Returns the entry of a module beside the core.
    #[must_use]
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name == name)
    }

    /// The supply at which the part resets itself unless the firmware sets another.
    #[must_use]
    pub fn brown_out(&self) -> Option<&BrownOut> {
        self.brown_outs.first()
    }

    /// The memory whose currents are taken of programs that execute from there, by its name: where
    /// the data sheet has none of RAM, that of the others.
    #[must_use]
    pub fn memory_of(&self, fetch: Fetch) -> &str {
        match fetch {
            Fetch::Flash => &self.memory,
            Fetch::Ram => "RAM",
        }
    }

    /// Returns true if the data sheet has currents of code in RAM at every core level.
    #[must_use]
    pub fn tells_ram_apart(&self) -> bool {
        self.levels.iter().all(|level| !level.ram_points.is_empty())
    }

    /// The active power at a clock and supply, in watts, executing from flash.
    ///
    /// # Errors
    /// As [`Supply::check`].
    pub fn power_w(&self, clock_hz: f64, supply_v: f64) -> Result<f64, SupplyError> {
        Ok(self.current_a(clock_hz, supply_v)? * supply_v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn msp430() -> Supply {
        Supply::from_toml(
            r#"
            [supply]
            source = "SLAS655"
            note = ""
            default_v = 3.0
            max_v = 3.6
            limit = [{ supply_v = 1.8, clock_hz = 8e6 }, { supply_v = 2.0, clock_hz = 12e6 }]
            [[supply.level]]
            name = "PMMCOREV 0"
            max_hz = 8e6
            points = [{ clock_hz = 1e6, supply_v = 3.0, current_a = 0.29e-3 }, { clock_hz = 8e6, supply_v = 3.0, current_a = 1.84e-3 }]
            [[supply.level]]
            name = "PMMCOREV 1"
            max_hz = 12e6
            points = [{ clock_hz = 12e6, supply_v = 3.0, current_a = 3.1e-3 }]
            "#,
        )
        .expect("a well-formed table")
    }

    #[test]
    fn the_table_s_own_points_come_back() {
        let supply = msp430();
        assert!((supply.current_a(1e6, 3.0).unwrap() - 0.29e-3).abs() < 1e-12);
        assert!((supply.current_a(8e6, 3.0).unwrap() - 1.84e-3).abs() < 1e-12);
        assert!((supply.power_w(12e6, 3.0).unwrap() - 9.3e-3).abs() < 1e-12);
    }

    #[test]
    fn a_clock_below_the_lowest_is_refused_with_its_source() {
        let mut supply = msp430();
        assert_eq!(supply.check(16.0, 3.0), Ok(()));
        supply.lowest = Some(LowestClock { clock_hz: 1e6, source: "page 7".into() });
        assert_eq!(supply.check(1e6, 3.0), Ok(()));
        let said = supply.check(0.5e6, 3.0).unwrap_err().to_string();
        assert_eq!(said, "0.5 MHz is too slow: page 7 allows no less than 1 MHz");
    }

    #[test]
    fn between_two_clocks_the_current_is_linear() {
        let half = msp430().current_a(4.5e6, 3.0).unwrap();
        assert!((half - (0.29e-3 + 1.84e-3) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn forbidden_clock_and_supply_are_refused_with_limits() {
        let error = msp430().check(12e6, 1.9).unwrap_err().to_string();
        assert_eq!(error, "12 MHz is too fast at 1.9 V: SLAS655 allows 8 MHz there; this clock needs 2.00 V");
        assert!(matches!(msp430().check(1e6, 1.7), Err(SupplyError::Voltage { .. })));
        assert!(matches!(msp430().check(0.0, 3.0), Err(SupplyError::NoClock { .. })));
        assert!(matches!(msp430().check(f64::NAN, 3.0), Err(SupplyError::NoClock { .. })));
        assert!(matches!(msp430().check(1e6, f64::NAN), Err(SupplyError::Voltage { .. })));
    }

    #[test]
    fn line_extends_beyond_the_limits_on_request() {
        let supply = msp430();
        assert!((supply.continued_a(8e6, 3.0).unwrap() - 1.84e-3).abs() < 1e-12);
        assert!(matches!(supply.current_a(14e6, 3.0), Err(SupplyError::Clock { .. })));
        // In proportion to the one point of the highest level.
        assert!((supply.continued_a(14e6, 3.0).unwrap() - 3.1e-3 * 14.0 / 12.0).abs() < 1e-12);
        assert!(matches!(supply.continued_a(1e6, 1.7), Err(SupplyError::Voltage { .. })));
        assert!(matches!(supply.continued_a(0.0, 3.0), Err(SupplyError::NoClock { .. })));
    }

    #[test]
    fn avr_s_highest_clock_rises_linearly() {
        let mut supply = msp430();
        supply.linear_limits = true;
        assert!((supply.max_clock_hz(1.9) - 10e6).abs() < 1.0);
        assert!((supply.needed_v(10e6).unwrap() - 1.9).abs() < 1e-9);
        assert_eq!(supply.needed_v(13e6), None);
    }
}
