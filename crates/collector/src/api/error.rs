//! The error answers of the API: always JSON of one shape.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// A refusal, as programs and people read it.
#[derive(Clone, Debug)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    /// For programs: words with hyphens, never changed once they are out.
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of every answer that is not a success.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorBody {
    error: ErrorContent,
}

/// The error, with its remedy.
#[derive(Serialize, ToSchema)]
struct ErrorContent {
    /// For programs.
    #[schema(example = "meter-unknown")]
    code: &'static str,
    /// For people.
    #[schema(example = "there is no meter 285 here")]
    message: String,
    /// The probable intention, or the next step.
    #[schema(example = "the nearest is 258")]
    hint: Option<String>,
}

/// Marks an answer as a refusal in the log.
#[derive(Clone, Copy)]
pub(super) struct Refused(pub(super) &'static str);

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into(), hint: None, headers: Vec::new() }
    }

    pub(super) fn bad_request(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) fn not_found(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(super) fn conflict(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, code, message)
    }

    pub(super) fn unprocessable(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    pub(super) fn unavailable(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    pub(super) fn unauthorized(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::UNAUTHORIZED, code, message)
            .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"wattseal\""))
    }

    pub(super) fn forbidden(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, code, message)
    }

    /// With how long to wait, in whole seconds and at least one.
    pub(super) fn too_many(code: &'static str, message: impl Into<String>, wait: Duration) -> ApiError {
        let seconds = wait.as_millis().div_ceil(1000).max(1) as u64;
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, code, message)
            .header(header::RETRY_AFTER, HeaderValue::from(seconds))
            .hint(format!("try again in {seconds} s"))
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> ApiError {
        self.hint = Some(hint.into());
        self
    }

    /// With the hint that one of the names may have been meant, where one is near.
    pub(super) fn nearest<'a>(self, given: &str, names: impl IntoIterator<Item = &'a str>) -> ApiError {
        match nearest(given, names) {
            Some(name) => self.hint(format!("did you mean {name}?")),
            None => self,
        }
    }

    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> ApiError {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let content = ErrorContent { code: self.code, message: self.message, hint: self.hint };
        let mut response = (self.status, Json(ErrorBody { error: content })).into_response();
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        response.extensions_mut().insert(Refused(self.code));
        response
    }
}

/// The name that is most like what was given, if any is like it at all.
pub(super) fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long name is no typing error: no near name is searched.
    if given.len() > 100 {
        return None;
    }
    let likeness = |name: &'a str| (strsim::jaro_winkler(&given.to_lowercase(), &name.to_lowercase()), name);
    names
        .into_iter()
        .map(likeness)
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name() {
        let names = ["configure", "calibrate", "register", "set-time", "read-status", "reboot"];
        assert_eq!(nearest("configur", names), Some("configure"));
        assert_eq!(nearest("Set-Tine", names), Some("set-time"));
        assert_eq!(nearest("xyz", names), None);
        assert_eq!(nearest(&"c".repeat(1000), names), None);
    }

    #[test]
    fn waiting_is_whole_seconds_and_never_none() {
        for (wait_ms, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (59_001, "60")] {
            let response =
                ApiError::too_many("rate", "too many", Duration::from_millis(wait_ms)).into_response();
            assert_eq!(response.headers()[header::RETRY_AFTER], seconds);
        }
    }
}
