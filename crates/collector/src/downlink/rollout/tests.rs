//! The turns of updates, with a simulated clock; the test is the store and the meters.

use super::*;
use crate::clock::simulated;
use crate::gateway::{GatewayId, Route};
use crate::meters::{
    KnownMeter, LastHeard, MeterTable, MetersHandle, PartitionLease, StoreQueue, Submission,
};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::CounterFloor;
use crate::store::Write;
use crate::writer::{Job, Jobs};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::json;
use wire::meter::{Collector, Identity, MeterState, Policy, Provision, Setup, Suite};

const BEGAN_MS: i64 = 1_800_000_000_000;
/// Longer than a silence that is told.
const LONG: Duration = Duration::from_secs(60);

struct Stand {
    state: PartitionState,
    rollout: Rollout,
    began: Instant,
    image: Image,
    _jobs: Receiver<Job<Submission>>,
}

/// A whole image, for one slot or the other.
fn image(address: u32) -> Image {
    let mut bytes = b"WSI1host".to_vec();
    bytes.resize(20, 0);
    for number in [2, address, 512, 600, 44] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.resize(644, 0);
    Image::new(bytes).expect("an image")
}

impl Stand {
    /// A partition with meters 1, 2 and so on.
    fn new(suites: &[Suite]) -> Stand {
        Stand::with(suites, None)
    }

    /// trying: which of them has all of the image, and was told to begin anew.
    fn with(suites: &[Suite], trying: Option<MeterId>) -> Stand {
        let image = image(0x2000);
        let rng = &mut StdRng::seed_from_u64(1);
        let collector = Identity::generate(rng);
        let mut engine = Collector::new(collector.clone(), Policy::default());
        let mut known = BTreeMap::new();
        for (meter, suite) in (1..).zip(suites) {
            let setup = Setup { suite: *suite, ..Setup::usual(meter) };
            let record = Provision::generate(setup, collector.public(), rng).record();
            let mut state = serde_json::to_value(MeterState::new(&record)).expect("JSON");
            if trying == Some(meter) {
                let digest = image.digest();
                state["update"] = json!({"digest": digest, "version": 2, "restarted": true, "end": null});
            }
            engine.add(record, serde_json::from_value(state).expect("a state")).expect("a meter");
            known.insert(meter, KnownMeter::new(1, 10));
        }
        let began = Instant::now();
        simulated::set(began, BEGAN_MS);
        let (handle, (jobs, jobs_in)) = (MetersHandle::new(Slices::ONE), Jobs::without_thread());
        let done = jobs.begin(Partition::FIRST, CounterFloor::nowhere());
        let state = PartitionState::new(
            PartitionLease::new(Partition::FIRST, Slices::ONE, None),
            MeterTable::new(NetworkId::DEFAULT, engine, known, HashMap::new(), false),
            StoreQueue::new(Arc::new(jobs), done),
            handle.outlets.clone(),
        );
        Stand { state, rollout: Rollout::new(Arc::new(Images::none())), began, image, _jobs: jobs_in }
    }

    fn at(&mut self, since: Duration) {
        simulated::set(self.began + since, BEGAN_MS + since.as_millis() as i64);
        self.state.update_time();
    }

    /// It is asked for, and the store has it.
    fn begun(&mut self, meter: MeterId) {
        self.begun_as(meter, UpdateState::Waiting);
    }

    fn begun_as(&mut self, meter: MeterId, state: UpdateState) {
        let created_ms = BEGAN_MS + i64::from(meter);
        let digest = ImageDigest(*self.image.digest());
        let record = UpdateRecord {
            meter: NetworkId::DEFAULT.meter(meter),
            image: digest,
            asked: digest,
            version: 2,
            state,
            refusal: None,
            pieces: 0,
            of: self.image.pieces(),
            by: "me".to_owned(),
            created_ms,
            changed_ms: created_ms,
        };
        self.rollout.on_begun(&mut self.state, record);
    }

    fn hear(&mut self, meter: MeterId) {
        let known = self.state.meters.get_mut(meter).expect("it is there");
        known.heard = Some(LastHeard { at_ms: 0, silence_from: clock::now() });
        known.active().route = Some(Route { gateway: GatewayId::of(0), peer: None });
    }

    /// As each second, with what was wanted found.
    fn tick(&mut self) {
        self.rollout.advance(&mut self.state, clock::now());
        self.rollout.check(&mut self.state);
        let wanted: Vec<Wanted> = self.rollout.asked.keys().copied().collect();
        for wanted in wanted {
            let image = match wanted {
                Wanted::Image(_) => Some(self.image.clone()),
                Wanted::ForOtherSlot(_) => None,
            };
            self.rollout.on_image(&mut self.state, Found { wanted, image: Ok(image) });
        }
        self.rollout.check(&mut self.state);
    }

    /// Those that are sent something, or asked.
    fn under_way(&self) -> Vec<MeterId> {
        self.rollout.begun.iter().copied().collect()
    }

    /// Returns the progress that the store got since the last call.
    fn told(&mut self) -> Vec<(MeterId, UpdateState, u16)> {
        self.state.store_queue.submitted.clear();
        let told =
            std::mem::take(&mut self.state.store_queue.writes).into_iter().filter_map(|write| match write {
                Write::UpdateProgress(progress) => {
                    Some((progress.meter.meter, progress.state, progress.pieces))
                }
                _ => None,
            });
        told.collect()
    }

    fn set(&mut self, meter: MeterId, state: UpdateState, pieces: u16) {
        let update = self.rollout.open.get_mut(&meter).expect("it is not over");
        (update.record.state, update.record.pieces) = (state, pieces);
        self.rollout.changed.insert(meter);
        self.rollout.look = true;
    }
}

#[test]
fn eight_at_once_in_the_order_in_which_they_were_asked_for() {
    let mut stand = Stand::with(&[Suite::Aes128Gcm; 12], Some(5));
    for meter in [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1] {
        stand.begun_as(meter, if meter == 5 { UpdateState::Trying } else { UpdateState::Waiting });
    }
    stand.tick();
    // None is heard; who tries it is gone on with whenever it is.
    assert_eq!((stand.under_way(), stand.told()), (vec![5], vec![]));
    // But for one of those that were asked first. A trial takes no place of the others.
    (1..=11).for_each(|meter| stand.hear(meter));
    stand.tick();
    assert_eq!(stand.under_way(), [3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let begun = [3, 4, 6, 7, 8, 9, 10, 11].map(|meter| (meter, UpdateState::Asking, 0));
    assert_eq!(stand.told(), begun);
    // A finished update leaves room.
    stand.rollout.withdraw(&mut stand.state, 11, None);
    stand.hear(12);
    stand.tick();
    assert_eq!(stand.under_way(), [3, 4, 5, 6, 7, 8, 9, 10, 12]);
    assert!(stand.state.meters.engine.update_progress(11).is_none());
    let told = stand.told();
    assert!(
        told.contains(&(11, UpdateState::Withdrawn, 0)) && !told.iter().any(|told| told.0 == 1),
        "{told:?}"
    );
}

#[test]
fn silent_meter_waits_again_and_one_trying_the_image_does_not() {
    let mut stand = Stand::with(&[Suite::Aes128Gcm; 3], Some(2));
    for meter in 1..=3 {
        stand.begun_as(meter, if meter == 2 { UpdateState::Trying } else { UpdateState::Waiting });
        stand.hear(meter);
    }
    stand.tick();
    stand.told();
    stand.at(LONG);
    stand.hear(3);
    stand.tick();
    assert_eq!(stand.under_way(), [2, 3]);
    assert_eq!(stand.told(), [(1, UpdateState::Waiting, 0), (2, UpdateState::Trying, 18)]);
    assert_eq!(
        stand.state.meters.engine.update_progress(1).expect("its state has it").stage,
        UpdateStage::NeedsImage
    );
    stand.hear(1);
    stand.tick();
    assert_eq!((stand.under_way(), stand.told()), (vec![1, 2, 3], vec![(1, UpdateState::Asking, 0)]));
}

#[test]
fn meter_whose_pieces_cannot_be_sealed_waits_and_blocks_none() {
    let mut suites = [Suite::Ecies; 10];
    suites[9] = Suite::Aes256Gcm;
    let mut stand = Stand::new(&suites);
    for meter in 1..=10 {
        stand.begun(meter);
        stand.hear(meter);
    }
    stand.tick();
    assert_eq!(stand.under_way(), [10]);
}

#[test]
fn stalled_meter_waits_behind_others() {
    let mut stand = Stand::new(&[Suite::Aes128Gcm; 9]);
    for meter in 1..=8 {
        stand.begun(meter);
        stand.hear(meter);
    }
    stand.tick();
    stand.at(TURN);
    let hear_all = |stand: &mut Stand| (1..=9).for_each(|meter| stand.hear(meter));
    hear_all(&mut stand);
    stand.tick();
    assert_eq!(stand.under_way(), [1, 2, 3, 4, 5, 6, 7, 8], "nobody else waits");
    stand.rollout.open.get_mut(&5).expect("it is not over").went_on_at = clock::now();
    stand.begun(9);
    stand.tick();
    assert_eq!(stand.under_way(), [1, 2, 3, 4, 5, 6, 7, 9], "the last one has no room");
    stand.told();
    stand.tick();
    assert_eq!((stand.under_way(), stand.told()), (vec![1, 2, 3, 4, 5, 6, 7, 9], vec![]));
}

#[test]
fn missing_image_is_waited_for_and_blocks_none() {
    let mut stand = Stand::new(&[Suite::Aes128Gcm; 10]);
    let (there, gone) = (stand.image.clone(), image(0x6000));
    stand.image = gone;
    (1..=9).for_each(|meter| stand.begun(meter));
    stand.image = there;
    stand.begun(10);
    (1..=10).for_each(|meter| stand.hear(meter));
    let found_one = |stand: &mut Stand| {
        stand.rollout.advance(&mut stand.state, clock::now());
        stand.rollout.check(&mut stand.state);
        let wanted: Vec<Wanted> = stand.rollout.asked.keys().copied().collect();
        let own = Wanted::Image(ImageDigest(*stand.image.digest()));
        for wanted in &wanted {
            let image = (*wanted == own).then(|| stand.image.clone());
            stand.rollout.on_image(&mut stand.state, Found { wanted: *wanted, image: Ok(image) });
        }
        stand.rollout.check(&mut stand.state);
        wanted.len()
    };
    assert_eq!((found_one(&mut stand), stand.under_way()), (2, vec![10]));
    // It is not asked for all the time.
    stand.at(Duration::from_secs(5));
    assert_eq!(found_one(&mut stand), 1);
    assert_eq!(stand.rollout.asked.len(), 1);
    stand.at(ASKED_EVERY);
    stand.image = image(0x6000);
    assert_eq!(found_one(&mut stand), 1);
    assert_eq!(stand.under_way(), [1, 2, 3, 4, 5, 6, 7, 10]);
}

#[test]
fn pieces_are_told_now_and_then_and_each_state_at_once() {
    let mut stand = Stand::new(&[Suite::Aes128Gcm]);
    stand.begun(1);
    stand.hear(1);
    stand.tick();
    stand.told();
    let tell = |stand: &mut Stand, since_ms: u64, pieces: u16| {
        stand.at(Duration::from_millis(since_ms));
        stand.set(1, UpdateState::Sending, pieces);
        stand.rollout.submit_progress(&mut stand.state, clock::now());
        stand.told().last().map(|told| told.2)
    };
    assert_eq!(tell(&mut stand, 100, 1), Some(1), "another state");
    assert_eq!(tell(&mut stand, 200, 2), None);
    assert_eq!(tell(&mut stand, 5000, 7), None);
    assert_eq!(tell(&mut stand, 5100, 8), Some(8));
    assert_eq!(tell(&mut stand, 10_000, 9), None);
    // Unreported progress is reported when it is time, though nothing comes.
    stand.at(Duration::from_millis(10_100));
    stand.rollout.submit_progress(&mut stand.state, clock::now());
    assert_eq!(stand.told(), [(1, UpdateState::Sending, 9)]);
    // While nothing can be stored nothing is gathered, and then the last of it is told; an end is
    // kept.
    stand.state.store_queue.paused_until = Some(clock::now());
    assert_eq!(tell(&mut stand, 20_000, 10), None);
    stand.state.store_queue.paused_until = None;
    assert_eq!(tell(&mut stand, 20_001, 11), Some(11));
    stand.state.store_queue.paused_until = Some(clock::now());
    stand.rollout.withdraw(&mut stand.state, 1, None);
    let kept = &stand.state.store_queue.waiting;
    let is_end = |submitted: &Submission| matches!(&submitted.pending, PendingCommit::UpdateProgress { progress, .. } if progress.state == UpdateState::Withdrawn);
    assert_eq!(kept.iter().filter(|submitted| is_end(submitted)).count(), 1);
}
