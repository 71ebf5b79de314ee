//! Floating-point extensions of ARMv7-M: encodings, registers and arithmetic.
//!
//! They are FPv4-SP of the Cortex-M4, and FPv5 with double precision of the Cortex-M7 (DDI 0403E,
//! A2.5, A6.4 to A6.7, A7 and B1.5.7).

pub(super) mod arithmetic;
pub(super) mod conversions;
pub mod decode;
pub(super) mod formats;
pub mod operands;
pub mod registers;
