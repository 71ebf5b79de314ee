//! Packets: how messages are cut into them, and what no meter or collector sends.

use super::{MessageKind, MeterId, Suite};

/// The longest packet, address included: what the FIFO of a CC2500 and the buffer of an RFM12B
/// hold.
pub const PACKET_BYTES_MAX: usize = 61;
/// Bytes of a packet before the piece of the message.
const HEADER: usize = 5;

/// Returns a message's length in bytes.
#[must_use]
pub fn message_bytes(kind: MessageKind, suite: Suite) -> usize {
    match (kind, suite) {
        (MessageKind::Acknowledgement, Suite::None) => 4,
        (MessageKind::Acknowledgement, _) => 20,
        (_, Suite::None) => 16,
        (_, Suite::Ecies) if kind != MessageKind::Answer => 112,
        (_, Suite::EciesEcdsa) if kind != MessageKind::Answer => 144,
        _ => 36,
    }
}

/// Packets of a message, all of the same length: 1 to 3.
#[must_use]
pub fn pieces(kind: MessageKind, suite: Suite) -> usize {
    message_bytes(kind, suite).div_ceil(PACKET_BYTES_MAX - HEADER)
}

/// A packet that is none of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Shorter or longer than what it says it is.
    #[error("a packet of {0} bytes, which no message of its kind and suite has")]
    Length(usize),
    /// A suite that there is not.
    #[error("a packet of suite {0}; the last one is 6")]
    Suite(u8),
    /// A piece that no message of its kind and suite has.
    #[error("a packet with piece {0}, which no message of its kind and suite has")]
    Piece(u8),
    /// In the name of meter 0, which is nobody.
    #[error("a packet of meter 0, which is nobody")]
    Meter,
}

/// The number of kinds of [`Malformed`].
pub const MALFORMED_KINDS: usize = 4;

/// A packet, taken apart. Nothing of it is true before the message has been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Radio address of who is to hear it.
    pub address: u8,
    /// The purpose of the message.
    pub kind: MessageKind,
    /// The suite it is sealed in.
    pub suite: Suite,
    /// The number of this piece in the message, from 0; below [`pieces`].
    pub index: u8,
    /// The meter that sent it or is to hear it, as it was registered last.
    pub meter: MeterId,
    /// The lowest byte of the message's number.
    pub number_lsb: u8,
    /// The piece.
    pub body: &'a [u8],
}

/// Returns the code of the first of `count` pieces.
fn first_code(count: usize) -> u8 {
    match count {
        1 => 0,
        2 => 1,
        _ => 3,
    }
}

impl<'a> Packet<'a> {
    /// Takes a packet apart: address first, without the radio's length byte and check sum. Any
    /// bytes.
    ///
    /// # Errors
    /// [`Malformed`] for what nobody sends.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, Malformed> {
        let length = Malformed::Length(bytes.len());
        let (header, body) = bytes.split_first_chunk::<HEADER>().ok_or(length)?;
        let [address, what, meter @ .., number_lsb] = *header;
        let kind = MessageKind::from_code(what >> 6);
        let suite = Suite::from_code(what >> 3 & 7).ok_or(Malformed::Suite(what >> 3 & 7))?;
        let (count, code) = (pieces(kind, suite), what & 7);
        let index = code
            .checked_sub(first_code(count))
            .filter(|&index| usize::from(index) < count)
            .ok_or(Malformed::Piece(code))?;
        if body.len() * count != message_bytes(kind, suite) {
            return Err(length);
        }
        let meter = u16::from_be_bytes(meter);
        if meter == 0 {
            return Err(Malformed::Meter);
        }
        Ok(Packet { address, kind, suite, index, meter, number_lsb, body })
    }
}

/// Cuts a message into its packets. `number`: its n or m. `message` has [`message_bytes`]; what is
/// missing of it is missing in the last packets.
#[must_use]
pub fn packets(
    address: u8,
    kind: MessageKind,
    suite: Suite,
    meter: MeterId,
    number: u32,
    message: &[u8],
) -> Vec<Vec<u8>> {
    let count = pieces(kind, suite);
    let [high, low] = meter.to_be_bytes();
    let packet = |(index, body): (u8, &[u8])| {
        let what = kind.code() << 6 | suite.code() << 3 | (first_code(count) + index);
        let mut packet = vec![address, what, high, low, number as u8];
        packet.extend(body);
        packet
    };
    (0..count as u8).zip(message.chunks(message_bytes(kind, suite) / count)).map(packet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/reference/protocol.md, "Packets".
    #[test]
    fn every_message_has_the_length_and_pieces_of_the_table() {
        let table = [
            (MessageKind::Report, [(16, 1), (36, 1), (36, 1), (112, 2), (144, 3), (36, 1), (36, 1)]),
            (MessageKind::Command, [(16, 1), (36, 1), (36, 1), (112, 2), (144, 3), (36, 1), (36, 1)]),
            (MessageKind::Answer, [(16, 1), (36, 1), (36, 1), (36, 1), (36, 1), (36, 1), (36, 1)]),
            (MessageKind::Acknowledgement, [(4, 1), (20, 1), (20, 1), (20, 1), (20, 1), (20, 1), (20, 1)]),
        ];
        for (kind, row) in table {
            for (suite, (bytes, count)) in Suite::ALL.into_iter().zip(row) {
                assert_eq!((message_bytes(kind, suite), pieces(kind, suite)), (bytes, count));
                let cut = packets(7, kind, suite, 0x1234, 0x5678, &vec![9; bytes]);
                assert_eq!(cut.len(), count);
                for (index, packet) in cut.iter().enumerate() {
                    assert_eq!(packet.len(), 5 + bytes / count);
                    let packet = Packet::parse(packet).expect("made here");
                    assert_eq!((packet.kind, packet.suite, packet.index), (kind, suite, index as u8));
                    assert_eq!((packet.address, packet.meter, packet.number_lsb), (7, 0x1234, 0x78));
                }
            }
        }
    }

    #[test]
    fn the_second_of_three_pieces_byte_by_byte() {
        let message: Vec<u8> = (0..144).collect();
        let cut = packets(0x41, MessageKind::Command, Suite::EciesEcdsa, 0x0203, 0x0405_0607, &message);
        // 3 << 6 | 4 << 3 | 4.
        assert_eq!(cut[1][..7], [0x41, 0xe4, 0x02, 0x03, 0x07, 48, 49]);
    }

    #[test]
    fn malformed_packet_is_refused() {
        let good = packets(7, MessageKind::Report, Suite::Ecies, 1, 1, &[0; 112]).remove(0);
        let with = |at: usize, byte: u8| {
            let mut packet = good.clone();
            packet[at] = byte;
            packet
        };
        assert_eq!(Packet::parse(&[]), Err(Malformed::Length(0)));
        assert_eq!(Packet::parse(&good[..4]), Err(Malformed::Length(4)));
        assert_eq!(Packet::parse(&good[..60]), Err(Malformed::Length(60)));
        assert_eq!(Packet::parse(&[&good[..], &[0]].concat()), Err(Malformed::Length(62)));
        assert_eq!(Packet::parse(&with(1, 0b00_111_000)), Err(Malformed::Suite(7)));
        for code in [0, 3, 4, 5, 6, 7] {
            assert_eq!(Packet::parse(&with(1, 0b00_011_000 | code)), Err(Malformed::Piece(code)));
        }
        assert_eq!(Packet::parse(&with(3, 0)), Err(Malformed::Meter));
    }
}
