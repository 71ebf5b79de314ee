//! The collector behind the radio: packets in, packets out.

use rand::SeedableRng;
use rand::rngs::StdRng;
use std::time::Duration;
use wire::meter::{Collector, Due, Heard};

/// What the world asks of a collector. Times are nanoseconds of the world.
pub trait Collecting {
    /// A packet was heard, its address first.
    fn hear(&mut self, packet: &[u8], now_ns: u64);

    /// Transmissions to be sent by now, each of one packet or more.
    fn take_transmissions(&mut self, now_ns: u64) -> Vec<Vec<Vec<u8>>>;

    /// Waits for a transmission, for so long at most.
    fn wait(&mut self, most: Duration) {
        std::thread::sleep(most);
    }
}

/// When the world of a collector in virtual time begins: milliseconds from 2000-01-01 to 2026-01-01, 9,497 days.
const BEGINS_MS: u64 = 9_497 * 86_400_000;

/// `wire`'s collector alone, in virtual time: it stores nothing and computes in no time.
pub struct InVirtualTime {
    collector: Collector,
    rng: StdRng,
    to_send: Vec<Vec<Vec<u8>>>,
}

impl InVirtualTime {
    /// A collector that knows its meters already. seed: spreads its attempts.
    #[must_use]
    pub fn new(collector: Collector, seed: u64) -> InVirtualTime {
        InVirtualTime { collector, rng: StdRng::seed_from_u64(seed), to_send: Vec::new() }
    }
}

impl Collecting for InVirtualTime {
    fn hear(&mut self, packet: &[u8], now_ns: u64) {
        let transmission = match self.collector.hear(packet, BEGINS_MS + now_ns / 1_000_000) {
            Heard::Report(report) => self.collector.stored(report.meter, report.report.n).ok(),
            Heard::Duplicate(acknowledgement) => Some(acknowledgement),
            // It was never begun anew, and nobody writes the meters' memories.
            Heard::OldNumber(_) | Heard::NumberReused(_) | Heard::NumberTooLow { .. } => None,
            Heard::Busy | Heard::Answer(_) | Heard::Piece | Heard::OtherSuite | Heard::Rejected(_) => None,
        };
        self.to_send.extend(transmission.map(|transmission| transmission.packets));
    }

    fn take_transmissions(&mut self, now_ns: u64) -> Vec<Vec<Vec<u8>>> {
        for due in self.collector.due(BEGINS_MS + now_ns / 1_000_000, &mut self.rng) {
            match due {
                Due::Save(state) => self.collector.saved(state.meter, state.revision),
                Due::Send(transmission) => self.to_send.push(transmission.packets),
            }
        }
        std::mem::take(&mut self.to_send)
    }
}
