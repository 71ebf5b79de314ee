//! Papers reproduced: what stands in `papers/*.toml`, what each of its cells costs here, and both
//! side by side.
//!
//! - [`paper`]: a paper's file; [`claim`]: the claims of its text; [`modules`]: what each part of
//!   an operation costs
//! - [`page`]: its report as a page; [`files`]: the places of charts and reports
//! - [`mod@reproduce`]: runs what its cells are about, and compares; [`report`]: its tables, for a
//!   person and for a program

pub mod claim;
pub mod files;
pub mod modules;
pub mod page;
pub mod paper;
mod reason;
pub mod report;
pub mod reproduce;
