//! Questions between the processes of a cluster, by request and reply: a worker answers those about
//! the partitions that it has; the processes with the API ask.
//!
//! NATS delivers a question once, or not at all, and nobody asks again what a worker may have had.
//! A command is therefore given at most once. If no answer comes, its result is reported as
//! unknown.

use super::connection::Connection;
use super::events::Told;
use super::failover::Silence;
use super::name::RoleName;
use super::rpc::{About, Answer};
use super::subject;
use crate::api::metrics::Text;
use crate::event::Event;
use crate::fence::Fence;
use crate::meters::{Asked, MetersHandle, Question, RemoteMeters, RequestError};
use crate::network::GlobalMeterId;
use crate::partition::Slices;
use async_nats::client::RequestErrorKind;
use async_nats::{Message, Request, Subscriber};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_stream::StreamExt;

/// An answer comes within this, or is not waited for any more. The API itself answers within 30 s.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// While a partition is handed over nobody hears questions for a moment; they are asked again,
/// because nobody had them.
const NOBODY_FOR: Duration = Duration::from_secs(1);
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// Questions about a partition that are answered at once; others hear that it has too much to do.
const CONCURRENT_MAX: usize = 64;

/// The counts of requests to others, and to this process.
#[derive(Debug, Default)]
pub(super) struct ExchangeCounts {
    /// Questions that went out.
    pub(super) asked: AtomicU64,
    /// Those that nobody heard, nobody answered, and that did not go out.
    pub(super) nobody: AtomicU64,
    pub(super) silent: AtomicU64,
    pub(super) no_connection: AtomicU64,
    /// Questions that came.
    pub(super) questions: AtomicU64,
    /// Those of them that were none.
    pub(super) malformed: AtomicU64,
}

impl ExchangeCounts {
    /// role: whose figures they are.
    pub(super) fn write(&self, text: &mut Text, role: &str) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let name = format!("wattseal_{role}_asked_questions_total");
        text.one(&name, "counter", "Questions about meters that workers have elsewhere", read(&self.asked));
        let name = format!("wattseal_{role}_unanswered_questions_total");
        text.head(&name, "counter", "Those of them that no worker answered");
        for (why, count) in
            [("nobody", &self.nobody), ("silent", &self.silent), ("no-connection", &self.no_connection)]
        {
            text.labelled(&name, &[("why", why)], read(count));
        }
    }
}

/// The cluster's other processes, as one of them sees them.
pub(super) struct Others {
    connection: Connection,
    me: RoleName,
    told: Told,
    counts: Arc<ExchangeCounts>,
    silence: Mutex<Silence>,
}

impl Others {
    pub(super) fn new(
        connection: Connection,
        me: RoleName,
        told: Told,
        counts: Arc<ExchangeCounts>,
    ) -> Others {
        Others { connection, me, told, counts, silence: Mutex::default() }
    }

    async fn ask(&self, meter: GlobalMeterId, question: Question) -> Result<i64, RequestError> {
        self.counts.asked.fetch_add(1, Ordering::Relaxed);
        let (begun, bytes) = (Instant::now(), About::new(meter, question).to_bytes());
        loop {
            // A message published without a server goes out when there is one again: later than
            // anybody waits for it.
            if !self.connection.is_connected() {
                self.counts.no_connection.fetch_add(1, Ordering::Relaxed);
                return Err(RequestError::NoConnection);
            }
            let request = Request::new()
                .inbox(subject::answer(&self.me, rand::random()))
                .payload(bytes.clone().into())
                .timeout(Some(ANSWERED_WITHIN));
            let error = match self.connection.client.send_request(subject::ask(meter), request).await {
                Ok(message) => {
                    self.silence().answered();
                    return self.answered(meter, &message.payload);
                }
                Err(error) => error,
            };
            if error.kind() != RequestErrorKind::NoResponders {
                tracing::warn!(%meter, %error, "a question to the worker that has the meter is not answered");
                self.counts.silent.fetch_add(1, Ordering::Relaxed);
                self.silence().unanswered(&self.connection);
                return Err(RequestError::Silent(meter));
            }
            if begun.elapsed() >= NOBODY_FOR {
                self.counts.nobody.fetch_add(1, Ordering::Relaxed);
                self.silence().unanswered(&self.connection);
                return Err(RequestError::Nobody(meter));
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    fn silence(&self) -> MutexGuard<'_, Silence> {
        self.silence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, meter: GlobalMeterId, bytes: &[u8]) -> Result<i64, RequestError> {
        match Answer::parse(bytes) {
            Some(Answer::Done(id)) => Ok(id),
            Some(Answer::Refused(error)) => Err(error),
            Some(Answer::NotRead(why)) => Err(RequestError::NotRead { meter, why }),
            None => {
                tracing::warn!(%meter, "what came as an answer is none: run one version everywhere");
                self.counts.silent.fetch_add(1, Ordering::Relaxed);
                Err(RequestError::Silent(meter))
            }
        }
    }
}

impl RemoteMeters for Others {
    fn ask(&self, meter: GlobalMeterId, question: Question) -> Asked<'_> {
        Box::pin(Others::ask(self, meter, question))
    }

    fn publish(&self, event: &Event) {
        self.told.publish(event);
    }
}

/// A worker that answers questions about a partition, for as long as this is there.
pub(super) struct Answering {
    questions: Subscriber,
    of: Arc<Partition>,
}

/// The partition, and the way back.
struct Partition {
    connection: Connection,
    fence: Arc<Fence>,
    slices: Slices,
    meters: MetersHandle,
    counts: Arc<ExchangeCounts>,
}

impl Answering {
    /// # Errors
    /// The client's error.
    pub(super) async fn open(
        connection: &Connection,
        fence: Arc<Fence>,
        slices: Slices,
        meters: MetersHandle,
        counts: Arc<ExchangeCounts>,
    ) -> Result<Answering, String> {
        let subject = subject::asked(fence.partition, slices);
        let questions = connection.client.subscribe(subject).await.map_err(|error| error.to_string())?;
        let connection = connection.clone();
        Ok(Answering { questions, of: Arc::new(Partition { connection, fence, slices, meters, counts }) })
    }

    /// Answers until the connection is closed for good.
    pub(super) async fn serve(&mut self) {
        let places = Arc::new(Semaphore::new(CONCURRENT_MAX));
        while let Some(message) = self.questions.next().await {
            let (of, place) = (self.of.clone(), places.clone().try_acquire_owned());
            tokio::spawn(async move {
                of.answer(message, place.is_ok()).await;
                drop(place);
            });
        }
    }
}

impl Partition {
    async fn answer(&self, message: Message, has_place: bool) {
        self.counts.questions.fetch_add(1, Ordering::Relaxed);
        // Nothing is published elsewhere because somebody says so.
        let Some(reply) = message.reply.filter(|reply| reply.starts_with(subject::ANSWERS)) else {
            self.counts.malformed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let answer = match self.read(&message.payload) {
            Ok(_) if !has_place => Answer::Refused(RequestError::Busy),
            Ok(about) => match ask(&self.fence, &self.meters, about).await {
                Some(Ok(id)) => Answer::Done(id),
                Some(Err(error)) => Answer::Refused(error),
                None => return,
            },
            Err(why) => {
                self.counts.malformed.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(partition = %self.fence.partition, why, "what was asked is no question");
                Answer::NotRead(why)
            }
        };
        let _ = self.connection.client.publish(reply, answer.into_bytes().into()).await;
    }

    fn read(&self, payload: &[u8]) -> Result<About, String> {
        let about = About::parse(payload)?;
        let (its, partition) = (self.slices.partition_of(about.meter), self.fence.partition);
        if its != partition {
            return Err(format!("meter {} is of partition {its}, and this is {partition}", about.meter));
        }
        Ok(about)
    }
}

/// Asks the session of a partition under its lease. `None`: another may have the partition, and
/// answers.
async fn ask(
    fence: &Fence,
    meters: &MetersHandle,
    About { meter, question, .. }: About,
) -> Option<Result<i64, RequestError>> {
    if !fence.holds() {
        return None;
    }
    let Some(asked) = meters.request_local(meter, &question) else {
        // It has just been given up.
        return Some(Err(RequestError::Nobody(meter)));
    };
    match asked.await {
        // Durable, under any present holder of the partition.
        Ok(id) => Some(Ok(id)),
        // The session ended with it, before or after it stored it.
        Err(RequestError::Stopped) => Some(Err(RequestError::Silent(meter))),
        Err(error) => fence.holds().then_some(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkId;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn request_after_the_lease_is_left_to_the_new_holder() {
        let partition = crate::partition::Partition::FIRST;
        let meters = MetersHandle::new(Slices::ONE);
        let _inputs = meters.open(partition);
        let fence = Fence::new(partition, 7, crate::clock::BootTime::now() + Duration::from_secs(60));
        let about = || About::new(NetworkId::DEFAULT.meter(258), Question::ForgetUpdate);
        let mut context = Context::from_waker(Waker::noop());
        let mut asked = pin!(ask(&fence, &meters, about()));
        assert!(asked.as_mut().poll(&mut context).is_pending(), "the link has it");
        fence.end();
        let mut late = pin!(ask(&fence, &meters, about()));
        assert!(matches!(late.as_mut().poll(&mut context), Poll::Ready(None)));
    }
}
