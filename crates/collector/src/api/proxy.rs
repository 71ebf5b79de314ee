//! Requests that come through a reverse proxy (`--proxy`), whose address all of its users would
//! share.

use super::state::Api;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use std::net::{IpAddr, SocketAddr};

/// The address that each proxy adds at the end: its client's. Anybody may have written the text
/// before it.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Puts the address of the proxy's user in the place of the proxy's.
pub(super) async fn forwarded(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| *peer);
    if let Some(peer) = peer
        && api.proxies.contains(&peer.ip().to_canonical())
        && let Some(user) = last_forwarded(request.headers())
    {
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(user, 0)));
    }
    next.run(request).await
}

/// `None`: there is none, or it is no address.
fn last_forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all(FORWARDED_FOR).iter().next_back()?.to_str().ok()?;
    last.rsplit(',').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_address_of_the_last_header_counts() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                headers.append(FORWARDED_FOR, axum::http::HeaderValue::from_static(value));
            });
            last_forwarded(&headers).map(|address| address.to_string())
        };
        assert_eq!(of(&["192.0.2.1"]).as_deref(), Some("192.0.2.1"));
        assert_eq!(of(&["192.0.2.9, 192.0.2.1", "192.0.2.8 ,2001:db8::1"]).as_deref(), Some("2001:db8::1"));
        for nothing in [&[][..], &[""], &["192.0.2.1,"], &["192.0.2.1, unknown"], &["192.0.2.1", "host"]] {
            assert_eq!(of(nothing), None, "{nothing:?}");
        }
    }
}
