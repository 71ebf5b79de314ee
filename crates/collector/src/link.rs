//! The link: one thread with `wire::meter::Collector`, between the gateways and the store. Whoever wants something of it holds a
//! [`LinkHandle`].

mod begin;
mod checks;
mod clock;
mod commits;
mod handle;
mod meter_state;
mod numbers;
mod orders;
mod pending;
mod requests;
mod state;
mod thread;
mod verify;

pub(crate) use begin::{Beginning, Parts, start, verifiers};
pub use handle::{CommandRequest, LinkError, LinkHandle, MeterStatus, Snapshot};
pub(crate) use pending::Submitted;
