//! What JetStream is told of a partition's packets, and by which consumer they come: the rules, without the server.

use super::subject;
use crate::fence::{Fence, LeaseNumber};
use crate::link::{Outcome, Receipt};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Packets that are not done with. `R`: where what is said of one goes.
#[derive(Debug)]
pub(super) struct PendingPackets<R> {
    fence: Arc<Fence>,
    /// By their numbers in the stream.
    packets: HashMap<u64, Pending<R>>,
    became: UnboundedSender<(u64, Outcome)>,
}

#[derive(Debug)]
struct Pending<R> {
    reply: R,
    /// The link has it, and did not say yet what became of it.
    in_hand: bool,
}

impl<R: Clone> PendingPackets<R> {
    /// None yet; and what becomes of them, for [`PendingPackets::became`].
    pub(super) fn new(fence: Arc<Fence>) -> (PendingPackets<R>, UnboundedReceiver<(u64, Outcome)>) {
        let (became, hears) = unbounded_channel();
        (PendingPackets { fence, packets: HashMap::new(), became }, hears)
    }

    /// A packet came. `None`: it came again while the link has it. That would be nothing new to the link, and so be done with, before what it led
    /// to the first time is durable.
    pub(super) fn receipt(&mut self, sequence: u64, reply: R) -> Option<Receipt> {
        // Delivered again, it is the later one that is heard.
        let before = self.packets.insert(sequence, Pending { reply, in_hand: true });
        if before.is_some_and(|before| before.in_hand) {
            return None;
        }
        Some(Receipt::new(sequence, self.became.clone()))
    }

    /// Where JetStream is to be told what became of a packet: nowhere when the lease is over.
    pub(super) fn became(&mut self, sequence: u64, outcome: Outcome) -> Option<R> {
        let reply = match outcome {
            Outcome::Done => self.packets.remove(&sequence).map(|pending| pending.reply),
            Outcome::Again => self.packets.get_mut(&sequence).map(|pending| {
                pending.in_hand = false;
                pending.reply.clone()
            }),
        };
        reply.filter(|_| self.fence.holds())
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.packets.len()
    }
}

/// How a lease's own consumer comes after those of leases before it.
#[derive(Debug)]
pub(super) struct Succession {
    lease: LeaseNumber,
    filter: String,
    /// How the consumers of the partition begin.
    ours: String,
    /// Up to where those before had acknowledged all, in the stream.
    floor: Option<u64>,
    before: Vec<String>,
}

impl Succession {
    /// filter: the subjects of the partition.
    pub(super) fn new(lease: LeaseNumber, filter: String) -> Succession {
        let ours = subject::consumers_of(lease.partition);
        Succession { lease, filter, ours, floor: None, before: Vec::new() }
    }

    /// Whether a consumer of the stream is, or was, the partition's.
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
            self.floor = self.floor.max(Some(floor));
        }
        self.before.push(name.to_owned());
    }

    /// The consumer's name.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.ours, self.lease.number)
    }

    /// Where it starts in the stream; `None`: at its beginning.
    pub(super) fn start(&self) -> Option<u64> {
        self.floor.map(|floor| floor + 1)
    }

    /// Those whose place it takes: none of a later lease, which there is where this one is over and its worker stood still.
    pub(super) fn over(&self) -> impl Iterator<Item = &String> {
        self.before.iter().filter(|name| {
            let number = name.strip_prefix(&self.ours).and_then(|number| number.parse::<u64>().ok());
            number.is_none_or(|number| number < self.lease.number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Partition;
    use std::time::{Duration, Instant};

    fn fence() -> Arc<Fence> {
        Arc::new(Fence::new(Partition::FIRST, 7, Instant::now() + Duration::from_secs(60)))
    }

    #[test]
    fn a_packet_that_comes_again_while_the_link_has_it_is_not_done_with_before() {
        let (mut pending, mut said) = PendingPackets::new(fence());
        let first = pending.receipt(5, "first").expect("it is new");
        assert!(pending.receipt(5, "second").is_none(), "the link has it");
        assert!(said.try_recv().is_err());
        drop(first);
        let (sequence, outcome) = said.try_recv().expect("it is told");
        assert_eq!((outcome, pending.became(sequence, outcome)), (Outcome::Again, Some("second")));
        pending.receipt(5, "third").expect("the link has it no more").done();
        let (sequence, outcome) = said.try_recv().expect("it is told");
        assert_eq!((outcome, pending.became(sequence, outcome)), (Outcome::Done, Some("third")));
        assert_eq!(pending.count(), 0);
    }

    #[test]
    fn nothing_is_told_after_the_lease() {
        let fence = fence();
        let (mut pending, _said) = PendingPackets::new(fence.clone());
        pending.receipt(5, ()).expect("it is new").done();
        fence.end();
        assert_eq!(pending.became(5, Outcome::Done), None);
    }

    #[test]
    fn a_consumer_takes_the_place_of_those_of_earlier_leases_and_begins_behind_what_they_were_done_with() {
        let lease = LeaseNumber { partition: Partition::FIRST, number: 7 };
        let mut succession = Succession::new(lease, "all".to_owned());
        assert_eq!((succession.name().as_str(), succession.start()), ("0-0-7", None));
        for (name, filter, floor) in
            [("0-0-5", "all", 40), ("0-0-6", "all", 42), ("0-0-4", "some", 90), ("0-0-8", "all", 41)]
        {
            succession.there_is(name, filter, floor);
        }
        succession.there_is("0-1-5", "all", 95);
        succession.there_is("0-0-7", "all", 10);
        succession.there_is_a_silent_one("0-0-3");
        assert_eq!(succession.start(), Some(43));
        assert_eq!(succession.over().collect::<Vec<_>>(), ["0-0-5", "0-0-6", "0-0-4", "0-0-3"]);
    }
}
