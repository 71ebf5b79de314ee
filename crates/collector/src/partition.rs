//! Parts of a network that one worker has at a time.
//!
//! A network's meters are spread over 1, 2, 4, 8 or 16 *slices* by the 16 bits that name a meter in
//! its packets. These are not authenticated: who writes another name into a packet sends it to
//! another slice, where nobody has a key for it. A meter belongs to the slice of the name that it
//! was provisioned with, and is registered under no name of another one.

use crate::network::{GlobalMeterId, NetworkId};
use std::fmt;
use std::str::FromStr;
use wire::meter::MeterId;

/// The most slices, as a power of two.
pub const SLICE_BITS_MAX: u32 = 4;

/// 2^16 divided by the golden ratio, to the next odd number.
pub const SPREAD: u16 = 40503;

/// A meter's place among the finest slices: [`SLICE_BITS_MAX`] bits, of which a slice is the first
/// ones. So a network that is cut finer parts slices in two, and packets that are under way need
/// not be named anew.
///
/// Numbers in a row, which is how meters are provisioned, lie as far apart as can be: Knuth, The
/// Art of Computer Programming, volume 3, 6.4, "Fibonacci hashing", with 16 bits: [`SPREAD`].
#[must_use]
pub const fn finest_slice(name: MeterId) -> u8 {
    (name.wrapping_mul(SPREAD) >> (MeterId::BITS - SLICE_BITS_MAX)) as u8
}

/// The finest slice of a packet, by the name that it says; where it is too short to say one, the
/// first.
#[must_use]
pub fn finest_slice_of_packet(packet: &[u8]) -> u8 {
    // docs/reference/protocol.md, "Packets": offset 2, 2 bytes.
    packet
        .get(2..4)
        .and_then(|name| name.try_into().ok())
        .map_or(0, |name| finest_slice(u16::from_be_bytes(name)))
}

/// Into how many slices each network is cut, the same for all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    bits: u32,
}

impl Slices {
    /// A network is one partition.
    pub const ONE: Slices = Slices { bits: 0 };

    /// Returns the number of slices.
    #[must_use]
    pub const fn count(self) -> u8 {
        1 << self.bits
    }

    /// Returns the number of bits of [`finest_slice`] that tell slices apart.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The slice that a finest one is in.
    #[must_use]
    pub const fn of_finest(self, finest: u8) -> u8 {
        finest >> (SLICE_BITS_MAX - self.bits)
    }

    /// The slice of a name.
    #[must_use]
    pub const fn of(self, name: MeterId) -> u8 {
        self.of_finest(finest_slice(name))
    }

    /// The partition that a meter belongs to.
    #[must_use]
    pub const fn partition_of(self, meter: GlobalMeterId) -> Partition {
        Partition { network: meter.network, slice: self.of(meter.meter) }
    }

    /// The partition that a packet goes to.
    #[must_use]
    pub fn partition_of_packet(self, network: NetworkId, packet: &[u8]) -> Partition {
        Partition { network, slice: self.of_finest(finest_slice_of_packet(packet)) }
    }

    /// A network's partitions.
    pub fn partitions(self, network: NetworkId) -> impl Iterator<Item = Partition> {
        (0..self.count()).map(move |slice| Partition { network, slice })
    }
}

impl fmt::Display for Slices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count().fmt(f)
    }
}

/// A number of slices that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a network has 1, 2, 4, 8 or 16 slices")]
pub struct NoSlices;

impl FromStr for Slices {
    type Err = NoSlices;

    fn from_str(text: &str) -> Result<Slices, NoSlices> {
        (0..=SLICE_BITS_MAX)
            .map(|bits| Slices { bits })
            .find(|slices| slices.to_string() == text)
            .ok_or(NoSlices)
    }
}

/// A slice of a network: what one worker has at a time. In text `7.3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition {
    pub network: NetworkId,
    /// Below [`Slices::count`].
    pub slice: u8,
}

impl Partition {
    /// The first one, which tells what is about all of them.
    pub const FIRST: Partition = Partition { network: NetworkId::DEFAULT, slice: 0 };
}

/// All of a network, where it has one slice.
impl From<NetworkId> for Partition {
    fn from(network: NetworkId) -> Partition {
        Partition { network, slice: 0 }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.network, self.slice)
    }
}

/// A text that names no partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a partition is a network and a slice, as 7.3")]
pub struct NoPartition;

impl FromStr for Partition {
    type Err = NoPartition;

    fn from_str(text: &str) -> Result<Partition, NoPartition> {
        let (network, slice) = text.split_once('.').ok_or(NoPartition)?;
        let network = network.parse().map_err(|_| NoPartition)?;
        let slice =
            (0..1 << SLICE_BITS_MAX).find(|number: &u8| number.to_string() == slice).ok_or(NoPartition)?;
        Ok(Partition { network, slice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slices(count: u8) -> Slices {
        count.to_string().parse().expect("there are such")
    }

    #[test]
    fn a_network_has_a_power_of_two_slices_up_to_16() {
        let there: Vec<u8> =
            (0..=255).filter(|count: &u8| count.to_string().parse::<Slices>().is_ok()).collect();
        assert_eq!(there, [1, 2, 4, 8, 16]);
        for text in ["", "+1", "01", "1 ", "-1", "1.0", "٤"] {
            assert_eq!(text.parse::<Slices>(), Err(NoSlices), "{text:?}");
        }
    }

    /// They say which worker has a meter: another hash would leave packets in streams and leases
    /// that nobody looks for.
    #[test]
    fn the_slices_of_some_names_stay_as_they_are() {
        let names = [1, 2, 3, 258, 259, 300, 65_535];
        assert_eq!(names.map(|name| slices(16).of(name)), [9, 3, 13, 7, 1, 6, 6]);
        assert_eq!(names.map(|name| slices(2).of(name)), [1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(names.map(|name| slices(1).of(name)), [0; 7]);
    }

    #[test]
    fn meters_in_a_row_are_spread_evenly() {
        for count in [2, 4, 8, 16] {
            let mut meters = vec![0; usize::from(count)];
            for name in 258..258 + 1000 {
                meters[usize::from(slices(count).of(name))] += 1;
            }
            let even = 1000 / i32::from(count);
            assert!(meters.iter().all(|of: &i32| (of - even).abs() <= even / 10 + 1), "{count}: {meters:?}");
        }
    }

    #[test]
    fn a_packet_goes_where_its_name_says_and_else_to_the_first() {
        for count in [1, 2, 4, 8, 16] {
            for short in [&[][..], &[0x4f], &[0x4f, 8, 1]] {
                assert_eq!(slices(count).partition_of_packet(NetworkId(7), short), NetworkId(7).into());
            }
        }
    }

    proptest! {
        #[test]
        fn a_meter_s_packets_go_to_its_partition(network: u32, name: u16, bits in 0u32..=4, rest: Vec<u8>) {
            let slices = Slices { bits };
            let packet = [&[0x4f, 8][..], &name.to_be_bytes(), &rest].concat();
            let partition = slices.partition_of_packet(NetworkId(network), &packet);
            prop_assert_eq!(partition, slices.partition_of(NetworkId(network).meter(name)));
            prop_assert!(partition.slice < slices.count());
            prop_assert_eq!(partition.to_string().parse(), Ok(partition));
        }

        #[test]
        fn parsed_partition_prints_and_parses_back(text in "[0-9]{0,11}\\.?[0-9]{0,3}") {
            if let Ok(partition) = text.parse::<Partition>() {
                prop_assert_eq!(partition.to_string().parse(), Ok(partition));
            }
        }
    }
}
