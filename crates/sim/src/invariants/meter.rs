//! State and counts of one meter.

use super::Expectations;
use super::images::ImageAudit;
use super::keys::KeyAudit;
use crate::load::LoadProfile;
use crate::radio::SentPacket;
use crate::station::collector::BEGINS_MS;
use crate::time::{SECOND_NS, seconds};
use device::meter::Status;
use std::collections::{BTreeMap, HashSet};
use wire::meter::{Identity, Measurement, MeterRecord, Report, Suite};

/// From measuring to the sealed report, at most: milliseconds, and with curves what an ATmega328P
/// takes (docs/reference/meter.md), the start-up of its noise source before the first among it.
const SEALING_NS: u64 = SECOND_NS / 10;
const SEALING_CURVE_NS: u64 = 9 * SECOND_NS;

/// Counts of a meter.
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
    /// Of these, while its flash was erased or programmed.
    pub cuts_within_flash: u64,
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
    /// Keys that were renewed.
    pub keys_renewed: u64,
}

/// A time of a meter's life without a restart.
#[derive(Clone, Copy, Debug)]
struct Life {
    /// Its reports have numbers above this.
    above_n: u32,
    start_ns: u64,
}

pub(super) struct MeterAudit {
    pub(super) counts: MeterCounts,
    pub(super) status: Status,
    lives: Vec<Life>,
    /// Kept and not delivered, and when they were.
    pub(super) due: BTreeMap<u32, u64>,
    pub(super) last_n: u32,
    pub(super) delivered: HashSet<u32>,
    /// It reports with suite `none` where somebody attacks: commands and reports may be theirs, and
    /// what it says is not judged.
    pub(super) undefended: bool,
    /// When the reports that are not delivered were sealed, by their numbers.
    sealed_ns: BTreeMap<u32, u64>,
    /// Losses that were counted and have not explained a gap yet.
    pub(super) accounted_losses: u64,
    pub(super) silent_since_ns: Option<u64>,
    /// The report that is sent: the lowest byte of its number, when it was first on the air, how it
    /// is sealed.
    pub(super) sending: Option<(u8, u64, Suite)>,
    /// Pieces that were sent behind each other: the packets, and the last one's end.
    pieces: Vec<Vec<u8>>,
    pieces_end_ns: u64,
    /// Last measurement of a life: index of the life, energy in 0.1 Wh, the load's energy in
    /// joules.
    told: Option<(usize, u32, f64)>,
    check: LoadProfile,
    pub(super) keys: KeyAudit,
    pub(super) images: ImageAudit,
}

impl MeterAudit {
    /// Of a meter as it was provisioned, and of what its site draws.
    pub(super) fn new(record: MeterRecord, check: LoadProfile, collector: &Identity) -> MeterAudit {
        MeterAudit {
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
            keys: KeyAudit::new(record, collector.clone()),
            images: ImageAudit::default(),
        }
    }

    /// Reports up to this one have come: when they were sealed is not asked any more.
    pub(super) fn came(&mut self, n: u32) {
        self.sealed_ns = self.sealed_ns.split_off(&(n + 1));
    }

    /// The message that a packet completes.
    pub(super) fn gather(&mut self, packet: &SentPacket) -> Option<Vec<u8>> {
        /// Between two packets of one message: the transmitter's start, and what firmware takes, at
        /// most.
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
        // docs/reference/protocol.md: 2 x 56 or 3 x 48.
        let count = if packet.packet.len() == 5 + 56 { 2 } else { 3 };
        if self.pieces.len() < count {
            return None;
        }
        self.pieces.sort_by_key(|piece| piece[1]);
        Some(std::mem::take(&mut self.pieces).iter().flat_map(|piece| piece[5..].to_vec()).collect())
    }

    pub(super) fn begin(&mut self, start_ns: u64) {
        let above_n = self.status.number.max(self.lives.last().map_or(0, |life| life.above_n));
        self.lives.push(Life { above_n, start_ns });
        self.status = Status::default();
    }

    /// Takes a meter's status: counters that go on from their last values. Returns a round trip
    /// that is over.
    pub(super) fn status(&mut self, status: Status, at_ns: u64) -> Option<(Suite, u64)> {
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

    /// Compares a measurement's energy with the load's, and its time with when it was sealed. A
    /// meter counts whole seconds, and its time was set up to a second and some late. Returns
    /// whether an attacker made its time late.
    pub(super) fn measured(
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
