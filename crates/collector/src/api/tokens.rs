//! Tokens: made, listed, revoked.

use super::access::Caller;
use super::error::ApiError;
use super::extract::{Body, InPath};
use super::secret::Secret;
use super::state::{Api, now_ms};
use crate::store::{NewAction, NewToken, Role, TokenRecord, Write, Written};
use crate::tokens::{TokenError, check_name};
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A token, without its secret, which is not kept.
#[derive(Serialize, ToSchema)]
pub(super) struct Token {
    id: i64,
    /// Whose or what for it is; actions and commands are by this name.
    #[schema(example = "anna")]
    name: String,
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
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$",
        example = "anna"
    )]
    name: String,
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
#[utoipa::path(get, path = "/tokens", tag = "administration", responses((status = OK, body = Vec<Token>)))]
pub(super) async fn list(State(api): State<Api>) -> Result<Json<Vec<Token>>, ApiError> {
    let tokens = api.read(crate::store::Reader::tokens).await?;
    Ok(Json(tokens.iter().map(Token::from).collect()))
}

/// Makes a token. The first one has to be an administrator's: from then on nothing is done without one.
#[utoipa::path(post, path = "/tokens", tag = "administration", request_body = TokenWanted,
    responses((status = CREATED, body = MadeToken), (status = CONFLICT, description = "name taken, or a viewer first")))]
pub(super) async fn make(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(wanted): Body<TokenWanted>,
) -> Result<(StatusCode, Json<MadeToken>), ApiError> {
    let name = wanted.name.trim().to_owned();
    let _one_at_a_time = api.changing_tokens.lock().await;
    let tokens = api.read(crate::store::Reader::tokens).await?;
    check_name(&tokens, &name).map_err(|refused| match refused {
        TokenError::NameTaken(_) => ApiError::conflict("name-taken", refused.to_string()),
        _ => ApiError::unprocessable("name-wrong", refused.to_string()),
    })?;
    if wanted.role != Role::Administrator && !tokens.iter().any(is_administrator) {
        let message = "without an administrator's token nobody could change anything any more";
        return Err(ApiError::conflict("administrator-first", message)
            .hint("make one with the role administrator first"));
    }
    let created_ms = now_ms();
    let secret = Secret::generate(&mut rand::rng());
    let token = NewToken { name, role: wanted.role, hash: secret.hash().0, created_ms };
    let what = format!("made the token {:?}, {}", token.name, role_name(token.role));
    let new = Write::Token(token.clone());
    let written = api.write(vec![new, action(&caller, created_ms, what)]).await?;
    api.forget_tokens();
    let Some(Written::Token(id)) = written.first() else {
        return Err(ApiError::unavailable("store", "the token was not stored"));
    };
    let token = Token {
        id: *id,
        name: token.name,
        role: token.role,
        created_s: created_ms.div_euclid(1000),
        last_used_s: None,
        revoked_s: None,
    };
    Ok((StatusCode::CREATED, Json(MadeToken { token, secret: secret.expose().to_owned() })))
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
    if is_administrator(token) && tokens.iter().filter(|token| is_administrator(token)).count() == 1 {
        let message =
            "this is the last administrator's token; without it nobody could change anything any more";
        return Err(ApiError::conflict("last-administrator", message).hint("make another one first"));
    }
    let at_ms = now_ms();
    let what = format!("revoked the token {:?}, {}", token.name, role_name(token.role));
    api.write(vec![Write::TokenRevoked { token: id, at_ms }, action(&caller, at_ms, what)]).await?;
    api.forget_tokens();
    let token = TokenRecord { revoked_ms: Some(at_ms), ..token.clone() };
    Ok(Json((&token).into()))
}

/// What is kept of who did what.
pub(super) fn action(caller: &Caller, at_ms: i64, what: String) -> Write {
    tracing::info!(who = caller.name, what, "changed");
    Write::Action(NewAction { at_ms, who: caller.name.clone(), what })
}

fn is_administrator(token: &TokenRecord) -> bool {
    token.role == Role::Administrator && token.revoked_ms.is_none()
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Administrator => "administrator",
    }
}
