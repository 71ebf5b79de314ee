//! The limits of one gateway's traffic: a flood at one costs the others nothing.

use crate::network::{GlobalMeterId, NetworkId};
use governor::clock::DefaultClock;
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;

/// Packets a second in one meter's name, and at once. A meter that empties its journal sends a
/// report of at most three packets, and the next when that is acknowledged, which takes 100 ms with
/// the slowest radios (docs/reference/protocol.md); others hear its neighbours' copies of it.
const OF_A_NAME_PER_S: NonZeroU32 = NonZeroU32::new(50).unwrap();
const OF_A_NAME_AT_ONCE: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Token buckets: one for the gateway, and one for each name that packets say, of which there are
/// 65,536 in a network.
#[derive(Debug)]
pub(super) struct Limits {
    all: DefaultDirectRateLimiter,
    by_name: DefaultKeyedRateLimiter<GlobalMeterId>,
}

impl Limits {
    /// per_s: packets of all meters together.
    pub(super) fn new(per_s: NonZeroU32) -> Limits {
        let of_a_name = Quota::per_second(OF_A_NAME_PER_S).allow_burst(OF_A_NAME_AT_ONCE);
        Limits {
            all: RateLimiter::direct(Quota::per_second(per_s)),
            by_name: RateLimiter::dashmap_with_clock(of_a_name, DefaultClock::default()),
        }
    }

    /// Says if a packet may go on.
    pub(super) fn take(&self, network: NetworkId, packet: &[u8]) -> bool {
        let name = packet.get(2..4).and_then(|name| name.try_into().ok()).map_or(0, u16::from_be_bytes);
        // First its own, so that a flood in one name leaves the gateway's to others.
        self.by_name.check_key(&network.meter(name)).is_ok() && self.all.check().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_in_one_name_leaves_room_for_others_within_bounds() {
        let packet = |name: u16| [&[0x4f, 8][..], &name.to_be_bytes(), &[0; 17]].concat();
        let limits = Limits::new(NonZeroU32::new(1000).expect("not 0"));
        let passed = |name| (0..1000).filter(|_| limits.take(NetworkId(7), &packet(name))).count();
        let flood = passed(258);
        assert!((100..200).contains(&flood), "{flood} of one name");
        assert!(limits.take(NetworkId(7), &packet(259)));
        assert!(limits.take(NetworkId::DEFAULT, &packet(258)));
        let all: usize = (1000..1100).map(passed).sum();
        assert!((500..2000).contains(&all), "{all} of a hundred names");
    }
}
