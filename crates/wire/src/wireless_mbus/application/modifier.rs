//! Codes behind a VIF that change what a record says. EN 13757-3, 6.4.6 to 6.4.8: Tables 15 to 18;
//! not compared.

use super::quantity::duration_unit;
use super::{Coding, Unit};

/// A code behind a record's VIF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modifier {
    /// A code of the combinable table, without its extension bit.
    Combinable(u8),
    /// A code of the table behind FCh, without its extension bit.
    Extension(u8),
    /// The maker's own codes, as sent.
    Manufacturer(Vec<u8>),
}

/// The effect of a code on the record's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The value stays, and the name of the code goes with it.
    Named,
    /// The value is a date or a time.
    Date,
    /// The value is a duration.
    Duration(Unit),
    /// The value is a count.
    Count,
    /// The value is times ten to this power.
    Scale(i8),
    /// The value is bytes with a coding of their own.
    Profile,
    /// There is no value but an error.
    Error(u8),
    /// Nobody knows.
    Unknown,
}

impl Modifier {
    /// The effect of the code.
    pub(super) fn effect(&self) -> Effect {
        let code = match self {
            Modifier::Combinable(code) => *code,
            Modifier::Extension(code) if extension_name(*code).is_some() => return Effect::Named,
            Modifier::Extension(_) | Modifier::Manufacturer(_) => return Effect::Unknown,
        };
        match code {
            // Codes for records' errors: 00h says that there is none.
            0x00 | 0x12 | 0x14 | 0x1d => Effect::Named,
            0x01..=0x11 | 0x15..=0x1c => Effect::Error(code),
            0x13 | 0x1e | 0x1f => Effect::Profile,
            0x39 | 0x42 | 0x43 | 0x46 | 0x47 | 0x4a | 0x4b | 0x4e | 0x4f => Effect::Date,
            0x6a | 0x6b | 0x6e | 0x6f => Effect::Date,
            0x41 | 0x49 => Effect::Count,
            0x50..=0x67 => Effect::Duration(duration_unit(code)),
            0x70..=0x77 => Effect::Scale((code & 7) as i8 - 6),
            0x7d => Effect::Scale(3),
            // An addition in a unit that the record does not name is not carried out.
            0x78..=0x7b => Effect::Unknown,
            code if combinable_name(code).is_some() => Effect::Named,
            _ => Effect::Unknown,
        }
    }

    /// The name of the code in plain words; `None` of an unknown one and of a maker's own.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Modifier::Combinable(code) => combinable_name(*code),
            Modifier::Extension(code) => extension_name(*code),
            Modifier::Manufacturer(_) => None,
        }
    }
}

impl Effect {
    /// The unit, the coding and the power of ten of a value after the code.
    pub(super) fn apply(self, unit: Unit, coding: Coding, exponent: i8) -> (Unit, Coding, i8) {
        match self {
            Effect::Named | Effect::Unknown => (unit, coding, exponent),
            Effect::Date => (Unit::One, Coding::Date, 0),
            Effect::Duration(unit) => (unit, Coding::Unsigned, 0),
            Effect::Count => (Unit::One, Coding::Unsigned, 0),
            Effect::Scale(power) => (unit, coding, exponent.saturating_add(power)),
            Effect::Profile | Effect::Error(_) => (unit, Coding::Bytes, 0),
        }
    }
}

/// Returns the name of a combinable code.
fn combinable_name(code: u8) -> Option<&'static str> {
    Some(match code {
        0x00 => "no error",
        0x01 => "error: too many DIFEs",
        0x02 => "error: storage number not implemented",
        0x03 => "error: subunit not implemented",
        0x04 => "error: tariff not implemented",
        0x05 => "error: function not implemented",
        0x06 => "error: data class not implemented",
        0x07 => "error: data size not implemented",
        0x0b => "error: too many VIFEs",
        0x0c => "error: illegal VIF group",
        0x0d => "error: illegal VIF exponent",
        0x0e => "error: VIF and DIF do not fit",
        0x0f => "error: action not implemented",
        0x12 => "average",
        0x13 => "inverse compact profile",
        0x14 => "relative deviation",
        0x15 => "error: no data available",
        0x16 => "error: data overflow",
        0x17 => "error: data underflow",
        0x18 => "error: data error",
        0x1c => "error: premature end of record",
        0x1d => "standard conformant content",
        0x1e => "compact profile with register numbers",
        0x1f => "compact profile",
        0x20 => "per second",
        0x21 => "per minute",
        0x22 => "per hour",
        0x23 => "per day",
        0x24 => "per week",
        0x25 => "per month",
        0x26 => "per year",
        0x27 => "per revolution or measurement",
        0x28 => "per pulse of input 0",
        0x29 => "per pulse of input 1",
        0x2a => "per pulse of output 0",
        0x2b => "per pulse of output 1",
        0x2c => "per litre",
        0x2d => "per cubic metre",
        0x2e => "per kilogram",
        0x2f => "per kelvin",
        0x30 => "per kilowatt hour",
        0x31 => "per gigajoule",
        0x32 => "per kilowatt",
        0x33 => "per kelvin and litre",
        0x34 => "per volt",
        0x35 => "per ampere",
        0x36 => "times second",
        0x37 => "times second per volt",
        0x38 => "times second per ampere",
        0x39 => "start of",
        0x3a => "uncorrected",
        0x3b => "forward only",
        0x3c => "backward only",
        0x3d => "in a unit that is not metric",
        0x3e => "at base conditions",
        0x3f => "OBIS declaration",
        0x40..=0x6f => return limit_name(code),
        0x70..=0x77 | 0x7d => "scaled",
        0x78..=0x7b => "plus a constant",
        0x7e => "future value",
        _ => return None,
    })
}

/// Returns the name of a code that speaks of limits.
fn limit_name(code: u8) -> Option<&'static str> {
    Some(match code {
        0x40 => "lower limit",
        0x41 => "number of times below the lower limit",
        0x42 => "begin of the first time below the lower limit",
        0x43 => "end of the first time below the lower limit",
        0x46 => "begin of the last time below the lower limit",
        0x47 => "end of the last time below the lower limit",
        0x48 => "upper limit",
        0x49 => "number of times above the upper limit",
        0x4a => "begin of the first time above the upper limit",
        0x4b => "end of the first time above the upper limit",
        0x4e => "begin of the last time above the upper limit",
        0x4f => "end of the last time above the upper limit",
        0x50..=0x53 => "duration of the first time below the lower limit",
        0x54..=0x57 => "duration of the last time below the lower limit",
        0x58..=0x5b => "duration of the first time above the upper limit",
        0x5c..=0x5f => "duration of the last time above the upper limit",
        0x60..=0x63 => "first duration",
        0x64..=0x67 => "last duration",
        0x68 => "value below the lower limit",
        0x69 => "leakage",
        0x6a => "begin of the first",
        0x6b => "end of the first",
        0x6c => "value above the upper limit",
        0x6d => "overflow",
        0x6e => "begin of the last",
        0x6f => "end of the last",
        _ => return None,
    })
}

/// Returns the name of a code of the table behind FCh.
fn extension_name(code: u8) -> Option<&'static str> {
    Some(match code {
        0x01 => "phase L1",
        0x02 => "phase L2",
        0x03 => "phase L3",
        0x04 => "neutral",
        0x05 => "between L1 and L2",
        0x06 => "between L2 and L3",
        0x07 => "between L3 and L1",
        0x08 => "quadrant Q1",
        0x09 => "quadrant Q2",
        0x0a => "quadrant Q3",
        0x0b => "quadrant Q4",
        0x0c => "import minus export",
        0x10 => "sum of absolute values",
        _ => return None,
    })
}
