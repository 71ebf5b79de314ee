//! A network of meters: their firmware on models or on the host, a radio channel for each kind of
//! radio, an attacker on it, losses of power, and a collector.
//!
//! - [`scenario`], [`setup`]: what stands in `scenarios/network*.toml`, and the simulation that is
//!   made of it
//! - [`outcome`], [`report`]: what came of it

pub mod outcome;
pub mod report;
pub mod scenario;
pub mod setup;
