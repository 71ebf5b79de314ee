//! Serial interfaces of a part that chips on its board, or masters outside, can be wired to.

use crate::names;
use mcu::Part;

/// Models of SPI masters.
const SPI: [&str; 4] = ["avr-spi", "msp430-usci-b", "msp430-eusci-b", "stm32-spi"];

/// Models of I2C masters.
const I2C: [&str; 5] = ["avr-twi", "msp430-usci-b", "msp430-eusci-b", "stm32-i2c", "stm32-i2c-v2"];

/// Models of slaves.
const SPI_SLAVES: [&str; 1] = ["stm32-spi"];
const I2C_SLAVES: [&str; 2] = ["stm32-i2c", "stm32-i2c-v2"];

/// Checks that a part has an SPI of this name that can be a slave.
///
/// # Errors
/// A sentence with the nearest name.
pub(crate) fn check_spi_slave(part: &Part, name: &str) -> Result<(), String> {
    check(part, name, "SPI slave", &SPI_SLAVES)
}

/// Checks that a part has an I2C interface of this name that can be a slave.
///
/// # Errors
/// A sentence with those that there are.
pub(crate) fn check_i2c_slave(part: &Part, name: &str) -> Result<(), String> {
    check(part, name, "I2C slave", &I2C_SLAVES)
}

/// Checks that a part has an SPI master of this name.
///
/// # Errors
/// A sentence with the nearest name.
pub(crate) fn check_spi(part: &Part, name: &str) -> Result<(), String> {
    check(part, name, "serial interface", &SPI)
}

/// Checks that a part has an I2C master of this name.
///
/// # Errors
/// A sentence with those that there are.
pub(crate) fn check_i2c(part: &Part, name: &str) -> Result<(), String> {
    check(part, name, "I2C interface", &I2C)
}

fn check(part: &Part, name: &str, kind: &str, models: &[&str]) -> Result<(), String> {
    let interfaces = part.peripherals.iter().filter(|spec| models.contains(&spec.model.as_str()));
    let known: Vec<&str> = interfaces.map(|spec| spec.name.as_str()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let suggestion = names::suggestion(name, known.iter().copied());
    let all = if known.is_empty() { String::new() } else { format!("; there are {}", known.join(", ")) };
    let rest = if suggestion.is_empty() { all } else { suggestion };
    Err(format!("{} has no {kind} '{name}' with a model{rest}", part.name))
}
