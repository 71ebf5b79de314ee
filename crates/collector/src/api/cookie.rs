//! The cookie that a browser has its token in.

use super::error::ApiError;
use axum::http::HeaderValue;
use axum_extra::extract::cookie::{Cookie, SameSite};
use time::Duration;

/// The time that a browser stays signed in after its last request.
const SIGNED_IN_FOR: Duration = Duration::days(30);

/// With TLS browsers see to it that no other host and no page without TLS has set it.
pub(super) fn name(tls: bool) -> &'static str {
    if tls { "__Host-wattseal" } else { "wattseal" }
}

/// The cookie with a token that was recognised.
pub(super) fn with(token: &str, tls: bool) -> Result<HeaderValue, ApiError> {
    let wrong = |_| ApiError::bad_request("token-wrong", "this token is not known here");
    let mut value = HeaderValue::from_str(&set(token, SIGNED_IN_FOR, tls)).map_err(wrong)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Takes the cookie back.
pub(super) fn taken_back(tls: bool) -> HeaderValue {
    HeaderValue::from_str(&set("", Duration::ZERO, tls)).unwrap_or(HeaderValue::from_static(""))
}

fn set(token: &str, lasts: Duration, tls: bool) -> String {
    let cookie = Cookie::build((name(tls), token)).path("/").max_age(lasts).http_only(true);
    cookie.same_site(SameSite::Strict).secure(tls).to_string()
}
