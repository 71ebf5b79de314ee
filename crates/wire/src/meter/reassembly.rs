//! Messages from their pieces, in bounded memory.

use super::{MessageKind, Packet, Suite, message_bytes, pieces};

/// A message, whole, and not opened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The purpose of the message.
    pub kind: MessageKind,
    /// The suite it is sealed in.
    pub suite: Suite,
    /// The lowest byte of its number, as its packets say.
    pub number_lsb: u8,
    /// The message.
    pub bytes: Vec<u8>,
}

/// The pieces of a message that have come.
#[derive(Clone, Debug)]
struct PartialMessage {
    message: Message,
    /// A bit for each piece that came.
    pieces: u8,
}

/// Puts the pieces of one meter's messages together: at most one partial message of each kind. A
/// packet that is not authentic can spoil a message under way, which is then sent again, and
/// nothing more.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    partial_messages: [Option<Box<PartialMessage>>; 4],
}

impl Reassembly {
    /// Takes a packet, and returns the message that it makes whole.
    pub fn take(&mut self, packet: &Packet<'_>) -> Option<Message> {
        let Packet { kind, suite, number_lsb, index, body, .. } = *packet;
        let count = pieces(kind, suite);
        if count == 1 {
            return Some(Message { kind, suite, number_lsb, bytes: body.to_vec() });
        }
        let place = &mut self.partial_messages[usize::from(kind.code())];
        if place
            .as_ref()
            .is_none_or(|begun| begun.message.suite != suite || begun.message.number_lsb != number_lsb)
        {
            let message = Message { kind, suite, number_lsb, bytes: vec![0; message_bytes(kind, suite)] };
            *place = Some(Box::new(PartialMessage { message, pieces: 0 }));
        }
        let begun = place.as_mut()?;
        let at = usize::from(index) * body.len();
        begun.message.bytes.get_mut(at..at + body.len())?.copy_from_slice(body);
        begun.pieces |= 1 << index;
        if begun.pieces.count_ones() as usize == count {
            return place.take().map(|begun| begun.message);
        }
        None
    }

    /// Bytes of messages that are held at the moment: at most 144 for each kind.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.partial_messages.iter().flatten().map(|begun| begun.message.bytes.capacity()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::packets;

    fn cut(suite: Suite, number: u32, byte: u8) -> Vec<Vec<u8>> {
        packets(
            1,
            MessageKind::Report,
            suite,
            5,
            number,
            &vec![byte; message_bytes(MessageKind::Report, suite)],
        )
    }

    fn take(reassembly: &mut Reassembly, packet: &[u8]) -> Option<Message> {
        reassembly.take(&Packet::parse(packet).expect("well-formed"))
    }

    #[test]
    fn pieces_reassemble_in_any_order_and_repeated() {
        let message: Vec<u8> = (0..144).collect();
        let cut = packets(1, MessageKind::Report, Suite::EciesEcdsa, 5, 9, &message);
        let mut reassembly = Reassembly::default();
        for index in [2, 0, 2, 0] {
            assert_eq!(take(&mut reassembly, &cut[index]), None);
        }
        let whole = take(&mut reassembly, &cut[1]).expect("all are there");
        assert_eq!((whole.bytes, whole.number_lsb, whole.suite), (message, 9, Suite::EciesEcdsa));
        assert_eq!(reassembly.held_bytes(), 0);
    }

    #[test]
    fn other_number_or_suite_restarts_reassembly() {
        let (old, new) = (cut(Suite::Ecies, 1, 1), cut(Suite::Ecies, 2, 2));
        let mut reassembly = Reassembly::default();
        assert_eq!(take(&mut reassembly, &old[0]), None);
        assert_eq!(take(&mut reassembly, &new[1]), None);
        assert_eq!(take(&mut reassembly, &old[1]), None);
        assert_eq!(take(&mut reassembly, &cut(Suite::EciesEcdsa, 1, 3)[0]), None);
        assert_eq!(take(&mut reassembly, &new[0]), None);
        assert_eq!(reassembly.held_bytes(), 112);
        assert!(take(&mut reassembly, &cut(Suite::Aes128Gcm, 7, 4)[0]).is_some());
        assert_eq!(take(&mut reassembly, &new[1]).expect("whole").bytes, [2; 112]);
    }
}
