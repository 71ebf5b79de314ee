//! Times for a person.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time for a person: in this machine's zone.
pub(crate) fn time(at_s: i64) -> String {
    let zone = TimeZone::system();
    let at =
        Timestamp::from_second(at_s).map(|at| at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string());
    at.unwrap_or_else(|_| at_s.to_string())
}
