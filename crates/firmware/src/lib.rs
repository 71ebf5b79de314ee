//! Firmware: built by the compilers of its target and kept by content, and read back with its names.
//!
//! - [`toolchain`]: how it is built, as a target file says; [`mod@build`]: compilers, and the cache of what they built
//! - [`elf`], [`sdld`]: linked programs: bytes, symbols, source lines; [`symbols`]: what both kinds of file have
//! - [`suggestion`]: the nearest name where there is none

pub mod build;
pub mod elf;
mod error;
pub mod sdld;
mod suggestion;
pub mod symbols;
pub mod toolchain;

pub use build::{Build, EMPTY, Source, build, build_app, content};
pub use elf::Firmware;
pub use error::FirmwareError;
pub use suggestion::suggestion;
pub use toolchain::Toolchain;
