//! Rollout of firmware: which meters are sent their image now, which wait, and the progress that
//! the store gets. `wire::meter::Collector` gives a meter its image.

use super::images::{Found, Images, Wanted};
use crate::clock;
use crate::event::{Event, UpdateState};
use crate::image_digest::ImageDigest;
use crate::meters::{Answer, PartitionState, PendingCommit, RequestError};
use crate::store::{NewUpdate, UpdateProgress, UpdateRecord};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::meter::{Image, ImageRefusal, MeterId, UpdateEnd, UpdateStage};

/// Meters that are asked, or sent pieces, at once, by turns. The pieces of all together go out no
/// faster than those of one (`Policy::update_piece_every_ms`): with more at once all of them take
/// longer, and nothing is gained; with some, those of others go out while one erases, or does not
/// answer.
const CONCURRENT_MAX: usize = 8;
/// The time without progress after which a meter waits behind the others.
const TURN: Duration = Duration::from_secs(600);
/// The shortest interval between reports of progress while nothing else changes.
const TOLD_EVERY: Duration = Duration::from_secs(5);
/// An image that was not there is asked for again.
const ASKED_EVERY: Duration = Duration::from_secs(10);

/// The updates that are not over.
pub(crate) struct Rollout {
    images: Arc<Images>,
    /// The images that were found.
    pub(crate) found: Receiver<Found>,
    found_out: Sender<Found>,
    /// When what is not at hand was asked for last.
    asked: HashMap<Wanted, Instant>,
    /// Images for those that are begun.
    at_hand: HashMap<ImageDigest, Image>,
    open: BTreeMap<MeterId, OpenUpdate>,
    /// Those that are not begun, in the order of their turns.
    waiting: BTreeMap<u64, MeterId>,
    next_turn: u64,
    /// Those that the collector goes on with, as soon as it has the image.
    begun: BTreeSet<MeterId>,
    /// Those of which the store does not know all.
    changed: BTreeSet<MeterId>,
    /// The last one's.
    created_ms: i64,
    /// It is to be looked whether some can begin.
    look: bool,
}

struct OpenUpdate {
    record: UpdateRecord,
    turn: u64,
    /// The progress that the store has, and its time.
    told: (ImageDigest, UpdateState, u16),
    told_at: Instant,
    /// When it went on last.
    went_on_at: Instant,
}

impl OpenUpdate {
    fn known(&self) -> (ImageDigest, UpdateState, u16) {
        (self.record.image, self.record.state, self.record.pieces)
    }
}

impl Rollout {
    pub(crate) fn new(images: Arc<Images>) -> Rollout {
        let (found_out, found) = unbounded();
        Rollout {
            images,
            found,
            found_out,
            asked: HashMap::new(),
            at_hand: HashMap::new(),
            open: BTreeMap::new(),
            waiting: BTreeMap::new(),
            next_turn: 0,
            begun: BTreeSet::new(),
            changed: BTreeSet::new(),
            created_ms: 0,
            look: true,
        }
    }

    /// Adds an update that the store has. It waits for its turn; if the meter had all of the image,
    /// it goes on at once.
    fn add(&mut self, record: UpdateRecord) {
        let (now, meter, turn) = (clock::now(), record.meter.meter, self.take_turn());
        let told = (record.image, record.state, record.pieces);
        let mut update = OpenUpdate { record, turn, told, told_at: now, went_on_at: now };
        if update.record.state == UpdateState::Trying {
            self.begun.insert(meter);
        } else {
            update.record.state = UpdateState::Waiting;
            self.waiting.insert(turn, meter);
        }
        self.changed.insert(meter);
        self.created_ms = self.created_ms.max(update.record.created_ms);
        self.open.insert(meter, update);
        self.look = true;
    }

    fn remove(&mut self, meter: MeterId) -> Option<UpdateRecord> {
        let update = self.open.remove(&meter)?;
        self.waiting.remove(&update.turn);
        self.begun.remove(&meter);
        self.changed.remove(&meter);
        self.look = true;
        Some(update.record)
    }

    /// Lets an update wait, behind all others.
    fn put_back(&mut self, meter: MeterId) {
        let turn = self.take_turn();
        if let Some(update) = self.open.get_mut(&meter) {
            update.record.state = UpdateState::Waiting;
            update.turn = turn;
            self.begun.remove(&meter);
            self.waiting.insert(turn, meter);
            self.changed.insert(meter);
        }
    }

    fn take_turn(&mut self) -> u64 {
        self.next_turn += 1;
        self.next_turn
    }

    /// Returns the number of meters that are asked, or sent pieces.
    fn under_way(&self) -> usize {
        let is_under_way = |meter: &&MeterId| {
            self.open.get(meter).is_some_and(|update| update.record.state != UpdateState::Trying)
        };
        self.begun.iter().filter(is_under_way).count()
    }

    /// Asks for an image, unless that was done a short time ago.
    fn want(&mut self, wanted: Wanted, now: Instant) {
        if self.asked.get(&wanted).is_none_or(|at| now.saturating_duration_since(*at) >= ASKED_EVERY) {
            self.asked.insert(wanted, now);
            self.images.ask(wanted, &self.found_out);
        }
    }

    /// Goes on with the updates that the store has as not over; not with those of meters that have
    /// other keys since.
    pub(crate) fn resume(
        &mut self,
        state: &mut PartitionState,
        updates: Vec<UpdateRecord>,
        with_new_keys: &HashSet<MeterId>,
    ) {
        for record in updates {
            let meter = record.meter.meter;
            if state.meters.contains(meter) && !with_new_keys.contains(&meter) {
                self.add(record);
            } else {
                end(state, record, UpdateState::Withdrawn, None, None);
            }
        }
    }

    /// Begins an update of a meter, and answers when it is durable.
    pub(crate) fn begin(
        &mut self,
        state: &mut PartitionState,
        meter: MeterId,
        image: ImageDigest,
        by: String,
        answer: Answer<Result<i64, RequestError>>,
    ) {
        let global = state.global(meter);
        let same = |update: &OpenUpdate| image == update.record.image || image == update.record.asked;
        let refused = if !state.meters.contains(meter) {
            Some(Err(RequestError::UnknownMeter(global)))
        } else if self.open.get(&meter).is_some_and(same) {
            Some(Ok(0))
        } else if state.store_queue.is_paused() {
            Some(Err(RequestError::Store("the last transaction failed".into())))
        } else {
            None
        };
        if let Some(refused) = refused {
            drop(answer.send(refused));
            return;
        }
        let created_ms = state.now_ms.max(self.created_ms + 1);
        self.created_ms = created_ms;
        let update = NewUpdate { meter: global, image, by, created_ms };
        state.store(PendingCommit::Update { update, answer: Some(answer) });
    }

    /// Goes on with an update that the store has.
    pub(crate) fn on_begun(&mut self, state: &mut PartitionState, record: UpdateRecord) {
        let meter = record.meter.meter;
        self.forget(state, meter);
        if state.meters.contains(meter) {
            state.publish(Event::Update { meter: record.meter });
            self.add(record);
        } else {
            // It was revoked, or gets other keys.
            end(state, record, UpdateState::Withdrawn, None, None);
        }
    }

    /// Takes back a stored update that another one replaced, or that somebody else ended.
    pub(crate) fn on_replaced(&mut self, state: &mut PartitionState, meter: MeterId, created_ms: i64) {
        let is_it = |update: &OpenUpdate| update.record.created_ms == created_ms;
        if self.open.get(&meter).is_some_and(is_it) {
            self.forget(state, meter);
        }
    }

    /// Takes an update back.
    pub(crate) fn withdraw(
        &mut self,
        state: &mut PartitionState,
        meter: MeterId,
        answer: Option<Answer<Result<(), RequestError>>>,
    ) {
        let refused = match self.forget(state, meter) {
            Some(record) => return end(state, record, UpdateState::Withdrawn, None, answer),
            None if state.meters.contains(meter) => RequestError::NoUpdate(state.global(meter)),
            None => RequestError::UnknownMeter(state.global(meter)),
        };
        if let Some(answer) = answer {
            drop(answer.send(Err(refused)));
        }
    }

    /// Ends an update in the engine. Returns its record.
    fn forget(&mut self, state: &mut PartitionState, meter: MeterId) -> Option<UpdateRecord> {
        let record = self.remove(meter)?;
        if state.meters.engine.forget_update(meter).is_ok() {
            state.store_state(meter);
        }
        Some(record)
    }

    /// Checks the progress of all updates, and begins others.
    pub(crate) fn check(&mut self, state: &mut PartitionState) {
        if self.open.is_empty() {
            return;
        }
        let now = clock::now();
        let begun: Vec<MeterId> = self.begun.iter().copied().collect();
        for meter in begun {
            self.check_meter(state, meter, now);
        }
        if std::mem::take(&mut self.look) {
            self.begin_due(state, now);
        }
        self.submit_progress(state, now);
    }

    fn check_meter(&mut self, state: &mut PartitionState, meter: MeterId, now: Instant) {
        let Some(progress) = state.meters.engine.update_progress(meter) else { return };
        let Some(update) = self.open.get_mut(&meter) else { return };
        let record = &mut update.record;
        if progress.update.digest != record.image.0 {
            return;
        }
        let ended = match progress.update.end {
            None => None,
            Some(UpdateEnd::Runs) => Some((UpdateState::Runs, None)),
            Some(UpdateEnd::WentBack) => Some((UpdateState::WentBack, None)),
            Some(UpdateEnd::NotPossible) => Some((UpdateState::NotPossible, None)),
            // There may be one for the slot that it goes to.
            Some(UpdateEnd::Refused(ImageRefusal::OtherSlot)) if record.image == record.asked => {
                let wanted = Wanted::ForOtherSlot(record.image);
                return self.want(wanted, now);
            }
            Some(UpdateEnd::Refused(refusal)) => Some((UpdateState::Refused, Some(refusal))),
        };
        if let Some((ended, refusal)) = ended {
            if ended == UpdateState::Runs {
                record.pieces = record.of;
            }
            if let Some(record) = self.forget(state, meter) {
                end(state, record, ended, refusal, None);
            }
            return;
        }
        let before = (record.state, record.pieces);
        match progress.stage {
            UpdateStage::Asking => record.state = UpdateState::Asking,
            UpdateStage::Sending { pieces, of } => {
                (record.state, record.pieces, record.of) = (UpdateState::Sending, pieces, of);
            }
            UpdateStage::Trying => (record.state, record.pieces) = (UpdateState::Trying, record.of),
            // It is given the image as soon as that is there.
            UpdateStage::NeedsImage | UpdateStage::Ended => {}
        }
        if (record.state, record.pieces) != before {
            update.went_on_at = now;
            self.changed.insert(meter);
            // There may be room for another.
            self.look |= update.record.state != before.0;
        }
    }

    /// Gives images to those that are begun, and begins those that wait, as long as there is room.
    fn begin_due(&mut self, state: &mut PartitionState, now: Instant) {
        let needs_image = |meter: &&MeterId| {
            let progress = state.meters.engine.update_progress(**meter);
            progress.is_none_or(|progress| progress.stage == UpdateStage::NeedsImage)
        };
        let mut next: Vec<MeterId> = self.begun.iter().filter(needs_image).copied().collect();
        let mut room = CONCURRENT_MAX.saturating_sub(self.under_way());
        let mut not_at_hand = BTreeSet::new();
        for meter in self.waiting.values() {
            if room == 0 {
                break;
            }
            let Some(update) = self.open.get(meter) else { continue };
            let image = update.record.image;
            // Whose image is not there holds nobody up; one of them asks for it.
            if !not_at_hand.contains(&image) && state.meters.takes_pieces(*meter, now) {
                next.push(*meter);
                if self.at_hand.contains_key(&image) {
                    room -= 1;
                } else {
                    not_at_hand.insert(image);
                }
            }
        }
        for meter in next {
            let Some(update) = self.open.get(&meter) else { continue };
            let (digest, turn) = (update.record.image, update.turn);
            let Some(image) = self.at_hand.get(&digest).cloned() else {
                self.want(Wanted::Image(digest), now);
                continue;
            };
            if state.meters.engine.update(meter, image).is_ok() {
                self.waiting.remove(&turn);
                self.begun.insert(meter);
                if let Some(update) = self.open.get_mut(&meter) {
                    update.went_on_at = now;
                }
                self.check_meter(state, meter, now);
                state.store_state(meter);
                state.check_due = true;
            }
        }
        let is_sent = |digest: &ImageDigest| {
            let has_it = |update: &OpenUpdate| update.record.image == *digest;
            self.begun.iter().any(|meter| self.open.get(meter).is_some_and(has_it))
        };
        self.at_hand.retain(|digest, _| is_sent(digest));
    }

    /// Takes an image that was found, or not.
    pub(crate) fn on_image(&mut self, state: &mut PartitionState, Found { wanted, image }: Found) {
        // An image that could not be read is asked for again.
        let Ok(image) = image else { return };
        match (wanted, image) {
            // It may be added later.
            (Wanted::Image(_), None) => {}
            (Wanted::Image(digest), Some(image)) => {
                self.asked.remove(&wanted);
                self.at_hand.insert(digest, image);
                self.look = true;
            }
            (Wanted::ForOtherSlot(refused), image) => {
                self.asked.remove(&wanted);
                self.take_other_slot(state, refused, image);
            }
        }
    }

    /// Gives meters that refused an image for the slot that runs the other one instead, or ends
    /// their updates.
    fn take_other_slot(&mut self, state: &mut PartitionState, refused: ImageDigest, other: Option<Image>) {
        let is_one = |meter: &&MeterId| {
            let progress = state.meters.engine.update_progress(**meter);
            let end = progress
                .filter(|progress| progress.update.digest == refused.0)
                .map(|progress| progress.update.end);
            let update = self.open.get(meter);
            end == Some(Some(UpdateEnd::Refused(ImageRefusal::OtherSlot)))
                && update
                    .is_some_and(|update| update.record.image == refused && update.record.asked == refused)
        };
        let meters: Vec<MeterId> = self.begun.iter().filter(is_one).copied().collect();
        for meter in meters {
            let Some(image) = &other else {
                if let Some(record) = self.forget(state, meter) {
                    let refusal = Some(ImageRefusal::OtherSlot);
                    end(state, record, UpdateState::Refused, refusal, None);
                }
                continue;
            };
            if state.meters.engine.update(meter, image.clone()).is_ok()
                && let Some(update) = self.open.get_mut(&meter)
            {
                (update.record.image, update.record.of) = (ImageDigest(*image.digest()), image.pieces());
                update.record.pieces = 0;
                update.went_on_at = clock::now();
                self.changed.insert(meter);
                state.store_state(meter);
                state.check_due = true;
            }
        }
        if let Some(image) = other {
            self.at_hand.insert(ImageDigest(*image.digest()), image);
        }
    }

    /// Lets meters wait again that are not heard any more, or seal otherwise now, or do not go on
    /// while others wait.
    pub(crate) fn advance(&mut self, state: &mut PartitionState, now: Instant) {
        self.look = true;
        self.asked.retain(|_, at| now.saturating_duration_since(*at) < ASKED_EVERY);
        let others_wait = !self.waiting.is_empty();
        let has_had_its_turn = |meter: &&MeterId| {
            let Some(update) = self.open.get(meter) else { return false };
            let stands_still = now.saturating_duration_since(update.went_on_at) >= TURN;
            update.record.state != UpdateState::Trying
                && (!state.meters.takes_pieces(**meter, now) || stands_still && others_wait)
        };
        let paused: Vec<MeterId> = self.begun.iter().filter(has_had_its_turn).copied().collect();
        for meter in paused {
            if state.meters.engine.pause_update(meter).is_ok() {
                self.put_back(meter);
                state.store_state(meter);
            }
        }
    }

    /// Submits changed progress: pieces now and then.
    fn submit_progress(&mut self, state: &mut PartitionState, now: Instant) {
        if state.store_queue.is_paused() {
            return;
        }
        let (mut told, now_ms) = (Vec::new(), state.now_ms);
        self.changed.retain(|meter| {
            let Some(update) = self.open.get_mut(meter) else { return false };
            let (known, before) = (update.known(), update.told);
            let is_due = now.saturating_duration_since(update.told_at) >= TOLD_EVERY;
            if (known.0, known.1) == (before.0, before.1) && known.2 != before.2 && !is_due {
                return true;
            }
            if known != before {
                (update.told, update.told_at) = (known, now);
                told.push(progress(&update.record, update.record.state, now_ms));
            }
            false
        });
        for progress in told {
            state.store(PendingCommit::UpdateProgress { progress, answer: None });
        }
    }
}

/// Submits how an update ended.
fn end(
    state: &mut PartitionState,
    record: UpdateRecord,
    ended: UpdateState,
    refusal: Option<ImageRefusal>,
    answer: Option<Answer<Result<(), RequestError>>>,
) {
    let progress = UpdateProgress { refusal, ..progress(&record, ended, state.now_ms) };
    state.store(PendingCommit::UpdateProgress { progress, answer });
}

fn progress(record: &UpdateRecord, state: UpdateState, at_ms: i64) -> UpdateProgress {
    let UpdateRecord { meter, created_ms, image, pieces, of, .. } = *record;
    UpdateProgress { meter, created_ms, image, state, refusal: None, pieces, of, at_ms }
}

#[cfg(test)]
mod tests;
