//! The buckets: leases, workers, settings.

use super::connection::{ClusterError, Connection, chain};
use super::lease::{Free, Held, KeepNext, Lease, RENEW_EVERY, WriteAnswer, Writing};
use super::name::RoleName;
use super::subject;
use crate::fence::Fence;
use crate::partition::{Partition, Slices};
use async_nats::jetstream::kv::{self, Entry, Operation, UpdateErrorKind};
use async_nats::jetstream::stream;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt;

/// After something was not answered.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// A worker that is dead is forgotten by then.
const WORKERS_KEPT_FOR: Duration = Duration::from_secs(60);

/// All buckets.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    leases: kv::Store,
    workers: kv::Store,
    settings: kv::Store,
}

/// What was seen of a bucket.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Lease {
        partition: Partition,
        revision: u64,
        lease: Lease,
    },
    Worker {
        name: String,
    },
    WorkerGone {
        name: String,
    },
    /// Into how many slices networks are cut.
    Slices(String),
    /// All that was there when it was looked at first was told.
    Current,
}

impl Buckets {
    /// Makes those that are not there.
    ///
    /// # Errors
    /// A sentence: JetStream is not there, or has no leader.
    pub(super) async fn open(connection: &Connection, replicas: usize) -> Result<Buckets, String> {
        let open = async |name: &'static str, kept| {
            let jetstream = &connection.jetstream;
            let said = |error: &dyn std::error::Error| format!("bucket {name}: {}", chain(error));
            jetstream
                .get_or_create_stream(stream_of(name, kept, replicas))
                .await
                .map_err(|error| said(&error))?;
            jetstream.get_key_value(name).await.map_err(|error| said(&error))
        };
        Ok(Buckets {
            leases: open(subject::LEASES, Duration::ZERO).await?,
            workers: open(subject::WORKERS, WORKERS_KEPT_FOR).await?,
            settings: open(subject::SETTINGS, Duration::ZERO).await?,
        })
    }

    /// The number of slices that all agree about; wanted: what is to be there, where nothing is.
    ///
    /// # Errors
    /// As a sentence where JetStream did not answer; [`ClusterError::OtherSlices`].
    pub(super) async fn slices(
        &self,
        wanted: Option<Slices>,
        change: bool,
    ) -> Result<Result<Slices, ClusterError>, String> {
        let said = |error: &dyn std::error::Error| format!("bucket {}: {}", subject::SETTINGS, chain(error));
        let entry = self.settings.entry(subject::SLICES).await.map_err(|error| said(&error))?;
        let there = entry.as_ref().filter(|entry| entry.operation == Operation::Put);
        let there = there.map(|entry| String::from_utf8_lossy(&entry.value).into_owned());
        match (there.as_deref().map(str::parse::<Slices>), wanted) {
            (Some(Ok(there)), None) => return Ok(Ok(there)),
            (Some(Ok(there)), Some(wanted)) if there == wanted => return Ok(Ok(there)),
            (Some(_), Some(wanted)) if !change => {
                let there = there.unwrap_or_default();
                return Ok(Err(ClusterError::OtherSlices { there, wanted: wanted.to_string() }));
            }
            (Some(Err(error)), None) => {
                let error = format!("bucket {}, key {}: {error}", subject::SETTINGS, subject::SLICES);
                return Ok(Err(ClusterError::Usage(error)));
            }
            (None, _) | (Some(_), Some(_)) => {}
        }
        let (slices, revision) = (wanted.unwrap_or(Slices::ONE), entry.map_or(0, |entry| entry.revision));
        let written = self.settings.update(subject::SLICES, slices.to_string().into(), revision).await;
        // Another worker may have been faster: asked again, it is seen.
        written.map(|_| Ok(slices)).map_err(|error| said(&error))
    }

    /// Tells all that is in the buckets, and what changes, until nobody listens.
    pub(super) async fn watch(self, changes: mpsc::Sender<Change>) {
        let stores = [self.leases, self.workers, self.settings];
        let (current, mut is_current) = mpsc::channel(stores.len());
        for store in stores {
            tokio::spawn(watch(store, changes.clone(), current.clone()));
        }
        for _ in 0..3 {
            is_current.recv().await;
        }
        let _ = changes.send(Change::Current).await;
    }

    /// Takes a partition that is free. `None`: another worker was faster.
    ///
    /// # Errors
    /// A sentence: JetStream did not answer.
    pub(super) async fn take(&self, free: &Free, me: &RoleName) -> Result<Option<HeldLease>, String> {
        let taking = Writing::taking(free, me);
        match put(&self.leases, &taking).await {
            Ok(revision) => Ok(Some(HeldLease { leases: self.leases.clone(), held: taking.taken(revision) })),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => {
                Err(format!("the lease of {} could not be taken: {}", free.partition, chain(&error)))
            }
        }
    }

    /// Says again and again that a worker is there. Goes on for ever.
    ///
    /// Who is not answered in time can renew no lease, and says nothing until it is: else others would leave it a share that nobody had.
    pub(super) async fn announce(&self, me: &RoleName) {
        let mut is_answered = true;
        loop {
            if !is_answered {
                let asked = timeout(RENEW_EVERY, self.settings.entry(subject::SLICES)).await;
                is_answered = asked.is_ok_and(|entry| entry.is_ok());
            }
            if is_answered {
                let said = timeout(RENEW_EVERY, self.workers.put(me.as_str(), "here".into())).await;
                is_answered = said.is_ok_and(|said| said.is_ok());
            }
            sleep(RENEW_EVERY).await;
        }
    }

    /// Says that a worker goes.
    pub(super) async fn goes(&self, me: &RoleName) {
        // Others see it by themselves, a little later.
        let _ = timeout(RENEW_EVERY, self.workers.delete(me.as_str())).await;
    }
}

/// A bucket is a stream with these settings: NATS' ADR-8, "JetStream based Key-Value Stores". The client's own function for it asks a server
/// of Debian 12 (2.9) what it does not say.
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

/// Watches a bucket; where that fails, again from the beginning.
async fn watch(store: kv::Store, changes: mpsc::Sender<Change>, current: mpsc::Sender<()>) {
    let mut current = Some(current);
    loop {
        // An empty bucket has nothing that could be the last of what is there.
        let empty = store.stream.get_info().await.map(|info| info.state.messages == 0);
        if let (Ok(empty), Ok(mut entries)) = (empty, store.watch_with_history(">").await) {
            if empty && let Some(current) = current.take() {
                let _ = current.send(()).await;
            }
            while let Some(Ok(entry)) = entries.next().await {
                let is_current = entry.seen_current;
                if let Some(change) = change(&store.name, entry)
                    && changes.send(change).await.is_err()
                {
                    return;
                }
                if is_current && let Some(current) = current.take() {
                    let _ = current.send(()).await;
                }
            }
        }
        if changes.is_closed() {
            return;
        }
        sleep(AGAIN_AFTER).await;
    }
}

fn change(bucket: &str, entry: Entry) -> Option<Change> {
    let there = entry.operation == Operation::Put;
    match bucket {
        subject::LEASES if there => Some(Change::Lease {
            partition: entry.key.parse().ok()?,
            revision: entry.revision,
            lease: serde_json::from_slice(&entry.value).ok()?,
        }),
        subject::WORKERS if there => Some(Change::Worker { name: entry.key }),
        subject::WORKERS => Some(Change::WorkerGone { name: entry.key }),
        subject::SETTINGS if entry.key == subject::SLICES => {
            Some(Change::Slices(String::from_utf8_lossy(&entry.value).into_owned()))
        }
        _ => None,
    }
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

    /// Renews it, until that could not be done for too long, or somebody else has it: then the fence does not hold any more.
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
                KeepNext::Look => self.look().await,
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

    async fn look(&mut self) -> KeepNext {
        let entry = timeout(RENEW_EVERY, self.leases.entry(self.held.fence.partition.to_string())).await;
        let found = entry.ok().and_then(Result::ok);
        let lease = |entry: Entry| Some((entry.revision, serde_json::from_slice(&entry.value).ok()?));
        self.held.looked(found.map(|entry| entry.and_then(lease)))
    }

    /// Gives it up, so that another worker takes it at once. What was done under it is durable.
    pub(super) async fn give_up(mut self) {
        for _ in 0..2 {
            match self.write(&self.held.giving_up()).await {
                WriteAnswer::Written(_) => return,
                // Another's, or not known: it is over in three seconds.
                _ => {
                    if !matches!(self.look().await, KeepNext::Renew(Duration::ZERO)) {
                        return;
                    }
                }
            }
        }
    }
}
