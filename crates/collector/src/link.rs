//! The links: of each partition (of each network, where it has one slice) one thread with a `wire::meter::Collector`, between its gateways
//! and the store. Whoever wants something of
//! them holds a [`LinkHandle`].

mod begin;
mod checks;
mod clock;
mod command;
mod commits;
mod elsewhere;
mod end;
mod handle;
mod images;
mod key_keeper;
mod meter_state;
mod numbers;
mod orders;
mod pending;
mod receipt;
mod requests;
mod silence;
mod state;
mod thread;
mod updates;
mod verify;

#[cfg(test)]
pub(crate) use begin::link;
pub(crate) use begin::{Beginning, Parts, start, verifiers};
pub use command::{CommandRequest, LinkError};
pub(crate) use elsewhere::{Asked, Question, RemoteLinks};
pub(crate) use end::End;
#[cfg(test)]
pub(crate) use handle::Inputs;
pub use handle::{LinkHandle, MeterStatus, Snapshot};
pub(crate) use images::Images;
pub(crate) use pending::Submitted;
pub(crate) use receipt::{Outcome, QueuePlace, QueuedPacket, Receipt};
#[cfg(test)]
pub(crate) use state::Link;
