//! The collector's radio in a pair: it hears the meter's bytes, and sends packets byte by byte.

use crate::street::framing::{self, Frame};
use mcu::chips::rfm12b::AirByte;

/// How long a byte takes at JeeLib's rate: 8 bits at 10 MHz / 29 / 7 (data sheet, Data Rate Command 0xC606).
pub const BYTE_NS: u64 = 162_400;
/// From receiving to sending or back, and from idle to either: `radios/rfm12b.toml`, `rx` to `tx`.
pub const TURNAROUND_NS: u64 = 150_000;
/// The byte that keeps the transmitter on until the last byte of the checksum is out.
const TAIL: usize = 1;

/// A packet that was heard whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When its last bit was heard.
    pub end_ns: u64,
    /// Its bytes, the address first.
    pub bytes: Vec<u8>,
}

/// The radio: what it is hearing now.
#[derive(Debug, Default)]
pub struct Radio {
    group: u8,
    bytes: Vec<u8>,
    ends_ns: Vec<u64>,
    handed: bool,
}

impl Radio {
    /// A radio of a group.
    #[must_use]
    pub fn new(group: u8) -> Radio {
        Radio { group, ..Radio::default() }
    }

    /// It hears a byte; a packet comes of it where that was its last one and its CRC fits.
    pub fn hear(&mut self, byte: AirByte) -> Option<Packet> {
        if self.ends_ns.last().is_some_and(|&end_ns| byte.start_ns > end_ns + BYTE_NS / 2) {
            self.bytes.clear();
            self.ends_ns.clear();
            self.handed = false;
        }
        self.bytes.push(byte.byte);
        self.ends_ns.push(byte.end_ns);
        if self.handed {
            return None;
        }
        let frame = Frame::find(self.group, &self.bytes)?;
        let end_ns = *self.ends_ns.get(frame.end() - 1)?;
        self.handed = true;
        Some(Packet { end_ns, bytes: frame.packet(&self.bytes)? })
    }

    /// The bytes of a packet that goes out from `start_ns` on.
    #[must_use]
    pub fn send(&self, packet: &[u8], start_ns: u64) -> Vec<AirByte> {
        let mut bytes = framing::encode(self.group, packet);
        bytes.extend([0xaa; TAIL]);
        let at = |index: usize| start_ns + index as u64 * BYTE_NS;
        let air = bytes.into_iter().enumerate();
        air.map(|(index, byte)| AirByte { start_ns: at(index), end_ns: at(index + 1), byte }).collect()
    }
}
