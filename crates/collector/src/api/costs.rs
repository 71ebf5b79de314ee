//! The route of the costs of a reading.

use super::cost_table::Cost;
use super::state::Api;
use axum::Json;
use axum::extract::State;

/// The cost of a reading for the meter, suite by suite.
#[utoipa::path(get, path = "/costs", tag = "meters", responses((status = OK, body = Vec<Cost>)))]
pub(super) async fn costs(State(api): State<Api>) -> Json<Vec<Cost>> {
    Json(api.parts.costs.get())
}
