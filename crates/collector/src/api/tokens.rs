//! Tokens: made, listed, revoked.

use super::access::Caller;
use super::cookie;
use super::error::ApiError;
use super::extract::{Body, InPath};
use super::schema::RoleName;
use super::session::GivenSecret;
use super::state::{Api, now_ms};
use crate::secret::Secret;
use crate::store::{NewAction, NewToken, Role, TokenRecord, Write, Written, has_administrator};
use crate::tokens::{BY_LINK, TokenError, check};
use axum::extract::{ConnectInfo, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use utoipa::ToSchema;

/// The default name of the first token.
const FIRST_NAME: &str = "administrator";

/// A token, without its secret, which is not kept.
#[derive(Serialize, ToSchema)]
pub(super) struct Token {
    id: i64,
    /// The holder or the purpose; actions and commands are recorded under this name.
    #[schema(example = "anna")]
    name: String,
    #[schema(value_type = RoleName)]
    role: Role,
    created_s: i64,
    last_used_s: Option<i64>,
    revoked_s: Option<i64>,
}

/// A token that was just made.
#[derive(Serialize, ToSchema)]
pub(super) struct MadeToken {
    #[serde(flatten)]
    token: Token,
    /// The secret: it is shown this once.
    #[serde(rename = "token")]
    secret: String,
}

/// A token to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenWanted {
    /// No two tokens that hold have the same.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = r"^[^\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*[^\s\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff][^\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$",
        example = "anna"
    )]
    name: String,
    #[schema(value_type = RoleName)]
    role: Role,
}

impl From<&TokenRecord> for Token {
    fn from(token: &TokenRecord) -> Token {
        let seconds = |at_ms: i64| at_ms.div_euclid(1000);
        Token {
            id: token.id,
            name: token.name.clone(),
            role: token.role,
            created_s: seconds(token.created_ms),
            last_used_s: token.last_used_ms.map(seconds),
            revoked_s: token.revoked_ms.map(seconds),
        }
    }
}

/// All tokens, oldest first, also revoked ones.
#[utoipa::path(get, path = "/tokens", operation_id = "list_tokens", tag = "administration", responses((status = OK, body = Vec<Token>)))]
pub(super) async fn list(State(api): State<Api>) -> Result<Json<Vec<Token>>, ApiError> {
    let tokens = api.read(crate::store::Reader::tokens).await?;
    Ok(Json(tokens.iter().map(Token::from).collect()))
}

/// Makes a token.
#[utoipa::path(post, path = "/tokens", tag = "administration", request_body = TokenWanted,
    responses((status = CREATED, body = MadeToken), (status = CONFLICT, description = "name taken")))]
pub(super) async fn make(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(wanted): Body<TokenWanted>,
) -> Result<(StatusCode, Json<MadeToken>), ApiError> {
    let _one_at_a_time = api.changing_tokens.lock().await;
    let tokens = api.read(crate::store::Reader::tokens).await?;
    let made = store(&api, &tokens, &caller.name, &wanted.name, wanted.role).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// The request of the one-time link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FirstWanted {
    /// The text in the link behind `#/first/`: `wsl_` and 43 characters.
    #[schema(value_type = String)]
    secret: GivenSecret,
    /// The token's name; `administrator` if left out.
    #[schema(min_length = 1, max_length = 64, example = "anna")]
    name: Option<String>,
}

/// Makes the first administrator's token for the holder of the one-time link, and signs in with it.
/// The link is worth nothing from then on.
#[utoipa::path(post, path = "/tokens/first", tag = "session", request_body = FirstWanted,
    responses((status = CREATED, body = MadeToken), (status = CONFLICT, description = "name taken"),
        (status = UNAUTHORIZED, description = "another link, or one that was used")))]
pub(super) async fn make_first(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Body(wanted): Body<FirstWanted>,
) -> Result<Response, ApiError> {
    let link = api.parts.one_time_link.as_ref().filter(|link| link.opens(wanted.secret.expose()));
    let Some(link) = link else {
        api.limits.failure(peer.ip())?;
        return Err(link_over());
    };
    let _one_at_a_time = api.changing_tokens.lock().await;
    let tokens = api.read(crate::store::Reader::tokens).await?;
    if has_administrator(&tokens) {
        return Err(link_over());
    }
    let name = wanted.name.as_deref().unwrap_or(FIRST_NAME);
    let made = store(&api, &tokens, BY_LINK, name, Role::Administrator).await?;
    link.remove();
    let cookie = cookie::with(&made.secret, api.tls)?;
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], Json(made)).into_response())
}

fn link_over() -> ApiError {
    ApiError::unauthorized("link-over", "this link was used already, or is of an earlier start of the collector")
        .hint("sign in with a token; while no administrator has one, each start of the collector makes another link")
}

/// Has a new token stored, if there may be one of this name and role.
async fn store(
    api: &Api,
    tokens: &[TokenRecord],
    who: &str,
    name: &str,
    role: Role,
) -> Result<MadeToken, ApiError> {
    let name = name.trim().to_owned();
    check(tokens, &name, role).map_err(|refused| match refused {
        TokenError::NameTaken(_) => ApiError::conflict("name-taken", refused.to_string()),
        _ => ApiError::unprocessable("name-wrong", refused.to_string()),
    })?;
    let created_ms = now_ms();
    let secret = Secret::generate(&mut rand::rng());
    let token = NewToken { name, role, hash: secret.hash().0, created_ms };
    let what = format!("made the token {:?}, {}", token.name, role_name(role));
    let new = Write::Token(token.clone());
    let written = api.write(vec![new, action(who, created_ms, what)]).await?;
    api.forget_tokens();
    let Some(Written::Token(id)) = written.first() else {
        return Err(ApiError::unavailable("store", "the token was not stored"));
    };
    let token = Token {
        id: *id,
        name: token.name,
        role,
        created_s: created_ms.div_euclid(1000),
        last_used_s: None,
        revoked_s: None,
    };
    Ok(MadeToken { token, secret: secret.expose().to_owned() })
}

/// Revokes a token. The last administrator's stays.
#[utoipa::path(delete, path = "/tokens/{id}", tag = "administration", params(("id" = i64, Path)),
    responses((status = OK, body = Token), (status = CONFLICT, description = "the last administrator's")))]
pub(super) async fn revoke(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath(id): InPath<i64>,
) -> Result<Json<Token>, ApiError> {
    let _one_at_a_time = api.changing_tokens.lock().await;
    let tokens = api.read(crate::store::Reader::tokens).await?;
    let Some(token) = tokens.iter().find(|token| token.id == id) else {
        return Err(ApiError::not_found("token-unknown", format!("there is no token {id}"))
            .hint("GET /api/v1/tokens lists them"));
    };
    if token.revoked_ms.is_some() {
        return Ok(Json(token.into()));
    }
    if token.is_administrator() && tokens.iter().filter(|token| token.is_administrator()).count() == 1 {
        let message =
            "this is the last administrator's token; without it nobody could change anything any more";
        return Err(ApiError::conflict("last-administrator", message).hint("make another one first"));
    }
    let at_ms = now_ms();
    let what = format!("revoked the token {:?}, {}", token.name, role_name(token.role));
    api.write(vec![Write::TokenRevoked { token: id, at_ms }, action(&caller.name, at_ms, what)]).await?;
    api.forget_tokens();
    let token = TokenRecord { revoked_ms: Some(at_ms), ..token.clone() };
    Ok(Json((&token).into()))
}

/// Returns the record of an administrator's action.
pub(super) fn action(who: &str, at_ms: i64, what: String) -> Write {
    tracing::info!(who, what, "changed");
    Write::Action(NewAction { at_ms, who: who.to_owned(), what })
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Administrator => "administrator",
    }
}
