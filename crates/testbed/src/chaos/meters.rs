//! Meters that keep what they sent and what they heard: the client that the cluster is checked
//! with.
//!
//! They seal as `crates/wire` does, send by UDP to a gateway, and send a report again until it is
//! acknowledged. A command they do once, by its number, and answer again where it comes again
//! (docs/reference/protocol.md, "Acknowledgement, resending, order").

use crate::chaos::ClusterError;
use collector::gateway::udp::{DATAGRAM_BYTES_MAX, datagram, parse};
use collector::network::NetworkId;
use collector::registry::{MeterFile, Registry};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;
use wire::meter::{
    Address, Answer, Channel, Command, CommandResult, Content, Measurement, MessageKind, MeterId, Packet,
    Provision, PublicKey, Reassembly, Report, Setup, Suite, packets,
};
use zeroize::Zeroizing;

/// 2000-01-01 00:00:00 UTC in Unix seconds.
pub const METERS_EPOCH_S: u64 = 946_684_800;
/// The first one's number.
const FIRST: MeterId = 1001;
/// One after the other, so that each slice and each way of sealing that packets of several pieces
/// take is there.
const SUITES: [Suite; 4] = [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::EciesEcdsa, Suite::AsconAead128];
/// From an acknowledgement to the next report, between the half of it and this and a half.
const PAUSE: Duration = Duration::from_millis(500);
/// Without an acknowledgement for so long a report is sent again.
const AGAIN_AFTER: Duration = Duration::from_millis(400);
/// Reports that waited for longer are remembered one by one.
const LONG: Duration = Duration::from_millis(500);

/// A reading, as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub n: u32,
    pub measurement: Measurement,
}

/// A report that waited long for its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub from: Instant,
    pub lasted: Duration,
}

/// Observations of all meters.
#[derive(Clone, Debug, Default)]
pub struct Noticed {
    /// Readings that were acknowledged.
    pub acknowledged: u64,
    /// Reports that were sent again, each time.
    pub resent: u64,
    pub longest: Duration,
    /// Those that waited long.
    pub waits: Vec<Wait>,
    /// Reports that wait for their acknowledgement.
    pub waiting: Vec<Waiting>,
}

/// A report that waits for its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub meter: MeterId,
    pub n: u32,
    /// By which it is sent.
    pub gateway: SocketAddr,
    pub since: Instant,
}

/// A meter.
pub struct Meter {
    pub id: MeterId,
    suite: Suite,
    provision: Provision,
    collector: PublicKey,
    gateway: SocketAddr,
    /// The last number that it gave to a message.
    n: u32,
    /// All readings, in order; those before the one under way are acknowledged.
    pub sent: Vec<Sent>,
    under_way: Option<UnderWay>,
    due: Instant,
    last_command: Option<(u32, [u8; 16])>,
    /// Commands that it did, in order.
    pub done: Vec<(u32, Command)>,
    reassembly: Reassembly,
}

struct UnderWay {
    n: u32,
    datagrams: VecDeque<Vec<u8>>,
    first: Instant,
    last: Instant,
}

impl Meter {
    /// Readings whose acknowledgement it heard.
    #[must_use]
    pub fn acknowledged(&self) -> &[Sent] {
        &self.sent[..self.sent.len() - usize::from(self.under_way.is_some())]
    }

    fn waiting(&self) -> Option<Waiting> {
        let UnderWay { n, first, .. } = self.under_way.as_ref()?;
        Some(Waiting { meter: self.id, n: *n, gateway: self.gateway, since: *first })
    }

    /// Returns its suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suite
    }

    fn channel<T>(&self, with: impl FnOnce(Channel<'_>) -> T) -> T {
        let record = self.provision.record();
        let (own, peer) = (self.provision.identity(), &self.collector);
        with(Channel { meter: self.id, keys: &record.keys, own, peer })
    }

    fn datagrams(&self, kind: MessageKind, n: u32, sealed: &[u8]) -> VecDeque<Vec<u8>> {
        let to = self.provision.setup().collector_address;
        let cut = packets(to, kind, self.suite, self.id, n, sealed);
        cut.iter().filter_map(|packet| datagram(packet, Some(-60))).collect()
    }

    /// Makes the next report.
    fn measure(&mut self, rng: &mut StdRng, now: Instant) {
        self.n += 1;
        let (n, count) = (self.n, self.sent.len() as u32 + 1);
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let measurement = Measurement {
            time_s: now_s.saturating_sub(METERS_EPOCH_S) as u32,
            energy_dwh: count,
            power_w: rng.random_range(0..4000),
        };
        let report = Report { n, time_set: true, lost: 0, content: Content::Measurement(measurement) };
        let bytes = report.to_bytes();
        let sealed = self.channel(|channel| channel.seal(MessageKind::Report, self.suite, n, &bytes, rng));
        let datagrams = self.datagrams(MessageKind::Report, n, &sealed);
        self.sent.push(Sent { n, measurement });
        self.under_way = Some(UnderWay { n, datagrams, first: now, last: now });
    }

    /// An acknowledgement. Returns how long its report waited, if it is that of the report under
    /// way.
    fn acknowledge(&mut self, suite: Suite, bytes: &[u8], now: Instant) -> Option<Wait> {
        let n = self.channel(|channel| channel.open_acknowledgement(suite, bytes)).ok()?;
        let waited = self.under_way.take_if(|under_way| under_way.n == n && suite == self.suite)?;
        Some(Wait { from: waited.first, lasted: now.duration_since(waited.first) })
    }

    /// A command. Returns the answer's datagrams.
    fn command(&mut self, suite: Suite, bytes: &[u8]) -> Option<VecDeque<Vec<u8>>> {
        let opened = self.channel(|channel| channel.open(MessageKind::Command, suite, bytes)).ok()?;
        let (m, command) = Command::from_bytes(&opened.plaintext).ok()?;
        let (mut outcome, mut body) = (CommandResult::Done, [0; 11]);
        match self.last_command {
            Some(last) if last == (m, opened.plaintext) => {}
            Some((last, _)) if m <= last => {
                outcome = CommandResult::NumberTooLow;
                body[..4].copy_from_slice(&last.to_be_bytes());
            }
            _ => {
                self.last_command = Some((m, opened.plaintext));
                self.done.push((m, command));
            }
        }
        self.n += 1;
        let (n, address) = (self.n, Address::provisioned(self.provision.setup()));
        let answer = Answer { m, outcome, body }.to_bytes();
        let sealed = self.channel(|channel| channel.answer(self.suite, n, address, &answer));
        Some(self.datagrams(MessageKind::Answer, n, &sealed))
    }
}

/// Registers a meter as any other: from a file that nobody else may read.
///
/// # Errors
/// [`ClusterError`]
pub fn register(registry: &Registry, folder: &Path, file: &MeterFile) -> Result<(), ClusterError> {
    let failed = |error| ClusterError::File { path: folder.into(), error };
    let text = toml::to_string(file).map(Zeroizing::new);
    let text = text.map_err(|error| failed(std::io::Error::other(error)))?;
    let mut passing = NamedTempFile::new_in(folder).map_err(failed)?;
    passing.write_all(text.as_bytes()).map_err(failed)?;
    registry.add(passing.path())?;
    Ok(())
}

/// All of them, with their socket.
pub struct Meters {
    pub meters: Vec<Meter>,
    socket: UdpSocket,
    rng: StdRng,
    noticed: Arc<Mutex<Noticed>>,
}

impl Meters {
    /// Makes them, and registers them with the collector whose keys these are. folder: for their
    /// key files. seed: of what they measure, and when.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn new(
        count: MeterId,
        registry: &Registry,
        folder: &Path,
        seed: u64,
    ) -> Result<Meters, ClusterError> {
        let collector = *registry.identity().public();
        let mut meters = Vec::new();
        for (id, suite) in (FIRST..FIRST + count).zip(SUITES.into_iter().cycle()) {
            // Keys are the system's, whatever the seed is.
            let provision =
                Provision::generate(Setup { suite, ..Setup::usual(id) }, &collector, &mut rand::rng());
            let file = MeterFile { network: NetworkId::DEFAULT, epoch: 1, record: provision.record() };
            register(registry, folder, &file)?;
            meters.push(Meter {
                id,
                suite,
                provision,
                collector,
                gateway: ([127, 0, 0, 1], 0).into(),
                n: 0,
                sent: Vec::new(),
                under_way: None,
                due: Instant::now(),
                last_command: None,
                done: Vec::new(),
                reassembly: Reassembly::default(),
            });
        }
        let failed = |error| ClusterError::Socket { error };
        let socket = UdpSocket::bind("127.0.0.1:0").map_err(failed)?;
        socket.set_read_timeout(Some(Duration::from_millis(5))).map_err(failed)?;
        Ok(Meters { meters, socket, rng: StdRng::seed_from_u64(seed), noticed: Arc::default() })
    }

    /// Returns their observations while they run.
    #[must_use]
    pub fn noticed(&self) -> Arc<Mutex<Noticed>> {
        Arc::clone(&self.noticed)
    }

    /// Measures and sends, each by the gateway that it is near to. last: makes no new report from
    /// then on. over: ends at once.
    #[must_use]
    pub fn run(mut self, gateways: &[SocketAddr], last: &AtomicBool, over: &AtomicBool) -> Meters {
        for (meter, gateway) in self.meters.iter_mut().zip(gateways.iter().cycle()) {
            meter.gateway = *gateway;
        }
        loop {
            let is_last = last.load(Ordering::Relaxed);
            let waiting = self.meters.iter().filter_map(Meter::waiting).collect();
            self.noticed.lock().unwrap_or_else(PoisonError::into_inner).waiting = waiting;
            if over.load(Ordering::Relaxed) {
                return self;
            }
            let now = Instant::now();
            for index in 0..self.meters.len() {
                self.send(index, now, is_last);
            }
            self.hear(now + Duration::from_millis(10));
        }
    }

    fn send(&mut self, index: usize, now: Instant, is_last: bool) {
        let meter = &mut self.meters[index];
        let is_new = meter.under_way.is_none();
        // Each sends one at least, however soon it is the last.
        let is_over = is_last && !meter.sent.is_empty();
        if is_new && (is_over || now < meter.due) {
            return;
        }
        if is_new {
            meter.measure(&mut self.rng, now);
        }
        let Some(under_way) = &mut meter.under_way else { return };
        if !is_new && now.duration_since(under_way.last) < AGAIN_AFTER {
            return;
        }
        for datagram in &under_way.datagrams {
            // Where nobody listens it is lost, as by radio.
            let _ = self.socket.send_to(datagram, meter.gateway);
        }
        under_way.last = now;
        // Each attempt begins with another piece.
        under_way.datagrams.rotate_left(1);
        if !is_new {
            self.noticed.lock().unwrap_or_else(PoisonError::into_inner).resent += 1;
        }
    }

    fn hear(&mut self, until: Instant) {
        let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
        while Instant::now() < until {
            // Nothing came, or nobody is there at the moment.
            let Ok(length) = self.socket.recv(&mut buffer) else { continue };
            self.take(&buffer[..length]);
        }
    }

    fn take(&mut self, datagram: &[u8]) -> Option<()> {
        let packet = Packet::parse(parse(datagram)?.0).ok()?;
        let meter = self.meters.get_mut(usize::from(packet.meter.checked_sub(FIRST)?))?;
        let message = meter.reassembly.take(&packet)?;
        let now = Instant::now();
        match message.kind {
            MessageKind::Acknowledgement => {
                let wait = meter.acknowledge(message.suite, &message.bytes, now)?;
                meter.due = now + PAUSE.mul_f64(self.rng.random_range(0.5..1.5));
                let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
                noticed.acknowledged += 1;
                noticed.longest = noticed.longest.max(wait.lasted);
                if wait.lasted > LONG {
                    noticed.waits.push(wait);
                }
            }
            MessageKind::Command => {
                for datagram in meter.command(message.suite, &message.bytes)? {
                    let _ = self.socket.send_to(&datagram, meter.gateway);
                }
            }
            MessageKind::Report | MessageKind::Answer => {}
        }
        Some(())
    }
}
