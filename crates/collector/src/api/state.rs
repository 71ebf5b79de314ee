//! The state of every route.

use super::concurrency_limits::ConcurrencyLimits;
use super::cost_table::Costs;
use super::error::ApiError;
use super::limits::{Limits, Rates};
use crate::forward::ForwardCounts;
use crate::meters::MetersHandle;
use crate::one_time_link::OneTimeLink;
use crate::store::{Reader, StoreError, TokenRecord, Write, Written};
use crate::writer::{WriteError, WriterHandle};
use axum::body::Bytes;
use jiff::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// The parts of the API.
#[derive(Clone)]
pub struct Parts {
    /// Reads what is shown.
    pub reader: Reader,
    /// Commits what is changed.
    pub writer: WriterHandle,
    /// Takes commands, and tells what happens.
    pub meters: MetersHandle,
    /// The counts of forwarding, in a concentrator.
    pub forward: Option<Arc<ForwardCounts>>,
    /// The costs of readings.
    pub costs: Costs,
    /// Makes the first administrator's token, where there is none yet.
    pub one_time_link: Option<Arc<OneTimeLink>>,
    /// The rates of an address.
    pub rates: Rates,
}

/// Concurrent queries of the store at most; others wait.
const READS_MAX: usize = 16;
/// Concurrent listeners of events at most: in all, of an address, of a token. A browser's page is
/// one of them.
const LISTENERS_MAX: usize = 128;
const ADDRESS_LISTENERS_MAX: usize = 64;
const TOKEN_LISTENERS_MAX: usize = 16;
/// The time that tokens are known without asking the store again.
const TOKENS_KNOWN_FOR: Duration = Duration::from_secs(1);
/// The period in which the use of a token is written.
const USE_WRITTEN_EVERY_MS: i64 = 60_000;

/// Shared by all requests.
#[derive(Clone)]
pub(super) struct Api(Arc<Shared>);

pub(super) struct Shared {
    pub(super) parts: Parts,
    pub(super) limits: Limits,
    /// Says if it speaks TLS.
    pub(super) tls: bool,
    /// Reverse proxies, in canonical form.
    pub(super) proxies: Arc<[IpAddr]>,
    /// Becomes true when the service stops.
    pub(super) stopping: watch::Receiver<bool>,
    /// Goes on with each change of the tokens, so that who follows events is looked at again.
    pub(super) tokens_changed: watch::Sender<u64>,
    /// Held while tokens are being changed, so that there is always an administrator.
    pub(super) changing_tokens: tokio::sync::Mutex<()>,
    /// The listeners of events, by address and by token.
    pub(super) listeners: (ConcurrencyLimits<IpAddr>, ConcurrencyLimits<i64>),
    /// The description, once the routes are known, and their paths.
    description: OnceLock<(Bytes, Vec<String>)>,
    reads: Semaphore,
    tokens: Mutex<Option<(Instant, Arc<[TokenRecord]>)>>,
    /// When tokens' uses were written last, in ms.
    used_ms: Mutex<HashMap<i64, i64>>,
}

impl Deref for Api {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Api {
    pub(super) fn new(
        parts: Parts,
        tls: bool,
        proxies: Arc<[IpAddr]>,
        stopping: watch::Receiver<bool>,
    ) -> Api {
        let limits = Limits::new(&parts.rates);
        Api(Arc::new(Shared {
            parts,
            limits,
            tls,
            proxies,
            stopping,
            tokens_changed: watch::Sender::new(0),
            changing_tokens: tokio::sync::Mutex::new(()),
            listeners: (
                ConcurrencyLimits::new(LISTENERS_MAX, ADDRESS_LISTENERS_MAX),
                ConcurrencyLimits::new(LISTENERS_MAX, TOKEN_LISTENERS_MAX),
            ),
            description: OnceLock::new(),
            reads: Semaphore::new(READS_MAX),
            tokens: Mutex::new(None),
            used_ms: Mutex::default(),
        }))
    }

    /// Keeps what the routes are.
    pub(super) fn describe(&self, description: String, paths: Vec<String>) {
        let _ = self.description.set((description.into(), paths));
    }

    /// OpenAPI, as JSON.
    pub(super) fn description(&self) -> Bytes {
        self.description.get().map(|(description, _)| description.clone()).unwrap_or_default()
    }

    /// The paths of all routes.
    pub(super) fn paths(&self) -> &[String] {
        self.description.get().map_or(&[], |(_, paths)| paths)
    }

    /// Asks the store on a thread that may wait.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let _place = self.reads.acquire().await.map_err(|_| stopping())?;
        let reader = self.parts.reader.clone();
        let asked = tokio::task::spawn_blocking(move || ask(&reader)).await.map_err(|_| stopping())?;
        asked.map_err(refused_by_store)
    }

    pub(super) async fn write(&self, batch: Vec<Write>) -> Result<Vec<Written>, ApiError> {
        self.parts.writer.write(batch).await.map_err(|error| match error {
            WriteError::Store(why) => {
                tracing::error!(why, "not stored");
                ApiError::unavailable(
                    "store",
                    "nothing can be stored at the moment, and nothing was changed; the log says why",
                )
            }
            WriteError::Busy => {
                ApiError::unavailable("busy", "too much waits to be stored").hint("try again")
            }
            // The API's writes are under no lease.
            WriteError::Fenced | WriteError::Stopped => stopping(),
        })
    }

    /// All tokens, also revoked ones.
    pub(super) async fn tokens(&self) -> Result<Arc<[TokenRecord]>, ApiError> {
        if let Some((asked, tokens)) = &*self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
            && asked.elapsed() < TOKENS_KNOWN_FOR
        {
            return Ok(tokens.clone());
        }
        let asked = Instant::now();
        let changes = *self.tokens_changed.borrow();
        let tokens: Arc<[TokenRecord]> = self.read(Reader::tokens).await?.into();
        let mut known = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        // A change meanwhile may not be in what was read.
        if *self.tokens_changed.borrow() == changes {
            *known = Some((asked, tokens.clone()));
        }
        Ok(tokens)
    }

    /// To be called when tokens were changed.
    pub(super) fn forget_tokens(&self) {
        self.tokens_changed.send_modify(|changes| *changes += 1);
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Has it written that a token was used, if that was not done a short time ago. Nobody waits
    /// for it.
    pub(super) fn token_used(&self, token: i64) {
        let at_ms = now_ms();
        let mut used_ms = self.used_ms.lock().unwrap_or_else(PoisonError::into_inner);
        let last_ms = used_ms.entry(token).or_insert(i64::MIN);
        if at_ms.saturating_sub(*last_ms) >= USE_WRITTEN_EVERY_MS {
            *last_ms = at_ms;
            let writer = self.parts.writer.clone();
            tokio::spawn(async move {
                if let Err(error) = writer.write_one(Write::TokenUsed { token, at_ms }).await {
                    tracing::debug!(%error, "the use of a token was not written down");
                }
            });
        }
    }
}

fn stopping() -> ApiError {
    ApiError::unavailable("stopping", "the collector is stopping")
}

/// Unix time in ms.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Translates an error of the store for the caller: its files are in the log only.
fn refused_by_store(error: StoreError) -> ApiError {
    match error {
        StoreError::TooMuch { .. } => ApiError::unprocessable("too-much", error.to_string()),
        StoreError::Full { .. } => {
            tracing::warn!(%error, "not stored");
            ApiError::unavailable("store-full", "the collector's disk is full; nothing was changed")
        }
        error => {
            tracing::error!(%error, "the store does not answer");
            ApiError::unavailable("store", "the collector's store does not answer; its log says why")
        }
    }
}
