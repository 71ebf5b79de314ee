//! The whole system alive: meters on processor models, one for each suite, their radio channel, and
//! a collector that they talk to, paced to real time; and what a reading costs each of them,
//! measured meanwhile.
//!
//! - [`meter_site`]: which meters there are, and what they measure; [`start`]: meters made,
//!   switched on, and put into a simulation
//! - [`station`]: the collector's service behind a simulated radio; [`service`]: the service with
//!   its dashboard
//! - [`cost`]: from cycles and states to microjoules, a row for each suite; [`measure`]: the same
//!   without losses, for the collector's data file
//! - [`live`]: the demonstration; [`report`]: its figures, [`terminal`]: as they come

pub mod cost;
pub mod live;
pub mod measure;
pub mod meter_site;
pub mod report;
pub mod service;
pub mod start;
pub mod station;
pub mod terminal;
