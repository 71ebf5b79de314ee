//! A meter, wire's collector, and a channel between them that loses and doubles packets.

use crate::invariants::Invariants;
use device::meter::eeprom::{Eeprom, Torn};
use device::meter::flash::Flash;
use device::meter::{Call, Cause, Load, Meter, Reply};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::meter::{
    Address, Alert, Answer, Channel, Collector, Command, CompletedCommand, Content, Delivery, Due, Identity,
    Measurement, MessageKind, MeterKeys, MeterRecord, MeterState, Packet, Policy, Provision, QueuedCommand,
    ReceivedReport, Rejection, Setup, Suite, Transmission, UpdatePacket, UplinkOutcome, packets,
};

/// 2026-01-01 00:00:00 UTC in milliseconds since 2000.
const EPOCH_MS: u64 = 9497 * 86_400_000;
pub const SECOND_NS: u64 = 1_000_000_000;
pub const METER: u16 = 0x1234;
pub const ADDRESS: u8 = 0x45;
pub const COLLECTOR: u8 = 0x41;

/// Becomes of one packet, whichever side it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    Lost,
    Doubled,
    /// It comes once more behind this many others.
    Replayed(usize),
    /// It comes behind this many others, and not before.
    Late(usize),
    /// It is lost, and this many behind it.
    Silence(usize),
}

/// A harm of the packet with this number, and what it keeps.
pub struct Harming {
    pub at: usize,
    pub harm: Harm,
    /// Packets so far.
    pub packets: usize,
    /// To the meter or not.
    pub kept: Option<(bool, Vec<u8>)>,
}

impl Harming {
    pub fn new(at: usize, harm: Harm) -> Harming {
        Harming { at, harm, packets: 0, kept: None }
    }

    /// Returns the number of copies of the next packet that arrive, and an earlier packet that
    /// comes behind it.
    fn next(&mut self, packet: &[u8], is_to_meter: bool) -> (usize, Option<(bool, Vec<u8>)>) {
        let Harming { at, harm, packets: number, .. } = *self;
        self.packets += 1;
        let comes = matches!(harm, Harm::Replayed(behind) | Harm::Late(behind) if number == at + behind);
        let before = comes.then(|| self.kept.take()).flatten();
        if number == at && matches!(harm, Harm::Replayed(_) | Harm::Late(_)) {
            self.kept = Some((is_to_meter, packet.to_vec()));
        }
        let copies = match harm {
            Harm::Lost | Harm::Late(_) if number == at => 0,
            Harm::Silence(behind) if (at..=at + behind).contains(&number) => 0,
            Harm::Doubled if number == at => 2,
            _ => 1,
        };
        (copies, before)
    }
}

pub struct World {
    pub meter: Meter,
    pub provision: Provision,
    pub collector: Collector,
    pub now_ns: u64,
    pub call: Call,
    /// Packets on their way to the meter, by the time of their arrival.
    to_meter: VecDeque<(u64, Vec<u8>)>,
    pub rng: StdRng,
    pub chance: fastrand::Rng,
    /// Of packets in either direction.
    pub lost: f64,
    pub doubled: f64,
    pub harming: Option<Harming>,
    /// True if all of the collector's packets are dropped.
    pub deaf: bool,
    /// True if all of the meter's packets are dropped.
    pub mute: bool,
    pub load: Option<Load>,
    pub reports: Vec<ReceivedReport>,
    pub answers: Vec<CompletedCommand>,
    /// The meter's last m, of each answer that said that the command's is too low.
    pub too_low: Vec<u32>,
    /// Messages that were not authentic: of pieces of two that a restart came between.
    pub mixed: usize,
    /// Every message that the meter ever sent, by kind, suite, lowest byte of n, piece: its packets
    /// in order.
    pub sent: Vec<Vec<u8>>,
    /// Pieces by number: none may come with other bytes.
    seen: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Looks on, where it was asked to.
    pub invariants: Option<Invariants>,
    /// Commands as the collector sent them.
    pub commanded: Vec<Vec<Vec<u8>>>,
    /// The m of each command that the collector sent.
    pub numbers: BTreeSet<u32>,
    /// The meter's keys, as the collector has saved them.
    pub keys: Vec<MeterKeys>,
    /// The packets of renewals that the collector sent.
    pub renewals: Vec<Vec<u8>>,
    /// The pieces of images that the collector sent.
    pub pieces: Vec<Vec<u8>>,
    /// All packets, of both sides, whether they arrived or not.
    pub recorded: Vec<Vec<u8>>,
}

pub fn setup(suite: Suite, interval_s: u16) -> Setup {
    Setup {
        meter: METER,
        address: ADDRESS,
        collector_address: COLLECTOR,
        channel: 212,
        power: 0,
        interval_s,
        suite,
        voltage_uv: 800_000,
        current_ua: 100_000,
        phase: 0,
    }
}

pub fn load(power_w: f64) -> Load {
    Load { power_w, voltage_v: 230.0, current_a: power_w / 230.0, volts_per_step: 0.8, amperes_per_step: 0.1 }
}

/// Returns true if a packet is one of a renewal, by its piece.
pub fn is_renewal(packet: &[u8]) -> bool {
    packet[1] & 0x3f == Suite::Aes256GcmRekeyed.code() << 3 | 6
}

/// The collector's end of the channel.
fn channel<'a>(record: &'a MeterRecord, collector: &'a Collector, provision: &'a Provision) -> Channel<'a> {
    Channel {
        meter: METER,
        keys: &record.keys,
        own: collector.identity(),
        peer: provision.identity().public(),
    }
}

fn started(
    provision: &Provision,
    flash: Option<Flash>,
    eeprom: Eeprom,
    cause: Cause,
    seed: u64,
    now_ns: u64,
) -> Meter {
    match flash {
        Some(flash) => Meter::start_from(flash, &provision.flash(), eeprom, cause, seed, now_ns),
        None => Meter::start(&provision.flash(), eeprom, cause, seed, now_ns),
    }
}

impl World {
    pub fn new(setup: Setup, seed: u64) -> World {
        World::of(setup, seed, None)
    }

    /// A meter; with flash one that a bootloader runs.
    pub fn of(setup: Setup, seed: u64, flash: Option<Flash>) -> World {
        let mut rng = StdRng::seed_from_u64(seed);
        let identity = Identity::generate(&mut rng);
        let provision = Provision::generate(setup, identity.public(), &mut rng);
        let mut collector = Collector::new(identity, Policy { set_time: false, ..Policy::default() });
        let state = MeterState::new(&provision.record());
        collector.add(provision.record(), state).expect("the first meter");
        let eeprom = Eeprom::with_image(&provision.eeprom(), seed);
        let mut world = World {
            meter: started(&provision, flash, eeprom, Cause::PowerOn, seed, 0),
            provision,
            collector,
            now_ns: 0,
            call: Call::Stopped,
            to_meter: VecDeque::new(),
            rng,
            chance: fastrand::Rng::with_seed(seed),
            lost: 0.0,
            doubled: 0.0,
            harming: None,
            deaf: false,
            mute: false,
            load: None,
            reports: Vec::new(),
            answers: Vec::new(),
            too_low: Vec::new(),
            mixed: 0,
            sent: Vec::new(),
            seen: BTreeMap::new(),
            invariants: None,
            commanded: Vec::new(),
            numbers: BTreeSet::new(),
            keys: Vec::new(),
            renewals: Vec::new(),
            pieces: Vec::new(),
            recorded: Vec::new(),
        };
        world.resume(Reply::Done);
        world
    }

    /// From here on, what has to hold is looked at; the meter is new. `what` names the trial.
    pub fn watch(&mut self, what: String) {
        self.invariants = Some(Invariants::new(what, &self.provision, self.collector.identity()));
    }

    /// Tells what looks on, where something does; with it the meter's memory.
    fn tell(&mut self, tell: impl FnOnce(&mut Invariants, &Eeprom)) {
        if let Some(invariants) = &mut self.invariants {
            tell(invariants, self.meter.eeprom());
        }
    }

    pub fn now_ms(&self) -> u64 {
        EPOCH_MS + self.now_ns / 1_000_000
    }

    pub fn resume(&mut self, reply: Reply) {
        self.call = self.meter.resume(self.now_ns, reply);
    }

    /// JeeLib's framing at 49,261 bit/s: 5 bytes before, length, 2 behind; the address is the
    /// header.
    fn air_ns(len: usize) -> u64 {
        (len as u64 + 8) * 8 * SECOND_NS / 49_261
    }

    /// The meter's power fails now; it comes back after `off_ns`.
    pub fn cut_power(&mut self, torn: Torn, off_ns: u64, cause: Cause) {
        self.meter.wait(self.now_ns);
        let before = *self.meter.eeprom().image();
        let fresh = Meter::start(&self.provision.flash(), Eeprom::new(0), cause, 0, self.now_ns);
        let flash = self.meter.flash().cloned();
        let eeprom = std::mem::replace(&mut self.meter, fresh).cut_power(self.now_ns, torn);
        self.start_from(flash, eeprom, off_ns, cause);
        if cause != Cause::Commanded {
            self.tell(|invariants, eeprom| invariants.cut(&before, eeprom.image()));
        }
    }

    pub fn start(&mut self, eeprom: Eeprom, off_ns: u64, cause: Cause) {
        self.start_from(None, eeprom, off_ns, cause);
    }

    fn start_from(&mut self, flash: Option<Flash>, eeprom: Eeprom, off_ns: u64, cause: Cause) {
        self.now_ns += off_ns;
        let seed = self.chance.u64(..);
        self.meter = started(&self.provision, flash, eeprom, cause, seed, self.now_ns);
        if let Some(load) = self.load {
            self.meter.set_load(self.now_ns, load);
        }
        self.resume(Reply::Done);
    }

    pub fn set_load(&mut self, load: Load) {
        self.load = Some(load);
        self.meter.set_load(self.now_ns, load);
    }

    /// Returns the number of copies of a packet that arrive, behind an earlier one.
    fn copies(&mut self, packet: &[u8], is_to_meter: bool) -> usize {
        if let Some(harming) = &mut self.harming {
            let (copies, before) = harming.next(packet, is_to_meter);
            if let Some((is_to_meter, packet)) = before {
                self.play(is_to_meter, &packet);
            }
            return copies;
        }
        if self.chance.f64() < self.lost { 0 } else { 1 + usize::from(self.chance.f64() < self.doubled) }
    }

    /// Puts packets on their way to the meter.
    pub fn inject(&mut self, packets: &[Vec<u8>]) {
        let mut when = self.now_ns + 2_000_000;
        for packet in packets {
            when += World::air_ns(packet.len());
            for _ in 0..self.copies(packet, true) {
                self.to_meter.push_back((when, packet.clone()));
            }
        }
        self.to_meter.make_contiguous().sort_by_key(|(when, _)| *when);
    }

    fn transmit(&mut self, transmission: &Transmission) {
        self.recorded.extend_from_slice(&transmission.packets);
        if !self.deaf {
            self.inject(&transmission.packets);
        }
    }

    fn collector_hears(&mut self, packet: &[u8]) {
        match self.collector.on_packet(packet, self.now_ms()) {
            UplinkOutcome::Report(accepted) | UplinkOutcome::OldNumber(accepted) => {
                let n = accepted.report.n;
                let transmission = self.collector.confirm_report(accepted.meter, n).expect("handed out");
                self.transmit(&transmission);
                match self.reports.iter().rev().find(|known| known.report.n == n) {
                    Some(known) => assert_eq!(known.sealed, accepted.sealed, "{n} for two reports"),
                    None => {
                        self.tell(|invariants, _| invariants.accepted(&accepted));
                        self.reports.push(*accepted);
                    }
                }
            }
            UplinkOutcome::Duplicate(transmission) => self.transmit(&transmission),
            UplinkOutcome::Answer(answered) => {
                self.tell(|invariants, eeprom| invariants.answered(&answered, eeprom.image()));
                self.answers.push(*answered);
            }
            UplinkOutcome::NumberTooLow { last_m, .. } => self.too_low.push(last_m),
            UplinkOutcome::Busy | UplinkOutcome::Piece => {}
            UplinkOutcome::Rejected(Rejection::NotAuthentic) => self.mixed += 1,
            // An answer to what an attacker made the meter hear.
            UplinkOutcome::Rejected(Rejection::NoCommand) => {}
            // A change to a suite that shows less is not taken before it is answered.
            UplinkOutcome::Rejected(Rejection::Suite) | UplinkOutcome::OtherSuite
                if self.invariants.is_some() => {}
            heard => panic!("the collector hears {packet:02x?}: {heard:?}"),
        }
    }

    fn meter_sends(&mut self, packet: &[u8]) {
        self.sent.push(packet.to_vec());
        self.recorded.push(packet.to_vec());
        self.tell(|invariants, eeprom| invariants.sent(packet, eeprom.image(), eeprom.keys()));
        // With GCM the number is in clear.
        if packet.len() == 41 {
            let key = [&packet[1..2], &packet[5..9]].concat();
            let before = self.seen.entry(key).or_insert_with(|| packet.to_vec());
            assert_eq!(before[5..], packet[5..], "a number comes twice with other bytes");
        }
        if self.mute {
            return;
        }
        for _ in 0..self.copies(packet, false) {
            self.collector_hears(packet);
        }
    }

    /// Has a side hear a packet that was on the air before.
    pub fn play(&mut self, is_to_meter: bool, packet: &[u8]) {
        if is_to_meter {
            self.to_meter.push_back((self.now_ns + World::air_ns(packet.len()), packet.to_vec()));
            self.to_meter.make_contiguous().sort_by_key(|(when, _)| *when);
        } else {
            self.collector_hears(packet);
        }
    }

    /// The collector sends a command: the one that is under way.
    fn command_sent(&mut self, transmission: &Transmission) {
        if let Some(&(_, order, Delivery::UnderWay { m, .. })) = self.collector.commands(METER).first() {
            self.numbers.insert(m);
            // The collector's own question, where it has to know which key the meter has.
            let command = match order {
                QueuedCommand::Command(command) => command,
                QueuedCommand::ReadClock => Command::ReadStatus { page: 0 },
                QueuedCommand::TimeNow => return,
            };
            self.tell(|invariants, _| invariants.commanded(m, command));
            self.commanded.push(transmission.packets.clone());
        }
    }

    /// Takes packets from the collector until none is due. If nothing comes, nothing may be due: a
    /// waiter would not come to rest otherwise.
    fn poll_collector(&mut self) {
        loop {
            let due = self.collector.due(self.now_ms(), &mut self.rng);
            if due.is_empty() {
                let next_ms = self.collector.next_due_ms();
                assert!(next_ms.is_none_or(|next_ms| next_ms > self.now_ms()), "due, and there is nothing");
                return;
            }
            for due in due {
                match due {
                    Due::Save(state) => self.collector.confirm_state(state.meter, state.revision),
                    Due::SaveKeys(record) => {
                        self.collector.confirm_keys(&record);
                        self.tell(|invariants, _| invariants.confirm_keys(&record.keys));
                        self.keys.push(record.keys.clone());
                    }
                    Due::Send(transmission) => {
                        if is_renewal(&transmission.packets[0]) {
                            self.renewals.push(transmission.packets[0].clone());
                        } else if UpdatePacket::parse(&transmission.packets[0]).is_some() {
                            self.pieces.push(transmission.packets[0].clone());
                        } else {
                            self.command_sent(&transmission);
                        }
                        self.transmit(&transmission);
                    }
                }
            }
        }
    }

    /// One call of the meter; not beyond `until_ns`.
    pub fn step(&mut self, until_ns: u64) {
        self.poll_collector();
        // What comes while the meter does not listen is lost.
        while self.to_meter.front().is_some_and(|(when, _)| *when < self.now_ns) {
            self.to_meter.pop_front();
        }
        match self.call {
            Call::Send(packet) => {
                self.now_ns += World::air_ns(packet.bytes().len());
                self.resume(Reply::Done);
                // Where the power failed meanwhile, the packet is cut short.
                if !self.meter.eeprom().is_off() {
                    self.meter_sends(packet.bytes());
                }
            }
            Call::Listen { until_ns: deadline } => {
                let heard = self.to_meter.front().map_or(u64::MAX, |(when, _)| *when);
                // The collector has a look at its queue each 50 ms.
                let look = self.now_ns + 50_000_000;
                self.now_ns = heard.min(deadline).min(look).min(until_ns);
                if self.now_ns == heard {
                    let (_, packet) = self.to_meter.pop_front().expect("it is there");
                    self.resume(device::meter::Packet::new(&packet).map_or(Reply::Done, Reply::Heard));
                } else if self.now_ns == deadline {
                    self.resume(Reply::Done);
                }
            }
            Call::Sleep { until_ns: deadline } => {
                self.now_ns = deadline.min(until_ns);
                if self.now_ns == deadline {
                    self.resume(Reply::Done);
                }
            }
            Call::Reset => self.cut_power(Torn::Old, 1_000_000, Cause::Commanded),
            Call::Stopped => self.now_ns = until_ns,
        }
    }

    pub fn run(&mut self, for_ns: u64) {
        let until_ns = self.now_ns + for_ns;
        while self.now_ns < until_ns {
            self.step(until_ns);
        }
    }

    /// Hands the channel of both sides, on the collector's side, to `f`.
    pub fn with_channel<T>(&self, f: impl FnOnce(&Channel<'_>) -> T) -> T {
        let record = self.provision.record();
        f(&channel(&record, &self.collector, &self.provision))
    }

    /// The packets of a command that the collector did not make, with its keys.
    pub fn forged(&mut self, suite: Suite, plaintext: &[u8; 16]) -> Vec<Vec<u8>> {
        let m = u32::from_be_bytes([plaintext[0], plaintext[1], plaintext[2], plaintext[3]]);
        let record = self.provision.record();
        let channel = channel(&record, &self.collector, &self.provision);
        let sealed = channel.seal(MessageKind::Command, suite, m, plaintext, &mut self.rng);
        packets(ADDRESS, MessageKind::Command, suite, METER, m, &sealed)
    }

    /// The packet of an acknowledgement that the collector did not make, with its keys.
    pub fn forged_acknowledgement(&self, suite: Suite, n: u32) -> Vec<u8> {
        let sealed = self.with_channel(|channel| channel.acknowledge(suite, n));
        packets(ADDRESS, MessageKind::Acknowledgement, suite, METER, n, &sealed).remove(0)
    }

    /// Has the meter hear packets, and returns the packet that it answers with; `None` where it
    /// does not.
    pub fn answer_to(&mut self, packets: &[Vec<u8>]) -> Option<Vec<u8>> {
        let sent = self.sent.len();
        for packet in packets {
            self.until_it_listens();
            self.whisper(packet);
        }
        self.until_it_listens();
        self.sent[sent..].iter().find(|packet| packet[1] >> 6 == MessageKind::Answer.code()).cloned()
    }

    /// Opens an answer that the meter made at `address`; `None` where it is not authentic there.
    pub fn opened_answer(&self, packet: &[u8], address: Address) -> Option<(Suite, Answer)> {
        let packet = Packet::parse(packet).expect("a packet of the protocol");
        let opened =
            self.with_channel(|channel| channel.open_answer(packet.suite, address, packet.body)).ok()?;
        Some((packet.suite, Answer::from_bytes(&opened.plaintext)))
    }

    /// Returns the meter's provisioned address.
    pub fn address(&self) -> Address {
        Address::provisioned(self.provision.setup())
    }

    /// Lets the meter hear a packet now, without any time that passes; it listens before and after.
    pub fn whisper(&mut self, packet: &[u8]) {
        let Some(packet) = device::meter::Packet::new(packet) else { return };
        assert!(matches!(self.call, Call::Listen { .. }), "{:?}", self.call);
        self.resume(Reply::Heard(packet));
    }

    /// Runs until the meter listens.
    pub fn until_it_listens(&mut self) {
        while !matches!(self.call, Call::Listen { .. }) {
            self.step(u64::MAX);
        }
    }

    /// Runs until the meter listens and its memory keeps all that it was given, so that a whisper
    /// takes no time.
    pub fn until_it_is_still(&mut self) {
        self.until_it_listens();
        while self.meter.eeprom().busy() {
            self.step(u64::MAX);
            self.until_it_listens();
        }
    }

    /// Runs until the collector has the answer to a command.
    pub fn command(&mut self, command: Command) -> CompletedCommand {
        let before = self.answers.len();
        self.collector.command(METER, command).expect("in range");
        let limit = self.now_ns + 120 * SECOND_NS;
        while self.answers.len() == before {
            assert!(self.now_ns < limit, "no answer to {command:?}: {:?}", self.meter.status());
            self.step(limit);
        }
        self.answers[before].clone()
    }

    pub fn measurements(&self) -> Vec<(u32, Measurement)> {
        let reports = self.reports.iter().map(|accepted| &accepted.report);
        let measurement = |content| match content {
            Content::Measurement(measurement) => Some(measurement),
            _ => None,
        };
        reports.filter_map(|report| Some((report.n, measurement(report.content)?))).collect()
    }

    pub fn alerts(&self) -> Vec<Alert> {
        let alert = |content| match content {
            Content::Alert(alert) => Some(alert),
            _ => None,
        };
        self.reports.iter().filter_map(|accepted| alert(accepted.report.content)).collect()
    }
}
