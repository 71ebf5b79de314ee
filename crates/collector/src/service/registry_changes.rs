//! Brings changes of the keys to the sessions while the service runs.

use crate::meters::{MetersHandle, RequestError};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::{Change, KeyStore, RegistryPoller};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// docs/how-to/collector/files.md, "Files": a running service takes a change within two seconds.
const LOOK_EVERY: Duration = Duration::from_millis(1500);

/// Follows the files of a partition's meters. Goes on for ever.
pub(super) async fn follow(
    mut poller: RegistryPoller,
    meters: MetersHandle,
    (partition, slices): (Partition, Slices),
) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut changes = VecDeque::new();
    loop {
        ticks.tick().await;
        let looked = tokio::task::spawn_blocking(move || {
            let seen = poller.poll();
            (poller, seen)
        });
        let Ok((again, (new, problems))) = looked.await else { return };
        poller = again;
        for problem in problems {
            tracing::error!("{problem}");
        }
        changes.extend(new.into_iter().filter(|change| slices.partition_of(change.meter()) == partition));
        while let Some(change) = changes.pop_front() {
            match apply(&meters, &change).await {
                Ok(()) => {}
                Err(RequestError::Store(_) | RequestError::Busy) => {
                    // In their order, the next time.
                    changes.push_front(change);
                    break;
                }
                Err(RequestError::Stopped) => return,
                Err(error) => tracing::error!("{error}"),
            }
        }
    }
}

async fn apply(meters: &MetersHandle, change: &Change) -> Result<(), RequestError> {
    match change {
        Change::Added(file) => {
            let (meter, network) = (file.record.setup.meter, file.network);
            meters.set_meter(network, file.epoch, file.record.clone()).await?;
            tracing::info!(meter, network = network.named(), epoch = file.epoch, "a meter was added");
        }
        Change::Rotated { file, old_epoch, .. } => {
            meters.set_meter(file.network, file.epoch, file.record.clone()).await?;
            tracing::info!(
                meter = file.record.setup.meter,
                network = file.network.named(),
                epoch = file.epoch,
                old_epoch,
                "a meter has new keys"
            );
        }
        Change::Revoked { meter, epoch, .. } => match meters.revoke(*meter).await {
            Ok(()) => {
                let (meter, network) = (meter.meter, meter.network.named());
                tracing::info!(meter, network, epoch, "a meter was revoked");
            }
            // It was left out, or its revocation is being stored already.
            Err(RequestError::UnknownMeter(_)) => {}
            Err(error) => return Err(error),
        },
    }
    Ok(())
}

/// Says of networks that are new that they are heard from the next start on. known: those that have
/// a session. Goes on for ever.
pub(super) async fn discover_networks(keys: KeyStore, mut known: BTreeSet<NetworkId>) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let keys = keys.clone();
        let Ok(found) = tokio::task::spawn_blocking(move || keys.networks()).await else { return };
        // A network that cannot be read is reported at the next start.
        for network in found.unwrap_or_default() {
            if known.insert(network) {
                tracing::warn!(
                    network = network.0,
                    "it is new: its meters are heard after the next start, with a gateway of it, such as --udp ADDR:PORT@{network}"
                );
            }
        }
    }
}
