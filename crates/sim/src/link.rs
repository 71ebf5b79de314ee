//! A meter and its collector alone on a channel without latency, to the cycle: what the link
//! benchmark of kalns2016 and the tests under losses of power are made of.

mod benchmark;
mod native;

pub use benchmark::LinkBenchmark;

use crate::load::Load;
use crate::node::Call;
use crate::node::meter::EmulatedMeter;
use crate::radio::{ChannelModel, Framing, RadioChannel, SentPacket};
use crate::simulation::{Recorder, Schedule, Simulation};
use crate::site::{Site, SiteEvent};
use crate::station::collector::{self, CollectorSettings, CollectorStation, ProcessingDelay};
use crate::station::radio::RadioSettings;
use crate::station::{BaseEvent, Delivery};
use lab::LabError;
use rand::rngs::StdRng;
use wire::meter::{Collector, CompletedCommand, Identity, MeterKeys, MeterRecord, Policy, Transmission};

/// Duration of a byte at JeeLib's rate: 8 bits at 10 MHz / 29 / 7 (data sheet, Data Rate Command
/// 0xC606).
pub const BYTE_NS: u64 = 162_400;
/// From receiving to sending or back, and from idle to either: `radios/rfm12b.toml`, `rx` to `tx`.
pub const TURNAROUND_NS: u64 = 150_000;
/// The byte that keeps the transmitter on until the last byte of the checksum is out.
const TAIL: usize = 1;
/// Time that the meter lives on its own: shorter than the collector's turnaround.
const STEP_NS: u64 = 100_000;

/// Events since the record was last taken.
#[derive(Default)]
pub struct LinkRecord {
    /// Reports that were stored.
    pub reports: Vec<Delivery>,
    /// Answers to commands, and when the last packet of each had been received.
    pub answers: Vec<(CompletedCommand, u64)>,
    /// Commands that went out.
    pub commands: Vec<Transmission>,
    /// The meter's keys, each time that they were stored.
    pub keys: Vec<MeterKeys>,
    /// The meter's packets, whether the collector received them or not.
    pub packets: Vec<SentPacket>,
    /// Calls of observed functions.
    pub calls: Vec<Call>,
    /// Everything that was on the air, as beginning and end.
    pub on_air: Vec<(u64, u64)>,
}

impl Recorder for LinkRecord {
    fn site_event(&mut self, _: usize, _: u64, event: SiteEvent) -> Result<(), LabError> {
        if let SiteEvent::Call(call) = event {
            self.calls.push(call);
        }
        Ok(())
    }

    fn base_event(&mut self, _: u64, event: BaseEvent) -> Result<(), LabError> {
        match event {
            BaseEvent::Delivered(delivery) => self.reports.push(*delivery),
            BaseEvent::Answered(answered, received_ns) => self.answers.push((*answered, received_ns)),
            BaseEvent::Commanded(transmission) => self.commands.push(*transmission),
            BaseEvent::KeysStored(record) => self.keys.push(record.keys),
            _ => {}
        }
        Ok(())
    }

    fn sent(&mut self, packet: &SentPacket) -> Result<(), LabError> {
        if packet.from == 0 {
            self.packets.push(packet.clone());
        }
        Ok(())
    }

    fn on_air(&mut self, start_ns: u64, end_ns: u64) {
        self.on_air.push((start_ns, end_ns));
    }
}

/// The two.
pub struct LinkExperiment {
    simulation: Simulation<CollectorStation, LinkRecord>,
}

/// Setup of a link's collector.
pub struct LinkCollector {
    /// Its keys.
    pub identity: Identity,
    /// The meter that it knows.
    pub record: MeterRecord,
    pub delay: ProcessingDelay,
    /// Spreads its attempts, and makes its ephemeral keys.
    pub rng: StdRng,
}

impl LinkExperiment {
    /// A meter, which has had power for no time, and its collector. seed: of what is lost.
    ///
    /// # Errors
    /// A record that the collector does not take.
    pub fn new(
        meter: EmulatedMeter,
        collector: LinkCollector,
        seed: u64,
    ) -> Result<LinkExperiment, LabError> {
        let framing = Framing::Rfm12b { group: meter.setup().channel };
        let radio = RadioSettings {
            framing,
            byte_ns: BYTE_NS,
            address: meter.setup().collector_address,
            turnaround_ns: TURNAROUND_NS,
            tail_bytes: TAIL,
            most_waiting: usize::MAX,
        };
        let station = CollectorStation::new(collector::Setup {
            updates: None,
            settings: CollectorSettings::faultless(),
            identity: collector.identity,
            policy: Policy { set_time: false, ..Policy::default() },
            meters: vec![(collector.record, 0)],
            radios: vec![radio],
            delay: collector.delay,
            begins_ms: 0,
            seed,
            rng: collector.rng,
        })?;
        let channel = RadioChannel::new(ChannelModel { seed, ..ChannelModel::ideal(framing, BYTE_NS) });
        let now_ns = meter.now_ns();
        let site = Site::running(Box::new(meter), Load::constant(0.0), now_ns);
        // A byte must be announced before it begins.
        let schedule = Schedule::Alone { longest_ns: STEP_NS, ahead_ns: 2 * STEP_NS };
        let parts = (vec![site], station, LinkRecord::default());
        Ok(LinkExperiment { simulation: Simulation::new(parts, vec![channel], schedule, now_ns) })
    }

    /// Up to when both have lived.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.simulation.now_ns()
    }

    /// The meter.
    ///
    /// # Errors
    /// None: it was put there.
    pub fn meter(&mut self) -> Result<&mut EmulatedMeter, LabError> {
        let node: &mut dyn std::any::Any = &mut *self.simulation.sites[0].node;
        node.downcast_mut().ok_or_else(|| LabError::Protocol {
            what: "link experiment".into(),
            problem: "its node is no emulated meter".into(),
        })
    }

    /// The collector's protocol engine.
    pub fn engine(&mut self) -> &mut Collector {
        self.simulation.station.engine()
    }

    /// Sets the load that the meter measures from now on, in watts.
    pub fn set_load(&mut self, power_w: f64) {
        self.simulation.sites[0].set_load(power_w);
    }

    /// The share of the packets that do not arrive, in either direction, from now on.
    pub fn set_loss(&mut self, loss: f64) {
        self.simulation.channels[0].set_loss(loss);
    }

    /// Something is sent to the meter by the collector's radio, but not by the collector.
    pub fn inject(&mut self, transmission: Transmission) {
        let now_ns = self.now_ns();
        self.simulation.station.inject(transmission, now_ns);
    }

    /// The meter's power is cut now, and comes back at once; a byte of its non-volatile memory that
    /// is being written becomes `torn`.
    ///
    /// # Errors
    /// An instruction or access that the model cannot execute.
    pub fn restart_meter(&mut self, torn: u8) -> Result<(), LabError> {
        self.simulation.sites[0].restart(torn)
    }

    /// Lives up to a time.
    ///
    /// # Errors
    /// An instruction or access that the model cannot execute.
    pub fn run_until(&mut self, until_ns: u64) -> Result<(), LabError> {
        self.simulation.run_until(until_ns)
    }

    /// Returns the events since the last call.
    pub fn take_record(&mut self) -> LinkRecord {
        std::mem::take(&mut self.simulation.recorder)
    }
}
