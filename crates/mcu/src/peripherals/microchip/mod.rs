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

use super::model::{Model, PINS};
use crate::{Part, PeripheralSpec};

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new(
        "avr-adc",
        &[
            "adcsrb",
            "admux",
            "bandgap",
            "didr#",
            "differential",
            "ground",
            "inputs",
            "mux",
            "mux#",
            "prr",
            "reference#_mv",
            "refs#",
            "temperature",
            "temperature_uv",
            "temperature_reference_mv",
            "trigger#",
        ],
        |_, spec| Ok(Box::new(adc::Adc::new(spec)?)),
    ),
    Model::new("avr-comparator", &["ain#", "port"], |part, spec| {
        Ok(Box::new(comparator::Comparator::new(part, spec)?))
    }),
    Model::new("avr-eeprom", &["split_us", "write_us"], |part, spec| {
        Ok(Box::new(eeprom::Eeprom::new(part, spec)?))
    }),
    Model::new(
        "avr-external",
        &["asynchronous", "change_irq", "int#", "int#_port", "pcicr", "port#", "port#_first"],
        |part, spec| Ok(Box::new(external_interrupts::External::new(part, spec)?)),
    ),
    Model::new("avr-general-interrupts", &["int#", "mcucr", "pcmsk", "port"], |part, spec| {
        Ok(Box::new(general_interrupts::GeneralInterrupts::new(part, spec)?))
    }),
    Model::new("avr-gpio", &["pins", "stray_ddr", "stray_port", "toggle"], |_, spec| {
        Ok(Box::new(gpio::Gpio::new(spec)))
    }),
    Model::new("avr-self-programming", &["page", "signature_row", "write_us"], |part, spec| {
        Ok(Box::new(self_programming::SelfProgramming::new(part, spec)?))
    }),
    Model::new("avr-spi", &["mosi", "port", "prr", "sck", "ss"], |part, spec| {
        Ok(Box::new(spi::Spi::new(part, spec)?))
    }),
    Model::new(
        "avr-system",
        &[
            "acsr_register",
            "clkpr_register",
            "didr#_register",
            "gpior#_register",
            "mcucr_#_register",
            "mcucr_register",
            "mcusr_register",
            "osccal_register",
            "prr#_register",
            "prr_register",
            "reset_sp",
            "sleep_adc",
            "sleep_enable",
            "sleep_extended_standby",
            "sleep_mode",
            "sleep_power_down",
            "sleep_power_save",
            "sleep_register",
            "sleep_standby",
            "smcr_register",
        ],
        |part, spec| Ok(Box::new(system::System::new(part, spec))),
    ),
    Model::new(
        "avr-timer8",
        &[
            "oca", "oca_port", "ocb", "ocb_port", "ocfa", "ocfb", "ocra", "ocrb", "overflow", "prr", "t",
            "t_port", "tccrb", "tcnt", "tifr", "timer#", "timsk", "tov",
        ],
        |part, spec| Ok(Box::new(timer::Timer::new(part, spec, timer::Width::Eight)?)),
    ),
    Model::new(
        "avr-timer16",
        &[
            "channels",
            "comparator",
            "icp",
            "icp_port",
            "oca",
            "oca_port",
            "ocb",
            "ocb_port",
            "occ",
            "occ_port",
            "overflow",
            "prr",
            "t",
            "t_port",
            "tifr",
            "timsk",
        ],
        |part, spec| Ok(Box::new(timer::Timer::new(part, spec, timer::Width::Sixteen)?)),
    ),
    Model::new("avr-timer4", &["prr", "tifr", "timsk"], |_, spec| Ok(Box::new(timer4::Timer4::new(spec)?))),
    Model::new(
        "avr-tiny-timer1",
        &["compare_a", "compare_b", "noca", "nocb", "oca", "ocb", "overflow", "port", "prr", "tifr", "timsk"],
        |part, spec| Ok(Box::new(timer::tiny::TinyTimer::new(part, spec)?)),
    ),
    Model::new("avr-twi", &["mask", "prr"], |part, spec| Ok(Box::new(twi::Twi::new(part, spec)?))),
    Model::new("avr-usart", &["a", "b", "c", "d", "prr", "ubrrh", "ubrrl"], |_, spec| {
        Ok(Box::new(usart::Usart::new(spec)?))
    }),
    Model::new("avr-usb", &["lock_us", "pllcsr", "pllfrq", "prr"], |_, spec| {
        Ok(Box::new(usb::Usb::new(spec)?))
    }),
    Model::new("avr-watchdog", &["mcusr"], |_, spec| Ok(Box::new(watchdog::Watchdog::new(spec)))),
    Model::new("samd21-adc", &["clock"], |part, spec| Ok(Box::new(samd21::adc::Adc::new(part, spec)?))),
    Model::new("samd21-port", &["io_port"], |part, spec| Ok(Box::new(samd21::port::Port::new(part, spec)?))),
    Model::new("samd21-sercom", &["clock"], |part, spec| {
        Ok(Box::new(samd21::sercom::Sercom::new(part, spec)?))
    }),
    Model::new("samd21-system", &["gclk", "nvmctrl", "sysctrl"], |part, spec| {
        Ok(Box::new(samd21::system::System::new(part, spec)?))
    }),
    Model::new("samd21-tcc", &["bits", "channels", "clock", PINS], |part, spec| {
        Ok(Box::new(samd21::tcc::Tcc::new(part, spec)?))
    }),
    Model::new("samd21-timer", &["clock", "paired"], |part, spec| {
        Ok(Box::new(samd21::timer::Timer::new(part, spec)?))
    }),
    Model::new("samd21-watchdog", &["clock"], |part, spec| {
        Ok(Box::new(samd21::watchdog::Watchdog::new(part, spec)?))
    }),
];

/// The name of the AVR port whose PINx is at the address that the setting `port` gives.
fn avr_port(part: &Part, spec: &PeripheralSpec, setting: &str) -> Result<String, String> {
    let base = spec.settings.get(setting).copied();
    let port = part
        .peripherals
        .iter()
        .find(|port| port.model == "avr-gpio" && base == Some(port.base.into()))
        .ok_or_else(|| format!("{}: {} needs {setting}, the PINx of a port", part.name, spec.name))?;
    Ok(port.name.clone())
}
