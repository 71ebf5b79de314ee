//! A meter's readings, page by page.

use super::error::ApiError;
use super::extract::{Arguments, InPath};
use super::meters::known;
use super::names::NamedMeter;
use super::schema::{Readings, ResolutionName};
use super::state::{Api, now_ms};
use super::times::{Time, forms, time_schema};
use crate::store::{Cursor, ROWS_MAX, ReadingsQuery, Resolution};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};

const DAY_S: i64 = 86_400;

/// The readings to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadingsArguments {
    /// From then on: RFC 3339 or Unix seconds; or `next` of the page before. A day before `to` if
    /// left out.
    #[param(schema_with = start_schema)]
    from: Option<Start>,
    /// Before that: RFC 3339 or Unix seconds. Now if left out.
    #[param(schema_with = time_schema)]
    to: Option<Time>,
    /// `raw` if left out.
    #[param(inline, value_type = Option<ResolutionName>)]
    resolution: Option<Resolution>,
    /// Rows at most; 10,000 if left out.
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
}

/// The start of a page.
enum Start {
    At(Time),
    AfterCursor(Cursor),
}

/// For the description: a time, or `next` of a page.
fn start_schema() -> RefOr<Schema> {
    let next = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(r"^[0-9]{1,10}\.[0-9]{1,9}\.[0-9]{1,9}$"));
    forms([next])
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Start, D::Error> {
        let text = String::deserialize(deserializer)?;
        let start = Time::parse(&text).map(Start::At).or_else(|| text.parse().ok().map(Start::AfterCursor));
        start.ok_or_else(|| {
            let forms = "RFC 3339, such as 2026-03-01T00:00:00Z, Unix seconds, or `next` of a page";
            serde::de::Error::custom(format!("{text:?} is no time: {forms}"))
        })
    }
}

/// A page of a meter's readings, or of its quarter-hours, hours or days, oldest first, as columns
/// of equal length.
#[utoipa::path(get, path = "/meters/{meter}/readings", tag = "readings",
    params(("meter" = inline(NamedMeter), Path), ReadingsArguments), responses((status = OK, body = Readings)))]
pub(super) async fn page(
    State(api): State<Api>,
    InPath(NamedMeter(meter)): InPath<NamedMeter>,
    Arguments(arguments): Arguments<ReadingsArguments>,
) -> Result<Json<Readings>, ApiError> {
    let limit = limit(arguments.limit, ROWS_MAX, ROWS_MAX)?;
    let to_s = arguments.to.map_or(now_ms().div_euclid(1000) + 1, |to| to.0);
    let (from_s, after) = match arguments.from {
        Some(Start::At(Time(from_s))) => (from_s, None),
        Some(Start::AfterCursor(cursor)) => (cursor.at_s, Some(cursor)),
        None => (to_s - DAY_S, None),
    };
    let resolution = arguments.resolution.unwrap_or(Resolution::Raw);
    known(&api, meter).await?;
    let query = ReadingsQuery { meter, from_s, to_s, resolution, after, limit };
    Ok(Json(api.read(move |reader| reader.readings(&query)).await?.into()))
}

/// A limit in its range.
pub(super) fn limit(given: Option<usize>, otherwise: usize, most: usize) -> Result<usize, ApiError> {
    match given.unwrap_or(otherwise) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => Err(ApiError::bad_request("argument-wrong", format!("limit is {limit}; it is 1 to {most}"))),
    }
}
