//! `wattseal collect`: the service with its gateways, its API and what it publishes, from the first
//! start to a graceful stop.

use crate::api::{self, Bound, Costs, Listen, ListenError, Rates};
use crate::forward::{ForwardCounts, Forwarder, PACKETS_MAX};
use crate::gateway::serial::{SerialGateway, SerialLine};
use crate::mbus::{Intake, IntakeError, TelegramIntake, TelegramSource};
use crate::network::{NetworkId, OfNetwork};
use crate::one_time_link::{OneTimeLink, OneTimeLinkError};
use crate::publish::{Broker, Publisher, read_meters};
use crate::service::{Config, Running, ServiceError};
use crate::store::{Reader, StoreError, has_administrator};
use sd_notify::NotifyState;
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// The configuration of `wattseal collect`.
#[derive(Clone, Debug)]
pub struct Daemon {
    /// The service: files, UDP gateways, how it behaves.
    pub service: Config,
    /// The address of the API and the dashboard.
    pub listen: Listen,
    /// Serial gateways.
    pub serial: Vec<OfNetwork<SerialLine>>,
    /// `HOST:PORT` of the collector that other collectors' meters are forwarded to.
    pub forward: Option<String>,
    /// The telegrams of other makers' meters.
    pub telegrams: Vec<TelegramSource>,
    /// Takes telegrams of all registered meters that nothing authenticates.
    pub unauthenticated: bool,
    /// The broker to publish to.
    pub mqtt: Option<Broker>,
}

/// Why it does not start, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The link to the first token.
    #[error(transparent)]
    OneTimeLink(#[from] OneTimeLinkError),
    /// The telegrams of other makers' meters.
    #[error(transparent)]
    Telegrams(#[from] IntakeError),
    /// The API, while it ran.
    #[error("the API cannot be served any more: {0}; start the service again")]
    Served(std::io::Error),
    #[error("the system gives no threads: {0}; stop other programs, or raise the limit")]
    Runtime(std::io::Error),
}

impl DaemonError {
    /// Says if the request was impossible (exit code 2), and did not just fail (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            DaemonError::Listen(ListenError::WithoutTls(_) | ListenError::WithoutToken(_))
                | DaemonError::Service(ServiceError::OtherKeys { .. } | ServiceError::TooManyNetworks(_))
        )
    }
}

/// The addresses and links of a running service.
#[derive(Clone, Debug)]
pub struct Started {
    /// The dashboard's address, for a browser.
    pub url: String,
    /// The link for the first administrator's token, while there is none.
    pub one_time_link: Option<Arc<OneTimeLink>>,
    /// The addresses of the UDP gateways.
    pub udp: Vec<OfNetwork<SocketAddr>>,
    /// The addresses that take telegrams.
    pub telegrams: Vec<SocketAddr>,
}

impl Daemon {
    /// Runs until the process is told to stop by SIGINT or SIGTERM. ready: is called once all of it
    /// runs.
    ///
    /// # Errors
    /// [`DaemonError`]. Acknowledged readings are stored whatever happens.
    pub fn run(self, ready: impl FnOnce(&Started)) -> Result<(), DaemonError> {
        runtime().map_err(DaemonError::Runtime)?.block_on(async {
            let stop = signals().map_err(DaemonError::Runtime)?;
            self.serve(ready, stop).await
        })
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// As [`Daemon::run`].
    pub async fn serve(
        mut self,
        ready: impl FnOnce(&Started),
        stop: impl Future<Output = ()>,
    ) -> Result<(), DaemonError> {
        // Before anything is made or changed: this is what most first starts fail for.
        let bound = self.listen.bind(self.has_administrator()?)?;
        let unknown_meters = self.forward.as_ref().map(|_| mpsc::channel(PACKETS_MAX));
        let unknown_meters = unknown_meters.map(|(give, take)| {
            self.service.unknown_meters = Some(give);
            take
        });
        if self.serial.is_empty() && self.service.udp.is_empty() && self.telegrams.is_empty() {
            tracing::warn!("no gateway: nothing can be heard; give --serial DEVICE or --udp ADDRESS");
        }
        self.service.networks.extend(self.serial.iter().map(|line| line.network));
        let udp: Vec<NetworkId> = self.service.udp.iter().map(|udp| udp.network).collect();
        let beside = self.service.db.beside(&self.service.keys).to_owned();
        let client = format!("wattseal-{}", self.service.keys_name());
        let intake = Intake {
            sources: self.telegrams,
            unauthenticated: self.unauthenticated,
            zone: self.service.store.zone.clone(),
        };
        let running = Running::start(self.service).await?;
        let meters = running.meters().clone();
        let serial: Vec<SerialGateway> = self
            .serial
            .into_iter()
            .map(|OfNetwork { network, what: line }| {
                let meters = meters.clone();
                SerialGateway::start(line, running.meters().gateways(), move |packet| {
                    meters.hear_in(network, packet);
                })
            })
            .collect();
        let forwarder = match (self.forward, unknown_meters) {
            (Some(upstream), Some(unknown_meters)) => {
                let outbox = ask(running.reader(), Reader::outbox).await?;
                let gateways = meters.gateways().clone();
                Some(Forwarder::start(upstream, unknown_meters, gateways, running.writer().clone(), outbox))
            }
            _ => None,
        };
        let publisher = self.mqtt.map(|broker| {
            Publisher::start(broker, client, meters.events(), read_meters(running.reader().clone()))
        });
        let telegrams = start_intake(intake, &running).await?;
        let tokens = ask(running.reader(), Reader::tokens).await?;
        let one_time_link = OneTimeLink::where_needed(&beside, &bound.url(), &tokens)?.map(Arc::new);
        let udp = udp.into_iter().zip(running.udp()).map(|(network, what)| OfNetwork { network, what });
        let hears = telegrams.as_ref().map_or(Vec::new(), |telegrams| telegrams.udp().to_vec());
        let started = Started { url: bound.url(), one_time_link, udp: udp.collect(), telegrams: hears };
        let forward = forwarder.as_ref().map(|forwarder| forwarder.counts().clone());
        let result = until_stopped(&running, forward, bound, &started, ready, stop).await;

        let _ = sd_notify::notify(false, &[NotifyState::Stopping]);
        drop((serial, forwarder));
        if let Some(telegrams) = telegrams {
            telegrams.stop().await;
        }
        if let Some(publisher) = publisher {
            publisher.stop().await;
        }
        running.stop().await?;
        result
    }

    fn has_administrator(&self) -> Result<bool, StoreError> {
        // A database that is not as it should be is looked at by who opens it to write.
        match Reader::open_if_any(&self.service.db) {
            Ok(Some(reader)) => Ok(has_administrator(&reader.tokens()?)),
            Ok(None) => Ok(false),
            Err(StoreError::Older { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Hears telegrams, if there are sources of them.
async fn start_intake(intake: Intake, running: &Running) -> Result<Option<TelegramIntake>, IntakeError> {
    if intake.sources.is_empty() {
        return Ok(None);
    }
    let (keys, reader) = (running.keys().clone(), running.reader().clone());
    let meters = running.meters().clone();
    let tell_observers = Box::new(move |event| meters.publish(event));
    TelegramIntake::start(intake, keys, reader, running.writer().clone(), tell_observers).await.map(Some)
}

/// Serves, until it is told to stop or a part of it has ended.
async fn until_stopped(
    running: &Running,
    forward: Option<Arc<ForwardCounts>>,
    bound: Bound,
    started: &Started,
    ready: impl FnOnce(&Started),
    stop: impl Future<Output = ()>,
) -> Result<(), DaemonError> {
    let parts = api::Parts {
        reader: running.reader().clone(),
        writer: running.writer().clone(),
        meters: running.meters().clone(),
        forward,
        costs: Costs::default(),
        one_time_link: started.one_time_link.clone(),
        rates: Rates::default(),
    };
    let (shut, mut shutting) = watch::channel(false);
    let serving = tokio::spawn(api::serve(bound, parts, async move {
        // A dropped sender is an end, too.
        let _ = shutting.wait_for(|shut| *shut).await;
    }));
    tokio::pin!(serving);
    // systemd may not be there.
    let _ = sd_notify::notify(false, &[NotifyState::Ready]);
    ready(started);
    let ended = tokio::select! {
        () = stop => None,
        () = running.ended() => None,
        served = &mut serving => Some(served),
    };
    shut.send_replace(true);
    let served = match ended {
        Some(served) => served,
        None => serving.await,
    };
    served.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(DaemonError::Served)
}

/// Asks the store on a thread that may wait.
async fn ask<T: Send + 'static>(
    reader: &Reader,
    question: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, DaemonError> {
    let reader = reader.clone();
    let asked = tokio::task::spawn_blocking(move || question(&reader)).await;
    Ok(asked.map_err(|_| ServiceError::Ended("beginning"))??)
}

/// Makes the runtime of all roles.
///
/// # Errors
/// The system gives no threads.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("collector").build()
}

/// Comes to its end with the first SIGINT or SIGTERM. Needs a tokio runtime around it.
///
/// # Errors
/// The system does not tell of them.
pub fn signals() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping");
    })
}

impl Config {
    /// Returns the name that tells this collector's folder of keys from others on this machine.
    fn keys_name(&self) -> String {
        use sha2::{Digest, Sha256};
        let path = std::path::absolute(&self.keys).unwrap_or_else(|_| Path::new(&self.keys).to_owned());
        let host = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
        let digest =
            Sha256::new().chain_update(host).chain_update(path.as_os_str().as_encoded_bytes()).finalize();
        digest[..6].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
