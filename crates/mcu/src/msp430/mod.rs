//! The MSP430X core (CPUX, second version) of the MSP430F5xx: all MSP430 and MSP430X instructions, interrupts and
//! sleep, to the cycle of the manual's tables ([`timing`]).
//!
//! What the manual leaves open stops with a fault: opcodes and extension words it calls reserved, `PUSHM` over PC or
//! SP, a register-indexed address on the constant generator. Flash is read at full speed: the F5xx flash keeps up
//! with MCLK up to the part's highest clock. Waking from LPM2, LPM3 and LPM4 takes the time that the data sheet gives
//! for the supervisor's setting before the interrupt's own cycles; it counts as running. A peripheral that counts a
//! clock keeps it running in every low-power mode (SLAU208, chapter UCS, section "Module Oscillator and Clock
//! Requests"), and the part draws more than in that mode: going to sleep so is a fault.

pub mod decode;
mod execute;
mod flash;
mod machine;
mod memory;
mod power;
mod program;
mod state;
pub mod timing;

pub use machine::new_machine;
