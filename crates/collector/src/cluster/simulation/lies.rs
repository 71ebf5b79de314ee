//! A broker that lies: what it says and stores instead of the truth. It draws from a generator of
//! its own, so that a seed without lies is the same run as before.

use super::jetstream::{Change, Entry};
use crate::cluster::lease::Lease;
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// Unix time of the simulation in ms, about.
const NOW_MS: u64 = 1_795_737_600_000;
const YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1000;

pub(super) struct Lies {
    rng: StdRng,
    /// Of what is asked, so much is answered by a lie.
    rate: f64,
    slices: Slices,
}

impl Lies {
    pub(super) fn new(seed: u64, slices: Slices) -> Lies {
        let mut rng = StdRng::seed_from_u64(!seed);
        let rate = [0.01, 0.05, 0.3][rng.random_range(0..3)];
        Lies { rng, rate, slices }
    }

    /// Draws if it lies now.
    pub(super) fn lie(&mut self) -> bool {
        self.rng.random_bool(self.rate)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.rng.random_range(0..bound)
    }

    /// A number, near the true one or not.
    pub(super) fn number(&mut self, true_one: u64) -> u64 {
        match self.below(6) {
            0 => 0,
            1 => u64::MAX,
            2 => self.rng.random(),
            3 => true_one.saturating_sub(1),
            4 => true_one,
            _ => true_one.saturating_add(1),
        }
    }

    pub(super) fn partition(&mut self, known: &BTreeMap<Partition, Entry>) -> Partition {
        let slice = self.rng.random_range(0..16);
        match (self.below(4), known.len()) {
            (0, _) => Partition { network: NetworkId(self.rng.random()), slice },
            (1, _) | (_, 0) => Partition { network: NetworkId::DEFAULT, slice: slice % self.slices.count() },
            (_, count) => known.keys().nth(self.below(count)).copied().unwrap_or_default(),
        }
    }

    /// The bytes of a lease: any, one of another partition or of before, or one that was made up.
    pub(super) fn lease(&mut self, known: &BTreeMap<Partition, Entry>) -> Vec<u8> {
        match (self.below(6), known.len()) {
            (0, _) => (0..self.below(700)).map(|_| self.rng.random()).collect(),
            (1, _) => br#"{"stream":"wattseal-up","seq":1}"#.to_vec(),
            (2, count) if count > 0 => {
                let of = self.below(count);
                known.values().nth(of).map(|entry| entry.bytes.clone()).unwrap_or_default()
            }
            (3, _) => Vec::new(),
            _ => {
                let worker = match self.below(4) {
                    0 => None,
                    1 => Some("a b".repeat(self.below(90))),
                    2 => Some("ghost".to_owned()),
                    _ => Some(format!("w{}-1", self.below(3))),
                };
                let fence = match self.below(5) {
                    0 => NOW_MS + YEAR_MS,
                    1 => NOW_MS + 60_000,
                    _ => self.number(NOW_MS),
                };
                let lease = Lease { worker, fence, renewed: self.number(7) };
                serde_json::to_vec(&lease).unwrap_or_default()
            }
        }
    }

    /// A change of a bucket that never was.
    pub(super) fn change(&mut self, revision: u64, known: &BTreeMap<Partition, Entry>) -> Change {
        let name = match self.below(3) {
            0 => format!("w{}-1", self.below(3)),
            1 => format!("ghost{}", self.below(5000)),
            _ => "a b".to_owned(),
        };
        match self.below(4) {
            0 => Change::Worker(name),
            1 => Change::WorkerGone(name),
            _ => {
                let entry = Entry { revision: self.number(revision), bytes: self.lease(known) };
                Change::Lease(self.partition(known), entry)
            }
        }
    }

    /// A message that is delivered in the place of another: with another number, other packets, or
    /// some bits that are not as they were.
    pub(super) fn packets(&mut self, sequence: u64, mut packets: Vec<Vec<u8>>) -> (u64, Vec<Vec<u8>>) {
        match self.below(4) {
            0 => return (self.number(sequence), packets),
            1 => packets = vec![vec![0; self.below(64)]; 1 + self.below(32)],
            2 => packets.reverse(),
            _ => {
                let which = self.below(packets.len());
                let packet = &mut packets[which];
                let at = self.rng.random_range(0..packet.len().max(1));
                if let Some(byte) = packet.get_mut(at) {
                    *byte ^= 1 << self.rng.random_range(0..8);
                }
            }
        }
        (sequence, packets)
    }
}
