//! The caller of a request, and the caller's rights.

use super::cookie;
use super::error::ApiError;
use super::places::Place;
use super::state::Api;
use crate::secret::{Secret, TokenHash};
use crate::store::{Role, TokenRecord, has_administrator};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::CookieJar;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Somebody who was recognised.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The token's.
    pub(super) token: i64,
    pub(super) name: String,
    pub(super) role: Role,
    /// Says if a cookie authenticated the caller.
    pub(super) by_cookie: bool,
}

impl Caller {
    fn of(token: &TokenRecord, by_cookie: bool) -> Caller {
        Caller { token: token.id, name: token.name.clone(), role: token.role, by_cookie }
    }

    /// Says if the caller would still be recognised.
    pub(super) fn holds(&self, tokens: &[TokenRecord]) -> bool {
        tokens.iter().any(|token| token.id == self.token && token.revoked_ms.is_none())
    }
}

/// The checks before the routes of a role.
#[derive(Clone)]
pub(super) struct Gate {
    pub(super) api: Api,
    pub(super) role: Role,
}

/// Lets those with the role through, and tells the route who it is.
pub(super) async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let peer = peer(&request);
    let identified = identify(&gate.api, peer, request.headers()).await;
    if let Some(place) = request.extensions().get::<Arc<Place>>() {
        match &identified {
            Ok(caller) => place.keep(caller.token),
            Err(_) => place.let_go(),
        }
    }
    let caller = match identified {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    if caller.role < gate.role {
        let message = format!("{} is a viewer; this takes an administrator", caller.name);
        return ApiError::forbidden("role", message).into_response();
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// Identifies the caller. Nobody is anybody without a token; a wrong one is counted.
pub(super) async fn identify(api: &Api, peer: IpAddr, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let tokens = api.tokens().await?;
    if let Some(given) = headers.get(header::AUTHORIZATION) {
        let given = given.to_str().ok().and_then(bearer);
        return recognise(api, peer, &tokens, given, false);
    }
    let jar = CookieJar::from_headers(headers);
    match jar.get(cookie::name(api.tls)) {
        Some(cookie) => {
            let caller = recognise(api, peer, &tokens, Some(cookie.value()), true);
            // Else the browser would be wrong again each time.
            caller.map_err(|error| error.header(header::SET_COOKIE, cookie::taken_back(api.tls)))
        }
        None => Err(nobody(api, &tokens)),
    }
}

/// Returns the error for a caller without a token: the way to one.
fn nobody(api: &Api, tokens: &[TokenRecord]) -> ApiError {
    if has_administrator(tokens) {
        return ApiError::unauthorized("token-missing", "this needs a token")
            .hint("Authorization: Bearer wst_.., or sign in with the dashboard");
    }
    let error =
        ApiError::unauthorized("no-administrator", "this needs a token, and no administrator has one yet");
    if api.parts.one_time_link.is_none() {
        return error
            .hint("make one: ./wattseal tokens add NAME --role administrator, with this collector's --db");
    }
    error.hint(
        "open the one-time link, which stands beside the collector's database in the file that ends in .one-time-link; or stop \
         the collector, and ./wattseal tokens add NAME --role administrator",
    )
}

/// Returns the holder of a token.
pub(super) fn recognise(
    api: &Api,
    peer: IpAddr,
    tokens: &[TokenRecord],
    given: Option<&str>,
    by_cookie: bool,
) -> Result<Caller, ApiError> {
    let hash = given.and_then(Secret::parse).map(|secret| secret.hash());
    // All are compared, whichever it is.
    let found = tokens.iter().fold(None, |found, token| {
        let is_it = hash == Some(TokenHash(token.hash)) && token.revoked_ms.is_none();
        if is_it { Some(token) } else { found }
    });
    match found {
        Some(token) => {
            api.token_used(token.id);
            Ok(Caller::of(token, by_cookie))
        }
        None => {
            api.limits.failure(peer)?;
            if !has_administrator(tokens) {
                return Err(nobody(api, tokens));
            }
            Err(ApiError::unauthorized("token-wrong", "this token is not known here, or was revoked"))
        }
    }
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the address that a request comes from.
pub(super) fn peer(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
}
