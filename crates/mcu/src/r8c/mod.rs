//! The CPU of the R8C/Tiny series (the instruction set of the M16C/60): all instructions and addressing modes, both
//! register banks, both stack pointers, software interrupts, to the cycle of the manual's table ([`timing`]).
//!
//! Source: REJ09B0001, "R8C/Tiny Series Software Manual". What the manual calls undefined or does not list as selectable
//! stops with a fault: shifts by a register over more bits than it allows, byte operands in `A0` and `A1` where only
//! words can be chosen, single-step interrupts (flag D). Quotient and remainder of a division that overflows are
//! undefined, too, but O tells: the registers then stay as they are.
//!
//! No hardware interrupt is modelled: no peripheral here requests one.

mod decode;
mod execute;
mod machine;
mod memory;
mod operation;
mod program;
mod state;
pub mod timing;

pub use machine::new_machine;
