//! Invariants of a network of meters, checked all the time, and counts on the way.
//!
//! - Every report whose append to the journal was finished is delivered exactly once, in order; a
//!   measurement may be missing only where its meter counts it as lost for want of room.
//! - No number is on the air with two contents, neither a meter's n (for a kind and a suite) nor
//!   the collector's, and no ephemeral key goes with two messages. With suite 6 that is for each
//!   key, and what `keys` says holds.
//! - Nothing that the attacker made is accepted, but with suite `none`, which has no defence.
//! - A meter whose power came is heard on the air within a bound.
//! - A meter with a bootloader runs an image that it was given, to its last byte; pieces of images,
//!   and their replies, are on the air with one content each.
//! - The energy that reports tell is the integral of the site's load, within the meter's error; and
//!   so is the time that they tell, but that who holds a set time back makes it late
//!   (docs/reference/protocol.md, "On the air").

mod images;
mod keys;
mod meter;

pub use self::meter::MeterCounts;

use self::meter::MeterAudit;
use crate::load::LoadProfile;
use crate::node::Written;
use crate::radio::{Participant, SentPacket};
use crate::simulation::Recorder;
use crate::site::{Site, SiteEvent};
use crate::station::{BaseEvent, Delivery};
use crate::time::{SECOND_NS, seconds};
use lab::LabError;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use wire::meter::{
    Command, CommandResult, Content, Identity, MessageKind, MeterId, MeterRecord, Packet, RenewalPacket,
    Suite, UpdatePacket,
};

/// Expectations of the network.
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

/// The checker.
pub struct InvariantChecker {
    expected: Expectations,
    audits: Vec<MeterAudit>,
    names: HashMap<MeterId, Participant>,
    /// Packets that are on the air once, by participant, form, key and number.
    contents: HashMap<(Participant, u8, usize, u64), u64>,
    genuine: HashSet<u64>,
    /// From a report's first bit to its acknowledgement, in seconds, by suite.
    pub round_trips_s: BTreeMap<Suite, Vec<f32>>,
    /// Packets of suite `none` that the attacker forged and the collector accepted.
    pub unprotected: u64,
    /// Measurements whose time the attacker made late.
    pub times_late: u64,
    /// When it looks next whether all meters are back.
    looks_ns: u64,
}

impl InvariantChecker {
    /// A checker of these meters, in the order of their indices, and of what their sites draw.
    #[must_use]
    pub fn new(
        expected: Expectations,
        meters: Vec<(MeterRecord, LoadProfile)>,
        collector: &Identity,
    ) -> InvariantChecker {
        let names =
            meters.iter().enumerate().map(|(index, (record, _))| (record.setup.meter, index)).collect();
        let audit = |(record, check)| MeterAudit::new(record, check, collector);
        InvariantChecker {
            expected,
            audits: meters.into_iter().map(audit).collect(),
            names,
            contents: HashMap::new(),
            genuine: HashSet::new(),
            round_trips_s: BTreeMap::new(),
            unprotected: 0,
            times_late: 0,
            looks_ns: SECOND_NS,
        }
    }

    /// Returns the counts of a meter.
    #[must_use]
    pub fn counts(&self, meter: usize) -> &MeterCounts {
        &self.audits[meter].counts
    }

    /// A meter has this image from the beginning.
    pub fn has_image(&mut self, meter: MeterId, image: &[u8]) {
        if let Some(audit) = self.audit_of(meter) {
            audit.images.given(image);
        }
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

    fn audit_of(&mut self, meter: MeterId) -> Option<&mut MeterAudit> {
        self.audits.get_mut(*self.names.get(&meter)?)
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
        if self.expected.attacked && from < self.audits.len() {
            self.genuine.insert(hash(&packet.packet));
        }
        if let Some(piece) = RenewalPacket::parse(&packet.packet) {
            return self.piece_sent(packet, &piece);
        }
        if let Some(piece) = UpdatePacket::parse(&packet.packet) {
            return self.image_piece_sent(packet, &piece);
        }
        let Ok(parsed) = Packet::parse(&packet.packet) else {
            return Err(self.broken(from, packet.start_ns, "a packet on the air is not of the protocol"));
        };
        let content = hash(&packet.packet[1..]);
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
        // What has its number in the open has it in its first four bytes. Of what is sealed with
        // curves the ephemeral key is looked at, once all pieces were sent behind each other, in
        // whatever order.
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
        // An answer that is not sealed has no number of its own, but that of its command, which may
        // be answered again.
        if parsed.suite == Suite::None && parsed.kind != MessageKind::Report {
            return Ok(());
        }
        let mut key = 0;
        if let Some(audit) = self.audits.get_mut(whose).filter(|_| parsed.suite == Suite::Aes256GcmRekeyed) {
            let sealed = audit.keys.message_sent(&parsed);
            let used = sealed.map_err(|problem| self.broken(from, packet.start_ns, &problem))?;
            // A meter's numbers go on over all keys.
            key = if from < self.audits.len() { 0 } else { used };
        }
        let known = *self.contents.entry((whose, form, key, number)).or_insert(content);
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

    /// A piece of a renewal is on the air: with two contents, or of none that was begun, it is an
    /// error.
    fn piece_sent(&mut self, packet: &SentPacket, piece: &RenewalPacket<'_>) -> Result<(), LabError> {
        let (from, at_ns) = (packet.from, packet.start_ns);
        let Some(&whose) = self.names.get(&piece.meter) else {
            return Err(self.broken(from, at_ns, "a piece of a renewal of nobody"));
        };
        let m = self.audits[whose].keys.piece_sent(piece);
        let m = m.map_err(|problem| self.broken(from, at_ns, &problem))?;
        // Behind address, kind and name: the number's lowest byte, the index, what is sealed.
        let content = hash(&packet.packet[4..]);
        let number = u64::from(m) << 8 | u64::from(piece.index);
        if *self.contents.entry((whose, packet.packet[1], 0, number)).or_insert(content) != content {
            let what = format!("piece {} of renewal {m} is on the air with two contents", piece.index);
            return Err(self.broken(from, at_ns, &what));
        }
        Ok(())
    }

    /// The same of a piece of an image, or a reply to one.
    fn image_piece_sent(&mut self, packet: &SentPacket, piece: &UpdatePacket<'_>) -> Result<(), LabError> {
        let (from, at_ns) = (packet.from, packet.start_ns);
        let Some(&whose) = self.names.get(&piece.meter) else {
            return Err(self.broken(from, at_ns, "a piece of an image for nobody"));
        };
        let m = self.audits[whose].images.piece_sent(piece);
        let m = m.map_err(|problem| self.broken(from, at_ns, &problem))?;
        let content = hash(&packet.packet[4..]);
        let number = u64::from(m) << 16 | u64::from(piece.number);
        // No piece is sent, and none is answered, while both sides may have different keys.
        let key = if piece.suite == Suite::Aes256GcmRekeyed { self.audits[whose].keys.epoch() } else { 0 };
        if *self.contents.entry((whose, packet.packet[1], key, number)).or_insert(content) != content {
            let what =
                format!("piece {} of the image of command {m} is on the air with two contents", piece.number);
            return Err(self.broken(from, at_ns, &what));
        }
        Ok(())
    }

    /// The collector has taken a piece of a renewal, or a reply to one of an image: of the
    /// attacker's making it is an error.
    fn piece_taken(&self, from: Participant, packet: &[u8], now_ns: u64) -> Result<(), LabError> {
        if from > self.audits.len() && !self.genuine.contains(&hash(packet)) {
            let renewal = RenewalPacket::parse(packet).map(|piece| piece.meter);
            let name = renewal.or_else(|| UpdatePacket::parse(packet).map(|reply| reply.meter));
            let meter = name.and_then(|name| self.names.get(&name).copied());
            let what = "a piece was accepted of the attacker, who made it";
            return Err(self.broken(meter.unwrap_or(usize::MAX), now_ns, what));
        }
        Ok(())
    }

    /// A report has come to the application: twice, out of order, behind a gap, of the attacker's
    /// making, or with an energy that cannot be is an error.
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
            // Behind others comes what was lost and is there again: a torn byte reads otherwise, or
            // the attacker recorded it.
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
        self.audits[meter].came(n);
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

    /// The first meter whose key the collector does not know to be the same as its own.
    #[must_use]
    pub fn unsettled(&self) -> Option<usize> {
        self.audits.iter().position(|audit| !audit.keys.is_settled(audit.status.epoch, audit.status.suite))
    }

    /// The error for a key that should be one on both sides.
    #[must_use]
    pub fn never_settled(&self, meter: usize, now_ns: u64) -> LabError {
        self.broken(meter, now_ns, "on a faultless channel its key and the collector's have not become one")
    }

    /// The error for an image that should run by now, or have gone back.
    #[must_use]
    pub fn never_updated(&self, meter: MeterId, now_ns: u64) -> LabError {
        let meter = self.names.get(&meter).copied().unwrap_or(usize::MAX);
        self.broken(meter, now_ns, "on a faultless channel its update has not come to an end")
    }

    /// A meter that runs what it was not given is an error.
    fn all_run_images(&self, now_ns: u64, sites: &[Site]) -> Result<(), LabError> {
        for (meter, (audit, site)) in self.audits.iter().zip(sites).enumerate() {
            if site.node.image().is_some_and(|slot| !audit.images.runs(slot)) {
                return Err(self.broken(
                    meter,
                    now_ns,
                    "it runs an image that it was not given, or not all of one",
                ));
            }
        }
        Ok(())
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
                audit.counts.cuts_while_writing += u64::from(while_writing.is_some());
                audit.counts.cuts_within_flash += u64::from(while_writing == Some(Written::Flash));
                audit.silent_since_ns = None;
                audit.sending = None;
            }
            SiteEvent::Meter(status) => {
                // Before it has begun it says nothing.
                let known = if status.starts == 0 { Ok(()) } else { audit.keys.meter_has(status.epoch) };
                if let Err(problem) = known {
                    return Err(self.broken(meter, at_ns, &problem));
                }
                let round_trip = audit.status(status, at_ns);
                if let Some((suite, took_ns)) = round_trip {
                    self.round_trips_s.entry(suite).or_default().push(seconds(took_ns) as f32);
                }
            }
            SiteEvent::Off(_) | SiteEvent::Call(_) | SiteEvent::Signer(_) => {}
        }
        Ok(())
    }

    fn base_event(&mut self, now_ns: u64, event: BaseEvent) -> Result<(), LabError> {
        match event {
            BaseEvent::Delivered(delivery) => return self.delivered(&delivery),
            BaseEvent::PieceTaken { from, packet } => return self.piece_taken(from, &packet, now_ns),
            BaseEvent::KeysStored(record) => {
                if let Some(audit) = self.audit_of(record.setup.meter) {
                    audit.keys.stored(&record);
                    audit.counts.keys_renewed = audit.keys.renewed;
                }
            }
            BaseEvent::ImageGiven(meter, image) => self.has_image(meter, image.bytes()),
            BaseEvent::Answered(answered, _)
                if matches!(answered.command, Command::UpdateFirmware { .. })
                    && answered.answer.outcome == CommandResult::Done =>
            {
                if let Some(audit) = self.audit_of(answered.meter) {
                    audit.images.begun(answered.answer.m);
                }
            }
            BaseEvent::Answered(answered, _)
                if (answered.command, answered.answer.outcome)
                    == (Command::RenewKey, CommandResult::Done) =>
            {
                if let Some(audit) = self.audit_of(answered.meter) {
                    audit.keys.begun(answered.answer.m);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn sent(&mut self, packet: &SentPacket) -> Result<(), LabError> {
        self.packet_sent(packet)
    }

    fn passed(&mut self, now_ns: u64, sites: &[Site]) -> Result<(), LabError> {
        if now_ns < self.looks_ns {
            return Ok(());
        }
        self.looks_ns = now_ns + SECOND_NS;
        self.all_run_images(now_ns, sites)?;
        self.all_are_back(now_ns)
    }
}

/// 64 bits of bytes. Fixed keys: a run is the same again.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
