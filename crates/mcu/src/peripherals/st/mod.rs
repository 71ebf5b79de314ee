//! The STM32 parts of STMicroelectronics.

pub mod adc;
pub mod adc_f0;
pub mod adc_f1;
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
pub mod rtc;
pub mod signature;
pub mod spi;
mod syscfg;
pub mod timer;
pub mod usart;
pub mod wwdg;
