//! Cycles of a meter's readings: every moment of its life belongs to one of its reports, or to
//! none.
//!
//! While it seals a report, that one's; from then on until its acknowledgement was accepted, that
//! of the oldest report that is not acknowledged, because that is the one that is sent. Opening
//! commands and making answers belongs to no report, and neither does the time in which nothing
//! waits.

use crate::node::{Call, CounterSnapshot, RADIO_STATES};
use crate::radio::SentPacket;
use crate::simulation::Recorder;
use crate::site::SiteEvent;
use crate::station::BaseEvent;
use device::meter::Status;
use lab::LabError;
use std::collections::VecDeque;
use wire::meter::{MessageKind, Packet, Suite};

/// The functions that are observed, in the order of their indices in [`Call::function`].
pub const FUNCTIONS: [&str; 3] = ["ws_message_prepare", "ws_message_unpack", "ws_message_acknowledges"];
const PREPARE: usize = 0;
const ACKNOWLEDGES: usize = 2;

/// Cost of a report or of the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Time, in nanoseconds.
    pub time_ns: u64,
    /// Cycles in which the processor was awake.
    pub active_cycles: u64,
    /// Cycles in which it slept.
    pub asleep_cycles: u64,
    /// Time of the radio in each of its states, in nanoseconds.
    pub radio_ns: [u64; RADIO_STATES],
}

impl Spent {
    /// From one moment of a meter's life to a later one.
    #[must_use]
    pub fn between(from: &CounterSnapshot, to: &CounterSnapshot) -> Spent {
        let mut radio_ns = to.radio_ns;
        for (ns, before) in radio_ns.iter_mut().zip(from.radio_ns) {
            *ns -= before;
        }
        Spent {
            time_ns: to.time_ns - from.time_ns,
            active_cycles: to.active_cycles - from.active_cycles,
            asleep_cycles: to.asleep_cycles - from.asleep_cycles,
            radio_ns,
        }
    }

    /// This and another one together.
    #[must_use]
    pub fn and(mut self, other: &Spent) -> Spent {
        self.time_ns += other.time_ns;
        self.active_cycles += other.active_cycles;
        self.asleep_cycles += other.asleep_cycles;
        for (ns, more) in self.radio_ns.iter_mut().zip(other.radio_ns) {
            *ns += more;
        }
        self
    }
}

/// A measurement that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub suite: Suite,
    /// Its number.
    pub n: u32,
    /// Cycles from the plain measurement to the sealed message; the sampler's interrupts are among
    /// them.
    pub prepare_cycles: u64,
    /// All that belongs to it: see the module.
    pub spent: Spent,
    /// Bytes that its meter had on the air for it, each attempt's, with preamble, header and check
    /// sum.
    pub air_bytes: u64,
    /// Number of repetitions on the air.
    pub resent: u64,
    /// From the beginning of sealing to the acknowledgement's acceptance, in nanoseconds.
    pub round_trip_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Report {
    n: u32,
    measurement: bool,
    suite: Suite,
    prepared: Call,
    spent: Spent,
    air_bytes: u64,
    packets: u64,
    pieces: u64,
}

/// The account of one meter.
#[derive(Clone, Debug)]
pub struct ReadingAccount {
    status: Status,
    /// Up to when all is attributed.
    until: CounterSnapshot,
    waiting: VecDeque<Report>,
    /// A message was sealed: a report, if the firmware counts one.
    sealed: Option<Call>,
    /// An acknowledgement was looked at: a right one, if the firmware counts it.
    looked_at: Option<Call>,
    readings: Vec<Reading>,
}

impl ReadingAccount {
    /// Begins at a moment at which the meter's first report, an alert, was just sealed.
    #[must_use]
    pub fn new(status: Status, from: CounterSnapshot) -> ReadingAccount {
        let alert = Report::new(&status, false, Call { function: PREPARE, start: from, end: from });
        ReadingAccount {
            status,
            until: from,
            waiting: alert.into_iter().collect(),
            sealed: None,
            looked_at: None,
            readings: Vec::new(),
        }
    }

    /// An observed function has returned. Calls come in their order.
    pub fn called(&mut self, call: &Call) {
        self.attribute(&call.start);
        match call.function {
            PREPARE => self.sealed = Some(*call),
            ACKNOWLEDGES => {
                self.attribute(&call.end);
                self.looked_at = Some(*call);
            }
            _ => {}
        }
        self.until = call.end;
    }

    fn attribute(&mut self, to: &CounterSnapshot) {
        if let Some(oldest) = self.waiting.front_mut() {
            oldest.spent = oldest.spent.and(&Spent::between(&self.until, to));
        }
        self.until = *to;
    }

    /// Takes the firmware's status, at least once between two calls.
    pub fn look(&mut self, status: Status) {
        let before = std::mem::replace(&mut self.status, status);
        if status.starts != before.starts {
            // It has begun anew. What its journal has kept is not known by number until it was
            // measured again.
            self.waiting.clear();
            (self.sealed, self.looked_at) = (None, None);
            return;
        }
        let measurement = status.measurements != before.measurements;
        if measurement || status.alerts != before.alerts {
            self.waiting.extend(self.sealed.take().and_then(|call| Report::new(&status, measurement, call)));
        }
        if status.acknowledged != before.acknowledged {
            self.acknowledged(status.acknowledged_number);
        }
    }

    fn acknowledged(&mut self, n: u32) {
        let Some(looked_at) = self.looked_at.take() else { return };
        let Some(index) = self.waiting.iter().position(|report| report.n == n) else { return };
        // The journal had no room for those before; what they took goes on with this one.
        let dropped: Vec<Report> = self.waiting.drain(..index).collect();
        if let Some(mut report) = self.waiting.pop_front() {
            report.spent = dropped.iter().fold(report.spent, |spent, dropped| spent.and(&dropped.spent));
            self.readings.extend(report.reading(&looked_at));
        }
    }

    /// The meter had a packet of a report on the air.
    ///
    /// number_lsb: the lowest byte of its number. air_bytes: all of the packet's.
    pub fn sent(&mut self, number_lsb: u8, air_bytes: u64) {
        if let Some(report) = self.waiting.iter_mut().find(|report| report.n as u8 == number_lsb) {
            report.air_bytes += air_bytes;
            report.packets += 1;
        }
    }

    /// The readings that were acknowledged since this was last asked.
    pub fn take_readings(&mut self) -> Vec<Reading> {
        std::mem::take(&mut self.readings)
    }
}

/// The accounts of all meters, by site.
pub struct ReadingAccounts(pub Vec<ReadingAccount>);

impl ReadingAccounts {
    /// The readings that were acknowledged since this was last asked.
    pub fn take_readings(&mut self) -> Vec<Reading> {
        self.0.iter_mut().flat_map(ReadingAccount::take_readings).collect()
    }
}

impl Recorder for ReadingAccounts {
    fn site_event(&mut self, site: usize, _: u64, event: SiteEvent) -> Result<(), LabError> {
        match event {
            SiteEvent::Call(call) => self.0[site].called(&call),
            SiteEvent::Meter(status) => self.0[site].look(status),
            _ => {}
        }
        Ok(())
    }

    fn base_event(&mut self, _: u64, _: BaseEvent) -> Result<(), LabError> {
        Ok(())
    }

    fn sent(&mut self, packet: &SentPacket) -> Result<(), LabError> {
        if let Some(account) = self.0.get_mut(packet.from)
            && Packet::parse(&packet.packet).is_ok_and(|packet| packet.kind == MessageKind::Report)
        {
            account.sent(packet.packet[4], packet.air_bytes as u64);
        }
        Ok(())
    }
}

impl Report {
    fn new(status: &Status, measurement: bool, prepared: Call) -> Option<Report> {
        let suite = Suite::from_code(status.suite)?;
        Some(Report {
            n: status.number,
            measurement,
            suite,
            spent: Spent::between(&prepared.start, &prepared.end),
            prepared,
            air_bytes: 0,
            packets: 0,
            pieces: wire::meter::pieces(MessageKind::Report, suite) as u64,
        })
    }

    fn reading(&self, acknowledged: &Call) -> Option<Reading> {
        let prepared = Spent::between(&self.prepared.start, &self.prepared.end);
        self.measurement.then(|| Reading {
            suite: self.suite,
            n: self.n,
            prepare_cycles: prepared.active_cycles + prepared.asleep_cycles,
            spent: self.spent,
            air_bytes: self.air_bytes,
            resent: (self.packets.saturating_sub(1)) / self.pieces,
            round_trip_ns: acknowledged.end.time_ns - self.prepared.start.time_ns,
        })
    }
}
