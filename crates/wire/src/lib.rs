//! The host's side of what the firmware sends, hears, is configured with and reports. It knows no
//! radio, no machine and no clock: packets and times come in, packets and events go out.
//!
//! [`wireless_mbus`] reads the telegrams of other makers' meters.

#![warn(missing_docs)]

/// The example of the package's page, which runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod meter;
pub mod node;
pub mod wireless_mbus;
