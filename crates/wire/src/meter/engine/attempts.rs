//! The attempts of the command under way.

use super::queue::QueuedCommand;
use super::state::MeterState;
use crate::meter::{Address, Command, Suite};
use std::collections::VecDeque;

/// Attempts that are remembered with their numbers, of a command that changes with each, as a time
/// does: a late answer belongs to one.
const SENT_MAX: usize = 16;

/// The state of the command under way that need not survive the collector.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Its number is durable.
    pub(super) saved: bool,
    /// There is no number before that.
    pub(super) number_at_ms: Option<u64>,
    /// It may have been sent before the collector began anew.
    pub(super) resumed: bool,
    pub(super) count: u32,
    pub(super) first_ms: u64,
    pub(super) next_ms: u64,
    /// As it was sent, with its numbers, the latest last.
    pub(super) sent: VecDeque<(u32, Command)>,
    /// With its last number, in each way that the meter may understand.
    pub(super) sealed: Vec<Sealed>,
}

/// A command, in a way that the meter may understand.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) suite: Suite,
    pub(super) address: Address,
    /// Sealed with the key of the next epoch.
    pub(super) with_next: bool,
    pub(super) packets: Vec<Vec<u8>>,
}

impl Attempts {
    /// After a start of the collector, of a state that was durable.
    pub(super) fn resumed(state: &mut MeterState) -> Attempts {
        // An update begins anew, with the owner's image.
        state.drop_orders_about_images();
        // The number that a time was sent with is not known any more; and under the number that
        // began a renewal there may have been an offer, which is in no memory any more: both need
        // another.
        let needs_another =
            |order| matches!(order, QueuedCommand::TimeNow | QueuedCommand::Command(Command::RenewKey));
        if let Some(again) = state.under_way.take_if(|under_way| needs_another(under_way.order)) {
            state.waiting.push_front(again.again());
        }
        Attempts { saved: true, resumed: true, ..Attempts::default() }
    }

    /// The command that was sent with this number.
    pub(super) fn sent_as(&self, m: u32) -> Option<Command> {
        self.sent.iter().find(|sent| sent.0 == m).map(|sent| sent.1)
    }

    pub(super) fn remember(&mut self, m: u32, command: Command) {
        if self.sent_as(m).is_none() {
            if self.sent.len() == SENT_MAX {
                self.sent.pop_front();
            }
            self.sent.push_back((m, command));
        }
    }
}
