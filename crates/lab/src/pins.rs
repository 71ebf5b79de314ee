//! Pins of a part, as people name them: `P3.0`, `PORTB.2`, `GPIOA.4`, or `PB2` and `PA4`.

use crate::names;
use crate::target::Target;
use mcu::{Part, Pin};

/// Finds a pin of the target's part by its name.
///
/// # Errors
/// A sentence with the part's ports, or with the pins of the port.
pub(crate) fn find(text: &str, target: &Target) -> Result<Pin, String> {
    let ports = ports(&target.part);
    let pin = parse_pin(short_pin(text, &ports).as_deref().unwrap_or(text))
        .map_err(|_| "write it as PORT.BIT, such as PORTB.5 or GPIOD.12, or as PB5")?;
    let part = target.name();
    let Some((port, bits)) = ports.iter().find(|(port, _)| *port == pin.port) else {
        let suggestion = names::suggestion(&pin.port, ports.iter().map(|(name, _)| name.as_str()));
        return Err(format!("there is no port '{}' on the {part}{suggestion}", pin.port));
    };
    let pins: Vec<String> = (0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    if pin.bit >= 32 || bits >> pin.bit & 1 == 0 {
        return Err(format!("{port} of {part} has the pins {}", pins.join(", ")));
    }
    Ok(pin)
}

/// `P3.0`, `PORTB.2`, `GPIOA.4`: the port's name in the target file, and the bit.
pub(crate) fn parse_pin(text: &str) -> Result<Pin, String> {
    text.split_once('.')
        .filter(|(port, _)| !port.is_empty())
        .and_then(|(port, bit)| Some(Pin::new(port, bit.parse().ok()?)))
        .ok_or_else(|| format!("'{text}' is no pin; write the port and the bit, such as P3.0 or PORTB.2"))
}

/// `PB5` as `PORTB.5` or `GPIOB.5`, where the part has that port.
fn short_pin(pin: &str, ports: &[(String, u32)]) -> Option<String> {
    let rest = pin.strip_prefix('P')?;
    let letter = rest.get(..1).filter(|letter| letter.bytes().all(|byte| byte.is_ascii_uppercase()))?;
    let bit: u8 = rest[1..].parse().ok()?;
    let is_meant = |name: &str| ["PORT", "GPIO"].iter().any(|kind| name.strip_prefix(kind) == Some(letter));
    let (port, _) = ports.iter().find(|(name, _)| is_meant(name))?;
    Some(format!("{port}.{bit}"))
}

/// The ports of a part, and which of their pins there are.
pub(crate) fn ports(part: &Part) -> Vec<(String, u32)> {
    let ports = part.peripherals.iter().flat_map(|spec| {
        let setting = |name: &str| spec.settings.get(name).copied();
        match spec.model.as_str() {
            "avr-gpio" => vec![(spec.name.clone(), setting("pins").unwrap_or(0xff) as u32)],
            "stm32-gpio" => vec![(spec.name.clone(), 0xffff)],
            "msp430-ports" => {
                let first = setting("first").unwrap_or(1);
                vec![(format!("P{first}"), 0xff), (format!("P{}", first + 1), 0xff)]
            }
            "nrf-gpio" => {
                let pins = setting("pins").unwrap_or(32).clamp(1, 32);
                vec![(spec.name.clone(), u32::MAX >> (32 - pins))]
            }
            "r8c-ports" => ["P0", "P1", "P2", "P3", "P4", "P6"].map(|port| (port.to_owned(), 0xff)).to_vec(),
            "rp2040-pins" => vec![(spec.name.clone(), u32::MAX >> 2)],
            "samd21-port" => vec![(spec.name.clone(), u32::MAX)],
            "hc08-port" | "mcs51-port" => vec![(spec.name.clone(), 0xff)],
            _ => Vec::new(),
        }
    });
    ports.collect()
}

/// Number of the inputs of a part's converters that are pins, counted from channel 0; 0 for a part
/// whose converter has no model.
pub(crate) fn analog_inputs(part: &Part) -> u8 {
    let of = |model: &str| match model {
        "rp2040-adc" => 4,
        "avr-adc" | "nrf-saadc" => 8,
        "msp430-adc12" | "stm32-adc" | "stm32f1-adc" | "stm32f0-adc" => 16,
        "stm32l4-adc" => 17,
        "msp430-adc12-b" | "samd21-adc" => 20,
        _ => 0,
    };
    part.peripherals.iter().map(|spec| of(&spec.model)).max().unwrap_or(0)
}
