//! Whoever else sends to the cluster, beside the meters that it is checked with: as meters on processor models, which this crate does not know.

use crate::ClusterError;
use collector::registry::Registry;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use wire::meter::MeterId;

/// Other meters.
pub trait Others: Send {
    /// What is done when they start, in a few words.
    fn preparing(&self) -> &'static str;

    /// Makes them, and registers them with the collector whose keys these are. folder: for their key files.
    ///
    /// # Errors
    /// [`ClusterError::Others`]
    fn start(&mut self, registry: &Registry, folder: &Path) -> Result<(), ClusterError>;

    /// They send to a gateway until it is over. Returns whose acknowledgement they heard.
    ///
    /// # Errors
    /// [`ClusterError::Others`]
    fn run(
        &mut self,
        gateway: SocketAddr,
        noticed: &OthersNoticed,
        over: &AtomicBool,
    ) -> Result<Vec<Acknowledged>, ClusterError>;
}

/// What these meters noticed so far.
#[derive(Debug, Default)]
pub struct OthersNoticed {
    pub acknowledged: AtomicU64,
    pub resent: AtomicU64,
}

/// Readings whose acknowledgement a meter heard.
pub struct Acknowledged {
    pub meter: MeterId,
    pub n: Vec<u32>,
}
