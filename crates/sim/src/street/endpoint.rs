//! The collector of a street: a half-duplex radio, `wire`'s collector behind it, and a store that outlives its crashes.

use super::air::{Arrival, Participant};
use super::chance::{Chance, For};
use super::framing;
use crate::node::SECOND_NS;
use lab::LabError;
use rand::{SeedableRng, rngs::StdRng};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use wire::meter::{
    Accepted, Collector, Command, Due, Heard, Identity, MessageKind, MeterId, MeterRecord, MeterState, Order,
    Packet, Policy, Rejection, Suite, Transmission,
};

/// When the simulation begins: milliseconds from 2000-01-01 to 2026-01-01, 9,497 days.
pub const BEGINS_MS: u64 = 9_497 * 86_400_000;

/// The collector, as a scenario says it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectorSettings {
    /// From hearing to sending and back, in milliseconds: the radio's and its driver's.
    #[serde(default = "one")]
    pub turnaround_ms: f64,
    /// What opening a message and storing it takes, in milliseconds, by suite: none, aes128-gcm, aes256-gcm, ecies, ecies-ecdsa.
    #[serde(default = "processing")]
    pub processing_ms: [f64; 5],
    /// Mean time from one crash to the next, in seconds; none where absent. At every second crash a report has just been
    /// stored and not acknowledged.
    pub crash_every_s: Option<f64>,
    /// How long it takes to come back, in seconds.
    #[serde(default = "two")]
    pub restart_s: f64,
    /// Mean time from one command to the next, whatever the meter, in seconds; none where absent.
    pub command_every_s: Option<f64>,
    /// The suites that meters are told to change to now and then, beside reading status, setting the time, and reboots.
    #[serde(default)]
    pub change_suites: Vec<Suite>,
}

fn one() -> f64 {
    1.0
}

fn two() -> f64 {
    2.0
}

/// The paper's (kalns2016) ratios of what its collector takes to open: about 1, 5 and 9 for AES-GCM, ECIES, ECIES and ECDSA;
/// that 1 is a millisecond is chosen.
fn processing() -> [f64; 5] {
    [1.0, 1.0, 1.0, 5.0, 9.0]
}

/// A report that the application has got.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// What was accepted.
    pub accepted: Accepted,
    /// When it was stored.
    pub at_ns: u64,
    /// Who sent the packet that completed it.
    pub from: Participant,
    /// That packet.
    pub packet: Vec<u8>,
}

/// What the collector counts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CollectorCounts {
    /// Commands given.
    pub commands: u64,
    /// Of these, answered.
    pub answered: u64,
    /// From a command's first sending to its answer, in seconds, by suite.
    #[serde(skip)]
    pub answer_s: BTreeMap<Suite, Vec<f64>>,
    /// Packets that meters sent and that were refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Packets that the attacker sent and that were refused, by reason.
    pub attacks_refused: BTreeMap<&'static str, u64>,
    /// Packets that the attacker sent and that were nothing new: reports that are stored already, pieces.
    pub attacks_ignored: u64,
    /// Reports and answers that the attacker delivered: their makers had sent them.
    pub attacks_delivered: u64,
    /// Reports that came again.
    pub repeated: u64,
    /// Packets that came while it sent or was down.
    pub deaf: u64,
    /// Crashes.
    pub crashes: u64,
    /// Of these, between storing a report and acknowledging it.
    pub crashes_before_acknowledging: u64,
}

struct Waiting {
    from_ns: u64,
    packets: VecDeque<Vec<u8>>,
}

/// The collector.
pub struct Endpoint {
    settings: CollectorSettings,
    identity: Identity,
    policy: Policy,
    records: Vec<MeterRecord>,
    collector: Collector,
    /// What outlives a crash.
    store: BTreeMap<MeterId, MeterState>,
    /// The reports of it, by meter and number.
    stored: BTreeMap<(MeterId, u32), [u8; 16]>,
    rng: StdRng,
    chance: Chance,
    attacker: Participant,
    group: u8,
    byte_ns: u64,
    /// Packets heard that have not been looked at, by when they are.
    heard: VecDeque<(u64, Participant, Vec<u8>)>,
    busy_until_ns: u64,
    now_ns: u64,
    /// A packet is coming in until then.
    coming_until_ns: u64,
    to_send: VecDeque<Waiting>,
    free_ns: u64,
    /// Its own sendings, as long as something may arrive that overlaps them.
    own: VecDeque<(u64, u64)>,
    sent: Vec<(u64, Vec<u8>)>,
    deliveries: Vec<Delivery>,
    /// When each command was first sent.
    begun_ns: BTreeMap<MeterId, u64>,
    command_ns: u64,
    crash_ns: u64,
    /// It crashes at the next report that it stores.
    crash_storing: bool,
    down_until_ns: u64,
    /// What it counts.
    pub counts: CollectorCounts,
}

impl Endpoint {
    /// A collector that knows these meters, none of which it has heard.
    ///
    /// # Errors
    /// Meters with the same name.
    pub fn new(
        settings: CollectorSettings,
        identity: Identity,
        records: Vec<MeterRecord>,
        seed: u64,
        (group, byte_ns): (u8, u64),
    ) -> Result<Endpoint, LabError> {
        let policy = Policy::default();
        let store = records.iter().map(|record| (record.setup.meter, MeterState::new(record))).collect();
        let mut endpoint = Endpoint {
            collector: Collector::new(identity.clone(), policy),
            identity,
            policy,
            attacker: records.len() + 1,
            records,
            store,
            stored: BTreeMap::new(),
            rng: StdRng::seed_from_u64(seed ^ 0x636f_6c6c),
            chance: Chance::new(seed, For::Collector, 0, 0),
            group,
            byte_ns,
            heard: VecDeque::new(),
            busy_until_ns: 0,
            now_ns: 0,
            coming_until_ns: 0,
            to_send: VecDeque::new(),
            free_ns: 0,
            own: VecDeque::new(),
            sent: Vec::new(),
            deliveries: Vec::new(),
            begun_ns: BTreeMap::new(),
            command_ns: 0,
            crash_ns: 0,
            crash_storing: false,
            down_until_ns: 0,
            counts: CollectorCounts::default(),
            settings,
        };
        endpoint.command_ns = endpoint.after(0, endpoint.settings.command_every_s);
        endpoint.crash_ns = endpoint.after(0, endpoint.settings.crash_every_s);
        endpoint.start()?;
        Ok(endpoint)
    }

    /// No more commands of its own accord, and no more crashes.
    pub fn calm(&mut self) {
        (self.command_ns, self.crash_ns, self.crash_storing) = (u64::MAX, u64::MAX, false);
    }

    fn after(&mut self, now_ns: u64, mean_s: Option<f64>) -> u64 {
        mean_s.map_or(u64::MAX, |mean_s| {
            now_ns + (self.chance.exponential(mean_s) * SECOND_NS as f64) as u64 + 1
        })
    }

    /// Begins with what is in the store.
    fn start(&mut self) -> Result<(), LabError> {
        self.collector = Collector::new(self.identity.clone(), self.policy);
        for record in &self.records {
            if let Some(state) = self.store.get(&record.setup.meter) {
                let added = self.collector.add(record.clone(), state.clone());
                added.map_err(|error| wrong(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// When it next does something by itself.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        let heard_ns = self.heard.front().map_or(u64::MAX, |(due_ns, ..)| *due_ns);
        let send_ns = self
            .to_send
            .front()
            .map_or(u64::MAX, |waiting| waiting.from_ns.max(self.free_ns).max(self.coming_until_ns));
        let due_ns = self.collector.next_due_ms().map_or(u64::MAX, ns_of);
        let next_ns = heard_ns.min(send_ns).min(due_ns).min(self.command_ns).min(self.crash_ns);
        next_ns.max(self.down_until_ns)
    }

    /// Something arrives.
    pub fn hear(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Coming { start_ns, end_ns } => {
                if start_ns >= self.down_until_ns {
                    self.coming_until_ns = self.coming_until_ns.max(end_ns);
                }
            }
            Arrival::Packet { from, start_ns, end_ns, packet } => {
                let sends = self.own.iter().any(|own| own.0 < end_ns && start_ns < own.1);
                if sends || start_ns < self.down_until_ns {
                    self.counts.deaf += 1;
                    return;
                }
                let suite = Packet::parse(&packet).map_or(Suite::None, |packet| packet.suite);
                let takes_ns = ns(self.settings.processing_ms[usize::from(suite.code())] / 1e3);
                self.busy_until_ns = self.busy_until_ns.max(end_ns) + takes_ns;
                self.heard.push_back((self.busy_until_ns, from, packet));
            }
        }
    }

    /// Lives up to `until_ns`.
    ///
    /// # Errors
    /// A state that it cannot begin with.
    pub fn advance(&mut self, until_ns: u64) -> Result<(), LabError> {
        loop {
            // What has been due since before it was asked for is done now.
            let now_ns = self.next_ns().max(self.now_ns);
            if now_ns >= until_ns {
                break;
            }
            if self.crash_ns <= now_ns {
                self.crash_ns = self.after(now_ns, self.settings.crash_every_s);
                if self.chance.happens(0.5) {
                    self.crash_storing = true;
                } else {
                    self.crash(now_ns)?;
                }
            } else if self.heard.front().is_some_and(|(due_ns, ..)| *due_ns <= now_ns) {
                if let Some((_, from, packet)) = self.heard.pop_front() {
                    self.take(from, packet, now_ns)?;
                }
            } else if self.command_ns <= now_ns {
                self.command_ns = self.after(now_ns, self.settings.command_every_s);
                self.command();
            } else if self.collector.next_due_ms().is_some_and(|due_ms| ns_of(due_ms) <= now_ns) {
                self.due(now_ns);
            } else {
                self.send(now_ns);
            }
            self.now_ns = now_ns;
        }
        self.now_ns = until_ns;
        while self.own.front().is_some_and(|&(_, end_ns)| end_ns + SECOND_NS < until_ns) {
            self.own.pop_front();
        }
        Ok(())
    }

    /// What it sends: from when on, and which bytes.
    pub fn take_sent(&mut self) -> Vec<(u64, Vec<u8>)> {
        std::mem::take(&mut self.sent)
    }

    /// The reports that were stored since the last call.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    fn crash(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.counts.crashes += 1;
        self.down_until_ns = now_ns + ns(self.settings.restart_s);
        (self.busy_until_ns, self.coming_until_ns) = (0, 0);
        self.heard.clear();
        self.to_send.clear();
        self.crash_storing = false;
        self.start()
    }

    /// A report is stored.
    fn acknowledge(&mut self, meter: MeterId, n: u32, now_ns: u64) -> Result<(), LabError> {
        let stored = self.collector.stored(meter, n).map_err(|error| wrong(error.to_string()))?;
        self.queue(stored, now_ns);
        Ok(())
    }

    /// A known number with other contents. With suite `none` one of the two is the attacker's, and nobody can say which; it is not
    /// acknowledged.
    fn number_reused(&mut self, accepted: &Accepted, attacked: bool) -> Result<(), LabError> {
        if accepted.suite != Suite::None {
            return Err(wrong(format!("meter {} used number {} twice", accepted.meter, accepted.report.n)));
        }
        let counts = if attacked { &mut self.counts.attacks_refused } else { &mut self.counts.refused };
        *counts.entry("number-reused").or_default() += 1;
        Ok(())
    }

    fn take(&mut self, from: Participant, packet: Vec<u8>, now_ns: u64) -> Result<(), LabError> {
        let attacked = from == self.attacker;
        match self.collector.hear(&packet, ms_of(now_ns)) {
            Heard::Report(accepted) => {
                self.counts.attacks_delivered += u64::from(attacked);
                let (meter, n) = (accepted.meter, accepted.report.n);
                if let Some(state) = self.store.get_mut(&meter) {
                    state.last_n = n;
                }
                self.stored.insert((meter, n), accepted.report.to_bytes());
                self.deliveries.push(Delivery { accepted: *accepted, at_ns: now_ns, from, packet });
                if self.crash_storing {
                    self.counts.crashes_before_acknowledging += 1;
                    return self.crash(now_ns);
                }
                self.acknowledge(meter, n, now_ns)?;
            }
            Heard::Duplicate(acknowledgement) => {
                if attacked {
                    self.counts.attacks_ignored += 1;
                } else {
                    self.counts.repeated += 1;
                }
                self.queue(acknowledgement, now_ns);
            }
            Heard::Answer(answered) => {
                self.counts.attacks_delivered += u64::from(attacked);
                self.counts.answered += 1;
                if let Some(state) = self.collector.state(answered.meter) {
                    let suite = state.suite();
                    self.store.insert(answered.meter, state.clone());
                    if let Some(begun_ns) = self.begun_ns.remove(&answered.meter) {
                        let took_s = (now_ns - begun_ns) as f64 / SECOND_NS as f64;
                        self.counts.answer_s.entry(suite).or_default().push(took_s);
                    }
                }
            }
            Heard::OldNumber(accepted) => {
                let (meter, n) = (accepted.meter, accepted.report.n);
                match self.stored.get(&(meter, n)) {
                    Some(stored) if *stored == accepted.report.to_bytes() => {}
                    Some(_) => return self.number_reused(&accepted, attacked),
                    None => {
                        self.stored.insert((meter, n), accepted.report.to_bytes());
                        self.deliveries.push(Delivery { accepted: *accepted, at_ns: now_ns, from, packet });
                    }
                }
                if attacked {
                    self.counts.attacks_ignored += 1;
                } else {
                    self.counts.repeated += 1;
                }
                self.acknowledge(meter, n, now_ns)?;
            }
            Heard::NumberReused(accepted) => return self.number_reused(&accepted, attacked),
            Heard::NumberTooLow { meter, .. } => {
                // With suite `none` the attacker can number commands.
                let mut undefended = self.records.iter().filter(|record| record.setup.suite == Suite::None);
                if !undefended.any(|record| record.setup.meter == meter) {
                    return Err(wrong(format!("meter {meter} knows a command that was not numbered here")));
                }
                *self.counts.refused.entry("number-too-low").or_default() += 1;
            }
            Heard::Busy | Heard::Piece => self.counts.attacks_ignored += u64::from(attacked),
            Heard::OtherSuite => {
                *self.counts.refused.entry(Rejection::Suite.name()).or_default() += 1;
            }
            Heard::Rejected(rejection) => {
                let counts =
                    if attacked { &mut self.counts.attacks_refused } else { &mut self.counts.refused };
                *counts.entry(rejection.name()).or_default() += 1;
            }
        }
        Ok(())
    }

    fn command(&mut self) {
        let meter = self.records[self.chance.below(self.records.len() as u64) as usize].setup;
        let suites = &self.settings.change_suites;
        let given = match self.chance.below(8) {
            0 | 1 => self.collector.set_time(meter.meter),
            2 => self.collector.command(meter.meter, Command::Reboot),
            3 | 4 if !suites.is_empty() => {
                let suite = suites[self.chance.below(suites.len() as u64) as usize];
                let command = Command::Configure { interval_s: meter.interval_s, suite };
                self.collector.command(meter.meter, command)
            }
            page => self.collector.command(meter.meter, Command::ReadStatus { page: page as u8 % 2 }),
        };
        // A queue that is full takes no more: the meter is out of reach.
        self.counts.commands += u64::from(given.is_ok());
        self.keep(meter.meter);
    }

    fn keep(&mut self, meter: MeterId) {
        if let Some(state) = self.collector.state(meter) {
            self.store.insert(meter, state.clone());
        }
    }

    fn due(&mut self, now_ns: u64) {
        for due in self.collector.due(ms_of(now_ns), &mut self.rng) {
            match due {
                Due::Save(state) => {
                    let (meter, revision) = (state.meter, state.revision);
                    self.store.insert(meter, *state);
                    self.collector.saved(meter, revision);
                }
                Due::Send(transmission) => {
                    let meter = transmission.meter;
                    let first = self.collector.commands(meter).first().is_some_and(|(_, order, delivery)| {
                        *order != Order::TimeNow
                            && matches!(delivery, wire::meter::Delivery::UnderWay { attempts: 1, .. })
                    });
                    if first {
                        self.begun_ns.insert(meter, now_ns);
                    }
                    self.queue(transmission, now_ns);
                }
            }
        }
    }

    fn queue(&mut self, transmission: Transmission, now_ns: u64) {
        let from_ns = now_ns + ns(self.settings.turnaround_ms / 1e3);
        let packets: VecDeque<Vec<u8>> = transmission.packets.into();
        let waiting = Waiting { from_ns, packets };
        // An acknowledgement does not wait for commands: the meter listens for it now.
        let is_acknowledgement = |waiting: &Waiting| {
            waiting.packets.front().is_some_and(|packet| {
                Packet::parse(packet).is_ok_and(|packet| packet.kind == MessageKind::Acknowledgement)
            })
        };
        if is_acknowledgement(&waiting) {
            let at = self.to_send.iter().position(|other| !is_acknowledgement(other));
            self.to_send.insert(at.unwrap_or(self.to_send.len()), waiting);
        } else {
            self.to_send.push_back(waiting);
        }
    }

    /// Sends the next packet. A message's pieces follow each other.
    fn send(&mut self, now_ns: u64) {
        let Some(waiting) = self.to_send.front_mut() else { return };
        if let Some(packet) = waiting.packets.pop_front() {
            let bytes = framing::encode(self.group, &packet);
            let end_ns = now_ns + bytes.len() as u64 * self.byte_ns;
            self.own.push_back((now_ns, end_ns));
            self.sent.push((now_ns, bytes));
            self.free_ns = end_ns + ns(self.settings.turnaround_ms / 1e3);
        }
        if waiting.packets.is_empty() {
            self.to_send.pop_front();
        }
    }
}

fn wrong(problem: String) -> LabError {
    LabError::Protocol { what: "collector of the street".into(), problem }
}

fn ns(s: f64) -> u64 {
    (s * SECOND_NS as f64).round() as u64
}

/// The collector's clock at a time of the simulation.
fn ms_of(now_ns: u64) -> u64 {
    BEGINS_MS + now_ns / 1_000_000
}

/// The first time of the simulation at which the collector's clock shows this.
fn ns_of(ms: u64) -> u64 {
    ms.saturating_sub(BEGINS_MS) * 1_000_000
}
