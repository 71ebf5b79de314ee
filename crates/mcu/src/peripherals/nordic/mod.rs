//! The nRF52840 of Nordic Semiconductor. "PS" is its Product Specification, v1.1 where a section is
//! named by its title; register addresses, bits and reset values are also those of Nordic's SVD.

mod block;
pub mod clock;
mod counter;
pub mod ecb;
pub mod ficr;
pub mod gpio;
pub mod gpiote;
pub mod nvmc;
pub mod rng;
pub mod rtc;
pub mod temp;
pub mod timer;
pub mod uart;
pub mod wdt;
