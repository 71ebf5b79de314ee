//! A packet as an RFM12B has it on the air: `docs/protocol.md`, "On an RFM12B".

/// Bytes of preamble before the synchronisation: `radios/rfm12b.toml`.
pub const PREAMBLE: usize = 5;
/// Bytes before a packet's own: preamble, 0x2D, group, header, length.
pub const BEFORE: usize = PREAMBLE + 4;
/// Bytes of CRC behind it.
pub const BEHIND: usize = 2;
/// The longest packet, its address included.
pub const LONGEST: usize = 61;
const SYNC: u8 = 0x2d;

/// The bytes on the air of a packet, which is 1 to [`LONGEST`] bytes and begins with the receiver's radio address.
#[must_use]
pub fn encode(group: u8, packet: &[u8]) -> Vec<u8> {
    let (address, payload) = packet.split_first().unwrap_or((&0, &[]));
    let mut bytes = vec![0xaa; PREAMBLE];
    bytes.extend([SYNC, group, *address, payload.len() as u8]);
    bytes.extend(payload);
    let crc = crc16(&bytes[PREAMBLE + 1..]);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Where a packet lies within the bytes of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Index of the group's byte: from there on the CRC counts.
    group: usize,
    length: usize,
}

impl Frame {
    /// Finds the packet of a group in the bytes so far; none where its length has not been heard yet or is too long.
    #[must_use]
    pub fn find(group: u8, bytes: &[u8]) -> Option<Frame> {
        let at = bytes.windows(2).position(|pair| pair == [SYNC, group])? + 1;
        let length = usize::from(*bytes.get(at + 2)?);
        (length < LONGEST).then_some(Frame { group: at, length })
    }

    /// Index of the first byte that a receiver must have heard.
    #[must_use]
    pub fn first(&self) -> usize {
        self.group - 1
    }

    /// Index behind its last byte.
    #[must_use]
    pub fn end(&self) -> usize {
        self.group + 3 + self.length + BEHIND
    }

    /// The radio address that it is for, JeeLib's header: 0x40 and a node's number.
    #[must_use]
    pub fn address(&self, bytes: &[u8]) -> u8 {
        bytes[self.group + 1]
    }

    /// The packet, its address first; none where the CRC does not fit or the frame is not whole.
    #[must_use]
    pub fn packet(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let covered = bytes.get(self.group..self.end() - BEHIND)?;
        let crc = bytes.get(self.end() - BEHIND..self.end())?;
        if crc16(covered).to_le_bytes() != crc {
            return None;
        }
        let mut packet = vec![self.address(bytes)];
        packet.extend(&covered[3..]);
        Some(packet)
    }
}

/// CRC-16 as JeeLib has it: reflected 0xA001, begun with ones.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc: u16, _| crc >> 1 ^ if crc & 1 != 0 { 0xa001 } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_is_modbus_s() {
        // The catalogue's check value of CRC-16/MODBUS (reveng.sourceforge.io): 0x4B37 over "123456789".
        assert_eq!(crc16(b"123456789"), 0x4b37);
    }

    #[test]
    fn a_packet_comes_back_from_its_frame_and_no_altered_one() {
        let packet: Vec<u8> = (0..LONGEST as u8).map(|byte| if byte == 0 { 17 } else { byte }).collect();
        let bytes = encode(212, &packet);
        assert_eq!(bytes.len(), BEFORE + packet.len() - 1 + BEHIND);
        let frame = Frame::find(212, &bytes).expect("a frame");
        assert_eq!((frame.end(), frame.address(&bytes)), (bytes.len(), 17));
        assert_eq!(frame.packet(&bytes), Some(packet));
        assert_eq!(Frame::find(211, &bytes), None);
        for bit in 8 * (PREAMBLE + 2)..8 * bytes.len() {
            let mut altered = bytes.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            let heard = Frame::find(212, &altered).and_then(|frame| frame.packet(&altered));
            assert_eq!(heard, None, "bit {bit}");
        }
    }
}
