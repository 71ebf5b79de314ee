//! A program that ends by a function, whose first argument is its exit code.

use crate::LabError;
use firmware::Firmware;
use mcu::{CoreName, Mcu};

/// Name of the function by which programs end.
const EXIT: &str = "_exit";
/// Value for programs where `_exit` ends only a task (NuttX).
const NO_EXIT: &str = "none";

/// Returns the address of the function by which the program ends: this one, or `_exit` if it
/// exists; none with `none`.
///
/// # Errors
/// The function does not exist, or its argument's place is not known.
pub(crate) fn address(asked: Option<&str>, firmware: &Firmware) -> Result<Option<u32>, LabError> {
    let Some(name) = asked else {
        let known = firmware.symbols().get(EXIT).filter(|_| argument(firmware.core()).is_some());
        return Ok(known.map(|symbol| symbol.address));
    };
    if name == NO_EXIT && firmware.symbols().get(NO_EXIT).is_none() {
        return Ok(None);
    }
    if argument(firmware.core()).is_none() {
        return Err(LabError::Usage(
            "--exit: how functions of this core take their argument is not known; end by semihosting or by a loop".into(),
        ));
    }
    Ok(Some(firmware.symbol(name)?.address))
}

/// The registers of a function's first argument, an `int`, the low one first: avr-gcc, SLAA534
/// (MSP430), AAPCS, the RISC-V calling convention.
fn argument(core: CoreName) -> Option<&'static [&'static str]> {
    match core {
        CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => Some(&["r24", "r25"]),
        CoreName::CortexM0
        | CoreName::CortexM0Plus
        | CoreName::CortexM3
        | CoreName::CortexM4
        | CoreName::CortexM7 => Some(&["r0"]),
        CoreName::Msp430x => Some(&["r12"]),
        CoreName::QingkeV2 => Some(&["a0"]),
        CoreName::R8c | CoreName::Mcs51 | CoreName::Hc08 => None,
    }
}

/// The first argument of the function that comes next.
pub(crate) fn code(machine: &dyn Mcu, core: CoreName) -> u32 {
    let registers = machine.registers();
    let value = |name: &str| registers.iter().find(|(known, _)| known == name).map_or(0, |row| row.1);
    let names = argument(core).unwrap_or_default();
    names.iter().rev().fold(0, |code, name| code << 8 | value(name))
}
