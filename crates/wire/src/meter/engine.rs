//! The collector's end of the link to all meters of a radio channel: packets and times in, packets
//! and events out.
//!
//! The calls say which state must be durable, and when: a report is acknowledged only after
//! [`Collector::confirm_report`], and a command goes on the air only after
//! [`Collector::confirm_state`] said that its number is kept. Memory is bounded by the meters that
//! were added and the commands that were given: packets of unknown meters leave nothing but a
//! count.

mod attempts;
mod clock;
mod commands;
mod compact;
mod error;
mod keys;
mod meters;
mod opening;
mod outcome;
mod policy;
mod queue;
mod rejection;
mod renewal;
mod session;
mod state;
mod update;
mod update_state;

pub use error::CollectorError;
pub use opening::{OpenedMessage, ReassemblyOutcome, SealedMessage};
pub use outcome::{CompletedCommand, Due, ReceivedReport, Transmission, UplinkOutcome};
pub use policy::Policy;
pub use queue::{Delivery, QueuedCommand};
pub use rejection::{Counters, Rejection};
pub use state::MeterState;
pub use update_state::{Update, UpdateEnd, UpdateProgress, UpdateStage};

use super::renewal::RenewalPacket;
use super::{
    Address, Command, Identity, MessageKind, MeterId, MeterKeys, MeterRecord, Packet, Suite, UpdatePacket,
};
use compact::CompactMeter;
use meters::{Meter, Meters};
use rand_core::CryptoRng;
use session::{PacketOutcome, Session};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use update_state::PiecePacer;

/// The collector's end of the link to the meters of a radio channel. Times are milliseconds since
/// 2000-01-01 00:00:00 UTC.
#[derive(Debug)]
pub struct Collector {
    identity: Arc<Identity>,
    policy: Policy,
    meters: Meters,
    /// The meter of each name, present or possible.
    names: HashMap<MeterId, MeterId>,
    /// The meters that commands wait for.
    busy: BTreeSet<MeterId>,
    counters: Counters,
    pacer: PiecePacer,
}

impl Collector {
    /// Makes a collector without meters.
    #[must_use]
    pub fn new(identity: Identity, policy: Policy) -> Collector {
        Collector {
            identity: Arc::new(identity),
            policy,
            meters: Meters::default(),
            names: HashMap::new(),
            busy: BTreeSet::new(),
            counters: Counters::default(),
            pacer: PiecePacer::default(),
        }
    }

    /// Returns the collector's key pair.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Behaves differently from now on.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
        for meter in self.meters.active_ids() {
            if let Some(session) = self.meters.session(meter) {
                session.close_open_orders(&policy);
            }
            self.update_indexes(meter);
        }
    }

    /// Returns the policy that it follows.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Adds a meter: with [`MeterState::new`] one that was never heard, else with what was kept of
    /// it. Its `last_n` has to be that of the last report that is stored.
    ///
    /// # Errors
    /// [`CollectorError::NameTaken`], [`CollectorError::OtherState`],
    /// [`CollectorError::DamagedState`].
    pub fn add(&mut self, record: MeterRecord, mut state: MeterState) -> Result<(), CollectorError> {
        let meter = record.setup.meter;
        if state.meter != meter {
            return Err(CollectorError::OtherState(state.meter));
        }
        if !state.settle_in() {
            return Err(CollectorError::DamagedState(meter));
        }
        if !self.policy.renew_keys && state.suites().contains(&Suite::Aes256GcmRekeyed) {
            return Err(CollectorError::KeysNotRenewed);
        }
        if self.meters.get(meter).is_some() {
            return Err(CollectorError::NameTaken(meter));
        }
        let taken = |address: &&Address| address.name == 0 || self.names.contains_key(&address.name);
        if let Some(address) = state.addresses().iter().find(taken) {
            return Err(CollectorError::NameTaken(address.name));
        }
        if let Some(compact) = CompactMeter::new(&record, &state) {
            self.names.insert(compact.address().name, meter);
            self.meters.insert(meter, Meter::Compact(Box::new(compact)));
            return Ok(());
        }
        let mut session = Session::new(record, state);
        session.close_open_orders(&self.policy);
        self.meters.insert(meter, Meter::Active(Box::new(session)));
        self.update_indexes(meter);
        Ok(())
    }

    /// Forgets a meter, and returns what there was to keep of it.
    pub fn remove(&mut self, meter: MeterId) -> Option<MeterState> {
        let removed = self.meters.remove(meter)?;
        self.busy.remove(&meter);
        let (named, state) = match removed {
            Meter::Compact(compact) => (vec![compact.address().name], compact.state()),
            Meter::Active(session) => (session.named, session.state),
        };
        self.remove_names(meter, &named);
        Some(state)
    }

    /// Returns a copy of the state of a meter that must be kept.
    #[must_use]
    pub fn state(&self, meter: MeterId) -> Option<MeterState> {
        Some(match self.meters.get(meter)? {
            Meter::Compact(compact) => compact.state(),
            Meter::Active(session) => session.state.clone(),
        })
    }

    /// Returns the record that a meter was added with.
    #[must_use]
    pub fn record(&self, meter: MeterId) -> Option<&MeterRecord> {
        Some(match self.meters.get(meter)? {
            Meter::Compact(compact) => &compact.record,
            Meter::Active(session) => &session.record,
        })
    }

    /// The meters, in order, as they were provisioned.
    pub fn meters(&self) -> impl Iterator<Item = MeterId> + '_ {
        self.meters.all()
    }

    /// The names that meters have in packets, or may have, each with whose it is.
    pub fn names(&self) -> impl Iterator<Item = (MeterId, MeterId)> + '_ {
        self.names.iter().map(|(name, meter)| (*name, *meter))
    }

    /// Gives back the room for more meters than there are.
    pub fn shrink_to_fit(&mut self) {
        self.meters.shrink_to_fit();
        self.names.shrink_to_fit();
    }

    /// Returns the packets rejected since the start, those of unknown meters included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the packets rejected since the start in the name of a meter.
    #[must_use]
    pub fn counters_of(&self, meter: MeterId) -> Option<&Counters> {
        let counters = match self.meters.get(meter)? {
            Meter::Compact(compact) => compact.counters(),
            Meter::Active(session) => session.counters.as_deref(),
        };
        Some(counters.unwrap_or(&Counters::NONE))
    }

    /// Takes a packet: address first, without the radio's length byte and check sum. Any bytes. It
    /// is [`Collector::reassemble`], [`SealedMessage::open`] and [`Collector::accept`] in one.
    pub fn on_packet(&mut self, packet: &[u8], now_ms: u64) -> UplinkOutcome {
        match self.reassemble(packet) {
            ReassemblyOutcome::Done(heard) => heard,
            ReassemblyOutcome::Sealed(message) => self.accept(message.open(), now_ms),
        }
    }

    /// Takes a packet, and returns the message that it makes whole, where it does and somebody
    /// could have made it. Any bytes.
    pub fn reassemble(&mut self, packet: &[u8]) -> ReassemblyOutcome {
        if let Some(packet) = RenewalPacket::parse(packet) {
            return ReassemblyOutcome::Done(self.renewal_reply(&packet));
        }
        if let Some(packet) = UpdatePacket::parse(packet) {
            return ReassemblyOutcome::Done(self.piece_reply(&packet));
        }
        let packet = match Packet::parse(packet) {
            Ok(packet) => packet,
            Err(malformed) => return ReassemblyOutcome::Done(self.reject(Rejection::Malformed(malformed))),
        };
        if !matches!(packet.kind, MessageKind::Report | MessageKind::Answer) {
            return ReassemblyOutcome::Done(self.reject(Rejection::Direction));
        }
        let session = self.names.get(&packet.meter).and_then(|meter| self.meters.session(*meter));
        let Some(session) = session else {
            return ReassemblyOutcome::Done(self.reject(Rejection::UnknownMeter));
        };
        ReassemblyOutcome::Done(match session.reassemble(&packet, &self.policy) {
            PacketOutcome::Piece => UplinkOutcome::Piece,
            PacketOutcome::Rejected(rejection) => {
                session.count(rejection);
                self.reject(rejection)
            }
            PacketOutcome::Whole(message, addresses) => {
                let (record, identity) = (session.record.clone(), self.identity.clone());
                return ReassemblyOutcome::Sealed(SealedMessage { record, identity, message, addresses });
            }
        })
    }

    /// Takes a packet of a renewal.
    fn renewal_reply(&mut self, packet: &RenewalPacket<'_>) -> UplinkOutcome {
        self.reply(packet.kind, packet.meter, |session, own| session.renewal_reply(packet, own))
    }

    /// Takes a reply to a piece of an image.
    fn piece_reply(&mut self, packet: &UpdatePacket<'_>) -> UplinkOutcome {
        self.reply(packet.kind, packet.meter, |session, own| session.piece_reply(packet, own))
    }

    /// Takes a reply that came in this name.
    fn reply(
        &mut self,
        kind: MessageKind,
        name: MeterId,
        take: impl FnOnce(&mut Session, &Identity) -> Result<(), Rejection>,
    ) -> UplinkOutcome {
        if kind != MessageKind::Answer {
            return self.reject(Rejection::Direction);
        }
        let Some(meter) = self.names.get(&name).copied() else {
            return self.reject(Rejection::UnknownMeter);
        };
        let Some(session) = self.meters.session(meter) else {
            return self.reject(Rejection::UnknownMeter);
        };
        let taken = take(session, &self.identity);
        if let Err(rejection) = taken {
            session.count(rejection);
        }
        self.update_indexes(meter);
        taken.map_or_else(|rejection| self.reject(rejection), |()| UplinkOutcome::Piece)
    }

    /// Takes a message that was opened. Changes since its reassembly count: of a meter that was
    /// removed, or has other keys, or another name, or does not seal like that any more, nothing is
    /// taken.
    pub fn accept(&mut self, message: OpenedMessage, now_ms: u64) -> UplinkOutcome {
        let meter = message.meter();
        let session = self.meters.active_mut(meter);
        let Some(session) = session.filter(|session| Arc::ptr_eq(&session.record, &message.record)) else {
            return self.reject(Rejection::UnknownMeter);
        };
        let heard = session.accept(message, &self.identity, &self.policy, now_ms);
        match &heard {
            UplinkOutcome::Rejected(rejection) => {
                session.count(*rejection);
                self.counters.count(*rejection);
            }
            UplinkOutcome::OtherSuite => {
                session.count(Rejection::Suite);
                self.counters.count(Rejection::Suite);
            }
            UplinkOutcome::NumberReused(_) => {
                session.count(Rejection::NumberReused);
                self.counters.count(Rejection::NumberReused);
            }
            _ => {}
        }
        self.update_indexes(meter);
        heard
    }

    /// Says that a report is durable, and with it that its `n` is the meter's last one: best in one
    /// transaction with it. Returns the acknowledgement, to be sent.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`], [`CollectorError::NotHandedOut`].
    pub fn confirm_report(&mut self, meter: MeterId, n: u32) -> Result<Transmission, CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        session.confirm_report(n, &self.identity).ok_or(CollectorError::NotHandedOut { meter, n })
    }

    /// Says that a report could not be stored: it is handed out again when the meter sends it
    /// again.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`], [`CollectorError::NotHandedOut`].
    pub fn reject_report(&mut self, meter: MeterId, n: u32) -> Result<(), CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        if session.reject_report(n) { Ok(()) } else { Err(CollectorError::NotHandedOut { meter, n }) }
    }

    /// Says of a report that was handed out that another one is stored under its number. It is not
    /// handed out again.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`], [`CollectorError::NotHandedOut`].
    pub fn number_reused(&mut self, meter: MeterId, n: u32) -> Result<(), CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        if !session.number_reused(n) {
            return Err(CollectorError::NotHandedOut { meter, n });
        }
        session.count(Rejection::NumberReused);
        self.counters.count(Rejection::NumberReused);
        Ok(())
    }

    /// Queues a command, and returns its ticket. [`Collector::due`] says when it is to be sent;
    /// [`UplinkOutcome::Answer`] ends it. Where it has to survive a restart of the collector before
    /// it was first sent, keep [`Collector::state`].
    ///
    /// # Errors
    /// [`CollectorError`]: unknown meter, arguments out of range, name taken, too many commands, no
    /// numbers left.
    pub fn command(&mut self, meter: MeterId, command: Command) -> Result<u32, CollectorError> {
        if let Command::Register { meter: name, .. } = command
            && self.names.get(&name).is_some_and(|owner| *owner != meter)
        {
            return Err(CollectorError::NameTaken(name));
        }
        if !command.is_valid() {
            return Err(CollectorError::OutOfRange);
        }
        if matches!(command, Command::UpdateFirmware { .. }) {
            return Err(CollectorError::ImageNeeded);
        }
        if self.policy.require_sealed && matches!(command, Command::Configure { suite: Suite::None, .. }) {
            return Err(CollectorError::SealRequired);
        }
        let is_renewal =
            matches!(command, Command::RenewKey | Command::Configure { suite: Suite::Aes256GcmRekeyed, .. });
        if !self.policy.renew_keys && is_renewal {
            return Err(CollectorError::KeysNotRenewed);
        }
        self.queue_command(meter, QueuedCommand::Command(command))
    }

    /// Queues a command that sets the meter's time, to what it is when it is sent.
    ///
    /// # Errors
    /// As [`Collector::command`].
    pub fn set_time(&mut self, meter: MeterId) -> Result<u32, CollectorError> {
        self.queue_command(meter, QueuedCommand::TimeNow)
    }

    fn queue_command(&mut self, meter: MeterId, order: QueuedCommand) -> Result<u32, CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        let ticket = session.queue_command(order, self.policy.most_commands)?;
        self.update_indexes(meter);
        Ok(ticket)
    }

    /// Takes a command back. One that is under way may have been done all the same.
    ///
    /// # Errors
    /// [`CollectorError::UnknownMeter`], [`CollectorError::NoCommand`].
    pub fn withdraw(&mut self, meter: MeterId, ticket: u32) -> Result<(), CollectorError> {
        let session = self.meters.session(meter).ok_or(CollectorError::UnknownMeter(meter))?;
        if !session.withdraw(ticket, &self.policy) {
            return Err(CollectorError::NoCommand(ticket));
        }
        self.update_indexes(meter);
        Ok(())
    }

    /// The commands that are not answered yet, in the order that they are sent in: ticket, what,
    /// how far.
    #[must_use]
    pub fn commands(&self, meter: MeterId) -> Vec<(u32, QueuedCommand, Delivery)> {
        self.meters.active(meter).map(Session::commands).unwrap_or_default()
    }

    /// Says that a state, or a later one, is durable.
    pub fn confirm_state(&mut self, meter: MeterId, revision: u64) {
        if let Some(session) = self.meters.active_mut(meter) {
            session.confirm_state(revision);
        }
    }

    /// The keys of a meter that are durable, where others are to be made so in their place
    /// ([`Due::SaveKeys`]).
    #[must_use]
    pub fn saved_keys(&self, meter: MeterId) -> Option<&MeterKeys> {
        self.meters.active(meter)?.saved_keys()
    }

    /// Says that a record of [`Due::SaveKeys`] is durable. Of a meter that has other keys since, or
    /// was removed, that changes nothing.
    pub fn confirm_keys(&mut self, record: &MeterRecord) {
        let meter = record.setup.meter;
        if let Some(session) = self.meters.active_mut(meter) {
            session.confirm_keys(record);
        }
        self.update_indexes(meter);
    }

    /// Returns what is due at `now_ms`. rng: makes ephemeral keys, and spreads attempts.
    pub fn due(&mut self, now_ms: u64, rng: &mut impl CryptoRng) -> Vec<Due> {
        let busy: Vec<MeterId> = self.busy().collect();
        busy.into_iter().filter_map(|meter| self.due_of(meter, now_ms, rng)).collect()
    }

    /// Returns what is due at `now_ms` for one meter: for an owner that cannot reach all of them.
    /// rng: as [`Collector::due`].
    pub fn due_of(&mut self, meter: MeterId, now_ms: u64, rng: &mut impl CryptoRng) -> Option<Due> {
        let Collector { identity, policy, pacer, .. } = self;
        self.meters.active_mut(meter)?.due(identity, policy, pacer, now_ms, rng)
    }

    /// The meters that commands wait for, whose key is being renewed, or whose firmware is.
    pub fn busy(&self) -> impl Iterator<Item = MeterId> + '_ {
        self.busy.iter().copied()
    }

    /// Returns the time at which [`Collector::due`] has something next; `None` while no command
    /// waits.
    #[must_use]
    pub fn next_due_ms(&self) -> Option<u64> {
        self.busy().filter_map(|meter| self.next_due_ms_of(meter)).min()
    }

    /// Returns the time at which [`Collector::due_of`] has something next; `None` while no command
    /// waits for the meter.
    #[must_use]
    pub fn next_due_ms_of(&self, meter: MeterId) -> Option<u64> {
        self.meters.active(meter)?.next_due_ms(&self.pacer)
    }

    /// Compacts meters that were neither heard nor asked since the last call, and have nothing
    /// under way: they take little memory then. Call it each half minute or so for very many
    /// meters. It forgets as much as a restart: a report that comes again is
    /// [`UplinkOutcome::OldNumber`], and not [`UplinkOutcome::Duplicate`].
    pub fn compact_idle(&mut self, now_ms: u64) {
        self.meters.compact_idle(&self.policy, now_ms);
    }

    /// Bytes of unfinished messages that are held: at most 288 for each meter.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.meters.sessions().map(Session::held_bytes).sum()
    }

    fn reject(&mut self, rejection: Rejection) -> UplinkOutcome {
        self.counters.count(rejection);
        UplinkOutcome::Rejected(rejection)
    }

    /// Brings `names` and `busy` in line with a meter's state.
    fn update_indexes(&mut self, meter: MeterId) {
        let Some(session) = self.meters.active_mut(meter) else { return };
        if session.has_commands() || session.has_renewal() || session.has_update() {
            self.busy.insert(meter);
        } else {
            self.busy.remove(&meter);
        }
        if session.names_changed {
            session.names_changed = false;
            let names = session.names();
            let before = std::mem::replace(&mut session.named, names.clone());
            self.remove_names(meter, &before);
            for name in names {
                self.names.entry(name).or_insert(meter);
            }
        }
    }

    /// A meter is not found by these names any more.
    fn remove_names(&mut self, meter: MeterId, names: &[MeterId]) {
        for name in names {
            if self.names.get(name) == Some(&meter) {
                self.names.remove(name);
            }
        }
    }
}
