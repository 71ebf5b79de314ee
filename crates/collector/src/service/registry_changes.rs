//! Brings changes of the key files to the link while the service runs.

use crate::link::{LinkError, LinkHandle};
use crate::registry::{Change, RegistryPoller};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// docs/collector.md, "Files": a running service takes a change within two seconds.
const LOOK_EVERY: Duration = Duration::from_millis(1500);

/// Goes on for ever.
pub(super) async fn follow(mut poller: RegistryPoller, link: LinkHandle) {
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
        changes.extend(new);
        while let Some(change) = changes.pop_front() {
            match apply(&link, &change).await {
                Ok(()) => {}
                Err(LinkError::Store(_) | LinkError::Busy) => {
                    // In their order, the next time.
                    changes.push_front(change);
                    break;
                }
                Err(LinkError::Stopped) => return,
                Err(error) => tracing::error!("{error}"),
            }
        }
    }
}

async fn apply(link: &LinkHandle, change: &Change) -> Result<(), LinkError> {
    match change {
        Change::Added(file) => {
            link.set_meter(file.epoch, file.record.clone()).await?;
            tracing::info!(meter = file.record.setup.meter, epoch = file.epoch, "a meter was added");
        }
        Change::Rotated { file, old_epoch, .. } => {
            link.set_meter(file.epoch, file.record.clone()).await?;
            tracing::info!(
                meter = file.record.setup.meter,
                epoch = file.epoch,
                old_epoch,
                "a meter has new keys"
            );
        }
        Change::Revoked { meter, epoch, .. } => match link.revoke(*meter).await {
            Ok(()) => tracing::info!(meter, epoch, "a meter was revoked"),
            // It was left out, or its revocation is being stored already.
            Err(LinkError::UnknownMeter(_)) => {}
            Err(error) => return Err(error),
        },
    }
    Ok(())
}
