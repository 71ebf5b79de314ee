//! Meters made, provisioned, switched on and put into a simulation.

use crate::demo::meter_site::MeterSite;
use lab::LabError;
use lab::workspace::Workspace;
use sim::chance::{Chance, Purpose};
use sim::load::Load;
use sim::node::Node;
use sim::node::meter::{EmulatedMeter, MeterFirmware};
use sim::radio::{ChannelModel, RadioChannel};
use sim::reading_account::{FUNCTIONS, ReadingAccount, ReadingAccounts};
use sim::simulation::{Schedule, Simulation};
use sim::site::Site;
use sim::station::BaseStation;
use sim::supply::Voltages;
use std::sync::Arc;
use wire::meter::{MeterRecord, Provision, PublicKey, Suite};

/// The meters' board.
const BOARD: &str = "emontx";
/// From a sender's antenna to a receiver's: nothing on a radio channel of this size, but it lets
/// all live a step apart. A round trip is two of them longer than it would be.
pub const LATENCY_NS: u64 = 500_000;
/// Longest time of a meter to its first report: with curves its noise source is tested first, which
/// takes 5.3 s.
const STARTS_WITHIN_NS: u64 = 30_000_000_000;
/// Interval of the checks until then: less than its radio takes from the order to send to the first
/// bit.
const LOOK_NS: u64 = 100_000;

/// The meters' firmware: a part that has no room for all suites in one build has several.
pub struct Firmwares(Vec<(Suite, Arc<MeterFirmware>)>);

impl Firmwares {
    /// Builds what has all suites.
    ///
    /// # Errors
    /// Errors of building firmware.
    pub fn build(workspace: &Workspace) -> Result<Firmwares, LabError> {
        let mut built: Vec<(Suite, Arc<MeterFirmware>)> = Vec::new();
        for suite in Suite::WITH_FIXED_KEYS {
            let known = built.iter().find(|(_, firmware)| firmware.has(suite));
            let firmware = match known {
                Some((_, firmware)) => Arc::clone(firmware),
                None => MeterFirmware::build(workspace, BOARD, suite)?,
            };
            built.push((suite, firmware));
        }
        Ok(Firmwares(built))
    }

    /// The one with this suite, which there is for each.
    #[must_use]
    pub fn with(&self, suite: Suite) -> &Arc<MeterFirmware> {
        &self.0[usize::from(suite.code())].1
    }
}

/// A meter that has lived alone up to when its first report, that it has started, is sealed.
pub struct StartedMeter {
    site: MeterSite,
    meter: EmulatedMeter,
    load: Load,
}

/// Makes the meters of some sites with keys that nobody has had before, and lets each live to its
/// first report, on as many processors as there are. What is returned beside a meter is its
/// collector's.
///
/// loads: what each measures. seed: of what converters read beside the signals.
///
/// # Errors
/// An instruction or access that a model cannot execute; a meter without a report within 30 s.
pub fn start(
    firmwares: &Firmwares,
    sites: &[(MeterSite, Load)],
    collector: &PublicKey,
    seed: u64,
) -> Result<Vec<(StartedMeter, MeterRecord)>, LabError> {
    std::thread::scope(|scope| {
        let started: Vec<_> = sites
            .iter()
            .map(|(site, load)| {
                let firmware = firmwares.with(site.suite);
                let setup = site.setup(firmware.phase());
                let provision = Provision::generate(setup, collector, &mut rand::rng());
                scope.spawn(move || {
                    let noise = Chance::new(seed, Purpose::Meter, site.meter.into(), 0).bits();
                    let meter = started(firmware.meter(&provision, noise)?)?;
                    Ok((StartedMeter { site: *site, meter, load: load.clone() }, provision.record()))
                })
            })
            .collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn started(mut meter: EmulatedMeter) -> Result<EmulatedMeter, LabError> {
    let supply_v = meter.board().firmware.board.supply_v;
    meter.power_up(0, Voltages { rail_v: supply_v, stored_v: 0.0 })?;
    meter.observe(&FUNCTIONS)?;
    while meter.meter_status().alerts == 0 {
        if meter.now_ns() > STARTS_WITHIN_NS {
            let what = format!("meter {}", meter.setup().meter);
            return Err(LabError::Protocol { what, problem: "it did not start within 30 s".into() });
        }
        meter.advance(meter.now_ns() + LOOK_NS)?;
    }
    meter.take_calls();
    Ok(meter)
}

/// A simulation of meters and a station. It begins when the meters, which have each lived alone,
/// meet: one after the other, `apart_ns` between two. Their accounts begin there.
#[must_use]
pub fn simulation<B: BaseStation>(
    meters: Vec<StartedMeter>,
    station: B,
    model: ChannelModel,
    apart_ns: u64,
) -> Simulation<B, ReadingAccounts> {
    let now_ns = meters.iter().map(|started| started.meter.now_ns()).max().unwrap_or_default();
    let (mut sites, mut accounts) = (Vec::new(), Vec::new());
    for (index, StartedMeter { mut meter, load, .. }) in meters.into_iter().enumerate() {
        let joined_ns = now_ns + index as u64 * apart_ns;
        meter.join(joined_ns);
        accounts.push(ReadingAccount::new(meter.meter_status(), meter.snapshot()));
        sites.push(Site::running(Box::new(meter), load, joined_ns));
    }
    let model = ChannelModel { latency_ns: LATENCY_NS, ..model };
    let parts = (sites, station, ReadingAccounts(accounts));
    Simulation::new(parts, vec![RadioChannel::new(model)], Schedule::Stepwise, now_ns)
}

impl StartedMeter {
    /// Returns its site.
    #[must_use]
    pub fn site(&self) -> &MeterSite {
        &self.site
    }
}
