//! The commands to one meter: one at a time, the same bytes until its answer comes.

use super::attempts::{Attempts, Sealed};
use super::clock::{Advice, ClockCheck};
use super::error::CollectorError;
use super::outcome::{CompletedCommand, Due, Transmission, UplinkOutcome};
use super::policy::Policy;
use super::queue::{Delivery, QueuedCommand, UnderWay, Waiting};
use super::rejection::Rejection;
use super::session::Session;
use super::update_state::PiecePacer;
use crate::meter::{
    Address, Answer, Command, CommandResult, Identity, MessageKind, Opened, Status, Suite, packets,
};
use rand_core::CryptoRng;

impl Session {
    pub(super) fn has_commands(&self) -> bool {
        self.state.under_way.is_some() || !self.state.waiting.is_empty()
    }

    pub(super) fn commands(&self) -> Vec<(u32, QueuedCommand, Delivery)> {
        let under_way = self.state.under_way.iter().map(|UnderWay { ticket, order, m, .. }| {
            (*ticket, *order, Delivery::UnderWay { m: *m, attempts: self.attempts.count })
        });
        let waiting =
            self.state.waiting.iter().map(|waiting| (waiting.ticket, waiting.order, Delivery::Waiting));
        under_way.chain(waiting).collect()
    }

    pub(super) fn queue_command(&mut self, order: QueuedCommand, most: usize) -> Result<u32, CollectorError> {
        let state = &mut self.state;
        if state.waiting.len() >= most {
            return Err(CollectorError::QueueFull(state.waiting.len()));
        }
        if state.next_m == u32::MAX {
            return Err(CollectorError::NumbersUsedUp(state.meter));
        }
        let ticket = self.next_ticket();
        self.state.waiting.push_back(Waiting { ticket, order });
        self.names_changed |= order.address().is_some();
        // A meter that seals otherwise than is known answers nothing but this, which must not wait
        // for an answer to the rest.
        if order.suite().is_some()
            && let Some(own) = self.state.under_way.take_if(|under_way| under_way.order.is_about_time())
        {
            self.state.waiting.push_back(own.again());
        }
        Ok(ticket)
    }

    /// Before all others; not a second time.
    pub(super) fn queue_first(&mut self, order: QueuedCommand) {
        let under_way = self.state.under_way.map(|under_way| under_way.order);
        let mut waiting = self.state.waiting.iter().map(|waiting| waiting.order);
        // A time that is being set need not be looked at.
        let same = |other: QueuedCommand| {
            other == order || other == QueuedCommand::TimeNow && order == QueuedCommand::ReadClock
        };
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

    pub(super) fn withdraw(&mut self, ticket: u32, policy: &Policy) -> bool {
        let state = &mut self.state;
        if let Some(under_way) = state.under_way.take_if(|under_way| under_way.ticket == ticket) {
            state.revision += 1;
            if under_way.brought && self.attempts.sent.is_empty() && !self.attempts.resumed {
                state.untell(under_way.order.suite(), under_way.order.address());
                self.names_changed = true;
            }
            // One that was sent may be carried out until the meter has kept the number of a later
            // one.
            self.close_open_orders(policy);
            return true;
        }
        let Some(at) = state.waiting.iter().position(|waiting| waiting.ticket == ticket) else {
            return false;
        };
        state.waiting.remove(at);
        state.revision += 1;
        self.names_changed = true;
        true
    }

    pub(super) fn confirm_state(&mut self, revision: u64) {
        self.attempts.saved |= revision >= self.state.revision;
    }

    pub(super) fn next_due_ms(&self, pacer: &PiecePacer) -> Option<u64> {
        let sent = self.state.under_way.is_some() && self.attempts.saved;
        let command = self.attempts.number_at_ms.unwrap_or(if sent { self.attempts.next_ms } else { 0 });
        let command = self.has_commands().then_some(command);
        [command, self.renewal_due_ms(), self.update_due_ms(pacer)].into_iter().flatten().min()
    }

    pub(super) fn due(
        &mut self,
        own: &Identity,
        policy: &Policy,
        pacer: &mut PiecePacer,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Due> {
        if let Some(keys) = self.keys_due() {
            return Some(keys);
        }
        self.queue_renewal_command(now_ms);
        self.queue_update_command(pacer, now_ms);
        if let Some(due) = self.command_due(own, policy, now_ms, rng) {
            return Some(due);
        }
        let renewal = self.renewal_due(own, policy, now_ms, rng);
        renewal.or_else(|| self.piece_due(own, policy, pacer, now_ms, rng)).map(Due::Send)
    }

    fn command_due(
        &mut self,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Due> {
        match self.state.under_way {
            None => {
                let Waiting { ticket, order } = *self.state.waiting.front()?;
                let m = self.number(now_ms)?;
                self.state.waiting.pop_front();
                self.attempts = Attempts::default();
                let brought = self.expect(order);
                self.put_under_way(UnderWay { ticket, order, m, brought });
            }
            Some(under_way) if self.attempts.saved => {
                // A clock that was set back does not hold a command up for longer than it would
                // have waited.
                let longest_ms = policy.answer_within_ms.iter().max().map_or(0, |longest| 96 * longest);
                if (now_ms..=now_ms + longest_ms).contains(&self.attempts.next_ms)
                    && now_ms != self.attempts.next_ms
                {
                    return None;
                }
                if under_way.order == QueuedCommand::TimeNow && self.attempts.sent_as(under_way.m).is_some() {
                    let m = self.number(now_ms)?;
                    self.put_under_way(UnderWay { m, ..under_way });
                }
            }
            Some(_) => {}
        }
        if !self.attempts.saved {
            return Some(Due::Save(Box::new(self.state.clone())));
        }
        self.send(own, policy, now_ms, rng).map(Due::Send)
    }

    /// The keys are others: what was sealed is sealed anew. In another epoch that is no second
    /// message under one nonce.
    pub(super) fn forget_sealed(&mut self) {
        self.attempts.sealed.clear();
    }

    /// A number that no command had; `None` while there is none.
    fn number(&mut self, now_ms: u64) -> Option<u32> {
        let taken = self.state.take_m(now_ms);
        self.attempts.number_at_ms = taken.err();
        taken.ok()
    }

    /// A command has a number that none had, which is to be saved.
    fn put_under_way(&mut self, under_way: UnderWay) {
        self.state.under_way = Some(under_way);
        self.state.revision += 1;
        self.attempts.saved = false;
        self.attempts.sealed.clear();
    }

    /// Makes room for what a command may change. Returns whether it may change anything.
    fn expect(&mut self, order: QueuedCommand) -> bool {
        let suite = order.suite().is_some_and(|suite| self.state.tell_suite(suite));
        let address = order.address().is_some_and(|address| self.state.tell_address(address));
        self.names_changed |= address;
        suite || address
    }

    fn send(
        &mut self,
        own: &Identity,
        policy: &Policy,
        now_ms: u64,
        rng: &mut impl CryptoRng,
    ) -> Option<Transmission> {
        let UnderWay { order, m, .. } = self.state.under_way?;
        let command = self.attempts.sent_as(m).unwrap_or_else(|| order.command(now_ms));
        self.attempts.remember(m, command);
        let (suites, addresses) = (self.state.suites(), self.state.addresses());
        let (turn, ways) = (self.attempts.count as usize, suites.len() * addresses.len());
        let address = addresses[turn / suites.len() % addresses.len()];
        let suite = suites[turn % suites.len()];
        // While the meter may have either key, commands go out with both by turns, with the next
        // one first.
        let mut ways = ways;
        let mut advanced = None;
        if suite == Suite::Aes256GcmRekeyed && self.record.keys.has_next() {
            advanced = self.record.keys.next_epoch().filter(|_| turn / ways % 2 == 0);
            ways *= 2;
        }
        let with_next = advanced.is_some();
        let known = (self.attempts.sealed.iter())
            .find(|known| (known.suite, known.address, known.with_next) == (suite, address, with_next));
        let mut packets = if let Some(known) = known {
            known.packets.clone()
        } else {
            let mut channel = self.channel(own);
            channel.keys = advanced.as_ref().unwrap_or(channel.keys);
            let sealed = channel.seal(MessageKind::Command, suite, m, &command.to_bytes(m), rng);
            let packets = packets(address.radio, MessageKind::Command, suite, address.name, m, &sealed);
            self.attempts.sealed.push(Sealed { suite, address, with_next, packets: packets.clone() });
            packets
        };
        // Each attempt begins with another piece: docs/reference/protocol.md, "Acknowledgement, resending,
        // order".
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

    /// An answer of a meter that is at this address, sealed so.
    pub(super) fn on_answer(
        &mut self,
        opened: Opened,
        suite: Suite,
        address: Address,
        policy: &Policy,
        now_ms: u64,
    ) -> UplinkOutcome {
        let answer = Answer::from_bytes(&opened.plaintext);
        let (Some(under_way), Some(command)) = (self.state.under_way, self.attempts.sent_as(answer.m)) else {
            return UplinkOutcome::Rejected(Rejection::NoCommand);
        };
        // The answer to a configure is always sealed.
        if suite == Suite::None && under_way.order.suite().is_some() {
            return UplinkOutcome::Rejected(Rejection::Suite);
        }
        // Its last number is that of a later attempt: somebody plays an earlier one again, and the
        // answer to the later one is to come.
        let is_later = |last_m: u32| last_m != answer.m && self.attempts.sent_as(last_m).is_some();
        if answer.last_m().is_some_and(is_later) {
            return UplinkOutcome::Rejected(Rejection::NoCommand);
        }
        self.state.revision += 1;
        self.learn(under_way, command, &answer, (suite, address), opened.number);
        if let Some(last_m) = answer.last_m()
            && opened.number.is_some()
            && self.number_above(last_m)
        {
            // Numbered anew, as one that was never sent.
            self.state.under_way = None;
            self.state.waiting.push_front(under_way.again());
            return UplinkOutcome::NumberTooLow { meter: self.state.meter, last_m };
        }
        self.state.under_way = None;
        let done = answer.outcome == CommandResult::Done;
        if command == Command::RenewKey && !done {
            self.renewal_refused();
        }
        if suite == Suite::Aes256GcmRekeyed {
            if command == Command::RenewKey && done {
                self.renewal_begun(answer.m);
            } else if self.record.keys.has_next() {
                let asked = command == Command::ReadStatus { page: 0 };
                let status = answer.status(0).filter(|_| asked);
                let waits = matches!(status, Some(Status::Settings { waiting: 1.., .. }));
                self.next_key_not_taken(waits, now_ms);
            }
        }
        self.update_answered(command, &answer, now_ms);
        if let Command::SetTime { .. } = command {
            if done {
                self.state.time_set_n = opened.number.unwrap_or(self.state.last_n);
            } else {
                self.clock_check.refused(policy, now_ms);
            }
        }
        if policy.set_time
            && command == (Command::ReadStatus { page: 0 })
            && let Some(Status::Settings { time_s, .. }) = answer.status(0)
            && ClockCheck::status(time_s, self.attempts.first_ms, now_ms) == Advice::Set
        {
            self.follow(Advice::Set);
        }
        self.close_open_orders(policy);
        UplinkOutcome::Answer(Box::new(CompletedCommand {
            meter: self.state.meter,
            ticket: under_way.ticket,
            command,
            answer,
        }))
    }

    /// The meter's last number is this. Returns whether there are numbers above it.
    fn number_above(&mut self, last_m: u32) -> bool {
        self.state.number_commands_from(last_m.saturating_add(1));
        self.state.next_m < u32::MAX
    }

    /// Learns the meter's suite and address from an answer. n: of one that is sealed.
    fn learn(
        &mut self,
        under_way: UnderWay,
        command: Command,
        answer: &Answer,
        (suite, address): (Suite, Address),
        n: Option<u32>,
    ) {
        let UnderWay { order, brought, .. } = under_way;
        let done = answer.outcome == CommandResult::Done;
        // A meter does not keep the number of a question.
        let kept = done && !matches!(command, Command::ReadStatus { .. });
        self.names_changed = true;
        let Some(n) = n else {
            // Not sealed: its word is taken, as all else of this meter's is.
            let address = order.address().filter(|_| done).unwrap_or(address);
            self.state.answered(Some(Suite::None), address, self.state.last_n);
            if kept {
                self.state.settle();
            }
            return;
        };
        let suite = match order.suite() {
            Some(told) if done => Some(told),
            // A meter with `none` answers a configure like that, too.
            Some(_) if suite == Suite::Aes128Gcm && self.state.suites().contains(&Suite::None) => None,
            _ => Some(suite),
        };
        self.state.answered(suite, address, n);
        if kept {
            self.state.settle();
        } else if brought && !done && answer.outcome != CommandResult::NumberTooLow {
            self.state.untell(order.suite(), order.address());
        }
    }
}
