//! Images of meters' firmware: added, listed, taken away.

use super::access::Caller;
use super::error::{ApiError, ErrorBody};
use super::extract::InPath;
use super::schema::Image;
use super::state::{Api, now_ms};
use super::tokens::action;
use crate::image_digest::ImageDigest;
use crate::store::{IMAGES_MAX, ImageAdded, ImageRecord, NewImage, Write, Written};
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode, header};
use axum::{Extension, Json};
use utoipa::ToSchema;

/// Bytes of an image at most: a slot of the largest target has 384 kB.
pub(super) const IMAGE_BYTES_MAX: usize = 1 << 20;
/// The content type of an image.
const IMAGE_TYPE: &str = "application/octet-stream";

/// An image's file, as `firmware sign` makes it; for the description alone.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "its form is the description's")]
pub(super) struct ImageFile(Vec<u8>);

/// Images of meters' firmware, newest first.
#[utoipa::path(get, path = "/images", operation_id = "list_images", tag = "firmware", responses((status = OK, body = Vec<Image>)))]
pub(super) async fn list(State(api): State<Api>) -> Result<Json<Vec<Image>>, ApiError> {
    let images = api.read(|reader| reader.images()).await?;
    Ok(Json(images.into_iter().map(Image::from).collect()))
}

/// Adds an image: at most 1 MiB, signed. The meter's bootloader verifies the signature. 200: it was
/// there already.
#[utoipa::path(post, path = "/images", operation_id = "add_image", tag = "firmware",
    request_body(content = ImageFile, content_type = "application/octet-stream"),
    responses((status = CREATED, body = Image), (status = OK, body = Image),
        (status = BAD_REQUEST, description = "the body is no application/octet-stream", body = ErrorBody),
        (status = CONFLICT, description = "there is no room for more images", body = ErrorBody)))]
pub(super) async fn add(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<Image>), ApiError> {
    if headers.get(header::CONTENT_TYPE).is_none_or(|given| given != IMAGE_TYPE) {
        return Err(ApiError::bad_request(
            "content-type",
            "the body has to be an image's file, and to say so",
        )
        .hint(format!("Content-Type: {IMAGE_TYPE}")));
    }
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "an image has at most 1 MiB")
        }
        _ => ApiError::bad_request("body-wrong", error.body_text()),
    })?;
    let image = wire::meter::Image::new(&body[..]).filter(|image| image.target().is_some());
    let image = image.ok_or_else(|| {
        ApiError::unprocessable("image-invalid", "this is no image of a meter's firmware, or not all of one")
            .hint("an image is what ./wattseal firmware sign makes; ./wattseal firmware verify looks at it")
    })?;
    let digest = ImageDigest(*image.digest());
    if let Some(known) = api.read(move |reader| reader.image(&digest)).await? {
        return Ok((StatusCode::OK, Json(known.into())));
    }
    let at_ms = now_ms();
    let what = format!(
        "added the image {digest}: {}, version {}",
        image.target().unwrap_or_default(),
        image.version()
    );
    let new = Write::Image(NewImage { image, by: caller.name.clone(), added_ms: at_ms });
    let status = match api.write(vec![new, action(&caller.name, at_ms, what)]).await?.first() {
        Some(Written::Image(ImageAdded::New)) => StatusCode::CREATED,
        Some(Written::Image(ImageAdded::Known)) => StatusCode::OK,
        _ => {
            let message = format!("there are {IMAGES_MAX} images, and there is no room for more");
            return Err(ApiError::conflict("images-full", message)
                .hint("take those away that no meter is to have any more: DELETE /api/v1/images/{digest}"));
        }
    };
    Ok((status, Json(known(&api, digest).await?.into())))
}

/// Takes an image away.
#[utoipa::path(delete, path = "/images/{digest}", operation_id = "remove_image", tag = "firmware",
    params(("digest" = String, Path, pattern = "^[0-9a-fA-F]{64}$")),
    responses((status = NO_CONTENT, description = "it is gone"),
        (status = CONFLICT, description = "an update that is not over needs it", body = ErrorBody)))]
pub(super) async fn remove(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath(digest): InPath<ImageDigest>,
) -> Result<StatusCode, ApiError> {
    let image = known(&api, digest).await?;
    let what = format!("took the image {digest} away: {}, version {}", image.target, image.version);
    match api.write(vec![Write::ImageRemoved { digest }]).await?.first() {
        Some(Written::Done) => {}
        Some(Written::ImageInUse) => {
            let message = "an update that is not over needs this image";
            return Err(ApiError::conflict("image-in-use", message)
                .hint("GET /api/v1/updates?network=all says which; DELETE /api/v1/meters/{meter}/update takes it back"));
        }
        _ => return Err(known(&api, digest).await.err().unwrap_or_else(|| unknown(digest))),
    }
    super::commands::noted(&api, &caller, what).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The image, or which others there are.
pub(super) async fn known(api: &Api, digest: ImageDigest) -> Result<ImageRecord, ApiError> {
    if let Some(image) = api.read(move |reader| reader.image(&digest)).await? {
        return Ok(image);
    }
    let others = api.read(|reader| reader.images()).await?;
    let others: Vec<String> = others.iter().map(|image| image.digest.to_string()).collect();
    Err(unknown(digest).nearest(&digest.to_string(), others.iter().map(String::as_str)))
}

fn unknown(digest: ImageDigest) -> ApiError {
    ApiError::not_found("image-unknown", format!("there is no image {digest} here"))
        .hint("GET /api/v1/images lists all")
}
