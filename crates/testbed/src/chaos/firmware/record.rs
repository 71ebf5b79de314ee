//! Packets of each meter on the air, opened with its keys, and its firmware's status.

use super::Board;
use device::meter::Status;
use lab::LabError;
use sim::radio::SentPacket;
use sim::simulation::Recorder;
use sim::site::SiteEvent;
use sim::station::BaseEvent;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wire::meter::{Channel, Identity, MessageKind, MeterId, MeterRecord, Packet, Reassembly, Report, Suite};

/// A report that was on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    pub report: Report,
    first: Instant,
    /// The first time, and when its acknowledgement was taken, in Unix seconds.
    pub first_s: i64,
    pub acknowledged_s: Option<i64>,
}

/// A meter, as it is seen from outside.
pub struct MeterLog {
    /// None: it is built for this machine.
    pub board: Option<Board>,
    record: MeterRecord,
    collector: Arc<Identity>,
    reassembly: Reassembly,
    /// Status of its firmware.
    pub status: Status,
    /// Its reports, by number.
    pub on_air: BTreeMap<u32, OnAir>,
    pub longest: Duration,
    /// Violations.
    pub wrong: Vec<String>,
}

impl MeterLog {
    #[must_use]
    pub fn new(record: MeterRecord, board: Option<Board>, collector: Arc<Identity>) -> MeterLog {
        MeterLog {
            board,
            record,
            collector,
            reassembly: Reassembly::default(),
            status: Status::default(),
            on_air: BTreeMap::new(),
            longest: Duration::ZERO,
            wrong: Vec::new(),
        }
    }

    #[must_use]
    pub fn id(&self) -> MeterId {
        self.record.setup.meter
    }

    /// Returns its suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.record.setup.suite
    }

    /// Reports whose acknowledgement it took.
    #[must_use]
    pub fn acknowledged(&self) -> usize {
        self.on_air.values().filter(|on_air| on_air.acknowledged_s.is_some()).count()
    }

    /// Reports that it made, and that it counts neither as acknowledged nor as lost for want of
    /// room; one where it has measured nothing yet.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        let Status { measurements, alerts, acknowledged, lost, .. } = self.status;
        let accounted = acknowledged.wrapping_add(u32::from(lost));
        let outstanding = measurements.wrapping_add(u32::from(alerts)).wrapping_sub(accounted);
        outstanding.max(u32::from(measurements == 0))
    }

    fn sent(&mut self, packet: &[u8], now: Instant) -> Option<()> {
        let packet = Packet::parse(packet).ok().filter(|packet| packet.kind == MessageKind::Report)?;
        let message = self.reassembly.take(&packet)?;
        let (keys, own, peer) = (&self.record.keys, &*self.collector, &self.record.public);
        let channel = Channel { meter: self.id(), keys, own, peer };
        let Ok(opened) = channel.open(MessageKind::Report, message.suite, &message.bytes) else {
            self.wrong.push(format!("meter {}: a report on the air is not authentic", self.id()));
            return None;
        };
        let report = Report::from_bytes(&opened.plaintext);
        let new = OnAir { report, first: now, first_s: unix_s(), acknowledged_s: None };
        let (id, known) = (self.id(), self.on_air.entry(report.n).or_insert(new).report);
        if known != report {
            self.wrong.push(format!("meter {id}: number {} is {report:?}, and was {known:?}", report.n));
        }
        Some(())
    }

    fn says(&mut self, status: Status, now: Instant) {
        let before = std::mem::replace(&mut self.status, status);
        if status.starts > 1 && status.starts != before.starts {
            let what = format!("meter {} started again, and nobody asked it to: {status:?}", self.id());
            self.wrong.push(what);
        }
        if status.acknowledged == before.acknowledged {
            return;
        }
        let n = status.acknowledged_number;
        match self.on_air.get_mut(&n) {
            Some(on_air) if status.acknowledged == before.acknowledged.wrapping_add(1) => {
                on_air.acknowledged_s = Some(unix_s());
                self.longest = self.longest.max(now.duration_since(on_air.first));
            }
            known => {
                let was = if known.is_some() { "with others at once" } else { "and was not on the air" };
                self.wrong.push(format!("meter {}: report {n} is acknowledged {was}", self.id()));
            }
        }
    }
}

/// This machine's clock, in Unix seconds.
#[must_use]
pub fn unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64)
}

/// All of them, in the order of their sites.
pub struct Record(pub Vec<MeterLog>);

impl Recorder for Record {
    fn site_event(&mut self, site: usize, _: u64, event: SiteEvent) -> Result<(), LabError> {
        if let SiteEvent::Meter(status) = event {
            self.0[site].says(status, Instant::now());
        }
        Ok(())
    }

    fn base_event(&mut self, _: u64, _: BaseEvent) -> Result<(), LabError> {
        Ok(())
    }

    fn sent(&mut self, packet: &SentPacket) -> Result<(), LabError> {
        // Whoever is none of them is a gateway.
        if let Some(meter) = self.0.get_mut(packet.from) {
            meter.sent(&packet.packet, Instant::now());
        }
        Ok(())
    }
}
