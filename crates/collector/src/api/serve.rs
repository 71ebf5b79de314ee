//! Serves until it is told to stop.

use super::listen::{Bound, is_loopback};
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
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::Layer;

/// Connections at most; more are closed at once.
const MOST_CONNECTIONS: usize = 512;
/// Streams of one HTTP/2 connection at most.
const MOST_STREAMS: u32 = 64;
/// A request's head comes within this.
const HEAD_WITHIN: Duration = Duration::from_secs(15);
/// Who is being answered when the service stops has so long.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// All that [`serve`] serves on loopback without TLS, without the listener: for requests that come by no connection. Each has to carry
/// its peer's address, as axum's `ConnectInfo<SocketAddr>`. stopping: becomes true, or its sender goes, when the service stops.
pub fn on_loopback(parts: Parts, stopping: watch::Receiver<bool>) -> Router {
    router(&Api::new(parts, true, false, stopping))
}

/// Serves the API and the dashboard. After `shutdown` no connection is taken any more, who follows events is let go, and answers under
/// way are finished, for at most five seconds.
///
/// # Errors
/// Where the system takes the address away.
pub async fn serve(bound: Bound, parts: Parts, shutdown: impl Future<Output = ()> + Send) -> io::Result<()> {
    let (stop, stopping) = watch::channel(false);
    let api = Api::new(parts, is_loopback(bound.address), bound.tls.is_some(), stopping);
    let service = router(&api).into_make_service_with_connect_info::<SocketAddr>();
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(bound.listener)?.handle(handle.clone());
    let http = server.http_builder();
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HEAD_WITHIN)
        .max_concurrent_streams(MOST_STREAMS);
    tracing::info!(address = %bound.address, tls = bound.tls.is_some(), "listening");

    let mut renewing = None;
    let serving: Pin<Box<dyn Future<Output = io::Result<()>> + Send>> = match bound.tls {
        Some((files, config)) => {
            renewing = Some(tokio::spawn(tls::renew(files, config.clone())));
            let acceptor = RustlsAcceptor::new(config).acceptor(NoDelayAcceptor);
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

/// Takes so many connections at once, and no more.
#[derive(Clone)]
struct Bounded<A> {
    inner: A,
    places: Arc<Semaphore>,
}

impl<A> Bounded<A> {
    fn new(inner: A) -> Bounded<A> {
        Bounded { inner, places: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }
}

/// What a connection's requests carry, and so its place.
type Place = Extension<Arc<OwnedSemaphorePermit>>;

impl<I, S, A> Accept<I, S> for Bounded<A>
where
    A: Accept<I, S>,
    A::Future: Send + 'static,
    Place: Layer<A::Service>,
{
    type Stream = A::Stream;
    type Service = <Place as Layer<A::Service>>::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: I, service: S) -> Self::Future {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return Box::pin(async { Err(io::Error::other("too many connections")) });
        };
        let accepted = self.inner.accept(stream, service);
        Box::pin(async move {
            let (stream, service) = accepted.await?;
            Ok((stream, Extension(Arc::new(place)).layer(service)))
        })
    }
}
