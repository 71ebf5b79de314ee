//! The thread that makes renewed keys durable: in the key files, or sealed in the database, where
//! the meter's keys are. Nothing is sealed with a key before, and none goes while the meter may
//! still have it.

use crate::clock;
use crate::event::Event;
use crate::fence::Fence;
use crate::meters::{PartitionState, PendingCommit};
use crate::partition::Slices;
use crate::registry::{Registry, RegistryError};
use crate::store::NewAction;
use crossbeam_channel::{Receiver, Sender, never, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use wire::meter::{MeterKeys, MeterRecord};

/// The delay after keys could not be kept; it doubles each time.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
const DOUBLINGS_MAX: u32 = 5;

/// A meter's record with its new keys.
struct KeyJob {
    /// Of its provisioning.
    epoch: u32,
    /// The keys in whose place they come: the last ones that are durable, and then those that may
    /// be.
    before: Vec<MeterKeys>,
    record: Box<MeterRecord>,
}

/// The result of keeping keys.
pub(crate) struct KeyResult {
    asked: KeyJob,
    result: Result<(), RegistryError>,
}

/// The keeper of keys, with the guard of its writes.
struct KeyWriter {
    registry: Registry,
    slices: Slices,
    fence: Option<Arc<Fence>>,
}

impl KeyWriter {
    fn keep(&self, KeyJob { before, record, .. }: &KeyJob) -> Result<(), RegistryError> {
        let lease = match &self.fence {
            Some(fence) if !fence.holds() => return Err(RegistryError::LeaseOver),
            fence => fence.as_ref().map(|fence| (self.slices, fence.lease())),
        };
        self.registry.renew(before, record, lease)
    }
}

/// The thread, which begins with the first key, and the queues to it and back. Dropping it waits
/// until nothing is written any more.
pub(crate) struct KeyRenewal {
    asked: Option<Sender<KeyJob>>,
    /// Closed: the thread has ended.
    pub(crate) kept: Receiver<KeyResult>,
    ended: Arc<AtomicBool>,
    /// `None`: it has begun, or there are no keys to be kept.
    idle: Option<Box<KeeperThread>>,
    thread: Option<JoinHandle<()>>,
}

/// The keeper's thread before its start.
struct KeeperThread {
    key_writer: KeyWriter,
    asked: Receiver<KeyJob>,
    kept: Sender<KeyResult>,
}

impl KeeperThread {
    fn run(self, is_over: &AtomicBool) {
        for asked in self.asked {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            let result = self.key_writer.keep(&asked);
            if self.kept.send(KeyResult { asked, result }).is_err() {
                return;
            }
        }
    }
}

impl KeyRenewal {
    /// registry: `None`: there are no keys to be kept. fence: what they are written under; `None`:
    /// nobody else writes.
    pub(crate) fn new(
        registry: Option<Registry>,
        (slices, fence): (Slices, Option<Arc<Fence>>),
    ) -> KeyRenewal {
        let (ended, thread) = (Arc::new(AtomicBool::new(false)), None);
        let Some(registry) = registry else {
            return KeyRenewal { asked: None, kept: never(), ended, idle: None, thread };
        };
        let ((asked, asked_in), (kept_out, kept)) = (unbounded(), unbounded());
        let key_writer = KeyWriter { registry, slices, fence };
        let idle = Some(Box::new(KeeperThread { key_writer, asked: asked_in, kept: kept_out }));
        KeyRenewal { asked: Some(asked), kept, ended, idle, thread }
    }

    /// Submits keys to the thread. Returns whether somebody keeps them.
    fn submit(&mut self, keys: KeyJob) -> bool {
        if let Some(idle) = self.idle.take() {
            let is_over = self.ended.clone();
            let thread = std::thread::Builder::new().name("keys".to_owned());
            match thread.spawn(move || idle.run(&is_over)) {
                Ok(thread) => self.thread = Some(thread),
                Err(error) => tracing::error!("the system gives no thread: {error}"),
            }
        }
        self.asked.as_ref().is_some_and(|asked| asked.send(keys).is_ok())
    }

    /// Has a meter's new keys kept, unless they are being kept, or are to be tried again later.
    pub(super) fn keep(&mut self, state: &mut PartitionState, record: Box<MeterRecord>) {
        let meter = record.setup.meter;
        if !state.lease.may_send() {
            return;
        }
        let Some(saved) = state.meters.engine.saved_keys(meter).cloned() else { return };
        let Some(known) = state.meters.get_mut(meter) else { return };
        let epoch = known.epoch;
        let keys = &mut known.active().keys;
        if keys.is_asked || keys.again_at.is_some_and(|at| clock::now() < at) {
            return;
        }
        let before = [&[saved], &keys.tried[..]].concat();
        keys.is_asked = self.submit(KeyJob { epoch, before, record });
        // Asking at once gains nothing if nobody keeps any, as with a meter that was told elsewhere
        // to seal so.
        keys.again_at = (!keys.is_asked).then(|| clock::now() + AGAIN_AFTER * (1 << DOUBLINGS_MAX));
    }

    /// Goes on with keys that are durable, or are to be tried again.
    pub(crate) fn on_kept(
        &mut self,
        state: &mut PartitionState,
        KeyResult { asked: KeyJob { epoch, before, record }, result }: KeyResult,
    ) {
        let meter = record.setup.meter;
        let named = state.global(meter);
        state.check_due = true;
        // It was rotated or revoked meanwhile: that says nothing of the keys that it has now.
        let Some(known) = state.meters.get_of_epoch(meter, epoch) else { return };
        let keys = &mut known.active().keys;
        keys.is_asked = false;
        match result {
            Ok(()) => {
                (keys.tried, keys.failures) = (Vec::new(), 0);
                state.meters.engine.confirm_keys(&record);
                if before.first().is_some_and(|before| before.epoch() < record.keys.epoch()) {
                    on_renewed(state, &record);
                }
            }
            Err(RegistryError::LeaseOver) => state.lease.on_fenced(),
            Err(error) => {
                tracing::error!(meter = %named, "a renewed key was not kept, and is not used: {error}");
                // Nothing was written; or that is not known, as where the database's answer was
                // lost.
                let is_refused = matches!(error, RegistryError::OtherKeys(_) | RegistryError::Unknown(_));
                if !is_refused && !keys.tried.contains(&record.keys) {
                    keys.tried.push(record.keys.clone());
                }
                keys.again_at = Some(clock::now() + AGAIN_AFTER * (1 << keys.failures.min(DOUBLINGS_MAX)));
                keys.failures += 1;
            }
        }
    }

    /// Keeps no more keys, and goes on with those that were kept.
    pub(crate) fn stop(&mut self, state: &mut PartitionState) {
        self.stop_thread();
        while let Ok(kept) = self.kept.try_recv() {
            self.on_kept(state, kept);
        }
    }

    /// Stops the thread: it drops keys that wait, and finishes the one that is being written.
    fn stop_thread(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        (self.asked, self.idle) = (None, None);
        if let Some(thread) = self.thread.take() {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for KeyRenewal {
    fn drop(&mut self) {
        self.stop_thread();
    }
}

/// Records that a meter has the next key, and the one before is no more.
fn on_renewed(state: &mut PartitionState, record: &MeterRecord) {
    let (meter, epoch) = (state.global(record.setup.meter), record.keys.epoch());
    let what = format!("renewed the key of meter {meter}: epoch {epoch}");
    tracing::info!(%meter, epoch, "a key was renewed");
    let action = NewAction { at_ms: state.now_ms, who: "collector".to_owned(), what };
    state.store(PendingCommit::Action(action));
    // When that was.
    state.store_state(record.setup.meter);
    state.publish(Event::Meter { meter });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{BootTime, simulated};
    use crate::downlink::Images;
    use crate::gateway::{HeardPacket, Route};
    use crate::meters::{Inputs, KnownMeter, MetersHandle, Submission};
    use crate::network::NetworkId;
    use crate::partition::Partition;
    use crate::registry::{AfterWrongPin, CounterFloor, KeyRing, KeyStore, make_kek};
    use crate::session::{Beginning, PartitionSession, Parts};
    use crate::store::{DatabaseUrl, Options, Reader, Sharing, Store, StoredMeter, Write};
    use crate::writer::{Job, Jobs};
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use std::time::Instant;
    use testkit::postgres::shared;
    use wire::meter::{
        Channel, Content, Identity, Measurement, MessageKind, MeterState, Policy, Provision, Report, Setup,
        Suite, packets,
    };

    const METER: u16 = 7;
    const SUITE: Suite = Suite::Aes256GcmRekeyed;

    /// The session of a worker with one meter that has the next key, and a keeper that the test is.
    struct Stand {
        session: PartitionSession,
        inputs: Inputs,
        handle: MetersHandle,
        asked: Receiver<KeyJob>,
        began: Instant,
        /// The meter's, with the next key.
        provision: Provision,
        collector: Identity,
        half: MeterKeys,
        _jobs: Receiver<Job<Submission>>,
    }

    impl Stand {
        fn new() -> Stand {
            let rng = &mut StdRng::seed_from_u64(1);
            let collector = Identity::generate(rng);
            let setup = Setup { suite: SUITE, ..Setup::usual(METER) };
            let provision = Provision::generate(setup, collector.public(), rng);
            let mut record = provision.record();
            let (key128, key256) = record.keys.expose();
            let all = [&key128[..], key256, &[0; 4], key256, &[9; 32]].concat();
            record.keys = MeterKeys::from_exposed(&all).expect("keys");
            let next = record.keys.next_epoch().expect("it is known");
            let identity = provision.identity().clone();
            let provision = Provision::with_keys(setup, next, identity, collector.public(), [0; 48]);
            let stored = StoredMeter {
                meter: METER,
                epoch: 1,
                state: Ok(MeterState::new(&record)),
                interval_s: 10,
                last_heard_ms: None,
                revoked_ms: None,
                public: Some(record.public.to_bytes()),
            };
            let began = Instant::now();
            simulated::set(began, 1_800_000_000_000);
            let (handle, (jobs, jobs_in)) = (MetersHandle::new(Slices::ONE), Jobs::without_thread());
            let half = record.keys.clone();
            let beginning = Beginning::of_stored(
                Partition::FIRST,
                (collector.clone(), Policy::default()),
                vec![(record, stored)],
                Vec::new(),
            );
            let parts = Parts {
                done: jobs.begin(Partition::FIRST, CounterFloor::nowhere()),
                jobs: Arc::new(jobs),
                verifiers: 0,
                auto_require_sealed: false,
                unknown_meters: None,
                images: Arc::new(Images::none()),
                fence: Some(Arc::new(Fence::new(
                    Partition::FIRST,
                    1,
                    BootTime::now() + Duration::from_secs(3600),
                ))),
                registry: None,
                rng: StdRng::seed_from_u64(2),
            };
            let inputs = handle.open(Partition::FIRST);
            let mut session = PartitionSession::new(beginning, parts, &handle).expect("no thread");
            let (asked_out, asked) = unbounded();
            session.downlink.keys.asked = Some(asked_out);
            Stand { session, inputs, handle, asked, began, provision, collector, half, _jobs: jobs_in }
        }

        /// A report that is sealed with the next key.
        fn hear(&mut self, n: u32) {
            let record = self.provision.record();
            let channel = Channel {
                meter: METER,
                keys: &record.keys,
                own: self.provision.identity(),
                peer: self.collector.public(),
            };
            let content = Content::Measurement(Measurement { time_s: 0, energy_dwh: n, power_w: 1 });
            let plaintext = Report { n, time_set: true, lost: 0, content }.to_bytes();
            let sealed =
                channel.seal(MessageKind::Report, SUITE, n, &plaintext, &mut StdRng::seed_from_u64(3));
            let route = Route { gateway: crate::gateway::GatewayId::of(0), peer: None };
            for bytes in packets(0x4f, MessageKind::Report, SUITE, METER, n, &sealed) {
                assert!(self.handle.hear(HeardPacket { route, bytes, rssi_dbm: None }));
            }
        }

        fn step(&mut self) -> Option<KeyJob> {
            assert!(!self.session.step(None, &self.inputs));
            self.asked.try_recv().ok()
        }

        /// Steps the session at this time after the beginning.
        fn at(&mut self, since: Duration) -> Option<KeyJob> {
            simulated::set(self.began + since, 1_800_000_000_000 + since.as_millis() as i64);
            self.step()
        }

        fn failed(&mut self, asked: KeyJob) {
            let error = RegistryError::Bad { path: "keys".into(), problem: "full".to_owned() };
            self.session
                .downlink
                .keys
                .on_kept(&mut self.session.state, KeyResult { asked, result: Err(error) });
        }
    }

    #[test]
    fn uncertain_keys_are_the_previous_keys_of_the_next_attempt() {
        let mut stand = Stand::new();
        assert!(stand.step().is_none());
        stand.hear(1);
        let asked = stand.step().expect("it has shown its key");
        let next = asked.record.keys.clone();
        assert!(next.epoch() == 1 && asked.before == [stand.half.clone()]);
        assert!(stand.step().is_none(), "they are being kept");
        stand.failed(asked);
        // Not at once; after two seconds, and then after four, without anything that is heard.
        for (since_ms, is_asked) in [(0, false), (1900, false), (2010, true)] {
            let asked = stand.at(Duration::from_millis(since_ms));
            assert_eq!(asked.is_some(), is_asked, "after {since_ms} ms");
            if let Some(asked) = asked {
                assert!(asked.before == [stand.half.clone(), next.clone()]);
                stand.failed(asked);
            } else {
                assert!(
                    stand.session.wait()
                        <= Duration::from_millis(2001).saturating_sub(Duration::from_millis(since_ms))
                );
            }
        }
        assert!(stand.at(Duration::from_millis(5900)).is_none());
        let asked = stand.at(Duration::from_millis(6100)).expect("it is tried again");
        // The same once, however often it failed.
        assert!(asked.before == [stand.half.clone(), next]);
        stand.session.downlink.keys.on_kept(&mut stand.session.state, KeyResult { asked, result: Ok(()) });
        assert_eq!(stand.session.state.meters.engine.saved_keys(METER), None);
        let is_told = |write: &Write| matches!(write, Write::Action(action) if action.who == "collector");
        assert_eq!(stand.session.state.store_queue.writes.iter().filter(|write| is_told(write)).count(), 1);
        assert!(stand.step().is_none());
    }

    #[test]
    fn session_without_key_keeper_continues_and_asks_rarely() {
        let mut stand = Stand::new();
        stand.session.downlink.keys.asked = None;
        stand.hear(1);
        for _ in 0..3 {
            assert!(stand.step().is_none());
        }
        assert!(stand.session.wait() > Duration::from_millis(900), "{:?}", stand.session.wait());
    }

    /// The rotation is on its way; a lease that is over ends the session.
    #[test]
    fn keys_rotated_meanwhile_do_not_end_the_session() {
        for (error, ends) in [
            (RegistryError::OtherKeys(METER.into()), false),
            (RegistryError::Unknown(METER.into()), false),
            (RegistryError::LeaseOver, true),
        ] {
            let mut stand = Stand::new();
            stand.hear(1);
            let asked = stand.step().expect("it has shown its key");
            let what = error.to_string();
            stand
                .session
                .downlink
                .keys
                .on_kept(&mut stand.session.state, KeyResult { asked, result: Err(error) });
            assert_eq!(stand.session.state.lease.is_over(), ends, "{what}");
        }
    }

    #[test]
    fn late_result_of_rotated_keys_does_not_touch_new_ones() {
        let mut stand = Stand::new();
        stand.hear(1);
        let asked = stand.step().expect("it has shown its key");
        let record = Provision::generate(
            *stand.provision.setup(),
            stand.collector.public(),
            &mut StdRng::seed_from_u64(4),
        )
        .record();
        stand.session.state.meters.engine.remove(METER);
        let state = MeterState::new(&record);
        stand.session.state.meters.engine.add(record, state).expect("removed");
        let mut known = KnownMeter::new(2, 10);
        known.active().keys.is_asked = true;
        stand.session.state.meters.known.insert(METER, known);
        stand.session.downlink.keys.on_kept(&mut stand.session.state, KeyResult { asked, result: Ok(()) });
        let keys = &stand.session.state.meters.known[&METER].activity().keys;
        assert!(keys.is_asked && stand.session.state.store_queue.writes.is_empty());
        assert_eq!(stand.session.state.meters.engine.saved_keys(METER), None);
    }

    /// Nobody followed it yet, so that the database would take it.
    #[test]
    fn expired_lease_writes_no_key() {
        let (folder, database) = (tempfile::tempdir().expect("a folder"), shared().database());
        let place = || DatabaseUrl::named(&shared().url(&database)).expect("a URL");
        let sharing = Sharing { worker: "one".to_owned(), slices: Slices::ONE };
        let mut store = Store::open_shared(place(), &Options::default(), sharing).expect("a worker");
        let soon = || BootTime::now() + Duration::from_secs(3600);
        let fence = Arc::new(Fence::new(Partition::FIRST, 1, soon()));
        store.take(fence.lease()).expect("taken");
        make_kek(&folder.path().join("kek"), None).expect("drawn");
        let ring = KeyRing::of_files(&[folder.path().join("kek")], AfterWrongPin::Refuse).expect("read");
        let reader = Reader::open_or_make(&place()).expect("the server");
        let keys = KeyStore::of(&reader, Some(&ring), folder.path()).expect("an empty database");
        let registry = keys.open_network(NetworkId::DEFAULT).expect("a network");
        let setup = Setup { suite: SUITE, ..Setup::usual(METER) };
        registry.provision(setup, 0, &folder.path().join("images")).expect("a meter");
        let first = registry.get(METER).expect("there").record;
        let (key128, key256) = first.keys.expose();
        let begun = [&key128[..], key256, &[0; 4], key256, &[9; 32]].concat();
        let record = MeterRecord { keys: MeterKeys::from_exposed(&begun).expect("keys"), ..first.clone() };
        let asked =
            || KeyJob { epoch: 1, before: vec![first.keys.clone()], record: Box::new(record.clone()) };
        let mut key_writer = KeyWriter { registry, slices: Slices::ONE, fence: Some(fence.clone()) };
        fence.end();
        let error = key_writer.keep(&asked()).expect_err("it is over");
        assert!(matches!(error, RegistryError::LeaseOver), "{error}");
        assert!(key_writer.registry.get(METER).expect("there").record.keys == first.keys);
        key_writer.fence = Some(Arc::new(Fence::new(Partition::FIRST, 1, soon())));
        key_writer.keep(&asked()).expect("the database takes it");
    }
}
