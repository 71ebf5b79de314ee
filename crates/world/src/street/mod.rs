//! A street of meters: their firmware on models or on the host, one radio channel, an attacker on it, losses of power, and a
//! collector.
//!
//! - [`station`]: what is asked of a meter
//! - [`air`], [`framing`]: the radio channel, and packets on it
//! - [`load`]: what the households draw
//! - [`chance`]: random numbers by seed and purpose

pub mod air;
pub mod chance;
pub mod framing;
pub mod load;
pub mod station;
