//! The dashboard: the files that were in `web/dist` when this was built.

use axum::Extension;
use axum::body::Body;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use std::borrow::Cow;
use std::fmt::Write as _;
use tower_http::compression::{CompressionLayer, Predicate};

#[derive(RustEmbed)]
#[folder = "../../web/dist/"]
struct Dashboard;

/// Shown while there is no dashboard.
const NOT_BUILT: &str = "<!doctype html>
<html lang=\"en\">
<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>WattSeal</title></head>
<body>
<h1>WattSeal</h1>
<p>The collector is running, but it was built without its dashboard. To build both, in the folder of the sources:</p>
<pre>cd web &amp;&amp; npm ci &amp;&amp; npm run build &amp;&amp; cd .. &amp;&amp; cargo build --release</pre>
<p>The API needs no dashboard: <a href=\"/api/v1/openapi.json\">its description</a>, <a href=\"/api/v1/health\">health</a>.</p>
</body>
</html>
";

/// A mark of the answers that are compressed: the dashboard's files. The API's are not, because
/// their length under compression would tell what they say.
#[derive(Clone)]
struct Compressed;

/// Compresses the dashboard's files for clients that take gzip.
pub(super) fn compression() -> CompressionLayer<impl Predicate> {
    let is_file = |_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions| {
        extensions.get::<Compressed>().is_some()
    };
    CompressionLayer::new().compress_when(is_file)
}

/// Every path outside the API.
pub(super) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let path = uri.path().trim_start_matches('/');
    if let Some(file) = Dashboard::get(path) {
        return answer(path, file.data, file.metadata.sha256_hash(), &headers);
    }
    // A path without a file that looks like a page is one of the dashboard's own.
    if path.rsplit('/').next().is_some_and(|name| name.contains('.')) {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    }
    match Dashboard::get("index.html") {
        Some(page) => answer("index.html", page.data, page.metadata.sha256_hash(), &headers),
        None => {
            let html = HeaderValue::from_static("text/html; charset=utf-8");
            let never = HeaderValue::from_static("no-store");
            ([(header::CONTENT_TYPE, html), (header::CACHE_CONTROL, never)], NOT_BUILT).into_response()
        }
    }
}

/// Files under `assets/` have their content in their names and never change; others are asked for
/// again each time.
fn answer(path: &str, data: Cow<'static, [u8]>, hash: [u8; 32], headers: &HeaderMap) -> Response {
    let caching =
        if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tag = tag(&hash);
    let is_known = |known: &HeaderValue| {
        known
            .to_str()
            .is_ok_and(|known| known.split(',').any(|known| known.trim() == tag || known.trim() == "*"))
    };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(is_known);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = mime_guess::from_path(path).first_or_octet_stream();
        let kind = if kind.type_() == "text" { format!("{kind}; charset=utf-8") } else { kind.to_string() };
        (Extension(Compressed), [(header::CONTENT_TYPE, kind)], Body::from(data)).into_response()
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// A weak validator, because the same file goes out as it is and compressed (RFC 9110, 8.8.1).
fn tag(hash: &[u8; 32]) -> String {
    let mut tag = String::from("W/\"");
    for byte in &hash[..16] {
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

#[cfg(test)]
mod tests {
    use super::*;
    fn file(path: &str, headers: &HeaderMap) -> Response {
        answer(path, b"let x = 1;".as_slice().into(), [7; 32], headers)
    }

    #[test]
    fn files_are_sent_once() {
        let first = file("assets/index-1a2b.js", &HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert!(first.headers()[header::CACHE_CONTROL].to_str().expect("text").contains("immutable"));
        let tag = first.headers()[header::ETAG].clone();
        assert_eq!(tag, "W/\"07070707070707070707070707070707\"");
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, tag);
        let again = file("index.html", &headers);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(again.headers()[header::CACHE_CONTROL], "no-cache");
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"other\""));
        assert_eq!(file("index.html", &headers).status(), StatusCode::OK);
    }
}
