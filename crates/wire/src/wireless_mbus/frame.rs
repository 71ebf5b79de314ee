//! The link layer: frame formats, their CRCs, and the first block. EN 13757-4; not compared. Read:
//! OMS volume 2, section 5, and the frames of its Annex N.

use super::{MeterAddress, crc16};

/// A mode of the radio by its name. EN 13757-4; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkMode {
    /// Stationary, one way.
    S1,
    /// Stationary, both ways.
    S2,
    /// Frequent transmit, one way.
    T1,
    /// Frequent transmit, both ways.
    T2,
    /// Compact, one way.
    C1,
    /// Compact, both ways.
    C2,
}

impl LinkMode {
    /// All, by name.
    pub const ALL: [(LinkMode, &'static str); 6] = [
        (LinkMode::S1, "S1"),
        (LinkMode::S2, "S2"),
        (LinkMode::T1, "T1"),
        (LinkMode::T2, "T2"),
        (LinkMode::C1, "C1"),
        (LinkMode::C2, "C2"),
    ];

    /// Finds a mode by its name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode)
    }
}

/// The form of a frame's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameFormat {
    /// A first block of 10 bytes and further ones of 16, each with its CRC, which L does not count.
    A,
    /// A block of up to 126 bytes and one more, each with its CRC, which L counts.
    B,
    /// The receiver removed the CRCs, and L counts what is left.
    WithoutCrc,
}

/// The checks that a frame passed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// Its CRCs hold, here or by the receiver's word.
    Checked,
    /// Its CRCs were removed, and nobody says that they held.
    Unknown,
}

/// The C field: the purpose of a frame. OMS volume 2, Tables 15 and 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control(pub u8);

impl Control {
    /// True of what a meter sends; false of requests and of anything that is in no table.
    #[must_use]
    pub fn is_from_meter(self) -> bool {
        matches!(self.0, 0x44 | 0x46 | 0x47 | 0x48) || self.0 & 0xcf == 0x08 || self.0 & 0xce == 0
    }

    /// The table's name of it.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0x44 => "SND-NR",
            0x46 => "SND-IR",
            0x47 => "ACC-NR",
            0x48 => "ACC-DMD",
            0x40 => "SND-NKE",
            0x43 => "SND-UD2",
            0x53 | 0x73 => "SND-UD",
            0x5a | 0x7a => "REQ-UD1",
            0x5b | 0x7b => "REQ-UD2",
            0x06 => "CNF-IR",
            code if code & 0xcf == 0x08 => "RSP-UD",
            code if code & 0xcf == 0x00 => "ACK",
            code if code & 0xcf == 0x01 => "NACK",
            _ => return None,
        })
    }
}

/// Bytes that are no frame, or a corrupted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Too few bytes for C, M, A and CI.
    #[error("a frame of {0} bytes is too short for C, M, A and CI; the receiver cut it")]
    TooShort(usize),
    /// Another length than L says.
    #[error("a frame of {found} bytes whose L field asks for {expected}; the receiver cut or joined it")]
    Length {
        /// Bytes that L asks for in this format.
        expected: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// A block is corrupted.
    #[error("block {block} fails its CRC: {found:04x} instead of {expected:04x}; corrupted on the air")]
    Crc {
        /// The block, from 1.
        block: usize,
        /// The CRC of its bytes.
        expected: u16,
        /// The CRC that it has.
        found: u16,
    },
}

/// A frame without its CRCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The C field.
    pub control: Control,
    /// M and A fields: the meter, or the radio beside it.
    pub address: MeterAddress,
    /// The bytes from the first CI field on: 1 to 246.
    pub body: Vec<u8>,
    /// The checks that it passed.
    pub integrity: Integrity,
}

/// Bytes of L, C, M and A.
const FIRST_BLOCK: usize = 10;
/// Bytes of a CRC.
const CRC: usize = 2;

impl Frame {
    /// Takes a frame apart, and checks its CRCs. Bytes behind its end are refused.
    pub fn parse(bytes: &[u8], format: FrameFormat) -> Result<Self, FrameError> {
        let Some(&length) = bytes.first() else { return Err(FrameError::TooShort(0)) };
        let (counted, crcs) = match format {
            FrameFormat::A => (usize::from(length) + 1, blocks_of_a(usize::from(length) + 1) * CRC),
            FrameFormat::B | FrameFormat::WithoutCrc => (usize::from(length) + 1, 0),
        };
        if bytes.len() != counted + crcs {
            return Err(FrameError::Length { expected: counted + crcs, found: bytes.len() });
        }
        let content = match format {
            FrameFormat::A => join_blocks(bytes, FIRST_BLOCK, 16)?,
            FrameFormat::B => join_blocks(bytes, 126, 126)?,
            FrameFormat::WithoutCrc => bytes.to_vec(),
        };
        let integrity = match format {
            FrameFormat::A | FrameFormat::B => Integrity::Checked,
            FrameFormat::WithoutCrc => Integrity::Unknown,
        };
        Self::from_content(&content, integrity)
    }

    /// Finds the format that fits: A or B if all their CRCs hold, else one without CRCs. Frames of
    /// a receiver that says nothing come this way.
    pub fn detect(bytes: &[u8]) -> Result<Self, FrameError> {
        let by_format = [FrameFormat::A, FrameFormat::B].map(|format| Self::parse(bytes, format));
        let [a, b] = by_format;
        match (a, b) {
            (Ok(frame), _) | (_, Ok(frame)) => Ok(frame),
            (Err(error @ FrameError::Crc { .. }), _) => Err(error),
            _ => Self::parse(bytes, FrameFormat::WithoutCrc),
        }
    }

    /// Reads L, C, M and A of a frame whose CRCs are gone.
    fn from_content(content: &[u8], integrity: Integrity) -> Result<Self, FrameError> {
        match content {
            [_, control, head @ .., _] if head.len() >= 8 => {
                let address = MeterAddress::from_link(head[..8].try_into().expect("eight of them"));
                let body = content[FIRST_BLOCK..].to_vec();
                Ok(Self { control: Control(*control), address, body, integrity })
            }
            _ => Err(FrameError::TooShort(content.len())),
        }
    }

    /// The frame by the word of a receiver that checked its CRCs.
    #[must_use]
    pub fn checked_by_receiver(self) -> Self {
        Self { integrity: Integrity::Checked, ..self }
    }
}

/// The number of blocks in format A of a frame's bytes with L and without CRCs.
fn blocks_of_a(bytes: usize) -> usize {
    1 + bytes.saturating_sub(FIRST_BLOCK).div_ceil(16)
}

/// Checks the CRC of each block, and joins what they carry.
fn join_blocks(bytes: &[u8], first: usize, further: usize) -> Result<Vec<u8>, FrameError> {
    let mut content = Vec::with_capacity(bytes.len());
    let (mut rest, mut size, mut block) = (bytes, first, 0);
    while !rest.is_empty() {
        block += 1;
        let (data, after) = rest.split_at(rest.len().min(size + CRC));
        let Some((data, crc)) = data.split_last_chunk::<CRC>() else {
            return Err(FrameError::TooShort(bytes.len()));
        };
        let (expected, found) = (crc16(data), u16::from_be_bytes(*crc));
        if expected != found {
            return Err(FrameError::Crc { block, expected, found });
        }
        content.extend_from_slice(data);
        (rest, size) = (after, further);
    }
    Ok(content)
}
