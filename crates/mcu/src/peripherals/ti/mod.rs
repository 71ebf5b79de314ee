//! The MSP430F5xx and MSP430FR5xx parts of Texas Instruments.

pub mod adc12;
pub mod aes256;
mod clocks;
pub mod comp_e;
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

use super::model::{Model, PINS};

/// Settings of the converters.
const CONVERTER: &[&str] = &[
    "dma_adc_#",
    "oscillator_hz",
    "reference_#_mv",
    "reference_#_supply_mv",
    "reference_base",
    "reference_settle_us",
    "supply_mv",
];

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("mpy32", &[], |_, spec| Ok(Box::new(mpy32::Mpy32::new(spec)))),
    Model::new("msp430-adc12", CONVERTER, |part, spec| {
        Ok(Box::new(adc12::Adc12::new(part, spec, adc12::Kind::A)?))
    }),
    Model::new("msp430-adc12-b", CONVERTER, |part, spec| {
        Ok(Box::new(adc12::Adc12::new(part, spec, adc12::Kind::B)?))
    }),
    Model::new("msp430-aes256", &[], |_, spec| Ok(Box::new(aes256::Aes256::new(spec)))),
    Model::new(
        "msp430-comp-e",
        &["input_#", "reference_#_mv", "reference_#_supply_mv", PINS],
        |part, spec| Ok(Box::new(comp_e::CompE::new(part, spec)?)),
    ),
    Model::new("msp430-crc16", &[], |_, spec| Ok(Box::new(crc::Crc::new(spec, crc::Kind::Crc16)))),
    Model::new("msp430-crc32", &[], |_, spec| Ok(Box::new(crc::Crc::new(spec, crc::Kind::Crc32)))),
    Model::new("msp430-cs", &[], |part, spec| Ok(Box::new(cs::Cs::new(part, spec)))),
    Model::new("msp430-eusci-a", &["dma_rx_#", "dma_tx_#"], |part, spec| {
        Ok(Box::new(usci::Usci::new(part, spec, usci::Block::EusciA)?))
    }),
    Model::new("msp430-eusci-b", &["dma_rx_#", "dma_tx_#"], |part, spec| {
        Ok(Box::new(usci::Usci::new(part, spec, usci::Block::EusciB)?))
    }),
    Model::new("msp430-dma", &["channels"], |part, spec| Ok(Box::new(dma::Dma::new(part, spec)?))),
    Model::new("msp430-flash", &["erase_us", "word_us"], |part, spec| {
        Ok(Box::new(flash_controller::Flash::new(part, spec)?))
    }),
    Model::new("msp430-frctl-a", &[], |_, spec| Ok(Box::new(frctl_a::FrctlA::new(spec)))),
    Model::new(
        "msp430-mpu",
        &["information_base", "information_size", "main_base", "main_size"],
        |_, spec| Ok(Box::new(mpu::Mpu::new(spec)?)),
    ),
    Model::new(
        "msp430-pmm",
        &["bor_mv", "bor_off_mv", "clock_#_khz", "svsh_#_mv", "svsh_off_#_mv", "vcc_#_mv"],
        |part, spec| Ok(Box::new(pmm::Pmm::new(part, spec)?)),
    ),
    Model::new(
        "msp430-pmm-fr",
        &["bor_mv", "bor_off_mv", "svsh_mv", "svsh_off_mv", "vcc_mv", "wake_us"],
        |part, spec| Ok(Box::new(pmm_fr::PmmFr::new(part, spec)?)),
    ),
    Model::new("msp430-ports", &["first", "fr", "second_irq"], |_, spec| {
        Ok(Box::new(digital_io::Ports::new(spec)))
    }),
    Model::new("msp430-rtc-a", &[], |part, spec| Ok(Box::new(rtc::Rtc::new(part, spec, rtc::Kind::A)))),
    Model::new("msp430-rtc-c", &[], |part, spec| Ok(Box::new(rtc::Rtc::new(part, spec, rtc::Kind::C)))),
    Model::new("msp430-sys", &[], |_, spec| Ok(Box::new(sys::Sys::new(spec)))),
    Model::new("msp430-timer-a", &["channels", "dma_ccr#_#", PINS], |part, spec| {
        Ok(Box::new(timer_a::Timer::new(part, spec, timer_a::Kind::A)?))
    }),
    Model::new("msp430-timer-b", &["channels", "dma_ccr#_#", PINS], |part, spec| {
        Ok(Box::new(timer_a::Timer::new(part, spec, timer_a::Kind::B)?))
    }),
    Model::new("msp430-ucs", &["dco_#_#_khz"], |part, spec| Ok(Box::new(ucs::Ucs::new(part, spec)?))),
    Model::new("msp430-usci-a", &["dma_rx_#", "dma_tx_#"], |part, spec| {
        Ok(Box::new(usci::Usci::new(part, spec, usci::Block::UsciA)?))
    }),
    Model::new("msp430-usci-b", &["dma_rx_#", "dma_tx_#"], |part, spec| {
        Ok(Box::new(usci::Usci::new(part, spec, usci::Block::UsciB)?))
    }),
    Model::new("msp430-watchdog", &[], |part, spec| Ok(Box::new(wdt_a::Watchdog::new(part, spec)))),
];
