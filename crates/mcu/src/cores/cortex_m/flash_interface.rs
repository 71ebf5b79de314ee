//! Flash interfaces of the STM32, by which its series are told apart.

use crate::Part;

/// The flash interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    /// STM32F0: prefetch buffer.
    F0,
    /// STM32F1: prefetch buffer.
    F1,
    /// STM32F4: prefetch, instruction and data lines (ART).
    F4,
    /// STM32F7: prefetch and ART on the ITCM view.
    F7,
    /// STM32L4+: as the F4's.
    L4,
}

impl Interface {
    /// The interface that a target file names.
    pub fn of(part: &Part) -> Result<Interface, String> {
        let flash = part.flash.as_ref().ok_or_else(|| format!("{}: no [flash] table", part.name))?;
        Ok(match flash.interface.as_str() {
            "stm32f0" => Interface::F0,
            "stm32f1" => Interface::F1,
            "stm32f4" => Interface::F4,
            "stm32f7" => Interface::F7,
            "stm32l4" => Interface::L4,
            other => return Err(format!("{}: no model of flash interface {other}", part.name)),
        })
    }
}
