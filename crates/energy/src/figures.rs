//! Checks on the figures of a `[supply]` table, where it is read.

use crate::cache::CacheCharges;
use crate::current::Point;
use crate::supply::{Limit, Supply};

impl Supply {
    /// Checks that a current comes out of its figures at each clock and supply.
    pub(crate) fn check_figures(&self) -> Result<(), String> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if self.limits.is_empty() {
            return Err("needs a limit".into());
        }
        self.cache.as_ref().map_or(Ok(()), CacheCharges::check)?;
        if !self.limits.iter().all(|row| positive(row.supply_v) && positive(row.clock_hz)) {
            return Err("has a limit that is not above zero".into());
        }
        let rises = |a: &Limit, b: &Limit| a.supply_v < b.supply_v && a.clock_hz < b.clock_hz;
        if !self.limits.windows(2).all(|pair| rises(&pair[0], &pair[1])) {
            return Err("has limits that do not rise from row to row".into());
        }
        if !(self.min_v()..f64::INFINITY).contains(&self.max_v) {
            return Err(format!("has a max_v of {} V, below its first limit", self.max_v));
        }
        if let Err(error) = self.check_supply(self.default_v) {
            return Err(format!("has an impossible default_v: {error}"));
        }
        if self.levels.is_empty() || self.levels.iter().any(|level| level.points.is_empty()) {
            return Err("needs a level, and a point in each".into());
        }
        if !self.levels.windows(2).all(|pair| pair[0].max_hz < pair[1].max_hz) {
            return Err("has levels that do not rise in max_hz".into());
        }
        let tables = self.levels.iter().flat_map(|level| [&level.points, &level.ram_points]);
        for points in tables.chain(self.sleeps.iter().map(|mode| &mode.points)) {
            for (at, one) in points.iter().enumerate() {
                let place = format!("{} MHz, {} V", one.clock_hz / 1e6, one.supply_v);
                if ![one.clock_hz, one.supply_v, one.current_a].into_iter().all(positive) {
                    return Err(format!("has a point at {place} with a figure that is not above zero"));
                }
                let same = |other: &Point| other.clock_hz == one.clock_hz && other.supply_v == one.supply_v;
                if points[..at].iter().any(same) {
                    return Err(format!("has two points of one table at {place}; leave one out"));
                }
            }
        }
        Ok(())
    }
}
