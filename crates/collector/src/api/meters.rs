//! Meters, as they are shown and called.

use super::access::Caller;
use super::error::ApiError;
use super::extract::{Arguments, Body, InPath};
use super::names::{NamedMeter, NamedNetwork, network_schema, whose};
use super::schema::Meter;
use super::state::{Api, now_ms};
use super::tokens::action;
use crate::event::Event;
use crate::network::GlobalMeterId;
use crate::plain_text::is_plain_label;
use crate::store::{self, MeterFilter, Write, Written};
use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// Characters of a label at most.
const LABEL_CHARACTERS_MAX: usize = 64;

/// A change of a meter.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MeterChange {
    /// Its label; may be empty.
    #[schema(
        max_length = 64,
        pattern = r"^[^\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$",
        example = "Flat 3"
    )]
    label: String,
}

/// The meters to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct MeterArguments {
    /// Those of this network, or of all; of network 0 if left out.
    #[param(schema_with = network_schema)]
    network: Option<NamedNetwork>,
}

/// All meters of a network, by number, also revoked ones.
#[utoipa::path(get, path = "/meters", operation_id = "list_meters", tag = "meters", params(MeterArguments),
    responses((status = OK, body = Vec<Meter>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Arguments(arguments): Arguments<MeterArguments>,
) -> Result<Json<Vec<Meter>>, ApiError> {
    let whose = whose(None, arguments.network)?;
    let meters = api.read(move |reader| reader.meters(whose, now_ms())).await?;
    Ok(Json(meters.into_iter().map(Meter::from).collect()))
}

/// One meter.
#[utoipa::path(get, path = "/meters/{meter}", tag = "meters", params(("meter" = inline(NamedMeter), Path)),
    responses((status = OK, body = Meter)))]
pub(super) async fn one(
    State(api): State<Api>,
    InPath(NamedMeter(meter)): InPath<NamedMeter>,
) -> Result<Json<Meter>, ApiError> {
    Ok(Json(known(&api, meter).await?.into()))
}

/// Calls a meter something else.
#[utoipa::path(patch, path = "/meters/{meter}", tag = "meters", params(("meter" = inline(NamedMeter), Path)),
    request_body = MeterChange, responses((status = OK, body = Meter)))]
pub(super) async fn rename(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath(NamedMeter(meter)): InPath<NamedMeter>,
    Body(change): Body<MeterChange>,
) -> Result<Json<Meter>, ApiError> {
    let label = change.label.trim().to_owned();
    let characters = change.label.chars().count();
    if characters > LABEL_CHARACTERS_MAX || !is_plain_label(&change.label) {
        let message = format!(
            "label has {characters} characters; it has at most {LABEL_CHARACTERS_MAX}, none of them a control character or an invisible one"
        );
        return Err(ApiError::unprocessable("label-wrong", message));
    }
    known(&api, meter).await?;
    let what = format!("called meter {meter} {label:?}");
    let written =
        api.write(vec![Write::Label { meter, label }, action(&caller.name, now_ms(), what)]).await?;
    if written.first() == Some(&Written::Unknown) {
        return Err(unknown(&[], meter));
    }
    api.parts.meters.publish(Event::Meter { meter });
    Ok(Json(known(&api, meter).await?.into()))
}

/// The meter, or which others there are.
pub(super) async fn known(api: &Api, meter: GlobalMeterId) -> Result<store::Meter, ApiError> {
    let found = api.read(move |reader| reader.meter(meter, now_ms())).await?;
    match found {
        Some(meter) => Ok(meter),
        None => {
            let network = MeterFilter::Network(meter.network);
            Err(unknown(&api.read(move |reader| reader.meters(network, now_ms())).await?, meter))
        }
    }
}

/// meters: those of its network.
fn unknown(meters: &[store::Meter], meter: GlobalMeterId) -> ApiError {
    let error = ApiError::not_found("meter-unknown", format!("there is no meter {meter} here"));
    match meters.iter().map(|known| known.meter).min_by_key(|known| known.meter.abs_diff(meter.meter)) {
        Some(near) => {
            let of = meter.network.named().map_or_else(String::new, |network| format!("?network={network}"));
            error.hint(format!("the nearest is {near}; GET /api/v1/meters{of} lists all"))
        }
        None => error.hint("there is none yet: wattseal meters add"),
    }
}
