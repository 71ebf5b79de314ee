//! Queries, and the tables that answer them.

use crate::network::{GlobalMeterId, NetworkId};
use crate::store::ROWS_MAX;
use crate::store::model::meter_range::keys_of;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The meters of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeterFilter {
    /// All of all networks.
    #[default]
    All,
    /// All of a network.
    Network(NetworkId),
    Meter(GlobalMeterId),
}

impl MeterFilter {
    /// The first and the last key of those meters.
    pub(in crate::store) fn keys(self) -> (i64, i64) {
        match self {
            MeterFilter::All => (0, i64::MAX),
            MeterFilter::Network(network) => keys_of(network),
            MeterFilter::Meter(meter) => (meter.key(), meter.key()),
        }
    }
}

impl From<GlobalMeterId> for MeterFilter {
    fn from(meter: GlobalMeterId) -> MeterFilter {
        MeterFilter::Meter(meter)
    }
}

/// The resolution of a meter's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// As they were measured.
    Raw,
    /// By quarter-hour.
    Quarter,
    /// By hour of the zone.
    Hour,
    /// By day of the zone.
    Day,
}

/// By what consumption is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interval {
    /// Quarter-hours.
    Quarter,
    /// Hours of the zone.
    Hour,
    /// Days of the zone.
    Day,
    /// Weeks, from Monday on.
    Week,
    Month,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingsQuery {
    pub meter: GlobalMeterId,
    /// From then on, in s; of rollups, from the one on in which it lies.
    pub from_s: i64,
    /// Before that, in s.
    pub to_s: i64,
    pub resolution: Resolution,
    /// The end of the previous page: [`Readings::next`].
    pub after: Option<Cursor>,
    /// Rows at most; never more than [`super::ROWS_MAX`].
    pub limit: usize,
}

impl ReadingsQuery {
    /// All single readings of a meter, as many as are given at once.
    #[must_use]
    pub fn raw(meter: impl Into<GlobalMeterId>) -> ReadingsQuery {
        let (from_s, to_s, resolution) = (0, i64::MAX, Resolution::Raw);
        ReadingsQuery { meter: meter.into(), from_s, to_s, resolution, after: None, limit: ROWS_MAX }
    }
}

/// The position after a page: the reading with this time, epoch and number. In text `at_s.epoch.n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub at_s: i64,
    /// Its epoch; of rollups 0.
    pub epoch: u32,
    /// Its number; of rollups 0.
    pub n: u32,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.at_s, self.epoch, self.n)
    }
}

/// A text that is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not where a page ended: give `after` as `next` said it")]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Cursor, NoCursor> {
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(NoCursor);
        let at_s = part()?.parse().map_err(|_| NoCursor)?;
        let epoch = part()?.parse().map_err(|_| NoCursor)?;
        let n = part()?.parse().map_err(|_| NoCursor)?;
        if parts.next().is_some() { Err(NoCursor) } else { Ok(Cursor { at_s, epoch, n }) }
    }
}

/// A page of readings, as columns of equal length, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    pub meter: GlobalMeterId,
    pub resolution: Resolution,
    pub rows: Rows,
    /// The position of the next page; `None`: this was the last.
    pub next: Option<Cursor>,
}

/// The columns of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// As they were measured.
    Raw {
        at_s: Vec<i64>,
        /// Mean real power since the one before, in W.
        power_w: Vec<i16>,
        /// The register, in Wh.
        energy_wh: Vec<f64>,
    },
    /// By interval. There is a row where there is a reading.
    Rollup {
        /// When it begins, in s.
        at_s: Vec<i64>,
        /// Mean of the readings' power, in W, to two places.
        power_w: Vec<f64>,
        /// The least of them.
        power_min_w: Vec<i16>,
        /// The greatest of them.
        power_max_w: Vec<i16>,
        /// Energy used, in Wh.
        used_wh: Vec<f64>,
        readings: Vec<u32>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumptionQuery {
    /// From the interval on in which this lies, in s.
    pub from_s: i64,
    /// Intervals that begin before that, in s.
    pub to_s: i64,
    /// By what.
    pub resolution: Interval,
    pub whose: MeterFilter,
}

/// Energy used, as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Consumption {
    /// By what.
    pub resolution: Interval,
    /// The zone of its hours, midnights and months.
    pub zone: String,
    /// When each interval begins, in s: all from the first to the last, without gaps.
    pub start_s: Vec<i64>,
    pub meters: Vec<ConsumptionOf>,
}

/// Energy that a meter used.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumptionOf {
    pub meter: GlobalMeterId,
    /// In Wh, for each interval; `None` (null) where there is no reading.
    pub used_wh: Vec<Option<f64>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertFilter {
    /// From then on, in s.
    pub from_s: Option<i64>,
    /// Before that, in s.
    pub to_s: Option<i64>,
    /// Those alone; the collector's own are in network 0's.
    pub whose: MeterFilter,
    /// Those alone that nobody acknowledged.
    pub open: bool,
    /// Only those with a lower id.
    pub before: Option<i64>,
    /// The largest number of rows; 0 and more than 1,000 are 1,000.
    pub limit: usize,
}
