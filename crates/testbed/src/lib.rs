//! The project's development programs around a collector.
//!
//! - [`load`]: meters by the thousand; the collector may be killed under them
//! - [`demo`]: meters on processor models, live
//! - [`chaos`]: a cluster of processes whose parts are killed

#[cfg(feature = "models")]
pub mod chaos;
#[cfg(feature = "models")]
pub mod demo;
pub mod load;
