//! The project's data, and the sources that its firmware is built from, as they were when this was
//! built: for programs that are installed without a clone. A program that the launcher runs has the
//! clone beside it and goes without.

/// Paths from the project's folder, sorted, and what stands in the files.
pub static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
