//! The events as they happen: server-sent events.

use super::access::Caller;
use super::concurrency_limits::{Full, Permit};
use super::error::ApiError;
use super::extract::Arguments;
use super::names::{NamedNetwork, network_schema, whose};
use super::state::Api;
use crate::event::{self, Event};
use crate::network::NetworkId;
use crate::store::MeterFilter;
use axum::Extension;
use axum::extract::{ConnectInfo, State};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use serde::Deserialize;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::IntoParams;

/// The period of comments, which show both sides that the other is there.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Browsers try again after that.
const RETRY_AFTER: Duration = Duration::from_secs(3);
/// Events on their way to a listener; with more it is behind, and what it misses is left out by the
/// session's own bound.
const IN_TRANSIT_MAX: usize = 64;

/// The events to follow.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventArguments {
    /// Those of this network's meters, or of all; of network 0's and of the collector itself if
    /// left out.
    #[param(schema_with = network_schema)]
    network: Option<NamedNetwork>,
}

/// Events that are durable from now on: `event: reading|alert|command|meter|update` with the JSON
/// of it, of all networks also `telegram|mbus-meter-removed`. `event: resync` says that some were
/// left out, because the listener was too slow, or a worker of the cluster was not heard for a
/// moment: ask for all again.
#[utoipa::path(get, path = "/events", tag = "events", params(EventArguments),
    responses((status = OK, description = "until one of both goes", content_type = "text/event-stream", body = String)))]
pub(super) async fn follow(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Arguments(arguments): Arguments<EventArguments>,
) -> Result<Sse<impl Stream<Item = Result<Sent, Infallible>>>, ApiError> {
    let whose = whose(None, arguments.network)?;
    let permit = permit(&api, &caller, peer.ip())?;
    let events = api.parts.meters.events();
    let (way, out) = mpsc::channel(IN_TRANSIT_MAX);
    tokio::spawn(async move {
        tell(&api, &caller, whose, events, &way).await;
        drop(permit);
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_EVERY).text("still here");
    Ok(Sse::new(ReceiverStream::new(out)).keep_alive(keep_alive))
}

/// A place among the listeners.
fn permit(api: &Api, caller: &Caller, peer: IpAddr) -> Result<(Permit<IpAddr>, Permit<i64>), ApiError> {
    let refused = |whose: &str, full| match full {
        Full::All => {
            ApiError::unavailable("listeners", "too many follow the events already").hint("try again later")
        }
        Full::Each => {
            let message = format!("too many follow the events already {whose}");
            ApiError::too_many("listeners", message, KEEP_ALIVE_EVERY)
        }
    };
    let (by_address, by_token) = &api.listeners;
    let by_token = by_token.take(caller.token).map_err(|full| refused("with this token", full))?;
    let by_address = by_address.take_from(peer).map_err(|full| refused("from this address", full))?;
    Ok((by_address, by_token))
}

/// Passes events on until the listener or the service goes, or the token is revoked.
async fn tell(
    api: &Api,
    caller: &Caller,
    whose: MeterFilter,
    mut events: broadcast::Receiver<Event>,
    way: &mpsc::Sender<Result<Sent, Infallible>>,
) {
    let mut stopping = api.stopping.clone();
    let mut tokens_changed = api.tokens_changed.subscribe();
    let mut looks = tokio::time::interval(KEEP_ALIVE_EVERY);
    let mut next = Some(Sent::default().comment("here").retry(RETRY_AFTER));
    loop {
        if let Some(event) = next.take() {
            tokio::select! {
                sent = way.send(Ok(event)) => if sent.is_err() { return },
                () = stopped(&mut stopping) => return,
            }
        }
        tokio::select! {
            event = events.recv() => match event {
                Ok(event) if is_of(&event, whose) => next = as_sent(&event),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "a listener is too slow");
                    next = as_sent(&Event::Missed);
                }
                Err(RecvError::Closed) => return,
            },
            _ = looks.tick() => if !holds(api, caller).await { return },
            changed = tokens_changed.changed() => if changed.is_err() || !holds(api, caller).await { return },
            () = way.closed() => return,
            () = stopped(&mut stopping) => return,
        }
    }
}

/// Waits until the service stops.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A dropped sender has stopped, too.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Says if the listener may go on. A store that does not answer lets nobody in, and drives nobody
/// out.
async fn holds(api: &Api, caller: &Caller) -> bool {
    match api.tokens().await {
        Ok(tokens) => caller.holds(&tokens),
        Err(_) => true,
    }
}

/// Says if an event is about one of these meters; the collector's own are network 0's.
fn is_of(event: &Event, whose: MeterFilter) -> bool {
    let meter = match event {
        Event::Missed => return true,
        Event::Reading(reading) => Some(reading.meter),
        Event::Alert(alert) => alert.meter,
        Event::Command(event::CommandUpdate { meter, .. })
        | Event::Meter { meter }
        | Event::Update { meter } => Some(*meter),
        // Other makers' meters are in no network.
        Event::Telegram(_) | Event::MbusMeterRemoved { .. } => return whose == MeterFilter::All,
    };
    match whose {
        MeterFilter::All => true,
        MeterFilter::Network(network) => meter.map_or(NetworkId::DEFAULT, |meter| meter.network) == network,
        MeterFilter::Meter(of) => meter == Some(of),
    }
}

fn as_sent(event: &Event) -> Option<Sent> {
    let name = match event {
        Event::Reading(_) => "reading",
        Event::Alert(_) => "alert",
        Event::Command(_) => "command",
        Event::Meter { .. } => "meter",
        Event::Update { .. } => "update",
        Event::Telegram(_) => "telegram",
        Event::MbusMeterRemoved { .. } => "mbus-meter-removed",
        Event::Missed => "resync",
    };
    Sent::default().event(name).json_data(event).ok()
}
