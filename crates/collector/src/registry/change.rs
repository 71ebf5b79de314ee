//! Changes of a network's keys, as files and sealed keys have them.

use super::MeterFile;
use crate::network::GlobalMeterId;

/// The change of a meter's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Added(MeterFile),
    /// It has new keys: a higher epoch.
    Rotated {
        /// With the new ones.
        file: MeterFile,
        /// The epoch of the old ones.
        old_epoch: u32,
    },
    /// It is there no more.
    Revoked {
        meter: GlobalMeterId,
        /// The epoch of its keys.
        epoch: u32,
    },
}

impl Change {
    #[must_use]
    pub fn meter(&self) -> GlobalMeterId {
        match self {
            Change::Added(file) | Change::Rotated { file, .. } => file.meter(),
            Change::Revoked { meter, .. } => *meter,
        }
    }
}
