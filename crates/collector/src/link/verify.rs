//! The verifiers: threads that open what takes curves.

use crate::gateway::Route;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use std::thread::JoinHandle;
use wire::meter::{OpenedMessage, SealedMessage};

/// Messages that wait for a verifier at most; others are dropped, and come again.
const MOST_MESSAGES: usize = 4096;

/// Where and when a message's last packet was heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) route: Route,
    pub(super) rssi_dbm: Option<i8>,
    /// Unix ms.
    pub(super) heard_ms: i64,
}

/// The threads, one a core, and the queues to them and back. They end when the queue to them is gone.
pub(super) struct Verifiers {
    sealed: Sender<(SealedMessage, Origin)>,
    pub(super) opened: Receiver<(OpenedMessage, Origin)>,
    threads: Vec<JoinHandle<()>>,
}

impl Verifiers {
    pub(super) fn start(count: usize) -> std::io::Result<Verifiers> {
        let (sealed, sealed_in) = bounded::<(SealedMessage, Origin)>(MOST_MESSAGES);
        let (opened_out, opened) = unbounded();
        let start = |number| {
            let (sealed, opened) = (sealed_in.clone(), opened_out.clone());
            std::thread::Builder::new().name(format!("verify {number}")).spawn(move || {
                for (message, origin) in sealed {
                    if opened.send((message.open(), origin)).is_err() {
                        return;
                    }
                }
            })
        };
        let threads = (0..count.max(1)).map(start).collect::<Result<_, _>>()?;
        Ok(Verifiers { sealed, opened, threads })
    }

    /// Returns whether there was room for it.
    pub(super) fn open(&self, message: SealedMessage, origin: Origin) -> bool {
        match self.sealed.try_send((message, origin)) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }

    pub(super) fn stop(self) {
        drop(self.sealed);
        for thread in self.threads {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}
