//! The meters' collector: `wire`'s protocol engine behind a half-duplex radio on each channel, and
//! a store that outlives its crashes.

mod settings;
mod updates;

pub use settings::{CollectorCounts, CollectorSettings};
pub use updates::{UpdateSettings, Updates};

use super::key_store::KeyStore;
use super::radio::{BaseRadio, RadioSettings};
use super::{BaseEvent, BaseStation, Delivery, Outgoing};
use crate::chance::{Chance, Purpose};
use crate::radio::{Arrival, Participant, ReceiveMode};
use crate::time::{SECOND_NS, nanoseconds as ns};
use lab::LabError;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, VecDeque};
use wire::meter::{
    Collector, Command, Due, Identity, MeterId, MeterRecord, MeterState, Packet, Policy, QueuedCommand,
    ReceivedReport, Rejection, RenewalPacket, Suite, Transmission, UpdatePacket, UplinkOutcome,
};

/// When a simulation of a network begins: milliseconds from 2000-01-01 to 2026-01-01, 9,497 days.
pub const BEGINS_MS: u64 = 9_497 * 86_400_000;

/// Processing delay of the collector, in nanoseconds. It does one thing after the other before it
/// knows a packet's contents; its answer waits on the way to the radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessingDelay {
    /// To look at a packet, by the suite's code.
    pub receive_ns: [u64; Suite::ALL.len()],
    /// From a sealed report to its acknowledgement.
    pub report_ns: u64,
    /// From a report that comes again to its acknowledgement.
    pub duplicate_ns: u64,
    /// To seal a command.
    pub seal_ns: u64,
}

/// Setup of a collector.
pub struct Setup {
    /// Failures and commands.
    pub settings: CollectorSettings,
    /// Its keys.
    pub identity: Identity,
    /// Policy for its meters.
    pub policy: Policy,
    /// The images that it gives them, if any.
    pub updates: Option<Updates>,
    /// The meters, and the channel that each is on: an index.
    pub meters: Vec<(MeterRecord, usize)>,
    /// Its radio on each channel.
    pub radios: Vec<RadioSettings>,
    pub delay: ProcessingDelay,
    /// Time that its clock shows at the beginning, in milliseconds since 2000-01-01.
    pub begins_ms: u64,
    /// Seed of its commands and crashes.
    pub seed: u64,
    /// Spreads its attempts, and makes its ephemeral keys.
    pub rng: StdRng,
}

/// State that the collector makes durable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    Report,
    Keys,
}

/// A packet that waits to be looked at.
struct Received {
    due_ns: u64,
    end_ns: u64,
    from: Participant,
    packet: Vec<u8>,
}

/// The collector.
pub struct CollectorStation {
    settings: CollectorSettings,
    identity: Identity,
    policy: Policy,
    /// The meters with their keys.
    keys: KeyStore,
    /// The channel of each meter.
    channels: BTreeMap<MeterId, usize>,
    engine: Collector,
    delay: ProcessingDelay,
    begins_ms: u64,
    /// State that outlives a crash.
    store: BTreeMap<MeterId, MeterState>,
    /// The reports of it, by meter and number.
    stored: BTreeMap<(MeterId, u32), [u8; 16]>,
    rng: StdRng,
    chance: Chance,
    attacker: Participant,
    radios: Vec<BaseRadio>,
    received: VecDeque<Received>,
    busy_until_ns: u64,
    now_ns: u64,
    outgoing: Vec<Outgoing>,
    events: Vec<BaseEvent>,
    /// When each command was first sent.
    begun_ns: BTreeMap<MeterId, u64>,
    command_ns: u64,
    crash_ns: u64,
    /// It crashes at the next one that it stores.
    crash_storing: Option<Stored>,
    renew_ns: u64,
    renewals: Chance,
    updates: Option<Updates>,
    down_until_ns: u64,
    /// Counts of its work.
    pub counts: CollectorCounts,
}

impl CollectorStation {
    /// A collector that knows these meters, none of which it has heard.
    ///
    /// # Errors
    /// Meters with the same name.
    pub fn new(setup: Setup) -> Result<CollectorStation, LabError> {
        let Setup { settings, identity, policy, updates, meters, radios, delay, begins_ms, seed, rng } =
            setup;
        let channels = meters.iter().map(|(record, channel)| (record.setup.meter, *channel)).collect();
        let records: Vec<MeterRecord> = meters.into_iter().map(|(record, _)| record).collect();
        let store = records.iter().map(|record| (record.setup.meter, MeterState::new(record))).collect();
        let mut station = CollectorStation {
            engine: Collector::new(identity.clone(), policy),
            identity,
            policy,
            attacker: records.len() + 1,
            keys: KeyStore::new(records, ns(settings.store_keys_ms / 1e3)),
            channels,
            delay,
            begins_ms,
            store,
            stored: BTreeMap::new(),
            rng,
            chance: Chance::new(seed, Purpose::Collector, 0, 0),
            radios: radios.into_iter().map(BaseRadio::new).collect(),
            received: VecDeque::new(),
            busy_until_ns: 0,
            now_ns: 0,
            outgoing: Vec::new(),
            events: Vec::new(),
            begun_ns: BTreeMap::new(),
            command_ns: 0,
            crash_ns: 0,
            crash_storing: None,
            renew_ns: u64::MAX,
            renewals: Chance::new(seed, Purpose::Renewals, 0, 0),
            updates,
            down_until_ns: 0,
            counts: CollectorCounts::default(),
            settings,
        };
        station.command_ns = station.after(0, station.settings.command_every_s);
        station.crash_ns = station.after(0, station.settings.crash_every_s);
        station.renew_ns = station.next_renewal_ns(0);
        station.start()?;
        Ok(station)
    }

    /// The protocol engine, to be asked and to be given commands.
    pub fn engine(&mut self) -> &mut Collector {
        &mut self.engine
    }

    /// Sends packets to a meter that are not the engine's.
    pub fn inject(&mut self, transmission: Transmission, now_ns: u64) {
        self.queue(transmission, now_ns);
    }

    /// The collector's clock at a time of the simulation.
    fn ms_of(&self, now_ns: u64) -> u64 {
        self.begins_ms + now_ns / 1_000_000
    }

    /// The first time of the simulation at which the collector's clock shows this.
    fn ns_of(&self, ms: u64) -> u64 {
        ms.saturating_sub(self.begins_ms) * 1_000_000
    }

    fn after(&mut self, now_ns: u64, mean_s: Option<f64>) -> u64 {
        mean_s.map_or(u64::MAX, |mean_s| {
            now_ns + (self.chance.exponential(mean_s) * SECOND_NS as f64) as u64 + 1
        })
    }

    fn next_renewal_ns(&mut self, now_ns: u64) -> u64 {
        self.settings.renew_every_s.map_or(u64::MAX, |mean_s| {
            now_ns + (self.renewals.exponential(mean_s) * SECOND_NS as f64) as u64 + 1
        })
    }

    /// Begins with what is in the store.
    fn start(&mut self) -> Result<(), LabError> {
        self.engine = Collector::new(self.identity.clone(), self.policy);
        for record in self.keys.durable() {
            if let Some(state) = self.store.get(&record.setup.meter) {
                let added = self.engine.add(record.clone(), state.clone());
                added.map_err(|error| wrong(error.to_string()))?;
            }
        }
        if let Some(updates) = &self.updates {
            updates.go_on(&mut self.engine);
        }
        Ok(())
    }

    /// The meters that the engine has something for, now or later, and whose keys are not being
    /// stored.
    fn busy(&self) -> impl Iterator<Item = MeterId> {
        self.engine.busy().filter(|meter| !self.keys.is_writing(*meter))
    }

    fn due_ns(&self) -> u64 {
        let due_ms = self.busy().filter_map(|meter| self.engine.next_due_ms_of(meter)).min();
        due_ms.map_or(u64::MAX, |ms| self.ns_of(ms))
    }

    fn crash(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.counts.crashes += 1;
        for record in self.keys.crash(&mut self.renewals) {
            self.keys_stored(record);
        }
        self.down_until_ns = now_ns + ns(self.settings.restart_s);
        self.busy_until_ns = 0;
        self.received.clear();
        for radio in &mut self.radios {
            radio.restart();
        }
        self.crash_storing = None;
        self.start()
    }

    /// A report is stored.
    fn acknowledge(&mut self, meter: MeterId, n: u32, from_ns: u64) -> Result<(), LabError> {
        let stored = self.engine.confirm_report(meter, n).map_err(|error| wrong(error.to_string()))?;
        self.queue(stored, from_ns);
        Ok(())
    }

    /// A known number with other contents. With suite `none` one of the two is the attacker's, and
    /// nobody can say which; it is not acknowledged.
    fn number_reused(&mut self, accepted: &ReceivedReport, attacked: bool) -> Result<(), LabError> {
        if accepted.suite != Suite::None {
            return Err(wrong(format!("meter {} used number {} twice", accepted.meter, accepted.report.n)));
        }
        let counts = if attacked { &mut self.counts.attacks_refused } else { &mut self.counts.refused };
        *counts.entry("number-reused").or_default() += 1;
        Ok(())
    }

    fn deliver(&mut self, accepted: ReceivedReport, received: Received, now_ns: u64) {
        self.stored.insert((accepted.meter, accepted.report.n), accepted.report.to_bytes());
        let Received { end_ns, from, packet, .. } = received;
        let delivery = Delivery { accepted, at_ns: now_ns, received_ns: end_ns, from, packet };
        self.events.push(BaseEvent::Delivered(Box::new(delivery)));
    }

    fn take(&mut self, received: Received, now_ns: u64) -> Result<(), LabError> {
        let attacked = received.from == self.attacker;
        match self.engine.on_packet(&received.packet, self.ms_of(now_ns)) {
            UplinkOutcome::Report(accepted) => {
                self.counts.attacks_delivered += u64::from(attacked);
                let (meter, n) = (accepted.meter, accepted.report.n);
                let delay_ns = if accepted.suite == Suite::None { 0 } else { self.delay.report_ns };
                if let Some(state) = self.store.get_mut(&meter) {
                    state.last_n = n;
                }
                self.deliver(*accepted, received, now_ns);
                if self.crash_storing == Some(Stored::Report) {
                    self.counts.crashes_before_acknowledging += 1;
                    return self.crash(now_ns);
                }
                self.acknowledge(meter, n, now_ns + delay_ns)?;
            }
            UplinkOutcome::Duplicate(acknowledgement) => {
                self.count_repeat(attacked);
                self.queue(acknowledgement, now_ns + self.delay.duplicate_ns);
            }
            UplinkOutcome::Answer(answered) => {
                self.counts.attacks_delivered += u64::from(attacked);
                self.counts.answered += 1;
                if let Some(state) = self.engine.state(answered.meter) {
                    let suite = state.suite();
                    self.store.insert(answered.meter, state);
                    if let Some(begun_ns) = self.begun_ns.remove(&answered.meter) {
                        let took_s = (now_ns - begun_ns) as f64 / SECOND_NS as f64;
                        self.counts.answer_s.entry(suite).or_default().push(took_s);
                    }
                }
                self.update_heard(answered.meter)?;
                self.events.push(BaseEvent::Answered(answered, received.end_ns));
            }
            UplinkOutcome::OldNumber(accepted) => {
                let (meter, n) = (accepted.meter, accepted.report.n);
                let delay_ns = if accepted.suite == Suite::None { 0 } else { self.delay.report_ns };
                match self.stored.get(&(meter, n)) {
                    Some(stored) if *stored == accepted.report.to_bytes() => {}
                    Some(_) => return self.number_reused(&accepted, attacked),
                    None => self.deliver(*accepted, received, now_ns),
                }
                self.count_repeat(attacked);
                self.acknowledge(meter, n, now_ns + delay_ns)?;
            }
            UplinkOutcome::NumberReused(accepted) => return self.number_reused(&accepted, attacked),
            UplinkOutcome::NumberTooLow { meter, .. } => {
                // With suite `none` the attacker can number commands.
                let mut undefended =
                    self.keys.durable().iter().filter(|record| record.setup.suite == Suite::None);
                if !undefended.any(|record| record.setup.meter == meter) {
                    return Err(wrong(format!("meter {meter} knows a command that was not numbered here")));
                }
                *self.counts.refused.entry("number-too-low").or_default() += 1;
            }
            UplinkOutcome::Piece if is_part(&received.packet) => {
                self.counts.attacks_delivered += u64::from(attacked);
                let Received { from, packet, .. } = received;
                if let Some(reply) = UpdatePacket::parse(&packet) {
                    self.update_heard(reply.meter)?;
                }
                self.events.push(BaseEvent::PieceTaken { from, packet });
            }
            UplinkOutcome::Busy | UplinkOutcome::Piece => self.counts.attacks_ignored += u64::from(attacked),
            UplinkOutcome::OtherSuite => {
                *self.counts.refused.entry(Rejection::Suite.name()).or_default() += 1;
            }
            UplinkOutcome::Rejected(rejection) => {
                let counts =
                    if attacked { &mut self.counts.attacks_refused } else { &mut self.counts.refused };
                *counts.entry(rejection.name()).or_default() += 1;
            }
        }
        Ok(())
    }

    fn count_repeat(&mut self, attacked: bool) {
        if attacked {
            self.counts.attacks_ignored += 1;
        } else {
            self.counts.repeated += 1;
        }
    }

    fn command(&mut self) {
        let meters = self.keys.durable();
        let meter = meters[self.chance.below(meters.len() as u64) as usize].setup;
        let suites = &self.settings.change_suites;
        let given = match self.chance.below(8) {
            0 | 1 => self.engine.set_time(meter.meter),
            2 => self.engine.command(meter.meter, Command::Reboot),
            3 | 4 if !suites.is_empty() => {
                let suite = suites[self.chance.below(suites.len() as u64) as usize];
                let command = Command::Configure { interval_s: meter.interval_s, suite };
                self.engine.command(meter.meter, command)
            }
            page => self.engine.command(meter.meter, Command::ReadStatus { page: page as u8 % 2 }),
        };
        // A queue that is full takes no more: the meter is out of reach.
        self.counts.commands += u64::from(given.is_ok());
        self.keep(meter.meter);
    }

    /// Has the key of one of the meters renewed that have one, whether that is being renewed or
    /// not.
    fn renew(&mut self) {
        let seals = |meter: &MeterId| {
            self.engine.state(*meter).is_some_and(|state| state.suite() == Suite::Aes256GcmRekeyed)
        };
        let meters = self.keys.durable().iter().map(|record| record.setup.meter);
        let meters: Vec<MeterId> = meters.filter(seals).collect();
        let at = self.renewals.below(meters.len() as u64) as usize;
        if let Some(&meter) = meters.get(at) {
            let given = self.engine.command(meter, Command::RenewKey);
            self.counts.commands += u64::from(given.is_ok());
            self.counts.renewals += u64::from(given.is_ok());
            self.keep(meter);
        }
    }

    /// Gives one of the meters an image that are not being given any.
    fn give_image(&mut self, now_ns: u64) {
        let given = self.updates.as_mut().and_then(|updates| updates.give(&mut self.engine, now_ns));
        if let Some((meter, image)) = given {
            self.counts.updates += 1;
            self.keep(meter);
            self.events.push(BaseEvent::ImageGiven(meter, image));
        }
    }

    fn update_heard(&mut self, meter: MeterId) -> Result<(), LabError> {
        if let Some(updates) = &mut self.updates {
            updates.heard(&self.engine, meter, &mut self.counts).map_err(wrong)?;
            self.keep(meter);
        }
        Ok(())
    }

    /// The first meter whose update has not come to its end.
    #[must_use]
    pub fn updating(&self) -> Option<MeterId> {
        self.updates.as_ref().and_then(Updates::unfinished)
    }

    fn keys_stored(&mut self, record: MeterRecord) {
        self.events.push(BaseEvent::KeysStored(Box::new(record)));
    }

    fn keep(&mut self, meter: MeterId) {
        if let Some(state) = self.engine.state(meter) {
            self.store.insert(meter, state);
        }
    }

    fn send_due(&mut self, now_ns: u64) -> Result<(), LabError> {
        let (now_ms, busy) = (self.ms_of(now_ns), self.busy().collect::<Vec<MeterId>>());
        let mut nothing = true;
        for meter in busy {
            let due = self.engine.due_of(meter, now_ms, &mut self.rng);
            nothing &= due.is_none();
            match due {
                None => {}

                Some(Due::Save(state)) => {
                    let revision = state.revision;
                    self.store.insert(meter, *state);
                    self.engine.confirm_state(meter, revision);
                }
                Some(Due::SaveKeys(record)) => {
                    self.keys.write(*record, now_ns);
                    if self.crash_storing == Some(Stored::Keys) {
                        self.counts.crashes_storing_keys += 1;
                        return self.crash(now_ns);
                    }
                }
                Some(Due::Send(transmission))
                    if transmission.packets.first().is_some_and(|packet| is_part(packet)) =>
                {
                    self.queue(transmission, now_ns + self.delay.seal_ns);
                }
                Some(Due::Send(transmission)) => {
                    let first = self.engine.commands(meter).first().is_some_and(|(_, order, delivery)| {
                        *order != QueuedCommand::TimeNow
                            && matches!(delivery, wire::meter::Delivery::UnderWay { attempts: 1, .. })
                    });
                    if first {
                        self.begun_ns.insert(meter, now_ns);
                    }
                    self.events.push(BaseEvent::Commanded(Box::new(transmission.clone())));
                    self.queue(transmission, now_ns + self.delay.seal_ns);
                }
            }
        }
        if nothing && self.due_ns() <= now_ns {
            return Err(wrong("something is due, and there is nothing: it would never come to rest".into()));
        }
        Ok(())
    }

    fn queue(&mut self, transmission: Transmission, from_ns: u64) {
        let channel = self.channels.get(&transmission.meter).copied().unwrap_or_default();
        self.radios[channel].queue(transmission.packets, from_ns);
    }

    fn send(&mut self, now_ns: u64) {
        for (channel, radio) in self.radios.iter_mut().enumerate() {
            if radio.next_ns() <= now_ns
                && let Some(packet) = radio.send(now_ns)
            {
                let tail_bytes = radio.settings.tail_bytes;
                self.outgoing.push(Outgoing { channel, start_ns: now_ns, packet, tail_bytes });
            }
        }
    }
}

impl BaseStation for CollectorStation {
    fn receive_mode(&self, channel: usize) -> ReceiveMode {
        self.radios
            .get(channel)
            .map_or(ReceiveMode::Off, |radio| ReceiveMode::Packets(radio.settings.address))
    }

    fn next_ns(&self) -> u64 {
        let received_ns = self.received.front().map_or(u64::MAX, |received| received.due_ns);
        let send_ns = self.radios.iter().map(BaseRadio::next_ns).min().unwrap_or(u64::MAX);
        let next_ns = received_ns.min(send_ns).min(self.due_ns()).min(self.command_ns).min(self.crash_ns);
        let give_ns = self.updates.as_ref().map_or(u64::MAX, Updates::next_ns);
        next_ns.min(self.renew_ns).min(give_ns).min(self.keys.next_ns()).max(self.down_until_ns)
    }

    fn receive(&mut self, channel: usize, arrival: Arrival) -> Result<(), LabError> {
        match arrival {
            Arrival::Byte(..) => {}
            Arrival::Coming { start_ns, .. } => {
                if start_ns >= self.down_until_ns {
                    self.radios[channel].coming(&arrival);
                }
            }
            Arrival::Packet { from, start_ns, end_ns, packet } => {
                if self.radios[channel].is_deaf_to(start_ns, end_ns) || start_ns < self.down_until_ns {
                    self.counts.deaf += 1;
                    return Ok(());
                }
                let suite = match (Packet::parse(&packet), UpdatePacket::parse(&packet)) {
                    (Ok(packet), _) => packet.suite,
                    (_, Some(packet)) => packet.suite,
                    _ if is_part(&packet) => Suite::Aes256GcmRekeyed,
                    _ => Suite::None,
                };
                let takes_ns = self.delay.receive_ns[usize::from(suite.code())];
                self.busy_until_ns = self.busy_until_ns.max(end_ns) + takes_ns;
                self.received.push_back(Received { due_ns: self.busy_until_ns, end_ns, from, packet });
            }
        }
        Ok(())
    }

    fn advance(&mut self, now_ns: u64, until_ns: u64) -> Result<(), LabError> {
        self.now_ns = self.now_ns.max(now_ns);
        loop {
            // What has been due since before it was asked for is done now.
            let now_ns = self.next_ns().max(self.now_ns);
            if now_ns >= until_ns {
                break;
            }
            if self.crash_ns <= now_ns {
                self.crash_ns = self.after(now_ns, self.settings.crash_every_s);
                if self.chance.happens(0.5) {
                    let keys = self.settings.renew_every_s.is_some() && self.renewals.happens(0.5);
                    self.crash_storing = Some(if keys { Stored::Keys } else { Stored::Report });
                } else {
                    self.crash(now_ns)?;
                }
            } else if self.received.front().is_some_and(|received| received.due_ns <= now_ns) {
                if let Some(received) = self.received.pop_front() {
                    // What follows another without a pause, or came within the last step, is known
                    // later than it was due.
                    let due_ns = received.due_ns;
                    self.take(received, due_ns)?;
                }
            } else if self.command_ns <= now_ns {
                self.command_ns = self.after(now_ns, self.settings.command_every_s);
                self.command();
            } else if self.renew_ns <= now_ns {
                self.renew_ns = self.next_renewal_ns(now_ns);
                self.renew();
            } else if self.updates.as_ref().is_some_and(|updates| updates.next_ns() <= now_ns) {
                self.give_image(now_ns);
            } else if let Some(record) = self.keys.written(now_ns) {
                self.engine.confirm_keys(&record);
                self.keys_stored(record);
            } else if self.due_ns() <= now_ns {
                self.send_due(now_ns)?;
            } else {
                self.send(now_ns);
            }
            self.now_ns = now_ns;
        }
        for radio in &mut self.radios {
            radio.passed(now_ns);
        }
        Ok(())
    }

    fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn take_events(&mut self) -> Vec<BaseEvent> {
        std::mem::take(&mut self.events)
    }

    fn stop_faults(&mut self) {
        (self.command_ns, self.renew_ns) = (u64::MAX, u64::MAX);
        (self.crash_ns, self.crash_storing) = (u64::MAX, None);
        if let Some(updates) = &mut self.updates {
            updates.stop();
        }
    }
}

/// Returns true for a piece of a renewal or an image, or its reply, which is no message.
fn is_part(packet: &[u8]) -> bool {
    RenewalPacket::parse(packet).is_some() || UpdatePacket::parse(packet).is_some()
}

fn wrong(problem: String) -> LabError {
    LabError::Protocol { what: "collector of the simulation".into(), problem }
}
