//! The secure meter of `device/meter` on the host: the very C files that run on the microcontroller, between drivers of this
//! crate (`device/drivers/*.h`).

pub mod eeprom;
pub mod store;

// The primitives that the meter seals with are linked with this crate.
use primitives as _;
