//! All routes, and what every request goes through before it comes to its own.

use super::access::{self, Gate, peer};
use super::error::{ApiError, nearest};
use super::state::Api;
use super::{
    actions, alerts, assets, commands, consumption, costs, events, headers, health, images, log, meters,
    metrics, openapi, origin, places, proxy, readings, session, telegrams, tokens, updates,
};
use crate::store::Role;
use axum::Router;
use axum::extract::{DefaultBodyLimit, OriginalUri, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::time::Duration;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The path of all routes.
pub(super) const BASE: &str = "/api/v1";
/// Bytes of a body at most, but for images.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// An answer begins within this, or there is none.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// For everybody.
fn open() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(openapi::description))
        .routes(routes!(session::sign_in, session::who, session::sign_out))
        .routes(routes!(tokens::make_first))
}

/// For who may look.
fn viewers() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(meters::list))
        .routes(routes!(meters::one))
        .routes(routes!(readings::page))
        .routes(routes!(telegrams::meters))
        .routes(routes!(telegrams::telegrams))
        .routes(routes!(consumption::table))
        .routes(routes!(alerts::list))
        .routes(routes!(commands::list))
        .routes(routes!(images::list))
        .routes(routes!(updates::list))
        .routes(routes!(costs::costs))
        .routes(routes!(events::follow))
        .routes(routes!(metrics::metrics))
}

/// For who may change and command.
fn administrators() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(meters::rename))
        .routes(routes!(alerts::acknowledge))
        .routes(routes!(commands::give))
        .routes(routes!(commands::withdraw))
        .merge(
            OpenApiRouter::new()
                .routes(routes!(images::add))
                .layer(DefaultBodyLimit::max(images::IMAGE_BYTES_MAX)),
        )
        .routes(routes!(images::remove))
        .routes(routes!(updates::begin))
        .routes(routes!(updates::withdraw))
        .routes(routes!(tokens::list, tokens::make))
        .routes(routes!(tokens::revoke))
        .routes(routes!(actions::list))
}

/// Everything that is served.
pub(super) fn router(api: &Api) -> Router {
    let guard = |mut routes: OpenApiRouter<Api>, role| {
        openapi::guarded(routes.get_openapi_mut(), role);
        routes.route_layer(from_fn_with_state(Gate { api: api.clone(), role }, access::pass))
    };
    let all =
        open().merge(guard(viewers(), Role::Viewer)).merge(guard(administrators(), Role::Administrator));
    let (router, mut description) = OpenApiRouter::new().nest(BASE, all).split_for_parts();
    openapi::complete(&mut description, api.tls);
    let paths = description.paths.paths.keys().cloned().collect();
    api.describe(description.to_json().unwrap_or_default(), paths);
    router
        .method_not_allowed_fallback(other_method)
        .fallback(other)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(api.clone(), admit))
        .layer(assets::compression())
        .layer(from_fn(log::requests))
        .layer(from_fn(headers::set))
        .layer(from_fn_with_state(api.clone(), proxy::forwarded))
        .layer(from_fn(places::track))
        .with_state(api.clone())
}

/// Not too often, not from another origin, not for ever.
async fn admit(State(api): State<Api>, request: Request, next: Next) -> Response {
    if let Err(error) = api.limits.request(peer(&request)) {
        return error.into_response();
    }
    if let Err(error) = origin::same_origin(request.method(), request.uri(), request.headers()) {
        return error.into_response();
    }
    match tokio::time::timeout(ANSWER_WITHIN, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            ApiError::unavailable("too-slow", "the answer took too long, or the request was not sent whole")
                .into_response()
        }
    }
}

/// A route that there is, with a method that it has not.
async fn other_method(method: Method, OriginalUri(uri): OriginalUri) -> ApiError {
    let message = format!("{} does not take {method}", path_for_people(&uri));
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        .hint("the header Allow says what it takes")
}

/// No route of the API: a file of the dashboard, or nothing.
async fn other(State(api): State<Api>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if path != "/api" && !path.starts_with("/api/") {
        return assets::serve(method, uri, headers).await;
    }
    let error = ApiError::not_found("route-unknown", format!("there is no {}", path_for_people(&uri)));
    match nearest(path, api.paths().iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean {near}? {BASE}/openapi.json lists all")),
        None => error.hint(format!("{BASE}/openapi.json lists all")),
    }
    .into_response()
}

/// As much of the path as a person wants to see again.
fn path_for_people(uri: &Uri) -> String {
    uri.path().chars().take(80).collect()
}
