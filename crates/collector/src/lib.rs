//! The collector: a service that takes meters' reports from gateways, verifies and stores them,
//! acknowledges what is durable, sends commands, and shows it all by HTTP and MQTT.
//! docs/how-to/collector.md is its map.
//!
//! The way of a report: a [`gateway`] hears packets, the session puts them together, opens and
//! judges them (`wire::meter::Collector`), the store commits many at once, and only then the
//! session acknowledges them and tells the [`event`].

pub mod api;
pub mod audit;
pub mod backup;
mod clock;
pub mod cluster;
pub mod daemon;
mod downlink;
pub mod event;
pub mod export;
pub mod fence;
pub mod forward;
pub mod gateway;
pub mod image_digest;
pub mod mbus;
pub mod mbus_meter;
pub mod meters;
pub mod network;
pub mod one_time_link;
pub mod partition;
mod plain_text;
pub mod publish;
pub mod registry;
pub mod relocation;
pub mod secret;
pub mod service;
mod session;
mod source_prefix;
pub mod store;
pub mod tokens;
pub mod traces;
mod trust;
mod uplink;
pub mod writer;
