//! The nRF52840 of Nordic Semiconductor. "PS" is its Product Specification, v1.1 where a section is
//! named by its title; register addresses, bits and reset values are also those of Nordic's SVD.

mod block;
pub mod clock;
mod core_clock;
mod counter;
pub mod ecb;
pub mod ficr;
pub mod gpio;
pub mod gpiote;
pub mod mwu;
pub mod nvmc;
pub mod ppi;
pub mod rng;
pub mod rtc;
pub mod saadc;
pub mod temp;
pub mod timer;
pub mod uart;
pub mod wdt;

use super::model::Model;

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("nrf-clock", &[], |_, spec| Ok(Box::new(clock::Clock::new(spec)))),
    Model::new("nrf-ecb", &[], |_, spec| Ok(Box::new(ecb::Ecb::new(spec)))),
    Model::new("nrf-ficr", &[], |_, spec| Ok(Box::new(ficr::Ficr::new(spec)))),
    Model::new("nrf-gpio", &["gpiote_irq", "pins"], |_, spec| Ok(Box::new(gpio::Gpio::new(spec)))),
    Model::new("nrf-gpiote", &[], |_, spec| Ok(Box::new(gpiote::Gpiote::new(spec)?))),
    Model::new("nrf-mwu", &[], |_, spec| Ok(Box::new(mwu::Mwu::new(spec)))),
    Model::new("nrf-nvmc", &[], |part, spec| Ok(Box::new(nvmc::Nvmc::new(part, spec)?))),
    Model::new("nrf-ppi", &[], |part, spec| Ok(Box::new(ppi::Ppi::new(part, spec)))),
    Model::new("nrf-rng", &[], |_, spec| Ok(Box::new(rng::Rng::new(spec)))),
    Model::new("nrf-rtc", &["channels"], |_, spec| Ok(Box::new(rtc::Rtc::new(spec)))),
    Model::new("nrf-saadc", &[], |_, spec| Ok(Box::new(saadc::Saadc::new(spec)))),
    Model::new("nrf-temp", &[], |_, spec| Ok(Box::new(temp::Temp::new(spec)))),
    Model::new("nrf-timer", &["channels"], |_, spec| Ok(Box::new(timer::Timer::new(spec)))),
    Model::new("nrf-uart", &["uarte_only"], |_, spec| Ok(Box::new(uart::Uart::new(spec)))),
    Model::new("nrf-wdt", &[], |_, spec| Ok(Box::new(wdt::Wdt::new(spec)))),
];
