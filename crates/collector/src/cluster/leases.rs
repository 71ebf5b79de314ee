//! The buckets: leases, workers, settings. Anything may be in them, and each is made anew where it
//! is lost.

use super::connection::{ClusterError, Connection, chain};
use super::lease::{Found, Free, Held, KeepNext, Lease, RENEW_EVERY, WriteAnswer, Writing};
use super::name::RoleName;
use super::subject;
use crate::fence::Fence;
use crate::partition::{Partition, Slices};
use async_nats::jetstream::kv::{self, Entry, Operation, UpdateErrorKind};
use async_nats::jetstream::{self, stream};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_stream::{Stream, StreamExt};

/// After something was not answered.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// The period of the check that a bucket is still the watched one.
const MADE_LOOK_EVERY: Duration = Duration::from_secs(1);
/// All that was in a bucket has come by then. The server does not always say of the last entry that
/// it is the last; a worker that waited for it took no partition, for ever. A lease that was not
/// seen is not replaced: it has another revision.
const CURRENT_WITHIN: Duration = Duration::from_secs(2);
/// A worker that is dead is forgotten by then.
const WORKERS_KEPT_FOR: Duration = Duration::from_secs(60);
/// The content of a worker's record.
const HERE: &str = "here";

#[derive(Clone, Debug)]
pub(super) struct Buckets {
    leases: Bucket,
    workers: Bucket,
    settings: Bucket,
}

/// A change that was seen in a bucket.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Lease {
        partition: Partition,
        found: Found,
    },
    /// The bucket of the leases is another one than before.
    LeasesMadeAnew,
    Worker {
        name: RoleName,
    },
    WorkerGone {
        name: RoleName,
    },
    /// Networks are cut into another number of slices.
    Slices(Slices),
    /// All that was there when it was looked at first was told.
    Current,
    /// Something is not as workers make it.
    Trouble {
        of: &'static str,
        why: String,
    },
}

/// The number of slices, as it is in the bucket.
struct Setting {
    /// 0: there is nothing.
    revision: u64,
    /// `None`: it cannot be read, or there is nothing.
    slices: Option<Slices>,
}

impl Buckets {
    /// Makes those that are not there.
    ///
    /// # Errors
    /// A sentence: JetStream is not there, or has no leader.
    pub(super) async fn open(connection: &Connection, replicas: usize) -> Result<Buckets, String> {
        let open = async |name, kept| Bucket::open(&connection.jetstream, name, kept, replicas).await;
        Ok(Buckets {
            leases: open(subject::LEASES, Duration::ZERO).await?,
            workers: open(subject::WORKERS, WORKERS_KEPT_FOR).await?,
            settings: open(subject::SETTINGS, Duration::ZERO).await?,
        })
    }

    /// The number of slices that all agree about; wanted: what is to be there, where nothing is.
    ///
    /// # Errors
    /// As a sentence where JetStream did not answer, or others have to write it;
    /// [`ClusterError::OtherSlices`].
    pub(super) async fn slices(
        &self,
        wanted: Option<Slices>,
        change: bool,
    ) -> Result<Result<Slices, ClusterError>, String> {
        let setting = self.setting().await?;
        match (setting.slices, wanted) {
            (Some(there), None) => return Ok(Ok(there)),
            (Some(there), Some(wanted)) if there == wanted => return Ok(Ok(there)),
            (Some(there), Some(wanted)) if !change => {
                let (there, wanted) = (there.to_string(), wanted.to_string());
                return Ok(Err(ClusterError::OtherSlices { there, wanted }));
            }
            (Some(_), Some(_)) => {}
            (None, _) => {
                let of = format!("bucket {}, key {}", subject::SETTINGS, subject::SLICES);
                if self.workers.info().await?.state.messages > 0 {
                    return Err(format!(
                        "{of}: it was lost or cannot be read, and a worker that runs writes it again; \
                         where none runs that is known within {} s",
                        WORKERS_KEPT_FOR.as_secs()
                    ));
                }
                if setting.revision > 0 && wanted.is_none() {
                    return Err(format!("{of}: it cannot be read; start one worker with --slices NUMBER"));
                }
            }
        }
        let slices = wanted.unwrap_or(Slices::ONE);
        // Another worker may have been faster: asked again, it is seen.
        self.write_slices(slices, setting.revision).await.map(|()| Ok(slices))
    }

    async fn setting(&self) -> Result<Setting, String> {
        let entry = self.settings.store.entry(subject::SLICES).await;
        let entry = entry.map_err(|error| said(subject::SETTINGS, &error))?;
        let there = entry.as_ref().filter(|entry| entry.operation == Operation::Put);
        let text = there.and_then(|entry| std::str::from_utf8(&entry.value).ok());
        let slices = text.and_then(|text| text.parse().ok());
        Ok(Setting { revision: entry.map_or(0, |entry| entry.revision), slices })
    }

    async fn write_slices(&self, slices: Slices, revision: u64) -> Result<(), String> {
        let written = self.settings.store.update(subject::SLICES, slices.to_string().into(), revision).await;
        written.map(drop).map_err(|error| said(subject::SETTINGS, &error))
    }

    /// Looks again and again at the number of slices by which this worker goes. Where it was lost
    /// or cannot be read it is written again, at the revision that was seen. Goes on until nobody
    /// listens.
    pub(super) async fn keep_slices(self, slices: Slices, changes: mpsc::Sender<Change>) {
        while !changes.is_closed() {
            // Where JetStream does not answer others say so.
            if self.settings.make().await.is_ok()
                && let Ok(setting) = self.setting().await
            {
                let change = match setting.slices {
                    Some(there) if there == slices => None,
                    Some(there) => Some(Change::Slices(there)),
                    None => {
                        let _ = self.write_slices(slices, setting.revision).await;
                        let why = format!(
                            "bucket {}, key {}: it was lost or cannot be read; {slices} is written again",
                            subject::SETTINGS,
                            subject::SLICES
                        );
                        Some(Change::Trouble { of: subject::SETTINGS, why })
                    }
                };
                if let Some(change) = change {
                    let _ = changes.send(change).await;
                }
            }
            sleep(RENEW_EVERY).await;
        }
    }

    /// Tells all that is in the buckets of leases and workers, and what changes, until nobody
    /// listens.
    pub(super) async fn watch(self, changes: mpsc::Sender<Change>) {
        let buckets = [self.leases, self.workers];
        let (current, mut is_current) = mpsc::channel(buckets.len());
        let count = buckets.len();
        for bucket in buckets {
            let (changes, current) = (changes.clone(), current.clone());
            tokio::spawn(async move {
                // A client that panics, because of what it is sent, ends no watch.
                while !changes.is_closed() {
                    let _ = tokio::spawn(watch(bucket.clone(), changes.clone(), current.clone())).await;
                }
            });
        }
        for _ in 0..count {
            is_current.recv().await;
        }
        let _ = changes.send(Change::Current).await;
    }

    /// Takes a partition that is free. Or there is something else than was to be replaced; `None`:
    /// it is not known what.
    ///
    /// # Errors
    /// A sentence: JetStream did not answer.
    pub(super) async fn take(
        &self,
        free: &Free,
        me: &RoleName,
    ) -> Result<Result<HeldLease, Option<Found>>, String> {
        let (taking, leases) = (Writing::taking(free, me), &self.leases.store);
        match put(leases, &taking).await {
            Ok(revision) => Ok(Ok(HeldLease { leases: leases.clone(), held: taking.taken(revision) })),
            // Another worker was faster, or what was seen is not what is there.
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                Ok(Err(read_lease(leases, free.partition).await))
            }
            Err(error) => {
                Err(format!("the lease of {} could not be taken: {}", free.partition, chain(&error)))
            }
        }
    }

    /// Says again and again that a worker is there. Goes on for ever.
    ///
    /// Announces this worker. Without a timely answer it can renew no lease, and stays silent until
    /// it has one: others would leave it a share that nobody had.
    pub(super) async fn announce(&self, me: &RoleName) {
        let mut is_answered = true;
        loop {
            if !is_answered {
                let asked = timeout(RENEW_EVERY, self.settings.store.entry(subject::SLICES)).await;
                is_answered = asked.is_ok_and(|entry| entry.is_ok());
            }
            if is_answered {
                let said = timeout(RENEW_EVERY, self.workers.store.put(me.as_str(), HERE.into())).await;
                is_answered = said.is_ok_and(|said| said.is_ok());
            }
            sleep(RENEW_EVERY).await;
        }
    }

    /// Says that a worker goes.
    pub(super) async fn goes(&self, me: &RoleName) {
        // Others see it by themselves, a little later.
        let _ = timeout(RENEW_EVERY, self.workers.store.delete(me.as_str())).await;
    }
}

fn said(bucket: &str, error: &dyn std::error::Error) -> String {
    format!("bucket {bucket}: {}", chain(error))
}

/// A bucket, and how it is made.
#[derive(Clone, Debug)]
struct Bucket {
    store: kv::Store,
    jetstream: jetstream::Context,
    config: stream::Config,
}

impl Bucket {
    async fn open(
        jetstream: &jetstream::Context,
        name: &'static str,
        kept: Duration,
        replicas: usize,
    ) -> Result<Bucket, String> {
        let config = stream_of(name, kept, replicas);
        let made = jetstream.get_or_create_stream(config.clone()).await;
        let info = made.map_err(|error| said(name, &error))?.cached_info().clone();
        // Another worker said on how many servers it is: there it is made again where it is lost.
        let num_replicas = info.config.num_replicas.max(replicas);
        let store = jetstream.get_key_value(name).await.map_err(|error| said(name, &error))?;
        Ok(Bucket { store, jetstream: jetstream.clone(), config: stream::Config { num_replicas, ..config } })
    }

    /// Makes it where it is not there. Returns when it was made, in ns of the server's clock.
    ///
    /// # Errors
    /// A sentence.
    async fn make(&self) -> Result<i128, String> {
        let made = self.jetstream.get_or_create_stream(self.config.clone()).await;
        let made = made.map_err(|error| said(&self.store.name, &error))?;
        Ok(made.cached_info().created.unix_timestamp_nanos())
    }

    async fn info(&self) -> Result<stream::Info, String> {
        self.store.stream.get_info().await.map_err(|error| said(&self.store.name, &error))
    }

    /// Returns when it is another one than that which was made then.
    async fn made_anew(&self, made: i128) {
        loop {
            sleep(MADE_LOOK_EVERY).await;
            // Where nobody answers it is not known.
            if self.make().await.is_ok_and(|now| now != made) {
                return;
            }
        }
    }

    /// Tells all that is in it, and what changes, until it is made anew or cannot be watched.
    async fn tell(&self, made: i128, changes: &mpsc::Sender<Change>, current: &mut Option<mpsc::Sender<()>>) {
        let Ok(entries) = self.store.watch_with_history(">").await else { return };
        let Ok(info) = self.info().await else { return };
        // An empty bucket has nothing that could be the last of what is there.
        if info.state.messages == 0 {
            tell_current(current).await;
        }
        tokio::select! {
            () = tell_entries(entries, &self.store.name, changes, current) => {}
            () = self.made_anew(made) => {}
        }
    }
}

/// Tells the changes of a watch until it ends, or nobody hears them; and once, that all which was
/// there has been told.
async fn tell_entries<E>(
    entries: impl Stream<Item = Result<kv::Entry, E>>,
    bucket: &str,
    changes: &mpsc::Sender<Change>,
    current: &mut Option<mpsc::Sender<()>>,
) {
    let mut entries = pin!(entries);
    let mut quiet = pin!(sleep(CURRENT_WITHIN));
    loop {
        tokio::select! {
            () = &mut quiet, if current.is_some() => tell_current(current).await,
            entry = entries.next() => {
                let Some(Ok(entry)) = entry else { return };
                let is_current = entry.seen_current;
                if let Some(change) = change(bucket, entry)
                    && changes.send(change).await.is_err()
                {
                    return;
                }
                if is_current {
                    tell_current(current).await;
                }
            }
            () = changes.closed() => return,
        }
    }
}

async fn tell_current(current: &mut Option<mpsc::Sender<()>>) {
    if let Some(current) = current.take() {
        let _ = current.send(()).await;
    }
}

/// A bucket is a stream with these settings: NATS' ADR-8, "JetStream based Key-Value Stores". The
/// client's own function for it asks a server of Debian 12 (2.9) what it does not say.
fn stream_of(bucket: &str, kept: Duration, replicas: usize) -> stream::Config {
    stream::Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        max_age: kept,
        max_bytes: -1,
        max_messages: -1,
        discard: stream::DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        num_replicas: replicas,
        ..stream::Config::default()
    }
}

async fn put(leases: &kv::Store, writing: &Writing) -> Result<u64, kv::UpdateError> {
    // Numbers and names alone.
    let text = serde_json::to_string(&writing.lease).unwrap_or_default();
    leases.update(writing.partition.to_string(), text.into(), writing.revision).await
}

/// Watches a bucket; where that fails, again from the beginning. One that is lost is made anew.
async fn watch(bucket: Bucket, changes: mpsc::Sender<Change>, current: mpsc::Sender<()>) {
    let (mut current, mut before) = (Some(current), None);
    while !changes.is_closed() {
        match bucket.make().await {
            Ok(made) => {
                if before.replace(made).is_some_and(|before| before != made) {
                    let bucket = &bucket.store.name;
                    tracing::warn!(%bucket, "the bucket was lost, and is made anew");
                    if bucket == subject::LEASES {
                        let _ = changes.send(Change::LeasesMadeAnew).await;
                    }
                }
                bucket.tell(made, &changes, &mut current).await;
            }
            Err(why) => {
                let of =
                    if bucket.store.name == subject::LEASES { subject::LEASES } else { subject::WORKERS };
                let _ = changes.send(Change::Trouble { of, why }).await;
            }
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// The change that an entry is; `None`: it is of nobody.
fn change(bucket: &str, entry: Entry) -> Option<Change> {
    if bucket == subject::LEASES {
        let partition = entry.key.parse().ok()?;
        return Some(Change::Lease { partition, found: found(entry) });
    }
    let is_readable = entry.operation != Operation::Put || entry.value == HERE.as_bytes();
    Some(match entry.key.parse() {
        Ok(name) if is_readable && entry.operation == Operation::Put => Change::Worker { name },
        Ok(name) if is_readable => Change::WorkerGone { name },
        _ => {
            let why = format!("bucket {bucket}: a record cannot be read, and is no worker's");
            Change::Trouble { of: subject::WORKERS, why }
        }
    })
}

/// The content of an entry. One that was deleted is one that cannot be read: it is replaced at its
/// revision.
fn found(entry: Entry) -> Found {
    let lease = if entry.operation == Operation::Put { Lease::read(&entry.value) } else { None };
    Found { revision: entry.revision, lease }
}

/// The content of a partition's entry; `None`: that is not known.
async fn read_lease(leases: &kv::Store, partition: Partition) -> Option<Found> {
    let entry = timeout(RENEW_EVERY, leases.entry(partition.to_string())).await;
    let entry = entry.ok()?.ok()?;
    Some(entry.map_or(Found::NOTHING, found))
}

/// A lease that was taken, and its bucket.
pub(super) struct HeldLease {
    leases: kv::Store,
    held: Held,
}

impl HeldLease {
    pub(super) fn fence(&self) -> &Arc<Fence> {
        &self.held.fence
    }

    /// Renews it, until that could not be done for too long, or somebody else has it: then the
    /// fence does not hold any more.
    pub(super) async fn keep(&mut self) {
        let mut next = Held::FIRST;
        while self.held.fence.holds() {
            next = match next {
                KeepNext::Renew(after) => {
                    sleep(after).await;
                    let renewal = self.held.renewal();
                    let answer = self.write(&renewal).await;
                    self.held.renewed(&renewal, answer)
                }
                KeepNext::Look => self.check().await,
                KeepNext::Over => break,
            };
        }
        self.held.fence.end();
    }

    async fn write(&self, writing: &Writing) -> WriteAnswer {
        match timeout(RENEW_EVERY, put(&self.leases, writing)).await {
            Ok(Ok(revision)) => WriteAnswer::Written(revision),
            Ok(Err(error)) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                WriteAnswer::OtherRevision
            }
            Ok(Err(_)) => WriteAnswer::Refused,
            Err(_) => WriteAnswer::Missing,
        }
    }

    async fn check(&mut self) -> KeepNext {
        let found = read_lease(&self.leases, self.held.fence.partition).await;
        self.held.on_lease_read(found)
    }

    /// Gives it up, so that another worker takes it at once. All writes under it are durable.
    pub(super) async fn give_up(mut self) {
        for _ in 0..2 {
            match self.write(&self.held.giving_up()).await {
                WriteAnswer::Written(_) => return,
                // Another's, or not known: it is over in three seconds.
                _ => {
                    if !matches!(self.check().await, KeepNext::Renew(Duration::ZERO)) {
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use tokio::time::Instant;

    /// A watch of two leases, of which NATS marks the last one or none, that says nothing after
    /// them.
    async fn told_current_after(last_is_marked: bool) -> Duration {
        let entry = |key: &str, seen_current| kv::Entry {
            bucket: subject::LEASES.into(),
            key: key.into(),
            value: Default::default(),
            revision: 1,
            delta: 0,
            created: std::time::SystemTime::UNIX_EPOCH.into(),
            operation: Operation::Put,
            seen_current,
        };
        let entries = [entry("0.0", false), entry("0.1", last_is_marked)].map(Ok::<_, Infallible>);
        let entries = tokio_stream::iter(entries).chain(tokio_stream::pending());
        let (changes, mut seen) = mpsc::channel(8);
        let (current, mut is_current) = mpsc::channel(1);
        let begun = Instant::now();
        let mut current = Some(current);
        let after = tokio::select! {
            () = tell_entries(entries, subject::LEASES, &changes, &mut current) => panic!("the watch goes on"),
            _ = is_current.recv() => begun.elapsed(),
        };
        for _ in 0..2 {
            assert!(matches!(seen.try_recv(), Ok(Change::Lease { .. })), "both were told before");
        }
        after
    }

    #[tokio::test(start_paused = true)]
    async fn watch_without_a_marked_last_entry_is_current_after_a_while() {
        assert_eq!(told_current_after(true).await, Duration::ZERO);
        assert!(told_current_after(false).await >= CURRENT_WITHIN);
    }
}
