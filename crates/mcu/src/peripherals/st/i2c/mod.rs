//! The I2C interfaces of the STM32.

mod outside;
pub mod v1;
pub mod v2;
