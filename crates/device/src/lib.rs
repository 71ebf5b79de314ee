//! The C of `device/` on the host: the very files that run on the microcontrollers.
//!
//! - [`crypto`]: safe calls into the primitives
//! - [`node`]: the harvested node; [`meter`]: the secure meter; each between drivers that can fail

pub mod crypto;
pub mod meter;
pub mod node;
