//! The host's side of what the firmware sends, hears, is configured with and reports. Bytes alone: it knows no
//! cryptography, no radio and no machine.

pub mod node;
