//! Papers reproduced: what stands in `papers/*.toml`, what each of its cells costs here, and both
//! side by side.
//!
//! - [`paper`]: a paper's file; [`claim`]: the claims of its text; [`modules`]: what each part of an
//!   operation costs
//! - [`mod@reproduce`]: runs what its cells are about, and compares; [`report`]: its tables, for a
//!   person and for a program

pub mod claim;
pub mod modules;
pub mod paper;
pub mod report;
pub mod reproduce;
