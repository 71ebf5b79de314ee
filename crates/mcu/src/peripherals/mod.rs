//! Models of peripherals, one file each. `targets/*.toml` names them by file name, with dashes.

use crate::{Part, Peripheral, PeripheralSpec};

/// Builds the peripheral that `spec` asks for.
///
/// # Errors
/// A sentence that names the unknown model.
pub fn new_peripheral(part: &Part, spec: &PeripheralSpec) -> Result<Box<dyn Peripheral>, String> {
    Err(format!("{}: no model {} for peripheral {}", part.name, spec.model, spec.name))
}
