//! Alerts: of meters, and of the collector itself.

use super::access::Caller;
use super::error::ApiError;
use super::extract::{Arguments, InPath};
use super::names::{NamedMeter, NamedNetwork, meter_schema, network_schema, whose};
use super::readings::limit;
use super::schema::Alert;
use super::state::{Api, now_ms};
use super::times::{Time, time_schema};
use super::tokens::action;
use crate::event::Event;
use crate::store::{AlertFilter, Write, Written};
use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::IntoParams;

/// Alerts on a page at most.
const ALERTS_MAX: usize = 1000;

/// The alerts to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AlertArguments {
    /// From then on: RFC 3339 or Unix seconds.
    #[param(schema_with = time_schema)]
    from: Option<Time>,
    /// Before that: RFC 3339 or Unix seconds.
    #[param(schema_with = time_schema)]
    to: Option<Time>,
    /// This meter's alone.
    #[param(schema_with = meter_schema)]
    meter: Option<NamedMeter>,
    /// Those of this network's meters, or of all; of network 0's and of the collector itself if
    /// left out.
    #[param(schema_with = network_schema)]
    network: Option<NamedNetwork>,
    /// `true`: those alone that nobody acknowledged.
    open: Option<bool>,
    /// The largest number of rows; 100 if left out.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Only those with a lower `id`: the last one of the page before.
    before: Option<i64>,
}

/// Alerts, newest first.
#[utoipa::path(get, path = "/alerts", operation_id = "list_alerts", tag = "alerts", params(AlertArguments),
    responses((status = OK, body = Vec<Alert>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Arguments(arguments): Arguments<AlertArguments>,
) -> Result<Json<Vec<Alert>>, ApiError> {
    let filter = AlertFilter {
        from_s: arguments.from.map(|from| from.0),
        to_s: arguments.to.map(|to| to.0),
        whose: whose(arguments.meter, arguments.network)?,
        open: arguments.open.unwrap_or(false),
        before: arguments.before,
        limit: limit(arguments.limit, 100, ALERTS_MAX)?,
    };
    let alerts = api.read(move |reader| reader.alerts(&filter)).await?;
    Ok(Json(alerts.into_iter().map(Alert::from).collect()))
}

/// Somebody has seen it. The first name stays.
#[utoipa::path(post, path = "/alerts/{id}/acknowledge", tag = "alerts", params(("id" = i64, Path)),
    responses((status = OK, body = Alert)))]
pub(super) async fn acknowledge(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath(id): InPath<i64>,
) -> Result<Json<Alert>, ApiError> {
    let unknown = || ApiError::not_found("alert-unknown", format!("there is no alert {id}"));
    let alert = api.read(move |reader| reader.alert(id)).await?.ok_or_else(unknown)?;
    if alert.acknowledged_s.is_some() {
        return Ok(Json(alert.into()));
    }
    let at_ms = now_ms();
    let seen = Write::Acknowledge { alert: id, by: caller.name.clone(), at_ms };
    let written = api
        .write(vec![seen, action(&caller.name, at_ms, format!("acknowledged alert {id}, {}", alert.cause))])
        .await?;
    match written.into_iter().next() {
        Some(Written::Acknowledged(alert)) => {
            if let Some(meter) = alert.meter {
                api.parts.meters.publish(Event::Meter { meter });
            }
            Ok(Json(alert.into()))
        }
        _ => Err(unknown()),
    }
}
