//! The processor cores, a room for each family: registers, decoding, execution, timing.

pub mod avr;
pub mod cortex_m;
pub mod hc08;
pub mod mcs51;
pub mod msp430;
pub mod r8c;
pub mod riscv;
