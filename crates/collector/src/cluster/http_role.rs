//! The dashboard and the API of a role, whichever process has a meter.

use super::connection::{ClusterError, Connection};
use super::events::{EventCounts, Hearing};
use super::name::RoleName;
use crate::api::{self, Costs, Listen, Rates};
use crate::meters::MetersHandle;
use crate::service::ServiceError;
use crate::store::{Reader, has_administrator};
use crate::writer::WriterHandle;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// They are served until this is stopped.
pub(super) struct Served {
    /// For a browser.
    pub(super) url: String,
    shut: watch::Sender<bool>,
    serving: JoinHandle<std::io::Result<()>>,
    hearing: JoinHandle<()>,
}

impl Served {
    /// store: what is read, and what people change. hears: by which connection, as whom, and what
    /// is counted of it.
    pub(super) async fn start(
        listen: &Listen,
        (reader, writer): (Reader, WriterHandle),
        meters: MetersHandle,
        (connection, me, counts): (&Connection, &RoleName, &Arc<EventCounts>),
    ) -> Result<Served, ClusterError> {
        let asked = reader.clone();
        let tokens = tokio::task::spawn_blocking(move || asked.tokens()).await;
        let tokens = tokens.map_err(|_| ClusterError::Ended("store"))?.map_err(ServiceError::Store)?;
        let bound = listen.bind(has_administrator(&tokens))?;
        let url = bound.url();
        let hearing = Hearing::open(connection.clone(), me, meters.clone(), counts.clone()).await;
        let hearing = tokio::spawn(hearing.map_err(|_| ClusterError::Ended("connection to NATS"))?.serve());
        let parts = api::Parts {
            reader,
            writer,
            meters,
            forward: None,
            costs: Costs::default(),
            // Tokens are made on the command line: these processes come and go.
            one_time_link: None,
            rates: Rates::default(),
        };
        let (shut, mut shutting) = watch::channel(false);
        let serving = tokio::spawn(api::serve(bound, parts, async move {
            // A dropped sender is an end, too.
            let _ = shutting.wait_for(|shut| *shut).await;
        }));
        Ok(Served { url, shut, serving, hearing })
    }

    /// Comes to its end where they cannot be served any more; the log says why.
    pub(super) async fn ended(&mut self) {
        if let Ok(Err(error)) = (&mut self.serving).await {
            tracing::error!(%error, "the API could not be served any more");
        }
    }

    pub(super) async fn stop(mut self) {
        self.shut.send_replace(true);
        if !self.serving.is_finished() {
            self.ended().await;
        }
        self.hearing.abort();
    }
}
