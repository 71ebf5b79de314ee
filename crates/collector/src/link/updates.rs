//! Updates of meters' firmware: which meters are sent their image now, which wait, and what the
//! store is told of it. How a meter takes an image is `wire::meter::Collector`'s.

use super::command::LinkError;
use super::handle::Answer;
use super::images::{Found, Images, Wanted};
use super::pending::PendingCommit;
use super::state::Link;
use crate::clock;
use crate::event::{Event, UpdateState};
use crate::image_digest::ImageDigest;
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
pub(super) struct Updates {
    images: Arc<Images>,
    /// The images that were found.
    pub(super) found: Receiver<Found>,
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

impl Updates {
    pub(super) fn new(images: Arc<Images>) -> Updates {
        let (found_out, found) = unbounded();
        Updates {
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

    /// One that the store has. It waits for its turn; where the meter had all of the image, it is
    /// gone on with at once.
    fn open(&mut self, record: UpdateRecord) {
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

    fn close(&mut self, meter: MeterId) -> Option<UpdateRecord> {
        let update = self.open.remove(&meter)?;
        self.waiting.remove(&update.turn);
        self.begun.remove(&meter);
        self.changed.remove(&meter);
        self.look = true;
        Some(update.record)
    }

    /// It waits, behind all others.
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
}

impl Link {
    /// Goes on with the updates that the store has as not over; not with those of meters that have
    /// other keys since.
    pub(super) fn resume_updates(&mut self, updates: Vec<UpdateRecord>, with_new_keys: &HashSet<MeterId>) {
        for record in updates {
            let meter = record.meter.meter;
            if self.meters.contains_key(&meter) && !with_new_keys.contains(&meter) {
                self.updates.open(record);
            } else {
                self.update_over(record, UpdateState::Withdrawn, None, None);
            }
        }
    }

    /// A meter is to have an image.
    pub(super) fn update(
        &mut self,
        meter: MeterId,
        image: ImageDigest,
        by: String,
        answer: Answer<Result<i64, LinkError>>,
    ) {
        let global = self.global(meter);
        let same = |update: &OpenUpdate| image == update.record.image || image == update.record.asked;
        let refused = if !self.meters.contains_key(&meter) {
            Some(Err(LinkError::UnknownMeter(global)))
        } else if self.updates.open.get(&meter).is_some_and(same) {
            Some(Ok(0))
        } else if self.store_queue.is_paused() {
            Some(Err(LinkError::Store("the last transaction failed".into())))
        } else {
            None
        };
        if let Some(refused) = refused {
            drop(answer.send(refused));
            return;
        }
        let created_ms = self.now_ms.max(self.updates.created_ms + 1);
        self.updates.created_ms = created_ms;
        let update = NewUpdate { meter: global, image, by, created_ms };
        self.store(PendingCommit::Update { update, answer: Some(answer) });
    }

    /// The store has it.
    pub(super) fn on_update_begun(&mut self, record: UpdateRecord) {
        let meter = record.meter.meter;
        self.forget_update(meter);
        if self.meters.contains_key(&meter) {
            self.publish(Event::Update { meter: record.meter });
            self.updates.open(record);
        } else {
            // It was revoked, or gets other keys.
            self.update_over(record, UpdateState::Withdrawn, None, None);
        }
    }

    /// Takes back a stored update that another one replaced, or that somebody else ended.
    pub(super) fn update_replaced(&mut self, meter: MeterId, created_ms: i64) {
        let is_it = |update: &OpenUpdate| update.record.created_ms == created_ms;
        if self.updates.open.get(&meter).is_some_and(is_it) {
            self.forget_update(meter);
        }
    }

    /// Takes an update back.
    pub(super) fn withdraw_update(&mut self, meter: MeterId, answer: Option<Answer<Result<(), LinkError>>>) {
        let refused = match self.forget_update(meter) {
            Some(record) => return self.update_over(record, UpdateState::Withdrawn, None, answer),
            None if self.meters.contains_key(&meter) => LinkError::NoUpdate(self.global(meter)),
            None => LinkError::UnknownMeter(self.global(meter)),
        };
        if let Some(answer) = answer {
            drop(answer.send(Err(refused)));
        }
    }

    /// The collector does not go on with it.
    fn forget_update(&mut self, meter: MeterId) -> Option<UpdateRecord> {
        let record = self.updates.close(meter)?;
        if self.collector.forget_update(meter).is_ok() {
            self.store_state(meter);
        }
        Some(record)
    }

    /// Tells the store how it ended.
    fn update_over(
        &mut self,
        record: UpdateRecord,
        state: UpdateState,
        refusal: Option<ImageRefusal>,
        answer: Option<Answer<Result<(), LinkError>>>,
    ) {
        let progress = UpdateProgress { refusal, ..progress(&record, state, self.now_ms) };
        self.store(PendingCommit::UpdateProgress { progress, answer });
    }

    /// Looks how far they are, and begins others.
    pub(super) fn check_updates(&mut self) {
        if self.updates.open.is_empty() {
            return;
        }
        let now = clock::now();
        let begun: Vec<MeterId> = self.updates.begun.iter().copied().collect();
        for meter in begun {
            self.check_update(meter, now);
        }
        if std::mem::take(&mut self.updates.look) {
            self.begin_updates(now);
        }
        self.tell_of_updates(now);
    }

    fn check_update(&mut self, meter: MeterId, now: Instant) {
        let Some(progress) = self.collector.update_progress(meter) else { return };
        let Some(update) = self.updates.open.get_mut(&meter) else { return };
        let record = &mut update.record;
        if progress.update.digest != record.image.0 {
            return;
        }
        let end = match progress.update.end {
            None => None,
            Some(UpdateEnd::Runs) => Some((UpdateState::Runs, None)),
            Some(UpdateEnd::WentBack) => Some((UpdateState::WentBack, None)),
            Some(UpdateEnd::NotPossible) => Some((UpdateState::NotPossible, None)),
            // There may be one for the slot that it goes to.
            Some(UpdateEnd::Refused(ImageRefusal::OtherSlot)) if record.image == record.asked => {
                let wanted = Wanted::ForOtherSlot(record.image);
                return self.updates.want(wanted, now);
            }
            Some(UpdateEnd::Refused(refusal)) => Some((UpdateState::Refused, Some(refusal))),
        };
        if let Some((state, refusal)) = end {
            if state == UpdateState::Runs {
                record.pieces = record.of;
            }
            if let Some(record) = self.forget_update(meter) {
                self.update_over(record, state, refusal, None);
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
            self.updates.changed.insert(meter);
            // There may be room for another.
            self.updates.look |= update.record.state != before.0;
        }
    }

    /// Gives images to those that are begun, and begins those that wait, as long as there is room.
    fn begin_updates(&mut self, now: Instant) {
        let needs_image = |meter: &&MeterId| {
            let progress = self.collector.update_progress(**meter);
            progress.is_none_or(|progress| progress.stage == UpdateStage::NeedsImage)
        };
        let mut next: Vec<MeterId> = self.updates.begun.iter().filter(needs_image).copied().collect();
        let mut room = CONCURRENT_MAX.saturating_sub(self.updates.under_way());
        let mut not_at_hand = BTreeSet::new();
        for meter in self.updates.waiting.values() {
            if room == 0 {
                break;
            }
            let Some(update) = self.updates.open.get(meter) else { continue };
            let image = update.record.image;
            // Whose image is not there holds nobody up; one of them asks for it.
            if !not_at_hand.contains(&image) && self.takes_pieces(*meter, now) {
                next.push(*meter);
                if self.updates.at_hand.contains_key(&image) {
                    room -= 1;
                } else {
                    not_at_hand.insert(image);
                }
            }
        }
        for meter in next {
            let Some(update) = self.updates.open.get(&meter) else { continue };
            let (digest, turn) = (update.record.image, update.turn);
            let Some(image) = self.updates.at_hand.get(&digest).cloned() else {
                self.updates.want(Wanted::Image(digest), now);
                continue;
            };
            if self.collector.update(meter, image).is_ok() {
                self.updates.waiting.remove(&turn);
                self.updates.begun.insert(meter);
                if let Some(update) = self.updates.open.get_mut(&meter) {
                    update.went_on_at = now;
                }
                self.check_update(meter, now);
                self.store_state(meter);
                self.check_due = true;
            }
        }
        let updates = &mut self.updates;
        let is_sent = |digest: &ImageDigest| {
            updates
                .begun
                .iter()
                .any(|meter| updates.open.get(meter).is_some_and(|update| update.record.image == *digest))
        };
        updates.at_hand.retain(|digest, _| is_sent(digest));
    }

    /// Says if a meter is heard, and seals in a suite with pieces.
    fn takes_pieces(&self, meter: MeterId, now: Instant) -> bool {
        self.meters.get(&meter).is_some_and(|known| known.is_online(now))
            && self.collector.state(meter).is_some_and(|state| state.suite().has_pieces())
    }

    /// An image was found, or not.
    pub(super) fn on_image(&mut self, Found { wanted, image }: Found) {
        // An image that could not be read is asked for again.
        let Ok(image) = image else { return };
        match (wanted, image) {
            // It may be added later.
            (Wanted::Image(_), None) => {}
            (Wanted::Image(digest), Some(image)) => {
                self.updates.asked.remove(&wanted);
                self.updates.at_hand.insert(digest, image);
                self.updates.look = true;
            }
            (Wanted::ForOtherSlot(refused), image) => {
                self.updates.asked.remove(&wanted);
                self.take_other_slot(refused, image);
            }
        }
    }

    /// Those meters that refused an image because it is for the slot that runs have the other one
    /// instead, or none.
    fn take_other_slot(&mut self, refused: ImageDigest, other: Option<Image>) {
        let is_one = |meter: &&MeterId| {
            let progress = self.collector.update_progress(**meter);
            let end = progress
                .filter(|progress| progress.update.digest == refused.0)
                .map(|progress| progress.update.end);
            let update = self.updates.open.get(meter);
            end == Some(Some(UpdateEnd::Refused(ImageRefusal::OtherSlot)))
                && update
                    .is_some_and(|update| update.record.image == refused && update.record.asked == refused)
        };
        let meters: Vec<MeterId> = self.updates.begun.iter().filter(is_one).copied().collect();
        for meter in meters {
            let Some(image) = &other else {
                if let Some(record) = self.forget_update(meter) {
                    let refusal = Some(ImageRefusal::OtherSlot);
                    self.update_over(record, UpdateState::Refused, refusal, None);
                }
                continue;
            };
            if self.collector.update(meter, image.clone()).is_ok()
                && let Some(update) = self.updates.open.get_mut(&meter)
            {
                (update.record.image, update.record.of) = (ImageDigest(*image.digest()), image.pieces());
                update.record.pieces = 0;
                update.went_on_at = clock::now();
                self.updates.changed.insert(meter);
                self.store_state(meter);
                self.check_due = true;
            }
        }
        if let Some(image) = other {
            self.updates.at_hand.insert(ImageDigest(*image.digest()), image);
        }
    }

    /// Those that are not heard any more, or seal otherwise now, or do not go on while others wait,
    /// wait again.
    pub(super) fn advance_updates(&mut self, now: Instant) {
        self.updates.look = true;
        self.updates.asked.retain(|_, at| now.saturating_duration_since(*at) < ASKED_EVERY);
        let others_wait = !self.updates.waiting.is_empty();
        let has_had_its_turn = |meter: &&MeterId| {
            let Some(update) = self.updates.open.get(meter) else { return false };
            let stands_still = now.saturating_duration_since(update.went_on_at) >= TURN;
            update.record.state != UpdateState::Trying
                && (!self.takes_pieces(**meter, now) || stands_still && others_wait)
        };
        let paused: Vec<MeterId> = self.updates.begun.iter().filter(has_had_its_turn).copied().collect();
        for meter in paused {
            if self.collector.pause_update(meter).is_ok() {
                self.updates.put_back(meter);
                self.store_state(meter);
            }
        }
    }

    /// Tells the store what has changed: pieces now and then.
    fn tell_of_updates(&mut self, now: Instant) {
        if self.store_queue.is_paused() {
            return;
        }
        let (mut told, now_ms, updates) = (Vec::new(), self.now_ms, &mut self.updates);
        updates.changed.retain(|meter| {
            let Some(update) = updates.open.get_mut(meter) else { return false };
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
            self.store(PendingCommit::UpdateProgress { progress, answer: None });
        }
    }
}

fn progress(record: &UpdateRecord, state: UpdateState, at_ms: i64) -> UpdateProgress {
    let UpdateRecord { meter, created_ms, image, pieces, of, .. } = *record;
    UpdateProgress { meter, created_ms, image, state, refusal: None, pieces, of, at_ms }
}

#[cfg(test)]
mod tests;
