//! Energy used, by interval.

use super::error::{ApiError, ErrorBody};
use super::extract::Arguments;
use super::meters::known;
use super::names::{NamedMeter, NamedNetwork, meter_schema, network_schema, whose};
use super::schema::{Consumption, IntervalName};
use super::state::{Api, now_ms};
use super::times::{Time, time_schema};
use crate::store::{ConsumptionQuery, Interval, MeterFilter};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

const DAY_S: i64 = 86_400;

/// The consumption to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ConsumptionArguments {
    /// From the interval on in which this lies: RFC 3339 or Unix seconds. Thirty days before `to`
    /// if left out.
    #[param(schema_with = time_schema)]
    from: Option<Time>,
    /// Intervals that begin before that: RFC 3339 or Unix seconds. Now if left out.
    #[param(schema_with = time_schema)]
    to: Option<Time>,
    /// `day` if left out.
    #[param(inline, value_type = Option<IntervalName>)]
    resolution: Option<Interval>,
    /// All meters' of the network if left out.
    #[param(schema_with = meter_schema)]
    meter: Option<NamedMeter>,
    /// This network's meters', or those of all; network 0's if left out.
    #[param(schema_with = network_schema)]
    network: Option<NamedNetwork>,
}

/// Energy that meters used, by quarter-hour, hour, day, week or month of the collector's zone.
#[utoipa::path(get, path = "/consumption", tag = "readings", params(ConsumptionArguments),
    responses((status = OK, body = Consumption), (status = NOT_FOUND, description = "no such meter", body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, description = "more than is given at once", body = ErrorBody)))]
pub(super) async fn table(
    State(api): State<Api>,
    Arguments(arguments): Arguments<ConsumptionArguments>,
) -> Result<Json<Consumption>, ApiError> {
    let whose = whose(arguments.meter, arguments.network)?;
    if let MeterFilter::Meter(meter) = whose {
        known(&api, meter).await?;
    }
    let to_s = arguments.to.map_or(now_ms().div_euclid(1000) + 1, |to| to.0);
    let query = ConsumptionQuery {
        from_s: arguments.from.map_or(to_s - 30 * DAY_S, |from| from.0),
        to_s,
        resolution: arguments.resolution.unwrap_or(Interval::Day),
        whose,
    };
    Ok(Json(api.read(move |reader| reader.consumption(&query)).await?.into()))
}
