//! The application layer: records, compact frames and their formats. EN 13757-3; not compared.
//! Read: OMS volume 2, section 8, and the implementations that `docs/reference/wireless-mbus.md`
//! names.

mod compact;
mod date;
mod modifier;
mod quantity;
mod record;
mod unit;
mod value;

pub use compact::{Application, Format, FormatCache};
pub use date::{Date, DateTime, Time};
pub use modifier::Modifier;
pub use quantity::{Coding, Quantity};
pub use record::{Function, Record};
pub use unit::{SiUnit, Unit};
pub use value::{Decimal, Value};

use record::RecordHeader;

/// Records of a message.
const RECORDS_MAX: usize = 1024;

/// Application data that are not read. None of their records is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplicationError {
    /// A record ends behind the data.
    #[error("the record at byte {offset} ends behind the message")]
    Truncated {
        /// The place where the record begins.
        offset: usize,
    },
    /// A header is extended without end.
    #[error("the record at byte {offset} has more than ten extensions of its DIF or VIF")]
    TooManyExtensions {
        /// The place where the record begins.
        offset: usize,
    },
    /// Too many records.
    #[error("more than 1,024 records; the one at byte {offset} is not read")]
    TooManyRecords {
        /// The place where the record begins.
        offset: usize,
    },
    /// A compact frame whose format did not come yet.
    #[error("no format {signature:04x} of this meter is known yet; its next full frame has it")]
    UnknownFormat {
        /// The format's signature.
        signature: u16,
    },
    /// A compact frame whose data do not fit the format of its signature.
    #[error("the data of the compact frame do not fit format {signature:04x}")]
    FormatMismatch {
        /// The format's signature.
        signature: u16,
    },
    /// A format frame whose signature is not that of its headers.
    #[error("the headers have signature {expected:04x}, and the format frame says {found:04x}")]
    FormatSignature {
        /// The signature of the headers.
        expected: u16,
        /// The signature that the frame has.
        found: u16,
    },
}

/// Bytes behind the records whose structure is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The place where they begin in the application's data.
    pub offset: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The records of a message.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Records {
    /// The records in their order.
    pub records: Vec<Record>,
    /// The maker's own data behind them.
    pub manufacturer_data: Vec<u8>,
    /// True if the meter has more for its next message.
    pub more_follow: bool,
    /// The bytes from a reserved DIF on.
    pub unread: Option<Unread>,
}

/// A step in the application's data.
enum Step {
    /// Fillers, or a request, of one byte.
    Skip,
    /// The maker's own data, to the end.
    Manufacturer {
        more_follow: bool,
    },
    /// A reserved function.
    Reserved,
    Record,
}

/// Tells what begins with a DIF. EN 13757-3, Table 6; not compared.
fn step(dif: u8) -> Step {
    match dif {
        0x2f | 0x7f => Step::Skip,
        0x0f => Step::Manufacturer { more_follow: false },
        0x1f => Step::Manufacturer { more_follow: true },
        dif if dif & 0x0f == 0x0f => Step::Reserved,
        _ => Step::Record,
    }
}

impl Records {
    /// Reads records from any bytes. A record that is cut off refuses all of them.
    pub fn parse(bytes: &[u8]) -> Result<Self, ApplicationError> {
        let mut read = Self::default();
        let mut offset = 0;
        while let Some(&dif) = bytes.get(offset) {
            match step(dif) {
                Step::Skip => offset += 1,
                Step::Manufacturer { more_follow } => {
                    read.manufacturer_data = bytes[offset + 1..].to_vec();
                    read.more_follow = more_follow;
                    break;
                }
                Step::Reserved => {
                    read.unread = Some(Unread { offset, bytes: bytes[offset..].to_vec() });
                    break;
                }
                Step::Record if read.records.len() == RECORDS_MAX => {
                    return Err(ApplicationError::TooManyRecords { offset });
                }
                Step::Record => {
                    let header = RecordHeader::parse(bytes, offset)?;
                    let data_at = offset + header.bytes;
                    let rest = bytes.get(data_at..).unwrap_or(&[]);
                    let length = header.data.length(rest).ok_or(ApplicationError::Truncated { offset })?;
                    let record = header.record(offset, &bytes[offset..data_at], &rest[..length]);
                    read.records.push(record);
                    offset = data_at + length;
                }
            }
        }
        Ok(read)
    }
}
