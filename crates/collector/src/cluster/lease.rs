//! The choice of a worker for each partition: its view of the buckets, and its actions. No clocks
//! are compared: a lease is over when nobody has seen it renewed for [`EXPIRES_AFTER`] by their own
//! clock.
//!
//! Any bytes may be in a bucket, and a bucket may be lost. A lease that cannot be read is one that
//! nobody renews: it is replaced after [`EXPIRES_AFTER`], by its holder sooner, at the revision
//! that was seen.

use super::name::RoleName;
use crate::clock::{self, BootTime};
use crate::fence::{Fence, LeaseNumber};
use crate::partition::Partition;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The period of renewals. One is answered within it, or sent again: before a lease is over there
/// are three attempts.
pub(super) const RENEW_EVERY: Duration = Duration::from_millis(600);
/// The time for which a lease holds, counted from before its last renewal was sent. After it the
/// worker does nothing under the lease.
pub(super) const HOLDS_FOR: Duration = Duration::from_secs(2);
/// The time without a renewal after which another worker takes the partition. A second more than
/// [`HOLDS_FOR`]: for clocks at different speeds, and for a transaction that was begun under the
/// lease, which the store checks once more.
pub(super) const EXPIRES_AFTER: Duration = Duration::from_secs(3);

/// After something was not answered.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Bytes of a lease in its bucket at most. Ours have about 100.
const LEASE_BYTES_MAX: usize = 512;
/// Numbers of fences are times. A lease whose number is further ahead of this clock was not made by
/// a worker.
const FENCE_AHEAD_MS_MAX: u64 = 366 * 24 * 60 * 60 * 1000;
/// Leases that are remembered at most, of any that are in the bucket.
const LEASES_MAX: usize = 1 << 16;
/// Workers that are remembered at most, of any that are in the bucket.
const WORKERS_MAX: usize = 1024;
/// The time for which a partition stays free, after which the newcomers to whom it was left take
/// none.
const LEFT_FOR: Duration = Duration::from_secs(6);
/// The time for which nothing is left to newcomers then; it doubles each time, up to the most.
const NO_NEWCOMERS_FOR: Duration = Duration::from_secs(60);
const DOUBLINGS_MAX: u32 = 4;

/// A lease, as it is in the bucket under its partition's name. It stays there when it is given up,
/// so that numbers go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    /// The worker that has it; `None`: nobody.
    pub(super) worker: Option<String>,
    /// Of the fence: higher with each who takes it.
    pub(super) fence: u64,
    /// The number of its renewals.
    pub(super) renewed: u64,
}

impl Lease {
    /// The lease of who takes the partition after one with this number. now_ms: Unix time, which
    /// numbers are above, so that they rise where a bucket was lost.
    pub(super) fn after(fence: u64, worker: &RoleName, now_ms: u64) -> Lease {
        let fence = fence.saturating_add(1).max(now_ms);
        Lease { worker: Some(worker.to_string()), fence, renewed: 0 }
    }

    /// The lease that these bytes are; `None` where no worker wrote them.
    pub(super) fn read(bytes: &[u8]) -> Option<Lease> {
        let short = (bytes.len() <= LEASE_BYTES_MAX).then_some(bytes)?;
        let lease: Lease = serde_json::from_slice(short).ok()?;
        let named = lease.worker.as_ref().is_none_or(|worker| worker.parse::<RoleName>().is_ok());
        let latest = unix_ms().saturating_add(FENCE_AHEAD_MS_MAX);
        (named && lease.fence <= latest).then_some(lease)
    }
}

fn unix_ms() -> u64 {
    u64::try_from(clock::unix_ms()).unwrap_or(0)
}

/// The content of a bucket under a partition's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// 0: there is nothing.
    pub(super) revision: u64,
    /// `None`: it cannot be read, or there is nothing.
    pub(super) lease: Option<Lease>,
}

impl Found {
    pub(super) const NOTHING: Found = Found { revision: 0, lease: None };
}

/// A lease as it was seen.
#[derive(Clone, Debug)]
struct Seen {
    found: Found,
    /// When this revision was seen first.
    since: Instant,
    /// The highest number that the partition had, as far as it is known.
    fence: u64,
}

impl Seen {
    fn is_renewed(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < EXPIRES_AFTER
    }

    fn is_given_up(&self) -> bool {
        self.found.lease.as_ref().is_some_and(|lease| lease.worker.is_none())
    }
}

/// A partition that may be taken: the revision that is to be replaced, and the number that is to be
/// exceeded; 0: there was none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Free {
    pub(super) partition: Partition,
    pub(super) revision: u64,
    pub(super) fence: u64,
}

/// A lease that is to be written, in the place of one with this revision.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) partition: Partition,
    pub(super) lease: Lease,
    pub(super) revision: u64,
    /// The end of the lease if it is written: counted from before it is sent.
    until: BootTime,
}

impl Writing {
    /// To take a partition, from now on.
    pub(super) fn taking(free: &Free, me: &RoleName) -> Writing {
        let lease = Lease::after(free.fence, me, unix_ms());
        let until = BootTime::now() + HOLDS_FOR;
        Writing { partition: free.partition, lease, revision: free.revision, until }
    }

    /// It is written.
    pub(super) fn taken(self, revision: u64) -> Held {
        let fence = Arc::new(Fence::new(self.partition, self.lease.fence, self.until));
        Held { fence, lease: self.lease, revision }
    }
}

/// The result of writing a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteAnswer {
    /// The new revision.
    Written(u64),
    /// There is another revision than was to be replaced.
    OtherRevision,
    /// It was refused for another reason.
    Refused,
    /// None came in time: nobody knows.
    Missing,
}

/// The next step of a held lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepNext {
    /// It is renewed after that.
    Renew(Duration),
    /// It is looked at what is in the bucket.
    Look,
    /// Another has it.
    Over,
}

/// A lease that was taken.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) fence: Arc<Fence>,
    lease: Lease,
    revision: u64,
}

impl Held {
    /// The first step after it was taken.
    pub(super) const FIRST: KeepNext = KeepNext::Renew(RENEW_EVERY);

    /// Returns the renewal to write, from now on.
    pub(super) fn renewal(&mut self) -> Writing {
        self.lease.renewed += 1;
        let until = BootTime::now() + HOLDS_FOR;
        Writing { partition: self.fence.partition, lease: self.lease.clone(), revision: self.revision, until }
    }

    /// Returns the entry to write to give it up: nothing is done under it any more.
    pub(super) fn giving_up(&self) -> Writing {
        self.fence.end();
        let lease = Lease { worker: None, ..self.lease.clone() };
        Writing { partition: self.fence.partition, lease, revision: self.revision, until: BootTime::now() }
    }

    /// Records the result of a renewal.
    pub(super) fn renewed(&mut self, renewal: &Writing, answer: WriteAnswer) -> KeepNext {
        match answer {
            WriteAnswer::Written(revision) => {
                self.revision = revision;
                self.fence.renew(renewal.until);
                KeepNext::Renew(RENEW_EVERY)
            }
            // It may have been this worker itself, whose renewal was not answered in time.
            WriteAnswer::OtherRevision => KeepNext::Look,
            WriteAnswer::Refused => KeepNext::Renew(AGAIN_AFTER),
            WriteAnswer::Missing => KeepNext::Renew(Duration::ZERO),
        }
    }

    /// Goes on with what is in the bucket; `None`: that is not known. A lease that was lost, or
    /// cannot be read, is written again: nobody takes the partition while this one holds.
    pub(super) fn on_lease_read(&mut self, found: Option<Found>) -> KeepNext {
        match found {
            None => KeepNext::Renew(AGAIN_AFTER),
            Some(Found { revision, lease: None }) => {
                self.revision = revision;
                KeepNext::Renew(AGAIN_AFTER)
            }
            Some(Found { revision, lease: Some(lease) })
                if lease.worker == self.lease.worker && lease.fence == self.lease.fence =>
            {
                self.revision = revision;
                KeepNext::Renew(Duration::ZERO)
            }
            Some(_) => KeepNext::Over,
        }
    }
}

/// The actions that are due now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) take: Vec<Free>,
    pub(super) release: Vec<Partition>,
}

/// The account of partitions that are left to new workers.
#[derive(Clone, Copy, Debug, Default)]
struct Newcomers {
    /// The time for which partitions were left without being taken, since a new worker took some.
    left: Duration,
    /// When it was looked last, if some were.
    left_at: Option<Instant>,
    /// Until when nothing is left to them.
    not_before: Option<Instant>,
    /// The number of such times in a row.
    in_vain: u32,
    /// The number of others with partitions.
    holders: usize,
}

impl Newcomers {
    /// Others have partitions; more of them than before are newcomers that took some.
    fn hold(&mut self, holders: usize) {
        if holders > self.holders {
            (self.left, self.in_vain) = (Duration::ZERO, 0);
        }
        self.holders = holders;
    }

    /// Says if they count. is_left: a partition has no holder.
    fn count(&mut self, is_left: bool, now: Instant) -> bool {
        if self.not_before.is_some_and(|until| now < until) {
            return false;
        }
        let before = std::mem::replace(&mut self.left_at, is_left.then_some(now));
        if let (Some(before), true) = (before, is_left) {
            self.left += now.saturating_duration_since(before);
        }
        if self.left < LEFT_FOR {
            return true;
        }
        let time = NO_NEWCOMERS_FOR * (1 << self.in_vain.min(DOUBLINGS_MAX));
        (self.left, self.left_at, self.not_before) = (Duration::ZERO, None, Some(now + time));
        self.in_vain = self.in_vain.saturating_add(1);
        false
    }
}

/// A worker's view of the buckets.
#[derive(Debug)]
pub(super) struct View {
    me: RoleName,
    leases: BTreeMap<Partition, Seen>,
    /// Other workers, and when they were seen last.
    others: BTreeMap<RoleName, Instant>,
    newcomers: Newcomers,
}

impl View {
    pub(super) fn new(me: RoleName) -> View {
        View { me, leases: BTreeMap::new(), others: BTreeMap::new(), newcomers: Newcomers::default() }
    }

    /// Something is in the bucket. It may have been seen already.
    pub(super) fn lease(&mut self, partition: Partition, found: Found, now: Instant) {
        let seen = self.leases.get(&partition).map_or(0, |seen| seen.found.revision);
        if found.revision > seen {
            self.see(partition, found, now);
        }
    }

    /// The bucket was asked for a partition, and this is there.
    pub(super) fn on_lease_read(&mut self, partition: Partition, found: Found, now: Instant) {
        if self.leases.get(&partition).is_none_or(|seen| seen.found.revision != found.revision) {
            self.see(partition, found, now);
        }
    }

    fn see(&mut self, partition: Partition, found: Found, now: Instant) {
        let before = self.leases.get(&partition);
        if before.is_none() && self.leases.len() >= LEASES_MAX {
            return;
        }
        let fence = found.lease.as_ref().map_or(0, |lease| lease.fence);
        let fence = before.map_or(fence, |before| before.fence.max(fence));
        self.leases.insert(partition, Seen { found, since: now, fence });
    }

    /// The bucket of the leases is another one than before. Those that hold are written into it
    /// again.
    pub(super) fn leases_made_anew(&mut self, now: Instant) {
        for seen in self.leases.values_mut() {
            (seen.found, seen.since) = (Found::NOTHING, now);
        }
    }

    /// The database knows a later lease than the one that was taken.
    pub(super) fn later_lease(&mut self, lease: LeaseNumber, now: Instant) {
        let nothing = || Seen { found: Found::NOTHING, since: now, fence: 0 };
        let seen = self.leases.entry(lease.partition).or_insert_with(nothing);
        seen.fence = seen.fence.max(lease.number);
    }

    /// A worker said that it is there.
    pub(super) fn worker(&mut self, name: RoleName, now: Instant) {
        let known = self.others.contains_key(&name) || self.others.len() < WORKERS_MAX;
        if known && name != self.me {
            self.others.insert(name, now);
        }
    }

    /// A worker said that it goes.
    pub(super) fn worker_gone(&mut self, name: &RoleName) {
        self.others.remove(name);
    }

    /// Partitions of these whose lease cannot be read.
    pub(super) fn unreadable<'v>(
        &'v self,
        all: &'v BTreeSet<Partition>,
    ) -> impl Iterator<Item = &'v Partition> {
        let found = |partition: &&Partition| self.leases.get(partition).map(|seen| &seen.found);
        all.iter().filter(move |partition| {
            found(partition).is_some_and(|found| found.revision > 0 && found.lease.is_none())
        })
    }

    /// Returns the number of workers that share all partitions with this one: those with
    /// partitions, and as many of those without, unless that was in vain. Names alone are no
    /// workers: somebody may have written them.
    fn sharing(&mut self, all: &BTreeSet<Partition>, held: &BTreeSet<Partition>, now: Instant) -> usize {
        self.others.retain(|_, since| now.saturating_duration_since(*since) < EXPIRES_AFTER);
        let of_others = all.difference(held).filter_map(|partition| self.leases.get(partition));
        let renewed = of_others.filter(|seen| seen.is_renewed(now));
        let holders: BTreeSet<&str> =
            renewed.filter_map(|seen| seen.found.lease.as_ref()?.worker.as_deref()).collect();
        let holders = self.others.keys().filter(|name| holders.contains(name.as_str())).count();
        self.newcomers.hold(holders);
        let newcomers = (self.others.len() - holders).min(holders + 1);
        if newcomers == 0 {
            self.newcomers.left_at = None;
            return holders;
        }
        let is_left = all.difference(held).any(|partition| self.free(*partition, now).is_some());
        if self.newcomers.count(is_left, now) { holders + newcomers } else { holders }
    }

    /// Returns the partition if it may be taken.
    fn free(&self, partition: Partition, now: Instant) -> Option<Free> {
        match self.leases.get(&partition) {
            None => Some(Free { partition, revision: 0, fence: 0 }),
            Some(seen) if seen.is_given_up() || !seen.is_renewed(now) => {
                Some(Free { partition, revision: seen.found.revision, fence: seen.fence })
            }
            Some(_) => None,
        }
    }

    /// Plans the actions on all partitions for a worker with some of them.
    pub(super) fn plan(
        &mut self,
        all: &BTreeSet<Partition>,
        held: &BTreeSet<Partition>,
        most: usize,
        now: Instant,
    ) -> Plan {
        let share = all.len().div_ceil(self.sharing(all, held, now) + 1).min(most);
        let mut plan = Plan { take: Vec::new(), release: held.difference(all).copied().collect() };
        let kept = held.len() - plan.release.len();
        // The last ones, so that all agree who has which in the end.
        let last = held.iter().rev().filter(|partition| all.contains(partition));
        plan.release.extend(last.take(kept.saturating_sub(share)));
        let free = all.difference(held).filter_map(|partition| self.free(*partition, now));
        plan.take = free.take(share.saturating_sub(kept)).collect();
        plan
    }
}

#[cfg(test)]
mod tests;
