//! The MSP430X core (CPUX, second version) of the MSP430F5xx: all MSP430 and MSP430X instructions, interrupts and
//! sleep, to the cycle of the manual's tables ([`timing`]).
//!
//! What the manual leaves open stops with a fault: opcodes and extension words it calls reserved, `PUSHM` over PC or
//! SP, a register-indexed address on the constant generator. Flash is read at full speed: the F5xx flash keeps up
//! with MCLK up to the part's highest clock. Waking from sleep takes no time beyond the interrupt's own cycles, which
//! holds for LPM0; clocks requested by peripherals run on in every low-power mode (SLAU208, chapter UCS, section
//! "Module Oscillator and Clock Requests").

pub mod decode;
mod execute;
mod machine;
mod memory;
mod power;
mod program;
mod state;
pub mod timing;

pub use machine::new_machine;
