//! A collector's database moves to the other engine while its meters send. docs/how-to/collector.md,
//! "Moving to PostgreSQL and back".

use crate::registry::{KeyStore, RegistryError};
use crate::store::relocation::{Begun, Progress, Relocation};
use crate::store::{DatabaseUrl, Reader, StoreError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest time of the last copy before the pause: changes are copied again until it takes no
/// longer.
const SHORT: Duration = Duration::from_secs(5);
const COPIES_MAX: u32 = 10;
/// The period of the check that the service has stopped; changes are copied meanwhile.
const LOOK: Duration = Duration::from_millis(100);
const COPY_AGAIN: Duration = Duration::from_secs(30);

/// Why a move is not over.
#[derive(Debug, thiserror::Error)]
pub enum RelocationError {
    /// Both are of one engine.
    #[error(
        "{from} and {to} are of one engine: a file is copied with `./wattseal backup`, a server's database with pg_dump and pg_restore, \
         or by replication"
    )]
    SameEngine { from: DatabaseUrl, to: DatabaseUrl },
    /// Keys of other meters.
    #[error(
        "{keys} has keys of none of the meters of network {network} that are in {from}: give the folder that belongs to it with --keys"
    )]
    OtherKeys { keys: PathBuf, from: DatabaseUrl, network: u32 },
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RelocationError {
    /// Says if the request was impossible.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            RelocationError::SameEngine { .. } | RelocationError::OtherKeys { .. } => true,
            RelocationError::Registry(error) => error.is_usage(),
            RelocationError::Store(error) => matches!(error, StoreError::Occupied { .. }),
        }
    }
}

/// The stage of a migration.
#[derive(Debug)]
pub enum Stage<'s> {
    /// There are no keys that could be compared, and a service needs them.
    NoKeys(&'s Path),
    /// It is copied while the service goes on.
    Copying(Progress),
    /// The service is to be stopped now; it is waited for. The holder, if it is known: ` (process
    /// 123)`.
    Waiting(&'s str),
    /// Nobody writes any more: the rest is copied, and all is compared.
    Settling(Progress),
}

/// A move that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocated {
    /// Of each table; empty where a move that had ended early was brought to its end.
    pub rows: Vec<(&'static str, u64)>,
    /// The time in which nobody could store anything.
    pub pause: Duration,
}

/// Moves all that is in a database into one of the other engine. It waits until the service that
/// writes the first one has stopped.
///
/// # Errors
/// [`RelocationError`]: the first one is to be used as before, or the second one; never both. The
/// same, begun again, goes on.
pub fn relocate(
    from: &DatabaseUrl,
    to: &DatabaseUrl,
    keys: &Path,
    mut tell: impl FnMut(Stage<'_>),
) -> Result<Relocated, RelocationError> {
    if matches!(
        (from, to),
        (DatabaseUrl::File(_), DatabaseUrl::File(_)) | (DatabaseUrl::Server(_), DatabaseUrl::Server(_))
    ) {
        return Err(RelocationError::SameEngine { from: from.clone(), to: to.clone() });
    }
    match Reader::open(from) {
        Ok(reader) => check_keys(&reader, keys, &mut tell)?,
        // One that is left already needs none.
        Err(StoreError::Moved { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let mut relocation = match Relocation::begin(from, to)? {
        Begun::Copying(relocation) => relocation,
        Begun::Left(left) => return Ok(Relocated { rows: left.open()?, pause: Duration::ZERO }),
    };
    for _ in 0..COPIES_MAX {
        let began = Instant::now();
        relocation.copy(|progress| tell(Stage::Copying(progress)))?;
        if began.elapsed() < SHORT {
            break;
        }
    }
    let mut copied = Instant::now();
    let mut told = false;
    while let Err(error) = relocation.freeze() {
        let StoreError::InUse { by, .. } = error else { return Err(error.into()) };
        if !std::mem::replace(&mut told, true) {
            tell(Stage::Waiting(&by));
        }
        std::thread::sleep(LOOK);
        if copied.elapsed() > COPY_AGAIN {
            relocation.copy(|_| {})?;
            copied = Instant::now();
        }
    }
    let frozen = Instant::now();
    let settled = relocation.settle(|progress| tell(Stage::Settling(progress)))?;
    let rows = settled.leave()?.open()?;
    Ok(Relocated { rows, pause: frozen.elapsed() })
}

/// As a service looks when it starts: what it would refuse is better known before.
fn check_keys(reader: &Reader, keys: &Path, tell: &mut impl FnMut(Stage<'_>)) -> Result<(), RelocationError> {
    let store = KeyStore::Folder(keys.to_owned());
    let networks: BTreeSet<_> = reader
        .kept_meters()?
        .into_iter()
        .filter(|kept| kept.revoked_ms.is_none())
        .map(|kept| kept.meter.network)
        .collect();
    for network in networks {
        match store.open_existing(network) {
            Err(RegistryError::Missing(path)) => tell(Stage::NoKeys(&path)),
            Err(error) => return Err(error.into()),
            Ok(registry) if registry.belongs_to(&reader.names(network)?)? => {}
            Ok(_) => {
                let (keys, from) = (keys.to_owned(), reader.place().clone());
                return Err(RelocationError::OtherKeys { keys, from, network: network.0 });
            }
        }
    }
    Ok(())
}
