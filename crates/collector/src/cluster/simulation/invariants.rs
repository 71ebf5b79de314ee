//! The invariants, checked all the time.

use super::rows::Effect;
use super::world::Us;
use crate::fence::LeaseNumber;
use crate::partition::Partition;
use std::collections::{BTreeMap, BTreeSet};
use wire::meter::{Collector, Identity, MeterId, MeterRecord, MeterState, Policy, UplinkOutcome};

/// Alerts that say that numbers came twice, or that something that was stored is not there any
/// more.
const NEVER: [&str; 4] = ["number-reused", "command-numbers", "restored", "damaged"];

/// A report as its meter sent it first.
struct Sent {
    at: Us,
    report: [u8; 16],
}

pub(super) struct Invariants {
    /// Says if the broker is honest: otherwise workers cannot agree by it on partitions, and it
    /// keeps nothing.
    is_broker_honest: bool,
    /// Hears all that meters send, and loses nothing.
    observer: Collector,
    sent: BTreeMap<(MeterId, u32), Sent>,
    /// The report in each packet.
    packets: BTreeMap<Vec<u8>, (MeterId, u32)>,
    /// On the server and its standby.
    durable: BTreeSet<(MeterId, u32)>,
    reboots: BTreeMap<MeterId, i32>,
    failed: Option<String>,
    pub(super) counts: Counts,
}

/// The counts of events in a run, so that an idle run shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) reports: u64,
    pub(super) acknowledged: u64,
    pub(super) commands: u64,
    pub(super) reboots: u64,
    pub(super) transactions: u64,
    pub(super) fenced: u64,
    pub(super) taken: u64,
    pub(super) faults: u64,
    pub(super) events: u64,
    /// The hash of all events with their times and contents: one run is as another if it is the
    /// same.
    pub(super) trace: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.reports += other.reports;
        self.acknowledged += other.acknowledged;
        self.commands += other.commands;
        self.reboots += other.reboots;
        self.transactions += other.transactions;
        self.fenced += other.fenced;
        self.taken += other.taken;
        self.faults += other.faults;
        self.events += other.events;
        // The same for all orders of the seeds.
        self.trace = self.trace.wrapping_add(other.trace);
    }
}

impl Invariants {
    pub(super) fn new(identity: &Identity, records: &[MeterRecord], is_broker_honest: bool) -> Invariants {
        let mut observer = Collector::new(identity.clone(), Policy::default());
        for record in records {
            // They have different names.
            let _ = observer.add(record.clone(), MeterState::new(record));
        }
        Invariants {
            is_broker_honest,
            observer,
            sent: BTreeMap::new(),
            packets: BTreeMap::new(),
            durable: BTreeSet::new(),
            reboots: BTreeMap::new(),
            failed: None,
            counts: Counts::default(),
        }
    }

    /// Something does not hold. The first is told.
    pub(super) fn fail(&mut self, what: String) {
        self.failed.get_or_insert(what);
    }

    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// A meter has sent a packet.
    pub(super) fn on_air(&mut self, now: Us, packet: &[u8]) {
        if self.packets.contains_key(packet) {
            return;
        }
        if let UplinkOutcome::Report(accepted) = self.observer.on_packet(packet, now / 1000) {
            let (meter, n) = (accepted.meter, accepted.report.n);
            let report = accepted.report.to_bytes();
            self.counts.reports += 1;
            self.packets.insert(packet.to_vec(), (meter, n));
            self.sent.insert((meter, n), Sent { at: now, report });
            let _ = self.observer.confirm_report(meter, n);
        }
    }

    /// A worker tells a meter that its report is taken: one with that number's lowest byte, of
    /// which there are several after a reboot.
    pub(super) fn acknowledged(&mut self, meter: MeterId, number_lsb: u8) {
        self.counts.acknowledged += 1;
        let of_meter = self.sent.range((meter, 0)..=(meter, u32::MAX)).rev();
        let mut with_it = of_meter.map(|((_, n), _)| *n).filter(|n| *n as u8 == number_lsb);
        if !with_it.any(|n| self.durable.contains(&(meter, n))) {
            self.fail(format!(
                "a report ..{number_lsb:02x} of meter {meter} is acknowledged, and not durable"
            ));
        }
    }

    /// A packet leaves the stream, and no other with the same report is in it. A session that
    /// stores another report of the meter tells the two apart by the lowest bytes of their numbers;
    /// after a reboot these may be equal, and the meter has to send it again.
    pub(super) fn taken_from_the_stream(&mut self, packet: &[u8]) {
        let Some((meter, n)) = self.packets.get(packet).copied() else { return };
        let of_meter = self.sent.range((meter, 0)..=(meter, u32::MAX));
        let with_it = of_meter.filter(|((_, other), _)| *other as u8 == n as u8).count();
        if self.is_broker_honest && with_it == 1 && !self.durable.contains(&(meter, n)) {
            self.fail(format!(
                "JetStream is told to be done with report {n} of meter {meter}, which is not durable"
            ));
        }
    }

    /// A consumer is deleted by who has, or had, this lease of its partition.
    pub(super) fn consumer_deleted(&mut self, consumer: &str, under: u64) {
        let number = consumer.rsplit('-').next().and_then(|number| number.parse::<u64>().ok());
        if self.is_broker_honest && number.is_some_and(|number| number > under) {
            self.fail(format!("consumer {consumer} is deleted under the lease {under} before it"));
        }
    }

    pub(super) fn stored(&mut self, meter: MeterId, n: u32, report: &[u8; 16]) {
        match self.sent.get(&(meter, n)) {
            None => self.fail(format!("report {n} of meter {meter} is stored, which never sent it")),
            Some(sent) if sent.report != *report => {
                self.fail(format!("report {n} of meter {meter} is not stored as it was sent"));
            }
            Some(_) => {}
        }
    }

    /// These are on the standby, too.
    pub(super) fn durable(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Report { meter, n, .. } = effect {
                self.durable.insert((*meter, *n));
            }
        }
    }

    /// A transaction commits after all of the log.
    pub(super) fn committed<'l>(
        &mut self,
        leases: &[LeaseNumber],
        effects: &[Effect],
        log: impl DoubleEndedIterator<Item = &'l [Effect]> + Clone,
    ) {
        self.counts.transactions += 1;
        let last = |partition: Partition| {
            log.clone().rev().flatten().find_map(|effect| match effect {
                Effect::Take(lease, _) if lease.partition == partition => Some(lease.number),
                _ => None,
            })
        };
        let takes = effects.iter().filter_map(|effect| match effect {
            Effect::Take(lease, _) => Some(*lease),
            _ => None,
        });
        let over: Vec<_> = leases.iter().copied().chain(takes).collect();
        for lease in over {
            if let Some(later) = last(lease.partition).filter(|last| *last > lease.number) {
                self.fail(format!(
                    "a transaction under lease {} of partition {} commits after it was taken under {later}",
                    lease.number, lease.partition
                ));
            }
        }
    }

    pub(super) fn alert(&mut self, alert: &str) {
        if NEVER.iter().any(|never| alert.starts_with(never)) {
            self.fail(format!("alert: {alert}"));
        }
    }

    /// A command to reboot was given.
    pub(super) fn reboot_given(&mut self, meter: MeterId) {
        *self.reboots.entry(meter).or_default() += 1;
    }

    /// A meter was told to begin anew, and does.
    pub(super) fn rebooted(&mut self, meter: MeterId) {
        self.counts.reboots += 1;
        let left = self.reboots.entry(meter).or_default();
        *left -= 1;
        if *left < 0 {
            self.fail(format!("meter {meter} carries a command out twice"));
        }
    }

    /// The leases that hold by their workers' own clocks, now that one of them was taken or
    /// renewed.
    pub(super) fn holding(&mut self, held: &[(usize, LeaseNumber)]) {
        for (at, (worker, lease)) in held.iter().enumerate() {
            let other = held[..at].iter().find(|(_, other)| other.partition == lease.partition);
            if let Some((other, before)) = other.filter(|_| self.is_broker_honest) {
                self.fail(format!(
                    "workers {other} and {worker} hold partition {} at once, under {} and {}",
                    lease.partition, before.number, lease.number
                ));
            }
        }
    }

    /// Reports that were sent before this time, and are not durable.
    pub(super) fn outstanding(&self, before: Us) -> impl Iterator<Item = (MeterId, u32)> {
        let old = self.sent.iter().filter(move |(_, sent)| sent.at < before);
        old.map(|(report, _)| *report).filter(|report| !self.durable.contains(report))
    }
}
