//! Requests that a page of somewhere else makes a browser send: across origins, and by a name that was bound to loopback (DNS rebinding).
//!
//! The rule across origins is that of Go's `CrossOriginProtection`: browsers say where a request is from (`Sec-Fetch-Site`, `Origin`);
//! who says neither is no browser, and has no cookie of somebody else.

use super::error::ApiError;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, header};
use std::net::IpAddr;

/// Headers of proxies: who comes through one is not from here.
const FORWARDED: [&str; 5] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/// Whether a request that changes something comes from where it goes to.
pub(super) fn same_origin(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    from_here(uri, headers)
}

/// The same for any request.
pub(super) fn from_here(uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let refused = || ApiError::forbidden("other-origin", "a page of another origin may not do this");
    if let Some(site) = headers.get("sec-fetch-site") {
        return if site == "same-origin" || site == "none" { Ok(()) } else { Err(refused()) };
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin: Option<Uri> = origin.to_str().ok().and_then(|text| text.parse().ok());
    let origin = origin.as_ref().and_then(Uri::authority);
    match (origin, hosts(uri, headers).as_deref()) {
        (Some(origin), Some([host, ..])) if origin.as_str().eq_ignore_ascii_case(host.as_str()) => Ok(()),
        _ => Err(refused()),
    }
}

/// Whether everything in a request says that it was made on this machine and for this machine.
pub(super) fn local(uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if let Some(name) = FORWARDED.into_iter().find(|name| headers.contains_key(*name)) {
        let message = format!(
            "a request with {name} comes through a proxy; without a token only who is on this machine may do this"
        );
        return Err(ApiError::forbidden("proxied", message)
            .hint("make a token: POST /api/v1/tokens, or ./wattseal tokens add"));
    }
    let names_loopback = hosts(uri, headers)
        .is_some_and(|hosts| !hosts.is_empty() && hosts.iter().all(|host| is_loopback_name(host.host())));
    if !names_loopback {
        let message = "without a token requests have to name a loopback host: localhost, 127.0.0.1 or [::1]";
        return Err(ApiError::forbidden("host", message));
    }
    from_here(uri, headers)
}

/// Every host that the request names; `None` if one of them is none.
fn hosts(uri: &Uri, headers: &HeaderMap) -> Option<Vec<Authority>> {
    let named = headers.get_all(header::HOST).iter().map(|host| host.to_str().ok()?.parse().ok());
    uri.authority().cloned().map(Some).into_iter().chain(named).collect()
}

fn is_loopback_name(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn other_origins_may_not_change_anything() {
        let uri = Uri::from_static("/api/v1/tokens");
        let cases: [(&[(&str, &str)], bool); 11] = [
            (&[("host", "wattseal.lan")], true),
            (&[("host", "wattseal.lan"), ("sec-fetch-site", "same-origin")], true),
            (&[("host", "wattseal.lan"), ("sec-fetch-site", "none")], true),
            (&[("host", "wattseal.lan"), ("sec-fetch-site", "same-site")], false),
            (&[("host", "wattseal.lan"), ("sec-fetch-site", "cross-site")], false),
            (&[("host", "wattseal.lan:8080"), ("origin", "https://wattseal.lan:8080")], true),
            (&[("host", "wattseal.lan:8080"), ("origin", "https://wattseal.lan")], false),
            (&[("host", "wattseal.lan"), ("origin", "https://evil.example")], false),
            (&[("host", "wattseal.lan"), ("origin", "null")], false),
            (&[("origin", "https://wattseal.lan")], false),
            (&[("host", "wattseal.lan"), ("origin", "")], false),
        ];
        for (pairs, passes) in cases {
            let headers = headers(pairs);
            assert_eq!(same_origin(&Method::POST, &uri, &headers).is_ok(), passes, "{pairs:?}");
            assert!(same_origin(&Method::GET, &uri, &headers).is_ok());
        }
        let http2 = Uri::from_static("https://wattseal.lan/api/v1/tokens");
        assert!(same_origin(&Method::POST, &http2, &headers(&[("origin", "https://wattseal.lan")])).is_ok());
    }

    #[test]
    fn only_loopback_names_are_local() {
        let path = Uri::from_static("/api/v1/meters");
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.3.2.1", "[::1]:8080"] {
            assert!(local(&path, &headers(&[("host", host)])).is_ok(), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8080",
            "192.0.2.1",
            "0.0.0.0",
            "",
        ] {
            assert!(local(&path, &headers(&[("host", host)])).is_err(), "{host}");
        }
        assert!(local(&path, &headers(&[])).is_err());
        let both = Uri::from_static("http://localhost/api/v1/meters");
        assert!(local(&both, &headers(&[("host", "evil.example")])).is_err());
        assert!(local(&path, &headers(&[("host", "localhost"), ("x-forwarded-for", "192.0.2.7")])).is_err());
        assert!(local(&path, &headers(&[("host", "localhost"), ("sec-fetch-site", "cross-site")])).is_err());
    }
}
