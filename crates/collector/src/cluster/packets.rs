//! The rules of acknowledging a partition's messages, of one or more packets each, and of its
//! consumers, without the server.

use super::subject;
use crate::fence::{Fence, LeaseNumber};
use crate::meters::{Outcome, QueuePlace, Receipt};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Messages of which packets are not done with. `R`: where what is said of one goes.
#[derive(Debug)]
pub(super) struct PendingMessages<R> {
    fence: Arc<Fence>,
    /// By their numbers in the stream.
    messages: HashMap<u64, Pending<R>>,
    became: UnboundedSender<(QueuePlace, Outcome)>,
}

#[derive(Debug)]
struct Pending<R> {
    reply: R,
    packets: Vec<State>,
    /// JetStream was told, since it came last, that it is to come again.
    asked_again: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is to be handed to the session.
    Waits,
    /// The session has it, and did not say yet what became of it.
    InHand,
    Done,
}

/// The acknowledgement of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<R> {
    /// All of it is done with: its number of packets.
    Done(R, usize),
    /// Some of it is to come again.
    Again(R),
}

impl<R: Clone> PendingMessages<R> {
    /// None yet; and what becomes of their packets, for [`PendingMessages::became`].
    pub(super) fn new(fence: Arc<Fence>) -> (PendingMessages<R>, UnboundedReceiver<(QueuePlace, Outcome)>) {
        let (became, hears) = unbounded_channel();
        (PendingMessages { fence, messages: HashMap::new(), became }, hears)
    }

    /// Returns receipts for the packets of a message, but for those that the session has: these
    /// came again with the message. For the session they would be nothing new, and so be
    /// acknowledged before their first effect is durable.
    pub(super) fn receipts(&mut self, message: u64, reply: R, packets: u8) -> Vec<Receipt> {
        let waits = || vec![State::Waits; usize::from(packets)];
        let pending = self.messages.entry(message).or_insert_with(|| Pending {
            reply: reply.clone(),
            packets: waits(),
            asked_again: false,
        });
        // Delivered again, it is the later one that is heard.
        (pending.reply, pending.asked_again) = (reply, false);
        let mut receipts = Vec::new();
        for (packet, state) in (0..packets).zip(&mut pending.packets) {
            if *state == State::Waits {
                *state = State::InHand;
                receipts.push(Receipt::new(QueuePlace { message, packet }, self.became.clone()));
            }
        }
        receipts
    }

    /// Returns the acknowledgement after the result of a packet: none yet, or none any more when
    /// the lease is over.
    pub(super) fn became(
        &mut self,
        QueuePlace { message, packet }: QueuePlace,
        outcome: Outcome,
    ) -> Option<Said<R>> {
        let pending = self.messages.get_mut(&message)?;
        let said = match outcome {
            Outcome::Done => {
                *pending.packets.get_mut(usize::from(packet))? = State::Done;
                if pending.packets.iter().any(|state| *state != State::Done) {
                    return None;
                }
                let pending = self.messages.remove(&message)?;
                Said::Done(pending.reply, pending.packets.len())
            }
            Outcome::Again => {
                *pending.packets.get_mut(usize::from(packet))? = State::Waits;
                if std::mem::replace(&mut pending.asked_again, true) {
                    return None;
                }
                Said::Again(pending.reply.clone())
            }
        };
        self.fence.holds().then_some(said)
    }

    /// Returns the number of packets.
    pub(super) fn count(&self) -> usize {
        let left =
            |pending: &Pending<R>| pending.packets.iter().filter(|state| **state != State::Done).count();
        self.messages.values().map(left).sum()
    }
}

/// The succession of a lease's own consumer after those of earlier leases.
#[derive(Debug)]
pub(super) struct Succession {
    lease: LeaseNumber,
    filter: String,
    /// The prefix of the partition's consumers.
    ours: String,
    /// Up to where each of those before had acknowledged all, in the stream.
    floors: Vec<u64>,
    before: Vec<String>,
}

impl Succession {
    /// filter: the subjects of the partition.
    pub(super) fn new(lease: LeaseNumber, filter: String) -> Succession {
        let ours = subject::consumers_of(lease.partition);
        Succession { lease, filter, ours, floors: Vec::new(), before: Vec::new() }
    }

    /// Says if a consumer of the stream is, or was, the partition's.
    pub(super) fn is_ours(&self, name: &str) -> bool {
        name.starts_with(&self.ours)
    }

    /// Another consumer of the stream, which does not say where it has come to.
    pub(super) fn there_is_a_silent_one(&mut self, name: &str) {
        self.before.push(name.to_owned());
    }

    /// Another consumer of the stream.
    pub(super) fn there_is(&mut self, name: &str, filter: &str, floor: u64) {
        if !self.is_ours(name) {
            return;
        }
        // One of another number of slices heard other packets.
        if filter == self.filter {
            self.floors.push(floor);
        }
        self.before.push(name.to_owned());
    }

    /// The consumer's name.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.ours, self.lease.number)
    }

    /// Returns its start in the stream, whose last message is `last`; `None`: the beginning. An
    /// acknowledgement beyond `last` shows that the stream was made anew, or that somebody made
    /// that consumer.
    pub(super) fn start(&self, last: u64) -> Option<u64> {
        let floor = self.floors.iter().filter(|floor| **floor <= last).max();
        floor.map(|floor| floor.saturating_add(1))
    }

    /// Those whose place it takes: none of a later lease, which there is where this one is over and
    /// its worker stood still.
    pub(super) fn over(&self) -> impl Iterator<Item = &String> {
        self.before.iter().filter(|name| {
            let number = name.strip_prefix(&self.ours).and_then(|number| number.parse::<u64>().ok());
            number.is_none_or(|number| number < self.lease.number)
        })
    }
}

/// Says if a consumer is ahead of its stream, so that it would deliver nothing: after the stream
/// was made anew, or by its own settings. delivered: its position, which was asked first.
pub(super) fn is_ahead(delivered: u64, last: u64) -> bool {
    delivered > last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::BootTime;
    use crate::partition::Partition;
    use std::time::Duration;

    fn fence() -> Arc<Fence> {
        Arc::new(Fence::new(Partition::FIRST, 7, BootTime::now() + Duration::from_secs(60)))
    }

    #[test]
    fn redelivered_packet_in_the_link_stays_unacknowledged() {
        let (mut pending, mut said) = PendingMessages::new(fence());
        let first = pending.receipts(5, "first", 1);
        assert_eq!(first.len(), 1);
        assert!(pending.receipts(5, "second", 1).is_empty(), "the link has it");
        assert!(said.try_recv().is_err());
        drop(first);
        let (place, outcome) = said.try_recv().expect("it is told");
        assert_eq!(pending.became(place, outcome), Some(Said::Again("second")));
        pending.receipts(5, "third", 1).into_iter().for_each(Receipt::done);
        let (place, outcome) = said.try_recv().expect("it is told");
        assert_eq!(pending.became(place, outcome), Some(Said::Done("third", 1)));
        assert_eq!(pending.count(), 0);
    }

    #[test]
    fn message_ends_with_its_packets_or_comes_again_for_the_rest() {
        let (mut pending, mut said) = PendingMessages::new(fence());
        let mut next = |pending: &mut PendingMessages<_>| {
            let (place, outcome) = said.try_recv().expect("it is told");
            pending.became(place, outcome)
        };
        let mut first = pending.receipts(5, "first", 4).into_iter();
        let [done, again, also, late] = std::array::from_fn(|_| first.next().expect("four"));
        done.done();
        assert_eq!(next(&mut pending), None);
        drop(again);
        assert_eq!(next(&mut pending), Some(Said::Again("first")));
        drop(also);
        assert_eq!(next(&mut pending), None, "it comes again anyway");
        assert_eq!(pending.count(), 3);
        let second = pending.receipts(5, "second", 4);
        assert_eq!(second.len(), 2, "not what is done with, nor what the link has");
        drop(late);
        assert_eq!(next(&mut pending), Some(Said::Again("second")));
        let third = pending.receipts(5, "third", 4);
        assert_eq!(third.len(), 1);
        for receipt in second.into_iter().chain(third) {
            receipt.done();
        }
        assert_eq!([next(&mut pending), next(&mut pending)], [None, None]);
        assert_eq!(next(&mut pending), Some(Said::Done("third", 4)));
    }

    #[test]
    fn nothing_is_told_after_the_lease() {
        let fence = fence();
        let (mut pending, mut said) = PendingMessages::new(fence.clone());
        pending.receipts(5, (), 1).into_iter().for_each(Receipt::done);
        fence.end();
        let (place, outcome) = said.try_recv().expect("it is told");
        assert_eq!(pending.became(place, outcome), None);
    }

    #[test]
    fn consumer_replaces_earlier_leases_consumers_and_resumes() {
        let lease = LeaseNumber { partition: Partition::FIRST, number: 7 };
        let mut succession = Succession::new(lease, "all".to_owned());
        assert_eq!((succession.name().as_str(), succession.start(100)), ("0-0-7", None));
        for (name, filter, floor) in
            [("0-0-5", "all", 40), ("0-0-6", "all", 42), ("0-0-4", "some", 90), ("0-0-8", "all", 41)]
        {
            succession.there_is(name, filter, floor);
        }
        succession.there_is("0-1-5", "all", 95);
        succession.there_is("0-0-7", "all", 10);
        // Of a stream that was there before this one.
        succession.there_is("0-0-2", "all", 101);
        succession.there_is("0-0-1", "all", u64::MAX);
        succession.there_is_a_silent_one("0-0-3");
        assert_eq!(succession.start(100), Some(43));
        assert_eq!(
            succession.over().collect::<Vec<_>>(),
            ["0-0-5", "0-0-6", "0-0-4", "0-0-2", "0-0-1", "0-0-3"]
        );
    }
}
