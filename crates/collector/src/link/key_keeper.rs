//! The thread that makes renewed keys durable: in the key files, or sealed in the database, where the meter's keys are. Nothing is sealed with
//! a key before, and none goes while the meter may still have it.

use super::state::Link;
use crate::clock;
use crate::registry::{Registry, RegistryError};
use crossbeam_channel::{Receiver, Sender, never, unbounded};
use std::time::Duration;
use wire::meter::{MeterId, MeterKeys, MeterRecord};

/// What could not be kept is tried again after so long.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

/// A meter's record with its new keys, and the keys in whose place they come.
struct ToKeep {
    before: MeterKeys,
    record: Box<MeterRecord>,
}

/// What became of it.
pub(super) struct Kept {
    record: Box<MeterRecord>,
    result: Result<(), RegistryError>,
}

/// The queues to the thread and back. There is none where no meter's key is renewed; it ends when the queue to it is gone.
pub(super) struct KeyKeeper {
    asked: Option<Sender<ToKeep>>,
    pub(super) kept: Receiver<Kept>,
}

impl KeyKeeper {
    /// Where there are no keys to be kept, none is taken.
    pub(super) fn start(registry: Option<Registry>) -> std::io::Result<KeyKeeper> {
        let Some(registry) = registry else {
            return Ok(KeyKeeper { asked: None, kept: never() });
        };
        let (asked, asked_in) = unbounded::<ToKeep>();
        let (kept_out, kept) = unbounded();
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            for ToKeep { before, record } in asked_in {
                let result = registry.renew(&before, &record);
                if kept_out.send(Kept { record, result }).is_err() {
                    return;
                }
            }
        })?;
        Ok(KeyKeeper { asked: Some(asked), kept })
    }
}

impl Link {
    /// Has a meter's new keys kept, unless they are being kept.
    pub(super) fn keep_keys(&mut self, record: Box<MeterRecord>) {
        let meter = record.setup.meter;
        if self.fence.as_ref().is_some_and(|fence| !fence.holds()) {
            return self.fenced();
        }
        let Some(before) = self.collector.saved_keys(meter).cloned() else { return };
        let Some(known) = self.meters.get_mut(&meter).map(|known| known.active()) else { return };
        if known.keeping_keys || known.keep_keys_at.is_some_and(|at| clock::now() < at) {
            return;
        }
        let Some(asked) = &self.key_keeper.asked else { return };
        known.keeping_keys = asked.send(ToKeep { before, record }).is_ok();
    }

    /// Goes on with keys that are durable, or are to be tried again.
    pub(super) fn kept_keys(&mut self, Kept { record, result }: Kept) {
        let meter = record.setup.meter;
        let named = self.global(meter);
        if let Some(known) = self.meters.get_mut(&meter) {
            known.active().keeping_keys = false;
        }
        match result {
            Ok(()) => self.collector.keys_saved(&record),
            // Another worker has the meter, whatever the clock here says.
            Err(RegistryError::OtherKeys(_)) if self.fence.is_some() => return self.fenced(),
            Err(error) => {
                tracing::error!(meter = %named, "a renewed key could not be kept, and is not used: {error}");
                if let Some(known) = self.meters.get_mut(&meter) {
                    known.active().keep_keys_at = Some(clock::now() + AGAIN_AFTER);
                }
            }
        }
        self.look_at_due = true;
    }

    /// Whether a meter's keys are being kept, or wait to be tried again.
    pub(super) fn keys_wait(&self, meter: MeterId) -> bool {
        let activity = self.meters.get(&meter).map(|known| known.activity());
        activity
            .is_some_and(|known| known.keeping_keys || known.keep_keys_at.is_some_and(|at| clock::now() < at))
    }
}
