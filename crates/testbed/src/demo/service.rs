//! The collector's service of a demonstration: keys and database in a folder of their own, the
//! dashboard on loopback.

use crate::demo::report::CostRow;
use collector::api::{self, Cost, Costs, Listen, ListenError, Rates};
use collector::meters::MetersHandle;
use collector::network::NetworkId;
use collector::one_time_link::{OneTimeLink, OneTimeLinkError};
use collector::registry::{MeterFile, Registry, RegistryError};
use collector::service::{Config, Running, ServiceError};
use collector::store::Write;
use collector::writer::WriteError;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{NamedTempFile, TempDir};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wire::meter::{MeterRecord, PublicKey, Suite};
use zeroize::Zeroizing;

/// Default port of the dashboard.
const PORT: u16 = 8080;
/// Number of the service's threads for the network.
const THREADS: usize = 2;
/// Conditions of a cost's measurement, for its reader.
const SOURCE: &str = "measured in this demonstration, losses and this machine's delays included: \
                      ATmega328P at 16 MHz and 3.3 V, RFM12B, on their models";

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum ServedError {
    /// Files.
    #[error("{path}: {error}; check the path and the room on its disk")]
    File {
        /// File or folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// There is something in the folder already.
    #[error("{0} is not empty; give --keep a folder that is not there yet")]
    NotEmpty(PathBuf),
    /// The network's threads.
    #[error("the system gives no thread: {0}; stop other programs, or raise the limit")]
    Threads(std::io::Error),
    /// The keys.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The service.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The dashboard's address.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The link that signs in.
    #[error(transparent)]
    OneTimeLink(#[from] OneTimeLinkError),
    /// Error of the names of meters.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The dashboard has ended.
    #[error("the dashboard has ended: {0}")]
    Dashboard(std::io::Error),
}

impl ServedError {
    /// Returns true if the request is impossible (exit code 2), false if something went wrong (exit
    /// code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, ServedError::NotEmpty(_) | ServedError::Listen(_))
    }
}

/// Keys of a collector that does not run yet.
pub struct Keys {
    folder: Folder,
    registry: Registry,
}

/// Folder of the files.
enum Folder {
    Kept(PathBuf),
    Passing(TempDir),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Folder::Kept(path) => path,
            Folder::Passing(folder) => folder.path(),
        }
    }
}

/// A collector's service with its dashboard.
pub struct Served {
    // In this order they end, where something goes wrong.
    stop: oneshot::Sender<()>,
    dashboard: JoinHandle<std::io::Result<()>>,
    running: Running,
    costs: Costs,
    dashboard_url: String,
    runtime: Runtime,
    _folder: Folder,
}

impl Keys {
    /// Makes them, in `keep`, or in a folder that goes at the end.
    ///
    /// # Errors
    /// [`ServedError::NotEmpty`], [`ServedError::File`], [`ServedError::Registry`].
    pub fn new(keep: Option<&Path>) -> Result<Keys, ServedError> {
        let folder = match keep {
            Some(path) => {
                let failed = |error| ServedError::File { path: path.into(), error };
                std::fs::create_dir_all(path).map_err(failed)?;
                if std::fs::read_dir(path).map_err(failed)?.next().is_some() {
                    return Err(ServedError::NotEmpty(path.into()));
                }
                Folder::Kept(path.into())
            }
            None => {
                let made = tempfile::Builder::new().prefix("wattseal-demo-").tempdir();
                let path = std::env::temp_dir();
                Folder::Passing(made.map_err(|error| ServedError::File { path, error })?)
            }
        };
        let registry = Registry::open(&folder.path().join("wattseal.keys"))?;
        Ok(Keys { folder, registry })
    }

    /// The collector's public key, for its meters.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        self.registry.identity().public()
    }

    /// Registers these meters, each with what it is called, and starts the service.
    ///
    /// listen: where the dashboard is; without it port 8080 on loopback, or where that is taken,
    /// one that is free.
    ///
    /// # Errors
    /// [`ServedError`].
    pub fn serve(
        self,
        meters: Vec<(MeterRecord, &'static str)>,
        listen: Option<SocketAddr>,
    ) -> Result<Served, ServedError> {
        let Keys { folder, registry } = self;
        let loopback =
            |port| Listen { address: (Ipv4Addr::LOCALHOST, port).into(), tls: None, proxies: Vec::new() };
        let bound = match listen {
            Some(address) => Listen { address, tls: None, proxies: Vec::new() }.bind(false)?,
            None => loopback(PORT).bind(false).or_else(|_| loopback(0).bind(false))?,
        };
        let mut labels = Vec::new();
        for (record, label) in meters {
            labels.push(Write::Label { meter: record.setup.meter.into(), label: label.to_owned() });
            register(&registry, folder.path(), record)?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(ServedError::Threads)?;
        let db = folder.path().join("wattseal.db");
        let mut config = Config::new(db.clone(), folder.path().join("wattseal.keys"));
        // One of its meters shows what it costs to seal nothing.
        config.require_sealed = Some(false);
        let running = runtime.block_on(Running::start(config))?;
        runtime.block_on(running.writer().write(labels))?;
        // There was no database, and so there is no token.
        let one_time_link = OneTimeLink::where_needed(&db, &bound.url(), &[])?.map(Arc::new);
        let dashboard_url = one_time_link.as_ref().map_or_else(|| bound.url(), |link| link.url().to_owned());
        let costs = Costs::default();
        let parts = api::Parts {
            reader: running.reader().clone(),
            writer: running.writer().clone(),
            meters: running.meters().clone(),
            forward: None,
            costs: costs.clone(),
            one_time_link,
            rates: Rates::default(),
        };
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            // An end without a word is one, too.
            let _ = stopped.await;
        };
        let dashboard = runtime.spawn(api::serve(bound, parts, stopped));
        Ok(Served { stop, dashboard, running, costs, dashboard_url, runtime, _folder: folder })
    }
}

/// Meters are registered as any others: from a file that nobody else may read.
fn register(registry: &Registry, folder: &Path, record: MeterRecord) -> Result<(), ServedError> {
    let failed = |error| ServedError::File { path: folder.into(), error };
    let text = toml::to_string(&MeterFile { network: NetworkId::DEFAULT, epoch: 1, record });
    let text = Zeroizing::new(text.map_err(|error| failed(std::io::Error::other(error)))?);
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    registry.add(file.path())?;
    Ok(())
}

impl Served {
    /// The meters of the service.
    #[must_use]
    pub fn meters(&self) -> &MetersHandle {
        self.running.meters()
    }

    /// Returns the URL of the dashboard that signs in the first time.
    #[must_use]
    pub fn dashboard_url(&self) -> &str {
        &self.dashboard_url
    }

    /// Tells the collector what readings cost; of suites without readings it shows what it has of
    /// itself.
    pub fn tell_costs(&self, rows: &[CostRow]) {
        let mut costs = Costs::default().get();
        for row in rows.iter().filter(|row| row.cost.readings > 0) {
            let suite = Suite::named(row.cost.suite);
            if let Some(cost) = costs.iter_mut().find(|cost| Some(cost.suite) == suite) {
                *cost = Cost {
                    suite: cost.suite,
                    prepare_ms: Some(row.cost.prepare_ms),
                    energy_uj: Some(row.cost.processor_uj + row.cost.radio_uj),
                    air_bytes: Some(row.cost.air_bytes),
                    round_trip_ms: Some(row.cost.round_trip_ms),
                    source: SOURCE.into(),
                };
            }
        }
        self.costs.set(costs);
    }

    /// Stops dashboard and service, and takes the folder away unless it is to be kept.
    ///
    /// # Errors
    /// [`ServedError::Dashboard`], [`ServedError::Service`].
    pub fn stop(self) -> Result<(), ServedError> {
        let Served { stop, dashboard, running, runtime, .. } = self;
        // The dashboard may have ended.
        let _ = stop.send(());
        let ended = runtime.block_on(dashboard);
        runtime.block_on(running.stop())?;
        ended.map_err(std::io::Error::other).and_then(|ended| ended).map_err(ServedError::Dashboard)
    }
}
