//! The CPU08, the processor of the Motorola (Freescale) MC68HC08 and MC68HC908: all its instructions and addressing
//! modes, to the bus cycle of the manual's opcode map ([`timing`]).
//!
//! Sources: *M68HC08 Central Processor Unit Reference Manual* (CPU08RM); the same instruction set summary and opcode
//! map stand in the chapter "Central Processor Unit" of each part's data sheet and in the *M68HC08 Family Reference
//! Guide* (M68HC08RG).
//!
//! One cycle is one bus cycle. No instruction's length depends on its data, and the flash of these parts keeps up with
//! the bus, so that the map is the whole truth about time. What the manual leaves open stops with a fault: opcodes that
//! it does not have, a division whose quotient does not fit, a decimal adjustment of what is no sum of decimal digits.
//! No source of interrupts is modelled: of what `CLI` lets in, nothing ever comes; the IRQ pin is high, unasserted.
//! `WAIT` and `STOP` therefore end the program.

mod decode;
mod execute;
mod machine;
mod memory;
mod program;
mod state;
pub mod timing;

pub use machine::new_machine;
