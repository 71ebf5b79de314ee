//! Messages between a meter and its collector, as papers measure them. The lab knows neither radio
//! nor meter: somebody else plays them ([`Deliveries`]), and the lab compares.

use crate::LabError;
use crate::progress::Progress;
use crate::result_cache::{self, Content};
use crate::workspace::Workspace;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    /// From the plain message to what is ready to be sent; none if that was not measured.
    pub prepare_s: Option<f64>,
    /// From what was received to the plain message; none if that was not measured.
    pub unpack_s: Option<f64>,
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

/// Seed of keys, loads, and the times of commands.
pub const SEED: u64 = 1;

/// Player of meter and collector.
pub trait Deliveries {
    /// The name of the meter's microcontroller.
    ///
    /// # Errors
    /// A board that does not exist.
    fn meter(&self, workspace: &Workspace) -> Result<String, LabError>;

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

    /// Has the collector's own code open measurements of a suite on the machine that runs this
    /// program, one after the other.
    ///
    /// # Errors
    /// An unknown suite; a measurement that is not accepted.
    fn open_natively(&self, suite: &str) -> Result<NativeTimes, LabError>;
}

/// Times on the machine that runs this program. They vary from run to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeTimes {
    /// Of each message, in seconds.
    pub times_s: Vec<f64>,
    /// Processor, cryptography and build, as a sentence.
    pub machine: String,
}

/// [`Deliveries`] of an earlier run, unless something that decides them has changed: this program,
/// the sources under `device/`, the targets' and boards' files, the compilers.
pub struct KeptDeliveries<'a>(pub &'a dyn Deliveries);

/// A [`Delivery`] in a file: its times bit by bit, so that a figure keeps its last digit.
#[derive(Serialize, Deserialize)]
struct KeptDelivery {
    times: [Option<u64>; 6],
    message_bytes: u32,
    packets: u32,
}

impl From<&Delivery> for KeptDelivery {
    fn from(delivery: &Delivery) -> KeptDelivery {
        let Delivery { round_trip_s, computation_s, radio_s, nonvolatile_s, .. } = *delivery;
        let always = [round_trip_s, computation_s, radio_s, nonvolatile_s].map(Some);
        let [a, b, c, d] = always;
        KeptDelivery {
            times: [delivery.prepare_s, delivery.unpack_s, a, b, c, d].map(|time| time.map(f64::to_bits)),
            message_bytes: delivery.message_bytes,
            packets: delivery.packets,
        }
    }
}

impl KeptDelivery {
    /// None for a file of another shape.
    fn delivery(&self) -> Option<Delivery> {
        let [prepare_s, unpack_s, round_trip, computation, radio, nonvolatile] =
            self.times.map(|time| time.map(f64::from_bits));
        Some(Delivery {
            prepare_s,
            unpack_s,
            round_trip_s: round_trip?,
            computation_s: computation?,
            radio_s: radio?,
            nonvolatile_s: nonvolatile?,
            message_bytes: self.message_bytes,
            packets: self.packets,
        })
    }
}

impl KeptDeliveries<'_> {
    /// The file of some deliveries, named by the content of what decides them.
    fn file(
        &self,
        workspace: &Workspace,
        endpoints: &Endpoints,
        kind: &DeliveryKind,
    ) -> Result<PathBuf, LabError> {
        let mut content = Content::of_this_program()?;
        for name in [&self.0.meter(workspace)?, &endpoints.collector] {
            let target = workspace.target(name)?;
            let compiler = Path::new(&target.toolchain()?.compiler);
            let source = workspace.source(&target, &target.operating_point(None, None)?)?;
            content.bytes(&firmware::content(&source, compiler)?);
        }
        content.bytes(format!("{endpoints:?} {kind:?}").as_bytes());
        let name = format!("{:?}-{}-{}.json", kind.message, kind.suite, &content.name()[..16]);
        Ok(workspace.cache()?.join("deliveries").join(name.to_lowercase()))
    }
}

impl Deliveries for KeptDeliveries<'_> {
    fn meter(&self, workspace: &Workspace) -> Result<String, LabError> {
        self.0.meter(workspace)
    }

    fn deliver(
        &self,
        workspace: &Workspace,
        endpoints: &Endpoints,
        kind: &DeliveryKind,
        progress: &dyn Progress,
    ) -> Result<Vec<Delivery>, LabError> {
        let file = self.file(workspace, endpoints, kind)?;
        let earlier: Option<Vec<KeptDelivery>> = result_cache::read(&file);
        let earlier = earlier.and_then(|earlier| earlier.iter().map(KeptDelivery::delivery).collect());
        if let Some(delivered) = earlier {
            return Ok(delivered);
        }
        let delivered = self.0.deliver(workspace, endpoints, kind, progress)?;
        result_cache::keep(&file, &delivered.iter().map(KeptDelivery::from).collect::<Vec<_>>());
        Ok(delivered)
    }

    /// Never of an earlier run: the machine may be another one, or busy.
    fn open_natively(&self, suite: &str) -> Result<NativeTimes, LabError> {
        self.0.open_natively(suite)
    }
}
