//! Peripherals of Raspberry Pi's microcontrollers.

pub mod rp2040;
