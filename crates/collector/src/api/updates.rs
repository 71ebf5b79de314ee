//! Updates of meters' firmware: begun, listed, taken back.

use super::access::Caller;
use super::commands::{noted, refused_request};
use super::error::{ApiError, ErrorBody};
use super::extract::{Arguments, Body, InPath};
use super::images;
use super::meters::known;
use super::names::{NamedMeter, NamedNetwork, network_schema, whose};
use super::schema::Update;
use super::state::Api;
use crate::image_digest::ImageDigest;
use crate::meters::RequestError;
use crate::network::GlobalMeterId;
use crate::store::UpdateRecord;
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use std::collections::BTreeSet;
use tokio::task::JoinSet;
use utoipa::{IntoParams, ToSchema};

/// Meters of a request at most.
const METERS_MAX: usize = 1000;
/// Sessions that are asked at once; a worker takes as many of a partition, and others' questions.
const ASKED_AT_ONCE: usize = 32;
/// Meters that are named where it is noted.
const NAMED_MAX: usize = 20;

/// The image, and the meters that are to have it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateWanted {
    /// The image's digest.
    #[schema(value_type = String, pattern = "^[0-9a-fA-F]{64}$")]
    image: ImageDigest,
    /// As in paths: `258`, or `"7-258"` of network 7.
    #[schema(min_items = 1, max_items = 1000)]
    meters: Vec<NamedMeter>,
}

/// The updates to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateArguments {
    /// Those of this network's meters, or of all; of network 0's if left out.
    #[param(schema_with = network_schema)]
    network: Option<NamedNetwork>,
}

/// The latest update of each meter that had one, the latest change first.
#[utoipa::path(get, path = "/updates", operation_id = "list_updates", tag = "firmware", params(UpdateArguments),
    responses((status = OK, body = Vec<Update>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Arguments(arguments): Arguments<UpdateArguments>,
) -> Result<Json<Vec<Update>>, ApiError> {
    let whose = whose(None, arguments.network)?;
    let updates = api.read(move |reader| reader.updates(whose)).await?;
    Ok(Json(updates.into_iter().map(Update::from).collect()))
}

/// Has meters take an image of their firmware, some at once, the others after them. It takes the
/// place of what they were to have before. Where a meter takes the next image into the other slot,
/// the other image of the same target and version is sent, if there is one.
#[utoipa::path(post, path = "/updates", operation_id = "begin_updates", tag = "firmware", request_body = UpdateWanted,
    responses((status = CREATED, body = Vec<Update>),
        (status = NOT_FOUND, description = "an image or a meter that there is not: none is begun", body = ErrorBody),
        (status = CONFLICT, description = "a meter that was revoked: none is begun", body = ErrorBody)))]
pub(super) async fn begin(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(UpdateWanted { image, meters }): Body<UpdateWanted>,
) -> Result<(StatusCode, Json<Vec<Update>>), ApiError> {
    if !(1..=METERS_MAX).contains(&meters.len()) {
        let message = format!("meters has {} meters; it has 1 to {METERS_MAX}", meters.len());
        return Err(ApiError::unprocessable("argument-range", message));
    }
    let mut seen = BTreeSet::new();
    let meters: Vec<GlobalMeterId> =
        meters.into_iter().map(|NamedMeter(meter)| meter).filter(|meter| seen.insert(*meter)).collect();
    let of = images::known(&api, image).await?;
    all_known(&api, &meters).await?;
    let (begun, refused) = ask(&api, &caller, &meters, image).await;
    if !begun.is_empty() {
        let what =
            format!("began to update {} to version {} of {}, {image}", named(&begun), of.version, of.target);
        noted(&api, &caller, what).await;
    }
    if let Some(error) = refused {
        return Err(match begun.len() {
            0 => error,
            count => error.hint(format!(
                "{count} of {} meters were begun before that, as GET /api/v1/updates shows; the same again begins the others",
                meters.len()
            )),
        });
    }
    let updates = api.read(move |reader| reader.updates_of(&meters)).await?;
    Ok((StatusCode::CREATED, Json(updates.into_iter().map(Update::from).collect())))
}

/// Takes an update back. A meter that had all of the image may run it all the same.
#[utoipa::path(delete, path = "/meters/{meter}/update", operation_id = "withdraw_update", tag = "firmware",
    params(("meter" = inline(NamedMeter), Path)),
    responses((status = OK, body = Update), (status = CONFLICT, description = "it is over", body = ErrorBody)))]
pub(super) async fn withdraw(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath(NamedMeter(meter)): InPath<NamedMeter>,
) -> Result<Json<Update>, ApiError> {
    known(&api, meter).await?;
    open(one(&api, meter).await?)?;
    match api.parts.meters.forget_update(meter).await {
        Ok(()) => {}
        // It ended meanwhile.
        Err(error @ RequestError::NoUpdate(_)) => {
            open(one(&api, meter).await?)?;
            return Err(refused_request(error));
        }
        Err(error) => return Err(refused(error)),
    }
    noted(&api, &caller, format!("took the update of meter {meter} back")).await;
    Ok(Json(one(&api, meter).await?.into()))
}

async fn one(api: &Api, meter: GlobalMeterId) -> Result<UpdateRecord, ApiError> {
    api.read(move |reader| reader.update(meter)).await?.ok_or_else(|| {
        ApiError::not_found("update-unknown", format!("meter {meter} had no update"))
            .hint("GET /api/v1/updates lists those that there are")
    })
}

/// One that is not over.
fn open(update: UpdateRecord) -> Result<UpdateRecord, ApiError> {
    if update.state.is_over() {
        let message = format!("the update of meter {} is over", update.meter);
        return Err(ApiError::conflict("update-over", message));
    }
    Ok(update)
}

/// Checks that all meters exist; names the first that does not.
async fn all_known(api: &Api, meters: &[GlobalMeterId]) -> Result<(), ApiError> {
    let all = meters.to_vec();
    let revoked = api.read(move |reader| reader.revoked(&all)).await?;
    for (meter, revoked) in meters.iter().zip(revoked) {
        match revoked {
            Some(false) => {}
            Some(true) => {
                let message = format!("meter {meter} was revoked; it takes no image");
                return Err(ApiError::conflict("meter-revoked", message));
            }
            None => drop(known(api, *meter).await?),
        }
    }
    Ok(())
}

/// Returns the meters whose updates were begun, and why no more were.
async fn ask(
    api: &Api,
    caller: &Caller,
    meters: &[GlobalMeterId],
    image: ImageDigest,
) -> (Vec<GlobalMeterId>, Option<ApiError>) {
    let (mut begun, mut refusal) = (Vec::new(), None);
    for some in meters.chunks(ASKED_AT_ONCE) {
        let mut asked = JoinSet::new();
        for meter in some.iter().copied() {
            let (meters, by) = (api.parts.meters.clone(), caller.name.clone());
            asked.spawn(async move { (meter, meters.update(meter, image, &by).await) });
        }
        for (meter, done) in asked.join_all().await {
            match done {
                Ok(()) => begun.push(meter),
                Err(error) => refusal = Some(refused(error)),
            }
        }
        if refusal.is_some() {
            break;
        }
    }
    begun.sort_unstable();
    (begun, refusal)
}

fn refused(error: RequestError) -> ApiError {
    let is_silent = matches!(error, RequestError::Silent(_));
    let refused = refused_request(error);
    if is_silent { refused.hint("look at GET /api/v1/updates before it is tried again") } else { refused }
}

fn named(meters: &[GlobalMeterId]) -> String {
    let some: Vec<String> = meters.iter().take(NAMED_MAX).map(GlobalMeterId::to_string).collect();
    match (meters.len(), meters.len().saturating_sub(NAMED_MAX)) {
        (1, _) => format!("meter {}", some.join("")),
        (_, 0) => format!("meters {}", some.join(", ")),
        (_, others) => format!("meters {} and {others} others", some.join(", ")),
    }
}
