//! Who is to have which partition: what is seen of the buckets, and what a worker does about it. No clocks are compared: a lease is over
//! when nobody has seen it renewed for [`EXPIRES_AFTER`] by their own clock.

use super::name::RoleName;
use crate::clock::{self, BootTime};
use crate::fence::Fence;
use crate::partition::Partition;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Leases are renewed so often, and a renewal is answered within this, or it is sent again: before a lease is over there are three attempts.
pub(super) const RENEW_EVERY: Duration = Duration::from_millis(600);
/// Who could not renew for so long, counted from before the last renewal was sent, does nothing under the lease any more.
pub(super) const HOLDS_FOR: Duration = Duration::from_secs(2);
/// Who has not seen a renewal for so long takes the partition. A second more than [`HOLDS_FOR`]: clocks that go at different speeds, and a
/// transaction that was begun under the lease, which the store looks at once more.
pub(super) const EXPIRES_AFTER: Duration = Duration::from_secs(3);

/// After something was not answered.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// A lease, as it is in the bucket under its partition's name. It stays there when it is given up, so that numbers go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    /// Who has it; `None`: nobody.
    pub(super) worker: Option<String>,
    /// Of the fence: higher with each who takes it.
    pub(super) fence: u64,
    /// How often it was renewed.
    pub(super) renewed: u64,
}

impl Lease {
    /// The lease of who takes the partition after `before`. now_ms: Unix time, which numbers are above, so that they rise where a bucket was
    /// lost.
    pub(super) fn after(before: Option<&Lease>, worker: &RoleName, now_ms: u64) -> Lease {
        let fence = before.map_or(0, |before| before.fence + 1).max(now_ms);
        Lease { worker: Some(worker.to_string()), fence, renewed: 0 }
    }
}

/// A lease as it was seen.
#[derive(Clone, Debug)]
struct Seen {
    revision: u64,
    /// When this revision was seen first.
    since: Instant,
    lease: Lease,
}

/// A partition that may be taken: the revision and the lease that are to be replaced, if there were any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Free {
    pub(super) partition: Partition,
    pub(super) revision: u64,
    pub(super) before: Option<Lease>,
}

/// A lease that is to be written, in the place of one with this revision.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) partition: Partition,
    pub(super) lease: Lease,
    pub(super) revision: u64,
    /// How long it holds if it is written: counted from before it is sent.
    until: BootTime,
}

impl Writing {
    /// To take a partition, from now on.
    pub(super) fn taking(free: &Free, me: &RoleName) -> Writing {
        let lease = Lease::after(free.before.as_ref(), me, u64::try_from(clock::unix_ms()).unwrap_or(0));
        let until = BootTime::now() + HOLDS_FOR;
        Writing { partition: free.partition, lease, revision: free.revision, until }
    }

    /// It is written.
    pub(super) fn taken(self, revision: u64) -> Held {
        let fence = Arc::new(Fence::new(self.partition, self.lease.fence, self.until));
        Held { fence, lease: self.lease, revision }
    }
}

/// What came of writing a lease.
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

/// How a lease that was taken goes on.
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
    /// How it goes on after it was taken.
    pub(super) const FIRST: KeepNext = KeepNext::Renew(RENEW_EVERY);

    /// What to write to renew it, from now on.
    pub(super) fn renewal(&mut self) -> Writing {
        self.lease.renewed += 1;
        let until = BootTime::now() + HOLDS_FOR;
        Writing { partition: self.fence.partition, lease: self.lease.clone(), revision: self.revision, until }
    }

    /// What to write to give it up: nothing is done under it any more.
    pub(super) fn giving_up(&self) -> Writing {
        self.fence.end();
        let lease = Lease { worker: None, ..self.lease.clone() };
        Writing { partition: self.fence.partition, lease, revision: self.revision, until: BootTime::now() }
    }

    /// What came of a renewal.
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

    /// What is in the bucket; `None`: that is not known.
    pub(super) fn looked(&mut self, found: Option<Option<(u64, Lease)>>) -> KeepNext {
        match found {
            None => KeepNext::Renew(AGAIN_AFTER),
            Some(Some((revision, lease)))
                if lease.worker == self.lease.worker && lease.fence == self.lease.fence =>
            {
                self.revision = revision;
                KeepNext::Renew(Duration::ZERO)
            }
            Some(_) => KeepNext::Over,
        }
    }
}

/// What is to be done now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) take: Vec<Free>,
    pub(super) release: Vec<Partition>,
}

/// What a worker saw of the buckets.
#[derive(Debug)]
pub(super) struct View {
    me: RoleName,
    leases: BTreeMap<Partition, Seen>,
    /// Other workers, and when they were seen last.
    others: BTreeMap<String, Instant>,
}

impl View {
    pub(super) fn new(me: RoleName) -> View {
        View { me, leases: BTreeMap::new(), others: BTreeMap::new() }
    }

    /// A lease is in the bucket. It may have been seen already.
    pub(super) fn lease(&mut self, partition: Partition, revision: u64, lease: Lease, now: Instant) {
        let seen = self.leases.get(&partition).map_or(0, |seen| seen.revision);
        if revision > seen {
            self.leases.insert(partition, Seen { revision, since: now, lease });
        }
    }

    /// A worker said that it is there.
    pub(super) fn worker(&mut self, name: &str, now: Instant) {
        if name != self.me.as_str() {
            self.others.insert(name.to_owned(), now);
        }
    }

    /// A worker said that it goes.
    pub(super) fn worker_gone(&mut self, name: &str) {
        self.others.remove(name);
    }

    /// What to do, of the partitions that there are, having some of them.
    pub(super) fn plan(
        &mut self,
        all: &BTreeSet<Partition>,
        held: &BTreeSet<Partition>,
        most: usize,
        now: Instant,
    ) -> Plan {
        let over = |since: Instant| now.saturating_duration_since(since) >= EXPIRES_AFTER;
        self.others.retain(|_, since| !over(*since));
        let share = all.len().div_ceil(self.others.len() + 1).min(most);
        let mut plan = Plan { take: Vec::new(), release: held.difference(all).copied().collect() };
        let kept = held.len() - plan.release.len();
        // The last ones, so that all agree who has which in the end.
        let last = held.iter().rev().filter(|partition| all.contains(partition));
        plan.release.extend(last.take(kept.saturating_sub(share)));
        let free = all.difference(held).filter_map(|partition| match self.leases.get(partition) {
            None => Some(Free { partition: *partition, revision: 0, before: None }),
            Some(seen) if seen.lease.worker.is_none() || over(seen.since) => Some(Free {
                partition: *partition,
                revision: seen.revision,
                before: Some(seen.lease.clone()),
            }),
            Some(_) => None,
        });
        plan.take = free.take(share.saturating_sub(kept)).collect();
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkId;
    use proptest::prelude::*;

    fn name(name: &str) -> RoleName {
        name.parse().expect("a name")
    }

    fn slices(count: u8) -> BTreeSet<Partition> {
        (0..count).map(|slice| Partition { network: NetworkId::DEFAULT, slice }).collect()
    }

    fn lease_of(worker: Option<&str>) -> Lease {
        Lease { worker: worker.map(str::to_owned), fence: 1, renewed: 0 }
    }

    #[test]
    fn a_lease_is_taken_three_seconds_after_its_last_renewal_was_seen() {
        let (start, all) = (Instant::now(), slices(1));
        let mut view = View::new(name("b"));
        view.lease(Partition::FIRST, 5, lease_of(Some("a")), start);
        let take = |view: &mut View, at| {
            view.plan(&all, &BTreeSet::new(), 64, start + Duration::from_millis(at)).take
        };
        assert_eq!(take(&mut view, 2999), []);
        view.lease(Partition::FIRST, 6, lease_of(Some("a")), start + Duration::from_secs(1));
        // Seen again: nothing new.
        view.lease(Partition::FIRST, 6, lease_of(Some("a")), start + Duration::from_secs(3));
        view.lease(Partition::FIRST, 5, lease_of(Some("a")), start + Duration::from_secs(3));
        assert_eq!(take(&mut view, 3999), []);
        assert_eq!(take(&mut view, 4000)[0].revision, 6);
        view.lease(Partition::FIRST, 7, lease_of(None), start + Duration::from_secs(4));
        assert_eq!(take(&mut view, 4001)[0].revision, 7, "given up: at once");
    }

    #[test]
    fn numbers_of_fences_rise_whatever_the_clock_says() {
        let first = Lease::after(None, &name("a"), 1_000);
        let second = Lease::after(Some(&first), &name("b"), 500);
        let third = Lease::after(Some(&second), &name("a"), 2_000);
        assert_eq!([first.fence, second.fence, third.fence], [1_000, 1_001, 2_000]);
    }

    #[test]
    fn who_has_more_than_its_share_gives_the_rest_away() {
        let (now, all) = (Instant::now(), slices(4));
        let mut view = View::new(name("a"));
        assert_eq!(view.plan(&all, &BTreeSet::new(), 64, now).take.len(), 4);
        view.worker("b", now);
        let plan = view.plan(&all, &all, 64, now);
        assert_eq!(plan.release.len(), 2, "{plan:?}");
        view.worker_gone("b");
        assert_eq!(view.plan(&all, &all, 64, now), Plan::default());
        // Of a network that is not there any more.
        let more: BTreeSet<Partition> = all.iter().copied().chain([NetworkId(7).into()]).collect();
        assert_eq!(view.plan(&all, &more, 64, now).release, [Partition::from(NetworkId(7))]);
    }

    proptest! {
        /// Workers that come and go, each with its own view, in any order: no partition is held by two, and after some rounds each has its
        /// share and none is left.
        #[test]
        fn workers_share_evenly_and_none_is_held_twice(count in 1usize..6, log in 0u32..=4, gone in any::<[bool; 5]>()) {
            let all = slices(1 << log);
            let names: Vec<RoleName> = (0..count).map(|number| name(&format!("w{number}"))).collect();
            let mut views: Vec<View> = names.iter().cloned().map(View::new).collect();
            let mut held = vec![BTreeSet::new(); count];
            let mut bucket: BTreeMap<Partition, (u64, Lease)> = BTreeMap::new();
            let (mut revision, mut now) = (0, Instant::now());
            for round in 0..40 {
                now += Duration::from_millis(500);
                let alive = |worker: usize| round < 20 || !gone[worker % 5] || worker == 0;
                for worker in (0..count).filter(|worker| alive(*worker)) {
                    for other in (0..count).filter(|worker| alive(*worker)) {
                        views[worker].worker(names[other].as_str(), now);
                    }
                    for partition in &held[worker] {
                        revision += 1;
                        if let Some((seen, _)) = bucket.get_mut(partition) {
                            *seen = revision;
                        }
                    }
                    for (partition, (revision, lease)) in &bucket {
                        views[worker].lease(*partition, *revision, lease.clone(), now);
                    }
                    let plan = views[worker].plan(&all, &held[worker], 64, now);
                    for partition in plan.release {
                        revision += 1;
                        held[worker].remove(&partition);
                        bucket.insert(partition, (revision, lease_of(None)));
                    }
                    for free in plan.take {
                        // As the bucket compares.
                        if bucket.get(&free.partition).map_or(0, |(revision, _)| *revision) != free.revision {
                            continue;
                        }
                        revision += 1;
                        let lease = Lease::after(free.before.as_ref(), &names[worker], 0);
                        bucket.insert(free.partition, (revision, lease));
                        held[worker].insert(free.partition);
                    }
                }
                for worker in (0..count).filter(|worker| !alive(*worker)) {
                    held[worker].clear();
                }
                let several: usize = held.iter().map(BTreeSet::len).sum();
                let different: BTreeSet<&Partition> = held.iter().flatten().collect();
                prop_assert_eq!(several, different.len());
                if [19, 39].contains(&round) {
                    let workers = (0..count).filter(|worker| alive(*worker)).count();
                    prop_assert_eq!(different.len(), all.len());
                    let share = all.len().div_ceil(workers);
                    prop_assert!(held.iter().all(|of| of.len() <= share), "{:?}", held);
                }
            }
        }
    }
}
