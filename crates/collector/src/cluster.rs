//! The collector's roles as processes of their own, which meet in NATS JetStream: gateways without
//! keys, workers of which any may be lost. docs/how-to/cluster.md is the map. Nothing of this is
//! needed by who runs one process.
//!
//! The way of a packet: a [`gateway`] publishes it into the stream `wattseal-up`; the [`worker`]
//! that has the lease of the meter's partition takes it from there, and its session goes on as in
//! `collect`. Packets to meters go to the gateway's own subject. An [`api`] has no partition: it
//! asks workers, and they send it events of durable changes. A packet is acknowledged to JetStream
//! when its effect is durable: a worker that dies leaves it to the next.

pub mod api;
mod connection;
mod envelope;
mod events;
mod exchange;
mod failover;
pub mod gateway;
mod health;
mod http_role;
mod lease;
mod leases;
mod limits;
mod name;
mod nkey;
mod packets;
mod partition_task;
mod permissions;
mod queue;
mod remote;
mod rpc;
mod server_rotation;
#[cfg(test)]
mod simulation;
mod status;
mod subject;
mod user;
pub mod worker;

pub use connection::{ClusterError, Nats};
pub use envelope::{MESSAGE_PACKETS_MAX, PacketDown, PacketUp, join_packets, split_packets};
pub use health::HealthListen;
pub use name::{NoName, RoleName};
pub use nkey::make_nkey;
pub use user::{NatsUser, SERVICE_ACCOUNT, accounts};
