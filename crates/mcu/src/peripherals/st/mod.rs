//! The STM32 parts of STMicroelectronics.

pub mod adc;
mod bus;
pub mod crc;
pub mod dbgmcu;
pub mod exti;
pub mod gpio;
pub mod iwdg;
pub mod pwr;
pub(crate) mod register;
pub mod rng;
pub mod signature;
pub mod spi;
mod syscfg;
pub mod timer;
pub mod usart;
