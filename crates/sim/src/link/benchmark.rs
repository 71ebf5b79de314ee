//! The link benchmark of Kalns and others (2016): measurements and commands between a meter and its
//! collector, one after the other.

use super::{LinkCollector, LinkExperiment, LinkRecord, native};
use crate::node::meter::MeterFirmware;
use crate::node::{Call, CounterSnapshot, Node};
use crate::station::collector::ProcessingDelay;
use crate::supply::Voltages;
use crate::time::SECOND_NS;
use lab::bench::{self, Earlier};
use lab::delivery::{Deliveries, Delivery, DeliveryKind, Endpoints, Message, NativeTimes, SEED};
use lab::progress::Progress;
use lab::repetition::Repetition;
use lab::selection::Choice;
use lab::workspace::Workspace;
use lab::{LabError, names};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::sync::Arc;
use wire::meter::{self, Command, CompletedCommand, Content, Identity, Provision, Setup, Suite};

/// The meter's board.
const BOARD: &str = "emontx";
/// Radio addresses, and the group that JeeLib's examples have.
const METER: u16 = 0x0102;
const METER_ADDRESS: u8 = 0x42;
const COLLECTOR_ADDRESS: u8 = 0x41;
const GROUP: u8 = 212;
/// A step of its converter: 1024 of them reach 888 V and 200 A from peak to peak. Chosen.
const VOLTAGE_UV: u32 = 867_000;
const CURRENT_UA: u32 = 195_000;
/// Load of the site, in watts: each experiment has another.
const LOADS_W: std::ops::Range<f64> = 200.0..4000.0;
/// By how much a measurement may be off that: the meter's documented error.
const LOAD_ERROR: f64 = 0.02;
/// The meter adds up whole windows of so long: `device/meter/metering.h`.
const WINDOW_NS: u64 = 100_000_000;
/// Longest time of a message.
const LONGEST_NS: u64 = 30_000_000_000;

const PREPARE: usize = 0;
const UNPACK: usize = 1;
const ACKNOWLEDGES: usize = 2;
const FUNCTIONS: [&str; 3] = ["ws_message_prepare", "ws_message_unpack", "ws_message_acknowledges"];

/// Plays meters on their models.
pub struct LinkBenchmark;

impl Deliveries for LinkBenchmark {
    fn meter(&self, workspace: &Workspace) -> Result<String, LabError> {
        Ok(workspace.board(BOARD)?.target)
    }

    fn deliver(
        &self,
        workspace: &Workspace,
        endpoints: &Endpoints,
        kind: &DeliveryKind,
        progress: &dyn Progress,
    ) -> Result<Vec<Delivery>, LabError> {
        let suite = suite_named(&kind.suite)?;
        let firmware = MeterFirmware::build(workspace, BOARD, suite)?;
        let delay = collector_delay(workspace, endpoints, suite, progress)?;
        let mut experiment = Experiment::begin(&firmware, kind.message, suite, delay)?;
        let mut runs = Vec::new();
        for run in 0..endpoints.runs {
            let what = format!("{} {:?} {run}", suite.name(), kind.message).to_lowercase();
            progress.report(run as usize, endpoints.runs as usize, &what);
            runs.push(match kind.message {
                Message::Measurement => experiment.measurement()?,
                Message::Command => experiment.command()?,
            });
        }
        progress.report(endpoints.runs as usize, endpoints.runs as usize, "");
        Ok(runs)
    }

    fn open_natively(&self, suite: &str) -> Result<NativeTimes, LabError> {
        native::open(suite_named(suite)?)
    }
}

fn suite_named(name: &str) -> Result<Suite, LabError> {
    Suite::named(name).ok_or_else(|| LabError::UnknownName {
        what: "suite",
        name: name.to_owned(),
        suggestion: names::suggestion(name, Suite::ALL.iter().map(|suite| suite.name())),
    })
}

/// Processing delay of the collector, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct CollectorDelay {
    /// To open a report.
    open_ns: u64,
    /// To make an acknowledgement.
    acknowledge_ns: u64,
    /// To seal a command.
    seal_ns: u64,
    /// To open an answer.
    answer_ns: u64,
}

impl CollectorDelay {
    /// One of these times in seconds; none with suite `none`, whose copying of a few bytes is not
    /// measured.
    fn measured_s(&self, time_ns: u64) -> Option<f64> {
        (time_ns > 0).then_some(time_ns as f64 * 1e-9)
    }
}

/// Computes the collector's processing delay from the cryptography on its microcontroller. An
/// acknowledgement seals nothing; it is taken as an answer, which has a block more.
fn collector_delay(
    workspace: &Workspace,
    endpoints: &Endpoints,
    suite: Suite,
    progress: &dyn Progress,
) -> Result<CollectorDelay, LabError> {
    let (seal, open) = match suite {
        Suite::None => return Ok(CollectorDelay::default()),
        Suite::Aes128Gcm => ("aes128-gcm-seal", "aes128-gcm-open"),
        Suite::Aes256Gcm | Suite::Aes256GcmRekeyed => ("aes256-gcm-seal", "aes256-gcm-open"),
        Suite::Ecies => ("ecies-seal", "ecies-open"),
        Suite::EciesEcdsa => ("ecies-ecdsa-seal", "ecies-ecdsa-open"),
        // Without the block of AES that its key is.
        Suite::AsconAead128 => ("ascon-aead128-seal", "ascon-aead128-open"),
    };
    let (short_seal, short_open) = match suite {
        Suite::Ecies | Suite::EciesEcdsa => ("aes128-gcm-seal", "aes128-gcm-open"),
        _ => (seal, open),
    };
    let request = bench::Request {
        choice: Choice::Matching {
            targets: vec![endpoints.collector.clone()],
            operations: [seal, open, short_seal, short_open].map(String::from).to_vec(),
            variants: vec![endpoints.collector_variant.clone()],
        },
        bytes: None,
        runs: Repetition::Exactly(1),
        clock_hz: None,
        supply_v: None,
        max_cycles: 1_000_000_000,
        seed: SEED,
        cold: false,
        earlier: Earlier::Ignored,
    };
    let rows = bench::run(workspace, &request, progress)?;
    let time_ns = |op: &str| {
        let row = rows.iter().find(|row| row.op == op && row.verified);
        let row = row.ok_or_else(|| failed(format!("{} gave no verified {op}", endpoints.collector)))?;
        Ok::<u64, LabError>((row.time_s * 1e9) as u64)
    };
    Ok(CollectorDelay {
        open_ns: time_ns(open)?,
        acknowledge_ns: time_ns(short_seal)?,
        seal_ns: time_ns(seal)?,
        answer_ns: time_ns(short_open)?,
    })
}

fn failed(problem: String) -> LabError {
    LabError::Protocol { what: "meter and collector".into(), problem }
}

/// Outcome at the collector; a run has them in order.
enum Outcome {
    Report(Box<crate::station::Delivery>),
    Answer(CompletedCommand, u64),
}

struct Experiment {
    link: LinkExperiment,
    delay: CollectorDelay,
    rng: StdRng,
    write_s: f64,
    clock_hz: f64,
    suite: Suite,
    load_w: f64,
    calls: Vec<Call>,
    on_air: Vec<(u64, u64)>,
    outcomes: Vec<Outcome>,
}

impl Experiment {
    /// Provisions a meter, and lets it start and report that it has.
    fn begin(
        firmware: &Arc<MeterFirmware>,
        message: Message,
        suite: Suite,
        delay: CollectorDelay,
    ) -> Result<Experiment, LabError> {
        let mut rng = StdRng::seed_from_u64(SEED);
        let identity = Identity::generate(&mut rng);
        let setup = Setup {
            meter: METER,
            address: METER_ADDRESS,
            collector_address: COLLECTOR_ADDRESS,
            channel: GROUP,
            power: 0,
            // Between commands nothing else is to go on; between measurements there is to be room
            // for one.
            interval_s: match (message, suite) {
                (Message::Command, _) => u16::MAX,
                (Message::Measurement, suite) if suite.has_curve() => 5,
                (Message::Measurement, _) => 2,
            },
            suite,
            voltage_uv: VOLTAGE_UV,
            current_ua: CURRENT_UA,
            phase: firmware.phase(),
        };
        let provision = Provision::generate(setup, identity.public(), &mut rng);
        let mut meter = firmware.meter(&provision, rng.random())?;
        meter.power_up(0, Voltages { rail_v: 0.0, stored_v: 0.0 })?;
        meter.observe(&FUNCTIONS)?;
        let collector = LinkCollector {
            identity,
            record: provision.record(),
            delay: ProcessingDelay {
                receive_ns: [0; Suite::ALL.len()],
                report_ns: delay.open_ns + delay.acknowledge_ns,
                duplicate_ns: delay.acknowledge_ns,
                seal_ns: delay.seal_ns,
            },
            rng: StdRng::seed_from_u64(rng.random()),
        };
        let peripherals = &firmware.board().target.part.peripherals;
        // The meter's settings and its journal are in the EEPROM, where the part has one.
        let eeprom = peripherals.iter().find(|device| device.model == "avr-eeprom");
        let writes = eeprom.and_then(|device| device.settings.get("write_us"));
        let mut experiment = Experiment {
            link: LinkExperiment::new(meter, collector, SEED)?,
            delay,
            rng,
            write_s: writes.map_or(0.0, |&us| us as f64 * 1e-6),
            clock_hz: firmware.board().board.clock_hz as f64,
            suite,
            load_w: 0.0,
            calls: Vec::new(),
            on_air: Vec::new(),
            outcomes: Vec::new(),
        };
        experiment.until("its first report", |outcome| match outcome {
            Outcome::Report(delivery) => Some(delivery.accepted.report.n),
            Outcome::Answer(..) => None,
        })?;
        experiment.until_acknowledged(0)?;
        Ok(experiment)
    }

    /// Lives on for a millisecond.
    fn step(&mut self) -> Result<(), LabError> {
        self.link.run_until(self.link.now_ns() + 1_000_000)?;
        let LinkRecord { reports, answers, calls, on_air, .. } = self.link.take_record();
        self.calls.extend(calls);
        self.on_air.extend(on_air);
        self.outcomes.extend(reports.into_iter().map(|delivery| Outcome::Report(Box::new(delivery))));
        self.outcomes.extend(answers.into_iter().map(|(answer, at_ns)| Outcome::Answer(answer, at_ns)));
        Ok(())
    }

    /// Lives on until something has come about.
    fn until<T>(&mut self, what: &str, found: impl Fn(&Outcome) -> Option<T>) -> Result<T, LabError> {
        let end_ns = self.link.now_ns() + LONGEST_NS;
        while self.link.now_ns() < end_ns {
            if let Some(found) = self.outcomes.iter().find_map(&found) {
                self.outcomes.clear();
                return Ok(found);
            }
            self.step()?;
        }
        Err(failed(format!("with {} {what} did not come within 30 s", self.suite.name())))
    }

    /// Lives on until an acknowledgement that began to be unpacked after `from_ns` has been.
    fn until_acknowledged(&mut self, from_ns: u64) -> Result<Call, LabError> {
        let end_ns = self.link.now_ns() + LONGEST_NS;
        while self.link.now_ns() < end_ns {
            let of = |call: &&Call| call.function == ACKNOWLEDGES && call.start.time_ns >= from_ns;
            if let Some(call) = self.calls.iter().find(of) {
                return Ok(*call);
            }
            self.step()?;
        }
        Err(failed(format!("with {} no acknowledgement came within 30 s", self.suite.name())))
    }

    fn measurement(&mut self) -> Result<Delivery, LabError> {
        self.load_w = self.rng.random_range(LOADS_W);
        self.link.set_load(self.load_w);
        // The first that is sealed from now on is a mixture of two loads: the next one counts.
        let is_measurement = |outcome: &Outcome| match outcome {
            Outcome::Report(delivery) => match &delivery.accepted.report.content {
                Content::Measurement(measurement) => {
                    Some((delivery.accepted.sealed.len(), measurement.power_w, delivery.received_ns))
                }
                _ => None,
            },
            Outcome::Answer(..) => None,
        };
        let changed_ns = self.link.now_ns() + WINDOW_NS;
        loop {
            let (_, _, heard_ns) = self.until("a measurement", is_measurement)?;
            self.until_acknowledged(heard_ns)?;
            if self.last(PREPARE, heard_ns)?.start.time_ns >= changed_ns {
                break;
            }
        }
        self.calls.clear();
        self.on_air.clear();
        let (bytes, power_w, heard_ns) = self.until("a measurement", is_measurement)?;
        if (f64::from(power_w) - self.load_w).abs() > LOAD_ERROR * self.load_w + 1.0 {
            let (suite, load_w) = (self.suite.name(), self.load_w);
            return Err(failed(format!("with {suite} {power_w} W came of a site that draws {load_w:.1} W")));
        }
        let acknowledged = self.until_acknowledged(heard_ns)?;
        let prepared = self.last(PREPARE, heard_ns)?;
        let collector_s = (self.delay.open_ns + self.delay.acknowledge_ns) as f64 * 1e-9;
        Ok(Delivery {
            prepare_s: Some(seconds(prepared.start.time_ns, prepared.end.time_ns)),
            unpack_s: self.delay.measured_s(self.delay.open_ns),
            message_bytes: bytes as u32,
            packets: meter::pieces(meter::MessageKind::Report, self.suite) as u32,
            ..self.round_trip(prepared.start, acknowledged.end, collector_s)
        })
    }

    fn command(&mut self) -> Result<Delivery, LabError> {
        // At any time of the meter's second.
        let pause_ns = self.rng.random_range(0..SECOND_NS);
        let until_ns = self.link.now_ns() + pause_ns;
        while self.link.now_ns() < until_ns {
            self.step()?;
        }
        self.calls.clear();
        self.on_air.clear();
        self.outcomes.clear();
        let start = self.link.meter()?.snapshot();
        let command = Command::SetTime { time_s: self.rng.random() };
        let ticket = self.link.engine().command(METER, command).map_err(|error| failed(error.to_string()))?;
        let (answer, heard_ns) = self.until("an answer", |outcome| match outcome {
            Outcome::Answer(answer, heard_ns) if answer.ticket == ticket => Some((answer.answer, *heard_ns)),
            _ => None,
        })?;
        if answer.outcome != meter::CommandResult::Done {
            return Err(failed(format!("{command:?} was answered {:?}", answer.outcome)));
        }
        let unpacked = self.last(UNPACK, heard_ns)?;
        let end =
            CounterSnapshot { time_ns: heard_ns + self.delay.answer_ns, ..self.link.meter()?.snapshot() };
        let collector_s = (self.delay.seal_ns + self.delay.answer_ns) as f64 * 1e-9;
        Ok(Delivery {
            prepare_s: self.delay.measured_s(self.delay.seal_ns),
            unpack_s: Some(seconds(unpacked.start.time_ns, unpacked.end.time_ns)),
            message_bytes: meter::message_bytes(meter::MessageKind::Command, self.suite) as u32,
            packets: meter::pieces(meter::MessageKind::Command, self.suite) as u32,
            ..self.round_trip(start, end, collector_s)
        })
    }

    /// The last call of a function that had returned by then.
    fn last(&self, function: usize, by_ns: u64) -> Result<Call, LabError> {
        let of = |call: &&Call| call.function == function && call.end.time_ns <= by_ns;
        let call = self.calls.iter().rfind(of).copied();
        call.ok_or_else(|| failed(format!("{} was not called", FUNCTIONS[function])))
    }

    /// A round trip's parts.
    fn round_trip(&self, start: CounterSnapshot, end: CounterSnapshot, collector_s: f64) -> Delivery {
        let within = |&(from_ns, to_ns): &(u64, u64)| {
            to_ns.min(end.time_ns).saturating_sub(from_ns.max(start.time_ns))
        };
        Delivery {
            round_trip_s: seconds(start.time_ns, end.time_ns),
            computation_s: (end.active_cycles - start.active_cycles) as f64 / self.clock_hz + collector_s,
            radio_s: self.on_air.iter().map(within).sum::<u64>() as f64 * 1e-9,
            nonvolatile_s: (end.writes - start.writes) as f64 * self.write_s,
            ..Delivery::default()
        }
    }
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 * 1e-9
}
