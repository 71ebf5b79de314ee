//! A harvested node in virtual time: its firmware on its models, and the world that is around it.
//!
//! - [`scenario`]: what stands in `scenarios/*.toml`
//! - [`circuit`], [`ledger`]: panel, charger, storage, regulator; where every joule went
//! - [`node`]: what is asked of a node
//! - [`server`]: who sends challenges and verifies what the node sends
//! - [`simulation`]: the loop
//! - [`harvested`]: the node of `device/node` on its models
//! - [`setup`]: from a scenario to all this
//! - [`street`]: a world of another kind, many meters and their collector
//! - [`outcome`], [`report`], [`picture`]: what came of it

pub mod circuit;
pub mod harvested;
pub mod ledger;
pub mod modelled;
pub mod node;
pub mod outcome;
pub mod pair;
pub mod picture;
pub mod report;
pub mod scenario;
pub mod server;
pub mod setup;
pub mod simulation;
pub mod street;

pub use lab::LabError;
