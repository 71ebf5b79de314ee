//! Meters made, provisioned and switched on.

use crate::household::{Household, Load};
use crate::meter::Meter;
use lab::LabError;
use sim::modelled::Firmware;
use sim::street::chance::{Chance, For};
use std::sync::Arc;
use wire::meter::{MeterRecord, Provision, PublicKey};

/// Makes the meters of some households with keys that nobody has had before, and lets each live to its first report, on as many
/// processors as there are. What is returned beside a meter is its collector's.
///
/// loads: what each measures. seed: of what converters read beside the signals.
///
/// # Errors
/// As [`Meter::start`].
pub fn start(
    firmware: &Arc<Firmware>,
    households: &[(Household, Load)],
    collector: &PublicKey,
    seed: u64,
) -> Result<Vec<(Meter, MeterRecord)>, LabError> {
    std::thread::scope(|scope| {
        let started: Vec<_> = households
            .iter()
            .map(|(household, load)| {
                let provision = Provision::generate(household.setup(), collector, &mut rand::rng());
                scope.spawn(move || {
                    let noise = Chance::new(seed, For::Meter, household.meter.into(), 0).bits();
                    let meter = Meter::start(firmware, *household, &provision, load.clone(), noise)?;
                    Ok((meter, provision.record()))
                })
            })
            .collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
