//! Random numbers of tests. What begins a test is printed, and `WATTSEAL_SEED` repeats it.

use std::time::{SystemTime, UNIX_EPOCH};

/// `WATTSEAL_SEED`, or another one each time; printed.
///
/// # Panics
/// If `WATTSEAL_SEED` is no number.
#[must_use]
pub fn seed() -> u64 {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
    printed(given().unwrap_or_else(clock))
}

/// `WATTSEAL_SEED`, or else `usual`; printed.
///
/// # Panics
/// If `WATTSEAL_SEED` is no number.
#[must_use]
pub fn seed_or(usual: u64) -> u64 {
    printed(given().unwrap_or(usual))
}

fn given() -> Option<u64> {
    let text = std::env::var("WATTSEAL_SEED").ok()?;
    Some(text.parse().expect("WATTSEAL_SEED is a decimal number"))
}

fn printed(seed: u64) -> u64 {
    println!("WATTSEAL_SEED={seed}");
    seed
}

/// Number of instructions that a comparison with another simulator runs:
/// `WATTSEAL_ORACLE_INSTRUCTIONS`, or else `short`, or `long` with `WATTSEAL_ORACLE=long`.
#[must_use]
pub fn instructions(short: usize, long: usize) -> usize {
    let count = std::env::var("WATTSEAL_ORACLE_INSTRUCTIONS").ok().and_then(|count| count.parse().ok());
    let is_long = std::env::var("WATTSEAL_ORACLE").is_ok_and(|length| length == "long");
    count.unwrap_or(if is_long { long } else { short })
}

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
/// 2016): the same numbers on every host and in every release.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator's state is never 0, so 0 and 1 begin the same.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1))
    }

    /// 64 bits.
    pub fn word64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// The upper 32 of 64 bits, which are the better ones.
    pub fn word(&mut self) -> u32 {
        (self.word64() >> 32) as u32
    }

    /// Eight bits.
    pub fn byte(&mut self) -> u8 {
        self.word() as u8
    }

    /// 0 to `limit` - 1.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit
    }
}
