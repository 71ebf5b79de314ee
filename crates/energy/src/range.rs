//! Figures from outside, checked where they come in.

use thiserror::Error;

/// A figure that cannot be: which, what it is, what it must be.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{what} is {value}; it must be {must}")]
pub struct OutOfRange {
    /// Its name in the file or on the command line.
    pub what: &'static str,
    /// The value that is out of range.
    pub value: f64,
    /// Values that are allowed.
    pub must: &'static str,
}

/// Refuses a figure unless `holds`.
pub(crate) fn require(
    what: &'static str,
    value: f64,
    holds: bool,
    must: &'static str,
) -> Result<(), OutOfRange> {
    if holds { Ok(()) } else { Err(OutOfRange { what, value, must }) }
}

/// Refuses a figure that is not a finite number above zero.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), OutOfRange> {
    require(what, value, value.is_finite() && value > 0.0, "a number above zero")
}

/// Refuses a figure that is not a finite number from zero up.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<(), OutOfRange> {
    require(what, value, value.is_finite() && value >= 0.0, "a number from zero up")
}

/// Refuses a figure that is not a share: above zero, at most one.
pub(crate) fn share(what: &'static str, value: f64) -> Result<(), OutOfRange> {
    require(what, value, value > 0.0 && value <= 1.0, "above 0 and at most 1")
}
