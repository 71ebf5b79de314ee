//! Raw telegrams that wait, in bounded memory: each sender has a share, and senders take turns.

use super::source::Sender;
use std::collections::{BTreeMap, VecDeque};
use wire::wireless_mbus::ReceivedFrame;

/// A telegram as it was heard.
#[derive(Debug, PartialEq, Eq)]
pub enum RawTelegram {
    /// A receiver's line of text.
    Line(String),
    /// A radio module's frame.
    Frame(ReceivedFrame),
}

/// Lines and frames that wait at most.
pub const QUEUED_MAX: usize = 4096;
/// Lines and frames of one sender that wait at most.
pub const QUEUED_OF_SENDER_MAX: usize = 256;

/// Lines and frames of all senders.
#[derive(Debug, Default)]
pub struct TelegramQueue {
    telegrams: BTreeMap<Sender, VecDeque<RawTelegram>>,
    waiting: usize,
    /// The sender whose turn was last.
    last: Option<Sender>,
    dropped: u64,
}

impl TelegramQueue {
    /// Takes a telegram. If there is no room, the oldest goes: of this sender if its share is
    /// full, else of the sender with most.
    pub fn push(&mut self, sender: Sender, telegram: RawTelegram) {
        let own = self.telegrams.get(&sender).map_or(0, VecDeque::len);
        if own >= QUEUED_OF_SENDER_MAX {
            self.drop_oldest(sender);
        } else if self.waiting >= QUEUED_MAX {
            let most =
                self.telegrams.iter().max_by_key(|(_, telegrams)| telegrams.len()).map(|(most, _)| *most);
            self.drop_oldest(most.unwrap_or(sender));
        }
        self.telegrams.entry(sender).or_default().push_back(telegram);
        self.waiting += 1;
    }

    /// Takes the oldest of the next sender out.
    pub fn pop(&mut self) -> Option<(Sender, RawTelegram)> {
        let after = self.last.and_then(|last| {
            let behind = (std::ops::Bound::Excluded(last), std::ops::Bound::Unbounded);
            self.telegrams.range(behind).next().map(|(sender, _)| *sender)
        });
        let sender = after.or_else(|| self.telegrams.keys().next().copied())?;
        self.last = Some(sender);
        self.take_oldest(sender).map(|telegram| (sender, telegram))
    }

    /// The number of lines and frames that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The number of lines and frames that found no room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn drop_oldest(&mut self, sender: Sender) {
        if self.take_oldest(sender).is_some() {
            self.dropped += 1;
        }
    }

    fn take_oldest(&mut self, sender: Sender) -> Option<RawTelegram> {
        let waiting = self.telegrams.get_mut(&sender)?;
        let oldest = waiting.pop_front()?;
        if waiting.is_empty() {
            self.telegrams.remove(&sender);
        }
        self.waiting -= 1;
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> RawTelegram {
        RawTelegram::Line(text.to_owned())
    }

    fn sender(peer: u8) -> Sender {
        Sender { source: 0, peer: Some([192, 0, 2, peer].into()) }
    }

    #[test]
    fn flood_of_one_sender_leaves_the_others_lines() {
        let mut queue = TelegramQueue::default();
        queue.push(sender(1), line("honest"));
        for n in 0..100_000 {
            queue.push(sender(2), line(&n.to_string()));
        }
        assert_eq!(queue.len(), QUEUED_OF_SENDER_MAX + 1);
        let first: Vec<Sender> = (0..2).filter_map(|_| queue.pop()).map(|(sender, _)| sender).collect();
        assert_eq!(first, [sender(1), sender(2)]);
        assert_eq!(queue.dropped(), 100_000 - QUEUED_OF_SENDER_MAX as u64);
    }

    #[test]
    fn many_senders_stay_within_the_bound_and_take_turns() {
        let mut queue = TelegramQueue::default();
        for peer in 0..=255 {
            for _ in 0..40 {
                queue.push(sender(peer), line(""));
            }
        }
        assert_eq!(queue.len(), QUEUED_MAX);
        queue.push(Sender { source: 1, peer: None }, line("late"));
        let turns: Vec<RawTelegram> =
            (0..=256).filter_map(|_| queue.pop()).map(|(_, telegrams)| telegrams).collect();
        assert!(turns.contains(&line("late")));
        while queue.pop().is_some() {}
        assert!(queue.is_empty());
    }
}
