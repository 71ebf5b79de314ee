//! Sessions of other processes: what is asked of them, and who is told there what happened here.

use super::error::RequestError;
use crate::event::Event;
use crate::image_digest::ImageDigest;
use crate::network::GlobalMeterId;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast;
use wire::meter::QueuedCommand;

/// A request about a meter, wherever its session is. The answer is a command's id; for other
/// requests it means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Question {
    /// Queue a command. by: who wants it.
    Command {
        #[serde(with = "super::command_by_name")]
        request: QueuedCommand,
        by: String,
    },
    /// Take a command back.
    Withdraw { id: i64 },
    /// Have the meter take an image of its firmware, which is in the store. by: who wants it.
    Update { image: ImageDigest, by: String },
    /// Take an update back.
    ForgetUpdate,
}

/// The way to a meter's session in another process, and from there.
pub(crate) type Asked<'a> = Pin<Box<dyn Future<Output = Result<i64, RequestError>> + Send + 'a>>;

/// The other processes of a cluster.
pub(crate) trait RemoteMeters: Send + Sync {
    /// Asks the process that has the meter's session.
    fn ask(&self, meter: GlobalMeterId, question: Question) -> Asked<'_>;

    /// Tells of what is durable, without waiting.
    fn publish(&self, event: &Event);
}

/// The subscribers of events in this process and, in a cluster, in others.
#[derive(Clone)]
pub(crate) struct EventSubscribers {
    here: broadcast::Sender<Event>,
    elsewhere: Arc<OnceLock<Arc<dyn RemoteMeters>>>,
}

impl EventSubscribers {
    /// most: events that one of them may be behind before it misses some.
    pub(crate) fn new(most: usize) -> EventSubscribers {
        EventSubscribers { here: broadcast::Sender::new(most), elsewhere: Arc::default() }
    }

    /// There are others elsewhere from now on; once is enough.
    pub(crate) fn join(&self, elsewhere: Arc<dyn RemoteMeters>) {
        let _ = self.elsewhere.set(elsewhere);
    }

    pub(crate) fn elsewhere(&self) -> Option<&Arc<dyn RemoteMeters>> {
        self.elsewhere.get()
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.here.subscribe()
    }

    /// Tells of what is durable.
    pub(crate) fn publish(&self, event: Event) {
        if let Some(elsewhere) = self.elsewhere.get() {
            elsewhere.publish(&event);
        }
        self.publish_local(event);
    }

    /// Tells those here.
    pub(crate) fn publish_local(&self, event: Event) {
        // Nobody may be looking.
        let _ = self.here.send(event);
    }
}
