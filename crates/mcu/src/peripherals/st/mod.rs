//! The STM32 parts of STMicroelectronics.

pub mod adc;
mod bus;
pub mod dbgmcu;
pub mod exti;
pub mod gpio;
pub mod iwdg;
pub mod pwr;
pub(crate) mod register;
pub mod spi;
pub mod timer;
pub mod usart;
