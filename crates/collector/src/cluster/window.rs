//! Packets that a worker has of a stream, until what they led to is durable.

use std::collections::BTreeMap;

/// The packets that were delivered and not acknowledged, by their numbers in the stream. JetStream is told of a packet that it and all before
/// it are done with (AckAll): so one that has to come again keeps all behind it, which then come again, too, and are repeats.
#[derive(Debug)]
pub(super) struct Window<R> {
    /// Where an acknowledgement goes, and whether the packet is done with.
    packets: BTreeMap<u64, (R, bool)>,
}

impl<R> Window<R> {
    pub(super) fn new() -> Window<R> {
        Window { packets: BTreeMap::new() }
    }

    /// A packet was delivered, for the first time or again.
    pub(super) fn delivered(&mut self, sequence: u64, reply: R) {
        self.packets.insert(sequence, (reply, false));
    }

    /// What a packet led to is durable, or it led to nothing.
    pub(super) fn done(&mut self, sequence: u64) {
        if let Some((_, done)) = self.packets.get_mut(&sequence) {
            *done = true;
        }
    }

    /// Where what is said of a packet goes.
    pub(super) fn reply(&self, sequence: u64) -> Option<&R> {
        self.packets.get(&sequence).map(|(reply, _)| reply)
    }

    /// Takes out what can be acknowledged, and returns where that goes: to the last one before which all are done with.
    pub(super) fn acknowledge(&mut self) -> Option<R> {
        let mut last = None;
        while let Some(first) = self.packets.first_entry().filter(|first| first.get().1) {
            last = Some(first.remove().0);
        }
        last
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_that_is_not_done_with_keeps_those_behind_it() {
        let mut window = Window::new();
        for sequence in [3, 5, 9] {
            window.delivered(sequence, sequence);
        }
        window.done(5);
        window.done(7);
        assert_eq!(window.acknowledge(), None);
        window.done(3);
        assert_eq!((window.acknowledge(), window.len()), (Some(5), 1));
        // Delivered again before it was done with.
        window.delivered(9, 90);
        window.done(9);
        assert_eq!((window.acknowledge(), window.len()), (Some(90), 0));
    }

    proptest! {
        #[test]
        fn what_is_acknowledged_is_done_with(steps in prop::collection::vec((0u64..20, 0u8..3), 0..100)) {
            let mut window = Window::new();
            let (mut done, mut delivered, mut floor) = (BTreeMap::new(), 0, 0);
            for (number, step) in steps {
                match step {
                    0 => {
                        delivered += 1;
                        done.insert(delivered, false);
                        window.delivered(delivered, delivered);
                    }
                    1 => {
                        window.done(number);
                        done.entry(number).and_modify(|done| *done = true);
                    }
                    _ => if let Some(acknowledged) = window.acknowledge() {
                        prop_assert!(acknowledged > floor);
                        floor = acknowledged;
                        prop_assert!(done.range(..=floor).all(|(_, done)| *done));
                    },
                }
            }
        }
    }
}
