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

use super::model::{Model, PINS};

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new(
        "stm32-adc",
        &["dma_#", "limit_khz", "reference_mv", "sensor_mv", "start_ns", "software_only"],
        |part, spec| Ok(Box::new(adc::v1::Adc::f4(part, spec)?)),
    ),
    Model::new(
        "stm32f0-adc",
        &["dma_#", "limit_khz", "reference_mv", "sensor_mv", "start_ns"],
        |part, spec| Ok(Box::new(adc::v2::Adc::f0(part, spec)?)),
    ),
    Model::new(
        "stm32f1-adc",
        &["dma_#", "limit_khz", "reference_mv", "sensor_mv", "start_ns"],
        |part, spec| Ok(Box::new(adc::v1::Adc::f1(part, spec)?)),
    ),
    Model::new("stm32l4-adc", &["dma_#", "limit_khz", "reference_mv", "sensor_mv"], |part, spec| {
        Ok(Box::new(adc::v2::Adc::l4(part, spec)?))
    }),
    Model::new("stm32-backup-sram", &[], |_, spec| Ok(Box::new(backup_sram::BackupSram::new(spec)))),
    Model::new("stm32-crc", &["layout"], |_, spec| Ok(Box::new(crc::Crc::new(spec)?))),
    Model::new("stm32-dac", &["channels", "dma_c#_#", "layout", "trigger#"], |_, spec| {
        Ok(Box::new(dac::Dac::new(spec)?))
    }),
    Model::new("stm32-dbgmcu", &["dev_id", "freeze_registers", "rev_id"], |_, spec| {
        Ok(Box::new(dbgmcu::Dbgmcu::new(spec)?))
    }),
    Model::new("stm32-dma", &["channels", "controller", "irq#", "multiplexed", "selections"], |_, spec| {
        Ok(Box::new(dma::Dma::new(spec)?))
    }),
    Model::new("stm32-dmamux", &[], |_, spec| Ok(Box::new(dma::mux::Mux::new(spec)))),
    Model::new("stm32-exti", &["layout", "syscfg_base"], |_, spec| Ok(Box::new(exti::Exti::new(spec)?))),
    Model::new(
        "stm32-flash",
        &[
            "boot_addresses",
            "erase_#k_x#_ms",
            "erase_ms",
            "layout",
            "mass_ms",
            "mass_x#_ms",
            "option_bytes",
            "page_size",
            "program_us",
        ],
        |part, spec| Ok(Box::new(flash::Flash::new(part, spec)?)),
    ),
    Model::new(
        "stm32-flash-l4",
        &["erase_us", "mass_us", "option_bytes", "page_size", "program_ns"],
        |part, spec| Ok(Box::new(flash::l4::FlashL4::new(part, spec)?)),
    ),
    Model::new("stm32-gpio", &["layout"], |_, spec| Ok(Box::new(gpio::Gpio::new(spec)))),
    Model::new("stm32-i2c", &["error_irq"], |_, spec| Ok(Box::new(i2c::v1::I2c::new(spec)?))),
    Model::new("stm32-i2c-v2", &["clock", "error_irq", "rx_dma_#", "tx_dma_#"], |_, spec| {
        Ok(Box::new(i2c::v2::I2c::new(spec)?))
    }),
    Model::new("stm32-iwdg", &["lsi_hz", "window"], |_, spec| Ok(Box::new(iwdg::Iwdg::new(spec)?))),
    Model::new("stm32-pwr-l4", &[], |_, spec| Ok(Box::new(pwr_l4::PwrL4::new(spec)))),
    Model::new("stm32-pwr", &["layout"], |_, spec| Ok(Box::new(pwr::Pwr::new(spec)))),
    Model::new("stm32-rng", &[], |_, spec| Ok(Box::new(rng::Rng::new(spec)))),
    Model::new("stm32-rtc-calendar", &["layout"], |_, spec| Ok(Box::new(rtc::calendar::Rtc::new(spec)?))),
    Model::new("stm32-rtc-counter", &[], |_, spec| Ok(Box::new(rtc::counter::Rtc::new(spec)))),
    Model::new("stm32-signature", &["flash_size"], |part, spec| {
        Ok(Box::new(signature::Signature::new(part, spec)?))
    }),
    Model::new(
        "stm32-spi",
        &["layout", "mapr_bits", "mapr_shift", PINS, "rx_dma_#", "tx_dma_#"],
        |_, spec| Ok(Box::new(spi::Spi::new(spec)?)),
    ),
    Model::new(
        "stm32-timer",
        &[
            "bits",
            "channels",
            "compare_irq",
            "dma_c#_#",
            "dma_up_#",
            "itr#",
            "mapr#_shift",
            "mapr_bits",
            "mapr_shift",
            PINS,
            "repetition",
            "trigger_irq",
        ],
        |_, spec| Ok(Box::new(timer::Timer::new(spec)?)),
    ),
    Model::new("stm32-usart", &["clock", "layout", "prescaler", "rx_dma_#", "tx_dma_#"], |_, spec| {
        Ok(Box::new(usart::Usart::new(spec)?))
    }),
    Model::new("stm32-wwdg", &[], |_, spec| Ok(Box::new(wwdg::Wwdg::new(spec)))),
];

// Where [`crate::Events::generic_clocks_hz`] has what RCC makes, after the clocks of I2C1 to I2C4.

/// The converters' clock.
const CONVERTER_CLOCK: usize = 4;
/// The first of the USARTs'.
const USART_CLOCKS: usize = 5;
