//! Models of peripherals, one file each. `targets/*.toml` names them by file name, with dashes.

pub mod avr_gpio;

pub mod avr_system;
pub mod avr_watchdog;
pub mod msp430_clocks;
pub mod msp430_watchdog;

use crate::{Part, Peripheral, PeripheralSpec};

/// Builds the peripheral that `spec` asks for.
///
/// # Errors
/// A sentence that names the unknown model.
pub fn new_peripheral(part: &Part, spec: &PeripheralSpec) -> Result<Box<dyn Peripheral>, String> {
    match spec.model.as_str() {
        "avr-gpio" => return Ok(Box::new(avr_gpio::Gpio::new(spec))),
        "avr-system" => return Ok(Box::new(avr_system::System::new(spec))),
        "avr-watchdog" => return Ok(Box::new(avr_watchdog::Watchdog::new(spec))),
        "msp430-watchdog" => return Ok(Box::new(msp430_watchdog::Watchdog::new(part, spec))),
        _ => {}
    }
    Err(format!("{}: no model {} for peripheral {}", part.name, spec.model, spec.name))
}
