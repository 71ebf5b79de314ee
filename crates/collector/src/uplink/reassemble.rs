//! Step 2: the engine joins packets to a message. The receipts of the first ones wait for the last.

use super::receive::Origin;
use crate::clock;
use crate::gateway::{GatewayId, HeardPacket};
use crate::meters::{PartitionState, Receipts};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;
use wire::meter::{MeterId, ReassemblyOutcome, Rejection, SealedMessage, UplinkOutcome};

/// Pieces of a message that is not whole are kept no longer in their queue: their meter has sent it
/// again since.
const WHOLE_WITHIN: Duration = Duration::from_secs(10);
/// Packets of an unfinished message at most, before the first of them need not come again.
const PIECES_MAX: usize = 8;
/// Packets of unfinished messages at most that a queue keeps for a session. A queue hands over no
/// more than 8,192 messages that it is not told to be done with (`cluster::queue`): the rest is for
/// whole ones.
const PARTIAL_MAX: usize = 4096;
/// Packets of one gateway among them, at most.
const GATEWAY_PARTIAL_MAX: usize = PARTIAL_MAX / 4;

/// The packets of unfinished messages, and the way of packets that are nobody's here.
pub(super) struct Reassembly {
    partial_messages: PartialMessages,
    /// The destination of packets of unknown meters.
    unknown_meters: Option<Sender<HeardPacket>>,
}

impl Reassembly {
    pub(super) fn new(unknown_meters: Option<Sender<HeardPacket>>) -> Reassembly {
        Reassembly { partial_messages: PartialMessages::default(), unknown_meters }
    }

    /// Returns the message that a packet makes whole, with the receipts of all its packets.
    pub(super) fn reassemble(
        &mut self,
        state: &mut PartitionState,
        packet: HeardPacket,
        mut origin: Origin,
    ) -> Option<(SealedMessage, Origin)> {
        match state.meters.engine.reassemble(&packet.bytes) {
            ReassemblyOutcome::Done(UplinkOutcome::Piece) => {
                // It may be a meter's reply, and the next piece is due.
                state.check_due |= state.meters.is_any_busy();
                self.partial_messages.keep(&packet.bytes, packet.route.gateway, origin.receipts);
                None
            }
            ReassemblyOutcome::Done(outcome) => {
                origin.receipts.span("verify");
                origin.receipts.done();
                if let (UplinkOutcome::Rejected(Rejection::UnknownMeter), Some(unknown_meters)) =
                    (outcome, &self.unknown_meters)
                {
                    // A full queue loses packets, which come again.
                    let _ = unknown_meters.try_send(packet);
                }
                None
            }
            ReassemblyOutcome::Sealed(message) => {
                origin.receipts.after(self.partial_messages.take_pieces(&packet.bytes));
                Some((message, origin))
            }
        }
    }

    /// Gives up messages that stay unfinished.
    pub(super) fn tidy(&mut self, now: Instant) {
        self.partial_messages.tidy(now);
    }
}

/// The packets of messages that are not whole yet, by what a packet says of its meter and its kind:
/// a collector has one message of each.
#[derive(Debug, Default)]
struct PartialMessages {
    messages: HashMap<(MeterId, u8), PartialMessage>,
    /// The number of packets of each gateway, by its number.
    by_gateway: HashMap<u32, usize>,
    count: usize,
}

#[derive(Debug)]
struct PartialMessage {
    /// When the last one came.
    since: Instant,
    /// The number of the gateway that began it.
    gateway: u32,
    receipts: Receipts,
}

impl PartialMessages {
    /// Keeps a piece. Where it finds no room its queue need not keep it: the message may be
    /// made whole all the same.
    fn keep(&mut self, packet: &[u8], gateway: GatewayId, receipts: Receipts) {
        let (Some(name), false) = (message_of(packet), receipts.is_empty()) else { return };
        let now = clock::now();
        let gateway = self.messages.get(&name).map_or(gateway.number, |of| of.gateway);
        let of_gateway = self.by_gateway.get(&gateway).copied().unwrap_or(0);
        if self.count >= PARTIAL_MAX || of_gateway >= GATEWAY_PARTIAL_MAX {
            return receipts.done();
        }
        self.count += receipts.len();
        self.by_gateway.insert(gateway, of_gateway + receipts.len());
        let new = || PartialMessage { since: now, gateway, receipts: Receipts::default() };
        let unfinished = self.messages.entry(name).or_insert_with(new);
        unfinished.since = now;
        unfinished.receipts.after(Some(receipts));
        if unfinished.receipts.len() > PIECES_MAX {
            unfinished.receipts.remove_first().done();
            self.are_gone(gateway, 1);
        }
    }

    /// Takes the pieces before the one that made a message whole.
    fn take_pieces(&mut self, packet: &[u8]) -> Option<Receipts> {
        let PartialMessage { gateway, receipts, .. } = self.messages.remove(&message_of(packet)?)?;
        self.are_gone(gateway, receipts.len());
        Some(receipts)
    }

    /// Gives up pieces that waited too long: they led to nothing.
    fn tidy(&mut self, now: Instant) {
        let is_old = |of: &PartialMessage| now.saturating_duration_since(of.since) > WHOLE_WITHIN;
        let old: Vec<_> = self.messages.extract_if(|_, of| is_old(of)).collect();
        for (_, PartialMessage { gateway, receipts, .. }) in old {
            self.are_gone(gateway, receipts.len());
            receipts.done();
        }
    }

    fn are_gone(&mut self, gateway: u32, receipts: usize) {
        self.count -= receipts;
        if let Entry::Occupied(mut of_gateway) = self.by_gateway.entry(gateway) {
            *of_gateway.get_mut() -= receipts;
            if *of_gateway.get() == 0 {
                of_gateway.remove();
            }
        }
    }
}

/// Name and kind: docs/reference/protocol.md, "Packets".
fn message_of(packet: &[u8]) -> Option<(MeterId, u8)> {
    match packet {
        [_, what, high, low, ..] => Some((u16::from_be_bytes([*high, *low]), what >> 6)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meters::{Outcome, QueuePlace, Receipt};
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    type Told = (u64, Outcome);

    fn receipts(told: &UnboundedSender<(QueuePlace, Outcome)>, message: u64) -> Receipts {
        Receipts::of(Some(Receipt::new(QueuePlace { message, packet: 0 }, told.clone())))
    }

    fn told(said: &mut UnboundedReceiver<(QueuePlace, Outcome)>) -> Vec<Told> {
        let said = std::iter::from_fn(|| said.try_recv().ok());
        let mut told: Vec<Told> = said.map(|(place, outcome)| (place.message, outcome)).collect();
        told.sort_unstable_by_key(|(message, _)| *message);
        told
    }

    fn done(messages: impl IntoIterator<Item = u64>) -> Vec<Told> {
        messages.into_iter().map(|message| (message, Outcome::Done)).collect()
    }

    const HALL: GatewayId = GatewayId::of(1);

    /// Of a report of meter 258 in two pieces.
    fn piece(number: u8) -> [u8; 5] {
        [0x4f, 3 << 3 | number, 1, 2, 9]
    }

    #[test]
    fn pieces_wait_for_what_becomes_of_their_message() {
        let (told_to, mut said) = unbounded_channel();
        let mut unfinished = PartialMessages::default();
        unfinished.keep(&piece(1), HALL, receipts(&told_to, 1));
        // Of another meter, and of another kind.
        unfinished.keep(&[0x4f, 3 << 3 | 1, 1, 3, 9], HALL, receipts(&told_to, 2));
        unfinished.keep(&[0x4f, 1 << 6 | 3 << 3 | 1, 1, 2, 9], HALL, receipts(&told_to, 3));
        let mut whole = receipts(&told_to, 4);
        whole.after(unfinished.take_pieces(&piece(2)));
        assert_eq!(told(&mut said), []);
        whole.done();
        assert_eq!(told(&mut said), done([1, 4]));
        drop(unfinished);
        let again = [(2, Outcome::Again), (3, Outcome::Again)];
        assert_eq!(told(&mut said), again, "what is dropped comes again");
    }

    #[test]
    fn pieces_that_came_to_nothing_are_done_with() {
        let (told_to, mut said) = unbounded_channel();
        let mut unfinished = PartialMessages::default();
        for sequence in 1..=PIECES_MAX as u64 + 2 {
            unfinished.keep(&piece(1), HALL, receipts(&told_to, sequence));
        }
        assert_eq!(told(&mut said), done([1, 2]), "the first of many of one message");
        unfinished.tidy(Instant::now());
        assert_eq!(told(&mut said), []);
        unfinished.tidy(Instant::now() + WHOLE_WITHIN + Duration::from_secs(1));
        assert_eq!(told(&mut said), done(3..=PIECES_MAX as u64 + 2));
    }

    #[test]
    fn partial_messages_are_bounded_per_gateway_and_in_total() {
        let (told_to, mut said) = unbounded_channel();
        let mut unfinished = PartialMessages::default();
        let mut kept_of = |gateway: u32, names: std::ops::Range<u16>| {
            let count = names.len();
            for name in names {
                let [high, low] = name.to_be_bytes();
                let piece = [0x4f, 3 << 3 | 1, high, low, 9];
                unfinished.keep(&piece, GatewayId::of(gateway), receipts(&told_to, name.into()));
            }
            count - told(&mut said).len()
        };
        assert_eq!(kept_of(1, 0..3000), GATEWAY_PARTIAL_MAX);
        assert_eq!(kept_of(2, 3000..3100), 100);
        let kept: usize = (3..20)
            .map(|gateway| kept_of(gateway, 3000 * gateway as u16..3000 * gateway as u16 + 2000))
            .sum();
        assert_eq!(kept, PARTIAL_MAX - GATEWAY_PARTIAL_MAX - 100);
        unfinished.tidy(Instant::now() + WHOLE_WITHIN + Duration::from_secs(1));
        assert_eq!(told(&mut said).len(), PARTIAL_MAX);
        assert_eq!((unfinished.count, unfinished.by_gateway.len()), (0, 0));
    }
}
