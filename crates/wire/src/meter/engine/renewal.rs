//! The renewal of a meter's key, piece by piece: docs/reference/protocol.md, "Renewal of the key".
//!
//! Its secrets are in memory alone: after a restart it is begun anew, which [`MeterState`]
//! remembers. The next key is durable before the meter is asked to take it, and the one before is
//! kept until the meter has shown that it did.

use super::keys::Renewal;
use super::outcome::{Due, Transmission};
use super::policy::Policy;
use super::queue::QueuedCommand;
use super::rejection::Rejection;
use super::session::Session;
use crate::meter::renewal::{Initiator, OFFER_PIECES, PIECES, RenewalPacket};
use crate::meter::{Address, Command, Identity, MessageKind, MeterKeys, MeterRecord, Suite};
use rand_core::CryptoRng;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Packets without a reply after which the meter has begun anew, or does not seal like that any
/// more: the renewal is begun anew, too.
const ATTEMPTS_MAX: u32 = 12;
/// Attempts that wait twice as long as the one before.
const DOUBLINGS_MAX: u32 = 3;
/// The delay after an answer with the present key, until the meter is asked again to take the next
/// one.
const PROVE_AGAIN_MS: u64 = 5_000;
/// Such answers after which the meter has lost the next key, which it has only in RAM: the renewal
/// is begun anew.
const PROOFS_MAX: u32 = 6;

impl Session {
    /// Says if a key is being renewed, or has to be kept.
    pub(super) fn has_renewal(&self) -> bool {
        self.keys.saved.is_some() || self.state.renewing || self.record.keys.has_next()
    }

    pub(super) fn renewal_due_ms(&self) -> Option<u64> {
        if self.keys.saved.is_some() {
            return Some(0);
        }
        let under_way = self.keys.renewal.as_ref().map(|renewal| renewal.next_ms);
        under_way.or_else(|| self.order_due_ms())
    }

    /// When the next order of a renewal is given: another one where it was broken off, or a
    /// question that the next key is shown by. A meter that seals otherwise now shows none until it
    /// has this suite again.
    fn order_due_ms(&self) -> Option<u64> {
        let can_show = self.state.suites().contains(&Suite::Aes256GcmRekeyed);
        if !can_show || self.has_commands() || self.state.next_m() == u32::MAX {
            return None;
        }
        match self.record.keys.has_next() {
            true => Some(self.keys.prove_at_ms),
            false => (self.state.renewing && self.keys.renewal.is_none()).then_some(0),
        }
    }

    /// Of other keys, which the meter had before it was added again, nothing is said by that.
    pub(super) fn confirm_keys(&mut self, saved: &MeterRecord) {
        if saved.public == self.record.public {
            let is_all = self.record.keys == saved.keys;
            self.keys.saved = (!is_all).then(|| Box::new(saved.keys.clone()));
        }
    }

    /// The keys that are durable, where others are to be.
    pub(super) fn saved_keys(&self) -> Option<&MeterKeys> {
        self.keys.saved.as_deref()
    }

    /// The meter has begun a renewal with this command. It has forgotten the next key that an
    /// earlier one gave.
    pub(super) fn renewal_begun(&mut self, m: u32) {
        if self.record.keys.has_next() {
            self.set_keys(self.record.keys.with_next(None));
        }
        let renewal = Renewal { m, initiator: None, response: Vec::new(), index: 0, attempts: 0, next_ms: 0 };
        self.keys.renewal = Some(renewal);
        self.state.renewing = true;
    }

    /// The meter does not renew its key: it seals otherwise.
    pub(super) fn renewal_refused(&mut self) {
        self.keys.renewal = None;
        self.state.renewing = false;
    }

    /// The meter was heard with the key that it has: it is renewed where it is too old.
    pub(super) fn check_key_age(&mut self, policy: &Policy, now_ms: u64) {
        let Some(after_s) = policy.renew_keys_after_s.filter(|_| policy.renew_keys) else { return };
        let age_s = |renewed_s: u32| (now_ms / 1000).saturating_sub(renewed_s.into());
        let is_old = self.state.renewed_s().is_none_or(|renewed_s| age_s(renewed_s) >= after_s.into());
        if is_old && !self.has_renewal() {
            self.queue_first(QueuedCommand::Command(Command::RenewKey));
        }
    }

    /// Something of the meter came that is sealed with the next key: the present one is no more.
    pub(super) fn next_key_shown(&mut self, now_ms: u64) {
        if let Some(keys) = self.record.keys.next_epoch() {
            self.set_keys(keys);
            self.keys.renewal = None;
            let now_s = NonZeroU32::new((now_ms / 1000) as u32);
            (self.state.renewing, self.state.renewed_s) = (false, now_s);
            self.state.revision += 1;
        }
    }

    /// An answer came that is sealed with the present key, while there is a next one. A meter with
    /// reports waiting has not taken that on purpose.
    pub(super) fn next_key_not_taken(&mut self, reports_wait: bool, now_ms: u64) {
        self.keys.prove_at_ms = now_ms + PROVE_AGAIN_MS;
        self.keys.proofs += u32::from(!reports_wait);
    }

    fn set_keys(&mut self, keys: MeterKeys) {
        let record = MeterRecord { keys, ..MeterRecord::clone(&self.record) };
        let before = std::mem::replace(&mut self.record, Arc::new(record));
        self.keys.saved.get_or_insert_with(|| Box::new(before.keys.clone()));
        self.forget_sealed();
        (self.keys.prove_at_ms, self.keys.proofs) = (0, 0);
    }

    /// Keys that have to be kept, before all else.
    pub(super) fn keys_due(&self) -> Option<Due> {
        self.keys.saved.is_some().then(|| Due::SaveKeys(Box::new(MeterRecord::clone(&self.record))))
    }

    /// Orders what a renewal needs next: a proof that the meter has the next key, or another
    /// renewal.
    pub(super) fn queue_renewal_command(&mut self, now_ms: u64) {
        let is_lost = |renewal: &mut Renewal| renewal.attempts >= ATTEMPTS_MAX && renewal.next_ms <= now_ms;
        self.keys.renewal.take_if(is_lost);
        if self.order_due_ms().is_some_and(|due_ms| due_ms <= now_ms) {
            let is_shown_by_a_question = self.record.keys.has_next() && self.keys.proofs < PROOFS_MAX;
            self.queue_first(match is_shown_by_a_question {
                true => QueuedCommand::ReadClock,
                false => QueuedCommand::Command(Command::RenewKey),
            });
        }
    }

    /// The packet of a renewal that is due.
    pub(super) fn renewal_due(
        &mut self,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Transmission> {
        let mut renewal = self.keys.renewal.take_if(|renewal| renewal.next_ms <= now_ms)?;
        let initiator = renewal.initiator.get_or_insert_with(|| Box::new(Initiator::generate(rng)));
        let addresses = self.state.addresses();
        let address = addresses[renewal.attempts as usize % addresses.len()];
        let packet = self.channel(own).renewal_packet(
            MessageKind::Command,
            (address.radio, address.name),
            renewal.m,
            renewal.index,
            &initiator.data(renewal.index),
        );
        let wait_ms = policy.answer_within_ms[usize::from(Suite::Aes256GcmRekeyed.code())].max(1)
            << renewal.attempts.min(DOUBLINGS_MAX);
        renewal.next_ms = now_ms + wait_ms + u64::from(rng.next_u32()) * (wait_ms / 2) / u64::from(u32::MAX);
        renewal.attempts += 1;
        self.keys.renewal = Some(renewal);
        Some(Transmission { meter: self.state.meter, packets: vec![packet] })
    }

    /// A packet of a renewal came in the meter's name.
    pub(super) fn renewal_reply(
        &mut self,
        packet: &RenewalPacket<'_>,
        own: &Identity,
    ) -> Result<(), Rejection> {
        let is_there =
            |address: &Address| (address.name, address.collector) == (packet.meter, packet.address);
        if !self.state.addresses().iter().any(is_there) {
            return Err(Rejection::Address);
        }
        let is_asked =
            |renewal: &mut Renewal| renewal.index == packet.index && renewal.m as u8 == packet.number_lsb;
        let mut renewal = self.keys.renewal.take_if(is_asked).ok_or(Rejection::NoCommand)?;
        let Ok(data) = self.channel(own).open_renewal_packet(packet, renewal.m) else {
            self.keys.renewal = Some(renewal);
            return Err(Rejection::NotAuthentic);
        };
        if renewal.index >= OFFER_PIECES {
            renewal.response.extend(data);
        }
        renewal.index += 1;
        (renewal.attempts, renewal.next_ms) = (0, 0);
        if renewal.index < PIECES {
            self.keys.renewal = Some(renewal);
            return Ok(());
        }
        let response = renewal.response.as_slice().try_into();
        let next = match (&renewal.initiator, response) {
            (Some(initiator), Ok(response)) => initiator.agree(&self.channel(own), renewal.m, response).ok(),
            _ => None,
        };
        // A meter whose response is none would make no better one.
        let Some(next) = next else {
            self.state.renewing = false;
            self.state.revision += 1;
            return Err(Rejection::NotAuthentic);
        };
        self.set_keys(self.record.keys.with_next(Some(next)));
        Ok(())
    }
}
