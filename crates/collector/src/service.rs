//! The service: all its parts, started and stopped together.

mod registry_changes;

use crate::gateway::HeardPacket;
use crate::gateway::udp::UdpGateway;
use crate::link::{self, Beginning, LinkHandle, Parts};
use crate::registry::{Issued, Registry, RegistryError};
use crate::store::{Options, Reader, Store, StoreError};
use crate::writer::{Jobs, WriterHandle};
use crossbeam_channel::unbounded;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, watch as signal};
use wire::meter::{Policy, Suite};

/// What a service is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database; made where there is none.
    pub db: PathBuf,
    /// How the database behaves: zone, how long readings stay.
    pub store: Options,
    /// The folder of the keys; made where there is none.
    pub keys: PathBuf,
    /// Where UDP gateways send to; port 0 takes one that is free.
    pub udp: Vec<SocketAddr>,
    /// Threads that open what takes curves; 0: one a core.
    pub verifiers: usize,
    /// How it behaves towards meters; [`Policy::require_sealed`] by what is next.
    pub policy: Policy,
    /// Whether nothing is taken that is not sealed; `None`: as soon as a meter was provisioned to seal.
    pub require_sealed: Option<bool>,
    /// Where packets of meters go that are not known here: the concentrator.
    pub unknown_meters: Option<mpsc::Sender<HeardPacket>>,
}

impl Config {
    /// With these files, no gateway, and all else as it is without options.
    #[must_use]
    pub fn new(db: impl Into<PathBuf>, keys: impl Into<PathBuf>) -> Config {
        Config {
            db: db.into(),
            store: Options::default(),
            keys: keys.into(),
            udp: Vec::new(),
            verifiers: 0,
            policy: Policy::default(),
            require_sealed: None,
            unknown_meters: None,
        }
    }
}

/// Why a service does not start, or did not stop as it should.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Keys of other meters than the database's.
    #[error(
        "{keys} has keys of none of the {meters} meters that are in {db}: give the folder that belongs to it with --keys, or, to begin \
         anew, another --db"
    )]
    OtherKeys {
        keys: PathBuf,
        db: PathBuf,
        /// Meters in it that are not revoked.
        meters: usize,
    },
    #[error("the system gives no thread: {0}; stop other programs, or raise the limit")]
    Thread(std::io::Error),
    /// A gateway's socket.
    #[error("UDP gateway {address}: {error}; choose another address with --udp")]
    Udp { address: SocketAddr, error: std::io::Error },
    /// A part of it ended in a way that it never should.
    #[error(
        "the {0} has ended by itself; the log says why. What was acknowledged is stored; start the service again"
    )]
    Ended(&'static str),
}

pub struct Running {
    link: LinkHandle,
    writer: WriterHandle,
    reader: Reader,
    udp: Vec<UdpGateway>,
    registry: tokio::task::JoinHandle<()>,
    jobs: Arc<Jobs<link::Submitted>>,
    threads: Threads,
    ended: signal::Receiver<bool>,
}

/// The threads that are waited for at the end.
struct Threads {
    link: JoinHandle<()>,
    store: JoinHandle<()>,
}

impl Running {
    /// Starts a service. It needs a tokio runtime around it, whose threads serve the network.
    ///
    /// # Errors
    /// [`ServiceError`]; then nothing was changed but what was made new.
    pub async fn start(config: Config) -> Result<Running, ServiceError> {
        let (keys, db) = (config.keys.clone(), config.db.clone());
        let opened = tokio::task::spawn_blocking(move || open(&config).map(|opened| (config, opened)));
        let (config, opened) = opened.await.map_err(|_| ServiceError::Ended("beginning"))??;
        let Opened { registry, issued, store, reader, beginning, files } = opened;
        tracing::info!(db = %db.display(), keys = %keys.display(), meters = files.len(), "the collector starts");
        let (done_out, done) = unbounded();
        // The link may have ended: then nobody is to be told.
        let (jobs, store_thread) = Jobs::start(store, issued, move |done| drop(done_out.send(done)))
            .map_err(ServiceError::Thread)?;
        let jobs = Arc::new(jobs);
        let (link, inputs) = LinkHandle::new();
        let verifiers = link::verifiers(config.verifiers);
        let parts = Parts {
            jobs: jobs.clone(),
            done,
            verifiers,
            seal_by_itself: config.require_sealed.is_none(),
            unknown_meters: config.unknown_meters.clone(),
        };
        let (end, ended) = signal::channel(false);
        let threads = Threads {
            link: link::start(beginning, parts, &link, inputs, end).map_err(ServiceError::Thread)?,
            store: store_thread,
        };
        let registry = tokio::spawn(registry_changes::follow(registry.poller(&files), link.clone()));
        let mut running =
            Running { writer: jobs.handle(), link, reader, udp: Vec::new(), registry, jobs, threads, ended };
        for address in &config.udp {
            let link = running.link.clone();
            let hear = move |packet| {
                link.hear(packet);
            };
            match UdpGateway::start(*address, running.link.gateways(), hear) {
                Ok(gateway) => {
                    tracing::info!(address = %gateway.address(), "UDP gateway");
                    running.udp.push(gateway);
                }
                Err(error) => {
                    running.stop().await?;
                    return Err(ServiceError::Udp { address: *address, error });
                }
            }
        }
        Ok(running)
    }

    #[must_use]
    pub fn link(&self) -> &LinkHandle {
        &self.link
    }

    /// Writes to the store, beside the link.
    #[must_use]
    pub fn writer(&self) -> &WriterHandle {
        &self.writer
    }

    /// Reads what is stored. Its calls block.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Where the UDP gateways listen, in the order of [`Config::udp`].
    #[must_use]
    pub fn udp(&self) -> Vec<SocketAddr> {
        self.udp.iter().map(UdpGateway::address).collect()
    }

    /// Waits until a part of it has ended in a way that it never should: then nothing is taken any more, and it is to be stopped.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        // Who tells of it went without a word: that is an end, too.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Takes no more packets, stores and acknowledges what was heard, and closes all.
    ///
    /// # Errors
    /// [`ServiceError::Ended`] where a part had ended before.
    pub async fn stop(self) -> Result<(), ServiceError> {
        let Running { link, udp, registry, jobs, threads, .. } = self;
        for gateway in &udp {
            gateway.stop();
        }
        registry.abort();
        let stopped = tokio::task::spawn_blocking(move || {
            link.stop();
            let link = threads.link.join().map_err(|_| ServiceError::Ended("link"));
            jobs.stop();
            threads.store.join().map_err(|_| ServiceError::Ended("store")).and(link)
        });
        stopped.await.map_err(|_| ServiceError::Ended("service"))??;
        tracing::info!("the collector has stopped; all that it acknowledged is stored");
        Ok(())
    }
}

/// What is on the disk.
struct Opened {
    registry: Registry,
    issued: Issued,
    store: Store,
    reader: Reader,
    beginning: Beginning,
    files: std::collections::BTreeMap<wire::meter::MeterId, crate::registry::MeterFile>,
}

fn open(config: &Config) -> Result<Opened, ServiceError> {
    let mut store = Store::open(&config.db, &config.store)?;
    let reader = store.reader();
    let registry = Registry::open(&config.keys)?;
    let files = registry.load()?;
    // A folder that is not there, or another's, must not revoke all meters.
    let known: Vec<_> = reader.kept_meters()?.into_iter().filter(|kept| kept.revoked_ms.is_none()).collect();
    if !known.is_empty() && !known.iter().any(|kept| files.contains_key(&kept.meter)) {
        let (keys, db) = (config.keys.clone(), config.db.clone());
        // The last meter's revocation is in the folder.
        let revoked = registry.revoked()?;
        if !known.iter().all(|kept| revoked.contains_key(&kept.meter)) {
            return Err(ServiceError::OtherKeys { keys, db, meters: known.len() });
        }
    }
    let records = files.iter().map(|(meter, file)| (*meter, (file.epoch, file.record.clone()))).collect();
    let issued = registry.issued()?;
    let seals = |file: &crate::registry::MeterFile| file.record.setup.suite != Suite::None;
    let require_sealed = config.require_sealed.unwrap_or_else(|| files.values().any(seals));
    let policy = Policy { require_sealed, ..config.policy };
    if require_sealed {
        for meter in files.iter().filter(|(_, file)| !seals(file)).map(|(meter, _)| meter) {
            tracing::warn!(
                meter,
                "it was provisioned to seal nothing, and is not heard before it was told to: start with --require-sealed=false to hear it"
            );
        }
    }
    let identity = registry.identity().clone();
    let beginning = Beginning::new((&mut store, &reader), identity, policy, records, &issued)?;
    Ok(Opened { registry, issued, store, reader, beginning, files })
}
