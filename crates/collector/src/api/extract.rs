//! Arguments of requests, with mistakes told in the API's own way.

use super::error::{ApiError, nearest};
use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

/// Arguments behind the question mark: each known, each once, each in range.
pub(super) struct Arguments<T>(pub(super) T);

/// Parts of the path.
pub(super) struct InPath<T>(pub(super) T);

/// A JSON body.
pub(super) struct Body<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned + IntoParams> FromRequestParts<S> for Arguments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let wrong = |message: String| ApiError::bad_request("argument-wrong", message);
        let given: Query<Vec<(String, String)>> =
            Query::try_from_uri(&parts.uri).map_err(|error| wrong(error.body_text()))?;
        let known: Vec<String> =
            T::into_params(|| None).into_iter().map(|parameter| parameter.name).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        for (index, (name, _)) in given.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let message = format!("there is no argument {name:?} here; there are: {}", known.join(", "));
                return Err(ApiError::bad_request("argument-unknown", message).nearest(name, known));
            }
            if given[..index].iter().any(|(before, _)| before == name) {
                return Err(wrong(format!("the argument {name} is given twice")));
            }
        }
        let Query(arguments) = Query::try_from_uri(&parts.uri).map_err(|error| {
            let text = error.body_text();
            let message = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
            with_serde_hint(wrong(message.to_owned()))
        })?;
        Ok(Arguments(arguments))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for InPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(InPath(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                let text = error.body_text();
                let message = text.strip_prefix("Invalid URL: ").unwrap_or(&text);
                Err(ApiError::bad_request("path-wrong", format!("in the path: {message}")))
            }
            Err(error) => Err(ApiError::bad_request("path-wrong", error.body_text())),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match Json::from_request(request, state).await {
            Ok(Json(value)) => Ok(Body(value)),
            Err(error) => Err(refused_body(&error)),
        }
    }
}

fn refused_body(error: &JsonRejection) -> ApiError {
    let text = error.body_text();
    match error {
        JsonRejection::JsonDataError(_) => {
            let message = text
                .strip_prefix("Failed to deserialize the JSON body into the target type: ")
                .unwrap_or(&text);
            with_serde_hint(ApiError::unprocessable("body-wrong", message))
        }
        JsonRejection::JsonSyntaxError(_) => {
            let message = text.strip_prefix("Failed to parse the request body as JSON: ").unwrap_or(&text);
            ApiError::bad_request("json-wrong", format!("the body is not JSON: {message}"))
        }
        JsonRejection::MissingJsonContentType(_) => {
            ApiError::bad_request("content-type", "the body has to be JSON, and to say so")
                .hint("Content-Type: application/json")
        }
        error if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "a body has at most 64 kB")
        }
        _ => ApiError::bad_request("body-wrong", text),
    }
}

/// Serde names what it did not know and what it knows between backticks; of those the nearest is
/// what was meant.
fn with_serde_hint(error: ApiError) -> ApiError {
    let names: Vec<&str> = error.message.split('`').skip(1).step_by(2).collect();
    let hint = match names.split_first() {
        Some((given, known)) if error.message.contains("unknown ") => {
            nearest(given, known.iter().copied()).map(|name| format!("did you mean {name}?"))
        }
        _ => None,
    };
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
