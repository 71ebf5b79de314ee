//! A street of meters: their firmware on models or on the host, one radio channel, an attacker on it, losses of power, and a
//! collector.
//!
//! - [`scenario`], [`setup`]: what stands in `scenarios/street*.toml`, and the street that is made of it
//! - [`station`]: what is asked of a meter; [`host`], [`model`]: the two that there are
//! - [`site`], [`load`]: a meter where it is, with its supply and its load
//! - [`air`], [`framing`]: the radio channel, and packets on it
//! - [`endpoint`]: the collector; [`attacker`]: somebody without keys
//! - [`ledger`]: what must hold, whatever happens
//! - [`simulation`]: the loop; [`outcome`], [`report`]: what came of it
//! - [`chance`]: random numbers by seed and purpose

pub mod air;
pub mod attacker;
pub mod chance;
pub mod endpoint;
pub mod framing;
pub mod host;
pub mod site;
pub mod ledger;
pub mod load;
pub mod model;
pub mod outcome;
pub mod report;
pub mod scenario;
pub mod setup;
pub mod simulation;
pub mod station;
