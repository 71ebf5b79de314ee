//! What a street asks of a meter: to live through some time, to send and to hear, to lose its power.

use super::air::Hearing;
use lab::LabError;

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

/// What a meter counts, since its power came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reports made: measurements and alerts.
    pub made: u32,
    /// Reports whose journal append was finished.
    pub appended: u32,
    /// n of the last of them.
    pub appended_n: u32,
    /// Reports that an acknowledgement came for.
    pub acknowledged: u32,
    /// n of the last of them.
    pub acknowledged_n: u32,
    /// Transmissions of a report beyond its first.
    pub resent: u32,
    /// Packets that came and were refused.
    pub refused: u32,
    /// Commands carried out.
    pub commands: u32,
    /// Reports lost for want of room in the journal.
    pub lost: u32,
    /// Bytes of stack never touched; none where the station has no such stack.
    pub stack_untouched: Option<u16>,
}

/// A meter with a radio.
///
/// Times are nanoseconds of the simulation. What it is handed lies at or after the time that it has lived to.
pub trait Station: Send {
    /// How it hears while it has power.
    fn hearing(&self) -> Hearing;

    /// When it next does something by itself: no later than its next byte on the air. [`u64::MAX`] for never.
    fn next_ns(&self) -> u64;

    /// Lives up to `until_ns`.
    ///
    /// # Errors
    /// What its model cannot execute, or firmware that does what it must not.
    fn advance(&mut self, until_ns: u64) -> Result<(), LabError>;

    /// Appends the bytes that it has put on the air since the last call, in their order. All that begin before the time
    /// that it has lived to are among them one byte's time later at the latest; bytes yet to come may be.
    fn take_on_air(&mut self, bytes: &mut Vec<AirByte>);

    /// A byte arrives; not readable where another one or noise came with it.
    fn hear_byte(&mut self, byte: AirByte, readable: bool);

    /// A packet for it begins to arrive, its end at `end_ns` at the latest.
    fn announce(&mut self, start_ns: u64, end_ns: u64);

    /// A packet for it has arrived, without an error that its CRC shows. Whether it listened is its own affair.
    fn hear_packet(&mut self, start_ns: u64, end_ns: u64, packet: &[u8]);

    /// What the household draws from the time that it has lived to: watts.
    fn set_load(&mut self, power_w: f64);

    /// Its power is cut at the time that it has lived to. A byte of non-volatile memory that is being written becomes
    /// `torn`.
    fn cut_power(&mut self, torn: u8);

    /// Its power comes.
    ///
    /// # Errors
    /// What its model cannot execute.
    fn power_up(&mut self, now_ns: u64) -> Result<(), LabError>;

    /// Bytes of non-volatile memory whose writing has begun so far.
    fn nonvolatile_writes(&self) -> u64;

    /// What it counts.
    ///
    /// # Errors
    /// Firmware without these counters.
    fn counts(&self) -> Result<Counts, LabError>;
}
