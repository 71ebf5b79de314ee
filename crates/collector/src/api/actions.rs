//! The actions of administrators.

use super::error::ApiError;
use super::extract::Arguments;
use super::readings::limit;
use super::schema::Action;
use super::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

/// The actions to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionArguments {
    /// The largest number of rows; 100 if left out.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Only those with a lower `id`: the last one of the page before.
    before: Option<i64>,
}

/// Actions of administrators, newest first.
#[utoipa::path(get, path = "/actions", operation_id = "list_actions", tag = "administration", params(ActionArguments),
    responses((status = OK, body = Vec<Action>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Arguments(arguments): Arguments<ActionArguments>,
) -> Result<Json<Vec<Action>>, ApiError> {
    let limit = limit(arguments.limit, 100, 1000)?;
    let actions = api.read(move |reader| reader.actions(limit, arguments.before)).await?;
    Ok(Json(actions.into_iter().map(Action::from).collect()))
}
