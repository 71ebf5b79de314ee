//! placeholder until the family lands.

use crate::{Machine, Part};

/// Builds a machine of this family.
///
/// # Errors
/// The peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    let _ = (part, clock_hz);
    Err("not there".into())
}
