//! Levels over time at a pin, driven from outside: edges, rectangular waves.

use super::Pin;
use std::sync::Arc;

/// Levels over time. Times are nanoseconds since power-up.
#[derive(Clone, Debug, PartialEq)]
pub enum Levels {
    /// Levels from these times on, in ascending order; `None` lets go of the pin. Nothing drives
    /// it before the first.
    Edges(Arc<[(u64, Option<bool>)]>),
    /// A rectangular wave that begins high. Its pin is low before and after it.
    Wave {
        /// Frequency, in Hz; above 0.
        hz: f64,
        /// Share of a period that is high, above 0 and below 1.
        duty: f64,
        /// Beginning.
        from_ns: u64,
        /// End; none where it goes on for ever.
        until_ns: Option<u64>,
    },
}

impl Levels {
    /// The level at a time; `None` while the pin is not driven.
    #[must_use]
    pub fn at(&self, time_ns: u64) -> Option<bool> {
        match self {
            Levels::Edges(edges) => {
                let next = edges.partition_point(|(at_ns, _)| *at_ns <= time_ns);
                edges[..next].last().and_then(|(_, level)| *level)
            }
            Levels::Wave { from_ns, until_ns, .. } => {
                let runs = *from_ns <= time_ns && until_ns.is_none_or(|until_ns| time_ns < until_ns);
                let edges = if runs { self.wave_edges_to(time_ns) } else { 0 };
                Some(edges % 2 == 1)
            }
        }
    }

    /// The first time after this one at which the level may change.
    #[must_use]
    pub fn next_edge(&self, after_ns: u64) -> Option<u64> {
        match self {
            Levels::Edges(edges) => {
                let next = edges.partition_point(|(at_ns, _)| *at_ns <= after_ns);
                edges.get(next).map(|(at_ns, _)| *at_ns)
            }
            Levels::Wave { from_ns, .. } if after_ns < *from_ns => Some(*from_ns),
            Levels::Wave { until_ns, .. } => {
                let next = self.wave_edge(self.wave_edges_to(after_ns));
                match until_ns {
                    Some(until_ns) if after_ns >= *until_ns => None,
                    Some(until_ns) => Some(next.min(*until_ns)),
                    None => Some(next),
                }
            }
        }
    }

    /// Time of the wave's edge of this number; even ones rise.
    fn wave_edge(&self, number: u64) -> u64 {
        let Levels::Wave { hz, duty, from_ns, .. } = self else { return u64::MAX };
        let periods = (number / 2) as f64 + if number % 2 == 1 { *duty } else { 0.0 };
        from_ns.saturating_add((periods * 1e9 / hz).round() as u64)
    }

    /// Number of the wave's edges up to and including this time, which is not before its beginning.
    fn wave_edges_to(&self, time_ns: u64) -> u64 {
        let Levels::Wave { hz, from_ns, .. } = self else { return 0 };
        // The estimate is off by one at most, where an edge was rounded to its nanosecond.
        let periods = ((time_ns - from_ns) as f64 * 1e-9 * hz).floor() as u64;
        let mut edges = 2 * periods.saturating_sub(1);
        while self.wave_edge(edges) <= time_ns {
            edges += 1;
        }
        edges
    }
}

/// A pin with levels over time, and how far they have come.
#[derive(Clone, Debug)]
pub(super) struct PinSignal {
    pub(super) pin: Pin,
    levels: Levels,
    /// The time up to which edges have reached the pin.
    reached_ns: u64,
}

impl PinSignal {
    pub(super) fn new(pin: Pin, levels: Levels) -> PinSignal {
        PinSignal { pin, levels, reached_ns: 0 }
    }

    /// The level at the pin.
    pub(super) fn level(&self) -> Option<bool> {
        self.levels.at(self.reached_ns)
    }

    /// Time of the next edge.
    pub(super) fn due(&self) -> Option<u64> {
        self.levels.next_edge(self.reached_ns)
    }

    /// Brings edges up to `now_ns` to the pin. Of two edges within one instruction the second waits
    /// for the next one, so that a short pulse is not lost; of more than two the last two count.
    pub(super) fn tick(&mut self, now_ns: u64) {
        let (mut first, mut second) = (None, None);
        let mut next = self.due();
        while let Some(edge) = next.filter(|edge| *edge <= now_ns) {
            (first, second) = (second, Some(edge));
            next = self.levels.next_edge(edge);
        }
        match (first, second) {
            (Some(first), Some(_)) => self.reached_ns = first,
            (None, Some(only)) => self.reached_ns = only,
            (_, None) => {}
        }
    }

    /// Begins anew at time 0.
    pub(super) fn power_up(&mut self) {
        self.reached_ns = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(hz: f64, duty: f64, until_ns: Option<u64>) -> Levels {
        Levels::Wave { hz, duty, from_ns: 100, until_ns }
    }

    #[test]
    fn wave_has_its_edges_where_they_belong() {
        let kilohertz = wave(1_000.0, 0.25, None);
        let edges: Vec<u64> =
            std::iter::successors(Some(100), |edge| kilohertz.next_edge(*edge)).take(5).collect();
        assert_eq!(edges, [100, 250_100, 1_000_100, 1_250_100, 2_000_100]);
        assert_eq!(
            [99, 100, 250_099, 250_100, 1_000_100].map(|at| kilohertz.at(at)),
            [Some(false), Some(true), Some(true), Some(false), Some(true)]
        );
    }

    #[test]
    fn wave_of_a_third_of_a_microsecond_keeps_its_frequency() {
        let wave = wave(3e6, 0.5, None);
        // After an hour the 10.8e9th period begins, within the rounding of a nanosecond.
        let hour_ns = 3_600_000_000_000 + 100;
        assert_eq!(wave.at(hour_ns), Some(true));
        assert_eq!(wave.next_edge(hour_ns - 1), Some(hour_ns));
        for at in hour_ns..hour_ns + 1_000 {
            let next = wave.next_edge(at).expect("an endless wave");
            assert!(next > at && next - at <= 167, "{at}: {next}");
            assert_ne!(wave.at(next), wave.at(next - 1), "{at}");
        }
    }

    #[test]
    fn wave_ends_low() {
        let wave = wave(1_000.0, 0.5, Some(1_200_000));
        assert_eq!(wave.next_edge(1_000_100), Some(1_200_000));
        assert_eq!(
            (wave.at(1_199_999), wave.at(1_200_000), wave.next_edge(1_200_000)),
            (Some(true), Some(false), None)
        );
    }

    #[test]
    fn pulse_within_an_instruction_is_not_lost() {
        let edges = [(0, Some(true)), (10, Some(false)), (20, Some(true))];
        let mut signal = PinSignal::new(Pin::new("PORTB", 0), Levels::Edges(edges.into()));
        assert_eq!((signal.level(), signal.due()), (Some(true), Some(10)));
        signal.tick(50);
        assert_eq!((signal.level(), signal.due()), (Some(false), Some(20)));
        signal.tick(60);
        assert_eq!((signal.level(), signal.due()), (Some(true), None));
    }
}
