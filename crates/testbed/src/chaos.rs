//! The cluster of docs/how-to/cluster.md, all of it on this machine, in a folder that goes with it:
//! three NATS servers, PostgreSQL with a synchronous standby, gateways, workers, an API, and meters
//! that keep what they sent and heard. What is harmed, and how, is by chance with a seed.
//!
//! - [`parts`]: which parts there are, and what may be done to each; [`machines`]: their processes;
//!   [`network`]: what is between them; [`schedule`]: what is done when; [`hostile`]: a gateway
//!   that was taken over
//! - [`meters`]: the client that all is checked with; [`orders`]: commands for meters; [`holders`]:
//!   who has which partition; [`check`]: the comparison in the end
//! - [`firmware`]: meters beside it that run the meter's firmware, on models of their boards or
//!   built for this machine
//! - [`run`]: a run; [`report`]: what came of it; [`logs`]: what is kept of one that ended badly;
//!   [`terminal`]: what is shown meanwhile

pub mod check;
pub mod firmware;
pub mod holders;
pub mod hostile;
pub mod http;
pub mod logs;
pub mod machines;
pub mod meters;
pub mod network;
pub mod orders;
pub mod parts;
pub mod report;
pub mod run;
pub mod schedule;
pub mod terminal;

use collector::registry::RegistryError;
use lab::LabError;
use parts::PartId;
use std::io;
use std::path::PathBuf;
use testkit::servers::ServerError;

/// Why there is no cluster, or none any more.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Keys(#[from] RegistryError),
    #[error(transparent)]
    Users(#[from] collector::cluster::ClusterError),
    #[error(transparent)]
    Firmware(#[from] LabError),
    #[error("a socket on this machine: {error}; look at the limits of this user")]
    Socket { error: io::Error },
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
    #[error(
        "{} is missing; in a clone run ./wattseal demo --cluster, which builds it, or: cargo build --release --package wattseal-collector",
        .0.display()
    )]
    NoCollector(PathBuf),
    #[error("{}: {said}", .program.display())]
    Collector { program: PathBuf, said: String },
    #[error("{part} does not become ready: {why}; its log ends with: {log}")]
    NotReady { part: PartId, why: String, log: String },
    #[error("PostgreSQL's standby is not there, and cannot be promoted")]
    NoStandby,
    #[error("the database says what is no reading: {0}")]
    NoReading(String),
}
