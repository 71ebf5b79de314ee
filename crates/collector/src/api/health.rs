//! The route of the service's health.

use super::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// The health of the service.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`; `store` while nothing can be stored, and so nothing is acknowledged; `damaged` where
    /// something stored changed by itself.
    #[schema(example = "ok")]
    status: &'static str,
    /// Why, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[schema(example = "0.2.0")]
    version: &'static str,
}

/// Health: says if readings are stored.
#[utoipa::path(get, path = "/health", tag = "service",
    responses((status = OK, body = Health), (status = SERVICE_UNAVAILABLE, body = Health)))]
pub(super) async fn health(State(api): State<Api>) -> (StatusCode, Json<Health>) {
    let store = api.parts.reader.health();
    let stores = api.parts.meters.store_ok() && store.trouble.is_none();
    let (code, status, detail) = match store.damage {
        _ if !stores => (StatusCode::SERVICE_UNAVAILABLE, "store", store.trouble),
        Some(damage) => (StatusCode::OK, "damaged", Some(damage)),
        None => (StatusCode::OK, "ok", None),
    };
    (code, Json(Health { status, detail, version: env!("CARGO_PKG_VERSION") }))
}
