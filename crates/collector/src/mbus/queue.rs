//! The lines that wait, in bounded memory: each sender has a share, and senders take turns.

use super::source::Sender;
use std::collections::{BTreeMap, VecDeque};

/// Lines that wait at most.
pub const LINES_MAX: usize = 4096;
/// Lines of one sender that wait at most.
pub const LINES_OF_SENDER_MAX: usize = 256;

/// Lines of all senders.
#[derive(Debug, Default)]
pub struct LineQueue {
    lines: BTreeMap<Sender, VecDeque<String>>,
    waiting: usize,
    /// The sender whose turn was last.
    last: Option<Sender>,
    dropped: u64,
}

impl LineQueue {
    /// Takes a line. If there is no room, the oldest line goes: of this sender if its share is
    /// full, else of the sender with most.
    pub fn push(&mut self, sender: Sender, line: String) {
        let own = self.lines.get(&sender).map_or(0, VecDeque::len);
        if own >= LINES_OF_SENDER_MAX {
            self.drop_oldest(sender);
        } else if self.waiting >= LINES_MAX {
            let most = self.lines.iter().max_by_key(|(_, lines)| lines.len()).map(|(most, _)| *most);
            self.drop_oldest(most.unwrap_or(sender));
        }
        self.lines.entry(sender).or_default().push_back(line);
        self.waiting += 1;
    }

    /// Takes the oldest line of the next sender out.
    pub fn pop(&mut self) -> Option<(Sender, String)> {
        let after = self.last.and_then(|last| {
            let behind = (std::ops::Bound::Excluded(last), std::ops::Bound::Unbounded);
            self.lines.range(behind).next().map(|(sender, _)| *sender)
        });
        let sender = after.or_else(|| self.lines.keys().next().copied())?;
        self.last = Some(sender);
        self.take_oldest(sender).map(|line| (sender, line))
    }

    /// The number of lines that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The number of lines that found no room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn drop_oldest(&mut self, sender: Sender) {
        if self.take_oldest(sender).is_some() {
            self.dropped += 1;
        }
    }

    fn take_oldest(&mut self, sender: Sender) -> Option<String> {
        let lines = self.lines.get_mut(&sender)?;
        let line = lines.pop_front()?;
        if lines.is_empty() {
            self.lines.remove(&sender);
        }
        self.waiting -= 1;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(peer: u8) -> Sender {
        Sender { source: 0, peer: Some([192, 0, 2, peer].into()) }
    }

    #[test]
    fn flood_of_one_sender_leaves_the_others_lines() {
        let mut queue = LineQueue::default();
        queue.push(sender(1), "honest".into());
        for n in 0..100_000 {
            queue.push(sender(2), n.to_string());
        }
        assert_eq!(queue.len(), LINES_OF_SENDER_MAX + 1);
        let first: Vec<Sender> = (0..2).filter_map(|_| queue.pop()).map(|(sender, _)| sender).collect();
        assert_eq!(first, [sender(1), sender(2)]);
        assert_eq!(queue.dropped(), 100_000 - LINES_OF_SENDER_MAX as u64);
    }

    #[test]
    fn many_senders_stay_within_the_bound_and_take_turns() {
        let mut queue = LineQueue::default();
        for peer in 0..=255 {
            for _ in 0..40 {
                queue.push(sender(peer), String::new());
            }
        }
        assert_eq!(queue.len(), LINES_MAX);
        queue.push(Sender { source: 1, peer: None }, "late".into());
        let turns: Vec<String> = (0..=256).filter_map(|_| queue.pop()).map(|(_, line)| line).collect();
        assert!(turns.contains(&"late".to_owned()));
        while queue.pop().is_some() {}
        assert!(queue.is_empty());
    }
}
