//! The session of one meter: all steps for its packets.

use super::attempts::Attempts;
use super::clock::{Advice, ClockCheck};
use super::keys::Keys;
use super::opening::OpenedMessage;
use super::outcome::{ReceivedReport, Transmission, UplinkOutcome};
use super::policy::Policy;
use super::queue::QueuedCommand;
use super::rejection::{Counters, Rejection};
use super::state::MeterState;
use super::update_state::Updating;
use crate::meter::{
    Address, Channel, Content, Identity, Message, MessageKind, MeterId, MeterRecord, Packet, Reassembly,
    Report, Suite, packets,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Reports that are remembered, so that one that comes again is known without its owner: a meter
/// sends its oldest one alone.
const RECENT_MAX: usize = 8;
/// The number of messages of which one is opened, if they take curves and nothing shows that the
/// meter seals so.
const UNEXPECTED_INTERVAL: u8 = 8;

/// A report that the owner is storing, or compares with what is stored.
#[derive(Clone, Copy, Debug)]
struct HandedOut {
    n: u32,
    suite: Suite,
    address: Address,
    plaintext: [u8; 16],
    starts: Option<u16>,
}

/// The result of a packet in a meter's name.
pub(super) enum PacketOutcome {
    Rejected(Rejection),
    Piece,
    /// A message is whole, and came from one of these.
    Whole(Message, Vec<Address>),
}

/// One meter.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) record: Arc<MeterRecord>,
    pub(super) state: MeterState,
    /// Most meters never have any.
    pub(super) counters: Option<Box<Counters>>,
    pub(super) names_changed: bool,
    /// The names that the collector found it by when it looked last.
    pub(super) named: Vec<MeterId>,
    /// Something was asked of it, or came in its name, since the collector looked last whether it
    /// rests.
    pub(super) touched: bool,
    pub(super) clock_check: ClockCheck,
    pub(super) attempts: Attempts,
    pub(super) keys: Keys,
    /// Few meters ever have one.
    pub(super) updating: Option<Box<Updating>>,
    reassembly: Reassembly,
    handed_out: Option<HandedOut>,
    /// The plaintexts of the last reports that are stored.
    recent: VecDeque<[u8; 16]>,
    /// Messages in a suite that nothing speaks for, modulo [`UNEXPECTED_INTERVAL`].
    pub(super) unexpected: u8,
    /// The plaintext of the last report under whose number another one is stored: a meter sends it
    /// over and over.
    reused: Option<[u8; 16]>,
}

impl Session {
    /// Makes a session of a stored state; the rest begins anew, as after a restart.
    pub(super) fn new(record: MeterRecord, mut state: MeterState) -> Session {
        let attempts = Attempts::resumed(&mut state);
        Session {
            record: Arc::new(record),
            state,
            counters: None,
            names_changed: true,
            named: Vec::new(),
            touched: true,
            clock_check: ClockCheck::default(),
            attempts,
            keys: Keys::default(),
            updating: None,
            reassembly: Reassembly::default(),
            handed_out: None,
            recent: VecDeque::new(),
            unexpected: 0,
            reused: None,
        }
    }

    /// Says if nothing is under way that a restart would break off: no report with the owner, no
    /// message that is being opened, no question about the time too early.
    pub(super) fn is_idle(&self, policy: &Policy, now_ms: u64) -> bool {
        self.handed_out.is_none()
            && !self.names_changed
            && !self.has_renewal()
            && !self.has_update()
            && Arc::strong_count(&self.record) == 1
            && !self.clock_check.is_quiet(policy, now_ms)
    }

    pub(super) fn count(&mut self, rejection: Rejection) {
        self.counters.get_or_insert_default().count(rejection);
    }

    /// Closes the orders that a withdrawn command left open, by a later command whose number the
    /// meter keeps. A status would not do.
    pub(super) fn close_open_orders(&mut self, policy: &Policy) {
        if policy.set_time && !self.state.is_settled() && !self.has_commands() {
            self.queue_first(QueuedCommand::TimeNow);
        }
    }

    pub(super) fn channel<'a>(&'a self, own: &'a Identity) -> Channel<'a> {
        Channel { meter: self.state.meter, keys: &self.record.keys, own, peer: &self.record.public }
    }

    /// The names that are this meter's, or are to be.
    pub(super) fn names(&self) -> Vec<MeterId> {
        let waiting = self.state.waiting.iter().filter_map(|waiting| waiting.order.address());
        self.state.addresses.iter().copied().chain(waiting).map(|address| address.name).collect()
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.reassembly.held_bytes()
    }

    pub(super) fn reassemble(&mut self, packet: &Packet<'_>, policy: &Policy) -> PacketOutcome {
        let named = |address: &&Address| address.name == packet.meter;
        let mut named = self.state.addresses.iter().filter(named).peekable();
        if named.peek().is_none() {
            return PacketOutcome::Rejected(Rejection::UnknownMeter);
        }
        let addresses: Vec<Address> =
            named.filter(|address| address.collector == packet.address).copied().collect();
        if addresses.is_empty() {
            return PacketOutcome::Rejected(Rejection::Address);
        }
        let expected = self.expects(packet.kind, packet.suite, policy);
        if expected == Some(false) {
            return PacketOutcome::Rejected(Rejection::Suite);
        }
        let Some(message) = self.reassembly.take(packet) else { return PacketOutcome::Piece };
        if expected.is_none() {
            self.unexpected = (self.unexpected + 1) % UNEXPECTED_INTERVAL;
            if self.unexpected != 1 {
                return PacketOutcome::Rejected(Rejection::Suite);
            }
        }
        PacketOutcome::Whole(message, addresses)
    }

    /// As [`MeterState::expects`], where the collector does not forbid it.
    fn expects(&self, kind: MessageKind, suite: Suite, policy: &Policy) -> Option<bool> {
        if suite == Suite::None && policy.require_sealed {
            return Some(false);
        }
        self.state.expects(kind, suite)
    }

    /// Takes a message that was opened with this meter's keys. Since it was gathered the meter may
    /// have got another name or suite.
    pub(super) fn accept(
        &mut self,
        message: OpenedMessage,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
    ) -> UplinkOutcome {
        let OpenedMessage { message, address, opened, with_next, .. } = message;
        let Ok(opened) = opened else {
            return UplinkOutcome::Rejected(Rejection::NotAuthentic);
        };
        if !self.state.addresses.contains(&address) {
            return UplinkOutcome::Rejected(Rejection::UnknownMeter);
        }
        if self.expects(message.kind, message.suite, policy) == Some(false) {
            return UplinkOutcome::Rejected(Rejection::Suite);
        }
        if opened.number.is_some_and(|number| number as u8 != message.number_lsb || number == 0) {
            return UplinkOutcome::Rejected(Rejection::Number);
        }
        if with_next {
            self.next_key_shown(now_ms);
        }
        if message.kind == MessageKind::Answer {
            return self.on_answer(opened, message.suite, address, policy, now_ms);
        }
        let report = Report::from_bytes(&opened.plaintext);
        let starts = match &report.content {
            // Without a seal anybody says how often it started.
            Content::Alert(alert) if alert.cause.is_start() && message.suite.rank() > 0 => Some(alert.starts),
            _ => None,
        };
        let (n, suite, plaintext) = (report.n, message.suite, opened.plaintext);
        let of = HandedOut { n, suite, address, plaintext, starts };
        let accepted = ReceivedReport {
            meter: self.state.meter,
            suite,
            report,
            sealed: message.bytes,
            heard_ms: now_ms,
            counter_rollback: false,
        };
        if n <= self.state.last_n {
            return self.on_known_number(accepted, of, own);
        }
        self.on_new_number(accepted, of, policy, now_ms)
    }

    /// A report whose number nobody had before.
    fn on_new_number(
        &mut self,
        mut accepted: ReceivedReport,
        of: HandedOut,
        policy: &Policy,
        now_ms: u64,
    ) -> UplinkOutcome {
        if !self.state.takes(of.suite, of.n) {
            let sealed = of.suite.rank() > 0;
            return if sealed {
                UplinkOutcome::OtherSuite
            } else {
                UplinkOutcome::Rejected(Rejection::Suite)
            };
        }
        if self.handed_out.is_some() {
            return UplinkOutcome::Busy;
        }
        if of.starts.is_some() {
            self.check_update();
        }
        if of.suite == Suite::Aes256GcmRekeyed {
            self.check_key_age(policy, now_ms);
        }
        self.handed_out = Some(of);
        accepted.counter_rollback = of.starts.is_some_and(|starts| self.started_before(starts));
        if policy.set_time && of.n > self.state.time_set_n {
            let advice = self.clock_check.report(&accepted.report, policy, now_ms);
            self.follow(advice);
        }
        UplinkOutcome::Report(Box::new(accepted))
    }

    /// Says if a meter with its count of starts in non-volatile memory cannot have counted this
    /// one. The count goes around at 2^16.
    fn started_before(&self, starts: u16) -> bool {
        let known = self.state.starts;
        starts <= known && known < u16::MAX - 256
    }

    /// A report whose number was taken: the same one, or another, which no meter makes whose memory
    /// is as it left it.
    fn on_known_number(&mut self, accepted: ReceivedReport, of: HandedOut, own: &Identity) -> UplinkOutcome {
        if !self.state.had(of.suite) {
            return UplinkOutcome::Rejected(Rejection::Suite);
        }
        let remembered = self.recent.iter().find(|recent| recent[..4] == of.plaintext[..4]);
        match remembered {
            Some(recent) if *recent == of.plaintext => {
                UplinkOutcome::Duplicate(self.acknowledgement(own, of))
            }
            // Anybody makes these.
            Some(_) if of.suite == Suite::None => UplinkOutcome::Rejected(Rejection::NumberReused),
            Some(_) => UplinkOutcome::NumberReused(Box::new(accepted)),
            None if self.reused == Some(of.plaintext) => UplinkOutcome::NumberReused(Box::new(accepted)),
            None if self.handed_out.is_some() => UplinkOutcome::Busy,
            None => {
                self.handed_out = Some(of);
                UplinkOutcome::OldNumber(Box::new(accepted))
            }
        }
    }

    /// Does something about the meter's time.
    pub(super) fn follow(&mut self, advice: Advice) {
        match advice {
            Advice::Keep => {}
            Advice::Ask => self.queue_first(QueuedCommand::ReadClock),
            Advice::Set => self.queue_first(QueuedCommand::TimeNow),
        }
    }

    fn acknowledgement(&self, own: &Identity, of: HandedOut) -> Transmission {
        let HandedOut { n, suite, address, .. } = of;
        let sealed = self.channel(own).acknowledge(suite, n);
        let packets = packets(address.radio, MessageKind::Acknowledgement, suite, address.name, n, &sealed);
        Transmission { meter: self.state.meter, packets }
    }

    pub(super) fn confirm_report(&mut self, n: u32, own: &Identity) -> Option<Transmission> {
        let stored = self.handed_out.take_if(|handed_out| handed_out.n == n)?;
        if n > self.state.last_n {
            self.state.report_stored(n, stored.suite);
            if let Some(starts) = stored.starts {
                self.state.starts = starts;
                self.state.revision += 1;
            }
        }
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(stored.plaintext);
        Some(self.acknowledgement(own, stored))
    }

    pub(super) fn number_reused(&mut self, n: u32) -> bool {
        let of = self.handed_out.take_if(|handed_out| handed_out.n == n);
        self.reused = of.map(|of| of.plaintext).or(self.reused);
        of.is_some()
    }

    pub(super) fn reject_report(&mut self, n: u32) -> bool {
        self.handed_out.take_if(|handed_out| handed_out.n == n).is_some()
    }
}
