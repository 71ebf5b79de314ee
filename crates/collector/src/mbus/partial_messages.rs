//! Messages whose fragments did not all come, in bounded memory: by sender and meter, so that no
//! sender takes another's room.

use super::source::Sender;
use std::collections::BTreeMap;
use wire::wireless_mbus::{Datagram, Message, MeterAddress, Reassembly, ReassemblyError};

/// Incomplete messages at most, each of up to 16 KiB.
const PARTIAL_MAX: usize = 256;

/// The incomplete messages of all senders.
#[derive(Debug, Default)]
pub(super) struct PartialMessages {
    partial: BTreeMap<(Sender, MeterAddress), Partial>,
    turn: u64,
}

#[derive(Debug, Default)]
struct Partial {
    /// One message of one meter.
    reassembly: Reassembly,
    /// The turn in which its last fragment came.
    turn: u64,
}

impl PartialMessages {
    /// Takes a datagram, and returns the message that it makes whole.
    pub(super) fn take(
        &mut self,
        sender: Sender,
        datagram: &Datagram,
    ) -> Result<Option<Message>, ReassemblyError> {
        let key = (sender, datagram.address);
        let mut partial = self.partial.remove(&key).unwrap_or_default();
        let message = partial.reassembly.take(datagram);
        // A message in one piece leaves fragments of another one where they are.
        if partial.reassembly.held_bytes() > 0 {
            if self.partial.len() >= PARTIAL_MAX {
                self.remove_oldest_of_largest();
            }
            self.turn += 1;
            self.partial.insert(key, Partial { turn: self.turn, ..partial });
        }
        message
    }

    /// Removes the oldest message of the sender with most of them.
    fn remove_oldest_of_largest(&mut self) {
        let mut senders: BTreeMap<Sender, usize> = BTreeMap::new();
        for (sender, _) in self.partial.keys() {
            *senders.entry(*sender).or_default() += 1;
        }
        let most = senders.into_iter().max_by_key(|(_, count)| *count).map(|(sender, _)| sender);
        let oldest = self
            .partial
            .iter()
            .filter(|((sender, _), _)| Some(*sender) == most)
            .min_by_key(|(_, partial)| partial.turn)
            .map(|(key, _)| *key);
        if let Some(oldest) = oldest {
            self.partial.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::wireless_mbus::ReceivedFrame;

    /// A first fragment of a meter with this number, or a later one.
    fn fragment(meter: u16, number: u8) -> Datagram {
        let [low, high] = meter.to_le_bytes();
        let line = format!("f04493151111{low:02x}{high:02x}33039002{number:02x}40{}", "00".repeat(227));
        Datagram::parse(ReceivedFrame::from_line(&line).expect("a frame").frame).expect("a datagram")
    }

    fn sender(peer: u8) -> Sender {
        Sender { source: 0, peer: Some([192, 0, 2, peer].into()) }
    }

    #[test]
    fn flood_of_fragments_leaves_other_senders_messages() {
        let mut messages = PartialMessages::default();
        assert_eq!(messages.take(sender(1), &fragment(7, 1)), Ok(None));
        for meter in 0..5000 {
            assert_eq!(messages.take(sender(2), &fragment(meter, 1)), Ok(None));
        }
        assert_eq!(messages.partial.len(), PARTIAL_MAX);
        // The other sender's message goes on; the flood's first one has gone.
        assert_eq!(messages.take(sender(1), &fragment(7, 2)), Ok(None));
        assert!(messages.take(sender(2), &fragment(0, 2)).is_err());
    }

    #[test]
    fn message_of_too_many_fragments_is_dropped() {
        let mut messages = PartialMessages::default();
        let refused = (1..=255).find_map(|number| messages.take(sender(1), &fragment(7, number)).err());
        assert!(matches!(refused, Some(ReassemblyError::TooLong(_))), "{refused:?}");
        assert!(messages.partial.is_empty());
    }
}
