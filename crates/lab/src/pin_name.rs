//! Pins by the names that people write.

use crate::target::Target;
use crate::{LabError, board, names};
use mcu::Pin;

/// `PB5` as `PORTB.5` or `GPIOB.5`, where the part has that port.
fn short_pin(pin: &str, ports: &[(String, u32)]) -> Option<String> {
    let rest = pin.strip_prefix('P')?;
    let letter = rest.get(..1).filter(|letter| letter.bytes().all(|byte| byte.is_ascii_uppercase()))?;
    let bit: u8 = rest[1..].parse().ok()?;
    let is_meant = |name: &str| ["PORT", "GPIO"].iter().any(|kind| name.strip_prefix(kind) == Some(letter));
    let (port, _) = ports.iter().find(|(name, _)| is_meant(name))?;
    Some(format!("{port}.{bit}"))
}

/// The pin of this name, such as `PORTB.5` or `PB5`; errors begin with `option`, which gave it.
///
/// # Errors
/// [`LabError::Usage`] and [`LabError::UnknownName`] where the part has none of that name.
pub(crate) fn pin_named(option: &str, pin: &str, target: &Target) -> Result<Pin, LabError> {
    let wrong = || {
        LabError::Usage(format!(
            "{option} {pin}: write it as PORT.BIT, such as PORTB.5 or GPIOD.12, or as PB5"
        ))
    };
    let ports = board::ports(&target.part);
    let written_out = short_pin(pin, &ports);
    let (port, bit) = written_out.as_deref().unwrap_or(pin).split_once('.').ok_or_else(wrong)?;
    let bit: u8 = bit.parse().map_err(|_| wrong())?;
    let Some((_, bits)) = ports.iter().find(|(name, _)| name == port) else {
        let suggestion = names::suggestion(port, ports.iter().map(|(name, _)| name.as_str()));
        return Err(LabError::UnknownName { what: "port", name: port.into(), suggestion });
    };
    if bit >= 32 || bits >> bit & 1 == 0 {
        let pins: Vec<String> =
            (0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
        let said = format!("{option} {pin}: {port} of {} has the pins {}", target.name(), pins.join(", "));
        return Err(LabError::Usage(said));
    }
    Ok(Pin { port: port.into(), bit })
}
