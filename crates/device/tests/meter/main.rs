//! The integration tests: one program, so that it is linked once.

#[path = "../invariants/mod.rs"]
mod invariants;
mod journal;
mod link;
mod metering;
mod numbers;
mod oms;
mod posix;
mod settings;
mod vectors;
mod wear;
