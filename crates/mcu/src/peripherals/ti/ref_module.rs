//! The shared reference of the MSP430F5xx, which the converter measures against.
//!
//! Source: SLAU208, chapter "REF"; bits compared with TI's header for the part, voltages and times
//! in the target file. `REFCTL0` rules (`REFMSTR` set, as after a reset). A conversion against a
//! reference that is off, has not settled or has too low a supply is a fault; on the part the
//! reference would start by itself, at a time that is not given.

use crate::{Part, PeripheralSpec};

const REFON: u32 = 0x0001;
const REFMSTR: u32 = 0x0080;
/// `REFGENACT`, `REFBGACT`.
const REFGENACT_REFBGACT: u32 = 0x0300;
/// All that can be written: `REFON`, `REFTCOFF`, `REFVSEL`, `REFMSTR`.
const WRITABLE: u32 = 0x00b9;
const REFVSEL: u32 = 0x0030;

/// The reference.
#[derive(Clone)]
pub struct Reference {
    voltages_v: [f64; 3],
    lowest_supply_v: [f64; 3],
    settle_us: u64,
    settle_cycles: u64,
    control: u32,
    /// The cycle at which it was last switched on or to another voltage.
    since: u64,
}

impl Reference {
    /// The reference of the converter `spec`. Settings: `reference_0_mv` to `reference_2_mv` and
    /// `reference_0_supply_mv` to `reference_2_supply_mv`, its voltages by `REFVSEL` and the lowest
    /// supply for each; `reference_settle_us`.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Reference, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let volts = |key: String| setting(&key).map(|mv| mv as f64 / 1000.0);
        let row = |suffix: &str| -> Result<[f64; 3], String> {
            let volts = |select| volts(format!("reference_{select}{suffix}"));
            Ok([volts(0)?, volts(1)?, volts(2)?])
        };
        let settle_us = setting("reference_settle_us")?;
        Ok(Reference {
            voltages_v: row("_mv")?,
            lowest_supply_v: row("_supply_mv")?,
            settle_us,
            settle_cycles: (settle_us * part.default_clock_hz).div_ceil(1_000_000),
            control: REFMSTR,
            since: 0,
        })
    }

    /// The core clock is another one: what settles from now on does so in as much time.
    pub fn set_clock(&mut self, clock_hz: u64) {
        self.settle_cycles = (self.settle_us * clock_hz).div_ceil(1_000_000);
    }

    /// `REFCTL0`.
    pub fn read(&self) -> u32 {
        self.control | if self.control & REFON != 0 { REFGENACT_REFBGACT } else { 0 }
    }

    /// Writes `REFCTL0` at cycle `now`.
    ///
    /// # Errors
    /// A setting is not modelled.
    pub fn write(&mut self, value: u32, now: u64) -> Result<(), &'static str> {
        if value & REFMSTR == 0 {
            return Err("a reference ruled by the converter's own bits (REFMSTR = 0) is not modelled");
        }
        if value & 0xff & !WRITABLE != 0 {
            return Err("the reference at its pin (REFOUT) is not modelled");
        }
        let value = value & WRITABLE;
        if (value ^ self.control) & (REFON | REFVSEL) != 0 {
            self.since = now;
        }
        self.control = value;
        Ok(())
    }

    /// Its voltage for a conversion that begins at cycle `now` with the supply at `supply_v`.
    ///
    /// # Errors
    /// Why there is none that can be relied on.
    pub fn voltage_v(&self, now: u64, supply_v: f64) -> Result<f64, String> {
        // REFVSEL 3 is 2.5 V, too.
        let select = (self.control >> 4 & 3).min(2) as usize;
        let lowest_v = self.lowest_supply_v[select];
        if self.control & REFON == 0 {
            return Err("a conversion against the internal reference while it is off (REFON)".into());
        }
        let settled = self.since + self.settle_cycles;
        if now < settled {
            let missing = settled - now;
            return Err(format!(
                "a conversion {missing} cycle(s) before the reference of {} V has settled",
                self.voltages_v[select]
            ));
        }
        if supply_v < lowest_v {
            return Err(format!(
                "the reference of {} V needs a supply of {lowest_v} V and has {supply_v} V",
                self.voltages_v[select]
            ));
        }
        Ok(self.voltages_v[select])
    }

    /// Sets the state after power-up.
    pub fn reset(&mut self) {
        self.control = REFMSTR;
        self.since = 0;
    }
}
