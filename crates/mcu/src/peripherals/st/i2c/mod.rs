//! The I2C interfaces of the STM32.

pub mod v1;
pub mod v2;
