//! The backend of a network's keys: the one seam between key files and keys that are sealed in a
//! database.

use super::{MeterFile, RegistryError, RevokedFile};
use crate::fence::LeaseNumber;
use crate::partition::{Partition, Slices};
use std::collections::BTreeMap;
use wire::meter::{Identity, MeterId};

/// Reads and writes of a network's keys, at one moment of them, or by their only writer.
pub(super) trait KeyBackend {
    /// The collector's key pair.
    fn identity(&self) -> Result<Option<Identity>, RegistryError>;
    fn put_identity(&self, identity: &Identity) -> Result<(), RegistryError>;
    /// Says if a meter is registered.
    fn has_meters(&self) -> Result<bool, RegistryError>;
    fn meter(&self, meter: MeterId) -> Result<Option<MeterFile>, RegistryError>;
    /// All of them, or those of a partition.
    fn meters(&self, of: Option<(Partition, Slices)>) -> Result<Meters, RegistryError>;
    /// Says if one of these is registered.
    fn has_any(&self, meters: &[MeterId]) -> Result<bool, RegistryError>;
    fn put(&self, file: &MeterFile) -> Result<(), RegistryError>;
    /// The meters that were revoked, each with the last of its keys.
    fn revoked(&self) -> Result<BTreeMap<MeterId, RevokedFile>, RegistryError>;
    fn last_revoked(&self, meter: MeterId) -> Result<Option<RevokedFile>, RegistryError>;
    /// Says if a partition is written under this lease until the end: nobody takes it meanwhile.
    fn is_under(&self, lease: (Slices, LeaseNumber)) -> Result<bool, RegistryError>;
    /// A meter's keys go.
    fn revoke(&self, file: &RevokedFile) -> Result<(), RegistryError>;
}

/// Meters of a network.
pub(crate) struct Meters {
    pub(crate) files: BTreeMap<MeterId, MeterFile>,
    /// Says if any meter of the network, not only of these, was provisioned to seal.
    pub(crate) network_seals: bool,
    /// Of sealed keys: up to which change this is all.
    pub(crate) revision: i64,
}
