//! What a reading costs where nothing is lost: one meter and its collector alone on the air, in virtual time.

use crate::collecting::InVirtualTime;
use crate::cost::{Cost, Currents, Tally};
use crate::household::{HOUSEHOLDS, Load};
use crate::setup;
use crate::world::{Channel, World};
use lab::LabError;
use lab::target::Workspace;
use sim::modelled::Firmware;
use std::sync::Arc;
use wire::meter::{Collector, Identity, MeterState, Policy};

/// What the households draw, in watts.
const LOAD_W: f64 = 1000.0;
/// How long a reading may take at most, in nanoseconds.
const LONGEST_NS: u64 = 30_000_000_000;
/// A meter lives on so long from one look to the next.
const LOOK_NS: u64 = 100_000_000;

/// Measures so many readings of each suite, in their order.
///
/// # Errors
/// What building and running firmware can bring; a reading that does not come.
pub fn costs(workspace: &Workspace, readings: u64, seed: u64) -> Result<Vec<Cost>, LabError> {
    let firmware = Firmware::build(workspace)?;
    let currents = Currents::new(workspace, firmware.target())?;
    std::thread::scope(|scope| {
        let measured: Vec<_> = (0..HOUSEHOLDS.len())
            .map(|index| {
                let (firmware, currents) = (&firmware, &currents);
                scope.spawn(move || of(firmware, currents, index, readings, seed))
            })
            .collect();
        measured
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn of(
    firmware: &Arc<Firmware>,
    currents: &Currents,
    index: usize,
    readings: u64,
    seed: u64,
) -> Result<Cost, LabError> {
    let household = HOUSEHOLDS[index];
    let failed = |problem: String| LabError::Protocol { what: "meter and collector".into(), problem };
    let identity = Identity::generate(&mut rand::rng());
    let started = setup::start(firmware, &[(household, Load::constant(LOAD_W))], identity.public(), seed)?;
    // Nothing but readings is to go on.
    let mut collector = Collector::new(identity, Policy { set_time: false, ..Policy::default() });
    let mut meters = Vec::new();
    for (meter, record) in started {
        let state = MeterState::new(&record);
        collector.add(record, state).map_err(|error| failed(error.to_string()))?;
        meters.push(meter);
    }
    let channel = Channel { seed, byte_ns: currents.byte_ns, loss: 0.0, bit_error_rate: 0.0 };
    let mut world = World::new(meters, Box::new(InVirtualTime::new(collector, seed)), channel, 0);
    let mut tally = Tally::default();
    let mut last_ns = world.now_ns();
    while tally.readings() < readings {
        if world.now_ns() > last_ns + LONGEST_NS {
            return Err(failed(format!("with {} no reading came within 30 s", household.suite.name())));
        }
        for reading in world.live(world.now_ns() + LOOK_NS)? {
            last_ns = world.now_ns();
            if tally.readings() < readings {
                tally.add(&reading);
            }
        }
    }
    Ok(tally.cost(household.suite, currents))
}
