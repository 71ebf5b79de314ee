//! The bootloader on the models of its parts: images that are packed and signed by `update` arrive
//! by the UART, run on trial, report in or do not; what is not to run does not; and whatever the
//! power is cut at, a verified image runs that is no older than the last one that was confirmed.

mod cuts;
mod faults;
pub mod part;
mod refused;
pub mod rig;
mod updates;
