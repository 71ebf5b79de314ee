//! Journal of a run's events from outside, and their times. With it the run repeats itself from any
//! snapshot.

/// Event done to the machine at a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// These bytes began to arrive at the UART that input goes to.
    Received(Vec<u8>),
    /// The ring buffers of RTT were emptied.
    Fetched,
}

/// The events of a run, the earliest first.
#[derive(Default)]
pub(crate) struct Journal {
    /// Nobody repeats a run that is not debugged.
    pub is_recording: bool,
    events: Vec<(u64, Event)>,
}

impl Journal {
    /// At this cycle this came about.
    pub fn note(&mut self, cycles: u64, event: Event) {
        if self.is_recording {
            self.events.push((cycles, event));
        }
    }

    /// The cycle of the first event after another cycle.
    pub fn next(&self, cycles: u64) -> Option<u64> {
        self.between(cycles, u64::MAX).next().map(|(cycles, _)| *cycles)
    }

    /// The events after a cycle, up to another with it.
    pub fn between(&self, after: u64, to: u64) -> impl Iterator<Item = &(u64, Event)> {
        self.events.iter().filter(move |(cycles, _)| (after + 1..=to).contains(cycles))
    }

    /// From this cycle on things take another course.
    pub fn forget_after(&mut self, cycles: u64) {
        self.events.retain(|(at, _)| *at <= cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Journal};

    #[test]
    fn events_come_once_and_in_their_order() {
        let mut journal = Journal::default();
        journal.note(5, Event::Fetched);
        assert_eq!(journal.next(0), None, "nobody wants it");
        journal.is_recording = true;
        for cycles in [5, 7, 9] {
            journal.note(cycles, Event::Received(vec![cycles as u8]));
        }
        assert_eq!((journal.next(0), journal.next(5), journal.next(9)), (Some(5), Some(7), None));
        let between: Vec<u64> = journal.between(5, 9).map(|(cycles, _)| *cycles).collect();
        assert_eq!(between, [7, 9]);
        journal.forget_after(7);
        assert_eq!(journal.next(7), None);
    }
}
