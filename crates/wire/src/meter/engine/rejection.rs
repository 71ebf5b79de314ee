//! Why packets are refused, and how often that was.

use crate::meter::Malformed;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::ops::AddAssign;

/// Why a packet was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is none of this protocol.
    Malformed(Malformed),
    /// It is one that collectors send, not meters.
    Direction,
    /// No meter that was added has that name.
    UnknownMeter,
    /// It is for another radio address.
    Address,
    /// The meter does not seal like that, or not any more.
    Suite,
    /// It was not made by the meter, or was changed.
    NotAuthentic,
    /// The packet's number is not the message's.
    Number,
    /// Another report with that number is stored.
    NumberReused,
    /// An answer to no command that is under way.
    NoCommand,
}

/// The names of what is counted.
const NAMES: [&str; 12] = [
    "malformed-length",
    "malformed-suite",
    "malformed-piece",
    "malformed-meter",
    "direction",
    "unknown-meter",
    "address",
    "suite",
    "not-authentic",
    "number",
    "number-reused",
    "no-command",
];

impl Rejection {
    fn index(self) -> usize {
        match self {
            Rejection::Malformed(Malformed::Length(_)) => 0,
            Rejection::Malformed(Malformed::Suite(_)) => 1,
            Rejection::Malformed(Malformed::Piece(_)) => 2,
            Rejection::Malformed(Malformed::Meter) => 3,
            Rejection::Direction => 4,
            Rejection::UnknownMeter => 5,
            Rejection::Address => 6,
            Rejection::Suite => 7,
            Rejection::NotAuthentic => 8,
            Rejection::Number => 9,
            Rejection::NumberReused => 10,
            Rejection::NoCommand => 11,
        }
    }

    /// Returns its name in tables and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES[self.index()]
    }
}

/// The number of refused packets, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters([u64; NAMES.len()]);

impl Counters {
    pub(super) const NONE: Counters = Counters([0; NAMES.len()]);

    pub(super) fn count(&mut self, rejection: Rejection) {
        self.0[rejection.index()] += 1;
    }

    /// Returns the count for this reason, whatever the details.
    #[must_use]
    pub fn of(&self, rejection: Rejection) -> u64 {
        self.0[rejection.index()]
    }

    /// Returns the count for all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All reasons by name, those that never came among them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.into_iter().zip(self.0)
    }
}

/// The sum of two collectors' counts.
impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

/// A map from names to counts.
impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(NAMES.len()))?;
        for (name, count) in self.iter() {
            map.serialize_entry(name, &count)?;
        }
        map.end()
    }
}
