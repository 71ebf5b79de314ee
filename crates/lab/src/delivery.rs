//! Messages between a meter and its collector, as papers measure them. The lab knows neither radio
//! nor meter: somebody else plays them ([`Deliveries`]), and the lab compares.

use crate::LabError;
use crate::progress::Progress;
use crate::target::Workspace;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// A measurement, from the meter to the collector.
    Measurement,
    /// A command, from the collector to the meter.
    Command,
}

/// Kind of deliveries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliveryKind {
    pub message: Message,
    /// Suite that seals it: `none`, `aes128-gcm`, `aes256-gcm`, `ecies`, `ecies-ecdsa`,
    /// `ascon-aead128`.
    pub suite: String,
}

/// The two ends, and the number of messages between them. The meter is that of `device/meter`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoints {
    /// The microcontroller that does the collector's cryptography.
    pub collector: String,
    /// Variant of the collector's code.
    pub collector_variant: String,
    /// Random messages of each kind.
    pub runs: u32,
}

/// One message that arrived and was acknowledged, or answered. Times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivery {
    /// From the plain message to what is ready to be sent.
    pub prepare_s: f64,
    /// From what was received to the plain message.
    pub unpack_s: f64,
    /// From the beginning of preparing to the end of unpacking the acknowledgement or answer.
    pub round_trip_s: f64,
    /// Of the round trip: some processor is at work on the message.
    pub computation_s: f64,
    /// Of the round trip: something is on the air.
    pub radio_s: f64,
    /// Of the round trip: non-volatile memory is being written, whatever else goes on.
    pub nonvolatile_s: f64,
    /// Bytes of the sealed message.
    pub message_bytes: u32,
    /// Packets that it took.
    pub packets: u32,
}

/// Player of meter and collector.
pub trait Deliveries {
    /// Delivers `endpoints.runs` messages of a kind, each of which must arrive as it was meant.
    ///
    /// # Errors
    /// Firmware that cannot be built or run; an unknown suite; a message that did not arrive, or
    /// not as it was sent.
    fn deliver(
        &self,
        workspace: &Workspace,
        endpoints: &Endpoints,
        kind: &DeliveryKind,
        progress: &dyn Progress,
    ) -> Result<Vec<Delivery>, LabError>;
}
