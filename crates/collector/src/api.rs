//! The HTTP side of the collector: the API of docs/how-to/collector/http.md, and the dashboard's
//! files.
//!
//! A route is in one of three routers, by who may take it (`routes`); `access` finds out who asks.
//! Nothing here decides about readings: what is shown comes from the store's `Reader`, what is
//! commanded goes to the session, and what is changed goes to the one thread that writes.

mod access;
mod actions;
mod alerts;
mod assets;
mod commands;
mod concurrency_limits;
mod consumption;
mod cookie;
mod cost_table;
mod costs;
mod error;
mod events;
mod extract;
mod headers;
mod health;
mod idle;
mod images;
mod limits;
mod listen;
mod log;
mod meters;
pub(crate) mod metrics;
mod names;
mod openapi;
pub(crate) mod origin;
mod places;
mod proxy;
mod readings;
mod routes;
mod schema;
pub(crate) mod serve;
mod session;
mod state;
mod telegrams;
mod times;
mod tls;
mod tokens;
mod updates;

pub use cost_table::{Cost, Costs};
pub use limits::Rates;
pub use listen::{Bound, Listen, ListenError};
pub use schema::{Action, Alert, Consumption, Meter, Readings};
pub use serve::{on_loopback, serve};
pub use state::Parts;
pub use tls::{TlsError, TlsFiles};
