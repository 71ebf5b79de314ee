//! A meter of `crates/wire`'s own sealing, and a gateway between it and a running service.

use collector::gateway::{GatewayId, HeardPacket, Route, Transmit};
use collector::meters::MetersHandle;
use collector::network::GlobalMeterId;
use collector::registry::{MeterFile, Registry};
use collector::service::{Config, Running};
use rand::{SeedableRng, rngs::StdRng};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wire::meter::{
    Address, Answer, Channel, Command, CommandResult, Content, Measurement, MessageKind, MeterId, Packet,
    Provision, PublicKey, Reassembly, Report, Setup, Suite, packets,
};

/// Long enough for two seconds of the registry's watch.
pub const WITHIN: Duration = Duration::from_secs(10);

/// The transmissions by route.
pub struct Gateway {
    pub id: GatewayId,
    sent: Receiver<(Route, Vec<u8>)>,
}

struct Sent(Sender<(Route, Vec<u8>)>);

impl Transmit for Sent {
    fn transmit(&self, route: Route, packets: &[Vec<u8>]) {
        for packet in packets {
            let _ = self.0.send((route, packet.clone()));
        }
    }
}

impl Gateway {
    pub fn attach(handle: &MetersHandle) -> Gateway {
        let (out, sent) = channel();
        Gateway { id: handle.gateways().attach(Arc::new(Sent(out))), sent }
    }

    pub fn route(&self, port: u16) -> Route {
        Route { gateway: self.id, peer: Some(SocketAddr::from(([127, 0, 0, 1], port))) }
    }

    pub fn hear(&self, handle: &MetersHandle, port: u16, packets: &[Vec<u8>]) {
        for packet in packets {
            let heard = HeardPacket { route: self.route(port), bytes: packet.clone(), rssi_dbm: Some(-61) };
            assert!(handle.hear(heard));
        }
    }

    /// The next acknowledgement; a collector may ask for the time of a meter whose report was late,
    /// too.
    pub fn next_acknowledgement(&self, within: Duration) -> Option<(Route, MessageKind, Suite, Vec<u8>)> {
        loop {
            let sent = self.next(within)?;
            if sent.1 == MessageKind::Acknowledgement {
                return Some(sent);
            }
        }
    }

    /// The next packet that was sent; `None` where none comes for a time.
    pub fn next_packet(&self, within: Duration) -> Option<Vec<u8>> {
        self.sent.recv_timeout(within).ok().map(|(_, packet)| packet)
    }

    /// The next message that was sent, and where to; `None` where nothing comes for a time.
    pub fn next(&self, within: Duration) -> Option<(Route, MessageKind, Suite, Vec<u8>)> {
        let mut reassembly = Reassembly::default();
        loop {
            let (route, packet) = self.sent.recv_timeout(within).ok()?;
            let packet = Packet::parse(&packet).expect("well-formed");
            if let Some(message) = reassembly.take(&packet) {
                return Some((route, message.kind, message.suite, message.bytes));
            }
        }
    }
}

pub struct SimulatedMeter {
    pub provision: Provision,
    pub suite: Suite,
    pub collector: PublicKey,
    pub n: u32,
    rng: StdRng,
}

impl SimulatedMeter {
    /// A meter of network 0 whose key file lies in the folder.
    pub fn register(keys: &Path, meter: MeterId, suite: Suite, epoch: u32) -> SimulatedMeter {
        SimulatedMeter::register_in(keys, meter.into(), suite, epoch)
    }

    /// A meter whose key file lies in its network's folder.
    pub fn register_in(keys: &Path, meter: GlobalMeterId, suite: Suite, epoch: u32) -> SimulatedMeter {
        let GlobalMeterId { network, meter } = meter;
        let registry = Registry::open_network(keys, network).expect("keys");
        let collector = *registry.identity().public();
        let seed = u64::from(network.0) << 48 ^ u64::from(meter) << 32 | u64::from(epoch);
        let mut rng = StdRng::seed_from_u64(seed);
        let provision = Provision::generate(Setup { suite, ..Setup::usual(meter) }, &collector, &mut rng);
        let file = MeterFile { network, epoch, record: provision.record() };
        put(
            &registry.path().expect("files").join(format!("meters/{meter:05}.toml")),
            &toml::to_string(&file).expect("a file"),
        );
        SimulatedMeter { provision, suite, collector, n: 0, rng }
    }

    pub fn channel<T>(&self, with: impl FnOnce(Channel<'_>) -> T) -> T {
        let record = self.provision.record();
        let (own, peer) = (self.provision.identity(), &self.collector);
        with(Channel { meter: record.setup.meter, keys: &record.keys, own, peer })
    }

    /// The packets of a report.
    pub fn send(&mut self, report: &Report) -> Vec<Vec<u8>> {
        let mut rng = self.rng.clone();
        let (kind, suite, n) = (MessageKind::Report, self.suite, report.n);
        let sealed = self.channel(|channel| channel.seal(kind, suite, n, &report.to_bytes(), &mut rng));
        self.rng = rng;
        let setup = self.provision.setup();
        packets(setup.collector_address, kind, suite, setup.meter, n, &sealed)
    }

    /// The packets of the next measurement, whose time is right.
    pub fn report(&mut self) -> Vec<Vec<u8>> {
        self.n += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let measurement =
            Measurement { time_s: (now - 946_684_800) as u32, energy_dwh: self.n, power_w: 412 };
        let content = Content::Measurement(measurement);
        self.send(&Report { n: self.n, time_set: true, lost: 0, content })
    }

    pub fn answer(&mut self, m: u32, outcome: CommandResult) -> Vec<Vec<u8>> {
        self.answer_with(Answer { m, outcome, body: [0; 11] })
    }

    pub fn answer_with(&mut self, answer: Answer) -> Vec<Vec<u8>> {
        self.n += 1;
        let (suite, n, setup) = (self.suite, self.n, *self.provision.setup());
        let address = Address::provisioned(&setup);
        let sealed = self.channel(|channel| channel.answer(suite, n, address, &answer.to_bytes()));
        packets(setup.collector_address, MessageKind::Answer, suite, setup.meter, n, &sealed)
    }

    pub fn acknowledged(&self, (_, kind, suite, bytes): &(Route, MessageKind, Suite, Vec<u8>)) -> u32 {
        assert_eq!(*kind, MessageKind::Acknowledgement);
        self.opens_acknowledgement(*suite, bytes).expect("the collector's")
    }

    /// The n that an acknowledgement is of; `None` where it is not its collector's.
    pub fn opens_acknowledgement(&self, suite: Suite, bytes: &[u8]) -> Option<u32> {
        self.channel(|channel| channel.open_acknowledgement(suite, bytes)).ok()
    }

    pub fn command(&self, (_, kind, suite, bytes): &(Route, MessageKind, Suite, Vec<u8>)) -> (u32, Command) {
        assert_eq!(*kind, MessageKind::Command);
        let opened = self.channel(|channel| channel.open(*kind, *suite, bytes)).expect("the collector's");
        Command::from_bytes(&opened.plaintext).expect("a command")
    }
}

/// A file for its owner only, whole or not at all.
pub fn put(path: &Path, text: &str) {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let folder = path.parent().expect("in a folder");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("a folder");
    let next = path.with_extension("next");
    let mut file = std::fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&next)
        .expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    std::fs::rename(&next, path).expect("in place");
}

/// A service that takes what is not sealed, too.
pub async fn start(folder: &Path) -> Running {
    start_with(folder, |_| {}).await
}

pub async fn start_with(folder: &Path, change: impl FnOnce(&mut Config)) -> Running {
    let mut config = Config::new(folder.join("test.db"), folder.join("keys"));
    config.require_sealed = Some(false);
    change(&mut config);
    Running::start(config).await.expect("it starts")
}
