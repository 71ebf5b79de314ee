//! A meter in the database: the column `meter` is the network's number times 65,536 and the meter's. So a meter of network 0 is its number,
//! and the meters of a network lie together.

use crate::network::NetworkId;
use wire::meter::MeterId;

/// The first and the last key that a network's meters may have.
pub(super) fn keys_of(network: NetworkId) -> (i64, i64) {
    (network.meter(MeterId::MIN).key(), network.meter(MeterId::MAX).key())
}
