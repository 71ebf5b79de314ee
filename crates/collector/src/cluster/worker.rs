//! The role `worker`: takes its share of the partitions, and does for each what `collect` does for
//! a network. It holds nothing that another worker cannot take over.

mod counts;
mod running;

use super::connection::{ClusterError, Connection, Nats};
use super::events::Told;
use super::exchange::Others;
use super::failover::Silence;
use super::health::HealthListen;
use super::http_role::Served;
use super::leases::Buckets;
use super::name::RoleName;
use super::partition_task::Shared;
use super::queue::open_stream;
use super::remote::RemoteGateways;
use super::status::{Part, Status};
use super::user::NatsUser;
use crate::api::Listen;
use crate::partition::Slices;
use crate::registry::RegistryError;
use crate::service::{Config, ServiceError, Sessions};
use crate::store::{DatabaseUrl, StoreError};
use counts::{Counts, figures};
use running::{End, Running};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// Sessions that begin side by side: one waits for the database while another reads what came.
const BEGINNINGS: usize = 3;
/// After JetStream did not answer.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// After another process had the database.
const STORE_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// The configuration of `worker`.
#[derive(Clone, Debug)]
pub struct Worker {
    pub nats: Nats,
    /// Its name in NATS, different from all other workers, and from itself before a restart.
    pub name: RoleName,
    /// The store, the keys, how it behaves; no gateways.
    pub service: Config,
    /// Into how many slices each network is to be cut; `None`: as it is, at first 1.
    pub slices: Option<Slices>,
    /// Says if they may be changed.
    pub change_slices: bool,
    /// On how many servers streams and buckets are that are made.
    pub replicas: usize,
    pub health: Option<HealthListen>,
    /// The address of the dashboard and the API, while it has a store; `None`: nowhere.
    pub listen: Option<Listen>,
}

/// The addresses of a started worker.
#[derive(Clone, Debug)]
pub struct WorkerStarted {
    pub health: Option<SocketAddr>,
}

impl Worker {
    /// Runs until `stop`. Then what it has is stored, acknowledged, and given up. ready: is called
    /// at once; its health says when it works.
    ///
    /// # Errors
    /// [`ClusterError`]: errors that waiting does not mend. Acknowledged readings are stored
    /// whatever happens.
    pub async fn serve(
        self,
        ready: impl FnOnce(&WorkerStarted),
        stop: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let (status, counts) = (Status::default(), Arc::new(Counts::default()));
        let health =
            self.health.map(|health| health.serve("worker", status.clone(), figures(&counts))).transpose()?;
        ready(&WorkerStarted { health });
        status.trouble(Part::Nats, "not connected yet");
        status.trouble(Part::Store, "not opened yet");
        let (nats, name, looked_at) = (self.nats.clone(), self.name.clone(), status.clone());
        let mut wide = None;
        let ended = {
            let stop = async {
                tokio::select! {
                    () = stop => {}
                    error = nats.refuse_wide_user(&NatsUser::Worker, &name, &looked_at) => wide = Some(error),
                }
            };
            self.serve_until(pin!(stop), &status, &counts).await
        };
        wide.map_or(ended, Err)
    }

    async fn serve_until(
        &self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        status: &Status,
        counts: &Arc<Counts>,
    ) -> Result<(), ClusterError> {
        let connection = tokio::select! {
            connected = self.nats.connect(&self.name, status) => connected?,
            () = &mut stop => return Ok(()),
        };
        // The command line's slices count once: they may be changed later.
        let mut slices = (self.slices, self.change_slices);
        loop {
            let prepared = tokio::select! {
                prepared = self.prepare(&connection, slices, status, counts) => prepared?,
                () = &mut stop => return Ok(()),
            };
            match self.serve_prepared(prepared, status, counts, stop.as_mut()).await? {
                End::Stopped => return Ok(()),
                End::Slices(there) => {
                    status.trouble(
                        Part::Partitions,
                        format!(
                            "the cluster's networks have {there} slices now: all partitions are taken anew"
                        ),
                    );
                    slices = (None, false);
                }
            }
        }
    }

    /// Serves until `stop`, or until it has to prepare itself anew.
    async fn serve_prepared(
        &self,
        (shared, buckets): (Shared, Buckets),
        status: &Status,
        counts: &Arc<Counts>,
        stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<End, ClusterError> {
        let api = match &self.listen {
            Some(listen) => Some(loop {
                let parts =
                    shared.sessions(|sessions| Ok((sessions.reader().clone(), sessions.writer()))).await?;
                let hears = (&shared.connection, &self.name, &counts.events);
                match Served::start(listen, parts, shared.meters.clone(), hears).await {
                    Err(ClusterError::Service(error)) if is_waited_for(&error) => {
                        status.trouble(Part::Store, format!("{error}. Trying again"));
                        sleep(STORE_AGAIN_AFTER).await;
                    }
                    started => break started?,
                }
            }),
            None => None,
        };
        let sessions = shared.sessions.clone();
        let running = Running::new(self.name.clone(), shared, buckets, status.clone(), counts.clone());
        let ended = running.run(self.replicas, stop).await;
        if let Some(api) = api {
            api.stop().await;
        }
        let stopped = tokio::task::spawn_blocking(move || {
            let sessions = sessions.write().unwrap_or_else(PoisonError::into_inner).take();
            sessions.map_or(Ok(()), Sessions::stop)
        });
        stopped.await.map_err(|_| ClusterError::Ended("store"))??;
        tracing::info!("the worker has stopped; all that it acknowledged is stored");
        ended
    }

    /// Waits for all that it needs.
    async fn prepare(
        &self,
        connection: &Connection,
        (wanted, change): (Option<Slices>, bool),
        status: &Status,
        counts: &Arc<Counts>,
    ) -> Result<(Shared, Buckets), ClusterError> {
        let connection = connection.clone();
        let mut silence = Silence::default();
        let (stream, buckets, slices) = loop {
            let open = async {
                let stream = open_stream(&connection, self.replicas).await?;
                let buckets = Buckets::open(&connection, self.replicas).await?;
                let slices = buckets.slices(wanted, change).await?;
                Ok::<_, String>((stream, buckets, slices))
            };
            match open.await {
                Ok((stream, buckets, slices)) => break (stream, buckets, slices?),
                Err(why) => {
                    status.trouble(
                        Part::JetStream,
                        format!("{why}; trying again each second. Is JetStream on, has it a leader, may this user use it?"),
                    );
                    silence.unanswered(&connection);
                    sleep(AGAIN_AFTER).await;
                }
            }
        };
        status.fine(Part::JetStream);
        // Before others are told that it is there: one who cannot write has no share.
        let sessions = loop {
            let (config, name, runtime) = (self.service.clone(), self.name.clone(), Handle::current());
            let open = move || Sessions::open(config, slices, Some(name.as_str()), runtime);
            let opened = tokio::task::spawn_blocking(open).await;
            match opened.map_err(|_| ClusterError::Ended("store"))? {
                Ok(sessions) => break sessions,
                Err(error) if is_waited_for(&error) => {
                    status.trouble(Part::Store, format!("{error}. Waiting for it, trying again"));
                    sleep(STORE_AGAIN_AFTER).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        status.fine(Part::Store);
        let (meters, keys) = (sessions.handle().clone(), sessions.keys().clone());
        let remote = Arc::new(RemoteGateways::start(
            connection.clone(),
            meters.gateways().clone(),
            counts.remote.clone(),
        ));
        let sessions = Arc::new(RwLock::new(Some(sessions)));
        let beginnings = Arc::new(Semaphore::new(BEGINNINGS));
        let (queue, exchange) = (counts.queue.clone(), counts.exchange.clone());
        let told = Told::start(connection.clone(), self.name.clone(), counts.events.clone());
        let others = Others::new(connection.clone(), self.name.clone(), told, exchange.clone());
        meters.join(Arc::new(others));
        let shared = Shared {
            connection,
            stream,
            slices,
            keys,
            sessions,
            beginnings,
            meters,
            remote,
            counts: queue,
            exchange,
        };
        *counts.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.clone());
        Ok((shared, buckets))
    }
}

/// Says if a worker waits for the database: another worker has it, or its server is not reachable
/// now, such as while its standby is promoted.
fn is_waited_for(error: &ServiceError) -> bool {
    match error {
        ServiceError::Store(error) | ServiceError::Registry(RegistryError::Store(error)) => {
            matches!(
                error,
                StoreError::InUse { .. } | StoreError::Unreachable { place: DatabaseUrl::Server(_), .. }
            )
        }
        _ => false,
    }
}
