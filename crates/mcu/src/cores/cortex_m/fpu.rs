//! Floating-point extensions of ARMv7-M.
//!
//! They are FPv4-SP of the Cortex-M4, and FPv5 with double precision of the Cortex-M7 (DDI 0403E,
//! A2.5, A6.4 to A6.7, A7 and B1.5.7).
//!
//! The integer core knows one instruction of it, [`super::op::Opcode::Float`]; all else is here.

mod arithmetic;
mod conversions;
pub mod decode;
mod execute;
mod formats;
pub mod operands;
pub mod registers;
pub(super) mod stacking;
