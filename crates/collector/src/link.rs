//! The links: each partition (each network, if it has one slice) has one thread with a
//! `wire::meter::Collector`, between its gateways and the store. A [`LinkHandle`] is the way to all
//! of them.

mod begin;
mod checks;
mod clock;
mod command;
mod downlink;
mod durable;
mod end;
mod handle;
mod images;
mod key_keeper;
mod meter_state;
mod numbers;
mod pending;
mod receipt;
mod remote_links;
mod requests;
mod silence;
mod state;
mod store_queue;
mod thread;
mod updates;
mod uplink;
mod verify;

#[cfg(test)]
pub(crate) use begin::link;
pub(crate) use begin::{Beginning, Parts, start, verifiers};
pub use command::{CommandRequest, LinkError};
pub(crate) use end::End;
#[cfg(test)]
pub(crate) use handle::Inputs;
pub use handle::{LinkHandle, MeterStatus, Snapshot};
pub(crate) use images::Images;
pub(crate) use pending::Submission;
pub(crate) use receipt::{Outcome, QueuePlace, QueuedPacket, Receipt};
pub(crate) use remote_links::{Asked, Question, RemoteLinks};
#[cfg(test)]
pub(crate) use state::Link;
