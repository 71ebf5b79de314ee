//! From a network's scenario to a simulation: meters made and provisioned, and all that is around
//! them.

use super::outcome::{Attacks, MeterRow, NetworkOutcome, Spread};
use super::scenario::{MeterGroup, MeterNode, NetworkScenario};
use crate::attacker::{Attack, Attacker};
use crate::chance::{Chance, Purpose};
use crate::invariants::{Expectations, InvariantChecker};
use crate::load::{Load, LoadProfile};
use crate::node::Node;
use crate::node::host::HostMeter;
use crate::node::meter::MeterFirmware;
use crate::radio::{self, ChannelModel, Framing, RadioChannel};
use crate::simulation::{Progress, Schedule, Simulation};
use crate::site::{Site, Supply};
use crate::station::collector::{self, BEGINS_MS, CollectorStation, ProcessingDelay, Updates};
use crate::station::radio::RadioSettings;
use crate::supply::{Mains, PowerCuts};
use crate::time::{SECOND_NS, nanoseconds, seconds};
use lab::LabError;
use lab::board::ChipModel;
use lab::workspace::Workspace;
use rand::{SeedableRng, rngs::StdRng};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use wire::meter::{Identity, MeterRecord, Policy, Provision, Setup, Suite};

/// The group of JeeLib's examples; 1 to 250 are allowed.
const GROUP: u8 = 212;
/// The CC2500's channel number (CHANNR), and its highest power (PATABLE).
const CC2500_CHANNEL: u8 = 0;
const CC2500_POWER: u8 = 0xff;
/// JeeLib's header for a packet to a node, and the nodes that there are: 1 is the collector's, and
/// meters share the others.
const TO_NODE: u8 = 0x40;
const COLLECTOR_NODE: u8 = 1;
const METER_NODES: std::ops::RangeInclusive<u8> = 2..=30;
/// The highest power: RFM12B data sheet, TX Configuration Control Command, p2 p1 p0 = 0.
const FULL_POWER: u8 = 0;
/// A step of the converter: 230 V RMS are 407 steps of the 512 on either side; 60 A RMS are 424.
const VOLTAGE_UV: u32 = 800_000;
const CURRENT_UA: u32 = 200_000;

/// A network whose time has not begun.
pub struct Network {
    simulation: Simulation<CollectorStation, InvariantChecker>,
    /// Runner of each meter's firmware: `host`, or the name of the microcontroller.
    kinds: Vec<String>,
}

/// Simulates a network.
///
/// # Errors
/// A violated invariant, named with seed, meter and time; errors of building and running firmware.
pub fn run(
    workspace: &Workspace,
    scenario: &NetworkScenario,
    progress: &dyn Progress,
) -> Result<NetworkOutcome, LabError> {
    let begun = Instant::now();
    let mut network = make(workspace, scenario)?;
    let simulation = &mut network.simulation;
    let end_ns = (scenario.hours * 3600.0 * SECOND_NS as f64) as u64;
    simulation.run_telling(end_ns, end_ns, progress)?;
    // Without faults, until all reports that were kept have come, and no key is between two.
    simulation.stop_faults();
    let last_ns = end_ns + (scenario.expect.settle_s * SECOND_NS as f64) as u64;
    loop {
        let (recorder, now_ns) = (&simulation.recorder, simulation.now_ns());
        let (outstanding, unsettled) = (recorder.outstanding(end_ns), recorder.unsettled());
        let updating = simulation.station.updating();
        match (outstanding, unsettled, updating) {
            (None, None, None) => break,
            _ if now_ns < last_ns => {}
            (Some(outstanding), ..) => return Err(recorder.never_came(outstanding, now_ns)),
            (None, Some(meter), _) => return Err(recorder.never_settled(meter, now_ns)),
            (None, None, Some(meter)) => return Err(recorder.never_updated(meter, now_ns)),
        }
        simulation.run_telling(simulation.now_ns() + SECOND_NS, end_ns, progress)?;
    }
    Ok(outcome(scenario, network, begun.elapsed().as_secs_f64()))
}

/// The radios of a network: each kind has a channel of its own.
struct Radios {
    kinds: Vec<ChipModel>,
    models: Vec<ChannelModel>,
}

impl Radios {
    /// The channel of a kind of radio: an index.
    fn channel(
        &mut self,
        workspace: &Workspace,
        scenario: &NetworkScenario,
        radio: ChipModel,
    ) -> Result<usize, LabError> {
        if let Some(index) = self.kinds.iter().position(|kind| *kind == radio) {
            return Ok(index);
        }
        let settings = &scenario.channel;
        let milliseconds = |ms: f64| (ms * 1e6).round() as u64;
        self.models.push(ChannelModel {
            // The first channel has the scenario's seed.
            seed: scenario.seed ^ (self.models.len() as u64) << 32,
            loss: settings.loss,
            bit_error_rate: settings.bit_error_rate,
            duplicate: settings.duplicate,
            reorder: settings.reorder,
            later_ns: (milliseconds(settings.later_ms[0]), milliseconds(settings.later_ms[1])),
            ..channel(workspace, radio, milliseconds(settings.latency_ms))?
        });
        self.kinds.push(radio);
        Ok(self.models.len() - 1)
    }
}

/// A channel for a kind of radio that loses and changes nothing. Packets are known at their end:
/// they come later than `latency_ns` by what that takes.
///
/// # Errors
/// A file of the radio that cannot be read.
pub fn channel(workspace: &Workspace, radio: ChipModel, latency_ns: u64) -> Result<ChannelModel, LabError> {
    let byte_ns = radio::byte_ns(workspace.radio(radio.as_str())?.bit_rate_hz);
    let framing = match radio {
        ChipModel::Cc2500 => Framing::Cc2500,
        ChipModel::Rfm12b | ChipModel::Fm25l16b => Framing::Rfm12b { group: GROUP },
    };
    let model = ChannelModel { latency_ns, ..ChannelModel::ideal(framing, byte_ns) };
    Ok(ChannelModel { latency_ns: latency_ns + model.known_after_ns(), ..model })
}

/// Makes a network.
///
/// # Errors
/// As [`run`].
pub fn make(workspace: &Workspace, scenario: &NetworkScenario) -> Result<Network, LabError> {
    let seed = scenario.seed;
    let collector_key = Identity::generate(&mut StdRng::seed_from_u64(seed ^ 0x6b65_7900));
    let cuts = scenario.cuts.unwrap_or(PowerCuts::NONE);
    let mut radios = Radios { kinds: Vec::new(), models: Vec::new() };
    let mut firmwares: BTreeMap<(&str, Suite), Arc<MeterFirmware>> = BTreeMap::new();
    let (mut sites, mut records, mut audited, mut kinds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut updated = Vec::new();
    let groups = scenario.meters.iter().flat_map(|group| std::iter::repeat_n(group, group.count as usize));
    for (index, group) in groups.enumerate() {
        let firmware = match &group.node {
            MeterNode::Host => None,
            MeterNode::Board(name) => Some(match firmwares.get(&(name.as_str(), group.suite)) {
                Some(firmware) => Arc::clone(firmware),
                None => {
                    let firmware = MeterFirmware::build(workspace, name, group.suite)?;
                    Arc::clone(firmwares.entry((name, group.suite)).or_insert(firmware))
                }
            }),
        };
        let radio = firmware.as_ref().and_then(|firmware| firmware.radio()).unwrap_or(ChipModel::Rfm12b);
        let channel = radios.channel(workspace, scenario, radio)?;
        let phase = firmware.as_ref().map_or(0, |firmware| firmware.phase());
        let setup = setup(index, radio, (group.suite, group.interval_s), phase);
        let mut keys = Chance::new(seed, Purpose::Keys, index as u64, 0);
        let mut keys = StdRng::seed_from_u64(keys.bits());
        let provision = Provision::generate(setup, collector_key.public(), &mut keys);
        let mut own = Chance::new(seed, Purpose::Meter, index as u64, 0);
        let node: Box<dyn Node> = match &firmware {
            Some(firmware) => Box::new(firmware.meter(&provision, own.bits())?),
            None => {
                let meter = HostMeter::new(&provision, radios.models[channel].byte_ns, own.bits());
                Box::new(match &scenario.updates {
                    Some(updates) if group.suite.has_pieces() => {
                        let image = Updates::image(updates, provision.setup().meter, 0, 1);
                        updated.push((provision.setup().meter, image.clone()));
                        meter.with_image(&image)
                    }
                    _ => meter,
                })
            }
        };
        kinds.push(firmware.map_or("host".to_owned(), |firmware| firmware.board().target.name().to_owned()));
        let profile = LoadProfile::new(seed, index as u64, scenario.begins_h);
        // They are switched on within the first interval, not all at once.
        let from_ns = own.below(u64::from(group.interval_s) * SECOND_NS);
        audited.push((provision.record(), profile.clone()));
        let supply = Supply::Mains(Mains::new(cuts, (seed, index as u64), from_ns));
        let mut site = Site::new(node, supply, Load::Profile(Box::new(profile)));
        site.channel = channel;
        sites.push(site);
        records.push((provision.record(), channel));
    }
    let expected = Expectations {
        seed,
        back_within_ns: (scenario.expect.back_within_s * SECOND_NS as f64) as u64,
        energy_error: scenario.expect.energy_error,
        attacked: scenario.attacker.is_some(),
    };
    let mut recorder = InvariantChecker::new(expected, audited, &collector_key);
    for (meter, image) in &updated {
        recorder.has_image(*meter, image);
    }
    let given = updated.into_iter().map(|(meter, _)| meter);
    let updates = scenario.updates.map(|settings| Updates::new(settings, seed, given));
    let station = station(scenario, collector_key, updates, records, &radios)?;
    let schedule = if firmwares.is_empty() { Schedule::Skipping } else { Schedule::Stepwise };
    let channels = radios.models.into_iter().map(RadioChannel::new).collect();
    let mut simulation = Simulation::new((sites, station, recorder), channels, schedule, 0);
    simulation.attacker = scenario.attacker.map(|settings| Attacker::new(settings, seed));
    Ok(Network { simulation, kinds })
}

/// Makes the collector of a network.
fn station(
    scenario: &NetworkScenario,
    collector_key: Identity,
    updates: Option<Updates>,
    records: Vec<(MeterRecord, usize)>,
    radios: &Radios,
) -> Result<CollectorStation, LabError> {
    let seed = scenario.seed;
    let turnaround_ns = nanoseconds(scenario.collector.turnaround_ms / 1e3);
    let policy = match scenario.updates {
        Some(updates) => Policy { update_piece_every_ms: updates.piece_every_ms, ..Policy::default() },
        None => Policy::default(),
    };
    CollectorStation::new(collector::Setup {
        settings: scenario.collector.clone(),
        identity: collector_key,
        policy,
        updates,
        meters: records,
        radios: radios.models.iter().map(|model| base_radio(model, turnaround_ns, usize::MAX)).collect(),
        delay: ProcessingDelay {
            receive_ns: scenario.collector.processing_ms.map(|ms| nanoseconds(ms / 1e3)),
            ..ProcessingDelay::default()
        },
        begins_ms: BEGINS_MS,
        seed,
        rng: StdRng::seed_from_u64(seed ^ 0x636f_6c6c),
    })
}

/// Returns the provisioning of the meter with an index, from 0 on; its name is the index plus 1.
/// phase: its board's.
#[must_use]
pub fn setup(index: usize, radio: ChipModel, (suite, interval_s): (Suite, u16), phase: i16) -> Setup {
    let nodes = METER_NODES.end() - METER_NODES.start() + 1;
    let (channel, power) = match radio {
        ChipModel::Cc2500 => (CC2500_CHANNEL, CC2500_POWER),
        ChipModel::Rfm12b | ChipModel::Fm25l16b => (GROUP, FULL_POWER),
    };
    Setup {
        meter: index as u16 + 1,
        address: TO_NODE | (METER_NODES.start() + (index % usize::from(nodes)) as u8),
        collector_address: TO_NODE | COLLECTOR_NODE,
        channel,
        power,
        interval_s,
        suite,
        voltage_uv: VOLTAGE_UV,
        current_ua: CURRENT_UA,
        phase,
    }
}

/// The radio that those meters talk to, on a channel.
#[must_use]
pub fn base_radio(model: &ChannelModel, turnaround_ns: u64, most_waiting: usize) -> RadioSettings {
    RadioSettings {
        framing: model.framing,
        byte_ns: model.byte_ns,
        address: TO_NODE | COLLECTOR_NODE,
        turnaround_ns,
        tail_bytes: 0,
        most_waiting,
    }
}

fn outcome(scenario: &NetworkScenario, mut network: Network, wall_s: f64) -> NetworkOutcome {
    let Network { simulation, kinds } = &mut network;
    let groups = scenario.meters.iter().flat_map(|group| std::iter::repeat_n(group, group.count as usize));
    let row = |((index, group), kind): ((usize, &MeterGroup), &String)| {
        let counts = simulation.recorder.counts(index);
        let measurements = counts.delivered_measurements.max(1) as f64;
        MeterRow {
            meter: index as u16 + 1,
            kind: kind.clone(),
            board: match &group.node {
                MeterNode::Host => None,
                MeterNode::Board(board) => Some(board.clone()),
            },
            suite: group.suite.name(),
            interval_s: group.interval_s,
            made: counts.made,
            measurements: counts.measurements,
            kept: counts.kept,
            delivered: counts.delivered,
            delivered_measurements: counts.delivered_measurements,
            lost: counts.lost,
            sent: counts.sent,
            resent: counts.resent,
            refused: counts.refused,
            commands: counts.commands,
            cuts: counts.cuts,
            cuts_while_writing: counts.cuts_while_writing,
            cuts_within_flash: counts.cuts_within_flash,
            restarts: counts.restarts,
            back_s: counts.back_s,
            air_bytes_per_measurement: counts.air_bytes as f64 / measurements,
            energy_wh: counts.energy_wh,
            load_wh: counts.load_wh,
            keys_renewed: counts.keys_renewed,
            stack_untouched: simulation.sites[index].stack_untouched(),
        }
    };
    let meters: Vec<MeterRow> = groups.enumerate().zip(kinds.iter()).map(row).collect();
    let now_s = seconds(simulation.now_ns());
    let traffic = simulation.traffic();
    let trips = std::mem::take(&mut simulation.recorder.round_trips_s);
    let trip = |times: Vec<f32>| Spread::of(times.into_iter().map(f64::from).collect());
    let commands = std::mem::take(&mut simulation.station.counts.answer_s);
    let sent = |attacker: &Attacker| {
        Attack::ALL.iter().map(|attack| (attack.name(), attacker.sent[*attack as usize])).collect()
    };
    NetworkOutcome {
        title: scenario.title.clone(),
        seed: scenario.seed,
        hours: scenario.hours,
        settled_s: (now_s - scenario.hours * 3600.0).max(0.0),
        wall_s,
        meter_seconds_per_second: now_s * meters.len() as f64 / wall_s.max(1e-9),
        meters,
        round_trips: trips.into_iter().map(|(suite, times)| (suite.name(), trip(times))).collect(),
        commands: commands.into_iter().map(|(suite, times)| (suite.name(), Spread::of(times))).collect(),
        air_utilisation: traffic.sending_ns as f64 / 1e9 / now_s.max(1e-9),
        traffic,
        collector: std::mem::take(&mut simulation.station.counts),
        attacks: Attacks {
            sent: simulation.attacker.as_ref().map(sent).unwrap_or_default(),
            accepted_unprotected: simulation.recorder.unprotected,
            times_late: simulation.recorder.times_late,
        },
    }
}
