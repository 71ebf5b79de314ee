//! Places of connections: a bound for all, and one for each address. A new connection finds one
//! while strangers hold any: then a stranger's goes.
//!
//! A connection is a stranger's until a request on it has shown a token that holds. It is closed
//! when no request is under way for some time, by any HTTP, and with any other traffic.

use super::concurrency_limits::Full;
use crate::source_prefix::source_prefix;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The rest of an answer, which is made already, is to be read within this.
const REST_MAX: Duration = Duration::from_secs(120);

/// Bounds on connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// In all.
    pub(super) connections_max: usize,
    /// Of an address that is no reverse proxy's.
    pub(super) of_address_max: usize,
    /// Connections that one token keeps; more of its connections are like strangers'.
    pub(super) of_token_max: usize,
}

pub(super) struct Places {
    bounds: Bounds,
    proxies: Arc<[IpAddr]>,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    /// The oldest first.
    connections: BTreeMap<u64, Holder>,
}

#[derive(Debug)]
struct Holder {
    site: IpAddr,
    /// The token that keeps it; `None`: a stranger's.
    token: Option<i64>,
    /// Its connection is closed when this goes.
    _open: oneshot::Sender<()>,
}

/// One connection's, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    of_token_max: usize,
    held: Arc<Mutex<Held>>,
    traffic: Mutex<Traffic>,
}

/// The state of a connection.
#[derive(Debug)]
struct Traffic {
    requests: usize,
    /// Bytes of answers' bodies that were not written yet.
    unwritten_bytes: u64,
    /// When a request, or the writing of its answer, came to its end last.
    quiet_since: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    /// proxies: reverse proxies, each of which has the connections of many.
    pub(super) fn new(bounds: Bounds, proxies: Arc<[IpAddr]>) -> Places {
        Places { bounds, proxies, held: Arc::default() }
    }

    /// A place for a new connection, and the closing of it that a later one asks for. Where all are
    /// held the oldest stranger goes of the address that has most of them.
    pub(super) fn take(&self, peer: IpAddr) -> Result<(Place, oneshot::Receiver<()>), Full> {
        let site = source_prefix(peer);
        let mut held = lock(&self.held);
        let of_site = held.connections.values().filter(|holder| holder.site == site).count();
        if of_site >= self.bounds.of_address_max && !self.proxies.contains(&peer.to_canonical()) {
            let oldest = held.oldest_stranger_of(site).ok_or(Full::Each)?;
            held.connections.remove(&oldest);
        }
        if held.connections.len() >= self.bounds.connections_max {
            let most = held.site_with_most_strangers().ok_or(Full::All)?;
            let oldest = held.oldest_stranger_of(most).ok_or(Full::All)?;
            held.connections.remove(&oldest);
        }
        let (open, closed) = oneshot::channel();
        let id = held.next;
        held.next += 1;
        held.connections.insert(id, Holder { site, token: None, _open: open });
        let traffic = Traffic { requests: 0, unwritten_bytes: 0, quiet_since: Instant::now() };
        let (of_token_max, held) = (self.bounds.of_token_max, Arc::clone(&self.held));
        Ok((Place { id, of_token_max, held, traffic: Mutex::new(traffic) }, closed))
    }
}

impl Held {
    fn strangers(&self) -> impl Iterator<Item = (u64, IpAddr)> {
        let strangers = self.connections.iter().filter(|(_, holder)| holder.token.is_none());
        strangers.map(|(id, holder)| (*id, holder.site))
    }

    fn oldest_stranger_of(&self, site: IpAddr) -> Option<u64> {
        self.strangers().find(|(_, of)| *of == site).map(|(id, _)| id)
    }

    /// Of several with as many the one with the oldest.
    fn site_with_most_strangers(&self) -> Option<IpAddr> {
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        for (_, site) in self.strangers() {
            *count.entry(site).or_default() += 1;
        }
        let most = *count.values().max()?;
        self.strangers().map(|(_, site)| site).find(|site| count[site] == most)
    }
}

impl Place {
    /// A request on the connection showed this token.
    pub(super) fn keep(&self, token: i64) {
        let mut held = lock(&self.held);
        let is_kept = |holder: &&Holder| holder.token == Some(token);
        let room = held.connections.values().filter(is_kept).count() < self.of_token_max;
        if let Some(holder) = held.connections.get_mut(&self.id)
            && holder.token != Some(token)
        {
            holder.token = room.then_some(token);
        }
    }

    /// A request on the connection showed no token that holds.
    pub(super) fn let_go(&self) {
        if let Some(holder) = lock(&self.held).connections.get_mut(&self.id) {
            holder.token = None;
        }
    }

    /// Bytes were written to the other side.
    pub(super) fn wrote(&self, bytes: usize) {
        let mut traffic = lock(&self.traffic);
        if traffic.unwritten_bytes > 0 {
            traffic.unwritten_bytes = traffic.unwritten_bytes.saturating_sub(bytes as u64);
            if traffic.unwritten_bytes == 0 {
                traffic.quiet_since = Instant::now();
            }
        }
    }

    /// When the connection is to be closed, by what is known now. quiet_max: how long no request
    /// may be under way.
    pub(super) fn closes_at(&self, quiet_max: Duration) -> Instant {
        let traffic = lock(&self.traffic);
        if traffic.requests > 0 {
            return Instant::now() + quiet_max;
        }
        // Bytes of a stream of HTTP/2 that was reset are never written.
        traffic.quiet_since + if traffic.unwritten_bytes > 0 { REST_MAX } else { quiet_max }
    }

    fn begin(self: &Arc<Place>) -> UnderWay {
        lock(&self.traffic).requests += 1;
        UnderWay(Arc::clone(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.held).connections.remove(&self.id);
    }
}

/// A request that is not answered whole.
struct UnderWay(Arc<Place>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut traffic = lock(&self.0.traffic);
        traffic.requests -= 1;
        traffic.quiet_since = Instant::now();
    }
}

/// The body of an answer, which tells its connection how it goes on.
struct Tracked {
    body: Body,
    under_way: UnderWay,
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            lock(&self.under_way.0.traffic).unwritten_bytes += data.len() as u64;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Tells a request's connection that it is under way, until its answer was taken whole. A request
/// that came by no connection has none.
pub(super) async fn track(request: Request, next: Next) -> Response {
    let Some(place) = request.extensions().get::<Arc<Place>>().cloned() else {
        return next.run(request).await;
    };
    let under_way = place.begin();
    next.run(request).await.map(|body| Body::new(Tracked { body, under_way }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { connections_max: 6, of_address_max: 3, of_token_max: 2 };

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// Returns which of them are open, in order.
    fn open(held: &mut [(Place, oneshot::Receiver<()>)]) -> Vec<bool> {
        held.iter_mut()
            .map(|(_, closed)| closed.try_recv() == Err(oneshot::error::TryRecvError::Empty))
            .collect()
    }

    #[tokio::test]
    async fn full_address_loses_its_oldest_stranger() {
        let places = Places::new(BOUNDS, Arc::default());
        let mut held: Vec<_> = (0..3).map(|_| places.take(address(1)).expect("a place")).collect();
        held[0].0.keep(7);
        held.push(places.take(address(1)).expect("a place"));
        assert_eq!(open(&mut held), [true, false, true, true]);
        held[2].0.keep(8);
        held[3].0.keep(8);
        assert_eq!(places.take(address(1)).expect_err("no strangers"), Full::Each);
        places.take(address(2)).expect("another address");
        drop(held);
        assert!(lock(&places.held).connections.is_empty(), "places come back");
    }

    #[tokio::test]
    async fn full_table_drops_oldest_stranger_of_busiest_address() {
        let places = Places::new(BOUNDS, Arc::default());
        let from = [3, 1, 1, 2, 1, 2];
        let mut held: Vec<_> = from.map(|last| places.take(address(last)).expect("a place")).into();
        held.push(places.take(address(4)).expect("a place"));
        assert_eq!(open(&mut held), [true, false, true, true, true, true, true]);
        // Two addresses have two now: the older one's goes.
        held.push(places.take(address(5)).expect("a place"));
        assert_eq!(open(&mut held), [true, false, false, true, true, true, true, true]);
        for (at, (place, _)) in held.iter().enumerate() {
            place.keep(at as i64 / 2);
        }
        assert_eq!(places.take(address(6)).expect_err("no strangers"), Full::All);
        held[3].0.let_go();
        held.push(places.take(address(6)).expect("a place"));
        assert!(!open(&mut held)[3], "who lost the token is a stranger again");
    }

    #[tokio::test]
    async fn token_keeps_no_more_than_its_share() {
        let places = Places::new(BOUNDS, Arc::default());
        let mut held: Vec<_> = (0..3).map(|_| places.take(address(1)).expect("a place")).collect();
        held.iter().for_each(|(place, _)| place.keep(7));
        held[0].0.keep(7);
        held.push(places.take(address(1)).expect("a place"));
        assert_eq!(open(&mut held), [true, true, false, true]);
    }

    #[tokio::test]
    async fn proxy_has_places_of_many() {
        let places = Places::new(BOUNDS, Arc::new([address(1)]));
        let held: Vec<_> = (0..6).map(|_| places.take(address(1)).expect("a place")).collect();
        held.iter().enumerate().for_each(|(at, (place, _))| place.keep(at as i64));
        assert_eq!(places.take(address(1)).expect_err("all"), Full::All);
    }
}
