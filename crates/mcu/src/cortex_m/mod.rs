//! ARM Cortex-M0, M3, M4 and M7: ARMv6-M, ARMv7-M and ARMv7E-M without floating point.

mod arithmetic;
mod bus;
mod code;
mod cpu;
pub mod decode;
mod exceptions;
mod execute;
mod memory;
mod nvic;
pub mod op;
mod operands;
pub mod state;
mod system;
mod systick;
pub mod timing;

pub use cpu::Cpu;

use crate::{Machine, Part};

/// Builds a machine of this family.
///
/// # Errors
/// The peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    Ok(Box::new(Cpu::<timing::Simple>::new(part, clock_hz)?))
}
