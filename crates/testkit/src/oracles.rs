//! Independent simulators, driven for the tests of `mcu`: a model is right when another one,
//! written by others from the same manuals, ends every instruction in the same state.
//!
//! The simulators are Debian packages.

pub mod gdb_sim;
pub mod mspdebug;
pub mod simavr;
pub mod ucsim;
pub mod unicorn;
