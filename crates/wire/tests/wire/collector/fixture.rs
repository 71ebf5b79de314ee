//! A meter that is made of this crate's own sealing, for tests of the collector.

use rand::rngs::StdRng;
use wire::meter::{
    Address, Answer, Channel, Collector, Command, CommandResult, Content, Delivery, Due, Identity,
    Measurement, MessageKind, MeterId, MeterState, Packet, Policy, Provision, PublicKey, Reassembly, Report,
    Setup, Suite, Transmission, UplinkOutcome, packets,
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

pub struct TestMeter {
    pub provision: Provision,
    pub collector: PublicKey,
    pub suite: Suite,
    pub address: Address,
    pub n: u32,
    pub last_m: u32,
    last: Option<[u8; 16]>,
    pub time_set: bool,
    reassembly: Reassembly,
}

/// A collector, and a meter that it knows for each of these suites: 1, 2 and so on.
pub fn collector_and_meters(
    suites: &[Suite],
    policy: Policy,
    rng: &mut StdRng,
) -> (Collector, Vec<TestMeter>) {
    let identity = Identity::generate(rng);
    let public = *identity.public();
    let mut collector = Collector::new(identity, policy);
    let meters = (1..).zip(suites).map(|(meter, suite)| {
        let provision = Provision::generate(setup(meter, *suite), &public, rng);
        let record = provision.record();
        let state = MeterState::new(&record);
        collector.add(record, state).expect("a new one");
        TestMeter::new(provision, public)
    });
    let meters = meters.collect();
    (collector, meters)
}

impl TestMeter {
    pub fn new(provision: Provision, collector: PublicKey) -> TestMeter {
        let (suite, address) = (provision.setup().suite, Address::provisioned(provision.setup()));
        let reassembly = Reassembly::default();
        TestMeter {
            provision,
            collector,
            suite,
            address,
            n: 0,
            last_m: 0,
            last: None,
            time_set: true,
            reassembly,
        }
    }

    /// Calls `f` with the meter's end of the channel.
    pub fn with_channel<T>(&self, f: impl FnOnce(&Channel<'_>) -> T) -> T {
        let record = self.provision.record();
        let (own, peer) = (self.provision.identity(), &self.collector);
        f(&Channel { meter: record.setup.meter, keys: &record.keys, own, peer })
    }

    /// The packets of a report.
    pub fn send(&self, report: &Report, rng: &mut StdRng) -> Vec<Vec<u8>> {
        let (kind, suite, n) = (MessageKind::Report, self.suite, report.n);
        let sealed = self.with_channel(|channel| channel.seal(kind, suite, n, &report.to_bytes(), rng));
        packets(COLLECTOR, kind, suite, self.address.name, n, &sealed)
    }

    /// The packets of a measurement of this time.
    pub fn report(&mut self, time_s: u32, rng: &mut StdRng) -> Vec<Vec<u8>> {
        self.n += 1;
        let content = Content::Measurement(Measurement { time_s, energy_dwh: self.n, power_w: -1 });
        let report = Report { n: self.n, time_set: self.time_set, lost: 0, content };
        self.send(&report, rng)
    }

    /// Hears a command: what it is, where the meter takes it or had it last.
    pub fn hear(&mut self, sent: &Transmission) -> Option<(u32, Command)> {
        let mut whole = None;
        for packet in &sent.packets {
            let packet = Packet::parse(packet).expect("well-formed");
            if (packet.meter, packet.kind, packet.suite)
                == (self.address.name, MessageKind::Command, self.suite)
            {
                whole = self.reassembly.take(&packet);
            }
        }
        let whole = whole?;
        // Pieces of what a collector sealed before it began anew and after it make nothing.
        let opened = self.with_channel(|channel| channel.open(whole.kind, whole.suite, &whole.bytes)).ok()?;
        let (m, command) = Command::from_bytes(&opened.plaintext).expect("a command");
        assert_eq!((opened.number, m as u8), (Some(m), whole.number_lsb));
        let same = self.last.is_some_and(|last| last == opened.plaintext);
        if m < self.last_m || m == self.last_m && !same {
            return None;
        }
        (self.last_m, self.last) = (m, Some(opened.plaintext));
        if let Command::Configure { suite, .. } = command {
            self.suite = suite;
        }
        if let Command::Register { meter, address, collector_address } = command {
            self.address = Address { name: meter, radio: address, collector: collector_address };
        }
        Some((m, command))
    }

    /// The packet of an answer.
    pub fn answer(&mut self, m: u32, outcome: CommandResult, body: [u8; 11]) -> Vec<Vec<u8>> {
        self.n += 1;
        let answer = Answer { m, outcome, body }.to_bytes();
        // A command's code is behind its number; 1 is configure.
        let configure = self.last.is_some_and(|last| last[4] == 1);
        let suite = if configure && self.suite == Suite::None { Suite::Aes128Gcm } else { self.suite };
        let sealed = self.with_channel(|channel| channel.answer(suite, self.n, self.address, &answer));
        packets(COLLECTOR, MessageKind::Answer, suite, self.address.name, self.n, &sealed)
    }

    /// The n that an acknowledgement is of.
    pub fn acknowledged(&self, sent: &Transmission, suite: Suite) -> u32 {
        let [packet] = sent.packets.as_slice() else { panic!("one packet: {sent:?}") };
        let packet = Packet::parse(packet).expect("well-formed");
        assert_eq!(
            (packet.kind, packet.suite, packet.meter),
            (MessageKind::Acknowledgement, suite, self.address.name)
        );
        let n = self.with_channel(|channel| channel.open_acknowledgement(suite, packet.body));
        let n = n.expect("the collector's");
        assert_eq!(packet.number_lsb, n as u8);
        n
    }
}

/// Sets no times.
pub fn quiet() -> Policy {
    Policy { set_time: false, ..Policy::default() }
}

/// All packets, one after the other; what the last one brings.
pub fn hear(collector: &mut Collector, packets: &[Vec<u8>], now_ms: u64) -> UplinkOutcome {
    let (last, before) = packets.split_last().expect("packets");
    for packet in before {
        assert_eq!(collector.on_packet(packet, now_ms), UplinkOutcome::Piece);
    }
    collector.on_packet(last, now_ms)
}

/// Takes a report to its acknowledgement.
pub fn deliver(collector: &mut Collector, meter: &mut TestMeter, rng: &mut StdRng, now_ms: u64) -> u32 {
    let packets = meter.report((now_ms / 1000) as u32, rng);
    match hear(collector, &packets, now_ms) {
        UplinkOutcome::Report(accepted) => assert_eq!(accepted.report.n, meter.n),
        other => panic!("{other:?}"),
    }
    let sent = collector.confirm_report(meter.provision.setup().meter, meter.n).expect("handed out");
    meter.acknowledged(&sent, meter.suite)
}

/// Returns all due transmissions, and confirms every save at once.
pub fn due(collector: &mut Collector, now_ms: u64, rng: &mut StdRng) -> Vec<Transmission> {
    let mut sent = Vec::new();
    for _ in 0..2 {
        for due in collector.due(now_ms, rng) {
            match due {
                Due::Save(state) => collector.confirm_state(state.meter, state.revision),
                Due::SaveKeys(record) => collector.confirm_keys(&record),
                Due::Send(transmission) => sent.push(transmission),
            }
        }
    }
    // A command that has no number yet waits for the next second.
    let waits = |meter| matches!(collector.commands(meter).first(), Some((_, _, Delivery::Waiting)));
    match collector.next_due_ms().filter(|_| sent.is_empty() && collector.busy().any(waits)) {
        Some(next_ms) if next_ms > now_ms => due(collector, next_ms, rng),
        _ => sent,
    }
}

/// The one that was sent.
pub fn one(mut sent: Vec<Transmission>) -> Transmission {
    assert_eq!(sent.len(), 1, "{sent:?}");
    sent.remove(0)
}

/// The collector as it is after a restart, from what was kept.
pub fn restarted(mut collector: Collector, policy: Policy) -> Collector {
    let mut next = Collector::new(collector.identity().clone(), policy);
    let meters: Vec<_> = collector.meters().collect();
    for meter in meters {
        let record = collector.record(meter).expect("there").clone();
        let kept = serde_json::to_string(&collector.remove(meter).expect("there")).expect("it can be kept");
        let state: MeterState = serde_json::from_str(&kept).expect("and read again");
        next.add(record, state).expect("none is there");
    }
    next
}
