//! A meter in the database: the column `meter` is the network's number times 65,536 and the
//! meter's. So a meter of network 0 is its number, and the meters of a network lie together.

use crate::network::NetworkId;
use crate::partition::{Partition, SPREAD, Slices};
use crate::store::sql::Value;
use wire::meter::MeterId;

/// Meters that are read at a time.
pub(crate) const METERS_OF_A_PAGE: i64 = 4096;

/// The first and the last key that a network's meters may have.
pub(crate) fn keys_of(network: NetworkId) -> (i64, i64) {
    (network.meter(MeterId::MIN).key(), network.meter(MeterId::MAX).key())
}

/// The meters of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MeterRange {
    All,
    OfNetwork(NetworkId),
    OfPartition(Partition, Slices),
}

impl MeterRange {
    /// Returns the condition of a query: `$1` to `$4` are [`MeterRange::page`]'s.
    pub(crate) fn sql() -> String {
        format!("meter > $1 AND meter <= $2 AND meter % 65536 * {SPREAD} % 65536 / $3 = $4")
    }

    /// The values of the next page, and how many rows it has at most. after: the last key that was
    /// seen.
    pub(crate) fn page(self, after: Option<i64>, most: i64) -> [Value<'static>; 5] {
        let ((first, last), (slices, slice)) = match self {
            MeterRange::All => ((0, i64::MAX), (1, 0)),
            MeterRange::OfNetwork(network) => (keys_of(network), (1, 0)),
            MeterRange::OfPartition(Partition { network, slice }, slices) => {
                (keys_of(network), (slices.count(), slice))
            }
        };
        let divisor = (1 << MeterId::BITS) / i64::from(slices);
        [after.unwrap_or(first - 1).into(), last.into(), divisor.into(), slice.into(), most.into()]
    }

    /// The values of a page that ends with this key, of a table that may have several rows of a
    /// meter.
    pub(crate) fn page_until(self, after: Option<i64>, last: i64) -> [Value<'static>; 5] {
        let mut page = self.page(after, i64::MAX);
        page[1] = last.into();
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sql::{Session, values};
    use rusqlite::Connection;

    #[test]
    fn a_partition_s_meters_are_found_by_their_keys() {
        let (connection, seven) = (Connection::open_in_memory().expect("a database"), NetworkId(7));
        connection.execute_batch("CREATE TABLE meters (meter INTEGER PRIMARY KEY)").expect("made");
        let meters = [6, 7, 8].into_iter().flat_map(|network| {
            let names = [0, 1, 2, 3, 258, 259, 300, 40_000, MeterId::MAX];
            names.into_iter().map(move |name| NetworkId(network).meter(name))
        });
        let meters: Vec<_> = meters.collect();
        let session = Session::Sqlite(&connection);
        for meter in &meters {
            session.execute("INSERT INTO meters VALUES ($1)", values![*meter]).expect("put in");
        }
        let found = |keys: MeterRange| -> Vec<crate::network::GlobalMeterId> {
            let sql = format!("SELECT meter FROM meters WHERE {} ORDER BY meter LIMIT $5", MeterRange::sql());
            session.query(&sql, &keys.page(None, 100), |row| row.get(0)).expect("found")
        };
        assert_eq!(found(MeterRange::All), meters);
        let of_seven = |meter: &&crate::network::GlobalMeterId| meter.network == seven;
        assert_eq!(
            found(MeterRange::OfNetwork(seven)),
            meters.iter().filter(of_seven).copied().collect::<Vec<_>>()
        );
        for count in ["1", "2", "4", "8", "16"] {
            let slices: Slices = count.parse().expect("slices");
            for partition in slices.partitions(seven) {
                let own = meters.iter().filter(|meter| slices.partition_of(**meter) == partition);
                let own: Vec<_> = own.copied().collect();
                assert_eq!(found(MeterRange::OfPartition(partition, slices)), own, "{partition} of {count}");
            }
        }
    }
}
