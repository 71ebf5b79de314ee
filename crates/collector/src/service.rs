//! The service: all its parts, started and stopped together.

mod registry_changes;
mod sessions;

pub(crate) use sessions::Sessions;

use crate::gateway::HeardPacket;
use crate::gateway::udp::UdpGateway;
use crate::meters::MetersHandle;
use crate::network::{NetworkId, OfNetwork};
use crate::partition::Slices;
use crate::registry::{KeyRing, KeyStore, RegistryError};
use crate::session::End;
use crate::store::{DatabaseUrl, Options, Reader, StoreError};
use crate::writer::{WriteError, WriterHandle};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch as signal};
use wire::meter::Policy;

/// Networks that one service has at most: each has a thread of its own, and verifiers.
pub const NETWORKS_MAX: usize = 64;

/// The configuration of a service.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database; a file is made where there is none.
    pub db: DatabaseUrl,
    /// The database's options: zone, retention.
    pub store: Options,
    /// The folder of the keys; made where there is none.
    pub keys: PathBuf,
    /// The KEKs of the keys in the database; `None`: they are in the folder.
    pub keks: Option<KeyRing>,
    /// The addresses that UDP gateways send to; port 0 takes a free one.
    pub udp: Vec<OfNetwork<SocketAddr>>,
    /// Networks that are heard by other gateways than those of `udp`.
    pub networks: BTreeSet<NetworkId>,
    /// Threads that open what takes curves, for each network; 0: one a core.
    pub verifiers: usize,
    /// The behaviour towards meters; [`Policy::require_sealed`] comes from the next field.
    pub policy: Policy,
    /// Refuses all that is not sealed; `None`: as soon as a meter of the network was provisioned to
    /// seal.
    pub require_sealed: Option<bool>,
    /// The concentrator's queue: packets of meters that are not known in network 0.
    pub unknown_meters: Option<mpsc::Sender<HeardPacket>>,
}

impl Config {
    /// With these files, no gateway, and all else as it is without options.
    #[must_use]
    pub fn new(db: impl Into<DatabaseUrl>, keys: impl Into<PathBuf>) -> Config {
        Config {
            db: db.into(),
            store: Options::default(),
            keys: keys.into(),
            keks: None,
            udp: Vec::new(),
            networks: BTreeSet::new(),
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
        "{keys} has keys of none of the {meters} meters{of} that are in {db}: {or}, or, to begin anew, another --db"
    )]
    OtherKeys {
        keys: String,
        db: DatabaseUrl,
        /// Meters in it that are not revoked.
        meters: usize,
        /// ` of network 7`; empty for network 0.
        of: String,
        /// The remedy.
        or: &'static str,
    },
    /// More networks than threads are to be for.
    #[error(
        "there are {0} networks, and one service takes {NETWORKS_MAX}: start several, each with --db, --keys and gateways of its own"
    )]
    TooManyNetworks(usize),
    /// A session's beginning cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
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
    handle: MetersHandle,
    writer: WriterHandle,
    reader: Reader,
    udp: Vec<UdpGateway>,
    new_networks: tokio::task::JoinHandle<()>,
    sessions: Sessions,
    ended: signal::Receiver<bool>,
}

impl Running {
    /// Starts a service. It needs a tokio runtime around it, whose threads serve the network.
    ///
    /// # Errors
    /// [`ServiceError`]; then nothing was changed but what was made new.
    pub async fn start(config: Config) -> Result<Running, ServiceError> {
        let (db, udp) = (config.db.clone(), config.udp.clone());
        let runtime = Handle::current();
        let (end, ended) = signal::channel(false);
        let end = Arc::new(end);
        let begun = tokio::task::spawn_blocking(move || begin(config, runtime, &end)).await;
        let (sessions, meters) = begun.map_err(|_| ServiceError::Ended("beginning"))??;
        let (handle, keys) = (sessions.handle().clone(), sessions.keys().clone());
        tracing::info!(db = %db, %keys, meters, "the collector starts");
        let new_networks = tokio::spawn(registry_changes::discover_networks(keys, handle.networks()));
        let (writer, reader) = (sessions.writer(), sessions.reader().clone());
        let mut running = Running { handle, writer, reader, udp: Vec::new(), new_networks, sessions, ended };
        for OfNetwork { network, what: address } in udp {
            let handle = running.handle.clone();
            let hear = move |packet| {
                handle.hear_in(network, packet);
            };
            match UdpGateway::start(address, running.handle.gateways(), hear) {
                Ok(gateway) => {
                    tracing::info!(address = %gateway.address(), network = network.named(), "UDP gateway");
                    running.udp.push(gateway);
                }
                Err(error) => {
                    running.stop().await?;
                    return Err(ServiceError::Udp { address, error });
                }
            }
        }
        Ok(running)
    }

    #[must_use]
    pub fn meters(&self) -> &MetersHandle {
        &self.handle
    }

    /// The keys of all meters.
    #[must_use]
    pub fn keys(&self) -> &KeyStore {
        self.sessions.keys()
    }

    /// Writes to the store, beside the session.
    #[must_use]
    pub fn writer(&self) -> &WriterHandle {
        &self.writer
    }

    /// Reads what is stored. Its calls block.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns the addresses of the UDP gateways, in the order of [`Config::udp`].
    #[must_use]
    pub fn udp(&self) -> Vec<SocketAddr> {
        self.udp.iter().map(UdpGateway::address).collect()
    }

    /// Waits until a part of it has ended in a way that it never should: then nothing is taken any
    /// more, and it is to be stopped.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        // A dropped sender is an end, too.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Takes no more packets, stores and acknowledges what was heard, and closes all.
    ///
    /// # Errors
    /// [`ServiceError::Ended`] where a part had ended before.
    pub async fn stop(self) -> Result<(), ServiceError> {
        let Running { udp, new_networks, sessions, .. } = self;
        for gateway in &udp {
            gateway.stop();
        }
        new_networks.abort();
        let stopped = tokio::task::spawn_blocking(move || sessions.stop());
        stopped.await.map_err(|_| ServiceError::Ended("service"))??;
        tracing::info!("the collector has stopped; all that it acknowledged is stored");
        Ok(())
    }
}

/// Begins the sessions of all networks. Returns how many meters they have.
fn begin(
    config: Config,
    runtime: Handle,
    end: &Arc<signal::Sender<bool>>,
) -> Result<(Sessions, usize), ServiceError> {
    let wanted = [NetworkId::DEFAULT].into_iter().chain(config.networks.iter().copied());
    let mut networks: BTreeSet<NetworkId> = wanted.chain(config.udp.iter().map(|udp| udp.network)).collect();
    let sessions = Sessions::open(config, Slices::ONE, None, runtime)?;
    let begin = || {
        networks.extend(sessions.networks()?);
        if networks.len() > NETWORKS_MAX {
            return Err(ServiceError::TooManyNetworks(networks.len()));
        }
        // Networks that are in the database, and have no folder of keys any more.
        sessions.belong(&networks)?;
        let mut meters = 0;
        for network in networks {
            meters += sessions.begin(network.into(), None, Some(End::told_to(end)))?;
        }
        Ok(meters)
    };
    match begin() {
        Ok(meters) => Ok((sessions, meters)),
        Err(error) => {
            sessions.stop()?;
            Err(error)
        }
    }
}
