//! The MCS-51 core with twelve clocks to a machine cycle, as in the 8051, 80C51BH and 80C31BH: all 255 instructions, to
//! the machine cycle of the manual's table ([`timing`]).
//!
//! Source: Intel, *MCS 51 Microcontroller Family User's Manual* (order number 272383-002), chapters "MCS 51 Family of
//! Microcontrollers Architectural Overview", "MCS 51 Programmer's Guide and Instruction Set" and "8051, 8052 and 80C51
//! Hardware Description".
//!
//! The four address spaces of the architecture lie one behind the other ([`memory`]): program memory from 0, external data
//! from 0x10000, internal data from 0x20000, special function registers at 0x30080 to 0x300ff. Cycles are machine cycles.
//!
//! What the manual leaves open stops with a fault: opcode 0xA5, a division by zero, `MOV A,ACC`, indirect addresses and
//! stack pointers beyond the internal RAM. Interrupts, timers and the serial port are not modelled: what would enable or
//! start them is a fault (`peripherals::mcs51_system`).

mod execute;
mod machine;
pub mod memory;
mod state;
pub mod timing;

pub use machine::new_machine;
