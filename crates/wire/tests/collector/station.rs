//! A meter that is made of this crate's own sealing, for tests of the collector.

use rand::rngs::StdRng;
use wire::meter::{
    Answer, Channel, Collector, Command, Content, Identity, Kind, Measurement, MeterId, MeterState, Outcome,
    Packet, Policy, Provision, PublicKey, Reassembly, Report, Setup, Suite, Transmission, packets,
};

/// 2026-01-01 00:00:00 UTC, in milliseconds since 2000-01-01.
pub const NOW_MS: u64 = 820_540_800_000;
/// The same in seconds.
pub const NOW_S: u32 = (NOW_MS / 1000) as u32;
/// Radio address of the collector.
pub const COLLECTOR: u8 = 0x41;

/// As it is made.
pub fn setup(meter: MeterId, suite: Suite) -> Setup {
    Setup { address: 0x42, collector_address: COLLECTOR, suite, ..Setup::usual(meter) }
}

/// The meter.
pub struct Station {
    pub provision: Provision,
    pub collector: PublicKey,
    pub suite: Suite,
    pub name: MeterId,
    pub n: u32,
    pub last_m: u32,
    pub time_set: bool,
    reassembly: Reassembly,
}

/// A collector, and a meter that it knows for each of these suites: 1, 2 and so on.
pub fn house(suites: &[Suite], policy: Policy, rng: &mut StdRng) -> (Collector, Vec<Station>) {
    let identity = Identity::generate(rng);
    let public = *identity.public();
    let mut collector = Collector::new(identity, policy);
    let meters = (1..).zip(suites).map(|(meter, suite)| {
        let provision = Provision::generate(setup(meter, *suite), &public, rng);
        let record = provision.record();
        let state = MeterState::new(&record);
        collector.add(record, state).expect("a new one");
        Station::new(provision, public)
    });
    let meters = meters.collect();
    (collector, meters)
}

impl Station {
    pub fn new(provision: Provision, collector: PublicKey) -> Station {
        let Setup { meter: name, suite, .. } = *provision.setup();
        let reassembly = Reassembly::default();
        Station { provision, collector, suite, name, n: 0, last_m: 0, time_set: true, reassembly }
    }

    fn send(&self, kind: Kind, number: u32, plaintext: &[u8; 16], rng: &mut StdRng) -> Vec<Vec<u8>> {
        let record = self.provision.record();
        let (own, peer) = (self.provision.identity(), &self.collector);
        let channel = Channel { meter: record.setup.meter, keys: &record.keys, own, peer };
        let sealed = channel.seal(kind, self.suite, number, plaintext, rng);
        packets(COLLECTOR, kind, self.suite, self.name, number, &sealed)
    }

    /// The packets of a measurement of this time.
    pub fn report(&mut self, time_s: u32, rng: &mut StdRng) -> Vec<Vec<u8>> {
        self.n += 1;
        let content = Content::Measurement(Measurement { time_s, energy_dwh: self.n, power_w: -1 });
        let report = Report { n: self.n, time_set: self.time_set, lost: 0, content };
        self.send(Kind::Report, self.n, &report.to_bytes(), rng)
    }

    /// Hears a command: what it is, where the meter takes it or had it last.
    pub fn hear(&mut self, sent: &Transmission) -> Option<(u32, Command)> {
        let mut whole = None;
        for packet in &sent.packets {
            let packet = Packet::parse(packet).expect("well-formed");
            if (packet.meter, packet.kind, packet.suite) == (self.name, Kind::Command, self.suite) {
                whole = self.reassembly.take(&packet);
            }
        }
        let record = self.provision.record();
        let (own, peer) = (self.provision.identity(), &self.collector);
        let channel = Channel { meter: record.setup.meter, keys: &record.keys, own, peer };
        let whole = whole?;
        // Pieces of what a collector sealed before it began anew and after it make nothing.
        let opened = channel.open(whole.kind, whole.suite, &whole.bytes).ok()?;
        let (m, command) = Command::from_bytes(&opened.plaintext).expect("a command");
        assert_eq!((opened.number, m as u8), (Some(m), whole.low));
        if m < self.last_m {
            return None;
        }
        self.last_m = m;
        if let Command::Configure { suite, .. } = command {
            self.suite = suite;
        }
        if let Command::Register { meter, .. } = command {
            self.name = meter;
        }
        Some((m, command))
    }

    /// The packets of an answer.
    pub fn answer(&mut self, m: u32, outcome: Outcome, body: [u8; 11], rng: &mut StdRng) -> Vec<Vec<u8>> {
        self.n += 1;
        self.send(Kind::Answer, self.n, &Answer { m, outcome, body }.to_bytes(), rng)
    }

    /// The n that an acknowledgement is of.
    pub fn acknowledged(&self, sent: &Transmission, suite: Suite) -> u32 {
        let record = self.provision.record();
        let (own, peer) = (self.provision.identity(), &self.collector);
        let channel = Channel { meter: record.setup.meter, keys: &record.keys, own, peer };
        let [packet] = sent.packets.as_slice() else { panic!("one packet: {sent:?}") };
        let packet = Packet::parse(packet).expect("well-formed");
        assert_eq!((packet.kind, packet.suite, packet.meter), (Kind::Acknowledgement, suite, self.name));
        let n = channel.open_acknowledgement(suite, packet.body).expect("the collector's");
        assert_eq!(packet.low, n as u8);
        n
    }
}
