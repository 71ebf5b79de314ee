//! Other makers' meters, and their telegrams by wireless M-Bus.

use super::error::ApiError;
use super::extract::{Arguments, InPath};
use super::readings::limit;
use super::state::Api;
use super::times::{Time, time_schema};
use crate::mbus_meter::MbusMeterId;
use crate::store::{MbusMeterRecord, StoredTelegram, TelegramContents, TelegramQuery};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Telegrams on a page at most.
const TELEGRAMS_MAX: usize = 1000;

/// Another maker's meter.
#[derive(Serialize, ToSchema)]
pub(super) struct MbusMeter {
    /// Its maker's letters and its number, such as `ELS-12345678`.
    meter: String,
    /// When its first telegram was stored, in s.
    first_heard_s: Option<i64>,
    /// When its last telegram was stored, in s.
    heard_s: Option<i64>,
    /// Telegrams that were stored.
    telegrams: i64,
    /// Those of them that nothing authenticates: anybody may have sent them.
    unauthenticated: i64,
    /// Telegrams in its name that were refused.
    refused: i64,
    /// When the last one was refused, in s.
    refused_s: Option<i64>,
    /// The reason of that.
    refusal: Option<String>,
}

/// A telegram of another maker's meter.
#[derive(Serialize, ToSchema)]
pub(super) struct Telegram {
    /// Higher than those of all before.
    id: i64,
    /// The meter.
    meter: String,
    /// When it was heard, in s.
    heard_s: i64,
    /// The meter's address: maker, number, version, device type.
    address: String,
    /// The security mode: 5 is profile A, 7 is B, 10 is D.
    mode: u8,
    /// `false`: nothing authenticates it, and anybody may have sent it.
    authenticated: bool,
    /// The message counter of an authenticated one, which only rises.
    counter: Option<i64>,
    /// The access number.
    access_number: Option<u8>,
    /// The status byte.
    status: Option<u8>,
    /// Seconds by which its own time is ahead of when it was heard.
    clock_off_s: Option<i64>,
    /// `records` with `function`, `storage`, `tariff`, `subunit`, `quantity`, `unit`, `modifiers`,
    /// `understood`, `value`, `mantissa`, `exponent`, `header` and `data`; `more_follow`; and bytes
    /// that are not read: `manufacturer_data`, `unread`, `protocol` with `bytes`.
    #[schema(value_type = Object)]
    contents: TelegramContents,
}

impl From<MbusMeterRecord> for MbusMeter {
    fn from(record: MbusMeterRecord) -> MbusMeter {
        let MbusMeterRecord { meter, telegrams, unauthenticated, refused, refusal, .. } = record;
        MbusMeter {
            meter,
            first_heard_s: record.first_heard_ms.map(seconds),
            heard_s: record.last_heard_ms.map(seconds),
            telegrams,
            unauthenticated,
            refused,
            refused_s: record.refused_ms.map(seconds),
            refusal,
        }
    }
}

impl From<StoredTelegram> for Telegram {
    fn from(stored: StoredTelegram) -> Telegram {
        Telegram {
            id: stored.id,
            meter: stored.meter,
            heard_s: seconds(stored.heard_ms),
            address: stored.address,
            mode: stored.mode,
            authenticated: stored.authenticated,
            counter: stored.counter,
            access_number: stored.access_number,
            status: stored.status,
            clock_off_s: stored.clock_off_s,
            contents: stored.contents,
        }
    }
}

fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1000)
}

/// Other makers' meters of which telegrams came, by name.
#[utoipa::path(get, path = "/wireless-mbus", operation_id = "list_mbus_meters", tag = "wireless M-Bus",
    responses((status = OK, body = Vec<MbusMeter>)))]
pub(super) async fn meters(State(api): State<Api>) -> Result<Json<Vec<MbusMeter>>, ApiError> {
    let meters = api.read(|reader| reader.mbus_meters()).await?;
    Ok(Json(meters.into_iter().map(MbusMeter::from).collect()))
}

/// The telegrams to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct TelegramArguments {
    /// Heard from then on: RFC 3339 or Unix seconds.
    #[param(schema_with = time_schema)]
    from: Option<Time>,
    /// Heard before that: RFC 3339 or Unix seconds.
    #[param(schema_with = time_schema)]
    to: Option<Time>,
    /// The largest number of rows; 100 if left out.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Only those with a higher `id`: the last one of the page before.
    after: Option<i64>,
}

/// Telegrams of another maker's meter, oldest first.
#[utoipa::path(get, path = "/wireless-mbus/{meter}/telegrams", operation_id = "list_telegrams", tag = "wireless M-Bus",
    params(("meter" = String, Path, pattern = r"^[A-Za-z]{3}-[0-9A-Fa-f]{8}$", example = "ELS-12345678"), TelegramArguments),
    responses((status = OK, body = Vec<Telegram>)))]
pub(super) async fn telegrams(
    State(api): State<Api>,
    InPath(meter): InPath<MbusMeterId>,
    Arguments(arguments): Arguments<TelegramArguments>,
) -> Result<Json<Vec<Telegram>>, ApiError> {
    let ms = |time: Option<Time>, none: i64| time.map_or(none, |time| time.0.saturating_mul(1000));
    let query = TelegramQuery {
        meter: Some(meter),
        from_ms: ms(arguments.from, i64::MIN),
        to_ms: ms(arguments.to, i64::MAX),
        after: arguments.after.unwrap_or(0),
        limit: limit(arguments.limit, 100, TELEGRAMS_MAX)?,
    };
    let name = meter.to_string();
    let known = api.read(move |reader| Ok(reader.mbus_meters()?.iter().any(|of| of.meter == name))).await?;
    if !known {
        let message = format!("no telegram of meter {meter} came");
        let hint = "GET /api/v1/wireless-mbus lists those that were heard";
        return Err(ApiError::not_found("meter-unknown", message).hint(hint));
    }
    let telegrams = api.read(move |reader| reader.telegrams(&query)).await?;
    Ok(Json(telegrams.into_iter().map(Telegram::from).collect()))
}
