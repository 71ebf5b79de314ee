//! Messages from their fragments, in bounded memory. OMS volume 2, section 6.

use super::afl::{self, AflError, AuthenticationType, FragmentHeader};
use super::{Datagram, Integrity, Message, MeterAddress, TransportError};

/// The longest message: 16 KiB. OMS volume 2, section 6.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Messages that may be incomplete at a time. The oldest gives way.
const PARTIAL_MESSAGES_MAX: usize = 32;

/// A datagram that completes no message and never will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReassemblyError {
    /// The payload is still encrypted.
    #[error("the payload of {0} is encrypted; decrypt the datagram first")]
    Encrypted(MeterAddress),
    /// The fragmentation header cannot be read.
    #[error("{0}")]
    Header(#[from] AflError),
    /// The transport header cannot be read.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// A fragment whose predecessor did not come.
    #[error("fragment {found} of {meter} came where {expected} was due; wait for the next message")]
    OutOfOrder {
        /// The datagram's address.
        meter: MeterAddress,
        /// The fragment that was due.
        expected: u8,
        /// The fragment that came.
        found: u8,
    },
    /// The message is longer than allowed.
    #[error("the message of {0} is longer than 16 KiB")]
    TooLong(MeterAddress),
    /// The message has another length than its first fragment says.
    #[error("the message of {meter} has {found} bytes, and its first fragment says {expected}")]
    MessageLength {
        /// The datagram's address.
        meter: MeterAddress,
        /// Bytes by the first fragment.
        expected: usize,
        /// Bytes that came.
        found: usize,
    },
    /// The message control field promises fields that did not come, or the other way round.
    #[error("the fields of the message of {0} are not those that its message control names")]
    Fields(MeterAddress),
}

/// The fragments that came, one after the other.
#[derive(Clone, Debug)]
struct PartialMessage {
    meter: MeterAddress,
    header: FragmentHeader,
    last: FragmentHeader,
    /// The place in `bytes` where the last fragment begins.
    last_at: usize,
    integrity: Integrity,
    bytes: Vec<u8>,
}

impl PartialMessage {
    fn last_bytes(&self) -> &[u8] {
        &self.bytes[self.last_at..]
    }
}

/// Puts messages together from their fragments, at most one message of each meter.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// The oldest first.
    partial_messages: Vec<PartialMessage>,
}

impl Reassembly {
    /// Takes a datagram, and returns the message that it makes whole.
    pub fn take(&mut self, datagram: &Datagram) -> Result<Option<Message>, ReassemblyError> {
        let meter = datagram.address;
        let body = datagram.body();
        if datagram.is_encrypted() {
            return Err(ReassemblyError::Encrypted(meter));
        }
        if body.first() != Some(&afl::CI) {
            return Ok(Some(Message::new(datagram, None, body.to_vec(), datagram.integrity)?));
        }
        let (header, rest) = FragmentHeader::parse(body)?;
        if header.fragment == 0 {
            check_fields(meter, &header, rest.len())?;
            return Ok(Some(Message::new(datagram, Some(header), rest.to_vec(), datagram.integrity)?));
        }
        let begun = self.partial_messages.iter().position(|partial| partial.meter == meter);
        let begun = begun.map(|at| self.partial_messages.remove(at));
        let partial = join(begun, header, rest, datagram)?;
        if partial.last.more {
            if self.partial_messages.len() == PARTIAL_MESSAGES_MAX {
                self.partial_messages.remove(0);
            }
            self.partial_messages.push(partial);
            return Ok(None);
        }
        let PartialMessage { mut header, last, integrity, bytes, .. } = partial;
        header.mac = last.mac;
        check_fields(meter, &header, bytes.len())?;
        Ok(Some(Message::new(datagram, Some(header), bytes, integrity)?))
    }

    /// Bytes of messages that are incomplete: at most 32 times 16 KiB.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.partial_messages.iter().map(|partial| partial.bytes.len()).sum()
    }
}

/// Appends a fragment to those before it. A first fragment begins anew; a repeated one changes
/// nothing.
fn join(
    begun: Option<PartialMessage>,
    header: FragmentHeader,
    rest: &[u8],
    datagram: &Datagram,
) -> Result<PartialMessage, ReassemblyError> {
    let (meter, integrity) = (datagram.address, datagram.integrity);
    let has_first_fields = header.message_control.is_some()
        || header.key_information.is_some()
        || header.counter.is_some()
        || header.message_length.is_some();
    // The MAC covers the message, and stands in its last fragment alone. OMS volume 2, section 6.
    if header.more && header.mac.is_some() || header.fragment > 1 && has_first_fields {
        return Err(ReassemblyError::Fields(meter));
    }
    let expected = begun.as_ref().map_or(1, |partial| partial.last.fragment.saturating_add(1));
    let mut partial = match begun {
        Some(partial) if partial.last == header && partial.last_bytes() == rest => return Ok(partial),
        Some(partial) if header.fragment == expected => partial,
        _ if header.fragment == 1 => PartialMessage {
            meter,
            header: header.clone(),
            last: header.clone(),
            last_at: 0,
            integrity,
            bytes: Vec::new(),
        },
        _ => return Err(ReassemblyError::OutOfOrder { meter, expected, found: header.fragment }),
    };
    if partial.bytes.len() + rest.len() > MESSAGE_BYTES_MAX {
        return Err(ReassemblyError::TooLong(meter));
    }
    if integrity == Integrity::Unknown {
        partial.integrity = Integrity::Unknown;
    }
    partial.last_at = partial.bytes.len();
    partial.bytes.extend_from_slice(rest);
    partial.last = header;
    Ok(partial)
}

/// Checks that a message has the fields and the length that its message control field promises, so
/// that nobody takes a MAC off.
fn check_fields(meter: MeterAddress, header: &FragmentHeader, bytes: usize) -> Result<(), ReassemblyError> {
    let is_promised = |bit: u8| header.message_control.is_some_and(|control| control >> bit & 1 == 1);
    let mac_length = match header.authentication() {
        AuthenticationType::None => None,
        AuthenticationType::Cmac(length) | AuthenticationType::Gmac(length) => Some(length),
        AuthenticationType::Reserved(_) => return Err(ReassemblyError::Fields(meter)),
    };
    if header.mac.as_ref().map(Vec::len) != mac_length
        || header.key_information.is_some() != is_promised(4)
        || header.counter.is_some() != is_promised(5)
        || header.message_length.is_some() != is_promised(6)
    {
        return Err(ReassemblyError::Fields(meter));
    }
    match header.message_length.map(usize::from) {
        Some(expected) if expected != bytes => {
            Err(ReassemblyError::MessageLength { meter, expected, found: bytes })
        }
        _ => Ok(()),
    }
}
