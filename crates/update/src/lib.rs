//! Firmware that is updated: images are packed and signed ([`image`], [`key`]), and sent to the
//! bootloader of `device/boot` ([`loader`], over [`serial`]). It knows no processor, no compiler
//! and no model. `docs/how-to/firmware-update.md` says every byte.

mod error;
pub mod image;
pub mod key;
pub mod loader;
pub mod serial;

pub use error::UpdateError;
