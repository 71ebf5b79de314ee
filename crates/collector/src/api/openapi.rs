//! The API's description for programs, and what of it no route says of itself.

use super::cookie;
use super::error::ErrorBody;
use super::state::Api;
use crate::store::Role;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, OpenApi, PathItem, Ref, ResponseBuilder, ServerBuilder,
};
use utoipa::{PartialSchema, ToSchema};

const TITLE: &str = "WattSeal";
const DESCRIPTION: &str = "The collector of sealed meter readings. Times in answers are Unix seconds; in arguments RFC 3339 or Unix \
    seconds. An answer that is not a success is an `Error`.";

/// This description (OpenAPI 3.1).
#[utoipa::path(get, path = "/openapi.json", tag = "service",
    responses((status = OK, description = "OpenAPI 3.1", content_type = "application/json", body = Object)))]
pub(super) async fn description(State(api): State<Api>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], api.description()).into_response()
}

/// Completes the description with the common parts of all routes.
pub(super) fn complete(api: &mut OpenApi, tls: bool) {
    let mut info = InfoBuilder::new()
        .title(TITLE)
        .description(Some(DESCRIPTION))
        .version(env!("CARGO_PKG_VERSION"))
        .build();
    info.license = Some(utoipa::openapi::License::new("MIT OR Apache-2.0"));
    api.info = info;
    api.servers = Some(vec![ServerBuilder::new().url("/").build()]);
    let components = api.components.get_or_insert_with(Components::new);
    let mut schemas = Vec::new();
    ErrorBody::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.insert("Error".into(), ErrorBody::schema());
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("wst_").build();
    components.add_security_scheme("token", SecurityScheme::Http(token));
    let cookie = ApiKeyValue::new(cookie::name(tls));
    components.add_security_scheme("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    for operation in api.paths.paths.values_mut().flat_map(operations) {
        refuses(operation, "429", "too many requests, or too many wrong tokens");
        refuses(operation, "503", "nothing can be read or stored at the moment");
        if operation.parameters.as_ref().is_some_and(|parameters| !parameters.is_empty()) {
            refuses(operation, "400", "an argument that there is not, or of another form");
        }
        let in_path = |parameter: &RefOr<Parameter>| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Path);
        if operation.parameters.iter().flatten().any(in_path) {
            refuses(operation, "404", "there is no such thing");
        }
        if operation.request_body.is_some() {
            refuses(operation, "400", "the body is not JSON");
            refuses(operation, "413", "the body is too large");
            refuses(operation, "422", "the body has other contents than it may");
        }
    }
}

/// Completes the description with the common parts of routes that need a token.
pub(super) fn guarded(api: &mut OpenApi, role: Role) {
    let scope = match role {
        Role::Viewer => "viewer",
        Role::Administrator => "administrator",
    };
    for operation in api.paths.paths.values_mut().flat_map(operations) {
        let scopes = || std::iter::once(scope);
        operation.security = Some(vec![
            SecurityRequirement::new("token", scopes()),
            SecurityRequirement::new("cookie", scopes()),
        ]);
        refuses(operation, "401", "no token, or a wrong one");
        refuses(operation, "403", "a viewer, or a page of another origin");
    }
}

/// All operations of a path.
pub(super) fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
        &mut item.head,
        &mut item.options,
        &mut item.trace,
    ]
    .into_iter()
    .flatten()
}

fn refuses(operation: &mut Operation, status: &str, description: &str) {
    let error = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
    let response = ResponseBuilder::new().description(description).content("application/json", error).build();
    operation.responses.responses.entry(status.to_owned()).or_insert(response.into());
}
