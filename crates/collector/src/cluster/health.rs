//! `--health`: whether a role lives, whether it does its work, and what it counted. docs/cluster.md, "Health".

use super::connection::ClusterError;
use super::permissions::Permissions;
use super::status::Status;
use crate::api::metrics::Text;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;

/// Where health is asked: an address of this machine alone, because nobody has to say who asks.
#[derive(Clone, Copy, Debug)]
pub struct HealthListen(pub SocketAddr);

/// What a role counted, as Prometheus reads it.
pub(super) type Figures = Arc<dyn Fn(Text) -> Pin<Box<dyn Future<Output = Text> + Send>> + Send + Sync>;

#[derive(Clone)]
struct Health {
    role: &'static str,
    status: Status,
    figures: Figures,
}

impl HealthListen {
    /// Answers until the process ends. Returns where.
    ///
    /// # Errors
    /// [`ClusterError::Health`], [`ClusterError::Usage`] for an address that others reach.
    pub(super) fn serve(
        self,
        role: &'static str,
        status: Status,
        figures: Figures,
    ) -> Result<SocketAddr, ClusterError> {
        let HealthListen(address) = self;
        if !address.ip().to_canonical().is_loopback() {
            return Err(ClusterError::Usage(format!(
                "{address} can be reached from other machines, and health tells everybody; listen on loopback: --health 127.0.0.1:{}",
                address.port()
            )));
        }
        let failed = |error| ClusterError::Health { address, error };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let router = Router::new()
            .route("/health/live", get(|| async { Json(BTreeMap::from([("status", "ok")])) }))
            .route("/health/ready", get(ready))
            .route("/metrics", get(metrics))
            .with_state(Health { role, status, figures });
        tokio::spawn(async move {
            // It ends with the process.
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "health is not answered any more");
            }
        });
        Ok(address)
    }
}

/// `ok`, or what is in trouble with its reasons.
async fn ready(State(health): State<Health>) -> Response {
    let troubles = health.status.troubles();
    let (code, status) = match troubles.is_empty() {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "trouble"),
    };
    let detail: BTreeMap<&str, String> = troubles.into_iter().map(|(part, why)| (part.name(), why)).collect();
    let permissions = health.status.permissions().describe();
    let said = serde_json::json!({
        "role": health.role, "status": status, "detail": detail, "permissions": permissions
    });
    (code, Json(said)).into_response()
}

async fn metrics(State(health): State<Health>) -> Response {
    let mut text = Text::default();
    text.head("wattseal_build_info", "gauge", "The version, as a label");
    let labels = [("version", env!("CARGO_PKG_VERSION")), ("role", health.role)];
    text.labelled("wattseal_build_info", &labels, 1);
    let ready = u8::from(health.status.troubles().is_empty());
    text.one("wattseal_ready", "gauge", "Whether the role does its work", ready);
    let checked = u8::from(health.status.permissions() == Permissions::Narrow);
    text.one(
        "wattseal_nats_permissions_checked",
        "gauge",
        "Whether the servers said that the role's user may do no more than it needs",
        checked,
    );
    let Text(text) = (health.figures)(text).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
