//! From a street's scenario to a street: meters made and provisioned, and all that is around them.

use super::air::{self, ChannelModel};
use super::attacker::{Attack, Attacker, AttackerSettings};
use super::chance::{Chance, For};
use super::endpoint::Endpoint;
use super::host::Host;
use super::site::{CutSettings, Site};
use super::ledger::{Expectations, Ledger};
use super::load::LoadProfile;
use super::model::Model;
use super::outcome::{Attacks, MeterRow, Spread, NetworkOutcome};
use super::scenario::{MeterKind, NetworkScenario};
use super::simulation::{Parts, Street};
use super::station::Station;
use crate::emulated::{Firmware, PHASE};
use crate::time::SECOND_NS;
use crate::simulation::Progress;
use energy::radio::Radio;
use lab::LabError;
use lab::target::Workspace;
use rand::{SeedableRng, rngs::StdRng};
use std::time::Instant;
use wire::meter::{Identity, Provision, Setup};

/// The group of JeeLib's examples; 1 to 250 are allowed.
const GROUP: u8 = 212;
/// JeeLib's header for a packet to a node, and the nodes that there are: 1 is the collector's, and meters share the others.
const TO_NODE: u8 = 0x40;
const COLLECTOR_NODE: u8 = 1;
const METER_NODES: std::ops::RangeInclusive<u8> = 2..=30;
/// The highest power: RFM12B data sheet, TX Configuration Control Command, p2 p1 p0 = 0.
const FULL_POWER: u8 = 0;
/// A step of the converter: 230 V RMS are 407 steps of the 512 on either side; 60 A RMS are 424.
const VOLTAGE_UV: u32 = 800_000;
const CURRENT_UA: u32 = 200_000;

/// Simulates a street.
///
/// # Errors
/// What does not hold, named with seed, meter and time; what building and running firmware can bring.
pub fn run(
    workspace: &Workspace,
    scenario: &NetworkScenario,
    progress: &dyn Progress,
) -> Result<NetworkOutcome, LabError> {
    let begun = Instant::now();
    let mut street = make(workspace, scenario)?;
    street.run(progress)?;
    Ok(outcome(scenario, street, begun.elapsed().as_secs_f64()))
}

/// Makes a street.
///
/// # Errors
/// As [`run`].
pub fn make(workspace: &Workspace, scenario: &NetworkScenario) -> Result<Street, LabError> {
    let seed = scenario.seed;
    let byte_ns = air::byte_ns(radio(workspace)?.bit_rate_hz);
    let milliseconds = |ms: f64| (ms * 1e6).round() as u64;
    let settings = &scenario.air;
    let model = ChannelModel {
        seed,
        group: GROUP,
        latency_ns: milliseconds(settings.latency_ms),
        byte_ns,
        loss: settings.loss,
        bit_error_rate: settings.bit_error_rate,
        duplicate: settings.duplicate,
        reorder: settings.reorder,
        later_ns: (milliseconds(settings.later_ms[0]), milliseconds(settings.later_ms[1])),
    };
    let collector_key = Identity::generate(&mut StdRng::seed_from_u64(seed ^ 0x6b65_7900));
    let kinds = scenario.meters.iter().flat_map(|group| std::iter::repeat_n(*group, group.count as usize));
    let stepwise = scenario.meters.iter().any(|group| group.kind == MeterKind::Atmega328p && group.count > 0);
    let firmware = stepwise.then(|| Firmware::build(workspace)).transpose()?;
    let cuts = scenario.cuts.unwrap_or(CutSettings { per_day: 0.0, while_writing: 0.0, off_s: [0.05, 5.0] });
    let mut sites = Vec::new();
    let mut records = Vec::new();
    let mut watched = Vec::new();
    for (index, group) in kinds.enumerate() {
        let nodes = METER_NODES.end() - METER_NODES.start() + 1;
        let setup = Setup {
            meter: index as u16 + 1,
            address: TO_NODE | (METER_NODES.start() + (index % usize::from(nodes)) as u8),
            collector_address: TO_NODE | COLLECTOR_NODE,
            channel: GROUP,
            power: FULL_POWER,
            interval_s: group.interval_s,
            suite: group.suite,
            voltage_uv: VOLTAGE_UV,
            current_ua: CURRENT_UA,
            phase: if group.kind == MeterKind::Atmega328p { PHASE } else { 0 },
        };
        let mut keys = Chance::new(seed, For::Keys, index as u64, 0);
        let mut keys = StdRng::seed_from_u64(keys.bits());
        let provision = Provision::generate(setup, collector_key.public(), &mut keys);
        let mut own = Chance::new(seed, For::Meter, index as u64, 0);
        let station: Box<dyn Station> = match (group.kind, &firmware) {
            (MeterKind::Atmega328p, Some(firmware)) => {
                Box::new(Model::new(firmware.meter(&provision, own.bits())?))
            }
            _ => Box::new(Host::new(&provision, byte_ns, own.bits())),
        };
        let profile = LoadProfile::new(seed, index as u64, scenario.begins_h);
        // They are switched on within the first interval, not all at once.
        let from_ns = own.below(u64::from(group.interval_s) * SECOND_NS);
        watched.push((setup.meter, profile.clone()));
        sites.push(Site::new(station, profile, cuts, (seed, index as u64), from_ns));
        records.push(provision.record());
    }
    let expected = Expectations {
        seed,
        back_within_ns: (scenario.expect.back_within_s * SECOND_NS as f64) as u64,
        energy_error: scenario.expect.energy_error,
        attacked: scenario.attacker.is_some(),
    };
    let endpoint = Endpoint::new(scenario.collector.clone(), collector_key, records, seed, (GROUP, byte_ns))?;
    let attacker = |settings: AttackerSettings| Attacker::new(settings, GROUP, seed);
    let nanoseconds = |s: f64| (s * SECOND_NS as f64) as u64;
    Ok(Street::new(Parts {
        sites,
        endpoint: (endpoint, TO_NODE | COLLECTOR_NODE),
        attacker: scenario.attacker.map(attacker),
        model,
        ledger: Ledger::new(expected, watched),
        stepwise,
        times_ns: (nanoseconds(scenario.hours * 3600.0), nanoseconds(scenario.expect.settle_s)),
    }))
}

fn radio(workspace: &Workspace) -> Result<Radio, LabError> {
    let path = workspace.root().join("radios/rfm12b.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| LabError::File { path: path.clone(), error })?;
    Radio::from_toml(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })
}

fn outcome(scenario: &NetworkScenario, mut street: Street, wall_s: f64) -> NetworkOutcome {
    let kinds = scenario.meters.iter().flat_map(|group| std::iter::repeat_n(*group, group.count as usize));
    let row = |(index, group): (usize, super::scenario::MeterGroup)| {
        let counts = street.ledger.counts(index);
        let site = &street.sites[index];
        let measurements = counts.delivered_measurements.max(1) as f64;
        let untouched = [site.stack_untouched, site.station.stack_untouched()];
        MeterRow {
            meter: index as u16 + 1,
            kind: group.kind.name(),
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
            restarts: counts.restarts,
            back_s: counts.back_s,
            air_bytes_per_measurement: counts.air_bytes as f64 / measurements,
            energy_wh: counts.energy_wh,
            load_wh: counts.load_wh,
            stack_untouched: untouched.into_iter().flatten().min(),
        }
    };
    let meters: Vec<MeterRow> = kinds.enumerate().map(row).collect();
    let now_s = street.now_ns() as f64 / SECOND_NS as f64;
    let traffic = street.air.traffic();
    let trips = std::mem::take(&mut street.ledger.round_trips_s);
    let trip = |times: Vec<f32>| Spread::of(times.into_iter().map(f64::from).collect());
    let commands = std::mem::take(&mut street.endpoint.counts.answer_s);
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
        collector: street.endpoint.counts,
        attacks: Attacks {
            sent: street.attacker.as_ref().map(sent).unwrap_or_default(),
            accepted_unprotected: street.ledger.unprotected,
        },
    }
}
