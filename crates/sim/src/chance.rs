//! Random numbers that are drawn by what they are for, so that one decision does not shift all that
//! come after it.
//!
//! SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
//! It serves a simulation's chances; no secret comes of it.

/// A stream of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(u64);

/// Purpose of a stream; with the seed and an index it names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Load of a site.
    Load = 1,
    /// Impairment of a packet on its way to one receiver.
    Impairment,
    /// The attacker.
    Attack,
    /// Losses of power.
    Cuts,
    /// The collector's commands and crashes.
    Collector,
    /// Keys and first seeds.
    Keys,
    /// A meter's own noise.
    Meter,
    /// When the collector has keys renewed, and what a crash leaves of those that are being stored.
    Renewals,
    /// Choice of the meters that are given images, and of the times.
    Updates,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Chance {
    /// The stream of a seed, a purpose and two indices.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, index: u64, second: u64) -> Chance {
        let mut state = seed;
        for word in [purpose as u64, index, second] {
            state = mixed(state.wrapping_add(GOLDEN)) ^ mixed(word.wrapping_add(GOLDEN.rotate_left(32)));
        }
        Chance(state)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mixed(self.0)
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number from 0 to below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        (u128::from(self.bits()) * u128::from(bound.max(1)) >> 64) as u64
    }

    /// A number between two.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Exponentially distributed, with this mean: the time to the next of events that come at
    /// random.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Fills with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let bits = self.bits().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_s_published_numbers() {
        // The reference implementation (Vigna, splitmix64.c) begun with 1234567, as Rosetta Code
        // and the JDK's tests list it.
        let mut chance = Chance(1_234_567);
        let numbers: Vec<u64> = (0..5).map(|_| chance.bits()).collect();
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn streams_differ_by_purpose_and_index_and_keep_their_means() {
        let first = |purpose, index| Chance::new(1, purpose, index, 0).bits();
        assert_ne!(first(Purpose::Load, 0), first(Purpose::Impairment, 0));
        assert_ne!(first(Purpose::Load, 0), first(Purpose::Load, 1));
        let mut chance = Chance::new(7, Purpose::Cuts, 0, 0);
        let mean = (0..100_000).map(|_| chance.exponential(5.0)).sum::<f64>() / 1e5;
        // The mean of 100,000 has a deviation of 5/316.
        assert!((mean - 5.0).abs() < 0.08, "{mean}");
    }
}
