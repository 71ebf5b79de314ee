//! Cycles become joules: the `[supply]` table of a target file, its limits, and the current between its points.

mod supply;

pub use supply::{Level, Limit, Point, Supply, SupplyError};
