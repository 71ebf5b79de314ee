//! Virtual time: nanoseconds since the simulation began.

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Seconds of nanoseconds.
#[must_use]
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}

/// Nanoseconds of seconds, rounded.
#[must_use]
pub fn nanoseconds(s: f64) -> u64 {
    (s * SECOND_NS as f64).round() as u64
}
