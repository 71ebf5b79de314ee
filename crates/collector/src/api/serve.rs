//! Serves until it is told to stop.

use super::listen::Bound;
use super::permits::{Full, Permit, Permits};
use super::prompt::Prompt;
use super::routes::router;
use super::state::{Api, Parts};
use super::tls;
use axum::{Extension, Router};
use axum_server::Handle;
use axum_server::accept::{Accept, NoDelayAcceptor};
use axum_server::tls_rustls::RustlsAcceptor;
use hyper_util::rt::TokioTimer;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::Layer;

/// Connections at most, in all and of an address; more are closed at once.
const MOST_CONNECTIONS: usize = 512;
const MOST_CONNECTIONS_OF_AN_ADDRESS: usize = 128;
/// Streams of one HTTP/2 connection at most.
const MOST_STREAMS: u32 = 64;
/// TLS is agreed upon within this, and a request's head comes within this, the next one's on the same connection, too.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// Of HTTP/2's connections it is looked so often whether the other side is there.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Who is being answered when the service stops has so long.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// All that [`serve`] serves on loopback without TLS, without the listener: for requests that come by no connection. Each has to carry
/// its peer's address, as axum's `ConnectInfo<SocketAddr>`. stopping: becomes true, or its sender goes, when the service stops.
pub fn on_loopback(parts: Parts, stopping: watch::Receiver<bool>) -> Router {
    router(&Api::new(parts, false, stopping))
}

/// Serves the API and the dashboard. After `shutdown` no connection is taken any more, who follows events is let go, and answers under
/// way are finished, for at most five seconds.
///
/// # Errors
/// Where the system takes the address away.
pub async fn serve(bound: Bound, parts: Parts, shutdown: impl Future<Output = ()> + Send) -> io::Result<()> {
    let (stop, stopping) = watch::channel(false);
    let api = Api::new(parts, bound.tls.is_some(), stopping);
    let service = router(&api).into_make_service_with_connect_info::<SocketAddr>();
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(bound.listener)?.handle(handle.clone());
    let http = server.http_builder();
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE_EVERY)
        .max_concurrent_streams(MOST_STREAMS);
    tracing::info!(address = %bound.address, tls = bound.tls.is_some(), "listening");

    let mut renewing = None;
    let serving: Pin<Box<dyn Future<Output = io::Result<()>> + Send>> = match bound.tls {
        Some((files, config)) => {
            renewing = Some(tokio::spawn(tls::renew(files, config.clone())));
            let acceptor =
                RustlsAcceptor::new(config).handshake_timeout(HEAD_WITHIN).acceptor(NoDelayAcceptor);
            Box::pin(server.acceptor(Bounded::new(acceptor)).serve(service))
        }
        None => Box::pin(server.acceptor(Bounded::new(NoDelayAcceptor)).serve(service)),
    };
    tokio::pin!(serving, shutdown);
    let served = tokio::select! {
        served = &mut serving => served,
        () = &mut shutdown => {
            stop.send_replace(true);
            handle.graceful_shutdown(Some(STOP_WITHIN));
            serving.await
        }
    };
    if let Some(renewing) = renewing {
        renewing.abort();
    }
    tracing::info!(address = %bound.address, "no longer listening");
    served
}

/// Takes so many connections at once, and no more, and none that stays silent.
#[derive(Clone)]
struct Bounded<A> {
    inner: A,
    permits: Arc<Permits<IpAddr>>,
}

impl<A> Bounded<A> {
    fn new(inner: A) -> Bounded<A> {
        let permits = Permits::new(MOST_CONNECTIONS, MOST_CONNECTIONS_OF_AN_ADDRESS);
        Bounded { inner, permits: Arc::new(permits) }
    }

    fn permit(&self, stream: &TcpStream) -> io::Result<Permit<IpAddr>> {
        self.permits.take_from(stream.peer_addr()?.ip()).map_err(|full| match full {
            Full::All => io::Error::other("too many connections"),
            Full::Each => io::Error::other("too many connections of one address"),
        })
    }
}

/// What a connection's requests carry, and so its place.
type Carried = Extension<Arc<Permit<IpAddr>>>;

impl<S, A> Accept<TcpStream, S> for Bounded<A>
where
    A: Accept<TcpStream, S>,
    A::Stream: AsyncRead + AsyncWrite + Unpin,
    A::Future: Send + 'static,
    Carried: Layer<A::Service>,
{
    type Stream = Prompt<A::Stream>;
    type Service = <Carried as Layer<A::Service>>::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let permit = match self.permit(&stream) {
            Ok(permit) => permit,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        let accepted = self.inner.accept(stream, service);
        Box::pin(async move {
            let (stream, service) = accepted.await?;
            Ok((Prompt::new(stream, HEAD_WITHIN), Extension(Arc::new(permit)).layer(service)))
        })
    }
}
