//! Models of peripherals, one file each. `targets/*.toml` names them by file name, with dashes.

pub mod avr_adc;
pub mod avr_eeprom;
pub mod avr_external;
pub mod avr_gpio;
pub mod avr_spi;
pub mod avr_system;
pub mod avr_timer;
pub mod avr_usart;
pub mod avr_watchdog;
pub mod hc08_config;
pub mod hc08_port;
pub mod mcs51_port;
pub mod mcs51_system;
pub mod mpy32;
pub mod msp430_adc12;
pub mod msp430_clocks;
pub mod msp430_flash;
pub mod msp430_pmm;
pub mod msp430_ports;
pub mod msp430_ref;
pub mod msp430_sys;
pub mod msp430_timer_a;
pub mod msp430_ucs;
pub mod msp430_usci_spi;
pub mod msp430_usci_uart;
pub mod msp430_watchdog;
pub mod r8c_ports;
pub mod r8c_system;
pub(crate) mod register;
pub mod stm32_adc;
pub mod stm32_exti;
pub mod stm32_gpio;
pub mod stm32_iwdg;
pub mod stm32_pwr;
pub mod stm32_spi;
pub mod stm32_timer;
pub mod stm32_usart;

use crate::{Part, Peripheral, PeripheralSpec};

/// The highest base: whatever registers a model has behind it, their addresses stay within 32 bits.
const HIGHEST_BASE: u32 = 0xffff_0000;

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

/// Builds the peripheral that `spec` asks for.
///
/// # Errors
/// A sentence that names the unknown model, or the setting that it cannot have.
pub fn new_peripheral(part: &Part, spec: &PeripheralSpec) -> Result<Box<dyn Peripheral>, String> {
    if spec.base > HIGHEST_BASE {
        return Err(format!("{}: {}: no registers can be at {:#x}", part.name, spec.name, spec.base));
    }
    match spec.model.as_str() {
        "avr-adc" => return Ok(Box::new(avr_adc::Adc::new(spec)?)),
        "avr-eeprom" => return Ok(Box::new(avr_eeprom::Eeprom::new(part, spec)?)),
        "avr-external" => return Ok(Box::new(avr_external::External::new(part, spec)?)),
        "avr-gpio" => return Ok(Box::new(avr_gpio::Gpio::new(spec))),
        "avr-spi" => return Ok(Box::new(avr_spi::Spi::new(part, spec)?)),
        "avr-system" => return Ok(Box::new(avr_system::System::new(spec))),
        "avr-timer8" => return Ok(Box::new(avr_timer::Timer::new(spec, avr_timer::Width::Eight))),
        "avr-timer16" => return Ok(Box::new(avr_timer::Timer::new(spec, avr_timer::Width::Sixteen))),
        "avr-usart" => return Ok(Box::new(avr_usart::Usart::new(spec)?)),
        "avr-watchdog" => return Ok(Box::new(avr_watchdog::Watchdog::new(spec))),
        "hc08-config" => return Ok(Box::new(hc08_config::Config::new(spec))),
        "hc08-port" => return Ok(Box::new(hc08_port::Port::new(spec)?)),
        "mcs51-port" => return Ok(Box::new(mcs51_port::Port::new(spec))),
        "mcs51-system" => return Ok(Box::new(mcs51_system::System::new(spec))),
        "r8c-ports" => return Ok(Box::new(r8c_ports::Ports::new(spec))),
        "r8c-system" => return Ok(Box::new(r8c_system::System::new(spec))),
        "mpy32" => return Ok(Box::new(mpy32::Mpy32::new(spec))),
        "msp430-adc12" => return Ok(Box::new(msp430_adc12::Adc12::new(part, spec)?)),
        "msp430-flash" => return Ok(Box::new(msp430_flash::Flash::new(part, spec)?)),
        "msp430-pmm" => return Ok(Box::new(msp430_pmm::Pmm::new(part, spec)?)),
        "msp430-ports" => return Ok(Box::new(msp430_ports::Ports::new(spec))),
        "msp430-sys" => return Ok(Box::new(msp430_sys::Sys::new(spec))),
        "msp430-timer-a" => return Ok(Box::new(msp430_timer_a::TimerA::new(part, spec))),
        "msp430-ucs" => return Ok(Box::new(msp430_ucs::Ucs::new(spec))),
        "msp430-usci-spi" => return Ok(Box::new(msp430_usci_spi::Spi::new(part, spec))),
        "msp430-usci-uart" => return Ok(Box::new(msp430_usci_uart::Uart::new(part, spec))),
        "msp430-watchdog" => return Ok(Box::new(msp430_watchdog::Watchdog::new(part, spec))),
        "stm32-adc" => return Ok(Box::new(stm32_adc::Adc::new(part, spec)?)),
        "stm32-exti" => return Ok(Box::new(stm32_exti::Exti::new(spec)?)),
        "stm32-gpio" => return Ok(Box::new(stm32_gpio::Gpio::new(spec))),
        "stm32-iwdg" => return Ok(Box::new(stm32_iwdg::Iwdg::new(spec))),
        "stm32-pwr" => return Ok(Box::new(stm32_pwr::Pwr::new(spec))),
        "stm32-spi" => return Ok(Box::new(stm32_spi::Spi::new(spec))),
        "stm32-timer" => return Ok(Box::new(stm32_timer::Timer::new(spec))),
        "stm32-usart" => return Ok(Box::new(stm32_usart::Usart::new(spec))),
        _ => {}
    }
    Err(format!("{}: no model {} for peripheral {}", part.name, spec.model, spec.name))
}
