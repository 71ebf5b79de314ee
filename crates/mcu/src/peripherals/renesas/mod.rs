//! The R8C/Tiny parts of Renesas.

pub mod ports;
pub mod system;
