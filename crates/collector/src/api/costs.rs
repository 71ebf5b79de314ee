//! What a reading costs a meter.

use super::cost_table::Cost;
use super::state::Api;
use axum::Json;
use axum::extract::State;

/// What a reading costs the meter, suite by suite.
#[utoipa::path(get, path = "/costs", tag = "meters", responses((status = OK, body = Vec<Cost>)))]
pub(super) async fn costs(State(api): State<Api>) -> Json<Vec<Cost>> {
    Json(api.parts.costs.get())
}
