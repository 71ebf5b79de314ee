//! A harvested node that configures itself, after the fifth contribution of Mane (2014): scheme,
//! clock and supply of each signature follow from the stored energy and its rate.
//!
//! No firmware runs here. A signature costs the cycles that the processor's model counted, once,
//! and all else is energy: sun, storage, regulator, sleep and radio as in [`crate::harvest`].
//!
//! - [`scenario`]: what stands in `scenarios/configured.toml`
//! - [`policy`]: what a node decides before a signature; the fixed nodes are policies, too
//! - [`simulation`], [`report`]: the year of each policy, and what came of it

pub mod policy;
pub mod report;
pub mod scenario;
pub mod simulation;
