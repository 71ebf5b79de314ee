//! Messages of several pieces that are not whole yet.

use super::source::Source;
use std::collections::{BTreeMap, HashMap};
use wire::meter::{Message, MeterId, Packet, Reassembly, pieces};

/// Names and sources of which there is something at most; the oldest goes, and comes again.
pub(super) const BEGUN_MAX: usize = 4096;

/// By name and source: nobody else's pieces get into a meter's messages.
#[derive(Default)]
pub(super) struct Begun {
    of: HashMap<(MeterId, Source), (u64, Reassembly)>,
    /// The oldest first.
    order: BTreeMap<u64, (MeterId, Source)>,
    next: u64,
}

impl Begun {
    /// Takes a packet, and returns the message that it makes whole.
    pub(super) fn take(&mut self, packet: &Packet<'_>, source: Source) -> Option<Message> {
        if pieces(packet.kind, packet.suite) == 1 {
            return Reassembly::default().take(packet);
        }
        let key = (packet.meter, source);
        if !self.of.contains_key(&key) {
            self.insert(key);
        }
        let (number, reassembly) = self.of.get_mut(&key)?;
        let number = *number;
        let whole = reassembly.take(packet);
        if reassembly.held_bytes() == 0 {
            self.of.remove(&key);
            self.order.remove(&number);
        }
        whole
    }

    fn insert(&mut self, key: (MeterId, Source)) {
        if self.of.len() >= BEGUN_MAX
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.of.remove(&oldest);
        }
        self.of.insert(key, (self.next, Reassembly::default()));
        self.order.insert(self.next, key);
        self.next += 1;
    }

    pub(super) fn bytes(&self) -> usize {
        self.of.values().map(|(_, reassembly)| reassembly.held_bytes()).sum()
    }
}
