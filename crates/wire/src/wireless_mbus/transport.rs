//! The transport layer's header. OMS volume 2, section 7; EN 13757-7, 7; not compared with the
//! latter.

use super::{Header, MeterAddress, Protocol, SecurityMode, header_of, protocol_of};

/// The status byte. OMS volume 2, section 7.2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub u8);

impl Status {
    /// True while the application is busy.
    #[must_use]
    pub fn is_busy(self) -> bool {
        self.0 & 3 == 1
    }

    /// True after an error of the application.
    #[must_use]
    pub fn has_application_error(self) -> bool {
        self.0 & 3 == 2
    }

    /// True in an abnormal condition, or of an alarm.
    #[must_use]
    pub fn is_abnormal(self) -> bool {
        self.0 & 3 == 3
    }

    /// True if the battery gets low.
    #[must_use]
    pub fn has_low_power(self) -> bool {
        self.0 & 4 != 0
    }

    /// True of an error that stays.
    #[must_use]
    pub fn has_permanent_error(self) -> bool {
        self.0 & 8 != 0
    }

    /// True of an error that passes.
    #[must_use]
    pub fn has_temporary_error(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The configuration field with its extension. OMS volume 2, section 7.2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The field's two bytes.
    pub field: u16,
    /// The security mode.
    pub mode: SecurityMode,
    /// The number that the lower byte counts of encrypted blocks or bytes.
    pub encrypted: u8,
    /// The key's number.
    pub key_id: u8,
    /// The way from the meter's key to the message's: 0 none, 1 the CMAC-based function.
    pub key_derivation: u8,
    /// The key's version, if it is sent.
    pub key_version: Option<u8>,
    /// The message counter, if it is sent here.
    pub counter: Option<u32>,
    /// The code of the MAC's length in mode 10.
    pub tag_length: u8,
}

/// A header that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// A CI field that no meter sends, or that is not known.
    #[error("CI field {ci:02x}h of {meter} is none that a meter sends")]
    UnknownCi {
        /// The datagram's address.
        meter: MeterAddress,
        /// The CI field.
        ci: u8,
    },
    /// The message ends inside its header.
    #[error("the message of {meter} ends inside the header of CI field {ci:02x}h")]
    Truncated {
        /// The datagram's address.
        meter: MeterAddress,
        /// The CI field.
        ci: u8,
    },
    /// A key version beside a message counter, whose order public documents give in two ways.
    #[error("the header of {0} has a key version and a counter, whose order is not known for certain")]
    KeyVersionAndCounter(MeterAddress),
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransportHeader {
    /// The CI field.
    pub ci: u8,
    /// The protocol of what follows.
    pub protocol: Protocol,
    /// The meter's address, in a long header.
    pub address: Option<MeterAddress>,
    /// The access number.
    pub access_number: Option<u8>,
    /// The status byte.
    pub status: Option<Status>,
    /// The configuration field; that of mode 0 where there is none.
    pub configuration: Configuration,
    /// Bytes that mode 10 authenticates: from CI to the configuration's extension.
    pub(super) associated_bytes: usize,
    /// Bytes of the header with CI.
    pub(super) bytes: usize,
}

/// Reads bytes one after the other.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    truncated: TransportError,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], TransportError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        self.at += N;
        taken.copied().ok_or(self.truncated)
    }
}

impl TransportHeader {
    /// Reads the header of a message that begins with its CI field.
    pub(super) fn parse(link: MeterAddress, bytes: &[u8]) -> Result<Self, TransportError> {
        let ci = bytes.first().copied().unwrap_or(0);
        let (Some(header), Some(protocol)) = (header_of(ci), protocol_of(ci)) else {
            return Err(TransportError::UnknownCi { meter: link, ci });
        };
        let truncated = TransportError::Truncated { meter: link, ci };
        let mut fields = Fields { bytes, at: 1, truncated };
        let mut parsed = Self {
            ci,
            protocol,
            address: None,
            access_number: None,
            status: None,
            configuration: Configuration::clear(),
            associated_bytes: 1,
            bytes: 1,
        };
        if header == Header::Long {
            parsed.address = Some(MeterAddress::from_long_header(&fields.take()?));
        }
        if header != Header::None {
            let [access_number, status, low, high] = fields.take()?;
            parsed.access_number = Some(access_number);
            parsed.status = Some(Status(status));
            parsed.configuration = Configuration::parse(u16::from_le_bytes([low, high]), &mut fields, link)?;
            let counter = if parsed.configuration.counter.is_some() { 4 } else { 0 };
            parsed.associated_bytes = fields.at - counter;
            parsed.bytes = fields.at;
        }
        Ok(parsed)
    }
}

impl Configuration {
    /// The configuration of a message without the field.
    fn clear() -> Self {
        Self {
            field: 0,
            mode: SecurityMode::None,
            encrypted: 0,
            key_id: 0,
            key_derivation: 0,
            key_version: None,
            counter: None,
            tag_length: 0,
        }
    }

    /// Reads the field and its extension. EN 13757-7, 7.7.2 to 7.7.8; not compared. The extension
    /// of mode 10 is OMS volume 2, Table 23.
    fn parse(field: u16, fields: &mut Fields<'_>, link: MeterAddress) -> Result<Self, TransportError> {
        let mode = SecurityMode::from_code((field >> 8 & 0x1f) as u8);
        let encrypted = match mode {
            SecurityMode::AesCbc | SecurityMode::AesCbcEphemeral => (field >> 4 & 0x0f) as u8,
            _ => field as u8,
        };
        let mut parsed = Self { field, mode, encrypted, ..Self::clear() };
        if matches!(mode, SecurityMode::AesCbcEphemeral | SecurityMode::AesCcm) {
            let [extension] = fields.take()?;
            parsed.key_id = extension & 0x0f;
            parsed.key_derivation = extension >> 4 & 3;
            if mode == SecurityMode::AesCcm {
                let [tag] = fields.take()?;
                parsed.tag_length = tag & 0x0f;
            }
            let (has_version, has_counter) = (extension & 0x40 != 0, field & 0x2000 != 0);
            if has_version && has_counter {
                return Err(TransportError::KeyVersionAndCounter(link));
            }
            if has_version {
                parsed.key_version = Some(fields.take::<1>()?[0]);
            }
            if has_counter {
                parsed.counter = Some(u32::from_le_bytes(fields.take()?));
            }
        }
        Ok(parsed)
    }
}
