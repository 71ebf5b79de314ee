//! Cost of a reading without losses: one meter and its collector alone on a channel, in virtual
//! time.

use crate::demo::cost::{Cost, Currents, Tally};
use crate::demo::meter_site::{COLLECTOR_ADDRESS, FRAMING, METER_SITES};
use crate::demo::start::{self, Firmwares};
use crate::demo::station::radio_settings;
use lab::LabError;
use lab::workspace::Workspace;
use rand::{SeedableRng, rngs::StdRng};
use sim::load::Load;
use sim::radio::ChannelModel;
use sim::station::collector::{BEGINS_MS, CollectorSettings, CollectorStation, ProcessingDelay, Setup};
use wire::meter::{Identity, Policy, Suite};

/// Load of the meters, in watts.
const LOAD_W: f64 = 1000.0;
/// Longest time of a reading, in nanoseconds.
const LONGEST_NS: u64 = 30_000_000_000;
/// A meter lives on so long from one look to the next.
const LOOK_NS: u64 = 100_000_000;

/// Measures `readings` readings of each suite, in their order.
///
/// # Errors
/// Errors of building and running firmware; a reading that does not come.
pub fn costs(workspace: &Workspace, readings: u64, seed: u64) -> Result<Vec<Cost>, LabError> {
    let firmwares = Firmwares::build(workspace)?;
    let currents = Currents::new(workspace, firmwares.with(Suite::None).board())?;
    std::thread::scope(|scope| {
        let measured: Vec<_> = (0..METER_SITES.len())
            .map(|index| {
                let (firmwares, currents) = (&firmwares, &currents);
                scope.spawn(move || of(firmwares, currents, index, readings, seed))
            })
            .collect();
        measured
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn of(
    firmwares: &Firmwares,
    currents: &Currents,
    index: usize,
    readings: u64,
    seed: u64,
) -> Result<Cost, LabError> {
    let site = METER_SITES[index];
    let identity = Identity::generate(&mut rand::rng());
    let started = start::start(firmwares, &[(site, Load::constant(LOAD_W))], identity.public(), seed)?;
    let (meters, records): (Vec<_>, Vec<_>) =
        started.into_iter().map(|(meter, record)| (meter, (record, 0))).unzip();
    let station = CollectorStation::new(Setup {
        updates: None,
        settings: CollectorSettings::faultless(),
        identity,
        // Nothing but readings is to go on.
        policy: Policy { set_time: false, ..Policy::default() },
        meters: records,
        radios: vec![radio_settings(FRAMING, currents.byte_ns, COLLECTOR_ADDRESS)],
        delay: ProcessingDelay::default(),
        begins_ms: BEGINS_MS,
        seed,
        rng: StdRng::seed_from_u64(seed),
    })?;
    let model = ChannelModel { seed, ..ChannelModel::ideal(FRAMING, currents.byte_ns) };
    let mut simulation = start::simulation(meters, station, model, 0);
    let mut tally = Tally::default();
    let mut last_ns = simulation.now_ns();
    while tally.readings() < readings {
        if simulation.now_ns() > last_ns + LONGEST_NS {
            return Err(LabError::Protocol {
                what: "meter and collector".into(),
                problem: format!("with {} no reading came within 30 s", site.suite.name()),
            });
        }
        simulation.run_until(simulation.now_ns() + LOOK_NS)?;
        for reading in simulation.recorder.take_readings() {
            last_ns = simulation.now_ns();
            if tally.readings() < readings {
                tally.add(&reading);
            }
        }
    }
    Ok(tally.cost(site.suite, currents))
}
