//! Whether the service does what it is for.

use super::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// How the service is.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`; `store` while nothing can be stored, and so nothing is acknowledged.
    #[schema(example = "ok")]
    status: &'static str,
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// Whether readings are stored.
#[utoipa::path(get, path = "/health", tag = "service",
    responses((status = OK, body = Health), (status = SERVICE_UNAVAILABLE, body = Health)))]
pub(super) async fn health(State(api): State<Api>) -> (StatusCode, Json<Health>) {
    let stores = api.parts.link.store_ok() && api.parts.reader.health().trouble.is_none();
    let (code, status) =
        if stores { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "store") };
    (code, Json(Health { status, version: env!("CARGO_PKG_VERSION") }))
}
