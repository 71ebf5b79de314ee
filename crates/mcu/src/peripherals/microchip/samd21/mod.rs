//! The SAM D21 of Microchip (Atmel): DS40001882F. Masks of registers are those of its device
//! header, version 1.4.

pub mod adc;
mod dpll;
pub mod generators;
pub mod oscillators;
mod outputs;
pub mod port;
pub mod sercom;
pub mod system;
pub mod tcc;
pub mod timer;
pub mod watchdog;

/// Section 14.3: the longest synchronisation, in clocks of the module's generic clock and of its
/// bus.
const SYNCHRONISED: (u64, u64) = (6, 3);
