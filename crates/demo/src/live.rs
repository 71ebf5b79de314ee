//! The demonstration: everything at once, for as long as somebody looks on.

use crate::attached::Attached;
use crate::cost::{Currents, Tally};
use crate::household::HOUSEHOLDS;
use crate::meter::Meter;
use crate::pace::Pace;
use crate::report::Row;
use crate::service::{Keys, Served, ServedError};
use crate::setup;
use crate::stop::Stop;
use crate::world::{Channel, World};
use lab::LabError;
use lab::target::Workspace;
use sim::modelled::Firmware;
use sim::street::air::Traffic;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use wire::meter::{MeterRecord, Suite};

/// Share of the packets that a receiver does not get, and of the bits that are wrong. Chosen: a channel on which something is
/// sent again now and then.
const LOSS: f64 = 0.03;
const BIT_ERROR_RATE: f64 = 1e-5;
/// The first meter is heard so long before the second, and so on.
const APART_NS: u64 = 80_000_000;
/// For so long nothing is done but waiting.
const TICK: Duration = Duration::from_millis(2);
/// The figures are shown so often, and so often given to the collector.
const SHOW_EVERY: Duration = Duration::from_millis(250);
const TELL_EVERY: Duration = Duration::from_secs(1);

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// For how long; without it until it is told to stop.
    pub lasts: Option<Duration>,
    /// Where the dashboard is; without it port 8080 on loopback, or where that is taken, one that is free.
    pub listen: Option<SocketAddr>,
    /// Where the random numbers begin: noise, losses, loads. Keys are drawn from the system.
    pub seed: u64,
    /// Where database and keys stay; without it they go at the end.
    pub keep: Option<PathBuf>,
}

/// Who looks on.
pub trait Onlooker {
    /// Something goes on before there are figures.
    fn preparing(&mut self, what: &str);
    /// The figures so far.
    fn show(&mut self, now: &Picture);
}

/// How it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Where the dashboard is, with what signs in there the first time.
    pub dashboard_url: String,
    /// How long it has gone on.
    pub elapsed: Duration,
    /// Of that, the time that this machine was too slow for.
    pub behind: Duration,
    /// A line a suite.
    pub rows: Vec<Row>,
    /// What was on the air.
    pub traffic: Traffic,
}

/// What it does not do.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Meters.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The collector.
    #[error(transparent)]
    Served(#[from] ServedError),
}

impl DemoError {
    /// Whether something was asked for that cannot be (exit code 2), as opposed to something that went wrong (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            DemoError::Lab(error) => error.is_usage(),
            DemoError::Served(error) => error.is_usage(),
        }
    }
}

/// Runs it until its time is over, or `stop` says so. Returns how it stands then, or nothing where it was stopped before it had begun.
///
/// # Errors
/// What building and running firmware can bring, and what the collector's service can.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    stop: &Stop,
    onlooker: &mut dyn Onlooker,
) -> Result<Option<Picture>, DemoError> {
    onlooker.preparing("building the meters' firmware");
    let firmware = match Firmware::build(workspace) {
        // Ctrl-C ends the compiler, too.
        Err(_) if stop.is_wanted() => return Ok(None),
        built => built?,
    };
    let currents = Currents::new(workspace, firmware.target())?;
    onlooker.preparing("switching the meters on; with curves they test their noise source for five seconds of their time first");
    let keys = Keys::new(request.keep.as_deref())?;
    let households: Vec<_> =
        HOUSEHOLDS.iter().map(|household| (*household, household.load(request.seed))).collect();
    let started = setup::start(&firmware, &households, keys.public(), request.seed)?;
    if stop.is_wanted() {
        return Ok(None);
    }
    let named = |(meter, record): (Meter, MeterRecord)| {
        let label = meter.household.label;
        (meter, (record, label))
    };
    let (meters, records): (Vec<_>, Vec<_>) = started.into_iter().map(named).unzip();
    let served = keys.serve(records, request.listen)?;
    let channel =
        Channel { seed: request.seed, byte_ns: currents.byte_ns, loss: LOSS, bit_error_rate: BIT_ERROR_RATE };
    let collecting = Box::new(Attached::new(served.link().clone()));
    let mut live = Live {
        world: World::new(meters, collecting, channel, APART_NS),
        currents,
        tallies: Default::default(),
    };
    let ended = live.until(request.lasts, stop, &served, onlooker);
    served.stop()?;
    ended.map(Some)
}

struct Live {
    world: World,
    currents: Currents,
    /// By suite.
    tallies: [Tally; Suite::ALL.len()],
}

impl Live {
    fn until(
        &mut self,
        lasts: Option<Duration>,
        stop: &Stop,
        served: &Served,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Picture, DemoError> {
        let mut pace = Pace::new(self.world.now_ns());
        let (mut shown, mut told) = (Duration::ZERO, Duration::ZERO);
        while !stop.is_wanted() && lasts.is_none_or(|lasts| pace.elapsed() < lasts) {
            let until_ns = pace.until_ns(self.world.now_ns());
            for reading in self.world.live(until_ns)? {
                self.tallies[usize::from(reading.suite.code())].add(&reading);
            }
            if pace.elapsed() >= shown {
                shown = pace.elapsed() + SHOW_EVERY;
                onlooker.show(&self.picture(&pace, served.dashboard_url()));
            }
            if pace.elapsed() >= told {
                told = pace.elapsed() + TELL_EVERY;
                served.tell_costs(&self.rows());
            }
            self.world.collecting().wait(TICK);
        }
        Ok(self.picture(&pace, served.dashboard_url()))
    }

    fn picture(&self, pace: &Pace, dashboard_url: &str) -> Picture {
        Picture {
            dashboard_url: dashboard_url.to_owned(),
            elapsed: pace.elapsed(),
            behind: pace.behind(),
            rows: self.rows(),
            traffic: self.world.traffic(),
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |(suite, tally): (Suite, &Tally)| {
            let meters: Vec<_> = self.world.meters.iter().filter(|meter| meter.suite() == suite).collect();
            let labels: Vec<&str> = meters.iter().map(|meter| meter.household.label).collect();
            Row {
                cost: tally.cost(suite, &self.currents),
                load: labels.join(", "),
                load_w: meters.iter().map(|meter| meter.power_w()).sum(),
            }
        };
        Suite::ALL.into_iter().zip(&self.tallies).map(row).collect()
    }
}
