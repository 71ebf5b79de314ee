//! ARM Cortex-M0, M3, M4 and M7: ARMv6-M, ARMv7-M and ARMv7E-M without floating point.

mod arithmetic;
mod bus;
mod cache;
mod code;
mod cpu;
pub mod decode;
mod dsp;
mod exceptions;
mod execute;
mod fetch;
mod flash;
mod memory;
mod nvic;
pub mod op;
mod operands;
mod rcc;
pub mod state;
mod system;
mod systick;
mod tightly;
pub mod timing;

pub use cpu::Cpu;

use crate::{Core, Machine, Part};

/// Builds a machine of this family.
///
/// # Errors
/// The peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    Ok(match part.core {
        Core::CortexM3 | Core::CortexM4 => Box::new(Cpu::<timing::m3::M3>::new(part, clock_hz)?),
        Core::CortexM7 => Box::new(Cpu::<timing::m7::M7>::new(part, clock_hz)?),
        _ => Box::new(Cpu::<timing::m0::M0>::new(part, clock_hz)?),
    })
}
