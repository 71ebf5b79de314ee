//! Intervals bracketed by a pin or by writes to a marker, as the papers' oscilloscopes did.

use mcu::{Access, AccessKind, PinEdge};

/// Opening and closing of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// From a rising edge of an output pin to its next falling edge.
    Pin {
        /// The port's name in the target file.
        port: String,
        /// The bit.
        pin: u8,
    },
    /// From a write to this address to the next one.
    Marker {
        /// In ELF addresses.
        address: u32,
    },
}

/// A finished interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedInterval {
    /// Cycles since reset when it opened.
    pub start: u64,
    /// Its length, in cycles.
    pub cycles: u64,
}

/// Times the intervals of one region.
#[derive(Clone, Debug)]
pub struct RegionTimer {
    region: Region,
    opened: Option<u64>,
    finished: Vec<TimedInterval>,
}

impl RegionTimer {
    /// A timer that has seen nothing yet.
    #[must_use]
    pub fn new(region: Region) -> Self {
        RegionTimer { region, opened: None, finished: Vec::new() }
    }

    /// The intervals that were opened and closed.
    #[must_use]
    pub fn finished(&self) -> &[TimedInterval] {
        &self.finished
    }

    /// The cycle at which the interval that is open began.
    #[must_use]
    pub fn opened(&self) -> Option<u64> {
        self.opened
    }

    fn close(&mut self, now: u64) {
        if let Some(start) = self.opened.take() {
            self.finished.push(TimedInterval { start, cycles: now - start });
        }
    }

    /// To be told of each edge.
    pub fn pin(&mut self, edge: &PinEdge<'_>) {
        let Region::Pin { port, pin } = &self.region else { return };
        if edge.port != port || edge.pin != *pin {
            return;
        }
        if edge.high {
            self.opened = Some(edge.cycles);
        } else {
            self.close(edge.cycles);
        }
    }

    /// To be told of each access.
    pub fn access(&mut self, access: &Access) {
        let Region::Marker { address } = self.region else { return };
        if access.kind != AccessKind::Write
            || !(access.address..access.address + u32::from(access.size)).contains(&address)
        {
            return;
        }
        if self.opened.is_some() {
            self.close(access.cycles);
        } else {
            self.opened = Some(access.cycles);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(high: bool, cycles: u64) -> PinEdge<'static> {
        PinEdge { port: "PORTB", pin: 5, high, cycles }
    }

    #[test]
    fn a_pin_s_high_time_is_a_stretch() {
        let mut timer = RegionTimer::new(Region::Pin { port: "PORTB".into(), pin: 5 });
        for (high, cycles) in [(false, 1), (true, 10), (false, 25), (true, 30)] {
            timer.pin(&edge(high, cycles));
        }
        timer.pin(&PinEdge { pin: 4, ..edge(false, 40) });
        assert_eq!(timer.finished(), [TimedInterval { start: 10, cycles: 15 }]);
    }

    #[test]
    fn two_writes_to_the_marker_make_a_stretch() {
        let mut timer = RegionTimer::new(Region::Marker { address: 0x101 });
        let write =
            |cycles| Access { pc: 0, address: 0x100, size: 2, kind: AccessKind::Write, value: 0, cycles };
        timer.access(&Access { kind: AccessKind::Read, ..write(1) });
        for cycles in [5, 9, 20] {
            timer.access(&write(cycles));
        }
        assert_eq!(timer.finished(), [TimedInterval { start: 5, cycles: 4 }]);
    }
}
