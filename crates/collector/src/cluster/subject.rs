//! Subjects, streams and buckets. docs/how-to/cluster.md, "Subjects".
//!
//! The bits of the finest slice are a token each, the highest first, so that a partition is a
//! prefix with wildcards behind it: gateways publish the same subjects with any number of slices,
//! and need not be told.

use super::name::RoleName;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, SLICE_BITS_MAX, Slices, finest_slice};

/// Packets that were heard.
pub(super) const STREAM: &str = "wattseal-up";
/// The subjects of the stream: network, four bits, gateway.
pub(super) const ALL_UP: &str = "wattseal.*.up.*.*.*.*.*";
/// The subjects of packets that gateways send.
pub(super) const ALL_DOWN: &str = "wattseal.*.down.*";
/// All questions.
pub(super) const ALL_ASKED: &str = "wattseal.*.ask.*.*.*.*";
pub(super) const ALL_ANSWERS: &str = "wattseal.answer.*.*";
/// The subject of events, for subscribers: something became durable.
pub(super) const EVENTS: &str = "wattseal.events";
/// Below it answers come.
pub(super) const ANSWERS: &str = "wattseal.answer.";
/// The bucket of leases.
pub(super) const LEASES: &str = "wattseal-leases";
/// The bucket of workers.
pub(super) const WORKERS: &str = "wattseal-workers";
/// The bucket of settings that all workers share.
pub(super) const SETTINGS: &str = "wattseal-settings";
/// Its key: how many slices a network has.
pub(super) const SLICES: &str = "slices";

/// Returns the subject of a gateway's packets of this network.
pub(super) fn up(network: NetworkId, finest_slice: u8, gateway: &RoleName) -> String {
    format!("wattseal.{network}.up.{}.{gateway}", bits(finest_slice, SLICE_BITS_MAX))
}

/// All that a gateway publishes in a network.
pub(super) fn all_up_of(network: NetworkId, gateway: &RoleName) -> String {
    let any = vec!["*"; SLICE_BITS_MAX as usize].join(".");
    format!("wattseal.{network}.up.{any}.{gateway}")
}

/// All that gateways publish for a partition.
pub(super) fn of_partition(partition: Partition, slices: Slices) -> String {
    format!("wattseal.{}.up.{}.*", partition.network, slice(partition, slices))
}

/// Returns the subject of requests about a meter.
pub(super) fn ask(meter: GlobalMeterId) -> String {
    format!("wattseal.{}.ask.{}", meter.network, bits(finest_slice(meter.meter), SLICE_BITS_MAX))
}

/// All that is asked about a partition's meters.
pub(super) fn asked(partition: Partition, slices: Slices) -> String {
    format!("wattseal.{}.ask.{}", partition.network, slice(partition, slices))
}

/// Returns the subject of the answer to one request.
pub(super) fn answer(name: &RoleName, question: u64) -> String {
    format!("{ANSWERS}{name}.{question:016x}")
}

/// The four tokens of a slice.
fn slice(partition: Partition, slices: Slices) -> String {
    let known = bits(partition.slice, slices.bits());
    let any = vec!["*"; (SLICE_BITS_MAX - slices.bits()) as usize].join(".");
    let tokens = [known.as_str(), &any].into_iter().filter(|tokens| !tokens.is_empty());
    tokens.collect::<Vec<_>>().join(".")
}

/// The gateway that published to this subject; the server lets it do so under its own name alone.
pub(super) fn gateway_of(subject: &str) -> Option<RoleName> {
    subject.rsplit_once('.')?.1.parse().ok()
}

/// Returns the subject of the packets that a gateway is to send in a network.
pub(super) fn down(network: NetworkId, gateway: &RoleName) -> String {
    format!("wattseal.{network}.down.{gateway}")
}

/// Returns the prefix of a partition's consumers; the number of the lease follows.
pub(super) fn consumers_of(partition: Partition) -> String {
    format!("{}-{}-", partition.network, partition.slice)
}

/// The lowest `count` bits of a number, a token each.
fn bits(number: u8, count: u32) -> String {
    let bits = (0..count).rev().map(|bit| if number >> bit & 1 == 1 { "1" } else { "0" });
    bits.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slices(count: u8) -> Slices {
        count.to_string().parse().expect("there are such")
    }

    #[test]
    fn subjects_as_they_are_written() {
        let hall: RoleName = "hall".parse().expect("a name");
        assert_eq!(up(NetworkId(7), 0b1010, &hall), "wattseal.7.up.1.0.1.0.hall");
        assert_eq!(down(NetworkId(7), &hall), "wattseal.7.down.hall");
        let of = |slice, count| of_partition(Partition { network: NetworkId(7), slice }, slices(count));
        assert_eq!(of(0, 1), "wattseal.7.up.*.*.*.*.*");
        assert_eq!(of(2, 4), "wattseal.7.up.1.0.*.*.*");
        assert_eq!(of(10, 16), "wattseal.7.up.1.0.1.0.*");
        assert_eq!(ask(NetworkId(7).meter(258)), "wattseal.7.ask.0.1.1.1");
        assert_eq!(gateway_of("wattseal.7.up.1.0.1.0.hall"), Some(hall));
        for text in ["", ".", "*", ">", "a.b", "a b", "$SYS", "ü", &"a".repeat(33)] {
            assert!(text.parse::<RoleName>().is_err(), "{text}");
        }
    }

    /// As NATS matches subjects.
    fn matches(filter: &str, subject: &str) -> bool {
        let (filter, subject): (Vec<_>, Vec<_>) = (filter.split('.').collect(), subject.split('.').collect());
        filter.len() == subject.len()
            && filter.iter().zip(subject).all(|(of, token)| *of == "*" || *of == token)
    }

    proptest! {
        #[test]
        fn each_packet_goes_to_one_partition_of_its_network(network: u32, name: u16, other: u32, log in 0u32..=4) {
            let (slices, gateway) = (slices(1 << log), "hall".parse().expect("a name"));
            let subject = up(NetworkId(network), crate::partition::finest_slice(name), &gateway);
            prop_assert!(matches(ALL_UP, &subject));
            let taking = |network| {
                let partitions = slices.partitions(NetworkId(network));
                partitions.filter(|partition| matches(&of_partition(*partition, slices), &subject)).collect::<Vec<_>>()
            };
            let its = slices.partition_of(NetworkId(network).meter(name));
            prop_assert_eq!(taking(network), [its]);
            // So does a question about its meter.
            let question = ask(NetworkId(network).meter(name));
            let asking = |network| {
                let partitions = slices.partitions(NetworkId(network));
                partitions.filter(|partition| matches(&asked(*partition, slices), &question)).collect::<Vec<_>>()
            };
            prop_assert_eq!(asking(network), [its]);
            if other != network {
                prop_assert_eq!(taking(other), []);
            }
        }
    }
}
