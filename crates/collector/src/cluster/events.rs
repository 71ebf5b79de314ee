//! Events of workers for subscribers in other processes. A lost event is not sent again: its data
//! are stored, and subscribers get a note that some were missed.

use super::connection::Connection;
use super::name::RoleName;
use super::rpc::VERSION;
use super::subject::EVENTS;
use crate::api::metrics::Text;
use crate::event::Event;
use crate::meters::MetersHandle;
use async_nats::Subscriber;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::StreamExt;

/// Events that wait to be published at most; what is above it goes.
const WAITING_MAX: usize = 4096;
/// Events of a message at most: 30 kB. Those that came meanwhile go together.
const PER_MESSAGE_MAX: usize = 128;
/// Processes whose numbers are known. There are no more but by mistake.
const SENDERS_MAX: usize = 1024;
/// The period of the check for another connection.
const LOOK_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct EventCounts {
    pub(super) published: AtomicU64,
    /// Those that were not, for want of room or of a server.
    pub(super) dropped: AtomicU64,
    /// Events of others.
    pub(super) heard: AtomicU64,
    /// Times that some of them were missed.
    pub(super) missed: AtomicU64,
    /// Messages that are none.
    pub(super) malformed: AtomicU64,
}

impl EventCounts {
    /// role: whose figures they are.
    pub(super) fn write(&self, text: &mut Text, role: &str) {
        for (name, help, count) in [
            ("published_events", "Events that were told to those who look on elsewhere", &self.published),
            (
                "dropped_events",
                "Events that were not told to them, for want of room or of a server",
                &self.dropped,
            ),
            ("heard_events", "Events that others told", &self.heard),
            ("missed_events", "Times that some of them did not come", &self.missed),
            ("malformed_events", "Messages of events that are none", &self.malformed),
        ] {
            let name = format!("wattseal_{role}_{name}_total");
            text.one(&name, "counter", help, count.load(Ordering::Relaxed));
        }
    }
}

/// A message.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Events {
    version: u8,
    /// The sender.
    from: String,
    /// 1 for its first message, and one more for each that was to follow.
    n: u64,
    events: Vec<Event>,
}

/// The queue of this process's events to publish.
#[derive(Clone)]
pub(super) struct Told {
    way: mpsc::Sender<Event>,
    /// Some were dropped since the last message.
    dropped: Arc<AtomicBool>,
    counts: Arc<EventCounts>,
}

impl Told {
    /// Publishes by this connection, on a task that ends with the process.
    pub(super) fn start(connection: Connection, me: RoleName, counts: Arc<EventCounts>) -> Told {
        let (way, waiting) = mpsc::channel(WAITING_MAX);
        let told = Told { way, dropped: Arc::default(), counts };
        tokio::spawn(publish(connection, me, waiting, told.dropped.clone(), told.counts.clone()));
        told
    }

    pub(super) fn publish(&self, event: &Event) {
        if self.way.try_send(event.clone()).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            self.dropped.store(true, Ordering::Relaxed);
        }
    }
}

async fn publish(
    connection: Connection,
    me: RoleName,
    mut waiting: mpsc::Receiver<Event>,
    dropped: Arc<AtomicBool>,
    counts: Arc<EventCounts>,
) {
    let (mut n, mut events) = (0, Vec::new());
    while waiting.recv_many(&mut events, PER_MESSAGE_MAX).await > 0 {
        // A number that does not come says that some were missed.
        n += 1 + u64::from(dropped.swap(false, Ordering::Relaxed));
        let count = events.len() as u64;
        let message =
            Events { version: VERSION, from: me.to_string(), n, events: std::mem::take(&mut events) };
        let bytes = serde_json::to_vec(&message).unwrap_or_default();
        // While no server is there it would be kept for later, without bound.
        let sent = connection.is_connected() && connection.client.publish(EVENTS, bytes.into()).await.is_ok();
        let counted = if sent { &counts.published } else { &counts.dropped };
        counted.fetch_add(count, Ordering::Relaxed);
    }
}

/// Hears what others tell, and tells it to those who look on here.
pub(super) struct Hearing {
    connection: Connection,
    messages: Subscriber,
    meters: MetersHandle,
    heard: Heard,
    counts: Arc<EventCounts>,
}

impl Hearing {
    /// # Errors
    /// The client's error.
    pub(super) async fn open(
        connection: Connection,
        me: &RoleName,
        meters: MetersHandle,
        counts: Arc<EventCounts>,
    ) -> Result<Hearing, String> {
        let messages = connection.client.subscribe(EVENTS).await.map_err(|error| error.to_string())?;
        let heard = Heard { me: me.to_string(), last: HashMap::new() };
        Ok(Hearing { connection, messages, meters, heard, counts })
    }

    /// Until the connection is closed for good.
    pub(super) async fn serve(mut self) {
        let statistics = self.connection.client.statistics();
        let connects = || statistics.connects.load(Ordering::Relaxed);
        let (mut connection, mut looks) = (connects(), interval(LOOK_EVERY));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = self.messages.next() => match message {
                    Some(message) => self.take(&message.payload),
                    None => return,
                },
                // Events between two connections reached nobody.
                _ = looks.tick() => if connects() != connection {
                    connection = connects();
                    self.missed();
                },
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let message = serde_json::from_slice::<Events>(bytes).ok();
        let Some(message) = message.filter(|message| message.version == VERSION) else {
            if self.counts.malformed.fetch_add(1, Ordering::Relaxed) == 0 {
                tracing::warn!("a message of events is none: run one version everywhere");
            }
            return;
        };
        match self.heard.number(&message) {
            Number::Own => return,
            Number::Next => {}
            Number::Missed => self.missed(),
        }
        self.counts.heard.fetch_add(message.events.len() as u64, Ordering::Relaxed);
        for event in message.events {
            self.meters.publish_local(event);
        }
    }

    fn missed(&self) {
        self.counts.missed.fetch_add(1, Ordering::Relaxed);
        self.meters.publish_local(Event::Missed);
    }
}

/// The last number of each who tells.
struct Heard {
    me: String,
    last: HashMap<String, u64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Number {
    /// Told here already.
    Own,
    Next,
    /// Some before it did not come.
    Missed,
}

impl Heard {
    fn number(&mut self, message: &Events) -> Number {
        if message.from == self.me {
            return Number::Own;
        }
        if self.last.len() >= SENDERS_MAX && !self.last.contains_key(&message.from) {
            self.last.clear();
        }
        let last = self.last.insert(message.from.clone(), message.n).unwrap_or(0);
        if message.n == last.saturating_add(1) { Number::Next } else { Number::Missed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_does_not_follow_says_that_some_were_missed() {
        let mut heard = Heard { me: "me".to_owned(), last: HashMap::new() };
        let mut number = |from: &str, n| {
            heard.number(&Events { version: VERSION, from: from.to_owned(), n, events: Vec::new() })
        };
        use Number::{Missed, Next, Own};
        assert_eq!(
            [number("a", 1), number("a", 2), number("b", 1), number("me", 7)],
            [Next, Next, Next, Own]
        );
        // Lost, one of before, one that was there before this one began to hear, the last that
        // there can be.
        let others = [number("a", 4), number("a", 5), number("a", 5), number("c", 9), number("d", u64::MAX)];
        assert_eq!(others, [Missed, Next, Missed, Missed, Missed]);
        assert_eq!([number("d", 1), number("b", 2)], [Missed, Next]);
        for name in 0..2 * SENDERS_MAX {
            number(&name.to_string(), 1);
        }
        assert!(heard.last.len() <= SENDERS_MAX);
    }
}
