//! The authentication and fragmentation layer, CI field 90h. OMS volume 2, section 6; EN 13757-7,
//! 6; not compared with the latter.

/// The algorithm and length of a MAC. EN 13757-7, Table 6; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthenticationType {
    /// No MAC.
    None,
    /// AES-CMAC, with its length in bytes.
    Cmac(usize),
    /// AES-GMAC, with its length in bytes.
    Gmac(usize),
    /// A code that is in no table.
    Reserved(u8),
}

/// The CI field of the layer.
pub(super) const CI: u8 = 0x90;

/// A fragment whose header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AflError {
    /// The datagram ends inside the header.
    #[error("the datagram ends inside its fragmentation header of {0} bytes")]
    Truncated(usize),
    /// The header has no room for its fields, or room for more.
    #[error("a fragmentation header of {length} bytes, whose fields {control:04x} need another length")]
    FieldLengths {
        /// Bytes of the header.
        length: usize,
        /// The fragmentation control field.
        control: u16,
    },
}

/// The header of a fragment, or of a message that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentHeader {
    /// The number of the fragment from 1; 0 of a message in one piece.
    pub fragment: u8,
    /// True if fragments follow.
    pub more: bool,
    /// The message control field, which the first fragment has.
    pub message_control: Option<u8>,
    /// Key information.
    pub key_information: Option<[u8; 2]>,
    /// The message counter.
    pub counter: Option<u32>,
    /// The MAC, which the last fragment has.
    pub mac: Option<Vec<u8>>,
    /// The length of the whole message.
    pub message_length: Option<u16>,
}

impl FragmentHeader {
    /// Takes the header off a datagram that begins with CI field 90h; returns it and the rest.
    pub(super) fn parse(body: &[u8]) -> Result<(Self, &[u8]), AflError> {
        let length = usize::from(body.get(1).copied().unwrap_or(0));
        let header = body.get(2..2 + length).ok_or(AflError::Truncated(length))?;
        let rest = &body[2 + length..];
        let (control, mut fields) = header.split_first_chunk::<2>().ok_or(AflError::Truncated(length))?;
        let control = u16::from_le_bytes(*control);
        let has = |bit: u16| control >> bit & 1 == 1;
        let wrong = AflError::FieldLengths { length, control };
        let message_control = if has(13) { Some(take::<1>(&mut fields).ok_or(wrong)?[0]) } else { None };
        let key_information = if has(9) { Some(take::<2>(&mut fields).ok_or(wrong)?) } else { None };
        let counter = if has(11) { Some(take::<4>(&mut fields).ok_or(wrong)?) } else { None };
        let message_length = match (has(12), fields.split_last_chunk::<2>()) {
            (false, _) => None,
            (true, None) => return Err(wrong),
            (true, Some((before, length))) => {
                fields = before;
                Some(u16::from_le_bytes(*length))
            }
        };
        // The MAC's length stands in the first fragment, so that of a later one is what is left.
        let mac = match (has(10), fields) {
            (true, [_, ..]) if fields.len() <= 16 => Some(fields.to_vec()),
            (false, []) => None,
            _ => return Err(wrong),
        };
        let parsed = Self {
            fragment: control as u8,
            more: has(14),
            message_control,
            key_information,
            counter: counter.map(u32::from_le_bytes),
            mac,
            message_length,
        };
        Ok((parsed, rest))
    }

    /// The algorithm of the MAC, by the message control field.
    #[must_use]
    pub fn authentication(&self) -> AuthenticationType {
        match self.message_control.map_or(0, |control| control & 0x0f) {
            0 => AuthenticationType::None,
            3 => AuthenticationType::Cmac(2),
            4 => AuthenticationType::Cmac(4),
            5 => AuthenticationType::Cmac(8),
            6 => AuthenticationType::Cmac(12),
            7 => AuthenticationType::Cmac(16),
            8 => AuthenticationType::Gmac(12),
            9 => AuthenticationType::Gmac(16),
            code => AuthenticationType::Reserved(code),
        }
    }

    /// The fields that the MAC covers, in front of the message: MCL, KI, MCR, ML.
    pub(super) fn authenticated_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.message_control.into_iter().collect();
        bytes.extend(self.key_information.into_iter().flatten());
        bytes.extend(self.counter.into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.message_length.into_iter().flat_map(u16::to_le_bytes));
        bytes
    }
}

/// Takes bytes off the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*taken)
}
