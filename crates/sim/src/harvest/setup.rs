//! From a scenario to a simulation: firmware built and configured, sun read, threshold sized.

use super::outcome::Outcome;
use super::recorder::{HarvestRecorder, Run};
use super::scenario::{self, Scenario};
use crate::load::Load;
use crate::node::Node;
use crate::node::emulated::BoardFirmware;
use crate::node::harvested::HarvestedNode;
use crate::radio::{self, ChannelModel, Framing, RadioChannel};
use crate::simulation::{Progress, Schedule, Simulation};
use crate::site::{Site, Supply};
use crate::station::verifier::{Demand, Peer, Verifier};
use crate::supply::harvest::Harvest;
use crate::supply::{Circuit, Regulator};
use crate::time::{SECOND_NS, nanoseconds};
use energy::radio::Radio;
use energy::sizing;
use energy::sun::Irradiance;
use lab::cost_table::{self, Wanted};
use lab::target::{OperatingPoint, Target};
use lab::workspace::Workspace;
use lab::{LabError, names};
use rand::{SeedableRng, rngs::StdRng};
use std::path::PathBuf;
use std::sync::Arc;
use wire::node::{Config, Mode, Scheme};

/// The radio that the firmware drives.
const RADIO: &str = "cc2500";
/// The node's board.
const BOARD: &str = "msp430f5438a-cc2500";
const NODE_ID: u32 = 0x5753_0001;
const NODE_ADDRESS: u8 = 0x17;
const SERVER_ADDRESS: u8 = 0x01;
/// 0 dBm on the CC2500: SWRS040, "Output Power Programming".
const PATABLE_0_DBM: u8 = 0xfe;

/// Parameters of a simulation.
#[derive(Clone, Debug)]
pub struct Request {
    /// The scenario's file, or its name.
    pub scenario: PathBuf,
    /// Instead of the scenario's own.
    pub seed: Option<u64>,
    /// Instead of the scenario's own.
    pub days: Option<f64>,
}

/// Simulates a scenario.
///
/// # Errors
/// [`LabError::UnknownName`] and [`LabError::Usage`] for what the scenario says; what building and
/// running firmware can bring.
pub fn run(workspace: &Workspace, request: &Request, progress: &dyn Progress) -> Result<Outcome, LabError> {
    let mut scenario = Scenario::read(workspace, &request.scenario)?;
    scenario.seed = request.seed.unwrap_or(scenario.seed);
    scenario.days = request.days.unwrap_or(scenario.days);
    scenario.check().map_err(LabError::Usage)?;
    run_scenario(workspace, &scenario, progress)
}

/// Simulates a scenario that has been read.
///
/// # Errors
/// As [`run`].
pub fn run_scenario(
    workspace: &Workspace,
    scenario: &Scenario,
    progress: &dyn Progress,
) -> Result<Outcome, LabError> {
    let settings = &scenario.node;
    workspace.calibration_is_of(std::iter::once(settings.target.as_str()))?;
    let target = workspace.target(&settings.target)?;
    let point = target.operating_point(Some(settings.clock_hz), Some(scenario.regulator.output_v))?;
    check_rail(&target, &scenario.regulator)?;
    check_variant(&target, &settings.variant)?;
    let radio = read_radio(workspace, &settings.radio)?;
    let threshold_v = threshold_v(workspace, scenario, &target, &point, &radio)?;
    let mut board = workspace.board(BOARD)?;
    if board.target != target.name() {
        return Err(LabError::Usage(format!(
            "node.target is {}, but the node's drivers are for {}",
            target.name(),
            board.target
        )));
    }
    board.clock_hz = point.clock_hz;
    let firmware = Arc::new(BoardFirmware::build(workspace, board, &settings.variant, "node")?);

    let scheme = scenario.scheme();
    let curve = scenario.curve();
    // Random numbers of its own: those of the server's challenges go over the air.
    let private_key = curve.private_key(&mut StdRng::seed_from_u64(scenario.seed ^ 0x6b65_7900));
    let config = config(scenario, threshold_v, &private_key);
    let byte_ns = radio::byte_ns(radio.bit_rate_hz);
    let peer = Peer {
        scheme,
        public_key: curve.public(&private_key)?,
        node_id: NODE_ID,
        address: NODE_ADDRESS,
        server_address: SERVER_ADDRESS,
        byte_ns,
        repeat_ns: nanoseconds(scenario.repeats_s()),
    };
    let demand = match (settings.mode, scenario.server.gap_s) {
        (scenario::Mode::Asynchronous, Some(gap_s)) => Demand::Challenges { gap_s },
        _ => Demand::Periodic { interval_ns: u64::from(settings.interval_s) * SECOND_NS },
    };
    let server = Verifier::new(peer, demand, nanoseconds(scenario.server.deadline_s), scenario.seed);
    let circuit = Circuit::new(
        scenario.panel,
        scenario.charger,
        scenario.capacitor,
        scenario.regulator,
        scenario.start_v,
    );
    let node = HarvestedNode::new(&firmware, &radio, &config)?;
    let lowest_rail_v = target.supply.brown_out().map_or(target.supply.min_v(), |level| level.falling_v);
    let sun = (sun(workspace, scenario)?, scenario.sun.share);
    let harvest = Harvest::new(circuit, sun, lowest_rail_v, scenario.step, node.states());
    let run = Run {
        title: scenario.title.clone(),
        seed: scenario.seed,
        days: scenario.days,
        threshold_v,
        sample_s: scenario.step.sample_s,
    };
    let model = ChannelModel {
        seed: scenario.seed,
        loss: scenario.channel.loss,
        ..ChannelModel::ideal(Framing::Cc2500, byte_ns)
    };
    simulate(Box::new(node), harvest, server, model, run, progress)
}

/// The node's configuration.
fn config(scenario: &Scenario, threshold_v: f64, private_key: &[u8]) -> Config {
    let mut config = Config {
        mode: match scenario.node.mode {
            scenario::Mode::Periodic => Mode::Periodic,
            scenario::Mode::Asynchronous if scenario.node.wake_on_radio => Mode::WakeOnRadio,
            scenario::Mode::Asynchronous => Mode::Asynchronous,
        },
        scheme: scenario.scheme(),
        node_id: NODE_ID,
        first_counter: 1,
        interval_s: scenario.node.interval_s,
        // Rounded up: what suffices in volts must suffice in millivolts.
        threshold_mv: (threshold_v * 1e3).ceil() as u16,
        listen_every_ms: scenario.node.listen_every_ms,
        listen_for_ms: scenario.node.listen_for_ms,
        node_address: NODE_ADDRESS,
        server_address: SERVER_ADDRESS,
        channel: 0,
        power: PATABLE_0_DBM,
        private_key: [0; 32],
    };
    config.private_key[..private_key.len()].copy_from_slice(private_key);
    config
}

/// Simulates a node, its supply and its server alone on a channel.
///
/// # Errors
/// An instruction or access that the node's model cannot execute, or an independent library that
/// fails.
pub fn simulate(
    node: Box<dyn Node>,
    harvest: Harvest,
    server: Verifier,
    model: ChannelModel,
    run: Run,
    progress: &dyn Progress,
) -> Result<Outcome, LabError> {
    let site = Site::new(node, Supply::Harvest(Box::new(harvest)), Load::constant(0.0));
    let schedule = Schedule::Alone { longest_ns: u64::MAX, ahead_ns: 0 };
    let recorder = HarvestRecorder::new(run);
    let end_ns = recorder.end_ns();
    let parts = (vec![site], server, recorder);
    let mut simulation = Simulation::new(parts, vec![RadioChannel::new(model)], schedule, 0);
    simulation.run_telling(end_ns, end_ns, progress)?;
    let now_ns = simulation.now_ns();
    Ok(simulation.recorder.finish(now_ns, &simulation.sites[0]))
}

/// The firmware looks at the storage whenever it is on: its converter must work as long as the rail
/// is up.
fn check_rail(target: &Target, regulator: &Regulator) -> Result<(), LabError> {
    let converter = target.part.peripherals.iter().find(|peripheral| peripheral.model == "msp430-adc12");
    let Some(&supply_mv) = converter.and_then(|converter| converter.settings.get("supply_mv")) else {
        return Ok(());
    };
    let lowest_v = supply_mv as f64 / 1e3;
    let (field, value, least_v) = if regulator.output_v < lowest_v {
        ("regulator.output_v", regulator.output_v, lowest_v)
    } else if regulator.turn_off_v - regulator.dropout_v < lowest_v {
        ("regulator.turn_off_v", regulator.turn_off_v, lowest_v + regulator.dropout_v)
    } else {
        return Ok(());
    };
    Err(LabError::Usage(format!(
        "{field} is {value}; it must be at least {least_v:.3} V, so that the rail never is below the {lowest_v} V that the \
         converter of {} needs to measure what is stored",
        target.name()
    )))
}

fn check_variant(target: &Target, variant: &str) -> Result<(), LabError> {
    let known = target.toolchain()?.variants_of(firmware::toolchain::PUBLIC_KEY);
    if known.iter().any(|name| name == variant) {
        return Ok(());
    }
    let suggestion = names::suggestion(variant, known.iter().map(String::as_str));
    Err(LabError::UnknownName { what: "variant", name: variant.into(), suggestion })
}

pub(crate) fn read_radio(workspace: &Workspace, name: &str) -> Result<Radio, LabError> {
    let known = workspace.names_in("radios")?;
    if name != RADIO {
        let suggestion = names::suggestion(name, [RADIO]);
        let what = if known.iter().any(|radio| radio == name) { "model of the radio" } else { "radio" };
        return Err(LabError::UnknownName { what, name: name.into(), suggestion });
    }
    workspace.radio(name)
}

/// The scenario's threshold, or that of (6.1): twice the energy of a signature and its packets, and
/// the harvester's overhead, above what the storage holds when the regulator switches off. The
/// paper counts from an empty storage, of which a regulator can use no more than it can of ours.
fn threshold_v(
    workspace: &Workspace,
    scenario: &Scenario,
    target: &Target,
    point: &OperatingPoint,
    radio: &Radio,
) -> Result<f64, LabError> {
    if let Some(threshold_v) = scenario.node.threshold_v {
        return Ok(threshold_v);
    }
    let wanted = Wanted {
        target,
        point: *point,
        variant: &scenario.node.variant,
        op: scenario.node.scheme.signing(),
        bytes: match scenario.node.mode {
            scenario::Mode::Periodic => SIGNED_OF_A_READING,
            scenario::Mode::Asynchronous => SIGNED_OF_AN_ANSWER,
        },
    };
    let key = wanted.key();
    let figures = cost_table::get(workspace, &[wanted], &Silent)?;
    let cycles = figures.get(&key).map_or(0.0, |figure| figure.cycles);
    let compute_j = cycles * target.seconds_per_cycle(point) * point.power_w;
    let mut radio_j = 0.0;
    for bytes in packets(scenario.scheme()) {
        let sent = radio.send(bytes, point.supply_v);
        radio_j += sent.map_err(|error| LabError::Usage(error.to_string()))?.energy_j;
    }
    let required_j = sizing::required_j(compute_j, radio_j, scenario.node.overhead_j);
    let unusable_j = scenario.capacitor.energy_j(scenario.regulator.turn_off_v);
    let threshold_v = scenario.capacitor.voltage_v(required_j + unusable_j);
    let highest_v = scenario.highest_threshold_v();
    if threshold_v > highest_v {
        return Err(LabError::Usage(format!(
            "equation (6.1) asks for {threshold_v:.2} V in capacitor.capacitance_f = {} F, above the {highest_v} V of \
             capacitor.max_v and of what the node's converter measures; give a larger capacitance_f, a smaller \
             node.overhead_j, or node.threshold_v",
            scenario.capacitor.capacitance_f
        )));
    }
    Ok(threshold_v)
}

/// Bytes that are signed: `device/node/message.h`.
pub(crate) const SIGNED_OF_A_READING: u16 = 20;
const SIGNED_OF_AN_ANSWER: u16 = 36;

/// Bytes of a message's packets: `device/node/message.h`.
pub(crate) fn packets(scheme: Scheme) -> impl Iterator<Item = u32> {
    const BODY_HEADER: usize = 10;
    const HEADER: usize = 11;
    const PIECE: usize = 50;
    let body = BODY_HEADER + scheme.signature_bytes();
    (0..body.div_ceil(PIECE)).map(move |index| (HEADER + PIECE.min(body - index * PIECE)) as u32)
}

pub(crate) struct Silent;

impl lab::progress::Progress for Silent {
    fn report(&self, _: usize, _: usize, _: &str) {}
}

/// The sun from the scenario's first day on, for as many days as it lasts and one.
pub(crate) fn sun(workspace: &Workspace, scenario: &Scenario) -> Result<Irradiance, LabError> {
    let settings = &scenario.sun;
    // A year goes round.
    let days = (scenario.days.ceil() as u32 + 1).min(366);
    if let Some(latitude_deg) = settings.latitude_deg {
        let sky = Irradiance::clear_sky(latitude_deg, u32::from(settings.start_day), days, 600.0);
        return sky.map_err(|error| LabError::Usage(format!("sun: {error}")));
    }
    let name = settings.file.clone().unwrap_or_default();
    let file = format!("scenarios/sun/{name}.csv");
    if !workspace.has(&file) {
        let known = workspace.names_ending("scenarios/sun", ".csv")?;
        let suggestion = names::suggestion(&name, known.iter().map(String::as_str));
        return Err(LabError::UnknownName { what: "sun.file", name, suggestion });
    }
    let (path, text) = workspace.read(&file)?;
    let year = Irradiance::from_csv(&text)
        .map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
    Ok(year.of_days(usize::from(settings.start_day) - 1, days as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rail_below_what_the_converter_needs_is_refused() {
        let workspace = Workspace::find().expect("the project's folder");
        let text = include_str!("../../../../scenarios/harvest-solar.toml");
        let refused = |from: &str, to: &str| {
            let scenario =
                Scenario::from_toml(&text.replacen(from, to, 1)).expect("it makes sense by itself");
            run_scenario(&workspace, &scenario, &crate::simulation::Quiet)
                .expect_err("a rail too low")
                .to_string()
        };
        // SLAS655: the converter works from 2.2 V; the dropout is 26 mV.
        let error = refused("turn_off_v = 2.25", "turn_off_v = 2.0");
        assert!(error.contains("regulator.turn_off_v is 2; it must be at least 2.226 V"), "{error}");
        let error = refused("output_v = 2.7", "output_v = 2.0");
        assert!(error.contains("regulator.output_v is 2; it must be at least 2.200 V"), "{error}");
    }

    #[test]
    fn a_clear_sky_lasts_as_long_as_a_scenario_may() {
        let workspace = Workspace::find().expect("the project's folder");
        let text = include_str!("../../../../scenarios/harvest-solar.toml");
        let text = text.replace("file = \"greensboro\"", "latitude_deg = 36.1");
        let mut scenario = Scenario::from_toml(&text).expect("it makes sense");
        scenario.days = 366.0;
        scenario.check().expect("a year is allowed");
        assert_eq!(sun(&workspace, &scenario).expect("a year's sun").period_s(), 366.0 * 86_400.0);
    }
}
