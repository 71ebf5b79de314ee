//! The meter's calls and their replies, its packets, the causes of its starts, and its site's load.

/// Time to write a byte of EEPROM: 3.4 ms (ATmega328P data sheet DS40002061, "EEPROM Data Memory",
/// programming time from the CPU: 26,368 cycles of the calibrated oscillator; the paper says 3.4
/// ms, too).
pub const BYTE_NS: u64 = 3_400_000;

/// A packet: 1 to 61 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    bytes: [u8; 61],
    len: u8,
}

impl Packet {
    /// Of these bytes; `None` where there are none, or more than 61.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Packet> {
        let mut packet = Packet { bytes: [0; 61], len: bytes.len().try_into().ok()? };
        packet.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        (!bytes.is_empty()).then_some(packet)
    }

    /// Its bytes, address first.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Call of the meter that waits for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Sends a packet: until that is out.
    Send(Packet),
    /// Listens: until a packet has come ([`Reply::Heard`]) or this time.
    Listen {
        /// Nanoseconds.
        until_ns: u64,
    },
    /// Sleeps, or waits for EEPROM, and hears nothing: until this time.
    Sleep {
        /// Nanoseconds.
        until_ns: u64,
    },
    /// Resets itself, or its watchdog does: to be started anew, with [`Cause::Commanded`].
    Reset,
    /// Is not provisioned, and sleeps for ever.
    Stopped,
}

/// Reply to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is over; nothing was heard.
    Done,
    /// A packet came while the meter listened.
    Heard(Packet),
    /// The radio did not answer.
    Failed,
}

/// Why the meter starts: `device/drivers/reset.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// Its power came.
    PowerOn = 1,
    /// By its pin.
    External = 2,
    /// Its supply was too low.
    BrownOut = 3,
    /// It did not feed its watchdog.
    Watchdog = 4,
    /// [`Call::Reset`].
    Commanded = 5,
    /// Nobody knows.
    Unknown = 6,
}

/// Load of the site, and its signals at the sensors. The sensors' phases are equal: a calibration's
/// phase should be 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Real power, in W.
    pub power_w: f64,
    /// Voltage, RMS, in V.
    pub voltage_v: f64,
    /// Current, RMS, in A.
    pub current_a: f64,
    /// Volts a step of the converter, and amperes.
    pub volts_per_step: f64,
    /// Amperes a step.
    pub amperes_per_step: f64,
}
