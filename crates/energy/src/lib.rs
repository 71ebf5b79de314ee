//! Cycles become joules: the `[supply]` table of a target file, its limits, and the current between its points.

mod calibration;
mod fit;
mod line;
pub mod plan;
pub mod sizing;
mod states;
mod supply;

pub use fit::Fit;
pub use states::{BrownOut, Change, Module, SleepMode, Timing};
pub use supply::{Fetch, Level, Limit, Point, Supply, SupplyError};
