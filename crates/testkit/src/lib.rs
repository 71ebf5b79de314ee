//! Tools that the tests of several crates share.

pub mod alone;
pub mod documents;
pub mod nats;
#[cfg(feature = "oracles")]
pub mod oracles;
pub mod ports;
pub mod postgres;
pub mod programs;
pub mod random;
pub mod servers;
#[cfg(feature = "vectors")]
pub mod vectors;
