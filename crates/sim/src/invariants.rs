//! What must hold in a network of meters, whatever happens in it, looked at all the time; and what is counted on the way.
//!
//! - Every report whose append to the journal was finished is delivered exactly once, in order; a measurement may be missing only
//!   where its meter counts it as lost for want of room.
//! - No number is on the air with two contents, neither a meter's n (for a kind and a suite) nor the collector's, and no
//!   ephemeral key goes with two messages.
//! - Nothing that the attacker made is accepted, but with suite `none`, which has no defence.
//! - A meter whose power came is heard on the air within a bound.
//! - The energy that reports tell is the integral of the site's load, within the meter's error; and so is the time that they tell, but that
//!   who holds a set time back makes it late (docs/protocol.md, "On the air").

use crate::base::collector::BEGINS_MS;
use crate::base::{BaseEvent, Delivery};
use crate::load::LoadProfile;
use crate::radio::{Participant, SentPacket};
use crate::simulation::Recorder;
use crate::site::{Site, SiteEvent};
use crate::time::{SECOND_NS, seconds};
use ::meter::Status;
use lab::LabError;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use wire::meter::{Content, Measurement, MessageKind, MeterId, Packet, Report, Suite};

/// What is expected of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectations {
    /// The seed, to be named where something does not hold.
    pub seed: u64,
    /// From power-up to the first bit on the air, at most.
    pub back_within_ns: u64,
    /// Error of the energy, relative.
    pub energy_error: f64,
    /// Somebody attacks: what meters have made is remembered.
    pub attacked: bool,
}

/// From measuring to the sealed report, at most: milliseconds, and with curves what an ATmega328P takes (docs/meter.md), the
/// start-up of its noise source before the first among it.
const SEALING_NS: u64 = SECOND_NS / 10;
const SEALING_CURVE_NS: u64 = 9 * SECOND_NS;

/// A time of a meter's life without a restart.
#[derive(Clone, Copy, Debug)]
struct Life {
    /// Its reports have numbers above this.
    above_n: u32,
    start_ns: u64,
}

/// What is counted of a meter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterCounts {
    /// Reports made: measurements and alerts.
    pub made: u64,
    /// Of these, measurements.
    pub measurements: u64,
    /// Reports whose append was finished before they were acknowledged.
    pub kept: u64,
    /// Delivered to the application.
    pub delivered: u64,
    /// Measurements among them.
    pub delivered_measurements: u64,
    /// Measurements lost for want of room.
    pub lost: u64,
    /// Reports sent, each attempt counted.
    pub sent: u64,
    /// Of these, beyond the first attempt.
    pub resent: u64,
    /// Packets that it refused.
    pub refused: u64,
    /// Commands that it carried out.
    pub commands: u64,
    /// Losses of power.
    pub cuts: u64,
    /// Of these, while a byte was written.
    pub cuts_while_writing: u64,
    /// Starts that no loss of power explains.
    pub restarts: u64,
    /// Bytes that it had on the air.
    pub air_bytes: u64,
    /// The longest from power-up to its first bit on the air, in seconds.
    pub back_s: f64,
    /// Energy that its reports tell, summed over its starts, in watt-hours.
    pub energy_wh: f64,
    /// The load's over the same times.
    pub load_wh: f64,
}

struct MeterAudit {
    counts: MeterCounts,
    status: Status,
    lives: Vec<Life>,
    /// Kept and not delivered, and when they were.
    due: BTreeMap<u32, u64>,
    last_n: u32,
    delivered: HashSet<u32>,
    /// It reports with suite `none` where somebody attacks: commands and reports may be theirs, and what it says is not judged.
    undefended: bool,
    /// When the reports that are not delivered were sealed, by their numbers.
    sealed_ns: BTreeMap<u32, u64>,
    /// Losses that were counted and have not explained a gap yet.
    accounted_losses: u64,
    silent_since_ns: Option<u64>,
    /// The report that is sent: the lowest byte of its number, when it was first on the air, how it is sealed.
    sending: Option<(u8, u64, Suite)>,
    /// Pieces that were sent behind each other: the packets, and the last one's end.
    pieces: Vec<Vec<u8>>,
    pieces_end_ns: u64,
    /// What the last measurement of a life told: which life, energy in 0.1 Wh, the load's energy in joules.
    told: Option<(usize, u32, f64)>,
    check: LoadProfile,
}

/// The checker.
pub struct InvariantChecker {
    expected: Expectations,
    audits: Vec<MeterAudit>,
    names: HashMap<MeterId, Participant>,
    contents: HashMap<(Participant, u8, u64), u64>,
    genuine: HashSet<u64>,
    /// From a report's first bit to its acknowledgement, in seconds, by suite.
    pub round_trips_s: BTreeMap<Suite, Vec<f32>>,
    /// What the attacker got into suite `none`.
    pub unprotected: u64,
    /// Measurements whose time the attacker made late.
    pub times_late: u64,
    /// When it looks next whether all meters are back.
    looks_ns: u64,
}

impl InvariantChecker {
    /// A checker of meters with these names, in the order of their indices, and of what their sites draw.
    #[must_use]
    pub fn new(expected: Expectations, meters: Vec<(MeterId, LoadProfile)>) -> InvariantChecker {
        let names = meters.iter().enumerate().map(|(index, (name, _))| (*name, index)).collect();
        let audit = |check| MeterAudit {
            counts: MeterCounts::default(),
            status: Status::default(),
            lives: Vec::new(),
            due: BTreeMap::new(),
            last_n: 0,
            delivered: HashSet::new(),
            undefended: false,
            sealed_ns: BTreeMap::new(),
            accounted_losses: 0,
            silent_since_ns: None,
            sending: None,
            pieces: Vec::new(),
            pieces_end_ns: 0,
            told: None,
            check,
        };
        InvariantChecker {
            expected,
            audits: meters.into_iter().map(|(_, check)| audit(check)).collect(),
            names,
            contents: HashMap::new(),
            genuine: HashSet::new(),
            round_trips_s: BTreeMap::new(),
            unprotected: 0,
            times_late: 0,
            looks_ns: SECOND_NS,
        }
    }

    /// What is counted of a meter.
    #[must_use]
    pub fn counts(&self, meter: usize) -> &MeterCounts {
        &self.audits[meter].counts
    }

    /// The error that names what does not hold.
    fn broken(&self, meter: Participant, at_ns: u64, problem: &str) -> LabError {
        let who = if meter < self.audits.len() {
            format!("meter {}", meter + 1)
        } else {
            "the collector".to_owned()
        };
        LabError::Protocol {
            what: format!("network, seed {}, {who}, {:.6} s", self.expected.seed, seconds(at_ns)),
            problem: format!("{problem}; the same scenario and seed show it again"),
        }
    }

    /// A number, or an ephemeral key, with two contents is an error.
    fn packet_sent(&mut self, packet: &SentPacket) -> Result<(), LabError> {
        let from = packet.from;
        if let Some(audit) = self.audits.get_mut(from) {
            audit.counts.air_bytes += packet.air_bytes as u64;
            if let Some(since_ns) = audit.silent_since_ns.take() {
                audit.counts.back_s =
                    audit.counts.back_s.max(seconds(packet.start_ns.saturating_sub(since_ns)));
            }
        }
        let Ok(parsed) = Packet::parse(&packet.packet) else {
            return Err(self.broken(from, packet.start_ns, "a packet on the air is not of the protocol"));
        };
        let content = hash(&packet.packet[1..]);
        if self.expected.attacked && from < self.audits.len() {
            self.genuine.insert(hash(&packet.packet));
        }
        // The collector's numbers are each meter's own.
        let whose = if from < self.audits.len() {
            from
        } else {
            self.names.get(&parsed.meter).copied().unwrap_or(usize::MAX)
        };
        let mut content = content;
        let low = packet.packet[4];
        if let Some(audit) = self.audits.get_mut(from)
            && parsed.kind == MessageKind::Report
            && audit.sending.is_none_or(|(sending, _, suite)| (sending, suite) != (low, parsed.suite))
        {
            audit.sending = Some((low, packet.start_ns, parsed.suite));
        }
        // What has its number in the open has it in its first four bytes. Of what is sealed with curves the ephemeral key is
        // looked at, once all pieces were sent behind each other, in whatever order.
        let body = &packet.packet[5..];
        let sealed_with_curves =
            parsed.suite.has_curve() && matches!(parsed.kind, MessageKind::Report | MessageKind::Command);
        let (form, number) = if sealed_with_curves {
            let Some(message) = self.audits.get_mut(from).and_then(|audit| audit.gather(packet)) else {
                return Ok(());
            };
            content = hash(&message);
            (packet.packet[1] & !7, hash(&message[..64]))
        } else {
            (packet.packet[1], u64::from(u32::from_be_bytes([body[0], body[1], body[2], body[3]])))
        };
        // An answer that is not sealed has no number of its own, but that of its command, which may be answered again.
        if parsed.suite == Suite::None && parsed.kind != MessageKind::Report {
            return Ok(());
        }
        let known = *self.contents.entry((whose, form, number)).or_insert(content);
        if known != content {
            let what = format!(
                "{} number {number:#x} (kind, suite and piece {:#04x}) is on the air with two contents",
                if sealed_with_curves { "the ephemeral key of" } else { "" },
                form
            );
            return Err(self.broken(whose, packet.start_ns, what.trim_start()));
        }
        Ok(())
    }

    /// A report has come to the application: twice, out of order, behind a gap, of the attacker's making, or with an energy that cannot
    /// be is an error.
    fn delivered(&mut self, delivery: &Delivery) -> Result<(), LabError> {
        let (accepted, at_ns) = (&delivery.accepted, delivery.at_ns);
        let n = accepted.report.n;
        let Some(&meter) = self.names.get(&accepted.meter) else {
            return Err(self.broken(usize::MAX, at_ns, "a report of nobody was accepted"));
        };
        if delivery.from > self.audits.len() && !self.genuine.contains(&hash(&delivery.packet)) {
            if accepted.suite != Suite::None {
                let what = format!("report {n} was accepted of the attacker, who made it");
                return Err(self.broken(meter, at_ns, &what));
            }
            self.unprotected += 1;
            return Ok(());
        }
        let audit = &mut self.audits[meter];
        audit.undefended |= self.expected.attacked && accepted.suite == Suite::None;
        if audit.undefended {
            audit.counts.delivered += 1;
            return Ok(());
        }
        if !audit.delivered.insert(n) {
            return Err(self.broken(meter, at_ns, &format!("report {n} was delivered twice")));
        }
        if n <= audit.last_n {
            // Behind others comes what was lost and is there again: a torn byte reads otherwise, or the attacker recorded it.
            if audit.due.remove(&n).is_some() {
                let what =
                    format!("report {n} was in the journal, and {} was delivered before it", audit.last_n);
                return Err(self.broken(meter, at_ns, &what));
            }
            audit.counts.delivered += 1;
            audit.counts.delivered_measurements +=
                u64::from(matches!(accepted.report.content, Content::Measurement(_)));
            return Ok(());
        }
        audit.last_n = n;
        audit.due.remove(&n);
        let missing: Vec<u32> = audit.due.range(..n).map(|(&n, _)| n).collect();
        for missing in &missing {
            audit.due.remove(missing);
        }
        if missing.len() as u64 > audit.accounted_losses {
            let what = format!(
                "report {} was in the journal, and {n} was delivered instead; the meter counts {} lost for want of room",
                missing[0], audit.counts.lost
            );
            return Err(self.broken(meter, at_ns, &what));
        }
        audit.accounted_losses -= missing.len() as u64;
        audit.counts.delivered += 1;
        if let Content::Measurement(measurement) = accepted.report.content {
            audit.counts.delivered_measurements += 1;
            let judged = audit.measured(&accepted.report, &measurement, accepted.suite, &self.expected);
            match judged {
                Ok(late) => self.times_late += u64::from(late),
                Err(problem) => return Err(self.broken(meter, at_ns, &problem)),
            }
        }
        let audit = &mut self.audits[meter];
        audit.sealed_ns = audit.sealed_ns.split_off(&(n + 1));
        Ok(())
    }

    /// A meter that does not come back is an error.
    fn all_are_back(&self, now_ns: u64) -> Result<(), LabError> {
        for (meter, audit) in self.audits.iter().enumerate() {
            if let Some(since_ns) = audit.silent_since_ns
                && now_ns > since_ns + self.expected.back_within_ns
            {
                let what = format!(
                    "nothing is heard of it since its power came, {:.1} s ago",
                    seconds(now_ns - since_ns)
                );
                return Err(self.broken(meter, now_ns, &what));
            }
        }
        Ok(())
    }

    /// The first report that was kept before a time and is not delivered: whose, and which.
    #[must_use]
    pub fn outstanding(&self, kept_before_ns: u64) -> Option<(usize, u32)> {
        let trusted = self.audits.iter().enumerate().filter(|(_, audit)| !audit.undefended);
        trusted.into_iter().find_map(|(meter, audit)| {
            // What was dropped for want of room comes to light with the next delivery.
            let skip = usize::try_from(audit.accounted_losses).unwrap_or(usize::MAX);
            let (n, _) = audit.due.iter().filter(|(_, kept_ns)| **kept_ns < kept_before_ns).nth(skip)?;
            Some((meter, *n))
        })
    }

    /// The error for what is still outstanding when all should have come.
    #[must_use]
    pub fn never_came(&self, (meter, n): (usize, u32), now_ns: u64) -> LabError {
        let what = format!("report {n} was in the journal and has not come on a faultless channel");
        self.broken(meter, now_ns, &what)
    }
}

impl Recorder for InvariantChecker {
    fn site_event(&mut self, meter: usize, at_ns: u64, event: SiteEvent) -> Result<(), LabError> {
        let audit = &mut self.audits[meter];
        match event {
            SiteEvent::PowerUp => {
                audit.silent_since_ns = Some(at_ns);
                audit.begin(at_ns);
            }
            SiteEvent::PowerCut { while_writing } => {
                audit.counts.cuts += 1;
                audit.counts.cuts_while_writing += u64::from(while_writing);
                audit.silent_since_ns = None;
                audit.sending = None;
            }
            SiteEvent::Meter(status) => {
                let round_trip = audit.status(status, at_ns);
                if let Some((suite, took_ns)) = round_trip {
                    self.round_trips_s.entry(suite).or_default().push(seconds(took_ns) as f32);
                }
            }
            SiteEvent::Off(_) | SiteEvent::Call(_) | SiteEvent::Signer(_) => {}
        }
        Ok(())
    }

    fn base_event(&mut self, _: u64, event: BaseEvent) -> Result<(), LabError> {
        match event {
            BaseEvent::Delivered(delivery) => self.delivered(&delivery),
            _ => Ok(()),
        }
    }

    fn sent(&mut self, packet: &SentPacket) -> Result<(), LabError> {
        self.packet_sent(packet)
    }

    fn passed(&mut self, now_ns: u64, _: &[Site]) -> Result<(), LabError> {
        if now_ns < self.looks_ns {
            return Ok(());
        }
        self.looks_ns = now_ns + SECOND_NS;
        self.all_are_back(now_ns)
    }
}

impl MeterAudit {
    /// The message that a packet completes.
    fn gather(&mut self, packet: &SentPacket) -> Option<Vec<u8>> {
        /// Between two packets of one message: the transmitter's start, and what firmware takes, at most.
        const GAP_NS: u64 = 5_000_000;
        let follows = packet.start_ns <= self.pieces_end_ns + GAP_NS
            && self.pieces.first().is_some_and(|first| {
                first[1] & !7 == packet.packet[1] & !7 && first[2..5] == packet.packet[2..5]
            })
            && self.pieces.iter().all(|other| other[1] != packet.packet[1]);
        if !follows {
            self.pieces.clear();
        }
        self.pieces_end_ns = packet.end_ns;
        self.pieces.push(packet.packet.clone());
        // docs/protocol.md: 2 x 56 or 3 x 48.
        let count = if packet.packet.len() == 5 + 56 { 2 } else { 3 };
        if self.pieces.len() < count {
            return None;
        }
        self.pieces.sort_by_key(|piece| piece[1]);
        Some(std::mem::take(&mut self.pieces).iter().flat_map(|piece| piece[5..].to_vec()).collect())
    }

    fn begin(&mut self, start_ns: u64) {
        let above_n = self.status.number.max(self.lives.last().map_or(0, |life| life.above_n));
        self.lives.push(Life { above_n, start_ns });
        self.status = Status::default();
    }

    /// What a meter says of itself: counters that go on from their last values. Returns a round trip that is over.
    fn status(&mut self, status: Status, at_ns: u64) -> Option<(Suite, u64)> {
        if status.starts != self.status.starts && self.status.starts != 0 {
            self.counts.restarts += 1;
            self.begin(at_ns);
        }
        if status.number != self.status.number && !self.undefended {
            self.sealed_ns.insert(status.number, at_ns);
        }
        let before = std::mem::replace(&mut self.status, status);
        let more = |now: u32, before: u32| u64::from(now.wrapping_sub(before));
        let more_16 = |now: u16, before: u16| u64::from(now.wrapping_sub(before));
        let measurements = more(status.measurements, before.measurements);
        let counts = &mut self.counts;
        counts.measurements += measurements;
        counts.made += measurements + more_16(status.alerts, before.alerts);
        counts.sent += more_16(status.sent, before.sent);
        counts.resent += more_16(status.resent, before.resent);
        counts.refused += more_16(status.refused, before.refused);
        counts.commands += more_16(status.commands, before.commands);
        let lost = more_16(status.lost, before.lost);
        counts.lost += lost;
        self.accounted_losses += lost;
        if status.kept_number != before.kept_number && status.kept_number != 0 {
            counts.kept += 1;
            if status.kept_number > self.last_n {
                self.due.insert(status.kept_number, at_ns);
            }
        }
        if status.acknowledged != before.acknowledged {
            let (_, first_ns, suite) = self.sending.take()?;
            return Some((suite, at_ns - first_ns));
        }
        None
    }

    /// Compares a measurement's energy with the load's, and its time with when it was sealed. A meter counts whole seconds, and its time was
    /// set up to a second and some late. Returns whether an attacker made its time late.
    fn measured(
        &mut self,
        report: &Report,
        measurement: &Measurement,
        suite: Suite,
        expected: &Expectations,
    ) -> Result<bool, String> {
        const DWH_J: f64 = 360.0;
        let (n, set) = (report.n, report.time_set);
        let at = self.lives.partition_point(|life| life.above_n < n).checked_sub(1);
        let Some(at) = at else { return Ok(false) };
        let start_ns = self.lives[at].start_ns;
        let told_ns = if set {
            (u64::from(measurement.time_s).saturating_sub(BEGINS_MS / 1000)) * SECOND_NS
        } else {
            start_ns + u64::from(measurement.time_s) * SECOND_NS
        };
        let after_set_ns = if set { 5 * SECOND_NS / 2 } else { 3 * SECOND_NS / 2 };
        let early_ns = SECOND_NS;
        let sealed_ns = self.sealed_ns.get(&n).copied();
        if sealed_ns.is_some_and(|sealed_ns| told_ns > sealed_ns + early_ns) {
            return Err(format!(
                "measurement {n} tells a time of {:.3} s, which is to come",
                seconds(told_ns)
            ));
        }
        let sealing_ns = if suite.has_curve() { SEALING_CURVE_NS } else { SEALING_NS };
        let late = sealed_ns.filter(|sealed_ns| told_ns + after_set_ns + sealing_ns < *sealed_ns);
        if let Some(sealed_ns) = late
            && !(set && expected.attacked)
        {
            return Err(format!(
                "measurement {n} tells a time of {:.3} s, and was sealed at {:.3} s",
                seconds(told_ns),
                seconds(sealed_ns)
            ));
        }
        // Where its time is late, it was measured when it was sealed, or a little before.
        let (from_ns, time_ns, until_ns) = match late {
            Some(sealed_ns) => (sealed_ns.saturating_sub(sealing_ns), sealed_ns, sealed_ns),
            None => (told_ns, told_ns, told_ns + after_set_ns),
        };
        let least_j = self.check.energy_j(start_ns + 2 * SECOND_NS, from_ns.saturating_sub(early_ns));
        let most_j = self.check.energy_j(start_ns, until_ns);
        let truth_j = self.check.energy_j(start_ns, time_ns);
        let energy_dwh = measurement.energy_dwh;
        let told_j = f64::from(energy_dwh) * DWH_J;
        let (of_life, before_dwh, before_j) = self.told.unwrap_or((usize::MAX, 0, 0.0));
        let (before_dwh, before_j) = if of_life == at { (before_dwh, before_j) } else { (0, 0.0) };
        self.counts.energy_wh += f64::from(energy_dwh.wrapping_sub(before_dwh)) / 10.0;
        self.counts.load_wh += (truth_j - before_j) / 3600.0;
        self.told = Some((at, energy_dwh, truth_j));
        let error = expected.energy_error;
        if told_j < least_j * (1.0 - error) - 2.0 * DWH_J || told_j > most_j * (1.0 + error) + DWH_J {
            return Err(format!(
                "measurement {n} of {:.3} s tells {:.1} Wh since the start at {:.3} s, the load's integral is {:.1} to {:.1} Wh",
                seconds(time_ns),
                told_j / 3600.0,
                seconds(start_ns),
                least_j / 3600.0,
                most_j / 3600.0
            ));
        }
        Ok(late.is_some())
    }
}

/// 64 bits of bytes. Fixed keys: a run is the same again.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
