//! Enables of peripherals' clocks and resets of peripherals, as a part's clock control has them.

/// A register of the clock control with a bit for each of several peripherals.
#[derive(Clone, Copy, Debug)]
pub struct ControlRegister {
    /// Its name in the manual: `RCC_APB2ENR`.
    pub name: &'static str,
    /// Its offset from the clock control's base.
    pub offset: u32,
    /// The end of its bits' names: `EN` of `USART1EN`.
    pub suffix: &'static str,
}

impl ControlRegister {
    /// The register of this name at this offset.
    #[must_use]
    pub const fn new(name: &'static str, offset: u32, suffix: &'static str) -> ControlRegister {
        ControlRegister { name, offset, suffix }
    }

    /// The bit of a field in words: `USART1EN, bit 14 of RCC_APB2ENR`.
    pub(crate) fn describe(&self, field: &str, bit: u8) -> String {
        format!("{field}{}, bit {bit} of {}", self.suffix, self.name)
    }
}

/// Bits at the same places of two or three registers of a clock control.
#[derive(Clone, Copy, Debug)]
pub struct GateRegister {
    /// A set bit lets the peripheral have its clock.
    pub enable: ControlRegister,
    /// A set bit holds the peripheral in reset.
    pub reset: Option<ControlRegister>,
    /// A clear bit takes the clock away while the core sleeps.
    pub in_sleep: Option<ControlRegister>,
    /// The enables are for the registers alone: a peripheral with another clock goes on (SAM D21).
    pub is_bus_only: bool,
    /// Bits, and the beginnings of their names, which mostly are the peripherals' in the target
    /// file. `ADC1/ADC` is ADC1EN, and ADCRST.
    pub fields: &'static [(u8, &'static str)],
}

/// Returns true if a field of this name is for the peripheral or block `name`: IOPA is GPIOA, PORT
/// is for all ports, and ADC for the only converter.
pub(crate) fn is_for(field: &str, name: &str) -> bool {
    let field = field.split('/').next().unwrap_or(field);
    match field.strip_prefix("IOP") {
        Some(port) => name.strip_prefix("GPIO") == Some(port),
        None if field == "PORT" => name.strip_prefix(field).is_some_and(|port| port.len() == 1),
        None => field == name || field == "ADC" && name == "ADC1",
    }
}
