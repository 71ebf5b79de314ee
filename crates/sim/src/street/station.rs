//! What a street asks of a meter: to live through some time, to send and to hear, to lose its power.

use super::air::{Arrival, ReceivedByte, ReceiveMode};
use lab::LabError;
use meter::Status;

/// A byte on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirByte {
    /// Its first bit's beginning, in nanoseconds of the simulation.
    pub start_ns: u64,
    /// Its last bit's end.
    pub end_ns: u64,
    /// What it is.
    pub byte: u8,
}

/// A meter with a radio.
///
/// Times are nanoseconds of the simulation. What it is handed lies at or after the time that it has lived to.
pub trait Station: Send {
    /// How it hears while it has power.
    fn receive_mode(&self) -> ReceiveMode;

    /// When it next does something by itself: no later than its next byte on the air. [`u64::MAX`] for never.
    fn next_ns(&self) -> u64;

    /// Lives up to `until_ns`.
    ///
    /// # Errors
    /// What its model cannot execute, or firmware that does what it must not.
    fn advance(&mut self, until_ns: u64) -> Result<(), LabError>;

    /// Appends the bytes that it has put on the air since the last call, in their order: all that begin before the time that
    /// it has lived to. Bytes yet to come may be among them.
    fn take_on_air(&mut self, bytes: &mut Vec<AirByte>);

    /// A byte arrives: to those that hear bytes.
    fn hear_byte(&mut self, heard: ReceivedByte);

    /// A packet arrives, or begins to: to those that hear packets. Whether it listens is its own affair.
    fn hear_packet(&mut self, arrival: Arrival);

    /// What the site draws from the time that it has lived to: watts.
    fn set_load(&mut self, power_w: f64);

    /// Its power is cut at the time that it has lived to. A byte of non-volatile memory that is being written may become `torn`.
    fn cut_power(&mut self, torn: u8);

    /// Its power comes.
    ///
    /// # Errors
    /// What its model cannot execute.
    fn power_up(&mut self, now_ns: u64) -> Result<(), LabError>;

    /// Whether a byte of non-volatile memory is being written, or was begun since this was asked last.
    fn is_writing(&mut self) -> bool;

    /// What it says of itself: `struct ws_meter_status`, all 0 without power.
    ///
    /// # Errors
    /// Firmware without it.
    fn status(&self) -> Result<Status, LabError>;

    /// Bytes of its stack that were never touched since its power came; `None` where it has no such stack.
    fn stack_untouched(&self) -> Option<u32> {
        None
    }
}
