//! The ATmega, ATtiny and SAM parts of Microchip (Atmel).

pub mod adc;
pub mod comparator;
pub mod eeprom;
pub mod external_interrupts;
mod gain_stage;
pub mod general_interrupts;
pub mod gpio;
pub mod samd21;
pub mod self_programming;
pub mod spi;
pub mod system;
pub mod timer;
pub mod timer4;
pub mod twi;
pub mod usart;
pub mod usb;
pub mod watchdog;
