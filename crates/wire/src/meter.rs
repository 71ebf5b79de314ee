//! The meter's protocol, as `docs/reference/protocol.md` has it: packets, sealing, what is in the messages,
//! provisioning, and the collector's end of the link.

mod address;
mod answer;
mod ascon;
mod command;
mod engine;
mod keys;
mod packet;
mod provision;
mod reassembly;
mod renewal;
mod report;
mod sealing;
mod update;

pub use address::Address;
pub use answer::{Answer, CommandResult, Status};
pub use command::{Command, CommandError};
pub use engine::{
    Collector, CollectorError, CompletedCommand, Counters, Delivery, Due, MeterState, OpenedMessage, Policy,
    QueuedCommand, ReassemblyOutcome, ReceivedReport, Rejection, SealedMessage, Transmission, Update,
    UpdateEnd, UpdateProgress, UpdateStage, UplinkOutcome,
};
pub use keys::{EC_LIBRARY, Identity, KeyError, MeterKeys, PublicKey};
pub use packet::{MALFORMED_KINDS, Malformed, PACKET_BYTES_MAX, Packet, message_bytes, packets, pieces};
pub(crate) use provision::put_first_numbers;
pub use provision::{
    EEPROM_BYTES, FLASH_BYTES, MeterRecord, PROVISION_SYMBOL, Provision, SUITES_SYMBOL, Setup,
};
pub use reassembly::{Message, Reassembly};
pub use renewal::RenewalPacket;
pub use report::{Alert, Cause, Content, Measurement, Report};
pub use sealing::{Channel, NotAuthentic, Opened, signature_holds};
pub use update::{Image, ImageRefusal, PieceReply, UpdatePacket};

/// Names a meter on its collector's radio channel; 0 is nobody.
pub type MeterId = u16;

/// The sealing of a meter's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Neither encrypted nor authenticated.
    None,
    /// AES-128-GCM.
    Aes128Gcm,
    /// AES-256-GCM.
    Aes256Gcm,
    /// ECIES over P-256, with a secret of both sides in its authentication code.
    Ecies,
    /// ECIES over P-256, with the sender's ECDSA signature.
    EciesEcdsa,
    /// Ascon-AEAD128, with a key that comes of AES-128's.
    AsconAead128,
    /// AES-256-GCM, with a key that is renewed by P-256 and ML-KEM-512.
    Aes256GcmRekeyed,
}

impl Suite {
    /// All, in the order of their codes.
    pub const ALL: [Suite; 7] = [
        Suite::None,
        Suite::Aes128Gcm,
        Suite::Aes256Gcm,
        Suite::Ecies,
        Suite::EciesEcdsa,
        Suite::AsconAead128,
        Suite::Aes256GcmRekeyed,
    ];

    /// Those whose keys are as they were provisioned: all that an owner of a [`Collector`] can use
    /// that keeps no renewed keys ([`Policy::renew_keys`]).
    pub const WITH_FIXED_KEYS: [Suite; 6] = [
        Suite::None,
        Suite::Aes128Gcm,
        Suite::Aes256Gcm,
        Suite::Ecies,
        Suite::EciesEcdsa,
        Suite::AsconAead128,
    ];

    /// Its number in packets, nonces and commands: 0 to 6.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the suite of this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Suite> {
        Suite::ALL.get(usize::from(code)).copied()
    }

    /// Says if reports and commands are sealed with a curve: some hundred times as slow as all
    /// else.
    #[must_use]
    pub fn has_curve(self) -> bool {
        matches!(self, Suite::Ecies | Suite::EciesEcdsa)
    }

    /// Says if pieces of an image are sealed in this suite: it has one key for all messages.
    #[must_use]
    pub fn has_pieces(self) -> bool {
        self != Suite::None && !self.has_curve()
    }

    /// Returns what an authentic message proves: 0 nothing; 1 that its sender has the meter's keys;
    /// 2 that the meter signed it.
    #[must_use]
    pub fn rank(self) -> u8 {
        match self {
            Suite::None => 0,
            Suite::Aes128Gcm
            | Suite::Aes256Gcm
            | Suite::Ecies
            | Suite::AsconAead128
            | Suite::Aes256GcmRekeyed => 1,
            Suite::EciesEcdsa => 2,
        }
    }

    /// The suites that a build of the meter's firmware has. bits: the value of its
    /// [`SUITES_SYMBOL`].
    #[must_use]
    pub fn of_build(bits: u32) -> Vec<Suite> {
        Suite::ALL.into_iter().filter(|suite| bits >> suite.code() & 1 != 0).collect()
    }

    /// Its name, as command lines and files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Suite::None => "none",
            Suite::Aes128Gcm => "aes128-gcm",
            Suite::Aes256Gcm => "aes256-gcm",
            Suite::Ecies => "ecies",
            Suite::EciesEcdsa => "ecies-ecdsa",
            Suite::AsconAead128 => "ascon-aead128",
            Suite::Aes256GcmRekeyed => "aes256-gcm-rekeyed",
        }
    }

    /// Returns the suite of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Suite> {
        Suite::ALL.into_iter().find(|suite| suite.name() == name)
    }
}

impl std::fmt::Display for Suite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    /// A measurement or an alert, from the meter.
    Report,
    /// To a command, from the meter.
    Answer,
    /// Of a report, from the collector.
    Acknowledgement,
    /// From the collector.
    Command,
}

impl MessageKind {
    /// All, in the order of their codes.
    pub const ALL: [MessageKind; 4] =
        [MessageKind::Report, MessageKind::Answer, MessageKind::Acknowledgement, MessageKind::Command];

    /// Its number in packets, nonces and contexts: 0 to 3.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the kind of the lowest two bits of `code`.
    #[must_use]
    pub fn from_code(code: u8) -> MessageKind {
        MessageKind::ALL[usize::from(code & 3)]
    }
}

/// The big-endian numbers that lie one after the other in a record.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let (now, later) = self.0.split_at(N.min(self.0.len()));
        bytes[..now.len()].copy_from_slice(now);
        self.0 = later;
        bytes
    }

    fn u8(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.bytes())
    }

    fn i16(&mut self) -> i16 {
        i16::from_be_bytes(self.bytes())
    }

    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }
}

/// Writes fields one after the other into a record of a fixed length, the rest of which stays 0.
struct Record<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Record<N> {
    fn new() -> Record<N> {
        Record { bytes: [0; N], length: 0 }
    }

    /// Appends `field`. One that does not fit is this crate's mistake.
    fn with(mut self, field: &[u8]) -> Record<N> {
        self.bytes[self.length..self.length + field.len()].copy_from_slice(field);
        self.length += field.len();
        self
    }
}
