//! The reasons for which a telegram is not stored.

use crate::mbus_meter::MbusMeterId;
use wire::wireless_mbus::{
    ApplicationError, DatagramError, MeterAddress, OpenError, ReassemblyError, ReceiverError,
};

/// A telegram that is not stored. Nothing of it names a key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A line that holds no telegram.
    #[error("{0}")]
    Receiver(#[from] ReceiverError),
    /// A meter that is not registered.
    #[error("meter {0} is not registered; import its maker's key file with 'wattseal meters mbus import'")]
    Unregistered(MeterAddress),
    /// A meter with another version or device type than it was registered with.
    #[error("meter {0} was registered with another version or device type")]
    OtherDevice(MeterAddress),
    /// The link layer cannot be read, or not be decrypted.
    #[error("{0}")]
    Datagram(#[from] DatagramError),
    /// The fragments make no message.
    #[error("{0}")]
    Fragments(#[from] ReassemblyError),
    /// The message is not opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The records cannot be read.
    #[error("{0}")]
    Records(#[from] ApplicationError),
    /// Nothing authenticates the telegram.
    #[error("nothing authenticates the telegram of {0}, and its meter is not set to take such ones")]
    NotAuthenticated(MbusMeterId),
    /// Nothing authenticates the telegram of a meter that authenticates its telegrams.
    #[error("nothing authenticates the telegram of {0}, whose earlier ones were authentic: probably forged")]
    Downgraded(MbusMeterId),
    /// An authentic telegram that was taken already, such as by another gateway.
    #[error("the telegram of {meter} came again: its counter {counter} was taken already")]
    Repeated { meter: MbusMeterId, counter: u32 },
    /// An authentic telegram of before.
    #[error("the telegram of {meter} is a recorded one: its counter {counter} is below {highest}")]
    Replayed { meter: MbusMeterId, counter: u32, highest: u32 },
    /// A telegram that nothing authenticates, and whose own time is more than a day off.
    #[error(
        "the telegram of {meter} says a time {off_s} s from now, and nothing authenticates it: a recorded one, or the meter's clock is wrong"
    )]
    Clock { meter: MbusMeterId, off_s: i64 },
    /// The same telegram again, which nothing authenticates.
    #[error("the telegram of {0} came again, as it was")]
    Same(MbusMeterId),
    /// More telegrams than a meter may store that nothing authenticates.
    #[error("more telegrams of {0} than one a minute that nothing authenticates")]
    TooOften(MbusMeterId),
}

impl Refusal {
    /// True of a repetition, which is no fault.
    #[must_use]
    pub fn is_repetition(&self) -> bool {
        matches!(self, Refusal::Repeated { .. } | Refusal::Same(_))
    }
}
