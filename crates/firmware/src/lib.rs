//! Firmware: built by the compilers of its target and kept by content, and read back with its
//! names.
//!
//! - [`toolchain`]: how it is built, as a target file says; [`mod@build`]: compilers, and the cache
//!   of what they built
//! - [`elf`], [`sdld`]: linked programs: bytes, symbols, source lines; [`symbols`]: what both kinds
//!   of file have; [`map`]: names beside a file without any
//! - [`kit`]: what a function of a user's own is linked with; [`c_types`]: its types;
//!   [`objects`]: its symbols before it is linked
//! - `embedded_tests`: tests that a program of Rust has in itself
//! - `prototype`: what a function takes and gives; `source_lines`, `disassembly`: which lines a
//!   function's code is from, and its instructions as text
//! - `names`: names without their mangling, found by a part; [`suggestion`]: the nearest name where
//!   there is none

pub mod build;
pub mod c_types;
mod disassembly;
pub mod elf;
mod embedded_tests;
mod error;
pub mod kit;
pub mod map;
mod names;
pub mod objects;
mod prototype;
pub mod sdld;
mod source_lines;
mod suggestion;
pub mod symbols;
pub mod toolchain;

pub use build::{
    Build, EMPTY, Slot, Source, build, build_app, build_for_slot, build_meter, build_meter_for_slot,
    compiler_version, content, version_of,
};
pub use disassembly::Disassembled;
pub use elf::{Firmware, Loading};
pub use embedded_tests::{EmbeddedTest, embedded_tests};
pub use error::FirmwareError;
pub use prototype::{CType, Prototype};
pub use source_lines::SourceLine;
pub use suggestion::suggestion;
pub use toolchain::Toolchain;
