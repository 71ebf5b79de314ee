//! The service: all its parts, started and stopped together.

mod registry_changes;

use crate::gateway::HeardPacket;
use crate::gateway::udp::UdpGateway;
use crate::link::{self, Beginning, End, LinkHandle, Parts};
use crate::network::{NetworkId, OfNetwork};
use crate::registry::{self, Issued, MeterFile, Registry, RegistryError, RegistryPoller};
use crate::store::{KeptMeter, Options, Place, Reader, Store, StoreError};
use crate::writer::{Jobs, WriterHandle};
use crossbeam_channel::unbounded;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, watch as signal};
use wire::meter::{MeterId, Policy, Suite};

/// Networks that one service has at most: each has a thread of its own, and verifiers.
pub const MOST_NETWORKS: usize = 64;

/// What a service is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database; a file is made where there is none.
    pub db: Place,
    /// How the database behaves: zone, how long readings stay.
    pub store: Options,
    /// The folder of the keys; made where there is none.
    pub keys: PathBuf,
    /// Where UDP gateways send to; port 0 takes one that is free.
    pub udp: Vec<OfNetwork<SocketAddr>>,
    /// Networks that are heard by other gateways than those of `udp`.
    pub networks: BTreeSet<NetworkId>,
    /// Threads that open what takes curves, for each network; 0: one a core.
    pub verifiers: usize,
    /// How it behaves towards meters; [`Policy::require_sealed`] by what is next.
    pub policy: Policy,
    /// Whether nothing is taken that is not sealed; `None`: as soon as a meter of the network was provisioned to seal.
    pub require_sealed: Option<bool>,
    /// Where packets of meters go that are not known in network 0: the concentrator.
    pub unknown_meters: Option<mpsc::Sender<HeardPacket>>,
}

impl Config {
    /// With these files, no gateway, and all else as it is without options.
    #[must_use]
    pub fn new(db: impl Into<Place>, keys: impl Into<PathBuf>) -> Config {
        Config {
            db: db.into(),
            store: Options::default(),
            keys: keys.into(),
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
        "{keys} has keys of none of the {meters} meters{of} that are in {db}: give the folder that belongs to it with --keys, or, to \
         begin anew, another --db"
    )]
    OtherKeys {
        keys: PathBuf,
        db: Place,
        /// Meters in it that are not revoked.
        meters: usize,
        /// ` of network 7`; empty for network 0.
        of: String,
    },
    /// More networks than threads are to be for.
    #[error(
        "there are {0} networks, and one service takes {MOST_NETWORKS}: start several, each with --db, --keys and gateways of its own"
    )]
    TooManyNetworks(usize),
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
    registry: Vec<tokio::task::JoinHandle<()>>,
    jobs: Arc<Jobs<link::Submitted>>,
    threads: Threads,
    ended: signal::Receiver<bool>,
}

/// The threads that are waited for at the end.
struct Threads {
    links: Vec<JoinHandle<()>>,
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
        let Opened { store, reader, networks, issued } = opened;
        let meters: usize = networks.values().map(|network| network.meters).sum();
        tracing::info!(db = %db, keys = %keys.display(), meters, "the collector starts");
        let (link, mut inputs) = LinkHandle::new(networks.keys().copied());
        let (done_out, mut done): (BTreeMap<_, _>, BTreeMap<_, _>) = networks
            .keys()
            .map(|network| {
                let (out, done) = unbounded();
                ((*network, out), (*network, done))
            })
            .unzip();
        let told = move |network, done| {
            if let Some(out) = done_out.get(&network) {
                // The link may have ended: then nobody is to be told.
                drop(out.send(done));
            }
        };
        let (jobs, store) = Jobs::start(store, issued, told).map_err(ServiceError::Thread)?;
        let jobs = Arc::new(jobs);
        let verifiers = link::verifiers(config.verifiers);
        let (end, ended) = signal::channel(false);
        let end = Arc::new(end);
        let mut threads = Threads { links: Vec::new(), store };
        let mut registry = Vec::new();
        for (network, Network { beginning, poller, .. }) in networks {
            // Each network has one of both.
            let (Some(inputs), Some(done)) = (inputs.remove(&network), done.remove(&network)) else {
                continue;
            };
            let parts = Parts {
                jobs: jobs.clone(),
                done,
                verifiers,
                seal_by_itself: config.require_sealed.is_none(),
                unknown_meters: config.unknown_meters.clone().filter(|_| network.is_default()),
            };
            let thread = link::start(beginning, parts, &link, inputs, End::told_to(&end));
            threads.links.push(thread.map_err(ServiceError::Thread)?);
            registry.push(tokio::spawn(registry_changes::follow(poller, link.clone())));
        }
        let known = link.networks().collect();
        registry.push(tokio::spawn(registry_changes::look_for_networks(config.keys.clone(), known)));
        let mut running =
            Running { writer: jobs.handle(), link, reader, udp: Vec::new(), registry, jobs, threads, ended };
        for OfNetwork { network, what: address } in config.udp {
            let link = running.link.clone();
            let hear = move |packet| {
                link.hear_in(network, packet);
            };
            match UdpGateway::start(address, running.link.gateways(), hear) {
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
        for following in registry {
            following.abort();
        }
        let stopped = tokio::task::spawn_blocking(move || {
            link.stop();
            // All of them, also where one had ended before.
            let links: Vec<_> = threads.links.into_iter().map(JoinHandle::join).collect();
            let links = links.into_iter().collect::<Result<(), _>>().map_err(|_| ServiceError::Ended("link"));
            jobs.stop();
            threads.store.join().map_err(|_| ServiceError::Ended("store")).and(links)
        });
        stopped.await.map_err(|_| ServiceError::Ended("service"))??;
        tracing::info!("the collector has stopped; all that it acknowledged is stored");
        Ok(())
    }
}

/// What is on the disk.
struct Opened {
    store: Store,
    reader: Reader,
    networks: BTreeMap<NetworkId, Network>,
    issued: BTreeMap<NetworkId, Issued>,
}

/// A network's part of it.
struct Network {
    beginning: Beginning,
    poller: RegistryPoller,
    /// Meters of its register.
    meters: usize,
}

fn open(config: &Config) -> Result<Opened, ServiceError> {
    let store = Store::open(&config.db, &config.store)?;
    let reader = store.reader();
    let mut kept: BTreeMap<NetworkId, BTreeMap<MeterId, KeptMeter>> = BTreeMap::new();
    for meter in reader.kept_meters()? {
        kept.entry(meter.meter.network).or_default().insert(meter.meter.meter, meter);
    }
    let wanted = [NetworkId::DEFAULT].into_iter().chain(config.networks.iter().copied());
    let mut networks: BTreeSet<NetworkId> = wanted.chain(config.udp.iter().map(|udp| udp.network)).collect();
    networks.extend(registry::networks(&config.keys)?);
    if networks.len() > MOST_NETWORKS {
        return Err(ServiceError::TooManyNetworks(networks.len()));
    }
    // What is in the database, and has no folder of keys any more.
    for (network, kept) in kept.iter().filter(|(network, _)| !networks.contains(network)) {
        belongs(config, *network, kept, |_| false, |_| false)?;
    }
    let mut opened = Opened { store, reader, networks: BTreeMap::new(), issued: BTreeMap::new() };
    for network in networks {
        let kept = kept.remove(&network).unwrap_or_default();
        let registry = Registry::open_network(&config.keys, network)?;
        let issued = registry.issued()?;
        let of = begin(config, (&mut opened.store, &opened.reader), &registry, kept, &issued)?;
        opened.networks.insert(network, of);
        opened.issued.insert(network, issued);
    }
    Ok(opened)
}

fn begin(
    config: &Config,
    (store, reader): (&mut Store, &Reader),
    registry: &Registry,
    kept: BTreeMap<MeterId, KeptMeter>,
    issued: &Issued,
) -> Result<Network, ServiceError> {
    let network = registry.network();
    let files = registry.load()?;
    // The last meter's revocation is in the folder.
    let revoked = registry.revoked()?;
    belongs(config, network, &kept, |meter| files.contains_key(meter), |meter| revoked.contains_key(meter))?;
    let records = files.iter().map(|(meter, file)| (*meter, (file.epoch, file.record.clone()))).collect();
    let seals = |file: &MeterFile| file.record.setup.suite != Suite::None;
    let require_sealed = config.require_sealed.unwrap_or_else(|| files.values().any(seals));
    let policy = Policy { require_sealed, ..config.policy };
    if require_sealed {
        for meter in files.iter().filter(|(_, file)| !seals(file)).map(|(meter, _)| meter) {
            tracing::warn!(
                meter,
                network = network.named(),
                "it was provisioned to seal nothing, and is not heard before it was told to: start with --require-sealed=false to hear it"
            );
        }
    }
    let identity = registry.identity().clone();
    let beginning = Beginning::new((store, reader), network, identity, policy, kept, records, issued)?;
    Ok(Network { beginning, poller: registry.poller(&files), meters: files.len() })
}

/// Looks whether a folder of keys is that of a network's meters in the database: one that is not there, or another's, must not revoke
/// all of them.
fn belongs(
    config: &Config,
    network: NetworkId,
    kept: &BTreeMap<MeterId, KeptMeter>,
    has_keys: impl Fn(&MeterId) -> bool,
    was_revoked: impl Fn(&MeterId) -> bool,
) -> Result<(), ServiceError> {
    let known: Vec<&MeterId> =
        kept.iter().filter(|(_, kept)| kept.revoked_ms.is_none()).map(|(meter, _)| meter).collect();
    if known.is_empty()
        || known.iter().any(|meter| has_keys(meter))
        || known.iter().all(|meter| was_revoked(meter))
    {
        return Ok(());
    }
    let (keys, db) = (registry::folder_of(&config.keys, network), config.db.clone());
    let of = network.named().map_or_else(String::new, |network| format!(" of network {network}"));
    Err(ServiceError::OtherKeys { keys, db, meters: known.len(), of })
}
