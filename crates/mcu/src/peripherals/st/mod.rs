//! The STM32 parts of STMicroelectronics.

pub mod adc;
pub mod backup_sram;
mod bus;
pub mod crc;
pub mod dac;
pub mod dbgmcu;
pub mod dma;
pub mod exti;
pub mod flash;
pub mod gpio;
pub mod i2c;
pub mod iwdg;
pub mod pwr;
pub mod pwr_l4;
pub mod rng;
mod route;
pub mod rtc;
pub mod signature;
pub mod spi;
mod syscfg;
pub mod timer;
pub mod usart;
pub mod wwdg;

// Where [`crate::Events::generic_clocks_hz`] has what RCC makes, after the clocks of I2C1 to I2C4.

/// The converters' clock.
const CONVERTER_CLOCK: usize = 4;
/// The first of the USARTs'.
const USART_CLOCKS: usize = 5;
