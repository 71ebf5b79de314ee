//! Registration: meters that come, get other keys, or are revoked.

use crate::downlink::{Downlink, on_withdrawn};
use crate::event::Event;
use crate::meters::{Answer, KnownMeter, PartitionState, PendingCommit, RequestError};
use crate::store::Provisioned;
use wire::meter::{MeterId, MeterRecord, MeterState};

/// Adds a meter, or gives one that is there keys of a later epoch.
pub(super) fn set_meter(
    state: &mut PartitionState,
    downlink: &mut Downlink,
    (epoch, record): (u32, Box<MeterRecord>),
    answer: Answer<Result<(), RequestError>>,
) {
    let meter = record.setup.meter;
    let has_epoch = state.meters.get(meter).is_some_and(|known| known.epoch == epoch);
    if has_epoch && state.meters.engine.record(meter) == Some(&*record) {
        drop(answer.send(Ok(())));
        return;
    }
    if let Some(known) = state.meters.last_epoch(meter).filter(|known| *known >= epoch) {
        let meter = state.global(meter);
        drop(answer.send(Err(RequestError::EpochOver { meter, known, given: epoch })));
        return;
    }
    // Nothing of the old keys is taken from here on.
    forget(state, downlink, meter);
    let provisioned = Provisioned {
        meter: state.global(meter),
        epoch,
        label: None,
        public: record.public,
        collector_public: *state.meters.engine.identity().public(),
        suite: record.setup.suite,
        interval_s: record.setup.interval_s,
        state: MeterState::new(&record),
        at_ms: state.now_ms,
    };
    if state.store_queue.is_paused() {
        drop(answer.send(Err(RequestError::Store("the last transaction failed".into()))));
        return;
    }
    state.store(PendingCommit::Provisioned { provisioned: Box::new(provisioned), record, answer });
}

/// Adds a meter whose keys are durable.
pub(super) fn add(
    state: &mut PartitionState,
    provisioned: Provisioned,
    record: MeterRecord,
) -> Result<(), RequestError> {
    let Provisioned { epoch, interval_s, state: of_meter, suite, .. } = provisioned;
    let meter = record.setup.meter;
    let added = state.meters.add((record, of_meter), KnownMeter::new(epoch, interval_s), suite);
    added.map_err(|error| RequestError::of(state.network(), error))?;
    state.publish(Event::Meter { meter: state.global(meter) });
    Ok(())
}

/// Removes a meter's keys.
pub(super) fn revoke(
    state: &mut PartitionState,
    downlink: &mut Downlink,
    meter: MeterId,
    answer: Answer<Result<(), RequestError>>,
) {
    if !state.meters.contains(meter) {
        drop(answer.send(Err(RequestError::UnknownMeter(state.global(meter)))));
        return;
    }
    forget(state, downlink, meter);
    state.store(PendingCommit::Revoked { meter, at_ms: state.now_ms, answer: Some(answer) });
}

/// Withdraws all that waits for a meter, and removes it.
fn forget(state: &mut PartitionState, downlink: &mut Downlink, meter: MeterId) {
    on_withdrawn(state, meter, None, None);
    downlink.rollout.withdraw(state, meter, None);
    state.meters.remove(meter);
}
