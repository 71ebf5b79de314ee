//! The service of the telegrams: hears the sources, and takes their lines to the store.

use super::published::published;
use super::queue::{RawTelegram, TelegramQueue};
use super::receiver::TelegramReceiver;
use super::refusal::Refusal;
use super::source::{Sender, TelegramSource};
use crate::event::{self, Event};
use crate::gateway::serial::SerialLine;
use crate::gateway::serial::text::Lines;
use crate::mbus_meter::MbusMeterId;
use crate::registry::{KeyStore, MbusRevision, RegistryError};
use crate::source_prefix::source_prefix;
use crate::store::{NewTelegram, Reader, StoreError, Write, Written};
use crate::writer::WriterHandle;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_serial::{SerialPortBuilderExt, SerialStream};
use wire::wireless_mbus::{LINE_BYTES_MAX, ModuleFrames, RadioModule, ReceivedFrame};

/// Lines and frames whose telegrams are stored in one transaction.
const BATCH_MAX: usize = 64;
/// docs/how-to/collector/files.md, "Files": a running service takes a change within two seconds.
const LOOK_EVERY: Duration = Duration::from_millis(1500);
/// Refusals are counted in memory for that long.
const COUNT_EVERY: Duration = Duration::from_secs(10);
/// After a serial line was lost, or could not be opened.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A module's frame is whole before its line is silent for that long.
const SILENCE: Duration = Duration::from_millis(250);
/// Bytes without one telegram after which the log asks whether the module is another one.
const UNREAD_BYTES_MAX: usize = 4096;
/// The store has that long for what waits at the end.
const END_WITHIN: Duration = Duration::from_secs(5);

/// The configuration of the telegrams' intake.
#[derive(Clone, Debug)]
pub struct Intake {
    pub sources: Vec<TelegramSource>,
    /// Takes telegrams of all registered meters that nothing authenticates.
    pub unauthenticated: bool,
    /// The zone of the meters' clocks.
    pub zone: TimeZone,
}

/// Tells observers of something that is durable.
pub type TellObservers = Box<dyn Fn(Event) + Send + Sync>;

/// The running intake.
pub struct TelegramIntake {
    inbox: Arc<Inbox>,
    sources: Vec<JoinHandle<()>>,
    udp: Vec<SocketAddr>,
    work: JoinHandle<()>,
}

/// Raw telegrams that wait for the worker.
#[derive(Default)]
struct Inbox {
    queue: Mutex<TelegramQueue>,
    more: Notify,
    end: Notify,
}

/// A meter's refused telegrams that are not counted in the store yet.
struct Refused {
    count: u32,
    reason: String,
}

impl Inbox {
    fn push_line(&self, sender: Sender, line: &[u8]) {
        // Bytes that are no text are no telegram either.
        let Ok(line) = str::from_utf8(line) else { return };
        self.push(sender, RawTelegram::Line(line.to_owned()));
    }

    fn push(&self, sender: Sender, telegram: RawTelegram) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push(sender, telegram);
        self.more.notify_one();
    }

    fn take(&self) -> Vec<(Sender, RawTelegram)> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let telegrams: Vec<_> = (0..BATCH_MAX).map_while(|_| queue.pop()).collect();
        if !queue.is_empty() {
            self.more.notify_one();
        }
        telegrams
    }
}

impl TelegramIntake {
    /// Starts to hear the sources. Needs a tokio runtime.
    ///
    /// # Errors
    /// The keys or the counters cannot be read, or the system refuses an address.
    pub async fn start(
        intake: Intake,
        keys: KeyStore,
        reader: Reader,
        writer: WriterHandle,
        tell_observers: TellObservers,
    ) -> Result<TelegramIntake, IntakeError> {
        let receiver = TelegramReceiver::new(intake.zone, intake.unauthenticated);
        let (registered, refused) = (BTreeSet::new(), BTreeMap::new());
        let worker =
            Worker { receiver, keys, reader, writer, tell_observers, revision: None, registered, refused };
        let loaded = tokio::task::spawn_blocking(move || worker.load()).await;
        let worker = loaded.map_err(|_| IntakeError::Ended)??;
        let inbox = Arc::new(Inbox::default());
        let (mut sources, mut udp) = (Vec::new(), Vec::new());
        for (number, source) in intake.sources.into_iter().enumerate() {
            let inbox = inbox.clone();
            match source {
                TelegramSource::Input => hear_input(number, inbox).map_err(IntakeError::Thread)?,
                TelegramSource::Serial(line) => {
                    sources.push(tokio::spawn(hear_serial(number, None, line, inbox)))
                }
                TelegramSource::Module(module, line) => {
                    sources.push(tokio::spawn(hear_serial(number, Some(module), line, inbox)));
                }
                TelegramSource::Udp(address) => {
                    let refused = |error| IntakeError::Udp { address, error };
                    let socket = UdpSocket::bind(address).await.map_err(refused)?;
                    udp.push(socket.local_addr().map_err(refused)?);
                    sources.push(tokio::spawn(hear_udp(number, socket, inbox)));
                }
            }
        }
        let work = tokio::spawn(worker.run(inbox.clone()));
        Ok(TelegramIntake { inbox, sources, udp, work })
    }

    /// Returns the addresses of the UDP sources, in their order.
    #[must_use]
    pub fn udp(&self) -> &[SocketAddr] {
        &self.udp
    }

    /// Hears no more, and stores what was heard.
    pub async fn stop(self) {
        for source in &self.sources {
            source.abort();
        }
        self.inbox.end.notify_one();
        if timeout(END_WITHIN, self.work).await.is_err() {
            tracing::warn!("telegrams that waited are not stored");
        }
    }
}

/// Why telegrams are not heard.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("telegrams at {address}: {error}; choose another address with --telegrams")]
    Udp { address: SocketAddr, error: io::Error },
    #[error("the system gives no thread: {0}; stop other programs, or raise the limit")]
    Thread(io::Error),
    #[error("the beginning has ended by itself; the log says why")]
    Ended,
}

/// Hears standard input, by a thread that ends with the process.
fn hear_input(source: usize, inbox: Arc<Inbox>) -> io::Result<()> {
    let sender = Sender { source, peer: None };
    let read = move || {
        let (mut lines, mut buffer) = (Lines::up_to(LINE_BYTES_MAX), [0; 4096]);
        let mut input = io::stdin().lock();
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => lines.take(&buffer[..count], |line| inbox.push_line(sender, line)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::error!(%error, "telegrams from standard input have ended");
                    return;
                }
            }
        }
        lines.take(b"\n", |line| inbox.push_line(sender, line));
        tracing::info!("standard input has ended: no more telegrams from there");
    };
    std::thread::Builder::new().name("telegrams".into()).spawn(read).map(drop)
}

/// Hears a serial line, of text or of a module, and opens it again whenever it was lost.
async fn hear_serial(source: usize, module: Option<RadioModule>, line: SerialLine, inbox: Arc<Inbox>) {
    let (sender, device) = (Sender { source, peer: None }, line.device.display().to_string());
    let mut said = false;
    loop {
        match tokio_serial::new(&device, line.baud).open_native_async() {
            Ok(port) => {
                tracing::info!(device, baud = line.baud, "telegrams' serial line open");
                match module {
                    Some(module) => {
                        hear_module(port, module, |frame| inbox.push(sender, RawTelegram::Frame(frame))).await
                    }
                    None => hear_text(port, |line| inbox.push_line(sender, line)).await,
                }
                tracing::warn!(device, "telegrams' serial line lost; trying again each second");
                said = true;
            }
            Err(error) if !said => {
                tracing::warn!(device, %error, "telegrams' serial line cannot be opened; trying again each second");
                said = true;
            }
            Err(_) => {}
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// Hears lines of text until the serial line is lost.
async fn hear_text(mut port: SerialStream, mut hear: impl FnMut(&[u8])) {
    let (mut lines, mut buffer) = (Lines::up_to(LINE_BYTES_MAX), [0; 1024]);
    while let Ok(count @ 1..) = AsyncReadExt::read(&mut port, &mut buffer).await {
        lines.take(&buffer[..count], &mut hear);
    }
}

/// Hears a module's frames until the serial line is lost.
async fn hear_module(mut port: SerialStream, module: RadioModule, mut hear: impl FnMut(ReceivedFrame)) {
    let (mut frames, mut buffer) = (ModuleFrames::new(module), [0; 1024]);
    // Bytes without a telegram, until the first one comes or the log has asked.
    let mut unread = Some(0);
    loop {
        let mut take = |frame| {
            unread = None;
            hear(frame);
        };
        let count = match timeout(SILENCE, AsyncReadExt::read(&mut port, &mut buffer)).await {
            Ok(Ok(count @ 1..)) => {
                frames.take(&buffer[..count], &mut take);
                count
            }
            Ok(_) => return,
            Err(_) => {
                frames.take_silence(&mut take);
                0
            }
        };
        unread = unread.map(|bytes| bytes + count);
        if unread.is_some_and(|bytes| bytes >= UNREAD_BYTES_MAX) {
            tracing::warn!(
                "no telegram in {UNREAD_BYTES_MAX} bytes: is it this module, in command mode, at this baud rate?"
            );
            unread = None;
        }
    }
}

/// Hears datagrams of any sender.
async fn hear_udp(source: usize, socket: UdpSocket, inbox: Arc<Inbox>) {
    let mut buffer = vec![0; 65_536];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, peer)) => {
                let sender = Sender { source, peer: Some(source_prefix(peer.ip())) };
                let mut lines = Lines::up_to(LINE_BYTES_MAX);
                lines.take(&buffer[..length], |line| inbox.push_line(sender, line));
                lines.take(b"\n", |line| inbox.push_line(sender, line));
            }
            Err(error) => {
                tracing::warn!(%error, "telegrams could not be received");
                sleep(AGAIN_AFTER).await;
            }
        }
    }
}

/// Judges lines and stores telegrams.
struct Worker {
    receiver: TelegramReceiver,
    keys: KeyStore,
    reader: Reader,
    writer: WriterHandle,
    tell_observers: TellObservers,
    /// The state of the keys that were read.
    revision: Option<MbusRevision>,
    /// The meters of these keys.
    registered: BTreeSet<MbusMeterId>,
    refused: BTreeMap<MbusMeterId, Refused>,
}

impl Worker {
    /// Reads keys and counters.
    fn load(mut self) -> Result<Worker, IntakeError> {
        self.load_counters()?;
        self.load_meters()?;
        Ok(self)
    }

    fn load_counters(&mut self) -> Result<(), StoreError> {
        let counters = self.reader.mbus_counters()?;
        let named = |(meter, key, counter): (String, _, _)| Some((meter.parse().ok()?, key, counter));
        self.receiver.set_counters(counters.into_iter().filter_map(named));
        Ok(())
    }

    /// Reads the keys again, if they changed.
    fn load_meters(&mut self) -> Result<(), RegistryError> {
        // A change between both is seen the next time.
        let revision = self.keys.mbus_revision()?;
        if self.revision.as_ref() != Some(&revision) {
            let meters = self.keys.mbus_meters()?;
            tracing::info!(meters = meters.len(), "meters of other makers");
            let registered: BTreeSet<MbusMeterId> = meters.keys().copied().collect();
            for meter in self.registered.difference(&registered) {
                (self.tell_observers)(Event::MbusMeterRemoved { meter: *meter });
            }
            self.registered = registered;
            self.receiver.set_meters(meters);
            self.revision = Some(revision);
        }
        Ok(())
    }

    async fn run(mut self, inbox: Arc<Inbox>) {
        let (mut looks, mut counts) = (interval(LOOK_EVERY), interval(COUNT_EVERY));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        counts.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = inbox.end.notified() => break,
                _ = looks.tick() => {
                    let looked = tokio::task::spawn_blocking(move || {
                        let looked = self.load_meters();
                        (self, looked)
                    });
                    let Ok((again, looked)) = looked.await else { return };
                    self = again;
                    if let Err(error) = looked {
                        tracing::error!("{error}");
                    }
                }
                _ = counts.tick() => self.count_refused().await,
                () = inbox.more.notified() => {
                    let heard = inbox.take();
                    let Some(again) = self.store(heard).await else { return };
                    self = again;
                }
            }
        }
        loop {
            let heard = inbox.take();
            if heard.is_empty() {
                break;
            }
            let Some(again) = self.store(heard).await else { return };
            self = again;
        }
        self.count_refused().await;
    }

    /// Takes what was heard, and stores its telegrams in one transaction. `None`: a thread ended.
    async fn store(mut self, heard: Vec<(Sender, RawTelegram)>) -> Option<Worker> {
        let now_ms = now_ms();
        let mut telegrams: Vec<Box<NewTelegram>> = Vec::new();
        for (sender, heard) in heard {
            let received = match heard {
                RawTelegram::Line(line) => self.receiver.receive(sender, &line, now_ms),
                RawTelegram::Frame(frame) => self.receiver.receive_frame(sender, frame, now_ms),
            };
            match received {
                Ok(telegram) => telegrams.extend(telegram.map(Box::new)),
                Err((refusal, meter)) => self.refuse(&refusal, meter),
            }
        }
        if telegrams.is_empty() {
            return Some(self);
        }
        let events: Vec<event::Telegram> = telegrams.iter().map(|telegram| published(telegram)).collect();
        match self.writer.write(telegrams.into_iter().map(Write::Telegram).collect()).await {
            Ok(written) => {
                for (event, written) in events.into_iter().zip(written) {
                    let meter = event.meter;
                    tracing::debug!(%meter, ?written, "telegram");
                    match written {
                        Written::Done => (self.tell_observers)(Event::Telegram(event)),
                        Written::Repeated => {
                            tracing::warn!(%meter, "a telegram's counter is stored already: does another collector hear it, too?");
                        }
                        _ => {}
                    }
                }
                Some(self)
            }
            Err(error) => {
                tracing::error!(%error, telegrams = events.len(), "telegrams are not stored");
                // A telegram that was not stored may come again.
                let reread = tokio::task::spawn_blocking(move || {
                    let reread = self.load_counters();
                    (self, reread)
                });
                let (worker, reread) = reread.await.ok()?;
                if let Err(error) = reread {
                    tracing::error!(%error, "message counters are not read");
                }
                Some(worker)
            }
        }
    }

    fn refuse(&mut self, refusal: &Refusal, meter: Option<MbusMeterId>) {
        tracing::debug!(%refusal, "telegram refused");
        let Some(meter) = meter.filter(|_| !refusal.is_repetition()) else { return };
        let refused = self.refused.entry(meter).or_insert(Refused { count: 0, reason: String::new() });
        refused.count = refused.count.saturating_add(1);
        refused.reason = refusal.to_string();
    }

    /// Counts refusals in the store, where the API shows them.
    async fn count_refused(&mut self) {
        if self.refused.is_empty() {
            return;
        }
        let at_ms = now_ms();
        let writes = std::mem::take(&mut self.refused).into_iter().map(|(meter, refused)| {
            let Refused { count, reason } = refused;
            tracing::warn!(%meter, count, reason, "telegrams refused");
            Write::TelegramsRefused { meter, count, at_ms, reason }
        });
        if let Err(error) = self.writer.write(writes.collect()).await {
            tracing::warn!(%error, "refused telegrams are not counted");
        }
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64)
}
