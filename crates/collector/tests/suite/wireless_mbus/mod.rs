//! Other makers' meters: published telegrams through the collector, attacks, and keys.

mod attacks;
mod fixture;
mod hostile;
mod keys;
mod makers;
mod service;
