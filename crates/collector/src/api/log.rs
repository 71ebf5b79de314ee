//! Requests in the log: at debug level all, at info level those that were refused. Never a header,
//! an argument or a body, of a path only which route it took, of a method only one that is known:
//! somebody may have put a token anywhere.

use super::access::peer;
use super::error::Refused;
use super::state::now_ms;
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// When a flood was written about last, in ms.
static FLOOD_TOLD_MS: AtomicI64 = AtomicI64::new(0);

pub(super) async fn requests(request: Request, next: Next) -> Response {
    let (peer, method) = (peer(&request), known(request.method()));
    let route = request.extensions().get::<MatchedPath>().cloned();
    let begun = Instant::now();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    let status = response.status().as_u16();
    let took_us = begun.elapsed().as_micros() as u64;
    match response.extensions().get::<Refused>() {
        Some(Refused(code)) if is_worth_telling(response.status(), code) => {
            tracing::info!(%peer, method, route, status, code, "refused");
        }
        _ => tracing::debug!(%peer, method, route, status, took_us, "answered"),
    }
    response
}

/// A method by name; anything can stand in the place of one.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::PUT => "PUT",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Says if a refusal is logged: of a flood a line a second is enough.
fn is_worth_telling(status: StatusCode, code: &str) -> bool {
    match status {
        StatusCode::UNAUTHORIZED => !matches!(code, "token-missing" | "no-administrator"),
        StatusCode::FORBIDDEN => true,
        StatusCode::TOO_MANY_REQUESTS => {
            let now_ms = now_ms();
            let told_ms = FLOOD_TOLD_MS.load(Ordering::Relaxed);
            now_ms.abs_diff(told_ms) >= 1000
                && FLOOD_TOLD_MS
                    .compare_exchange(told_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
        }
        _ => false,
    }
}
