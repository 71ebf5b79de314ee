//! The demonstration: everything at once, for as long as somebody looks on.

use crate::demo::cost::{Currents, Tally};
use crate::demo::meter_site::{COLLECTOR_ADDRESS, FRAMING, METER_SITES, MeterSite};
use crate::demo::report::CostRow;
use crate::demo::service::{Keys, Served, ServedError};
use crate::demo::start::{self, Firmwares};
use crate::demo::station::{ServiceStation, radio_settings, station};
use lab::LabError;
use lab::workspace::Workspace;
use output::stop::Stop;
use sim::radio::{ChannelModel, Traffic};
use sim::reading_account::ReadingAccounts;
use sim::real_time::RealTimePacer;
use sim::simulation::Simulation;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use wire::meter::Suite;

/// Share of the packets that a receiver does not get, and of the bits that are wrong. Chosen: a
/// channel on which something is sent again now and then.
const LOSS: f64 = 0.03;
const BIT_ERROR_RATE: f64 = 1e-5;
/// The first meter is heard so long before the second, and so on.
const APART_NS: u64 = 80_000_000;
/// For so long nothing is done but waiting.
const TICK: Duration = Duration::from_millis(2);
/// Intervals at which the figures are shown, and given to the collector.
const SHOW_EVERY: Duration = Duration::from_millis(250);
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Parameters of the demonstration.
#[derive(Clone, Debug)]
pub struct Request {
    /// For how long; without it until it is told to stop.
    pub lasts: Option<Duration>,
    /// Address of the dashboard; without it port 8080 on loopback, or a free one where that is
    /// taken.
    pub listen: Option<SocketAddr>,
    /// Seed of the random numbers: noise, losses, loads. Keys are drawn from the system.
    pub seed: u64,
    /// Folder in which database and keys stay; without it they go at the end.
    pub keep: Option<PathBuf>,
}

/// Observer of the demonstration.
pub trait Observer {
    /// Something goes on before there are figures.
    fn preparing(&mut self, what: &str);
    /// The figures so far.
    fn show(&mut self, now: &Status);
}

/// State of the demonstration so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// URL of the dashboard that signs in the first time.
    pub dashboard_url: String,
    /// Time since the beginning.
    pub elapsed: Duration,
    /// Of that, the time that this machine was too slow for.
    pub behind: Duration,
    /// A line a suite.
    pub rows: Vec<CostRow>,
    /// Traffic on the air.
    pub traffic: Traffic,
}

/// Errors of the demonstration.
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
    /// Returns true if the request is impossible (exit code 2), false if something went wrong (exit
    /// code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            DemoError::Lab(error) => error.is_usage(),
            DemoError::Served(error) => error.is_usage(),
        }
    }
}

/// Runs it until its time is over, or `stop` says so. Returns the status then, or nothing where it
/// was stopped before it had begun.
///
/// # Errors
/// Errors of building and running firmware, and of the collector's service.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Option<Status>, DemoError> {
    observer.preparing("building the meters' firmware");
    let firmwares = match Firmwares::build(workspace) {
        // Ctrl-C ends the compiler, too.
        Err(_) if stop.is_wanted() => return Ok(None),
        built => built?,
    };
    let currents = Currents::new(workspace, firmwares.with(Suite::None).board())?;
    observer.preparing("switching the meters on; with curves they test their noise source for five seconds of their time first");
    let keys = Keys::new(request.keep.as_deref())?;
    let sites: Vec<_> = METER_SITES.iter().map(|site| (*site, site.load(request.seed))).collect();
    let started = start::start(&firmwares, &sites, keys.public(), request.seed)?;
    if stop.is_wanted() {
        return Ok(None);
    }
    let records = started.iter().map(|(meter, record)| (record.clone(), meter.site().label)).collect();
    let meters = started.into_iter().map(|(meter, _)| meter).collect();
    let served = keys.serve(records, request.listen)?;
    let model = ChannelModel {
        seed: request.seed,
        loss: LOSS,
        bit_error_rate: BIT_ERROR_RATE,
        ..ChannelModel::ideal(FRAMING, currents.byte_ns)
    };
    let radio = radio_settings(FRAMING, currents.byte_ns, COLLECTOR_ADDRESS);
    let station = station(served.meters().clone(), radio);
    let mut live = Live {
        simulation: start::simulation(meters, station, model, APART_NS),
        currents,
        tallies: Default::default(),
    };
    let ended = live.until(request.lasts, stop, &served, observer);
    served.stop()?;
    ended.map(Some)
}

struct Live {
    simulation: Simulation<ServiceStation, ReadingAccounts>,
    currents: Currents,
    /// By suite.
    tallies: [Tally; Suite::WITH_FIXED_KEYS.len()],
}

impl Live {
    fn until(
        &mut self,
        lasts: Option<Duration>,
        stop: &Stop,
        served: &Served,
        observer: &mut dyn Observer,
    ) -> Result<Status, DemoError> {
        let mut pacer = RealTimePacer::new(self.simulation.now_ns());
        let (mut shown, mut told) = (Duration::ZERO, Duration::ZERO);
        while !stop.is_wanted() && lasts.is_none_or(|lasts| pacer.elapsed() < lasts) {
            let until_ns = pacer.until_ns(self.simulation.now_ns());
            self.simulation.run_until(until_ns)?;
            for reading in self.simulation.recorder.take_readings() {
                self.tallies[usize::from(reading.suite.code())].add(&reading);
            }
            if pacer.elapsed() >= shown {
                shown = pacer.elapsed() + SHOW_EVERY;
                observer.show(&self.status(&pacer, served.dashboard_url()));
            }
            if pacer.elapsed() >= told {
                told = pacer.elapsed() + TELL_EVERY;
                served.tell_costs(&self.rows());
            }
            for gateway in &mut self.simulation.station.gateways {
                gateway.uplink.wait(TICK);
            }
        }
        Ok(self.status(&pacer, served.dashboard_url()))
    }

    fn status(&self, pacer: &RealTimePacer, dashboard_url: &str) -> Status {
        Status {
            dashboard_url: dashboard_url.to_owned(),
            elapsed: pacer.elapsed(),
            behind: pacer.behind(),
            rows: self.rows(),
            traffic: self.simulation.traffic(),
        }
    }

    fn rows(&self) -> Vec<CostRow> {
        // The suite that a meter has now: it may have been told to change.
        let meters: Vec<(Suite, &MeterSite, f64)> = METER_SITES
            .iter()
            .zip(&self.simulation.sites)
            .map(|(meter, site)| {
                let suite = Suite::from_code(site.node.meter_status().suite).unwrap_or(meter.suite);
                (suite, meter, site.power_w())
            })
            .collect();
        let row = |(suite, tally): (Suite, &Tally)| {
            let of_suite = || meters.iter().filter(|(own, ..)| *own == suite);
            CostRow {
                cost: tally.cost(suite, &self.currents),
                load: of_suite().map(|(_, meter, _)| meter.label).collect::<Vec<_>>().join(", "),
                load_w: of_suite().map(|(.., power_w)| power_w).sum(),
            }
        };
        Suite::WITH_FIXED_KEYS.into_iter().zip(&self.tallies).map(row).collect()
    }
}
