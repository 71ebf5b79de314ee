//! Browsers sign in with a token, and have it from then on in a cookie that no page can read. A
//! revoked token is out at once.

use super::access::{identify, recognise};
use super::cookie;
use super::error::ApiError;
use super::extract::Body;
use super::schema::RoleName;
use super::state::Api;
use crate::store::Role;
use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::CookieJar;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use utoipa::ToSchema;
use zeroize::Zeroizing;

/// The holder of a session.
#[derive(Serialize, ToSchema)]
pub(super) struct Session {
    /// The token's name.
    #[schema(example = "anna")]
    name: String,
    #[schema(value_type = RoleName)]
    role: Role,
}

/// To sign in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignIn {
    /// `wst_` and 43 characters.
    #[schema(value_type = String)]
    token: GivenSecret,
}

/// A secret from a request; wiped, and shown nowhere.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct GivenSecret(Zeroizing<String>);

impl GivenSecret {
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GivenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenSecret(..)")
    }
}

/// Signs in: the answer's cookie is the token.
#[utoipa::path(post, path = "/session", tag = "session", request_body = SignIn,
    responses((status = OK, body = Session), (status = UNAUTHORIZED, description = "no such token")))]
pub(super) async fn sign_in(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Body(given): Body<SignIn>,
) -> Result<Response, ApiError> {
    let tokens = api.tokens().await?;
    let caller = recognise(&api, peer.ip(), &tokens, Some(given.token.expose()), true)?;
    tracing::info!(peer = %peer.ip(), name = caller.name, "signed in");
    let cookie = cookie::with(given.token.expose(), api.tls)?;
    Ok(([(header::SET_COOKIE, cookie)], Json(Session { name: caller.name, role: caller.role }))
        .into_response())
}

/// The holder of the session or of the token.
#[utoipa::path(get, path = "/session", tag = "session",
    responses((status = OK, body = Session), (status = UNAUTHORIZED, description = "nobody")))]
pub(super) async fn who(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let caller = identify(&api, peer.ip(), &headers).await?;
    let mut response = Json(Session { name: caller.name, role: caller.role }).into_response();
    if caller.by_cookie {
        let jar = CookieJar::from_headers(&headers);
        if let Some(given) = jar.get(cookie::name(api.tls)) {
            response.headers_mut().append(header::SET_COOKIE, cookie::with(given.value(), api.tls)?);
        }
    }
    Ok(response)
}

/// Signs out.
#[utoipa::path(delete, path = "/session", tag = "session",
    responses((status = NO_CONTENT, description = "the cookie is taken back")))]
pub(super) async fn sign_out(State(api): State<Api>) -> Response {
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie::taken_back(api.tls))]).into_response()
}
