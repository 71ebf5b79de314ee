//! The way to meters: commands with their queue and retries, firmware rollout, key renewal.
//! `schedule` decides what is sent next.

mod commands;
mod images;
mod key_renewal;
mod rollout;
mod schedule;

pub(crate) use commands::{give_command, on_answer, on_withdrawn, withdraw_command, withdraw_times};
pub(crate) use images::Images;
pub(crate) use key_renewal::KeyRenewal;
pub(crate) use rollout::Rollout;

use crate::meters::PartitionState;
use rand::rngs::StdRng;
use schedule::Schedule;
use std::time::Duration;

/// The parts of the downlink that keep something.
pub(crate) struct Downlink {
    schedule: Schedule,
    pub(crate) rollout: Rollout,
    pub(crate) keys: KeyRenewal,
}

impl Downlink {
    pub(crate) fn new(rng: StdRng, rollout: Rollout, keys: KeyRenewal) -> Downlink {
        Downlink { schedule: Schedule::new(rng), rollout, keys }
    }

    /// Sends all that is due by now.
    pub(crate) fn send_due(&mut self, state: &mut PartitionState) {
        self.schedule.send_due(state, &mut self.keys);
    }

    /// Returns the time until something is due; `idle` if nothing waits.
    pub(crate) fn until_due(&self, state: &PartitionState, idle: Duration) -> Duration {
        self.schedule.until_due(state, idle)
    }
}
