//! The shared reference of the MSP430F5xx, and REF_A of the MSP430FR5xx, which the converter
//! measures against.
//!
//! Sources: SLAU208, chapter "REF", SLAU367, chapter "REF_A"; bits compared with TI's headers for
//! the parts, voltages and times in the target files. `REFCTL0` rules (`REFMSTR` set, as after a
//! reset; REF_A has no such bit, and says when it has settled). A conversion against a reference
//! that is off, has not settled or has too low a supply is a fault; on the part the reference would
//! start by itself, at a time that is not given.

use crate::{Part, PeripheralSpec};

const REFON: u32 = 0x0001;
const REFMSTR: u32 = 0x0080;
/// `REFGENACT`, `REFBGACT`.
const REFGENACT_REFBGACT: u32 = 0x0300;
/// `REFGENRDY`, `REFBGRDY` of REF_A.
const REFGENRDY_REFBGRDY: u32 = 0x3000;
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
    /// It has `REFMSTR`.
    has_master: bool,
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
    pub fn new(part: &Part, spec: &PeripheralSpec, has_master: bool) -> Result<Reference, String> {
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
            has_master,
            control: if has_master { REFMSTR } else { 0 },
            since: 0,
        })
    }

    /// The core clock is another one: what settles from now on does so in as much time.
    pub fn set_clock(&mut self, clock_hz: u64) {
        self.settle_cycles = (self.settle_us * clock_hz).div_ceil(1_000_000);
    }

    /// `REFCTL0` at cycle `now`.
    pub fn read(&self, now: u64) -> u32 {
        let is_on = self.control & REFON != 0;
        let is_ready = is_on && !self.has_master && now >= self.since + self.settle_cycles;
        let active = if is_on { REFGENACT_REFBGACT } else { 0 };
        self.control | active | if is_ready { REFGENRDY_REFBGRDY } else { 0 }
    }

    /// Writes `REFCTL0` at cycle `now`.
    ///
    /// # Errors
    /// A setting is not modelled.
    pub fn write(&mut self, value: u32, now: u64) -> Result<(), &'static str> {
        if self.has_master && value & REFMSTR == 0 {
            return Err("a reference ruled by the converter's own bits (REFMSTR = 0) is not modelled");
        }
        let writable = if self.has_master { WRITABLE } else { WRITABLE & !REFMSTR };
        if value & 0xff & !writable != 0 {
            return Err(
                "the reference at its pin (REFOUT) and its triggers (REFGENOT, REFBGOT) are not modelled",
            );
        }
        let value = value & writable;
        if (value ^ self.control) & (REFON | REFVSEL) != 0 {
            self.since = now;
        }
        self.control = value;
        Ok(())
    }

    /// The number of its voltage while it is held on.
    pub fn level(&self) -> Option<u8> {
        // REFVSEL 3 is 2.5 V, too.
        (self.control & REFON != 0).then_some((self.control >> 4 & 3).min(2) as u8)
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
        self.control = if self.has_master { REFMSTR } else { 0 };
        self.since = 0;
    }
}
