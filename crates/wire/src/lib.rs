//! The host's side of what the firmware sends, hears, is configured with and reports. It knows no radio, no machine and no
//! clock: packets and times come in, packets and events go out.

#![warn(missing_docs)]

/// What the page of the package shows works.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod meter;
pub mod node;
