//! Compact frames, which have the records' data without their headers, and the formats that have
//! the headers. EN 13757-3, Annex G; not compared. Its examples G.5.2 and G.5.3 are among the
//! tests.

use super::record::RecordHeader;
use super::{ApplicationError, Records, Step, step};
use crate::wireless_mbus::{MeterAddress, OpenedMessage, Protocol, crc16};
use std::collections::VecDeque;

/// Formats of all meters. The oldest gives way, one that is not authenticated first.
const FORMATS_MAX: usize = 4096;

/// The headers of a meter's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The meter that sent it.
    pub meter: MeterAddress,
    /// DIFs and VIFs with their extensions, record after record.
    pub headers: Vec<u8>,
    /// True if its message was authenticated.
    pub authenticated: bool,
}

impl Format {
    /// The signature: the CRC of the headers.
    #[must_use]
    pub fn signature(&self) -> u16 {
        crc16(&self.headers)
    }
}

/// The contents of an opened message.
#[derive(Clone, Debug, PartialEq)]
pub enum Application {
    /// Records.
    Records {
        /// The records.
        records: Records,
        /// True if their data and their headers are authenticated.
        authenticated: bool,
    },
    /// A format frame, which was learned.
    Format,
    /// Another protocol, whose bytes are shown as they are.
    Other {
        /// The protocol.
        protocol: Protocol,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// The formats that meters sent, by meter and signature.
#[derive(Clone, Debug, Default)]
pub struct FormatCache {
    formats: VecDeque<Format>,
}

impl FormatCache {
    /// Decodes an opened message, and learns its format.
    pub fn decode(&mut self, message: &OpenedMessage) -> Result<Application, ApplicationError> {
        let OpenedMessage { meter, authenticated, .. } = *message;
        match message.header.protocol {
            Protocol::FullFrame => {
                let records = Records::parse(&message.payload)?;
                let headers = records.records.iter().flat_map(|record| record.header.clone()).collect();
                if !records.records.is_empty() {
                    self.add(Format { meter, headers, authenticated });
                }
                Ok(Application::Records { records, authenticated })
            }
            Protocol::FormatFrame => {
                self.learn_format_frame(message)?;
                Ok(Application::Format)
            }
            Protocol::CompactFrame => self.decode_compact(message),
            protocol => Ok(Application::Other { protocol, bytes: message.payload.clone() }),
        }
    }

    /// Adds a format. One that is authenticated stays when others with its signature come.
    pub fn add(&mut self, format: Format) {
        let signature = format.signature();
        let same = self
            .formats
            .iter()
            .position(|known| known.meter == format.meter && known.signature() == signature);
        if let Some(at) = same {
            if format.authenticated || !self.formats[at].authenticated {
                self.formats[at] = format;
            }
            return;
        }
        if self.formats.len() == FORMATS_MAX {
            let oldest = self.formats.iter().position(|known| !known.authenticated).unwrap_or(0);
            self.formats.remove(oldest);
        }
        self.formats.push_back(format);
    }

    /// The number of formats: at most 4,096.
    #[must_use]
    pub fn len(&self) -> usize {
        self.formats.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.formats.is_empty()
    }

    /// Learns the headers of a format frame, whose signature has to be theirs.
    fn learn_format_frame(&mut self, message: &OpenedMessage) -> Result<(), ApplicationError> {
        let truncated = ApplicationError::Truncated { offset: 0 };
        let (&[length, low, high], headers) = message.payload.split_first_chunk().ok_or(truncated)?;
        // The length counts the signature, too.
        let length = usize::from(length).checked_sub(2).ok_or(truncated)?;
        let headers = headers.get(..length).ok_or(truncated)?.to_vec();
        let format = Format { meter: message.meter, headers, authenticated: message.authenticated };
        let (expected, found) = (format.signature(), u16::from_le_bytes([low, high]));
        if expected != found {
            return Err(ApplicationError::FormatSignature { expected, found });
        }
        self.add(format);
        Ok(())
    }

    /// Joins the data of a compact frame with the headers of its format. The CRC of both together
    /// has to fit; it authenticates nothing.
    fn decode_compact(&self, message: &OpenedMessage) -> Result<Application, ApplicationError> {
        let (signature, rest) =
            message.payload.split_first_chunk::<2>().ok_or(ApplicationError::Truncated { offset: 0 })?;
        let (crc, data) = rest.split_first_chunk::<2>().ok_or(ApplicationError::Truncated { offset: 0 })?;
        let signature = u16::from_le_bytes(*signature);
        let format = self
            .formats
            .iter()
            .find(|format| format.meter == message.meter && format.signature() == signature)
            .ok_or(ApplicationError::UnknownFormat { signature })?;
        let mismatch = ApplicationError::FormatMismatch { signature };
        let full = join(&format.headers, data).ok_or(mismatch)?;
        if crc16(&full) != u16::from_le_bytes(*crc) {
            return Err(mismatch);
        }
        let authenticated = message.authenticated && format.authenticated;
        Ok(Application::Records { records: Records::parse(&full)?, authenticated })
    }
}

/// Puts each record's data behind its header; `None` if they do not fit. Fillers may follow.
fn join(headers: &[u8], mut data: &[u8]) -> Option<Vec<u8>> {
    let mut full = Vec::with_capacity(headers.len() + data.len());
    let mut at = 0;
    while let Some(&dif) = headers.get(at) {
        if !matches!(step(dif), Step::Record) {
            return None;
        }
        let header = RecordHeader::parse(headers, at).ok()?;
        let length = header.data.length(data)?;
        full.extend_from_slice(&headers[at..at + header.bytes]);
        full.extend_from_slice(&data[..length]);
        (at, data) = (at + header.bytes, &data[length..]);
    }
    data.iter().all(|&byte| byte == 0x2f).then_some(full)
}
