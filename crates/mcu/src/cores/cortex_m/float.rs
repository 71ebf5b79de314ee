//! Floating-point instructions and the floating-point state at exceptions, on the unit of [`fpu`].
//!
//! The integer core knows one instruction, [`super::op::Opcode::Float`]; all others are here.
//!
//! [`fpu`]: super::fpu

mod execute;
pub(super) mod stacking;
