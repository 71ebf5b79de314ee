//! How a partition's link begins: with the meters of the registry, and with what is stored of them.

use super::clock::Clock;
use super::end::End;
use super::handle::{Inputs, LinkHandle, Snapshot};
use super::meter_state::{MeterLinkState, Named};
use super::pending::{PendingCommit, RetryQueue, Submitted};
use super::receipt::UnfinishedReceipts;
use super::state::Link;
use super::verify::Verifiers;
use crate::clock;
use crate::event::CommandState;
use crate::fence::Fence;
use crate::gateway::HeardPacket;
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::Issued;
use crate::store::{
    CommandProgress, CommandRecord, KeptMeter, Provisioned, Reader, StoreError, Write, Written,
};
use crate::writer::{Done, Jobs};
use crossbeam_channel::Receiver;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use wire::meter::{Collector, Identity, MeterId, MeterRecord, MeterState, Policy, PublicKey};

/// What a partition's link begins with, brought in line: the registry's keys, and what is stored.
pub(crate) struct Beginning {
    partition: Partition,
    collector: Collector,
    meters: HashMap<MeterId, Box<MeterLinkState>>,
    over: HashMap<MeterId, u32>,
    newest_ms: i64,
    /// Commands that the database has as open, and no meter waits for any more.
    lost: Vec<CommandRecord>,
    /// Meters whose keys were used, and that the database does not know.
    forgotten: Vec<MeterId>,
}

/// The link's other parts.
pub(crate) struct Parts {
    pub(crate) jobs: Arc<Jobs<Submitted>>,
    /// Threads that open what takes curves.
    pub(crate) verifiers: usize,
    /// Nothing unsealed is taken as soon as there is a meter that seals.
    pub(crate) seal_by_itself: bool,
    /// Where packets of meters go that are not this collector's.
    pub(crate) unknown_meters: Option<tokio::sync::mpsc::Sender<HeardPacket>>,
    /// What it writes under; `None`: nobody else writes.
    pub(crate) fence: Option<Arc<Fence>>,
    /// What became of its writes.
    pub(crate) done: Receiver<Done<Submitted>>,
    /// Spreads attempts, and makes ephemeral keys.
    pub(crate) rng: StdRng,
}

impl Beginning {
    /// kept: what is stored of the partition's meters. files: those of the registry with the epochs of their keys. commit: writes, and
    /// returns when that is durable. issued: what was
    /// sent with these, which the database need not know: numbers of commands go on above it. A meter whose keys and stored state do not
    /// fit is left out, and the log says so; all others work.
    ///
    /// # Errors
    /// What the store said.
    pub(crate) fn new<E: From<StoreError>>(
        (mut commit, reader): (impl FnMut(Vec<Write>) -> Result<Vec<Written>, E>, &Reader),
        (partition, slices): (Partition, Slices),
        identity: Identity,
        policy: Policy,
        mut kept: BTreeMap<MeterId, KeptMeter>,
        files: BTreeMap<MeterId, (u32, MeterRecord)>,
        issued: &Issued,
    ) -> Result<Beginning, E> {
        let network = partition.network;
        let now_ms = clock::unix_ms();
        let newest_ms = kept.values().filter_map(|kept| kept.last_heard_ms).max().unwrap_or(0);
        let public = *identity.public();
        let mut beginning = Beginning {
            partition,
            collector: Collector::new(identity, policy),
            meters: HashMap::new(),
            over: HashMap::new(),
            newest_ms,
            lost: Vec::new(),
            forgotten: Vec::new(),
        };
        let mut candidates = Vec::new();
        for (meter, (epoch, record)) in files {
            let kept = kept.remove(&meter);
            match kept
                .as_ref()
                .filter(|kept| kept.epoch > epoch || kept.epoch == epoch && kept.revoked_ms.is_some())
            {
                Some(over) => {
                    tracing::error!(
                        meter,
                        network = network.named(),
                        "left out: its keys are of epoch {epoch}, and those of epoch {} are over; ./wattseal meters rotate {} makes \
                         new ones",
                        over.epoch,
                        network.meter(meter)
                    );
                    beginning.over.insert(meter, over.epoch);
                }
                None => candidates.push((epoch, record, kept.filter(|kept| kept.epoch == epoch))),
            }
        }
        // Most are stored as they are.
        let stored = reader.public_keys(partition, slices)?;
        let is_stored = |(epoch, record, kept): &(u32, MeterRecord, Option<KeptMeter>)| {
            kept.is_some() && stored.get(&record.setup.meter) == Some(&(*epoch, record.public.to_bytes()))
        };
        let new = candidates.iter().filter(|candidate| !is_stored(candidate));
        let writes =
            new.map(|(epoch, record, _)| provisioned((network, *epoch), record, &public, now_ms)).collect();
        let mut written = commit(writes)?.into_iter();
        let silent = reader.silent(partition, slices)?.into_iter().collect();
        for candidate in candidates {
            let written = match is_stored(&candidate) {
                true => Written::Done,
                false => written.next().unwrap_or(Written::Unknown),
            };
            let (epoch, record, kept) = candidate;
            beginning.add((epoch, record), kept, &silent, &written, issued);
        }
        for (meter, name) in beginning.names_elsewhere(slices) {
            tracing::error!(
                meter,
                network = network.named(),
                "it is registered as {name}, whose packets go to slice {}, where nobody has its keys: it is not heard. With one slice, \
                 register it under a name of slice {} first",
                slices.of(name),
                partition.slice
            );
        }
        // Their files went while the service was not there.
        for (meter, kept) in kept {
            if kept.revoked_ms.is_none() {
                tracing::info!(meter, network = network.named(), "its key file is gone: revoked");
                commit(vec![Write::Revoked { meter: network.meter(meter), at_ms: now_ms }])?;
            }
            beginning.over.insert(meter, kept.epoch);
        }
        for command in reader.open_commands_of(partition, slices)? {
            beginning.resume(command);
        }
        Ok(beginning)
    }

    /// The same of what was read already, all of it in line.
    #[cfg(test)]
    pub(crate) fn of_stored(
        partition: Partition,
        (identity, policy): (Identity, Policy),
        stored: Vec<(MeterRecord, KeptMeter)>,
        commands: Vec<CommandRecord>,
    ) -> Beginning {
        let newest_ms = stored.iter().filter_map(|(_, kept)| kept.last_heard_ms).max().unwrap_or(0);
        let mut beginning = Beginning {
            partition,
            collector: Collector::new(identity, policy),
            meters: HashMap::new(),
            over: HashMap::new(),
            newest_ms,
            lost: Vec::new(),
            forgotten: Vec::new(),
        };
        let issued = Issued::nowhere();
        for (record, kept) in stored {
            beginning.add((kept.epoch, record), Some(kept), &HashSet::new(), &Written::Done, &issued);
        }
        commands.into_iter().for_each(|command| beginning.resume(command));
        beginning
    }

    fn add(
        &mut self,
        (epoch, record): (u32, MeterRecord),
        kept: Option<KeptMeter>,
        silent: &HashSet<MeterId>,
        written: &Written,
        issued: &Issued,
    ) {
        let (meter, network) = (record.setup.meter, self.partition.network);
        let global = network.meter(meter);
        if *written != Written::Done {
            tracing::error!(
                meter,
                network = network.named(),
                "left out: its keys are not those of epoch {epoch} that are stored; ./wattseal meters rotate {global} makes new ones"
            );
            return;
        }
        let mut known = MeterLinkState::new(epoch, record.setup.interval_s);
        let told = issued.told(meter, epoch);
        if told.is_some() && kept.is_none() {
            self.forgotten.push(meter);
        }
        let mut state = match kept {
            Some(kept) => {
                known.interval_s = kept.interval_s;
                known.heard_ms = kept.last_heard_ms;
                known.heard_at = kept.last_heard_ms.map(|_| clock::now());
                known.silent = silent.contains(&meter);
                kept.state
            }
            None => MeterState::new(&record),
        };
        // Whatever copy the database is.
        state.number_commands_from(issued.below());
        if let Some(told) = told {
            state.may_have(&told.suites, &told.addresses);
        }
        match self.collector.add(record, state) {
            Ok(()) => drop(self.meters.insert(meter, Box::new(known))),
            Err(error) => tracing::error!(meter, network = network.named(), "left out: {error}"),
        }
    }

    /// Names of meters here whose packets go to another slice.
    fn names_elsewhere(&self, slices: Slices) -> Vec<(MeterId, MeterId)> {
        let names =
            |meter: &MeterId| self.collector.state(*meter).map(MeterState::addresses).unwrap_or_default();
        let of =
            |meter: &MeterId| names(meter).iter().map(|address| (*meter, address.name)).collect::<Vec<_>>();
        let all = self.meters.keys().flat_map(of);
        all.filter(|(_, name)| slices.of(*name) != self.partition.slice).collect()
    }

    fn resume(&mut self, command: CommandRecord) {
        let waits = |ticket: u32| {
            self.collector
                .commands(command.meter.meter)
                .iter()
                .any(|(waiting, order, _)| *waiting == ticket && *order == command.order)
        };
        match self.meters.get_mut(&command.meter.meter).filter(|_| waits(command.ticket)) {
            Some(known) => {
                let named = Named { id: command.id, attempts: command.attempts };
                known.commands.insert(command.ticket, named);
            }
            None => self.lost.push(command),
        }
    }
}

fn provisioned(
    (network, epoch): (NetworkId, u32),
    record: &MeterRecord,
    collector: &PublicKey,
    now_ms: i64,
) -> Write {
    Write::Provisioned(Box::new(Provisioned {
        meter: network.meter(record.setup.meter),
        epoch,
        label: None,
        public: record.public,
        collector_public: *collector,
        suite: record.setup.suite,
        interval_s: record.setup.interval_s,
        state: MeterState::new(record),
        at_ms: now_ms,
    }))
}

/// Starts a link's thread. end: says that it has ended.
///
/// # Errors
/// Where the system gives no thread.
pub(crate) fn start(
    beginning: Beginning,
    parts: Parts,
    handle: &LinkHandle,
    inputs: Inputs,
    end: Option<End>,
) -> std::io::Result<JoinHandle<()>> {
    let partition = beginning.partition;
    let link = link(beginning, parts, handle)?;
    let name = if partition == Partition::FIRST { "link".to_owned() } else { format!("link {partition}") };
    std::thread::Builder::new().name(name).spawn(move || {
        // Dropped at the end, also where the thread panics.
        let _end = end;
        link.run(inputs);
    })
}

/// A link, to be run.
///
/// # Errors
/// Where the system gives no thread to a verifier.
pub(crate) fn link(beginning: Beginning, parts: Parts, handle: &LinkHandle) -> std::io::Result<Link> {
    let Beginning { partition, collector, meters, over, newest_ms, lost, forgotten } = beginning;
    handle.shared.newest_ms.fetch_max(newest_ms, Ordering::Relaxed);
    let mut link = Link {
        partition,
        slices: handle.slices,
        fence: parts.fence,
        policy: *collector.policy(),
        collector,
        meters,
        over,
        jobs: parts.jobs,
        done: parts.done,
        verifiers: Verifiers::start(parts.verifiers)?,
        gateways: handle.gateways.clone(),
        events: handle.events.clone(),
        shared: handle.shared.clone(),
        unknown_meters: parts.unknown_meters,
        seal_by_itself: parts.seal_by_itself,
        rng: parts.rng,
        clock: Clock::new(newest_ms),
        began: clock::now(),
        now_ms: clock::unix_ms(),
        writes: Vec::new(),
        submitted: Vec::new(),
        submissions: 0,
        in_flight: 0,
        era: 0,
        retry: RetryQueue::default(),
        opening: 0,
        unfinished: UnfinishedReceipts::default(),
        look_at_due: true,
        tick_at: clock::now(),
        next_due_ms: None,
        counted: Snapshot::default(),
        minute: Default::default(),
        ended: false,
    };
    for command in lost {
        let progress = CommandProgress {
            id: command.id,
            state: CommandState::Withdrawn,
            attempts: command.attempts,
            at_ms: link.now_ms,
            answer: None,
        };
        link.store(PendingCommit::Progress { progress, answer: None });
    }
    link.forgotten(&forgotten);
    Ok(link)
}

/// One a core.
pub(crate) fn verifiers(asked: usize) -> usize {
    if asked > 0 { asked } else { std::thread::available_parallelism().map_or(1, |cores| cores.get()) }
}
