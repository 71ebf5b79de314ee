//! What a collector knows of one meter, and what it does with its packets.

use super::clock::{Advice, Watch};
use super::commands::{Attempts, Order, UnderWay, Waiting};
use super::{Accepted, Counters, Heard, OpenedMessage, Policy, Refusal, Transmission};
use crate::meter::{
    Channel, Identity, Kind, Message, MeterId, MeterRecord, Packet, Reassembly, Report, Suite, packets,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// So many suites and places are remembered at most while changes are under way, or were withdrawn.
const MOST_WAYS: usize = 8;

/// Where a meter is on the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its name in packets.
    pub name: MeterId,
    /// Its radio address.
    pub address: u8,
    /// The collector's radio address.
    pub collector_address: u8,
}

/// What a collector has to keep of a meter beside its [`MeterRecord`]. There is no secret in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterState {
    /// The meter, as it was provisioned.
    pub meter: MeterId,
    /// Higher after each change but that of `last_n`.
    pub revision: u64,
    /// The number of the last report that is stored; 0 for none.
    pub last_n: u32,
    /// The number of the next command.
    pub(super) next_m: u32,
    pub(super) next_ticket: u32,
    /// How reports may be sealed; the last is what the meter was told last.
    pub(super) suites: Vec<Suite>,
    /// The first of them that the meter may have now: commands are tried with it and those behind it.
    pub(super) earliest_suite: usize,
    /// How reports were sealed before: a meter whose power failed may send one again that is stored long since.
    #[serde(default)]
    past_suites: Vec<Suite>,
    /// Reports above this have the last of the suites; `None` while that is not known.
    pub(super) settled_n: Option<u32>,
    /// Where the meter may be.
    pub(super) places: Vec<Place>,
    /// Reports above this were made after the time was set last.
    pub(super) time_set_n: u32,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) under_way: Option<UnderWay>,
}

impl MeterState {
    /// Of a meter that was just provisioned.
    #[must_use]
    pub fn new(record: &MeterRecord) -> MeterState {
        let setup = &record.setup;
        let place =
            Place { name: setup.meter, address: setup.address, collector_address: setup.collector_address };
        MeterState {
            meter: setup.meter,
            revision: 0,
            last_n: 0,
            next_m: 1,
            next_ticket: 1,
            suites: vec![setup.suite],
            earliest_suite: 0,
            past_suites: Vec::new(),
            settled_n: None,
            places: vec![place],
            time_set_n: 0,
            waiting: VecDeque::new(),
            under_way: None,
        }
    }

    /// The suites that are accepted of the meter: one, or while a change is under way the old one and the next.
    #[must_use]
    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    /// Where the meter may be: one place, or while a command to register is under way the old one and the next.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// After it was read from a copy that may not be the last one: leaves out so many numbers of commands, which may have been used
    /// since the copy was made. A number that comes twice would tell what it is sealed for, and the meter would not do it.
    pub fn leave_out_commands(&mut self, count: u32) {
        if let Some(waiting) = self.under_way.take().map(|under_way| under_way.again()) {
            self.waiting.push_front(waiting);
        }
        self.next_m = self.next_m.saturating_add(count);
        self.revision += 1;
    }

    /// Whether it is one that a collector keeps.
    pub(super) fn is_whole(&self) -> bool {
        let counts = [self.suites.len(), self.places.len()];
        self.earliest_suite < self.suites.len() && counts.iter().all(|count| (1..=MOST_WAYS).contains(count))
    }

    /// The meter is to be told of a place: it may be there from now on. Returns whether that is new.
    pub(super) fn tell_place(&mut self, place: Place) -> bool {
        let new = !self.places.contains(&place);
        if new {
            if self.places.len() == MOST_WAYS {
                self.places.remove(0);
            }
            self.places.push(place);
        }
        new
    }

    /// The meter is to be told of a suite: it may have it from now on. Returns whether that is new.
    pub(super) fn tell_suite(&mut self, suite: Suite) -> bool {
        if self.suites.last() == Some(&suite) {
            return false;
        }
        if self.suites.len() == MOST_WAYS {
            self.forget_suites(1);
        }
        self.suites.push(suite);
        self.settled_n = None;
        true
    }

    pub(super) fn forget_suites(&mut self, count: usize) {
        for suite in self.suites.drain(..count) {
            if !self.past_suites.contains(&suite) {
                self.past_suites.push(suite);
            }
        }
        self.earliest_suite = self.earliest_suite.saturating_sub(count);
    }

    /// A report of this number, sealed so, is stored.
    fn report_stored(&mut self, n: u32, suite: Suite, name: MeterId) -> bool {
        self.last_n = n;
        if self.settled_n.is_some_and(|settled| n > settled) {
            self.forget_suites(self.suites.len() - 1);
        } else if let Some(place) = self.suites.iter().position(|known| *known == suite) {
            // Reports come in order: what was sealed otherwise before is all here.
            self.forget_suites(place);
        }
        let place = self.places.iter().position(|place| place.name == name).unwrap_or(0);
        self.places.drain(..place);
        place > 0
    }
}

/// A report that the owner is storing.
#[derive(Clone, Copy, Debug)]
struct HandedOut {
    n: u32,
    suite: Suite,
    place: Place,
}

/// What came of a packet in a meter's name.
pub(super) enum Gathering {
    Refused(Refusal),
    Piece,
    /// A message is whole, and came from here.
    Whole(Message, Place),
}

/// One meter.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) record: Arc<MeterRecord>,
    pub(super) state: MeterState,
    pub(super) counters: Counters,
    pub(super) names_changed: bool,
    pub(super) watch: Watch,
    pub(super) attempts: Attempts,
    reassembly: Reassembly,
    handed_out: Option<HandedOut>,
}

impl Session {
    pub(super) fn new(record: MeterRecord, mut state: MeterState) -> Session {
        let attempts = Attempts::resumed(&mut state);
        Session {
            record: Arc::new(record),
            state,
            counters: Counters::default(),
            names_changed: true,
            watch: Watch::default(),
            attempts,
            reassembly: Reassembly::default(),
            handed_out: None,
        }
    }

    pub(super) fn channel<'a>(&'a self, own: &'a Identity) -> Channel<'a> {
        Channel { meter: self.state.meter, keys: &self.record.keys, own, peer: &self.record.public }
    }

    /// The names that are this meter's, or are to be.
    pub(super) fn names(&self) -> Vec<MeterId> {
        let waiting = self.state.waiting.iter().filter_map(|waiting| waiting.order.name());
        self.state.places.iter().map(|place| place.name).chain(waiting).collect()
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.reassembly.held_bytes()
    }

    pub(super) fn gather(&mut self, packet: &Packet<'_>) -> Gathering {
        let mut places = self.state.places.iter().filter(|place| place.name == packet.meter).peekable();
        if places.peek().is_none() {
            return Gathering::Refused(Refusal::UnknownMeter);
        }
        let Some(place) = places.find(|place| place.collector_address == packet.address).copied() else {
            return Gathering::Refused(Refusal::Address);
        };
        if !self.knows_suite(packet.kind, packet.suite) {
            return Gathering::Refused(Refusal::Suite);
        }
        match self.reassembly.take(packet) {
            Some(message) => Gathering::Whole(message, place),
            None => Gathering::Piece,
        }
    }

    /// Whether the meter seals like that, or did once, where it is about a report.
    fn knows_suite(&self, kind: Kind, suite: Suite) -> bool {
        self.state.suites.contains(&suite) || kind == Kind::Report && self.state.past_suites.contains(&suite)
    }

    /// Takes a message that was opened with this meter's keys. Since it was gathered the meter may have got another name or suite.
    pub(super) fn take(
        &mut self,
        message: OpenedMessage,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
    ) -> Heard {
        let OpenedMessage { message, place, opened, .. } = message;
        let Ok(opened) = opened else {
            return Heard::Refused(Refusal::NotAuthentic);
        };
        if !self.state.places.contains(&place) {
            return Heard::Refused(Refusal::UnknownMeter);
        }
        if !self.knows_suite(message.kind, message.suite) {
            return Heard::Refused(Refusal::Suite);
        }
        if opened.number.is_some_and(|number| number as u8 != message.low || number == 0) {
            return Heard::Refused(Refusal::Number);
        }
        if message.kind == Kind::Answer {
            return self.answered(opened, policy, now_ms);
        }
        self.reported(Report::from_bytes(&opened.plaintext), message, place, (own, policy), now_ms)
    }

    fn reported(
        &mut self,
        report: Report,
        message: Message,
        place: Place,
        (own, policy): (&Identity, &Policy),
        now_ms: u64,
    ) -> Heard {
        let (n, suite) = (report.n, message.suite);
        if n <= self.state.last_n {
            return Heard::Again(self.acknowledgement(own, HandedOut { n, suite, place }));
        }
        let settled = self.state.settled_n.is_some_and(|settled| n > settled);
        let last = self.state.suites.last() == Some(&suite);
        if settled && !last || !self.state.suites.contains(&suite) {
            return Heard::Refused(Refusal::Suite);
        }
        if self.handed_out.is_some() {
            return Heard::Busy;
        }
        self.handed_out = Some(HandedOut { n, suite, place });
        if policy.set_time && n > self.state.time_set_n {
            let advice = self.watch.report(&report, policy, now_ms);
            self.follow(advice);
        }
        let meter = self.state.meter;
        Heard::Report(Box::new(Accepted { meter, suite, report, sealed: message.bytes, heard_ms: now_ms }))
    }

    /// Does something about the meter's time.
    pub(super) fn follow(&mut self, advice: Advice) {
        match advice {
            Advice::Leave => {}
            Advice::Ask => self.order_first(Order::LookAtTime),
            Advice::Set => self.order_first(Order::TimeNow),
        }
    }

    fn acknowledgement(&self, own: &Identity, of: HandedOut) -> Transmission {
        let HandedOut { n, suite, place } = of;
        let sealed = self.channel(own).acknowledge(suite, n);
        let packets = packets(place.address, Kind::Acknowledgement, suite, place.name, n, &sealed);
        Transmission { meter: self.state.meter, packets }
    }

    pub(super) fn stored(&mut self, n: u32, own: &Identity) -> Option<Transmission> {
        let stored = self.handed_out.filter(|handed_out| handed_out.n == n)?;
        self.handed_out = None;
        self.names_changed |= self.state.report_stored(n, stored.suite, stored.place.name);
        Some(self.acknowledgement(own, stored))
    }

    pub(super) fn not_stored(&mut self, n: u32) -> bool {
        let was = self.handed_out.is_some_and(|handed_out| handed_out.n == n);
        if was {
            self.handed_out = None;
        }
        was
    }
}
