//! `--health`: whether a role lives, whether it does its work, and what it counted.
//! docs/how-to/cluster.md, "Health".

use super::connection::ClusterError;
use super::status::{Permissions, Status};
use crate::api::metrics::Text;
use crate::api::origin;
use crate::api::serve::serve_on_loopback;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;

/// The address at which health is asked: one of this machine, because nobody has to authenticate.
#[derive(Clone, Copy, Debug)]
pub struct HealthListen(pub SocketAddr);

/// The role's metrics, in Prometheus' format.
pub(super) type Figures = Arc<dyn Fn(Text) -> Pin<Box<dyn Future<Output = Text> + Send>> + Send + Sync>;

#[derive(Clone)]
struct Health {
    role: &'static str,
    status: Status,
    figures: Figures,
}

impl HealthListen {
    /// Answers until the process ends. Returns where.
    ///
    /// # Errors
    /// [`ClusterError::Health`], [`ClusterError::Usage`] for an address that others reach.
    pub(super) fn serve(
        self,
        role: &'static str,
        status: Status,
        figures: Figures,
    ) -> Result<SocketAddr, ClusterError> {
        let HealthListen(address) = self;
        if !address.ip().to_canonical().is_loopback() {
            return Err(ClusterError::Usage(format!(
                "{address} can be reached from other machines, and health tells everybody; listen on loopback: --health 127.0.0.1:{}",
                address.port()
            )));
        }
        let failed = |error| ClusterError::Health { address, error };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let router = Router::new()
            .route("/health/live", get(|| async { Json(BTreeMap::from([("status", "ok")])) }))
            .route("/health/ready", get(ready))
            .route("/metrics", get(metrics))
            .layer(from_fn(by_loopback_name))
            .with_state(Health { role, status, figures });
        tokio::spawn(async move {
            // It ends with the process.
            if let Err(error) = serve_on_loopback(listener, router).await {
                tracing::error!(%error, "health is not answered any more");
            }
        });
        Ok(address)
    }
}

/// Answers clients that name this machine: a browser that a page has sent here by a name of its own
/// (DNS rebinding) names that.
async fn by_loopback_name(request: Request, next: Next) -> Response {
    let named = origin::hosts(request.uri(), request.headers()).unwrap_or_default();
    if !named.is_empty() && named.iter().all(|authority| is_loopback_name(authority.host())) {
        return next.run(request).await;
    }
    let why = "health answers to localhost and to addresses of loopback alone; ask http://localhost:PORT\n";
    (StatusCode::MISDIRECTED_REQUEST, why).into_response()
}

fn is_loopback_name(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host.eq_ignore_ascii_case("localhost"), |address| address.to_canonical().is_loopback())
}

/// `ok`, or what is in trouble with its reasons.
async fn ready(State(health): State<Health>) -> Response {
    let troubles = health.status.troubles();
    let (code, status) = match troubles.is_empty() {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "trouble"),
    };
    let detail: BTreeMap<&str, String> = troubles.into_iter().map(|(part, why)| (part.name(), why)).collect();
    let permissions = health.status.permissions().describe();
    let said = serde_json::json!({
        "role": health.role, "status": status, "detail": detail, "permissions": permissions
    });
    (code, Json(said)).into_response()
}

async fn metrics(State(health): State<Health>) -> Response {
    let mut text = Text::default();
    text.head("wattseal_build_info", "gauge", "The version, as a label");
    let labels = [("version", env!("CARGO_PKG_VERSION")), ("role", health.role)];
    text.labelled("wattseal_build_info", &labels, 1);
    let ready = u8::from(health.status.troubles().is_empty());
    text.one("wattseal_ready", "gauge", "Whether the role does its work", ready);
    let checked = u8::from(health.status.permissions() == Permissions::Narrow);
    text.one(
        "wattseal_nats_permissions_checked",
        "gauge",
        "Whether the servers said that the role's user may do no more than it needs",
        checked,
    );
    let Text(text) = (health.figures)(text).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    #[test]
    fn names_of_loopback_are_this_machine() {
        for name in ["localhost", "LocalHost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]"] {
            assert!(is_loopback_name(name), "{name}");
        }
        for name in ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1"] {
            assert!(!is_loopback_name(name), "{name}");
        }
    }

    fn listen(address: &str) -> Result<SocketAddr, ClusterError> {
        let figures: Figures = Arc::new(|text| Box::pin(async { text }));
        let listen = HealthListen(address.parse().expect("an address"));
        listen.serve("worker", Status::default(), figures)
    }

    /// The first line of the answer, or nothing.
    async fn asked(mut stream: TcpStream, host: &str) -> String {
        let head = format!("GET /health/live HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        let _ = stream.write_all(head.as_bytes()).await;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer.lines().next().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn address_that_others_reach_is_refused() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
            let error = listen(address).expect_err(address);
            assert!(matches!(error, ClusterError::Usage(_)), "{address}: {error}");
            assert!(error.to_string().contains("--health 127.0.0.1:0"), "{error}");
        }
        listen("127.0.0.1:0").expect("loopback");
    }

    #[tokio::test]
    async fn name_that_is_not_this_machine_s_is_not_answered() {
        let address = listen("127.0.0.1:0").expect("loopback");
        let ask =
            async |host: &str| asked(TcpStream::connect(address).await.expect("it listens"), host).await;
        for host in ["localhost", "localhost:8081", "127.0.0.1:8081", "[::1]:8081"] {
            assert_eq!(ask(&format!("Host: {host}\r\n")).await, "HTTP/1.1 200 OK", "{host}");
        }
        for hosts in ["Host: evil.example\r\n", "Host: localhost.evil.example:8081\r\n", ""] {
            assert_ne!(ask(hosts).await, "HTTP/1.1 200 OK", "{hosts}");
        }
        let both = "Host: localhost\r\nHost: evil.example\r\n";
        assert_ne!(ask(both).await, "HTTP/1.1 200 OK");
    }

    #[tokio::test]
    async fn silent_connections_are_closed_and_keep_nobody_out() {
        let address = listen("127.0.0.1:0").expect("loopback");
        let mut silent = Vec::new();
        for _ in 0..100 {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: loc").await.expect("written");
            silent.push(stream);
        }
        let begun = Instant::now();
        let stream = TcpStream::connect(address).await.expect("it listens");
        assert_eq!(asked(stream, "Host: localhost\r\n").await, "HTTP/1.1 200 OK");
        assert!(begun.elapsed() < Duration::from_secs(4), "it was answered once the silent ones were closed");
        let mut last = silent.pop().expect("there is one");
        let closed = tokio::time::timeout(Duration::from_secs(9), last.read_to_end(&mut Vec::new())).await;
        assert!(closed.is_ok(), "half a head holds a connection");
    }
}
