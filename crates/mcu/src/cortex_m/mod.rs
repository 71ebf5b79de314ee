//! ARM Cortex-M0, M3, M4 and M7: ARMv6-M, ARMv7-M and ARMv7E-M without floating point.

pub mod op;
mod operands;
pub mod state;
pub mod timing;

use crate::{Machine, Part};

/// Builds a machine of this family.
///
/// # Errors
/// The peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    let _ = (part, clock_hz);
    Err("not there".into())
}
