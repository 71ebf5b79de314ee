//! Serves until it is told to stop.

use super::concurrency_limits::Full;
use super::idle::Idle;
use super::listen::Bound;
use super::places::{self, Bounds, Place, Places};
use super::routes::router;
use super::state::{Api, Parts};
use super::tls;
use axum::middleware::from_fn;
use axum::{Extension, Router};
use axum_server::Handle;
use axum_server::accept::{Accept, NoDelayAcceptor};
use axum_server::tls_rustls::RustlsAcceptor;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tower::Layer;

/// Of the API and the dashboard.
const BOUNDS: Bounds = Bounds { connections_max: 512, of_address_max: 128, of_token_max: 64 };
/// Of a server on loopback for other programs of this machine.
const LOCAL_BOUNDS: Bounds = Bounds { connections_max: 64, of_address_max: 64, of_token_max: 0 };
/// Streams of one HTTP/2 connection at most.
const STREAMS_MAX: u32 = 64;
/// TLS is agreed upon within this, and a request begins within this, the next one on the same
/// connection, too.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// The period of the check that HTTP/2's other side is there.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);
/// The time for answers under way when the service stops.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// All that [`serve`] serves on loopback without TLS, without the listener: for requests that come
/// by no connection. Each has to carry its peer's address, as axum's `ConnectInfo<SocketAddr>`.
/// stopping: becomes true, or its sender goes, when the service stops.
pub fn on_loopback(parts: Parts, stopping: watch::Receiver<bool>) -> Router {
    router(&Api::new(parts, false, Arc::default(), stopping))
}

/// Serves the API and the dashboard. After `shutdown` no connection is taken any more, who follows
/// events is let go, and answers under way are finished, for at most five seconds.
///
/// # Errors
/// The system takes the address away.
pub async fn serve(bound: Bound, parts: Parts, shutdown: impl Future<Output = ()> + Send) -> io::Result<()> {
    let (stop, stopping) = watch::channel(false);
    let api = Api::new(parts, bound.tls.is_some(), Arc::clone(&bound.proxies), stopping);
    let service = router(&api).into_make_service_with_connect_info::<SocketAddr>();
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(bound.listener)?.handle(handle.clone());
    speak(server.http_builder());
    let places = Arc::new(Places::new(BOUNDS, bound.proxies));
    tracing::info!(address = %bound.address, tls = bound.tls.is_some(), "listening");

    let mut renewing = None;
    let serving: Pin<Box<dyn Future<Output = io::Result<()>> + Send>> = match bound.tls {
        Some((files, config)) => {
            renewing = Some(tokio::spawn(tls::renew(files, config.clone())));
            let acceptor =
                RustlsAcceptor::new(config).handshake_timeout(HEAD_WITHIN).acceptor(NoDelayAcceptor);
            Box::pin(server.acceptor(Bounded { inner: acceptor, places }).serve(service))
        }
        None => Box::pin(server.acceptor(Bounded { inner: NoDelayAcceptor, places }).serve(service)),
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

/// Serves other programs of this machine, without TLS, until the process ends.
///
/// # Errors
/// The system takes the address away.
pub(crate) async fn serve_on_loopback(listener: TcpListener, router: Router) -> io::Result<()> {
    let mut server = axum_server::from_tcp(listener)?;
    speak(server.http_builder());
    let places = Arc::new(Places::new(LOCAL_BOUNDS, Arc::default()));
    let service = router.layer(from_fn(places::track)).into_make_service();
    server.acceptor(Bounded { inner: NoDelayAcceptor, places }).serve(service).await
}

/// Sets the limits of HTTP/2. [`Idle`] closes silent connections, also of HTTP/1.1.
fn speak(http: &mut Builder<TokioExecutor>) {
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE_EVERY)
        .max_concurrent_streams(STREAMS_MAX);
}

/// Accepts connections up to a bound, and closes silent ones.
#[derive(Clone)]
struct Bounded<A> {
    inner: A,
    places: Arc<Places>,
}

impl<A> Bounded<A> {
    fn place(&self, stream: &TcpStream) -> io::Result<(Place, oneshot::Receiver<()>)> {
        self.places.take(stream.peer_addr()?.ip()).map_err(|full| match full {
            Full::All => io::Error::other("too many connections"),
            Full::Each => io::Error::other("too many connections of one address"),
        })
    }
}

/// The extension of a connection's requests: its place.
type Carried = Extension<Arc<Place>>;

impl<S, A> Accept<TcpStream, S> for Bounded<A>
where
    A: Accept<TcpStream, S>,
    A::Stream: AsyncRead + AsyncWrite + Unpin,
    A::Future: Send + 'static,
    Carried: Layer<A::Service>,
{
    type Stream = Idle<A::Stream>;
    type Service = <Carried as Layer<A::Service>>::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let (place, mut closed) = match self.place(&stream) {
            Ok(place) => place,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        let accepted = self.inner.accept(stream, service);
        Box::pin(async move {
            let (stream, service) = tokio::select! {
                accepted = accepted => accepted?,
                _ = &mut closed => return Err(io::ErrorKind::ConnectionAborted.into()),
            };
            let place = Arc::new(place);
            let stream = Idle::new(stream, Arc::clone(&place), closed, HEAD_WITHIN);
            Ok((stream, Extension(place).layer(service)))
        })
    }
}
