//! The meters of a partition: their state, and handles for other threads and processes.
//!
//! `state` is what a session works on; `handle` is the way to all sessions.

pub(crate) mod command_by_name;
mod error;
mod handle;
mod known_meter;
mod lease;
mod outlets;
mod pending;
mod receipt;
mod remote;
mod request;
mod silence;
mod snapshot;
mod state;
mod store_queue;
mod table;

pub use error::RequestError;
pub use handle::MetersHandle;
pub(crate) use known_meter::{KnownMeter, LastHeard, Named};
pub(crate) use lease::PartitionLease;
pub(crate) use pending::{PendingCommit, Submission};
pub(crate) use receipt::{Outcome, QueuePlace, QueuedPacket, Receipt, Receipts};
pub(crate) use remote::{Asked, Question, RemoteMeters};
pub(crate) use request::{Answer, Inputs, Request};
pub(crate) use silence::SilenceWatch;
pub use snapshot::{MeterStatus, Snapshot};
pub(crate) use state::{PartitionState, since_2000_ms};
pub(crate) use store_queue::StoreQueue;
pub(crate) use table::MeterTable;
