//! A harvested node: its firmware on its board's models, sun and storage, and a server that it
//! answers to.
//!
//! - [`scenario`], [`setup`]: what stands in `scenarios/harvest*.toml`, and the simulation that is
//!   made of it
//! - [`recorder`]: what is counted on the way; [`outcome`], [`report`], [`plot`]: what came of it

pub mod outcome;
pub mod plot;
pub mod recorder;
pub mod report;
pub mod scenario;
pub mod setup;
