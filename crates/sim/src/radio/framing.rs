//! Framing of a packet on the air. A packet is 1 to [`LONGEST`] bytes and begins with the
//! receiver's radio address.

use crc::{CRC_16_MODBUS, Crc};

const JEELIB: Crc<u16> = Crc::<u16>::new(&CRC_16_MODBUS);
/// The longest packet, its address included.
pub const LONGEST: usize = 61;
/// Bytes of preamble before an RFM12B's synchronisation: `radios/rfm12b.toml`.
pub const PREAMBLE: usize = 5;
/// Value of a preamble's bytes.
pub const PREAMBLE_BYTE: u8 = 0xaa;
/// An RFM12B's bytes before a packet's own behind the address: preamble, 0x2D, group, header,
/// length.
const BEFORE: usize = PREAMBLE + 4;
/// Its bytes of CRC behind it.
const BEHIND: usize = 2;
const SYNC: u8 = 0x2d;
/// A CC2500's bytes around a packet: preamble, synchronisation, length, CRC (`radios/cc2500.toml`).
const AROUND: usize = 4 + 4 + 1 + 2;

/// The radios that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// `docs/reference/protocol.md`, "On an RFM12B": the microcontroller makes the frame, and all
    /// bytes are on the channel.
    Rfm12b {
        /// The second byte of the synchronisation: radios of other groups are not heard.
        group: u8,
    },
    /// `docs/reference/protocol.md`, "On a CC2500": the chip makes the frame, and the channel
    /// carries packets.
    Cc2500,
}

impl Framing {
    /// Bytes on the air of a packet of `packet` bytes.
    #[must_use]
    pub fn air_bytes(self, packet: usize) -> usize {
        match self {
            Framing::Rfm12b { .. } => BEFORE + packet - 1 + BEHIND,
            Framing::Cc2500 => AROUND + packet,
        }
    }

    /// Returns the bytes that a channel carries for a packet.
    #[must_use]
    pub fn encode(self, packet: &[u8]) -> Vec<u8> {
        let Framing::Rfm12b { group } = self else { return packet.to_vec() };
        let (address, payload) = packet.split_first().unwrap_or((&0, &[]));
        let mut bytes = vec![PREAMBLE_BYTE; PREAMBLE];
        bytes.extend([SYNC, group, *address, payload.len() as u8]);
        bytes.extend(payload);
        let crc = crc16(&bytes[PREAMBLE + 1..]);
        bytes.extend(crc.to_le_bytes());
        bytes
    }

    /// Finds the packet in what a channel has carried so far; none where its length has not come
    /// yet or is too long.
    #[must_use]
    pub fn find(self, bytes: &[u8]) -> Option<Frame> {
        let Framing::Rfm12b { group } = self else {
            return (1..=LONGEST).contains(&bytes.len()).then_some(Frame {
                first: 0,
                address: 0,
                end: bytes.len(),
            });
        };
        let first = bytes.windows(2).position(|pair| pair == [SYNC, group])?;
        let length = usize::from(*bytes.get(first + 3)?);
        (length < LONGEST).then_some(Frame { first, address: first + 2, end: first + 4 + length + BEHIND })
    }

    /// The packet in a frame at a receiver. Some of its bits are wrong there, counted from the
    /// first that was carried; none where the CRC does not fit or the frame is not whole.
    #[must_use]
    pub fn receive(self, frame: &Frame, bytes: &[u8], wrong_bits: &[usize]) -> Option<Vec<u8>> {
        match self {
            Framing::Rfm12b { .. } => {
                let mut bytes = bytes[frame.first..].to_vec();
                let (from, to) = (8 * frame.first, 8 * frame.end);
                for bit in wrong_bits.iter().filter(|&&bit| bit >= from && bit < to) {
                    *bytes.get_mut(bit / 8 - frame.first)? ^= 0x80 >> (bit % 8);
                }
                self.find(&bytes)?.packet(&bytes)
            }
            // The preamble does not count, and what the CRC finds is all.
            Framing::Cc2500 => {
                let wrong =
                    wrong_bits.iter().any(|bit| (8 * 4..8 * self.air_bytes(bytes.len())).contains(bit));
                (!wrong).then(|| bytes.to_vec())
            }
        }
    }
}

/// Place of a packet within the bytes that a channel has carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    first: usize,
    address: usize,
    end: usize,
}

impl Frame {
    /// Index of the first byte that a receiver must have heard.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// Index behind its last byte.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    /// The radio address that it is for; on an RFM12B JeeLib's header: 0x40 and a node's number.
    #[must_use]
    pub fn address(&self, bytes: &[u8]) -> u8 {
        bytes[self.address]
    }

    /// An RFM12B's packet, its address first; none where the CRC does not fit or the frame is not
    /// whole.
    fn packet(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let covered = bytes.get(self.first + 1..self.end - BEHIND)?;
        let crc = bytes.get(self.end - BEHIND..self.end)?;
        if crc16(covered).to_le_bytes() != crc {
            return None;
        }
        let mut packet = vec![self.address(bytes)];
        packet.extend(&covered[3..]);
        Some(packet)
    }
}

/// CRC-16 as JeeLib has it: CRC-16/MODBUS.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    JEELIB.checksum(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_comes_back_from_its_frame_and_no_altered_one() {
        let packet: Vec<u8> = (0..LONGEST as u8).map(|byte| if byte == 0 { 17 } else { byte }).collect();
        let radio = Framing::Rfm12b { group: 212 };
        let bytes = radio.encode(&packet);
        assert_eq!(bytes.len(), radio.air_bytes(packet.len()));
        let frame = radio.find(&bytes).expect("a frame");
        assert_eq!((frame.end(), frame.address(&bytes)), (bytes.len(), 17));
        assert_eq!(radio.receive(&frame, &bytes, &[]), Some(packet));
        assert_eq!(Framing::Rfm12b { group: 211 }.find(&bytes), None);
        for bit in 8 * (PREAMBLE + 2)..8 * bytes.len() {
            assert_eq!(radio.receive(&frame, &bytes, &[bit]), None, "bit {bit}");
        }
    }

    #[test]
    fn a_cc2500_s_packet_is_taken_whole_or_not_at_all() {
        let (radio, packet) = (Framing::Cc2500, [7, 1, 2, 3]);
        let frame = radio.find(&packet).expect("a frame");
        assert_eq!((frame.address(&packet), radio.air_bytes(4)), (7, 15));
        assert_eq!(radio.receive(&frame, &packet, &[31, 8 * 15]), Some(packet.to_vec()));
        assert_eq!(radio.receive(&frame, &packet, &[32]), None);
        assert_eq!(radio.find(&[0; LONGEST + 1]), None);
    }
}
