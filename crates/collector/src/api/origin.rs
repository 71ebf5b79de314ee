//! Requests that a page of somewhere else makes a browser send. A name that such a page has bound
//! to this machine (DNS rebinding) is of no use to it: nobody is anybody without a token, and the
//! browser's cookie is of the name that its owner uses.
//!
//! The rule is that of Go's `CrossOriginProtection`: browsers say where a request is from
//! (`Sec-Fetch-Site`, `Origin`); who says neither is no browser, and has no cookie of somebody
//! else.

use super::error::ApiError;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, header};

/// Checks that a request that changes something comes from its own origin.
pub(super) fn same_origin(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
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

/// Every host that the request names; `None` if one of them is none.
pub(crate) fn hosts(uri: &Uri, headers: &HeaderMap) -> Option<Vec<Authority>> {
    let named = headers.get_all(header::HOST).iter().map(|host| host.to_str().ok()?.parse().ok());
    uri.authority().cloned().map(Some).into_iter().chain(named).collect()
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
}
