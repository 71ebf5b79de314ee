//! The 8051 of Intel.

pub mod port;
pub mod system;
