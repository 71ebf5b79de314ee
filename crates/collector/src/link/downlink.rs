//! Packets to meters: commands when they are due, their answers, and acknowledgements.

use super::pending::PendingCommit;
use super::state::{Link, since_2000_ms};
use crate::clock;
use crate::event::CommandState;
use crate::gateway::Route;
use crate::store::CommandProgress;
use wire::meter::{
    Command, CommandResult, CompletedCommand, Delivery, Due, MeterId, QueuedCommand, Transmission,
};

impl Link {
    /// Does what is to be done by now, of meters that can be reached.
    pub(super) fn send_due(&mut self) {
        let now_ms = since_2000_ms(self.now_ms);
        if !self.check_due && self.next_due_ms.is_none_or(|due_ms| now_ms < due_ms) {
            return;
        }
        self.check_due = false;
        let reached =
            |meter: &MeterId| self.meters.get(meter).is_some_and(|known| known.activity().route.is_some());
        let mut reached: Vec<MeterId> = self.collector.busy().filter(reached).collect();
        // By turns: of pieces of images one is sent at a time, to all meters together.
        let next = reached.partition_point(|meter| *meter <= self.sent_last);
        reached.rotate_left(next);
        self.next_due_ms = None;
        for meter in reached {
            match self.collector.due_of(meter, now_ms, &mut self.rng) {
                Some(Due::Save(state)) => self.save(meter, state.revision),
                Some(Due::SaveKeys(record)) => self.keep_keys(record),
                Some(Due::Send(sent)) => {
                    self.sent_last = meter;
                    let route = self.meters.get(&meter).and_then(|known| known.activity().route);
                    if let Some(route) = route {
                        self.transmit(route, &sent);
                    }
                    self.sent(meter);
                }
                None => {}
            }
            if let Some(due_ms) = self.next_due_ms_of(meter, now_ms) {
                self.next_due_ms = Some(self.next_due_ms.map_or(due_ms, |next| next.min(due_ms)));
            }
        }
    }

    fn next_due_ms_of(&self, meter: MeterId, now_ms: u64) -> Option<u64> {
        let known = self.meters.get(&meter)?.activity();
        // A state that is being stored comes back by itself.
        if known.saving.is_some() || known.keys.is_asked {
            return None;
        }
        let wait = known.keys.again_at.map(|at| at.saturating_duration_since(clock::now()));
        match wait.filter(|wait| !wait.is_zero()) {
            Some(wait) => Some(now_ms + 1 + wait.as_millis() as u64),
            None => self.collector.next_due_ms_of(meter),
        }
    }

    fn save(&mut self, meter: MeterId, revision: u64) {
        let saving = self.meters.get(&meter).and_then(|known| known.activity().saving);
        if saving.is_none_or(|saving| saving < revision) {
            self.store_state(meter);
        }
    }

    /// The command that is under way was sent.
    fn sent(&mut self, meter: MeterId) {
        let Some((ticket, _, Delivery::UnderWay { .. })) = self.collector.commands(meter).first().copied()
        else {
            return;
        };
        let known = self.meters.get_mut(&meter);
        let Some(named) = known.and_then(|known| known.active().commands.get_mut(&ticket)) else { return };
        named.attempts += 1;
        let progress = CommandProgress {
            id: named.id,
            state: CommandState::Sent,
            attempts: named.attempts,
            at_ms: self.now_ms,
            answer: None,
        };
        self.store(PendingCommit::Progress { progress, answer: None });
    }

    pub(super) fn on_answer(&mut self, answered: CompletedCommand) {
        let CompletedCommand { meter, ticket, command, answer } = answered;
        self.counted.answers += 1;
        self.check_due = true;
        let done = answer.outcome == CommandResult::Done;
        let known = self.meters.get_mut(&meter);
        let named = known.and_then(|known| {
            if let (true, Command::Configure { interval_s, .. }) = (done, command) {
                known.interval_s = interval_s;
            }
            known.active().commands.remove(&ticket)
        });
        if let Some(named) = named {
            let progress = CommandProgress {
                id: named.id,
                state: if done { CommandState::Done } else { CommandState::Refused },
                attempts: named.attempts,
                at_ms: self.now_ms,
                answer: Some(answer),
            };
            self.store(PendingCommit::Progress { progress, answer: None });
        }
        if let (true, Command::Configure { interval_s, .. }) = (done, command) {
            self.store(PendingCommit::Interval { meter, interval_s });
        }
        self.store_state(meter);
    }

    /// No meter is told a time that cannot be right.
    pub(super) fn withdraw_times(&mut self) {
        let busy: Vec<MeterId> = self.collector.busy().collect();
        for meter in busy {
            for (ticket, order, _) in self.collector.commands(meter) {
                if order == QueuedCommand::TimeNow && self.collector.withdraw(meter, ticket).is_ok() {
                    self.withdrawn(meter, Some(ticket), None);
                    self.store_state(meter);
                }
            }
        }
    }

    /// Sends packets, while the lease holds.
    pub(super) fn transmit(&mut self, route: Route, sent: &Transmission) {
        if self.fence.as_ref().is_some_and(|fence| !fence.holds()) {
            return self.fenced();
        }
        self.counted.sent_packets += sent.packets.len() as u64;
        self.gateways.transmit(route, &sent.packets);
    }
}
