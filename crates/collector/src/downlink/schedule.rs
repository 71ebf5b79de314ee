//! The schedule of packets to meters: one at a time, by turns.

use super::commands::on_sent;
use super::key_renewal::KeyRenewal;
use crate::clock;
use crate::meters::{PartitionState, since_2000_ms};
use rand::rngs::StdRng;
use std::time::Duration;
use wire::meter::{Due, MeterId};

/// The schedule of packets to meters.
pub(super) struct Schedule {
    /// Spreads attempts, and makes ephemeral keys.
    rng: StdRng,
    /// The meter that a command or a piece was sent to last: the others have their turns.
    sent_last: MeterId,
    /// When a command is to be sent next, in ms since 2000.
    next_due_ms: Option<u64>,
}

impl Schedule {
    pub(super) fn new(rng: StdRng) -> Schedule {
        Schedule { rng, sent_last: 0, next_due_ms: None }
    }

    /// Does all that is due by now, for meters that can be reached.
    pub(super) fn send_due(&mut self, state: &mut PartitionState, keys: &mut KeyRenewal) {
        let now_ms = since_2000_ms(state.now_ms);
        if !state.check_due && self.next_due_ms.is_none_or(|due_ms| now_ms < due_ms) {
            return;
        }
        state.check_due = false;
        let is_reached = |meter: &MeterId| state.meters.route(*meter).is_some();
        let mut reached: Vec<MeterId> = state.meters.engine.busy().filter(is_reached).collect();
        // By turns: of pieces of images one is sent at a time, to all meters together.
        let next = reached.partition_point(|meter| *meter <= self.sent_last);
        reached.rotate_left(next);
        self.next_due_ms = None;
        for meter in reached {
            match state.meters.engine.due_of(meter, now_ms, &mut self.rng) {
                Some(Due::Save(due)) => save(state, meter, due.revision),
                Some(Due::SaveKeys(record)) => keys.keep(state, record),
                Some(Due::Send(sent)) => {
                    self.sent_last = meter;
                    if let Some(route) = state.meters.route(meter) {
                        state.transmit(route, &sent);
                    }
                    on_sent(state, meter);
                }
                None => {}
            }
            if let Some(due_ms) = state.meters.next_due_ms_of(meter, now_ms) {
                self.next_due_ms = Some(self.next_due_ms.map_or(due_ms, |next| next.min(due_ms)));
            }
        }
    }

    /// Returns the time until something is due; `idle` if nothing waits.
    pub(super) fn until_due(&self, state: &PartitionState, idle: Duration) -> Duration {
        if state.check_due {
            return Duration::ZERO;
        }
        let now_ms = since_2000_ms(clock::unix_ms());
        self.next_due_ms.map_or(idle, |due_ms| Duration::from_millis(due_ms.saturating_sub(now_ms)))
    }
}

/// Submits a state before what it allows is sent, unless it is being stored.
fn save(state: &mut PartitionState, meter: MeterId, revision: u64) {
    let saving = state.meters.get(meter).and_then(|known| known.activity().saving);
    if saving.is_none_or(|saving| saving < revision) {
        state.store_state(meter);
    }
}
