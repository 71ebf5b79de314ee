//! The right to write a partition's meters, which ends by itself.

use crate::clock::BootTime;
use crate::partition::Partition;
use std::sync::atomic::{AtomicU64, Ordering};

/// A lease as a store knows it, which takes nothing under a lower number than the highest that it
/// saw of the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseNumber {
    pub partition: Partition,
    pub number: u64,
}

/// A lease of a partition, as those see it who write and acknowledge under it. Its number is higher
/// than those of all leases of this partition before it ([`LeaseNumber`]).
///
/// It holds up to a moment that the renewals of the lease put off. Nobody else takes the partition
/// before that, by a clock of their own that goes as fast (`cluster::lease`). After a longer stop,
/// or a suspended machine, it does not hold any more.
#[derive(Debug)]
pub struct Fence {
    pub partition: Partition,
    pub number: u64,
    /// In µs of [`BootTime`]; 0: it is over.
    until_us: AtomicU64,
}

impl Fence {
    #[must_use]
    pub fn new(partition: Partition, number: u64, until: BootTime) -> Fence {
        Fence { partition, number, until_us: AtomicU64::new(until.as_us()) }
    }

    /// Returns the lease that the store compares.
    #[must_use]
    pub fn lease(&self) -> LeaseNumber {
        LeaseNumber { partition: self.partition, number: self.number }
    }

    /// Says if nobody else has the partition.
    #[must_use]
    pub fn holds(&self) -> bool {
        BootTime::now().as_us() < self.until_us.load(Ordering::SeqCst)
    }

    /// It holds until then, unless it was over before.
    pub fn renew(&self, until: BootTime) {
        let now = BootTime::now().as_us();
        let later = |before| (before > now).then(|| until.as_us().max(before));
        // One that is over stays so.
        let _ = self.until_us.fetch_update(Ordering::SeqCst, Ordering::SeqCst, later);
    }

    /// It is over.
    pub fn end(&self) {
        self.until_us.store(0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn one_that_is_over_does_not_come_back() {
        let soon = || BootTime::now() + Duration::from_secs(60);
        let fence = Fence::new(Partition::FIRST, 1, soon());
        assert!(fence.holds());
        fence.renew(soon());
        assert!(fence.holds());
        fence.end();
        fence.renew(soon());
        assert!(!fence.holds());
        let late = Fence::new(Partition::FIRST, 2, BootTime::now());
        std::thread::sleep(Duration::from_millis(2));
        late.renew(soon());
        assert!(!late.holds());
    }
}
