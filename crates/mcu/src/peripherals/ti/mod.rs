//! The MSP430F5xx and MSP430FR5xx parts of Texas Instruments.

pub mod adc12_a;
pub mod aes256;
mod clocks;
pub mod crc;
pub mod cs;
pub mod digital_io;
pub mod dma;
pub mod flash_controller;
mod fll;
pub mod frctl_a;
pub mod mpu;
pub mod mpy32;
pub mod pmm;
pub mod pmm_fr;
pub mod ref_module;
pub mod rtc;
pub mod sys;
pub mod timer_a;
pub mod ucs;
pub mod usci;
pub mod wdt_a;
mod word;
