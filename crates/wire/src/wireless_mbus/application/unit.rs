//! Units of records, and the SI units that they are exact multiples of.

use std::fmt;

/// A unit as meters send it, without its power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// None: a count, a number, a text, a date.
    One,
    /// Wh.
    WattHour,
    /// J.
    Joule,
    /// cal, of which meters do not say which one.
    Calorie,
    /// m³.
    CubicMetre,
    /// ft³.
    CubicFoot,
    /// kg.
    Kilogram,
    /// s.
    Second,
    /// min.
    Minute,
    /// h.
    Hour,
    /// d.
    Day,
    /// Months.
    Month,
    /// Years.
    Year,
    /// W.
    Watt,
    /// J/h.
    JoulePerHour,
    /// m³/h.
    CubicMetrePerHour,
    /// m³/min.
    CubicMetrePerMinute,
    /// m³/s.
    CubicMetrePerSecond,
    /// kg/h.
    KilogramPerHour,
    /// °C.
    DegreeCelsius,
    /// K.
    Kelvin,
    /// bar.
    Bar,
    /// varh.
    VarHour,
    /// VAh.
    VoltAmpereHour,
    /// var.
    Var,
    /// VA.
    VoltAmpere,
    /// V.
    Volt,
    /// A.
    Ampere,
    /// Hz.
    Hertz,
    /// °.
    Degree,
    /// %.
    Percent,
    /// dBm.
    DecibelMilliwatt,
    /// Bd.
    Baud,
    /// Times of a bit.
    BitTime,
    /// A currency.
    Currency,
    /// The unit that the record writes out.
    PlainText,
}

/// A unit as a multiple of an SI unit: value × numerator × 10^exponent / denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiUnit {
    /// The SI unit.
    pub symbol: &'static str,
    /// The integer to multiply with.
    pub numerator: u64,
    /// The power of ten to multiply with.
    pub exponent: i8,
    /// The integer to divide by.
    pub denominator: u32,
}

impl Unit {
    /// The unit as an exact multiple of an SI unit; `None` if it is none.
    #[must_use]
    pub fn si(self) -> Option<SiUnit> {
        let multiple = |symbol, numerator, exponent, denominator| {
            Some(SiUnit { symbol, numerator, exponent, denominator })
        };
        match self {
            Unit::WattHour => multiple("J", 3600, 0, 1),
            Unit::Joule => multiple("J", 1, 0, 1),
            Unit::CubicMetre => multiple("m³", 1, 0, 1),
            Unit::CubicFoot => multiple("m³", 28_316_846_592, -12, 1),
            Unit::Kilogram => multiple("kg", 1, 0, 1),
            Unit::Second => multiple("s", 1, 0, 1),
            Unit::Minute => multiple("s", 60, 0, 1),
            Unit::Hour => multiple("s", 3600, 0, 1),
            Unit::Day => multiple("s", 86_400, 0, 1),
            Unit::Watt => multiple("W", 1, 0, 1),
            Unit::JoulePerHour => multiple("W", 1, 0, 3600),
            Unit::CubicMetrePerHour => multiple("m³/s", 1, 0, 3600),
            Unit::CubicMetrePerMinute => multiple("m³/s", 1, 0, 60),
            Unit::CubicMetrePerSecond => multiple("m³/s", 1, 0, 1),
            Unit::KilogramPerHour => multiple("kg/s", 1, 0, 3600),
            Unit::DegreeCelsius => multiple("°C", 1, 0, 1),
            Unit::Kelvin => multiple("K", 1, 0, 1),
            Unit::Bar => multiple("Pa", 1, 5, 1),
            Unit::Volt => multiple("V", 1, 0, 1),
            Unit::Ampere => multiple("A", 1, 0, 1),
            Unit::Hertz => multiple("Hz", 1, 0, 1),
            _ => None,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::One | Unit::PlainText => "",
            Unit::WattHour => "Wh",
            Unit::Joule => "J",
            Unit::Calorie => "cal",
            Unit::CubicMetre => "m³",
            Unit::CubicFoot => "ft³",
            Unit::Kilogram => "kg",
            Unit::Second => "s",
            Unit::Minute => "min",
            Unit::Hour => "h",
            Unit::Day => "d",
            Unit::Month => "months",
            Unit::Year => "years",
            Unit::Watt => "W",
            Unit::JoulePerHour => "J/h",
            Unit::CubicMetrePerHour => "m³/h",
            Unit::CubicMetrePerMinute => "m³/min",
            Unit::CubicMetrePerSecond => "m³/s",
            Unit::KilogramPerHour => "kg/h",
            Unit::DegreeCelsius => "°C",
            Unit::Kelvin => "K",
            Unit::Bar => "bar",
            Unit::VarHour => "varh",
            Unit::VoltAmpereHour => "VAh",
            Unit::Var => "var",
            Unit::VoltAmpere => "VA",
            Unit::Volt => "V",
            Unit::Ampere => "A",
            Unit::Hertz => "Hz",
            Unit::Degree => "°",
            Unit::Percent => "%",
            Unit::DecibelMilliwatt => "dBm",
            Unit::Baud => "Bd",
            Unit::BitTime => "bit times",
            Unit::Currency => "currency",
        })
    }
}
