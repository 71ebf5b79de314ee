//! The address of a meter on its channel.

use super::{MeterId, Record, Setup};
use serde::{Deserialize, Serialize};

/// A meter's name and the radio addresses, as it was registered last. In packets it is not
/// authenticated; in answers' nonces it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    /// Its name in packets.
    pub name: MeterId,
    /// Its radio address.
    #[serde(rename = "address")]
    pub radio: u8,
    /// The collector's radio address.
    #[serde(rename = "collector_address")]
    pub collector: u8,
}

impl Address {
    /// The one that a meter is provisioned with.
    #[must_use]
    pub const fn provisioned(setup: &Setup) -> Address {
        Address { name: setup.meter, radio: setup.address, collector: setup.collector_address }
    }

    /// Returns the bytes that nonces and settings have.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 4] {
        Record::new().with(&self.name.to_be_bytes()).with(&[self.radio, self.collector]).bytes
    }
}
