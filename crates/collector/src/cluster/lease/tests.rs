use super::*;
use crate::clock::simulated;
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

fn found(revision: u64, worker: Option<&str>) -> Found {
    Found { revision, lease: Some(lease_of(worker)) }
}

fn held(worker: &str, revision: u64) -> Held {
    let free = Free { partition: Partition::FIRST, revision: 0, fence: 0 };
    Writing::taking(&free, &name(worker)).taken(revision)
}

#[test]
fn lease_is_taken_three_seconds_after_last_renewal_seen() {
    let (start, all) = (Instant::now(), slices(1));
    let mut view = View::new(name("b"));
    view.lease(Partition::FIRST, found(5, Some("a")), start);
    let take =
        |view: &mut View, at| view.plan(&all, &BTreeSet::new(), 64, start + Duration::from_millis(at)).take;
    assert_eq!(take(&mut view, 2999), []);
    view.lease(Partition::FIRST, found(6, Some("a")), start + Duration::from_secs(1));
    // Seen again: nothing new.
    view.lease(Partition::FIRST, found(6, Some("a")), start + Duration::from_secs(3));
    view.lease(Partition::FIRST, found(5, Some("a")), start + Duration::from_secs(3));
    assert_eq!(take(&mut view, 3999), []);
    assert_eq!(take(&mut view, 4000)[0].revision, 6);
    view.lease(Partition::FIRST, found(7, None), start + Duration::from_secs(4));
    assert_eq!(take(&mut view, 4001)[0].revision, 7, "given up: at once");
}

#[test]
fn numbers_of_fences_rise_whatever_the_clock_says() {
    let first = Lease::after(0, &name("a"), 1_000);
    let second = Lease::after(first.fence, &name("b"), 500);
    let third = Lease::after(second.fence, &name("a"), 2_000);
    assert_eq!([first.fence, second.fence, third.fence], [1_000, 1_001, 2_000]);
    assert_eq!(Lease::after(u64::MAX, &name("a"), 1_000).fence, u64::MAX);
}

#[test]
fn lease_holds_from_before_it_was_sent() {
    let start = Instant::now() + Duration::from_secs(3600);
    let at = |ms| simulated::set(start + Duration::from_millis(ms), 0);
    at(0);
    let free = Free { partition: Partition::FIRST, revision: 0, fence: 0 };
    let taking = Writing::taking(&free, &name("a"));
    at(500);
    let mut lease = taking.taken(5);
    at(1999);
    assert!(lease.fence.holds());
    let renewal = lease.renewal();
    at(2500);
    assert!(!lease.fence.holds());
    lease.renewed(&renewal, WriteAnswer::Written(6));
    assert!(!lease.fence.holds(), "it was over");

    at(5000);
    let mut lease = Writing::taking(&free, &name("a")).taken(7);
    at(6000);
    let renewal = lease.renewal();
    at(6900);
    assert_eq!(lease.renewed(&renewal, WriteAnswer::Written(8)), KeepNext::Renew(RENEW_EVERY));
    at(7999);
    assert!(lease.fence.holds());
    at(8000);
    assert!(!lease.fence.holds(), "not from the answer on");
}

#[test]
fn bytes_that_no_worker_writes_are_no_lease() {
    let of = |worker: &str, fence: u64| format!(r#"{{"worker":{worker},"fence":{fence},"renewed":1}}"#);
    let read = |text: String| Lease::read(text.as_bytes());
    assert!(read(of(r#""one""#, 7)).is_some() && read(of("null", 7)).is_some());
    assert!(read(of(r#""one""#, unix_ms() + 60_000)).is_some(), "a clock that is a minute ahead");
    for worker in ["7", r#""""#, r#""a b""#, r#""a\u0000""#, &format!(r#""{}""#, "a".repeat(33))] {
        assert_eq!(read(of(worker, 7)), None, "{worker}");
    }
    assert_eq!(read(of(r#""one""#, u64::MAX)), None, "a number that none can follow");
    assert_eq!(read(of(r#""one""#, unix_ms() + 2 * FENCE_AHEAD_MS_MAX)), None);
    assert_eq!(read(of(r#""one""#, 7) + &" ".repeat(LEASE_BYTES_MAX)), None, "too long");
    for text in ["", "null", "{}", "\0", r#"{"stream":"wattseal-up","seq":1}"#] {
        assert_eq!(read(text.to_owned()), None, "{text}");
    }
}

#[test]
fn unreadable_lease_is_replaced_after_three_seconds_unrenewed() {
    let (start, all) = (Instant::now(), slices(1));
    let mut view = View::new(name("b"));
    view.lease(Partition::FIRST, found(5, Some("a")), start);
    view.lease(Partition::FIRST, Found { revision: 6, lease: None }, start + Duration::from_secs(2));
    let take =
        |view: &mut View, at| view.plan(&all, &BTreeSet::new(), 64, start + Duration::from_millis(at)).take;
    assert_eq!(take(&mut view, 4999), [], "it is not over");
    assert_eq!(view.unreadable(&all).collect::<Vec<_>>(), [&Partition::FIRST]);
    assert_eq!(take(&mut view, 5000), [Free { partition: Partition::FIRST, revision: 6, fence: 1 }]);
    view.lease(Partition::FIRST, found(7, Some("b")), start + Duration::from_secs(5));
    assert_eq!(view.unreadable(&all).count(), 0);
}

#[test]
fn lost_or_unreadable_lease_is_rewritten_by_its_holder() {
    let mut lease = held("a", 5);
    let renewal = lease.renewal();
    assert_eq!(lease.renewed(&renewal, WriteAnswer::OtherRevision), KeepNext::Look);
    for found in [Found { revision: 9, lease: None }, Found::NOTHING] {
        let revision = found.revision;
        assert_eq!(lease.on_lease_read(Some(found)), KeepNext::Renew(AGAIN_AFTER));
        assert_eq!(lease.renewal().revision, revision);
    }
    assert_eq!(lease.on_lease_read(Some(found(10, Some("b")))), KeepNext::Over);
}

#[test]
fn leases_of_recreated_bucket_count_as_just_renewed() {
    let (start, all) = (Instant::now(), slices(1));
    let mut view = View::new(name("b"));
    view.lease(Partition::FIRST, found(500, Some("a")), start);
    view.leases_made_anew(start + Duration::from_secs(4));
    let take =
        |view: &mut View, at| view.plan(&all, &BTreeSet::new(), 64, start + Duration::from_millis(at)).take;
    assert_eq!(take(&mut view, 6999), []);
    assert_eq!(take(&mut view, 7000), [Free { partition: Partition::FIRST, revision: 0, fence: 1 }]);
    // Its numbers begin at 1.
    view.lease(Partition::FIRST, found(1, Some("c")), start + Duration::from_secs(7));
    assert_eq!(take(&mut view, 7001), []);
}

#[test]
fn forged_revision_is_corrected_from_the_bucket() {
    let (now, all) = (Instant::now(), slices(1));
    let mut view = View::new(name("b"));
    view.lease(Partition::FIRST, found(u64::MAX, None), now);
    assert_eq!(view.plan(&all, &BTreeSet::new(), 64, now).take[0].revision, u64::MAX);
    view.on_lease_read(Partition::FIRST, found(3, None), now);
    assert_eq!(view.plan(&all, &BTreeSet::new(), 64, now).take[0].revision, 3);
}

#[test]
fn next_lease_number_exceeds_the_database_s() {
    let (now, all) = (Instant::now(), slices(1));
    let mut view = View::new(name("b"));
    view.later_lease(LeaseNumber { partition: Partition::FIRST, number: 9_000 }, now);
    view.lease(Partition::FIRST, found(5, None), now);
    assert_eq!(view.plan(&all, &BTreeSet::new(), 64, now).take[0].fence, 9_000);
}

#[test]
fn names_that_take_no_partition_leave_all_to_those_that_do() {
    let (start, all) = (Instant::now(), slices(8));
    let mut view = View::new(name("a"));
    let mut most = 0;
    let mut kept = all.clone();
    let mut less = 0;
    for tick in 0..400 {
        let now = start + Duration::from_millis(250 * tick);
        for ghost in 0..2000 {
            view.worker(name(&format!("ghost{tick}-{ghost}")), now);
        }
        most = most.max(view.others.len());
        let plan = view.plan(&all, &kept, 64, now);
        for partition in plan.release {
            kept.remove(&partition);
            view.lease(partition, found(1 + tick, None), now);
        }
        kept.extend(plan.take.into_iter().map(|free| free.partition));
        assert!(kept.len() >= all.len() / 2, "{tick}: {kept:?}");
        less += u32::from(kept.len() < all.len());
    }
    assert!(most <= WORKERS_MAX, "{most}");
    assert_eq!(kept, all);
    // 6 s of 100, and again after 60: 24 times each, and some where all names are over at once.
    assert!(less <= 60, "{less}");
}

#[test]
fn worker_above_its_share_gives_partitions_away() {
    let (now, all) = (Instant::now(), slices(4));
    let mut view = View::new(name("a"));
    assert_eq!(view.plan(&all, &BTreeSet::new(), 64, now).take.len(), 4);
    view.worker(name("b"), now);
    let plan = view.plan(&all, &all, 64, now);
    assert_eq!(plan.release.len(), 2, "{plan:?}");
    view.worker_gone(&name("b"));
    assert_eq!(view.plan(&all, &all, 64, now), Plan::default());
    // Of a network that is not there any more.
    let more: BTreeSet<Partition> = all.iter().copied().chain([NetworkId(7).into()]).collect();
    assert_eq!(view.plan(&all, &more, 64, now).release, [Partition::from(NetworkId(7))]);
}

proptest! {
    /// Workers that come and go, each with its own view, in any order: no partition is held by
    /// two, and after some rounds each has its share and none is left.
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
                    views[worker].worker(names[other].clone(), now);
                }
                for partition in &held[worker] {
                    revision += 1;
                    if let Some((seen, _)) = bucket.get_mut(partition) {
                        *seen = revision;
                    }
                }
                for (partition, (revision, lease)) in &bucket {
                    let found = Found { revision: *revision, lease: Some(lease.clone()) };
                    views[worker].lease(*partition, found, now);
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
                    let lease = Lease::after(free.fence, &names[worker], 0);
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
