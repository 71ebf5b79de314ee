//! The beginning of a partition's session, with the meters of the registry and their stored state.

use super::PartitionSession;
use super::end::End;
use crate::clock;
use crate::downlink::Images;
use crate::event::CommandState;
use crate::fence::Fence;
use crate::gateway::HeardPacket;
use crate::meters::{
    Inputs, KnownMeter, LastHeard, MetersHandle, Named, PartitionState, PendingCommit, Submission,
};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::{CounterFloor, MeterFile, Registry};
use crate::store::{
    CommandProgress, CommandRecord, Provisioned, Reader, RecordedCommand, StoreError, StoredMeter,
    UpdateRecord, Write, Written,
};
use crate::writer::{Done, Jobs};
use crossbeam_channel::Receiver;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;
use wire::meter::{Collector, Identity, MeterId, MeterRecord, MeterState, Policy, PublicKey};

/// The largest number of meters that an alert names.
const NAMED_MAX: usize = 10;

/// The initial state of a partition's session: the registry's keys, in line with the stored state.
pub(crate) struct Beginning {
    pub(super) partition: Partition,
    pub(super) engine: Collector,
    pub(super) meters: BTreeMap<MeterId, KnownMeter>,
    pub(super) retired_epochs: HashMap<MeterId, u32>,
    pub(super) newest_ms: i64,
    /// Commands that the database has as open, and no meter waits for any more.
    pub(super) lost: Vec<CommandRecord>,
    /// Meters whose keys were used, and that the database does not know.
    pub(super) forgotten: Vec<MeterId>,
    /// Updates that are not over.
    pub(super) updates: Vec<UpdateRecord>,
    /// Meters that have new keys.
    pub(super) with_new_keys: HashSet<MeterId>,
}

/// A registered meter whose keys are not over, and what is stored of it with these keys.
struct Candidate {
    file: MeterFile,
    stored: Option<StoredMeter>,
}

impl Candidate {
    /// Says if the database has these keys.
    fn is_stored(&self) -> bool {
        let public = self.stored.as_ref().and_then(|stored| stored.public);
        public == Some(self.file.record.public.to_bytes())
    }
}

/// The session's other parts.
pub(crate) struct Parts {
    pub(crate) jobs: Arc<Jobs<Submission>>,
    /// Threads that open what takes curves.
    pub(crate) verifiers: usize,
    /// Nothing unsealed is taken as soon as there is a meter that seals.
    pub(crate) auto_require_sealed: bool,
    /// The destination of packets of unknown meters.
    pub(crate) unknown_meters: Option<tokio::sync::mpsc::Sender<HeardPacket>>,
    /// The guard of its writes; `None`: no other process writes.
    pub(crate) fence: Option<Arc<Fence>>,
    /// The images of meters' firmware.
    pub(crate) images: Arc<Images>,
    /// The registry that keeps renewed keys; `None`: no meter's key is renewed.
    pub(crate) registry: Option<Registry>,
    /// The results of its writes.
    pub(crate) done: Receiver<Done<Submission>>,
    /// Spreads attempts, and makes ephemeral keys.
    pub(crate) rng: StdRng,
}

impl Beginning {
    /// files: the keys of the partition's meters. commit: writes, and returns when that is durable.
    /// counter_floor: the numbers that were sent with these keys, which the database need not know.
    /// Numbers of commands go on above it. A meter whose keys and stored state do not fit is left
    /// out, and the log says so; all others work.
    ///
    /// # Errors
    /// The store's error.
    pub(crate) fn new<E: From<StoreError>>(
        (mut commit, reader): (impl FnMut(Vec<Write>) -> Result<Vec<Written>, E>, &Reader),
        (partition, slices): (Partition, Slices),
        identity: Identity,
        policy: Policy,
        mut files: BTreeMap<MeterId, MeterFile>,
        counter_floor: &CounterFloor,
    ) -> Result<Beginning, E> {
        let network = partition.network;
        let mut beginning = Beginning {
            partition,
            engine: Collector::new(identity, policy),
            meters: BTreeMap::new(),
            retired_epochs: HashMap::new(),
            newest_ms: 0,
            lost: Vec::new(),
            forgotten: Vec::new(),
            updates: reader.open_updates_of(partition, slices)?,
            with_new_keys: HashSet::new(),
        };
        let silent: HashSet<MeterId> = reader.silent(partition, slices)?.into_iter().collect();
        // Not all that is stored at once, where there are very many.
        let mut after = None;
        loop {
            let page = reader.stored_meters(partition, slices, after)?;
            let Some(last) = page.last() else { break };
            after = Some(last.meter);
            let mut candidates = Vec::with_capacity(page.len());
            for stored in page {
                beginning.newest_ms = beginning.newest_ms.max(stored.last_heard_ms.unwrap_or(0));
                match files.remove(&stored.meter) {
                    Some(file) => candidates.extend(beginning.candidate(file, stored)),
                    // Its file went while the service was not there.
                    None => {
                        let meter = stored.meter;
                        if stored.revoked_ms.is_none() {
                            tracing::info!(meter, network = network.named(), "its key file is gone: revoked");
                            commit(vec![Write::Revoked {
                                meter: network.meter(meter),
                                at_ms: clock::unix_ms(),
                            }])?;
                        }
                        beginning.retired_epochs.insert(meter, stored.epoch);
                    }
                }
            }
            beginning.admit(candidates, &mut commit, &silent, counter_floor)?;
        }
        let new = files.into_values().map(|file| Candidate { file, stored: None }).collect();
        beginning.admit(new, &mut commit, &silent, counter_floor)?;
        beginning.engine.shrink_to_fit();
        // As that does.
        beginning.meters = std::mem::take(&mut beginning.meters).into_iter().collect();
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
        for command in reader.open_commands_of(partition, slices)? {
            beginning.resume(command);
        }
        Ok(beginning)
    }

    /// `None`: keys of a later epoch are known, or these were revoked.
    fn candidate(&mut self, file: MeterFile, stored: StoredMeter) -> Option<Candidate> {
        let (meter, network, epoch) = (stored.meter, self.partition.network, file.epoch);
        if stored.epoch > epoch || stored.epoch == epoch && stored.revoked_ms.is_some() {
            tracing::error!(
                meter,
                network = network.named(),
                "left out: its keys are of epoch {epoch}, and those of epoch {} are over; wattseal meters rotate {} makes \
                 new ones",
                stored.epoch,
                network.meter(meter)
            );
            self.retired_epochs.insert(meter, stored.epoch);
            return None;
        }
        let stored = Some(stored).filter(|stored| stored.epoch == epoch);
        Some(Candidate { file, stored })
    }

    /// Stores keys that the database does not have, and adds the meters.
    fn admit<E>(
        &mut self,
        candidates: Vec<Candidate>,
        commit: &mut impl FnMut(Vec<Write>) -> Result<Vec<Written>, E>,
        silent: &HashSet<MeterId>,
        counter_floor: &CounterFloor,
    ) -> Result<(), E> {
        let (network, public, now_ms) =
            (self.partition.network, *self.engine.identity().public(), clock::unix_ms());
        let new = candidates.iter().filter(|candidate| !candidate.is_stored());
        let writes: Vec<Write> = new
            .map(|Candidate { file, .. }| provisioned((network, file.epoch), &file.record, &public, now_ms))
            .collect();
        // Most are stored as they are.
        let mut written = if writes.is_empty() { Vec::new() } else { commit(writes)? }.into_iter();
        for candidate in candidates {
            let written = match candidate.is_stored() {
                true => Written::Done,
                false => written.next().unwrap_or(Written::Unknown),
            };
            self.add(candidate, silent, &written, counter_floor);
        }
        Ok(())
    }

    /// The same of what was read already, all of it in line.
    #[cfg(test)]
    pub(crate) fn of_stored(
        partition: Partition,
        (identity, policy): (Identity, Policy),
        meters: Vec<(MeterRecord, StoredMeter)>,
        commands: Vec<CommandRecord>,
    ) -> Beginning {
        let newest_ms = meters.iter().filter_map(|(_, stored)| stored.last_heard_ms).max().unwrap_or(0);
        let mut beginning = Beginning {
            partition,
            engine: Collector::new(identity, policy),
            meters: BTreeMap::new(),
            retired_epochs: HashMap::new(),
            newest_ms,
            lost: Vec::new(),
            forgotten: Vec::new(),
            updates: Vec::new(),
            with_new_keys: HashSet::new(),
        };
        let counter_floor = CounterFloor::nowhere();
        for (record, stored) in meters {
            let file = MeterFile { network: partition.network, epoch: stored.epoch, record };
            let candidate = Candidate { file, stored: Some(stored) };
            beginning.add(candidate, &HashSet::new(), &Written::Done, &counter_floor);
        }
        commands.into_iter().for_each(|command| beginning.resume(command));
        beginning
    }

    fn add(
        &mut self,
        Candidate { file: MeterFile { epoch, record, .. }, stored }: Candidate,
        silent: &HashSet<MeterId>,
        written: &Written,
        counter_floor: &CounterFloor,
    ) {
        let (meter, network) = (record.setup.meter, self.partition.network);
        let global = network.meter(meter);
        if *written != Written::Done {
            tracing::error!(
                meter,
                network = network.named(),
                "left out: its keys are not those of epoch {epoch} that are stored; wattseal meters rotate {global} makes new ones"
            );
            return;
        }
        let mut known = KnownMeter::new(epoch, record.setup.interval_s);
        let told = counter_floor.told(meter, epoch);
        if told.is_some() && stored.is_none() {
            self.forgotten.push(meter);
        }
        if stored.is_none() {
            self.with_new_keys.insert(meter);
        }
        let mut state = match stored {
            Some(StoredMeter { state: Err(why), .. }) => {
                tracing::error!(
                    meter,
                    network = network.named(),
                    "left out: its stored state cannot be read here, as one of a later version: {why}"
                );
                self.retired_epochs.insert(meter, epoch);
                return;
            }
            Some(StoredMeter { state: Ok(state), interval_s, last_heard_ms, .. }) => {
                known.interval_s = interval_s;
                let heard = |at_ms| LastHeard { at_ms, silence_from: clock::now() };
                known.heard = last_heard_ms.map(heard);
                known.silent = silent.contains(&meter);
                state
            }
            None => MeterState::new(&record),
        };
        // This holds for any copy of the database.
        state.number_commands_from(counter_floor.below());
        if let Some(told) = told {
            state.may_have(&told.suites, &told.addresses);
        }
        match self.engine.add(record, state) {
            Ok(()) => drop(self.meters.insert(meter, known)),
            Err(error) => tracing::error!(meter, network = network.named(), "left out: {error}"),
        }
    }

    /// Names of meters here whose packets go to another slice.
    fn names_elsewhere(&self, slices: Slices) -> Vec<(MeterId, MeterId)> {
        let elsewhere = self.engine.names().filter(|(name, _)| slices.of(*name) != self.partition.slice);
        let is_there = |(name, meter): &(MeterId, MeterId)| {
            let state = self.engine.state(*meter);
            state.is_some_and(|state| state.addresses().iter().any(|address| address.name == *name))
        };
        elsewhere.filter(is_there).map(|(name, meter)| (meter, name)).collect()
    }

    fn resume(&mut self, command: CommandRecord) {
        let waits = |ticket: u32| {
            self.engine
                .commands(command.meter.meter)
                .iter()
                .any(|(waiting, order, _)| *waiting == ticket && command.order == (*order).into())
        };
        match self.meters.get_mut(&command.meter.meter).filter(|_| waits(command.ticket)) {
            Some(known) => {
                let named = Named { id: command.id, attempts: command.attempts };
                known.active().commands.insert(command.ticket, named);
            }
            None => {
                if let RecordedCommand::Later(name) = &command.order {
                    tracing::warn!(meter = %command.meter, "command {name} is of a later version: it is withdrawn");
                }
                self.lost.push(command);
            }
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

/// Withdraws commands that no meter waits for any more.
pub(super) fn withdraw_lost(state: &mut PartitionState, lost: Vec<CommandRecord>) {
    for command in lost {
        let progress = CommandProgress {
            id: command.id,
            state: CommandState::Withdrawn,
            attempts: command.attempts,
            at_ms: state.now_ms,
            answer: None,
        };
        state.store(PendingCommit::Progress { progress, answer: None });
    }
}

/// Raises an alert: the database does not know these meters, with whose keys commands were sent.
pub(super) fn alert_forgotten(state: &mut PartitionState, meters: &[MeterId]) {
    if meters.is_empty() {
        return;
    }
    let named: Vec<String> =
        meters.iter().take(NAMED_MAX).map(|meter| state.global(*meter).to_string()).collect();
    let more = if meters.len() > NAMED_MAX { " and others" } else { "" };
    let detail = format!(
        "the database does not know meter {}{more}, whose keys were used: it is new, or an older copy. Commands go on with numbers \
         above all that were used; readings that were acknowledged since the copy are not in it",
        named.join(", ")
    );
    state.alert(None, "restored", detail);
}

/// Starts a session's thread. end: hears of the thread's end.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn start(
    beginning: Beginning,
    parts: Parts,
    handle: &MetersHandle,
    inputs: Inputs,
    end: Option<End>,
) -> std::io::Result<JoinHandle<()>> {
    let partition = beginning.partition;
    let session = PartitionSession::new(beginning, parts, handle)?;
    let name = if partition == Partition::FIRST { "link".to_owned() } else { format!("link {partition}") };
    std::thread::Builder::new().name(name).spawn(move || {
        // Dropped at the end, also where the thread panics.
        let _end = end;
        session.run(inputs);
    })
}

/// Returns the number of verifiers: one a core, unless it was asked for.
pub(crate) fn verifiers(asked: usize) -> usize {
    if asked > 0 { asked } else { std::thread::available_parallelism().map_or(1, |cores| cores.get()) }
}
