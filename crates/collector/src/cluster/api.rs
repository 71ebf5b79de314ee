//! The role `api`: dashboard, API, events and MQTT of all meters, without a key and without a
//! partition. It reads the database, and changes in it what people change; what is about a meter's
//! commands it asks of the worker that has the meter.

use super::connection::{ClusterError, Connection, Nats};
use super::events::{EventCounts, Told};
use super::exchange::{ExchangeCounts, Others};
use super::health::{Figures, HealthListen};
use super::http_role::Served;
use super::name::RoleName;
use super::status::{Part, Status};
use super::user::NatsUser;
use crate::api::Listen;
use crate::meters::MetersHandle;
use crate::partition::Slices;
use crate::publish::{Broker, Publisher, read_meters};
use crate::service::ServiceError;
use crate::store::{DatabaseUrl, Reader, StoreError};
use crate::writer::WriterHandle;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Between two looks at the database.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The configuration of `api`.
#[derive(Clone, Debug)]
pub struct ApiServer {
    pub nats: Nats,
    /// Its name in NATS, different from all others there.
    pub name: RoleName,
    /// A server's database.
    pub db: DatabaseUrl,
    /// The address of the dashboard and the API.
    pub listen: Listen,
    /// The broker to publish to.
    pub mqtt: Option<Broker>,
    pub health: Option<HealthListen>,
}

/// The addresses of a started API role.
#[derive(Clone, Debug)]
pub struct ApiServerStarted {
    /// The dashboard's address, for a browser.
    pub url: String,
    pub health: Option<SocketAddr>,
}

/// The role's counts.
#[derive(Clone, Default)]
struct Counts {
    exchange: Arc<ExchangeCounts>,
    events: Arc<EventCounts>,
}

impl Counts {
    fn figures(&self) -> Figures {
        let counts = self.clone();
        Arc::new(move |mut text| {
            counts.exchange.write(&mut text, "api");
            counts.events.write(&mut text, "api");
            Box::pin(async move { text })
        })
    }
}

impl ApiServer {
    /// Runs until `stop`. ready: is called once the dashboard is served; what it waits for until
    /// then is in its health.
    ///
    /// # Errors
    /// [`ClusterError`]: errors that waiting does not mend.
    pub async fn serve(
        self,
        ready: impl FnOnce(&ApiServerStarted),
        stop: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        if let DatabaseUrl::File(path) = &self.db {
            return Err(ClusterError::Usage(format!(
                "{} is a file, which one process of this machine has: give the role api a database of PostgreSQL, --db postgres://USER@HOST/NAME, \
                 or a worker its own dashboard, with its --listen",
                path.display()
            )));
        }
        let (status, counts) = (Status::default(), Counts::default());
        let health =
            self.health.map(|health| health.serve("api", status.clone(), counts.figures())).transpose()?;
        let mut stop = pin!(stop);
        status.trouble(Part::Nats, "not connected yet");
        let (nats, name, looked_at) = (self.nats.clone(), self.name.clone(), status.clone());
        let mut refused = pin!(nats.refuse_wide_user(&NatsUser::Api, &name, &looked_at));
        let (connection, reader) = tokio::select! {
            prepared = self.prepare(&status) => prepared?,
            error = &mut refused => return Err(error),
            () = &mut stop => return Ok(()),
        };
        // Workers know the sessions.
        let meters = MetersHandle::new(Slices::ONE);
        let told = Told::start(connection.clone(), self.name.clone(), counts.events.clone());
        meters.join(Arc::new(Others::new(
            connection.clone(),
            self.name.clone(),
            told,
            counts.exchange.clone(),
        )));
        let store = (reader.clone(), WriterHandle::beside(reader.clone()));
        let hears = (&connection, &self.name, &counts.events);
        let mut served = Served::start(&self.listen, store, meters.clone(), hears).await?;
        let publisher = self.mqtt.map(|broker| {
            let client = format!("wattseal-{}", self.name);
            Publisher::start(broker, client, meters.events(), read_meters(reader.clone()))
        });
        ready(&ApiServerStarted { url: served.url.clone(), health });
        let ended = tokio::select! {
            () = &mut stop => Ok(()),
            () = served.ended() => Err(ClusterError::Ended("API")),
            ended = check(&reader, &meters, &status) => Err(ended),
            error = &mut refused => Err(error),
        };
        if let Some(publisher) = publisher {
            publisher.stop().await;
        }
        served.stop().await;
        ended
    }

    /// Waits for all that it needs.
    async fn prepare(&self, status: &Status) -> Result<(Connection, Reader), ClusterError> {
        let connection = self.nats.connect(&self.name, status).await?;
        let reader = loop {
            let db = self.db.clone();
            let opened = tokio::task::spawn_blocking(move || Reader::open(&db)).await;
            match opened.map_err(|_| ClusterError::Ended("store"))? {
                Ok(reader) => break reader,
                // A worker makes its tables, and brings them up to date.
                Err(
                    error @ (StoreError::Unreachable { .. }
                    | StoreError::Empty { .. }
                    | StoreError::Older { .. }),
                ) => {
                    status.trouble(
                        Part::Store,
                        format!("{error}. Waiting until a worker has it, and it answers"),
                    );
                    sleep(LOOK_EVERY).await;
                }
                Err(error) => return Err(ServiceError::Store(error).into()),
            }
        };
        status.fine(Part::Store);
        Ok((connection, reader))
    }
}

/// Says whether the database answers, for as long as it is asked.
async fn check(reader: &Reader, meters: &MetersHandle, status: &Status) -> ClusterError {
    loop {
        sleep(LOOK_EVERY).await;
        let reader = reader.clone();
        let Ok(found) = tokio::task::spawn_blocking(move || reader.tokens()).await else {
            return ClusterError::Ended("store");
        };
        meters.store_is(found.is_ok());
        match found {
            Ok(_) => status.fine(Part::Store),
            Err(error) => status.trouble(Part::Store, error.to_string()),
        }
    }
}
