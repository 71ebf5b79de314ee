//! Cycles become joules: what a data sheet says of a microcontroller's supply and of a radio, what
//! a measuring instrument would read, what the sun gives and what a store keeps of it.
//!
//! - [`Supply`]: the `[supply]` table of a target file, its limits, and the current between its
//!   points
//! - [`radio`]: `radios/*.toml`, what a message on the air costs
//! - [`instrument`]: a sampled-current meter over a current of the models, and its error
//! - [`sun`]: irradiance from a file or a clear-sky model, and the panel under it
//! - [`storage`]: capacitor and battery
//! - [`sizing`], [`autonomy`], [`plan`]: what all that decides

#![warn(missing_docs)]

/// Runs the example on the package's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod autonomy;
mod cache;
mod calibration;
mod current;
mod figures;
mod fit;
pub mod instrument;
mod line;
pub mod plan;
pub mod radio;
mod range;
pub mod sizing;
mod states;
pub mod storage;
pub mod sun;
mod supply;

pub use cache::CacheCharges;
pub use calibration::{Calibration, CalibrationError, Correction, Deviation, Measurement};
pub use current::Point;
pub use fit::Fit;
pub use range::OutOfRange;
pub use states::{BrownOut, Change, Module, SleepMode, Timing};
pub use supply::{Fetch, Level, Limit, LowestClock, Supply, SupplyError};
