//! Models of peripherals: a folder for each vendor, a file for each block. `targets/*.toml` names
//! them as the vendors' tables do; [`stub`] stands in for those without one.

pub mod freescale;
pub mod intel;
pub mod microchip;
mod model;
pub mod nordic;
pub mod raspberrypi;
pub(crate) mod register;
pub mod renesas;
pub mod st;
pub mod stub;
pub mod ti;
pub mod wch;

use crate::{Part, Peripheral, PeripheralSpec};
use model::{Model, PINS};

/// The highest base: whatever registers a model has behind it, their addresses stay within 32 bits.
const HIGHEST_BASE: u32 = 0xffff_0000;

/// The models of all vendors.
const MODELS: [&[Model]; 9] = [
    freescale::MODELS,
    intel::MODELS,
    microchip::MODELS,
    nordic::MODELS,
    raspberrypi::MODELS,
    renesas::MODELS,
    st::MODELS,
    ti::MODELS,
    wch::MODELS,
];

/// Builds the peripheral that `spec` asks for, or its stub.
///
/// # Errors
/// A sentence that names the unknown model, or the setting that it cannot have.
pub fn new_peripheral(part: &Part, spec: &PeripheralSpec) -> Result<Box<dyn Peripheral>, String> {
    if spec.base > HIGHEST_BASE {
        return Err(format!("{}: {}: no registers can be at {:#x}", part.name, spec.name, spec.base));
    }
    let Some(model) = MODELS.iter().copied().flatten().find(|model| model.name == spec.model) else {
        return Err(format!("{}: no model {} for peripheral {}", part.name, spec.model, spec.name));
    };
    for name in spec.settings.keys() {
        if !model.settings.contains(&pattern(name).as_str()) {
            let known =
                if model.settings.is_empty() { "none".to_string() } else { model.settings.join(", ") };
            let Part { name: part, .. } = part;
            return Err(format!(
                "{part}: {}: {} has no setting {name}; it has {known}",
                spec.name, spec.model
            ));
        }
    }
    if !spec.pins.is_empty() && !model.settings.contains(&PINS) {
        return Err(format!("{}: {}: {} has no pins", part.name, spec.name, spec.model));
    }
    let device = (model.new)(part, spec)?;
    Ok(if spec.stub { Box::new(stub::Stub::new(&spec.name, device.spec().ranges)) } else { device })
}

/// The name of a setting with `#` for each number in it.
fn pattern(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '0'..='9' if pattern.ends_with('#') => {}
            '0'..='9' => pattern.push('#'),
            _ => pattern.push(letter),
        }
    }
    pattern
}
