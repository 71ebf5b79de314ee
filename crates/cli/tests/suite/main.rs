//! The integration tests: one program, so that it is linked once.

mod advisories;
mod commands;
mod contract;
mod documentation;
mod kept;
mod plan;
