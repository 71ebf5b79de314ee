//! MQTT: events for Home Assistant, emonCMS and all other listeners at the broker.
//! docs/how-to/collector/mqtt.md, "MQTT".
//!
//! It follows the [`Event`]s, which are durable before they are told. A broker that is away loses
//! nothing but time: messages wait, the oldest of them go first when there are too many. At least
//! once: after a lost connection some may come twice.

mod broker;
pub mod telegrams;
pub mod topics;

pub use broker::Broker;

use crate::event::Event;
use crate::network::GlobalMeterId;
use crate::store::{Meter, MeterFilter, Reader, StoreError};
use rumqttc::{
    AsyncClient, ConnectReturnCode, ConnectionError, EventLoop, LastWill, MqttOptions, Outgoing, Packet, QoS,
    Request, TlsConfiguration, TlsError, Transport,
};
use rustls::CertificateError;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use telegrams::TelegramTopics;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use topics::{Names, STATUS, Said};

/// Messages that wait for the broker at most; above it the oldest go.
pub const WAITING_MAX: usize = 10_000;
/// Messages that are handed over and not confirmed at most.
const IN_FLIGHT_MAX: u16 = 100;
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Pauses after a connection was lost or refused: the first, and the longest. One that held for
/// as long as the longest was a good one. Each has all meters read and said, and a broker that
/// drops them all would have that each second.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];
/// Bytes of a packet that is taken, and of one that is sent, at most. A message above the latter
/// would break each connection off, and come first again.
const PACKET_BYTES_MAX: [usize; 2] = [10 << 10, 1 << 20];
/// Names are read anew at most once in that time.
const NAMES_EVERY: Duration = Duration::from_millis(500);
/// The longest time of the last message.
const STOPPED_WITHIN: Duration = Duration::from_secs(2);

/// Reads all meters as they are shown, revoked ones too. It may block.
pub type ReadMeters = Arc<dyn Fn() -> Result<Vec<Meter>, StoreError> + Send + Sync>;

/// All meters of a database.
pub(crate) fn read_meters(reader: Reader) -> ReadMeters {
    Arc::new(move || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        reader.meters(MeterFilter::All, now.map_or(0, |now| now.as_millis() as i64))
    })
}

/// Publishes until it is stopped.
#[derive(Debug)]
pub struct Publisher {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Publisher {
    /// Connects, and does so again whenever the connection was lost. client: what the broker knows
    /// it by, other than all others there. Needs a tokio runtime.
    pub fn start(
        broker: Broker,
        client: String,
        events: broadcast::Receiver<Event>,
        meters: ReadMeters,
    ) -> Publisher {
        let (stop, stopped) = oneshot::channel();
        let mut options = MqttOptions::new(client, broker.host.clone(), broker.port);
        options.set_keep_alive(KEEP_ALIVE).set_inflight(IN_FLIGHT_MAX);
        options.set_max_packet_size(PACKET_BYTES_MAX[0], PACKET_BYTES_MAX[1]);
        options.set_last_will(LastWill::new(STATUS, topics::OFFLINE, QoS::AtLeastOnce, true));
        if let Some(user) = &broker.user {
            options.set_credentials(user, broker.password.as_str());
        }
        if broker.tls {
            let nobody = TlsConfiguration::Simple { ca: Vec::new(), alpn: None, client_auth: None };
            let trust = broker.trust.clone().map_or(nobody, TlsConfiguration::Rustls);
            options.set_transport(Transport::tls_with_config(trust));
        }
        let (client, events_of_it) = AsyncClient::new(options, usize::from(IN_FLIGHT_MAX));
        let (signals, signalled) = mpsc::channel(8);
        let connection = tokio::spawn(connect(events_of_it, broker.to_string(), signals));
        let work = Work {
            client,
            meters,
            names: Names::default(),
            telegrams: TelegramTopics::default(),
            greetings: VecDeque::new(),
            waiting: VecDeque::new(),
            lost: 0,
            connected: false,
            changed: BTreeSet::new(),
            names_at: Instant::now(),
        };
        let task = tokio::spawn(async move {
            work.run(events, signalled, stopped).await;
            // It ends by itself when it has said good-bye; not with a broker that does not answer.
            let abort = connection.abort_handle();
            if timeout(STOPPED_WITHIN, connection).await.is_err() {
                abort.abort();
            }
        });
        Publisher { stop, task }
    }

    /// Says that all meters are offline, and goes, within a few seconds.
    pub async fn stop(self) {
        // It may be gone already.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

/// A change of the connection.
enum Signal {
    /// It is there, and nothing was sent by it yet.
    Connected,
    /// It was lost: nothing more is to be handed over; then say so.
    Lost(oneshot::Sender<()>),
    /// The messages that were handed over and not confirmed, in their order.
    Unconfirmed(Vec<Said>),
}

/// Keeps the connection, until the client says good-bye or is gone.
async fn connect(mut events: EventLoop, broker: String, signals: mpsc::Sender<Signal>) {
    let mut again_after = AGAIN_AFTER[0];
    let (mut said, mut connected_at) = (false, None);
    loop {
        match events.poll().await {
            Ok(rumqttc::Event::Incoming(Packet::ConnAck(_))) => {
                tracing::info!(%broker, "MQTT broker connected");
                (said, connected_at) = (false, Some(Instant::now()));
                if signals.send(Signal::Connected).await.is_err() {
                    return;
                }
            }
            Ok(rumqttc::Event::Outgoing(Outgoing::Disconnect)) | Err(ConnectionError::RequestsDone) => return,
            Ok(_) => {}
            Err(error) => {
                if !said {
                    let hint = hint(&error);
                    tracing::warn!(%broker, %error, "no connection to the MQTT broker; trying again; {hint}");
                    said = true;
                }
                // First nothing more is handed over, then what was is taken back: else the next
                // connection would say that before what is older.
                let (silent, is_silent) = oneshot::channel();
                if signals.send(Signal::Lost(silent)).await.is_err() || is_silent.await.is_err() {
                    return;
                }
                if signals.send(Signal::Unconfirmed(take_unconfirmed(&mut events))).await.is_err() {
                    return;
                }
                let connected_at = connected_at.take();
                if connected_at.is_some_and(|at: Instant| at.elapsed() >= AGAIN_AFTER[1]) {
                    again_after = AGAIN_AFTER[0];
                }
                sleep(again_after).await;
                again_after = (2 * again_after).min(AGAIN_AFTER[1]);
            }
        }
    }
}

/// Takes back what was handed over and not confirmed, in its order.
fn take_unconfirmed(events: &mut EventLoop) -> Vec<Said> {
    events.clean();
    let (mut sent, mut not_sent) = (Vec::new(), Vec::new());
    for request in std::mem::take(&mut events.pending) {
        match request {
            Request::Publish(publish) if publish.pkid == 0 => not_sent.push(publish),
            Request::Publish(publish) => sent.push(publish),
            _ => {}
        }
    }
    // It waits for the identifier of one that was not confirmed. rumqttc keeps it over
    // connections, and sends nothing until that comes.
    let waiting = events.state.collision.take();
    let all = sent.into_iter().chain(waiting).chain(not_sent);
    all.map(|publish| Said::again(publish.topic, &publish.payload, publish.retain)).collect()
}

/// Returns the remedy for a failed connection.
fn hint(error: &ConnectionError) -> &'static str {
    match error {
        ConnectionError::ConnectionRefused(
            ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized,
        ) => "look at the user in --mqtt and at --mqtt-password-file",
        ConnectionError::Tls(TlsError::Io(error)) => {
            match error.get_ref().and_then(|error| error.downcast_ref()) {
                Some(rustls::Error::InvalidCertificate(
                    CertificateError::UnknownIssuer | CertificateError::BadSignature,
                )) => {
                    "nobody who is trusted here has signed the broker's certificate: give the authority's with --mqtt-ca FILE"
                }
                Some(rustls::Error::InvalidCertificate(_)) => {
                    "the broker's certificate is not for this name or time: look at --mqtt, and have the broker's renewed"
                }
                _ => "is TLS on that port? look at --mqtt",
            }
        }
        _ => "messages wait meanwhile",
    }
}

struct Work {
    client: AsyncClient,
    meters: ReadMeters,
    names: Names,
    telegrams: TelegramTopics,
    /// The messages of each new connection, before all that waits: their number is that of meters.
    greetings: VecDeque<Said>,
    waiting: VecDeque<Said>,
    /// Messages that had to go since the broker was there.
    lost: u64,
    connected: bool,
    /// Meters whose names are to be read anew.
    changed: BTreeSet<GlobalMeterId>,
    /// Not before.
    names_at: Instant,
}

impl Work {
    async fn run(
        mut self,
        mut events: broadcast::Receiver<Event>,
        mut signalled: mpsc::Receiver<Signal>,
        mut stopped: oneshot::Receiver<()>,
    ) {
        loop {
            let next = self.greetings.front().or_else(|| self.waiting.front());
            let next = next.filter(|_| self.connected).cloned();
            tokio::select! {
                _ = &mut stopped => break,
                signal = signalled.recv() => match signal {
                    Some(Signal::Connected) => self.connected().await,
                    Some(Signal::Lost(silent)) => {
                        self.connected = false;
                        // It waits for this.
                        let _ = silent.send(());
                    }
                    Some(Signal::Unconfirmed(unconfirmed)) => self.disconnected(unconfirmed),
                    None => return,
                },
                event = events.recv() => match event {
                    Ok(event) => self.take(event).await,
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "MQTT is behind: events were not published; they are stored");
                    }
                    Err(RecvError::Closed) => break,
                },
                () = sleep_until(self.names_at), if !self.changed.is_empty() => {
                    self.names_at = Instant::now() + NAMES_EVERY;
                    let changed = std::mem::take(&mut self.changed);
                    let said = self.read_meters(|meter| changed.contains(&meter)).await;
                    self.waiting.extend(said);
                }
                given = hand_over(&self.client, next) => match given {
                    Ok(()) => drop(self.greetings.pop_front().or_else(|| self.waiting.pop_front())),
                    Err(_) => return,
                },
            }
        }
        let good_bye = async {
            let offline = Said::retained(STATUS, topics::OFFLINE);
            if self.connected && hand_over(&self.client, Some(offline)).await.is_ok() {
                // Given after all that was handed over before it.
                let _ = self.client.disconnect().await;
            }
        };
        let _ = timeout(STOPPED_WITHIN, good_bye).await;
    }

    async fn connected(&mut self) {
        self.connected = true;
        if self.lost > 0 {
            tracing::warn!(
                lost = self.lost,
                "MQTT broker was away for long: the oldest messages are gone; they are stored"
            );
            self.lost = 0;
        }
        // Greetings go before the readings of meters.
        let said = self.read_meters(|_| true).await;
        self.greetings.push_back(Said::retained(STATUS, topics::ONLINE));
        self.greetings.extend(said);
        self.greetings.extend(self.telegrams.sensors());
    }

    fn disconnected(&mut self, unconfirmed: Vec<Said>) {
        for said in unconfirmed.into_iter().rev().filter(|said| !said.is_of_the_connection()) {
            self.waiting.push_front(said);
        }
        // Greetings are sent anew at the next connection.
        self.greetings.clear();
        self.waiting.retain(|said| !said.is_of_the_connection());
        self.bound();
    }

    async fn take(&mut self, event: Event) {
        match event {
            Event::Reading(reading) => {
                if !self.names.knows(reading.meter) {
                    let said = self.read_meters(|meter| meter == reading.meter).await;
                    self.waiting.extend(said);
                }
                self.waiting.extend(self.names.reading(&reading));
            }
            Event::Alert(alert) => self.waiting.push_back(topics::alert(&alert)),
            Event::Meter { meter } => {
                self.changed.insert(meter);
            }
            Event::Telegram(telegram) => self.waiting.extend(self.telegrams.telegram(&telegram)),
            Event::MbusMeterRemoved { meter } => self.waiting.extend(self.telegrams.removed(meter)),
            Event::Missed => {
                tracing::warn!(
                    "MQTT: events of workers did not come and were not published; they are stored"
                );
            }
            Event::Command(_) | Event::Update { .. } => {}
        }
        self.bound();
    }

    /// Reads the meters' names anew, and returns what is to be said of some of them.
    async fn read_meters(&mut self, of: impl Fn(GlobalMeterId) -> bool) -> Vec<Said> {
        let read = self.meters.clone();
        let meters = match tokio::task::spawn_blocking(move || read()).await {
            Ok(Ok(meters)) => meters,
            Ok(Err(error)) => {
                tracing::warn!(%error, "MQTT: the meters' names cannot be read");
                return Vec::new();
            }
            // The runtime is going down.
            Err(_) => return Vec::new(),
        };
        let meters: BTreeMap<GlobalMeterId, Meter> =
            meters.into_iter().map(|meter| (meter.meter, meter)).collect();
        self.names = Names::of(&meters);
        let said = meters.values().filter(|meter| of(meter.meter));
        said.flat_map(topics::discovery).collect()
    }

    fn bound(&mut self) {
        while self.waiting.len() > WAITING_MAX {
            self.waiting.pop_front();
            self.lost += 1;
        }
    }
}

/// Hands a message over to the connection; never ends where there is none.
async fn hand_over(client: &AsyncClient, said: Option<Said>) -> Result<(), rumqttc::ClientError> {
    match said {
        Some(Said { topic, payload, retain }) => {
            client.publish(topic, QoS::AtLeastOnce, retain, payload).await
        }
        None => std::future::pending().await,
    }
}
