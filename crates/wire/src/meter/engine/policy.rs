//! The policy of a collector.

use crate::meter::Suite;
use serde::{Deserialize, Serialize};

/// The behaviour of a collector. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Sets the time of meters whose time is not set, or is off by more than a second.
    pub set_time: bool,
    /// The least time between two commands about a meter's time, if the report alone does not show
    /// it.
    pub look_at_time_every_ms: u64,
    /// For how long it waits for an answer at first, by suite, in the order of [`Suite::ALL`]; with
    /// each attempt twice as long, up to 64 times, and up to half of it more.
    pub answer_within_ms: [u64; Suite::ALL.len()],
    /// Commands that wait for a meter at most.
    pub most_commands: usize,
    /// Nothing is taken that is not sealed, and no meter is told to seal nothing.
    pub require_sealed: bool,
    /// The owner makes keys durable ([`Due::SaveKeys`]). Without it no meter is taken, and none is
    /// told, to seal with a key that is renewed.
    pub renew_keys: bool,
    /// A key of [`Suite::Aes256GcmRekeyed`] is renewed when its meter is heard with one that was
    /// not renewed within this time; `None`: by command alone.
    pub renew_keys_after_s: Option<u32>,
    /// The least time between two pieces of images, to all meters together: the radio channel is
    /// there for reports first.
    pub update_piece_every_ms: u64,
}

impl Default for Policy {
    /// Curves take the slowest meter, an ATmega328P at 16 MHz, 1 s (ECIES) and 2.1 s (with ECDSA)
    /// to open, and 1.7 s to make a report during which it does not listen.
    fn default() -> Policy {
        Policy {
            set_time: true,
            look_at_time_every_ms: 60_000,
            answer_within_ms: [500, 500, 500, 3000, 5000, 500, 500],
            most_commands: 64,
            require_sealed: false,
            renew_keys: true,
            renew_keys_after_s: None,
            update_piece_every_ms: 100,
        }
    }
}
