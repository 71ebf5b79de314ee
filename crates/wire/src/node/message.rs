//! Challenges to the node, and its messages, as `device/node/message.h` has them.

use super::Scheme;

/// Bytes of the body in one packet.
const PIECE: usize = 50;
/// Bytes of a packet before the piece.
const HEADER: usize = 11;
/// Bytes of the body before the signature.
const BODY_HEADER: usize = 10;

/// A packet that is none of a node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Too short, or too long, for what it says it is.
    #[error("a packet of {0} bytes, which no message of a node has")]
    Length(usize),
    /// A type that nodes do not send.
    #[error("a packet of type {0:#04x}; nodes send 0x02 (reading) and 0x03 (answer)")]
    Type(u8),
    /// A piece that no body has.
    #[error("piece {index} of {count}; bodies have one piece or two")]
    Piece {
        /// From 0.
        index: u8,
        /// Pieces of the whole message.
        count: u8,
    },
}

/// A server's challenge to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Radio address of the node.
    pub node_address: u8,
    /// The node's name.
    pub node_id: u32,
    /// Random, never used before.
    pub challenge: [u8; 16],
    /// Milliseconds from the end of the packet until the server listens.
    pub answer_in_ms: u16,
}

impl Challenge {
    /// The packet, without the radio's length byte and check sum.
    #[must_use]
    pub fn to_packet(&self) -> [u8; 24] {
        let mut packet = [0; 24];
        packet[0] = self.node_address;
        packet[1] = 1;
        packet[2..6].copy_from_slice(&self.node_id.to_be_bytes());
        packet[6..22].copy_from_slice(&self.challenge);
        packet[22..].copy_from_slice(&self.answer_in_ms.to_be_bytes());
        packet
    }
}

/// Why a node sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Its interval came.
    Reading,
    /// It was challenged; the first four bytes of the challenge.
    Answer([u8; 4]),
}

/// A message of a node, whole. Nothing of it is true before the signature is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Why it was sent.
    pub kind: Trigger,
    /// By the length of the signature.
    pub scheme: Scheme,
    /// The node's name.
    pub node_id: u32,
    /// Higher in each message of a node than in all before.
    pub counter: u32,
    /// The stored voltage before signing, in millivolts.
    pub stored_mv: u16,
    /// Seconds since the node's last start.
    pub uptime_s: u32,
    /// r and s.
    pub signature: Vec<u8>,
}

impl Message {
    /// Returns the bytes that are signed. `challenge`: the one that the server sent, for an
    /// [`Trigger::Answer`]; not looked at for a reading.
    #[must_use]
    pub fn signed_bytes(&self, challenge: &[u8; 16]) -> Vec<u8> {
        let mut bytes = b"WSN1".to_vec();
        bytes.push(match self.kind {
            Trigger::Reading => 2,
            Trigger::Answer(_) => 3,
        });
        bytes.push(self.scheme.code());
        bytes.extend(self.node_id.to_be_bytes());
        bytes.extend(self.counter.to_be_bytes());
        bytes.extend(self.stored_mv.to_be_bytes());
        bytes.extend(self.uptime_s.to_be_bytes());
        if let Trigger::Answer(_) = self.kind {
            bytes.extend(challenge);
        }
        bytes
    }

    fn from_body(kind: u8, node_id: u32, counter: u32, body: &[u8]) -> Result<Message, Error> {
        let length = Error::Length(body.len());
        let (header, signature) = body.split_first_chunk::<BODY_HEADER>().ok_or(length)?;
        let scheme = [Scheme::Secp160r1, Scheme::P256]
            .into_iter()
            .find(|scheme| scheme.signature_bytes() == signature.len())
            .ok_or(length)?;
        let [a, b, c, d, e, f, label @ ..] = *header;
        Ok(Message {
            kind: if kind == 2 { Trigger::Reading } else { Trigger::Answer(label) },
            scheme,
            node_id,
            counter,
            stored_mv: u16::from_be_bytes([a, b]),
            uptime_s: u32::from_be_bytes([c, d, e, f]),
            signature: signature.to_vec(),
        })
    }
}

/// The first piece of a message whose second has yet to come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Begun {
    kind: u8,
    node_id: u32,
    counter: u32,
    piece: Vec<u8>,
}

/// Unfinished messages at most; one more drops the oldest.
const BEGUN: usize = 64;

/// Puts packets together to messages, of one node or of many. A message that is not continued by
/// the node's next packet is given up: a forger of packets in a node's name can hinder it, but not
/// make up a message, which its signature shows.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    begun: Vec<Begun>,
}

impl Reassembly {
    /// Takes the next packet that was heard, address first, without the radio's length byte and
    /// check sum. Returns the message that it makes whole.
    ///
    /// # Errors
    /// [`Error`] for what no node sends.
    pub fn take(&mut self, packet: &[u8]) -> Result<Option<Message>, Error> {
        let length = Error::Length(packet.len());
        let (header, piece) = packet.split_first_chunk::<HEADER>().ok_or(length)?;
        let [_, kind, pieces, a, b, c, d, e, f, g, h] = *header;
        if !matches!(kind, 2 | 3) {
            return Err(Error::Type(kind));
        }
        let (index, count) = (pieces >> 4, pieces & 15);
        if !matches!(count, 1 | 2) || index >= count {
            return Err(Error::Piece { index, count });
        }
        // All pieces but the last are full.
        if piece.len() > PIECE || piece.len() < PIECE && index + 1 < count {
            return Err(length);
        }
        let (node_id, counter) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let begun = self.begun.iter().position(|begun| begun.node_id == node_id);
        let begun = begun.map(|place| self.begun.remove(place));
        if index + 1 < count {
            if self.begun.len() == BEGUN {
                self.begun.remove(0);
            }
            self.begun.push(Begun { kind, node_id, counter, piece: piece.to_vec() });
            return Ok(None);
        }
        let mut body = match begun {
            _ if index == 0 => Vec::new(),
            Some(begun) if begun.kind == kind && begun.counter == counter => begun.piece,
            // The first piece was not heard.
            _ => return Ok(None),
        };
        body.extend(piece);
        Message::from_body(kind, node_id, counter, &body).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of node `id`, as `device/node/message.h` has it: 50 bytes of the body, or what is
    /// left of 74.
    fn packet(id: u8, counter: u8, piece: u8, bytes: usize) -> Vec<u8> {
        let mut packet = vec![0x22, 2, piece, 0, 0, 0, id, 0, 0, 0, counter];
        packet.extend((0..bytes).map(|n| n as u8));
        packet
    }

    #[test]
    fn one_packet_is_a_whole_message() {
        let message = Reassembly::default().take(&packet(7, 9, 0x01, 50)).expect("a node's").expect("whole");
        assert_eq!((message.node_id, message.counter, message.scheme), (7, 9, Scheme::Secp160r1));
        assert_eq!((message.stored_mv, message.uptime_s), (0x0001, 0x0203_0405));
        assert_eq!(message.signature, (10..50).collect::<Vec<u8>>());
        // "WSN1", reading, scheme, node, counter, voltage, uptime.
        let signed = *b"WSN1\x02\0\0\0\0\x07\0\0\0\x09\0\x01\x02\x03\x04\x05";
        assert_eq!(message.signed_bytes(&[1; 16]), signed);
    }

    #[test]
    fn two_packets_reassemble_among_those_of_others() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.take(&packet(7, 9, 0x02, 50)), Ok(None));
        assert_eq!(reassembly.take(&packet(8, 1, 0x02, 50)), Ok(None));
        let message = reassembly.take(&packet(7, 9, 0x12, 24)).expect("a node's").expect("whole");
        assert_eq!((message.scheme, message.signature.len()), (Scheme::P256, 64));
        // Its first packet is used up, and that of another message does not fit.
        assert_eq!(reassembly.take(&packet(7, 9, 0x12, 24)), Ok(None));
        assert_eq!(reassembly.take(&packet(8, 2, 0x12, 24)), Ok(None));
        assert_eq!(reassembly.take(&packet(8, 1, 0x12, 24)), Ok(None));
    }

    #[test]
    fn malformed_node_packet_is_refused() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.take(&[0; 10]), Err(Error::Length(10)));
        assert_eq!(reassembly.take(&packet(7, 9, 0x01, 51)), Err(Error::Length(62)));
        assert_eq!(reassembly.take(&packet(7, 9, 0x02, 49)), Err(Error::Length(60)));
        assert_eq!(reassembly.take(&packet(7, 9, 0x01, 9)), Err(Error::Length(9)));
        assert_eq!(reassembly.take(&packet(7, 9, 0x01, 49)), Err(Error::Length(49)));
        assert_eq!(reassembly.take(&packet(7, 9, 0x00, 50)), Err(Error::Piece { index: 0, count: 0 }));
        assert_eq!(reassembly.take(&packet(7, 9, 0x22, 50)), Err(Error::Piece { index: 2, count: 2 }));
        let mut challenge = packet(7, 9, 0x01, 50);
        challenge[1] = 1;
        assert_eq!(reassembly.take(&challenge), Err(Error::Type(1)));
    }
}
