//! Peripherals of Raspberry Pi's microcontrollers.

pub mod rp2040;

use super::model::Model;

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("rp2040-adc", &[], |part, spec| Ok(Box::new(rp2040::adc::Adc::new(part, spec)?))),
    Model::new("rp2040-dma", &[], |_, spec| Ok(Box::new(rp2040::dma::Dma::new(spec)?))),
    Model::new("rp2040-i2c", &["dreq", "reset"], |part, spec| {
        Ok(Box::new(rp2040::i2c::I2c::new(part, spec)?))
    }),
    Model::new("rp2040-pins", &["io_bank#", "io_qspi", "pads_bank#", "pads_qspi"], |part, spec| {
        Ok(Box::new(rp2040::pins::Pins::new(part, spec)?))
    }),
    Model::new("rp2040-pio", &["number"], |part, spec| Ok(Box::new(rp2040::pio::Pio::new(part, spec)?))),
    Model::new("rp2040-pwm", &[], |_, spec| Ok(Box::new(rp2040::pwm::Pwm::new(spec)?))),
    Model::new("rp2040-spi", &["dreq", "reset"], |part, spec| {
        Ok(Box::new(rp2040::spi::Spi::new(part, spec)?))
    }),
    Model::new(
        "rp2040-system",
        &[
            "busctrl", "pll_sys", "pll_usb", "psm", "resets", "rosc", "syscfg", "sysinfo", "tbman", "vreg",
            "watchdog", "xosc",
        ],
        |part, spec| Ok(Box::new(rp2040::system::System::new(part, spec)?)),
    ),
    Model::new("rp2040-timer", &[], |_, spec| Ok(Box::new(rp2040::timer::Timer::new(spec)?))),
    Model::new("rp2040-uart", &["dreq", "reset"], |part, spec| {
        Ok(Box::new(rp2040::uart::Uart::new(part, spec)?))
    }),
    Model::new("rp2040-usb", &["dpram"], |part, spec| Ok(Box::new(rp2040::usb::Usb::new(part, spec)?))),
    Model::new("rp2040-xip", &["ssi"], |part, spec| Ok(Box::new(rp2040::xip::Xip::new(part, spec)?))),
];
