//! Meters by the thousand for a collector. They are made of `crates/wire`'s own sealing: what is
//! measured and killed here is the collector, not the meter's firmware.
//!
//! Each meter sends its next report when its last one was acknowledged, and the same again after a
//! time without. Every acknowledgement's tag is verified, and afterwards the database is read row
//! by row: what was acknowledged has to be there once, with the figures that were sent.

mod bare;
mod check;
mod child;
mod drive;
mod kills;
mod meters;
mod report;
mod telegrams;

pub use bare::bare_rate;
pub use check::{Checked, check};
pub use child::{Child, Program, Usage};
pub use drive::{Drive, Latency};
pub use kills::{Kills, KillsResult, kills};
pub use meters::{Fleet, Meter};
pub use report::{kills_table, table};
pub use telegrams::run_telegrams;

use serde::Serialize;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use wire::meter::{MeterId, Suite};

/// Errors of a load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file, a socket or a process.
    #[error("{what}: {error}")]
    Io { what: String, error: std::io::Error },
    /// The collector's database, read by itself.
    #[error("the collector's database: {0}")]
    Database(#[from] rusqlite::Error),
    /// The collector's keys.
    #[error(transparent)]
    Registry(#[from] collector::registry::RegistryError),
    /// The collector ended by itself.
    #[error("the collector ended by itself ({0}); its log is above")]
    Ended(String),
    /// Nothing was acknowledged.
    #[error(
        "the collector at {0} acknowledged nothing within {1} s; is it there, and does it know these meters?"
    )]
    Silent(SocketAddr, u64),
    /// An acknowledged report is not stored, or stored otherwise.
    #[error("{0}")]
    Wrong(String),
    /// A request that cannot be met.
    #[error("{0}")]
    Usage(String),
}

impl LoadError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> LoadError {
        let what = what.into();
        move |error| LoadError::Io { what, error }
    }

    /// Returns true if the request is impossible (exit code 2), false if something went wrong (exit
    /// code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, LoadError::Usage(_))
    }
}

/// Parameters of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// Suite of the reports.
    pub suite: Suite,
    /// Number of meters; 0: as suits the suite.
    pub meters: MeterId,
    /// For how long, after one second that does not count.
    pub seconds: u64,
    /// New reports a second; `None`: each meter's next one as soon as its last one was
    /// acknowledged.
    pub rate: Option<NonZeroU32>,
    /// Start of a collector.
    pub program: Program,
    /// Folder for its files; `None`: a temporary folder, which goes with the run.
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LoadResult {
    /// Suite of the reports; `oms-d` of telegrams.
    pub suite: &'static str,
    pub meters: MeterId,
    /// Seconds that count.
    pub seconds: f64,
    /// Reports that were acknowledged in these.
    pub acknowledged: u64,
    /// Readings acknowledged a second.
    pub readings_per_s: f64,
    /// Time from a report's first packet to its acknowledgement: the median, in ms.
    pub latency_p50_ms: f64,
    /// 99 of 100 are below that, in ms.
    pub latency_p99_ms: f64,
    /// Reports that were sent again, in the whole run.
    pub resent: u64,
    /// Processor time of the collector a second, over these seconds.
    pub collector_cpu: f64,
    /// Most memory that it had, in bytes.
    pub collector_memory_bytes: u64,
    /// Rate of the bare library a second, on all cores, in the same run; `None` where the suite has
    /// no cryptography.
    pub bare_per_s: Option<f64>,
    /// Readings a second by that.
    pub ratio: Option<f64>,
    /// Rows that are in the database, all of which were compared.
    pub stored: u64,
}

/// Meters that keep a collector busy without waiting longer than a real one would.
#[must_use]
pub fn meters_for(suite: Suite) -> MeterId {
    match suite {
        suite if suite.has_curve() => 500,
        _ => 2000,
    }
}

/// Reports a second that are sealed beforehand; more are sealed when they are needed.
fn sealed_beforehand(suite: Suite) -> u64 {
    match suite {
        Suite::Ecies => 8_000,
        Suite::EciesEcdsa => 6_000,
        _ => 40_000,
    }
}

/// A folder for a collector's files.
pub(crate) enum WorkFolder {
    Chosen(PathBuf),
    Temporary(tempfile::TempDir),
}

impl WorkFolder {
    pub(crate) fn new(given: Option<PathBuf>) -> Result<WorkFolder, LoadError> {
        Ok(match given {
            Some(path) => {
                std::fs::create_dir_all(&path)
                    .map_err(LoadError::io(format!("folder {}", path.display())))?;
                WorkFolder::Chosen(path)
            }
            None => WorkFolder::Temporary(tempfile::tempdir().map_err(LoadError::io("a temporary folder"))?),
        })
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        match self {
            WorkFolder::Chosen(path) => path,
            WorkFolder::Temporary(folder) => folder.path(),
        }
    }
}

/// Loads a collector, and reads its database afterwards. say: what is being done, for a person.
///
/// # Errors
/// [`LoadError`]: of those [`LoadError::Wrong`] where what was acknowledged is not what is stored.
pub fn run(options: &Options, say: &dyn Fn(&str)) -> Result<LoadResult, LoadError> {
    let suite = options.suite;
    let count = if options.meters == 0 { meters_for(suite) } else { options.meters };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    say("the bare library ..");
    let bare_per_s = bare_rate(suite, cores, Duration::from_secs(2));
    let place = WorkFolder::new(options.folder.clone())?;
    say(&format!("{count} meters, their reports sealed beforehand .."));
    let mut fleet = Fleet::make(place.path(), suite, count)?;
    let beforehand = sealed_beforehand(suite) * (options.seconds + 1) / u64::from(count) + 1;
    fleet.seal(beforehand as usize, cores);
    let address = drive::free_address()?;
    let mut child = Child::start(&options.program, place.path(), address)?;
    let mut drive = Drive::new(fleet, address)?;
    say("waiting for the collector ..");
    drive.until_heard(&mut child, Duration::from_secs(60))?;
    if let Some(rate) = options.rate {
        drive.set_rate(rate);
    }
    say(&format!("{} s of load ..", options.seconds));
    drive.run(Duration::from_secs(1), &mut child)?;
    drive.forget();
    let (before, start) = (child.usage()?, Instant::now());
    drive.run(Duration::from_secs(options.seconds), &mut child)?;
    let (after, seconds) = (child.usage()?, start.elapsed().as_secs_f64());
    let (acknowledged, latency) = (drive.acknowledged(), drive.latency());
    child.stop()?;
    say("comparing what was acknowledged with the database ..");
    let checked = check(&child.database(), drive.fleet())?;
    let readings_per_s = acknowledged as f64 / seconds;
    Ok(LoadResult {
        suite: suite.name(),
        meters: count,
        seconds,
        acknowledged,
        readings_per_s,
        latency_p50_ms: latency.p50_ms,
        latency_p99_ms: latency.p99_ms,
        resent: drive.resent(),
        collector_cpu: (after.cpu_s - before.cpu_s) / seconds,
        collector_memory_bytes: after.most_memory_bytes,
        bare_per_s,
        ratio: bare_per_s.map(|bare| readings_per_s / bare),
        stored: checked.rows,
    })
}
