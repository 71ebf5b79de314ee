//! The secure meter of `device/meter` on the host: the very C files that run on the
//! microcontroller, between drivers (`device/drivers/*.h`).

pub mod call;
mod drivers;
pub mod eeprom;
pub mod flash;
pub mod message;
pub mod metering;
pub mod oms;
pub mod runner;
pub mod status;
pub mod store;

pub use call::{Call, Cause, Load, Packet, Reply};
pub use runner::Meter;
pub use status::Status;
