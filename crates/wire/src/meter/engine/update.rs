//! An image of its firmware for a meter, piece by piece: docs/reference/protocol.md, "Firmware by radio".
//!
//! [`MeterState`] says which image a meter is to have; the image itself is the owner's, who gives
//! it again after a restart. Then the meter is told anew, with another m, and goes on where its
//! flash says: so no m ever goes with two images.

use super::error::CollectorError;
use super::outcome::Transmission;
use super::policy::Policy;
use super::queue::QueuedCommand;
use super::rejection::Rejection;
use super::session::Session;
use super::update_state::{
    PiecePacer, Sending, Step, Update, UpdateEnd, UpdateProgress, UpdateStage, Updating,
};
use crate::meter::{
    Answer, Command, CommandResult, Identity, Image, ImageRefusal, MeterId, PieceReply, Status, Suite,
    UpdatePacket,
};
use rand_core::CryptoRng;

/// Pieces without a reply after which the meter has begun anew, or does not seal like that any
/// more: it is asked how it stands.
const ATTEMPTS_MAX: u32 = 12;
/// Attempts that wait twice as long as the one before: an erasure takes some seconds.
const DOUBLINGS_MAX: u32 = 3;
/// The delay after a meter's restart, and then the period, of the question if it runs the image.
const LOOK_EVERY_MS: u64 = 10_000;

impl Session {
    pub(super) fn has_update(&self) -> bool {
        self.updating.is_some()
    }

    pub(super) fn update(&mut self, image: Image) {
        let is_same = |update: &Update| update.digest == *image.digest() && update.end.is_none();
        if !self.state.update.as_ref().is_some_and(is_same) {
            self.state.drop_orders_about_images();
            let (digest, version) = (*image.digest(), image.version());
            self.state.update = Some(Update { digest, version, restarted: false, end: None });
            self.state.revision += 1;
            self.updating = None;
        }
        // An update under way goes on.
        self.updating.get_or_insert_with(|| Box::new(Updating { image, step: Step::Look { at_ms: 0 } }));
    }

    pub(super) fn forget_update(&mut self) {
        self.state.drop_orders_about_images();
        self.updating = None;
        self.state.revision += u64::from(self.state.update.take().is_some());
    }

    pub(super) fn pause_update(&mut self) {
        self.state.drop_orders_about_images();
        self.state.revision += u64::from(self.updating.take().is_some());
    }

    pub(super) fn update_progress(&self) -> Option<UpdateProgress> {
        let update = self.state.update?;
        let stage = match &self.updating {
            _ if update.end.is_some() => UpdateStage::Ended,
            None => UpdateStage::NeedsImage,
            Some(updating) => match &updating.step {
                Step::Send(sending) => {
                    UpdateStage::Sending { pieces: sending.index, of: updating.image.pieces() }
                }
                Step::Restart => UpdateStage::Trying,
                Step::Look { .. } if update.restarted => UpdateStage::Trying,
                Step::Look { .. } | Step::Tell => UpdateStage::Asking,
            },
        };
        Some(UpdateProgress { update, stage })
    }

    /// The suite that pieces are sealed in; `None` while it is not known, or has none.
    fn suite_of_pieces(&self) -> Option<Suite> {
        let suite = self.state.suite();
        (self.state.is_settled() && suite.has_pieces() && !self.has_renewal()).then_some(suite)
    }

    pub(super) fn update_due_ms(&self, pacer: &PiecePacer) -> Option<u64> {
        let updating = self.updating.as_ref()?;
        if self.has_commands() || self.state.next_m() == u32::MAX || self.suite_of_pieces().is_none() {
            return None;
        }
        Some(match &updating.step {
            Step::Look { at_ms } => *at_ms,
            Step::Tell | Step::Restart => 0,
            Step::Send(sending) => sending.next_ms.max(pacer.next_ms()),
        })
    }

    /// Orders what an update needs next.
    pub(super) fn queue_update_command(&mut self, pacer: &PiecePacer, now_ms: u64) {
        if self.update_due_ms(pacer).is_none_or(|due_ms| due_ms > now_ms) {
            return;
        }
        let Some(updating) = &mut self.updating else { return };
        if let Step::Send(sending) = &updating.step
            && sending.attempts >= ATTEMPTS_MAX
        {
            updating.step = Step::Look { at_ms: now_ms };
        }
        let order = match updating.step {
            Step::Look { .. } => Command::ReadStatus { page: 2 },
            Step::Tell => Command::UpdateFirmware {
                bytes: updating.image.bytes().len() as u32,
                version: updating.image.version(),
                header: updating.image.check(),
            },
            Step::Restart => {
                // Durable with the command's number: a later check finds that it was tried.
                if let Some(update) = &mut self.state.update {
                    update.restarted = true;
                }
                Command::Reboot
            }
            Step::Send(_) => return,
        };
        self.queue_first(QueuedCommand::Command(order));
    }

    pub(super) fn piece_due(
        &mut self,
        own: &Identity,
        policy: &Policy,
        pacer: &mut PiecePacer,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Transmission> {
        if self.update_due_ms(pacer).is_none_or(|due_ms| due_ms > now_ms) {
            return None;
        }
        let suite = self.suite_of_pieces()?;
        let address = *self.state.addresses().first()?;
        let mut updating = self.updating.take()?;
        let mut packets = Vec::new();
        if let Step::Send(sending) = &mut updating.step
            && pacer.take(policy, now_ms)
        {
            let to = (address.radio, address.name);
            let data = updating.image.piece(sending.index);
            packets.push(self.channel(own).update_piece(suite, to, sending.m, sending.index, &data));
            let wait_ms = policy.answer_within_ms[usize::from(suite.code())].max(1)
                << sending.attempts.min(DOUBLINGS_MAX);
            let spread_ms = u64::from(rng.next_u32()) * (wait_ms / 2) / u64::from(u32::MAX);
            sending.next_ms = now_ms + wait_ms + spread_ms;
            sending.attempts += 1;
        }
        self.updating = Some(updating);
        (!packets.is_empty()).then_some(Transmission { meter: self.state.meter, packets })
    }

    /// A reply to a piece came in the meter's name.
    pub(super) fn piece_reply(&mut self, packet: &UpdatePacket<'_>, own: &Identity) -> Result<(), Rejection> {
        let address = self.state.addresses().first().ok_or(Rejection::Address)?;
        if (address.name, address.collector) != (packet.meter, packet.address) {
            return Err(Rejection::Address);
        }
        if self.suite_of_pieces() != Some(packet.suite) {
            return Err(Rejection::Suite);
        }
        let mut updating = self.updating.take().ok_or(Rejection::NoCommand)?;
        let reply = match &updating.step {
            Step::Send(sending) if sending.m as u8 == packet.number_lsb => {
                let opened = self.channel(own).open_update_reply(packet, sending.m);
                opened.map_err(|_| Rejection::NotAuthentic)
            }
            _ => Err(Rejection::NoCommand),
        };
        let pieces = updating.image.pieces();
        let mut end = None;
        match (&reply, &mut updating.step) {
            (Ok(PieceReply::Refuses(refusal)), _) => end = Some(UpdateEnd::Refused(*refusal)),
            (Ok(PieceReply::Wants(index)), step) if *index == pieces => *step = Step::Restart,
            // An earlier index is of a reply that comes late, or is played again.
            (Ok(PieceReply::Wants(index)), Step::Send(sending))
                if (sending.index + 1..pieces).contains(index) =>
            {
                (sending.index, sending.attempts, sending.next_ms) = (*index, 0, 0);
            }
            _ => {}
        }
        self.updating = Some(updating);
        if let Some(end) = end {
            self.update_ended(end);
        }
        reply.map(|_| ())
    }

    fn update_ended(&mut self, end: UpdateEnd) {
        self.updating = None;
        if let Some(update) = &mut self.state.update {
            update.end = Some(end);
            self.state.revision += 1;
        }
    }

    /// The meter began anew: what it was told is forgotten there.
    pub(super) fn check_update(&mut self) {
        if let Some(updating) = &mut self.updating
            && !matches!(updating.step, Step::Restart)
        {
            updating.step = Step::Look { at_ms: 0 };
        }
    }

    /// An answer came: to what the update has asked, where that is its step.
    pub(super) fn update_answered(&mut self, command: Command, answer: &Answer, now_ms: u64) {
        let (Some(updating), Some(update)) = (&mut self.updating, self.state.update) else { return };
        let again = Step::Look { at_ms: now_ms + LOOK_EVERY_MS };
        let not_known = matches!(answer.outcome, CommandResult::UnknownCommand | CommandResult::OutOfRange);
        match (command, &updating.step) {
            (Command::ReadStatus { page: 2 }, Step::Look { .. }) => match answer.status(2) {
                Some(Status::Firmware { version, on_trial, trial_next, .. }) => {
                    if on_trial {
                        updating.step = again;
                    } else if version == update.version {
                        self.update_ended(UpdateEnd::Runs);
                    } else if update.restarted && !trial_next {
                        self.update_ended(UpdateEnd::WentBack);
                    } else {
                        updating.step = Step::Tell;
                    }
                }
                _ if not_known => self.update_ended(UpdateEnd::NotPossible),
                _ => updating.step = again,
            },
            (Command::UpdateFirmware { .. }, Step::Tell) => match answer.outcome {
                CommandResult::Done => {
                    let sending = Sending { m: answer.m, index: 0, attempts: 0, next_ms: 0 };
                    updating.step = Step::Send(sending);
                }
                CommandResult::ImageRefused(ImageRefusal::OnTrial) | CommandResult::OutOfRange => {
                    updating.step = again;
                }
                CommandResult::ImageRefused(refusal) => self.update_ended(UpdateEnd::Refused(refusal)),
                CommandResult::UnknownCommand => self.update_ended(UpdateEnd::NotPossible),
                _ => updating.step = again,
            },
            (Command::Reboot, Step::Restart) => updating.step = again,
            _ => {}
        }
    }
}

impl super::Collector {
    /// Has a meter take an image, and begin anew with it; and after a restart of the collector, or
    /// where the image was not at hand, go on with it: then it is to be given again, as
    /// [`MeterState::update`](super::MeterState::update) names it. Another image takes the place of
    /// the one before. [`super::Collector::due`] says what is to be sent;
    /// [`super::Collector::update_progress`] how far it is.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`].
    pub fn update(&mut self, meter: MeterId, image: Image) -> Result<(), CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        session.update(image);
        self.update_indexes(meter);
        Ok(())
    }

    /// An update is not gone on with, or its end is known. A meter that had all of it may run it
    /// all the same.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`].
    pub fn forget_update(&mut self, meter: MeterId) -> Result<(), CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        session.forget_update();
        self.update_indexes(meter);
        Ok(())
    }

    /// An update is not gone on with until the image is given again, as after a restart of the
    /// collector: others have their turn.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`].
    pub fn pause_update(&mut self, meter: MeterId) -> Result<(), CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        session.pause_update();
        self.update_indexes(meter);
        Ok(())
    }

    /// Returns how far a meter's update is; `None` where there is none.
    #[must_use]
    pub fn update_progress(&self, meter: MeterId) -> Option<UpdateProgress> {
        self.meters.active(meter)?.update_progress()
    }
}
