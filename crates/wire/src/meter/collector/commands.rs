//! The commands to one meter: one at a time, the same bytes until its answer comes.

use super::clock::{Advice, Watch};
use super::session::{MeterState, Place, Session};
use super::{Answered, CollectorError, Due, Heard, Policy, Refusal, Transmission};
use crate::meter::{Answer, Command, Identity, Kind, MeterId, Opened, Outcome, Status, Suite, packets};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

/// What is to be commanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// This.
    Command(Command),
    /// To set the time to what it is when the command is sent: each attempt is a new command.
    TimeNow,
    /// To say what time it has: the collector's own, as [`Order::TimeNow`] may be.
    LookAtTime,
}

impl Order {
    /// The name that the meter is to get.
    pub(super) fn name(self) -> Option<MeterId> {
        match self {
            Order::Command(Command::Register { meter, .. }) => Some(meter),
            _ => None,
        }
    }

    fn command(self, now_ms: u64) -> Command {
        match self {
            Order::Command(command) => command,
            Order::TimeNow => Command::SetTime { time_s: (now_ms / 1000) as u32 },
            Order::LookAtTime => Command::ReadStatus { page: 0 },
        }
    }
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Others are before it.
    Waiting,
    /// It has a number, and was sent so often.
    UnderWay {
        /// The number.
        m: u32,
        /// How often it was sent.
        attempts: u32,
    },
}

/// A command that others are before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    ticket: u32,
    pub(super) order: Order,
}

/// A command that has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnderWay {
    ticket: u32,
    order: Order,
    m: u32,
    /// It brought a suite, or a place, that goes again where the meter does not do it.
    brought: bool,
}

impl UnderWay {
    /// As before it had a number.
    pub(super) fn again(self) -> Waiting {
        Waiting { ticket: self.ticket, order: self.order }
    }
}

/// What is known of a command under way that need not survive the collector.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Its number is durable.
    saved: bool,
    /// Sent with the number that it has now.
    sent: bool,
    count: u32,
    /// The first number that it had, of those that were sent.
    first_m: u32,
    first_ms: u64,
    next_ms: u64,
    /// As it was sent last.
    command: Option<Command>,
    /// As sent, in each way that the meter may understand.
    sealed: Vec<Sealed>,
}

/// A command, in a way that the meter may understand.
#[derive(Debug)]
struct Sealed {
    suite: Suite,
    place: Place,
    packets: Vec<Vec<u8>>,
}

impl Attempts {
    /// After a start of the collector, of a state that was durable.
    pub(super) fn resumed(state: &mut MeterState) -> Attempts {
        // What number a time was sent with is not known any more: it needs another.
        if let Some(time) = state.under_way.take_if(|under_way| under_way.order == Order::TimeNow) {
            state.waiting.push_front(time.again());
        }
        let first_m = state.under_way.map_or(0, |under_way| under_way.m);
        Attempts { saved: true, first_m, ..Attempts::default() }
    }
}

impl Session {
    pub(super) fn has_commands(&self) -> bool {
        self.state.under_way.is_some() || !self.state.waiting.is_empty()
    }

    pub(super) fn commands(&self) -> Vec<(u32, Order, Delivery)> {
        let under_way = self.state.under_way.iter().map(|UnderWay { ticket, order, m, .. }| {
            (*ticket, *order, Delivery::UnderWay { m: *m, attempts: self.attempts.count })
        });
        let waiting =
            self.state.waiting.iter().map(|waiting| (waiting.ticket, waiting.order, Delivery::Waiting));
        under_way.chain(waiting).collect()
    }

    pub(super) fn order(&mut self, order: Order, most: usize) -> Result<u32, CollectorError> {
        let state = &mut self.state;
        if state.waiting.len() >= most {
            return Err(CollectorError::QueueFull(state.waiting.len()));
        }
        if state.next_m == u32::MAX {
            return Err(CollectorError::NumbersUsedUp(state.meter));
        }
        let ticket = self.next_ticket();
        self.state.waiting.push_back(Waiting { ticket, order });
        self.names_changed |= order.name().is_some();
        Ok(ticket)
    }

    /// Before all others; not a second time.
    pub(super) fn order_first(&mut self, order: Order) {
        let under_way = self.state.under_way.map(|under_way| under_way.order);
        let mut waiting = self.state.waiting.iter().map(|waiting| waiting.order);
        // A time that is being set need not be looked at.
        let same = |other: Order| other == order || other == Order::TimeNow && order == Order::LookAtTime;
        if under_way.is_some_and(same) || waiting.any(same) || self.state.next_m == u32::MAX {
            return;
        }
        let ticket = self.next_ticket();
        self.state.waiting.push_front(Waiting { ticket, order });
    }

    fn next_ticket(&mut self) -> u32 {
        let ticket = self.state.next_ticket;
        self.state.next_ticket = ticket.wrapping_add(1);
        self.state.revision += 1;
        ticket
    }

    pub(super) fn withdraw(&mut self, ticket: u32) -> bool {
        let state = &mut self.state;
        if state.under_way.is_some_and(|under_way| under_way.ticket == ticket) {
            // What it brought stays: the meter may have taken it.
            state.under_way = None;
        } else if let Some(at) = state.waiting.iter().position(|waiting| waiting.ticket == ticket) {
            state.waiting.remove(at);
            self.names_changed = true;
        } else {
            return false;
        }
        self.state.revision += 1;
        true
    }

    pub(super) fn saved(&mut self, revision: u64) {
        self.attempts.saved |= revision >= self.state.revision;
    }

    pub(super) fn next_due_ms(&self) -> Option<u64> {
        if !self.has_commands() {
            return None;
        }
        let sent = self.state.under_way.is_some() && self.attempts.saved;
        Some(if sent { self.attempts.next_ms } else { 0 })
    }

    pub(super) fn due(
        &mut self,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Due> {
        match self.state.under_way {
            None => {
                let Waiting { ticket, order } = self.state.waiting.pop_front()?;
                self.attempts = Attempts { first_m: self.state.next_m, ..Attempts::default() };
                let brought = self.expect(order);
                self.number(UnderWay { ticket, order, m: 0, brought });
            }
            Some(under_way) if self.attempts.saved => {
                // A clock that was set back does not hold a command up for longer than it would have waited.
                let longest_ms = policy.answer_within_ms.iter().max().map_or(0, |longest| 96 * longest);
                if (now_ms..=now_ms + longest_ms).contains(&self.attempts.next_ms)
                    && now_ms != self.attempts.next_ms
                {
                    return None;
                }
                if under_way.order == Order::TimeNow && self.attempts.sent {
                    self.number(under_way);
                }
            }
            Some(_) => {}
        }
        if !self.attempts.saved {
            return Some(Due::Save(Box::new(self.state.clone())));
        }
        self.send(own, policy, now_ms, rng).map(Due::Send)
    }

    /// Gives a command a number that none had.
    fn number(&mut self, under_way: UnderWay) {
        let m = self.state.next_m;
        self.state.under_way = Some(UnderWay { m, ..under_way });
        self.state.next_m = m.saturating_add(1);
        self.state.revision += 1;
        (self.attempts.saved, self.attempts.sent) = (false, false);
        self.attempts.sealed.clear();
    }

    /// Makes room for what a command may change. Returns whether it may change anything.
    fn expect(&mut self, order: Order) -> bool {
        match order {
            Order::Command(Command::Configure { suite, .. }) => self.state.tell_suite(suite),
            Order::Command(Command::Register { meter: name, address, collector_address }) => {
                let place = Place { name, address, collector_address };
                self.names_changed = true;
                self.state.tell_place(place)
            }
            _ => false,
        }
    }

    fn send(
        &mut self,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Transmission> {
        let UnderWay { order, m, .. } = self.state.under_way?;
        let command = self.attempts.command.filter(|_| self.attempts.sent);
        let command = command.unwrap_or_else(|| order.command(now_ms));
        (self.attempts.command, self.attempts.sent) = (Some(command), true);
        let state = &self.state;
        let suites = &state.suites[state.earliest_suite..];
        let turn = self.attempts.count as usize;
        let place = state.places[turn / suites.len() % state.places.len()];
        let suite = suites[turn % suites.len()];
        let known = self.attempts.sealed.iter().find(|known| (known.suite, known.place) == (suite, place));
        let mut packets = if let Some(known) = known {
            known.packets.clone()
        } else {
            let sealed = self.channel(own).seal(Kind::Command, suite, m, &command.to_bytes(m), rng);
            let packets = packets(place.address, Kind::Command, suite, place.name, m, &sealed);
            self.attempts.sealed.push(Sealed { suite, place, packets: packets.clone() });
            packets
        };
        // Each attempt begins with another piece: docs/protocol.md, "Acknowledgement, resending, order".
        let ways = suites.len() * state.places.len();
        let pieces = packets.len();
        packets.rotate_left(turn / ways % pieces);
        let wait_ms = policy.answer_within_ms[usize::from(suite.code())].max(1) << self.attempts.count.min(6);
        if self.attempts.count == 0 {
            self.attempts.first_ms = now_ms;
        }
        self.attempts.count = self.attempts.count.saturating_add(1);
        self.attempts.next_ms =
            now_ms + wait_ms + u64::from(rng.next_u32()) * (wait_ms / 2) / u64::from(u32::MAX);
        Some(Transmission { meter: self.state.meter, packets })
    }

    pub(super) fn answered(&mut self, opened: Opened, policy: &Policy, now_ms: u64) -> Heard {
        let answer = Answer::from_bytes(&opened.plaintext);
        let (Some(under_way), Some(command)) = (self.state.under_way, self.attempts.command) else {
            return Heard::Refused(Refusal::NoCommand);
        };
        if !(self.attempts.first_m..=under_way.m).contains(&answer.m) {
            return Heard::Refused(Refusal::NoCommand);
        }
        self.state.under_way = None;
        self.state.revision += 1;
        self.learn(command, &answer, opened.number, under_way.brought);
        if let Command::SetTime { .. } = command {
            if answer.outcome == Outcome::Done {
                self.state.time_set_n = opened.number.unwrap_or(self.state.last_n);
            } else {
                self.watch.refused(policy, now_ms);
            }
        }
        if policy.set_time
            && command == (Command::ReadStatus { page: 0 })
            && let Some(Status::Settings { time_s, .. }) = answer.status(0)
            && Watch::status(time_s, self.attempts.first_ms, now_ms) == Advice::Set
        {
            self.follow(Advice::Set);
        }
        Heard::Answer(Box::new(Answered {
            meter: self.state.meter,
            ticket: under_way.ticket,
            command,
            answer,
        }))
    }

    /// What an answer says of the meter's suite and place.
    fn learn(&mut self, command: Command, answer: &Answer, n: Option<u32>, brought: bool) {
        let state = &mut self.state;
        match command {
            Command::Configure { .. } if answer.outcome == Outcome::Done => {
                state.earliest_suite = state.suites.len() - 1;
                state.settled_n = n;
            }
            Command::Configure { .. } if brought => {
                state.suites.pop();
            }
            Command::Register { meter: name, address, collector_address } => {
                let place = Place { name, address, collector_address };
                if answer.outcome == Outcome::Done {
                    state.places = vec![place];
                } else if brought {
                    state.places.retain(|known| *known != place);
                }
                self.names_changed = true;
            }
            _ => {}
        }
    }
}
