//! The MC68HC908 parts of Freescale (Motorola, NXP).

pub mod config;
pub mod port;
