//! A partition's packets, from the stream to the session.

use super::connection::{Connection, chain};
use super::envelope::{PacketUp, split_packets};
use super::leases::Change;
use super::name::RoleName;
use super::packets::{PendingMessages, Said, Succession, is_ahead};
use super::remote::RemoteGateways;
use super::subject;
use crate::clock;
use crate::fence::Fence;
use crate::gateway::HeardPacket;
use crate::meters::{MetersHandle, Outcome, QueuePlace, QueuedPacket, Receipt};
use crate::partition::{Partition, Slices};
use crate::traces::PacketSpans;
use async_nats::Subject;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use async_nats::jetstream::{self, AckKind, stream};
use opentelemetry::trace::TraceId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{MissedTickBehavior, interval_at, sleep, timeout};
use tokio_stream::StreamExt;

/// The age up to which packets are kept: meters have sent older ones again.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(600);
/// And no more than that, in bytes.
const BYTES_MAX: i64 = 1 << 30;
/// Bytes of a message at most: 32 packets have 3,585.
const MESSAGE_BYTES_MAX: i32 = 4096;
/// Messages of a subject at most. A gateway has 16 of a network, and so a quarter of the stream at
/// most.
const PER_SUBJECT_MAX: i64 = 4096;
/// Messages that one partition has of the stream at most.
const PENDING_MAX: i64 = 8192;
/// A packet that is not done with by then comes again.
pub(super) const AGAIN_AFTER: Duration = Duration::from_secs(30);
/// One that could not be stored, sooner.
pub(super) const AGAIN_SOON: Duration = Duration::from_secs(1);
/// Asked for at once.
const BATCH: usize = 1000;
/// The longest wait of a request for packets, and the period of the server's heartbeats meanwhile.
const EXPIRES: Duration = Duration::from_secs(10);
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Missed heartbeats in a row at most. After them the consumer itself is gone, whatever the servers
/// say, and another is made under another lease.
const MISSED_MAX: u32 = 4;
/// A consumer of a lease before says within this where it has come to.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);
/// The period of the check that a consumer is where it can be.
const CONSUMER_LOOK_EVERY: Duration = Duration::from_secs(10);
/// The period of the check that the stream exists.
const STREAM_LOOK_EVERY: Duration = Duration::from_secs(1);
/// Consumers of leases before that are asked, and deleted, at most: more were made by nobody who
/// had the partition.
const BEFORE_MAX: usize = 16;
/// A session's queue is full: it is looked at again.
const ROOM_AFTER: Duration = Duration::from_millis(2);

#[derive(Debug, Default)]
pub(super) struct QueueCounts {
    pub(super) packets: AtomicU64,
    /// Of them, those that came again.
    pub(super) redelivered: AtomicU64,
    pub(super) malformed: AtomicU64,
    /// Packets that JetStream was told to be done with.
    pub(super) acknowledgements: AtomicU64,
}

/// Makes the stream, where it is not there.
///
/// # Errors
/// A sentence: JetStream is not there, has no leader, or has a stream of that name that takes other
/// packets.
pub(super) async fn open_stream(connection: &Connection, replicas: usize) -> Result<stream::Stream, String> {
    let config = stream::Config {
        name: subject::STREAM.into(),
        subjects: vec![subject::ALL_UP.into()],
        max_age: KEPT_FOR,
        max_bytes: BYTES_MAX,
        max_message_size: MESSAGE_BYTES_MAX,
        max_messages_per_subject: PER_SUBJECT_MAX,
        discard: stream::DiscardPolicy::Old,
        num_replicas: replicas,
        ..stream::Config::default()
    };
    let jetstream: &jetstream::Context = &connection.jetstream;
    let stream = jetstream
        .get_or_create_stream(config)
        .await
        .map_err(|error| format!("stream {}: {}", subject::STREAM, chain(&error)))?;
    let config = stream.cached_info().config.clone();
    // Of a version before it has no bound for one gateway.
    if (config.max_message_size, config.max_messages_per_subject) != (MESSAGE_BYTES_MAX, PER_SUBJECT_MAX) {
        let (max_message_size, max_messages_per_subject) = (MESSAGE_BYTES_MAX, PER_SUBJECT_MAX);
        let bounded = stream::Config { max_message_size, max_messages_per_subject, ..config.clone() };
        let updated = jetstream.update_stream(bounded).await;
        updated.map_err(|error| format!("stream {}: {}", subject::STREAM, chain(&error)))?;
    }
    if config.subjects != [subject::ALL_UP] {
        return Err(format!(
            "stream {}: it does not take {}: delete it, and a worker makes it anew",
            subject::STREAM,
            subject::ALL_UP
        ));
    }
    Ok(stream)
}

/// Looks again and again whether the stream is there, and makes it anew where it was lost. Goes on
/// until nobody listens.
pub(super) async fn keep_stream(connection: Connection, replicas: usize, changes: mpsc::Sender<Change>) {
    while !changes.is_closed() {
        if let Err(why) = open_stream(&connection, replicas).await {
            let _ = changes.send(Change::Trouble { of: subject::STREAM, why }).await;
        }
        sleep(STREAM_LOOK_EVERY).await;
    }
}

/// The count of missed heartbeats in a row.
#[derive(Debug, Default)]
struct Heartbeats {
    missed: u32,
    last: Option<Instant>,
}

impl Heartbeats {
    /// Another time. Two are told within twice the time in which one is due, where nothing was
    /// heard between them.
    fn missed(&mut self, now: Instant) -> u32 {
        let is_next = self.last.is_some_and(|last| now.duration_since(last) < 3 * HEARTBEAT);
        self.missed = if is_next { self.missed + 1 } else { 1 };
        self.last = Some(now);
        self.missed
    }
}

/// A partition's packets.
pub(super) struct Queue {
    connection: Connection,
    stream: stream::Stream,
    consumer: Consumer<pull::Config>,
    partition: Partition,
    /// With where goes what is said of each.
    pending: PendingMessages<Subject>,
    /// The results of packets.
    became: UnboundedReceiver<(QueuePlace, Outcome)>,
    counts: Arc<QueueCounts>,
}

/// Why packets do not come any more.
pub(super) enum QueueEnd {
    /// Another worker has the partition.
    Taken,
    /// The session has ended by itself.
    Session,
    /// A sentence.
    Failed(String),
}

impl Queue {
    /// Opens a consumer of this lease's own. It goes on at the end of the earlier lease's, and
    /// takes its place: packets that the earlier one did not acknowledge come at once. Its user
    /// hears and acknowledges nothing any more.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn open(
        connection: &Connection,
        stream: &stream::Stream,
        fence: Arc<Fence>,
        slices: Slices,
        counts: Arc<QueueCounts>,
    ) -> Result<Queue, String> {
        let partition = fence.partition;
        let said = |error: &dyn std::error::Error| format!("consumer of {partition}: {}", chain(error));
        let filter_subject = subject::of_partition(partition, slices);
        let mut succession = Succession::new(fence.lease(), filter_subject.clone());
        let (mut names, mut ours) = (stream.consumer_names(), Vec::new());
        while let Some(name) = names.next().await {
            let name = name.map_err(|error| said(&error))?;
            if succession.is_ours(&name) {
                ours.push(name);
            }
        }
        // The latest alone, by their numbers, which are times.
        ours.sort_unstable();
        for name in ours.into_iter().rev().take(BEFORE_MAX) {
            // One that nobody leads says nothing, and may for ever. Asked for the list with all
            // figures JetStream would wait for it, too.
            match timeout(ANSWERED_WITHIN, stream.consumer_info(&name)).await {
                Ok(Ok(consumer)) => {
                    let floor = consumer.ack_floor.stream_sequence;
                    succession.there_is(&name, &consumer.config.filter_subject, floor);
                }
                Ok(Err(_)) | Err(_) => succession.there_is_a_silent_one(&name),
            }
        }
        let last = stream.get_info().await.map_err(|error| said(&error))?.state.last_sequence;
        let config = pull::Config {
            durable_name: Some(succession.name()),
            filter_subject,
            deliver_policy: match succession.start(last) {
                Some(start_sequence) => DeliverPolicy::ByStartSequence { start_sequence },
                None => DeliverPolicy::All,
            },
            // Each by itself: a piece whose message never gets whole keeps no other packet.
            ack_policy: AckPolicy::Explicit,
            ack_wait: AGAIN_AFTER,
            max_ack_pending: PENDING_MAX,
            inactive_threshold: KEPT_FOR,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(config).await.map_err(|error| said(&error))?;
        for before in succession.over() {
            // One that stays goes by itself when nobody has used it for some time.
            let _ = stream.delete_consumer(before).await;
        }
        let (pending, became) = PendingMessages::new(fence);
        let stream = stream.clone();
        Ok(Queue { connection: connection.clone(), stream, consumer, partition, pending, became, counts })
    }

    /// Hands packets to the session, and acknowledges what it is done with. Goes on until it
    /// cannot.
    pub(super) async fn serve(&mut self, meters: &MetersHandle, remote: &RemoteGateways) -> QueueEnd {
        let mut messages = match self.messages().await {
            Ok(messages) => messages,
            Err(end) => return end,
        };
        let mut heartbeats = Heartbeats::default();
        let mut looks = interval_at((Instant::now() + CONSUMER_LOOK_EVERY).into(), CONSUMER_LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // First what makes room.
                biased;
                Some((place, outcome)) = self.became.recv() => {
                    self.tell(place, outcome).await;
                    self.acknowledge().await;
                }
                message = messages.next() => match message {
                    Some(Ok(message)) => {
                        heartbeats = Heartbeats::default();
                        if !self.hand_over(&message, meters, remote).await {
                            return QueueEnd::Session;
                        }
                    }
                    Some(Err(error)) => match error.kind() {
                        pull::MessagesErrorKind::ConsumerDeleted => return QueueEnd::Taken,
                        // It was lost with its stream, or by itself.
                        pull::MessagesErrorKind::MissingHeartbeat if self.is_gone().await => {
                            return QueueEnd::Failed("their consumer was lost".into());
                        }
                        // The consumer's new leader does not know the previous one's requests: they
                        // are sent again.
                        pull::MessagesErrorKind::MissingHeartbeat if heartbeats.missed(Instant::now()) < MISSED_MAX => {
                            messages = match self.messages().await {
                                Ok(messages) => messages,
                                Err(end) => return end,
                            };
                        }
                        pull::MessagesErrorKind::MissingHeartbeat => {
                            return QueueEnd::Failed("JetStream says nothing of their consumer".into());
                        }
                        _ => return QueueEnd::Failed(chain(&error)),
                    },
                    None => return QueueEnd::Failed("the server sends no more packets".into()),
                },
                _ = looks.tick() => if self.delivers_nothing().await {
                    return QueueEnd::Failed("their consumer is ahead of the stream".into());
                },
            }
        }
    }

    /// Asks for packets.
    async fn messages(&self) -> Result<pull::Stream, QueueEnd> {
        let asked =
            self.consumer.stream().max_messages_per_batch(BATCH).expires(EXPIRES).heartbeat(HEARTBEAT);
        asked.messages().await.map_err(|error| QueueEnd::Failed(chain(&error)))
    }

    /// Says if JetStream reports that the consumer does not exist.
    async fn is_gone(&self) -> bool {
        use async_nats::jetstream::context::ConsumerInfoErrorKind::{NotFound, StreamNotFound};
        let asked = timeout(ANSWERED_WITHIN, self.consumer.get_info()).await;
        matches!(asked, Ok(Err(error)) if matches!(error.kind(), NotFound | StreamNotFound))
    }

    /// Says if the consumer is ahead of the stream.
    async fn delivers_nothing(&self) -> bool {
        let asked = async {
            let delivered = self.consumer.get_info().await.ok()?.delivered.stream_sequence;
            let last = self.stream.get_info().await.ok()?.state.last_sequence;
            Some(is_ahead(delivered, last))
        };
        matches!(timeout(ANSWERED_WITHIN, asked).await, Ok(Some(true)))
    }

    /// Returns whether there is a session.
    async fn hand_over(
        &mut self,
        message: &jetstream::Message,
        meters: &MetersHandle,
        remote: &RemoteGateways,
    ) -> bool {
        let (Ok(info), Some(reply)) = (message.info(), message.reply.clone()) else { return true };
        let published = Published {
            again: info.delivered > 1,
            ns: info.published.unix_timestamp_nanos(),
            gateway: subject::gateway_of(&message.subject),
        };
        // Bytes that are no message have no effect, like a packet that is none.
        let packets = split_packets(&message.payload).unwrap_or_else(|| vec![&[]]);
        // At most 32.
        let receipts = self.pending.receipts(info.stream_sequence, reply, packets.len() as u8);
        for receipt in receipts {
            let packet = packets.get(usize::from(receipt.packet())).copied().unwrap_or_default();
            let Some(mut queued) = self.queued(packet, &published, receipt, remote) else { continue };
            loop {
                queued = match meters.hear_queued(self.partition, queued) {
                    Ok(()) => break,
                    Err(Some(queued)) => *queued,
                    Err(None) => return false,
                };
                sleep(ROOM_AFTER).await;
            }
        }
        true
    }

    /// A packet as the session takes it; `None` where it is none, which is done with then.
    fn queued(
        &self,
        bytes: &[u8],
        published: &Published,
        receipt: Receipt,
        remote: &RemoteGateways,
    ) -> Option<QueuedPacket> {
        let (partition, counts) = (self.partition, &self.counts);
        counts.packets.fetch_add(1, Ordering::Relaxed);
        counts.redelivered.fetch_add(u64::from(published.again), Ordering::Relaxed);
        let Some((trace, packet)) = packet(partition, published.gateway.as_ref(), bytes, remote) else {
            counts.malformed.fetch_add(1, Ordering::Relaxed);
            receipt.done();
            return None;
        };
        let at = UNIX_EPOCH + Duration::from_nanos(u64::try_from(published.ns).unwrap_or_default());
        let spans = PacketSpans::of(trace, partition.network, &packet.bytes, at);
        let receipt = receipt.traced(trace, spans.map(|spans| spans.in_partition(partition)));
        Some(QueuedPacket {
            packet,
            heard_ms: Some(heard_ms(published.ns, clock::unix_ms())),
            receipt: Some(receipt),
        })
    }

    /// Reports the result of a message to JetStream while the lease holds. A lost report is sent
    /// when the message comes again.
    async fn tell(&mut self, place: QueuePlace, outcome: Outcome) {
        let (reply, kind) = match self.pending.became(place, outcome) {
            Some(Said::Done(reply, packets)) => {
                self.counts.acknowledgements.fetch_add(packets as u64, Ordering::Relaxed);
                (reply, AckKind::Ack)
            }
            // Before its time.
            Some(Said::Again(reply)) => (reply, AckKind::Nak(Some(AGAIN_SOON))),
            None => return,
        };
        let _ = self.connection.client.publish(reply, kind.into()).await;
    }

    /// Tells all that is known.
    async fn acknowledge(&mut self) {
        while let Ok((place, outcome)) = self.became.try_recv() {
            self.tell(place, outcome).await;
        }
    }

    /// After the session came to its end, and before the partition is given up.
    pub(super) async fn finish(mut self) {
        self.acknowledge().await;
        let left = self.pending.count();
        if left > 0 {
            tracing::debug!(packets = left, "packets are left to the next worker");
        }
        let _ = self.connection.client.flush().await;
    }
}

/// JetStream's account of a message.
struct Published {
    again: bool,
    /// Unix time by the server's clock.
    ns: i128,
    gateway: Option<RoleName>,
}

fn packet(
    partition: Partition,
    gateway: Option<&RoleName>,
    bytes: &[u8],
    remote: &RemoteGateways,
) -> Option<(TraceId, HeardPacket)> {
    let PacketUp { trace, rssi_dbm, input, peer, packet, .. } = PacketUp::from_bytes(bytes)?;
    let (gateway, trace) = (gateway?, TraceId::from_bytes(trace));
    tracing::debug!(trace_id = %trace, %gateway, %partition, "a packet");
    let route = remote.route(partition.network, gateway, input, peer)?;
    Some((trace, HeardPacket { route, bytes: packet, rssi_dbm }))
}

/// When a packet was heard: when the server had it, which is at once. Its clock is believed as far
/// as packets are kept, and not ahead of this one: a reading of a meter without a time is stored as
/// of then, however long it waited.
fn heard_ms(published_ns: i128, now_ms: i64) -> i64 {
    let published_ms = i64::try_from(published_ns / 1_000_000).unwrap_or(now_ms);
    let waited_ms = now_ms.saturating_sub(published_ms);
    if (0..=KEPT_FOR.as_millis() as i64).contains(&waited_ms) { published_ms } else { now_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_clock_is_believed_within_retention_and_not_ahead() {
        let now_ms = 1_800_000_000_000;
        let kept_ms = KEPT_FOR.as_millis() as i64;
        let heard = |published_ms: i64| heard_ms(i128::from(published_ms) * 1_000_000, now_ms);
        for waited_ms in [0, 1, 300_000, kept_ms] {
            assert_eq!(heard(now_ms - waited_ms), now_ms - waited_ms);
        }
        for wrong_ms in [0, -1, now_ms - kept_ms - 1, now_ms + 1, now_ms + 3_600_000, i64::MIN, i64::MAX] {
            assert_eq!(heard(wrong_ms), now_ms, "{wrong_ms}");
        }
        assert_eq!(heard_ms(i128::MAX, now_ms), now_ms);
    }

    #[test]
    fn a_consumer_is_given_up_that_says_nothing_again_and_again() {
        let (mut heartbeats, begun) = (Heartbeats::default(), Instant::now());
        let counts =
            [2, 4, 6, 60, 62].map(|heartbeats_later| heartbeats.missed(begun + heartbeats_later * HEARTBEAT));
        assert_eq!(counts, [1, 2, 3, 1, 2], "after a minute it had been there meanwhile");
    }
}
