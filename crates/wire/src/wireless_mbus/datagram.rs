//! The extended link layer, CI fields 8Ch to 8Fh. EN 13757-4, 13.2; not compared. Read: OMS volume
//! 2, section 5.3, for 8Ch and 8Eh.

use super::{Control, Frame, Integrity, MeterAddress, MeterKey, crc16, security};

/// Time at which a meter hears, after it sent. OMS volume 2, section 5.3; EN 13757-4, 13.2.7; not
/// compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessWindow {
    /// Never.
    None,
    /// Not after this frame.
    NotNow,
    /// For a short time after this frame.
    Short,
    /// Always.
    Always,
}

/// The CC field. EN 13757-4, 13.2.7; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommunicationControl(pub u8);

impl CommunicationControl {
    /// Time at which the meter hears.
    #[must_use]
    pub fn access(self) -> AccessWindow {
        match (self.0 & 0x80 != 0, self.0 & 0x04 != 0) {
            (false, false) => AccessWindow::None,
            (false, true) => AccessWindow::NotNow,
            (true, false) => AccessWindow::Short,
            (true, true) => AccessWindow::Always,
        }
    }

    /// True of a frame at its planned time, which the access number tells.
    #[must_use]
    pub fn is_synchronous(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// True of a frame that a repeater sent.
    #[must_use]
    pub fn is_repeated(self) -> bool {
        self.0 & 0x10 != 0
    }
}

/// A frame whose extended link layer cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// The frame ends inside its extended link layer.
    #[error("the frame of {meter} ends inside its extended link layer {ci:02x}h")]
    Truncated {
        /// The frame's address.
        meter: MeterAddress,
        /// The CI field.
        ci: u8,
    },
    /// A layer that is not read.
    #[error("the frame of {meter} has layer {ci:02x}h ({name}), which is not read")]
    Unsupported {
        /// The frame's address.
        meter: MeterAddress,
        /// The CI field.
        ci: u8,
        /// The layer's name.
        name: &'static str,
    },
    /// An encryption that is in no table.
    #[error("the session of {meter} has encryption {mode}, which is reserved")]
    ReservedEncryption {
        /// The frame's address.
        meter: MeterAddress,
        /// The bits of the session number.
        mode: u8,
    },
    /// The clear payload fails its CRC.
    #[error("the payload of {meter} fails its CRC: {found:04x} instead of {expected:04x}; corrupted")]
    Corrupted {
        /// The frame's address.
        meter: MeterAddress,
        /// The CRC of the payload.
        expected: u16,
        /// The CRC that the frame has.
        found: u16,
    },
    /// The decrypted payload fails its CRC, and the frame is intact.
    #[error("the key of {0} does not fit: the frame is intact, and its decrypted payload fails its CRC")]
    WrongKey(MeterAddress),
    /// The decrypted payload fails its CRC, and nobody knows whether the frame is intact.
    #[error("the key of {0} does not fit, or the frame is corrupted: its receiver removed the CRCs")]
    WrongKeyOrCorrupted(MeterAddress),
}

/// A frame without its extended link layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The C field.
    pub control: Control,
    /// The address of the meter, or of the radio beside it.
    pub address: MeterAddress,
    /// The address of who is to hear it.
    pub receiver: Option<MeterAddress>,
    /// The CC field.
    pub communication: Option<CommunicationControl>,
    /// The access number of the extended link layer.
    pub access_number: Option<u8>,
    /// The checks that the frame passed.
    pub integrity: Integrity,
    /// The session number of an encrypted payload.
    session: Option<[u8; 4]>,
    /// The bytes from the next layer's CI field on.
    body: Vec<u8>,
}

impl Datagram {
    /// Takes the extended link layer off a frame, and checks the CRC of a clear payload.
    pub fn parse(frame: Frame) -> Result<Self, DatagramError> {
        let Frame { control, address, body, integrity } = frame;
        let ci = body.first().copied().unwrap_or(0);
        let mut datagram = Self {
            control,
            address,
            receiver: None,
            communication: None,
            access_number: None,
            integrity,
            session: None,
            body,
        };
        let unsupported = |name| Err(DatagramError::Unsupported { meter: address, ci, name });
        let header = match ci {
            0x81 => return unsupported("network layer"),
            0x86 => return unsupported("extended link layer of variable length"),
            0x8c => 2,
            0x8d => 6,
            0x8e => 10,
            0x8f => 14,
            _ => return Ok(datagram),
        };
        let truncated = DatagramError::Truncated { meter: address, ci };
        let fields: Vec<u8> = datagram.body.get(1..=header).ok_or(truncated)?.to_vec();
        datagram.body.drain(..=header);
        datagram.communication = Some(CommunicationControl(fields[0]));
        datagram.access_number = Some(fields[1]);
        if matches!(ci, 0x8e | 0x8f) {
            datagram.receiver = fields[2..10].try_into().ok().map(MeterAddress::from_link);
        }
        if let (0x8d | 0x8f, Some(session)) = (ci, fields.last_chunk::<4>()) {
            match session[3] >> 5 {
                0 => datagram.check_payload()?,
                1 => datagram.session = Some(*session),
                mode => return Err(DatagramError::ReservedEncryption { meter: address, mode }),
            }
        }
        if datagram.body.is_empty() { Err(truncated) } else { Ok(datagram) }
    }

    /// True if [`Self::decrypt`] has to come first.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.session.is_some()
    }

    /// Decrypts the payload by AES-CTR, and checks its CRC, which authenticates nothing. Counter:
    /// M, A, CC without its repeater's bits, session number, zeros. EN 13757-4, 13.2.11; not
    /// compared.
    pub fn decrypt(mut self, key: &MeterKey) -> Result<Self, DatagramError> {
        let Some(session) = self.session.take() else { return Ok(self) };
        let control = self.communication.map_or(0, |communication| communication.0) & !0x12;
        let mut counter = [0; 16];
        counter[..8].copy_from_slice(&self.address.to_link());
        counter[8] = control;
        counter[9..13].copy_from_slice(&session);
        security::apply_ctr(key, &counter, &mut self.body);
        let wrong = match self.integrity {
            Integrity::Checked => DatagramError::WrongKey(self.address),
            Integrity::Unknown => DatagramError::WrongKeyOrCorrupted(self.address),
        };
        self.check_payload().map_err(|_| wrong)?;
        if self.body.is_empty() { Err(wrong) } else { Ok(self) }
    }

    /// Checks the CRC in front of the payload, and removes it.
    fn check_payload(&mut self) -> Result<(), DatagramError> {
        let meter = self.address;
        let Some((crc, payload)) = self.body.split_first_chunk::<2>() else {
            return Err(DatagramError::Truncated { meter, ci: 0x8d });
        };
        let (expected, found) = (crc16(payload), u16::from_le_bytes(*crc));
        if expected != found {
            return Err(DatagramError::Corrupted { meter, expected, found });
        }
        self.body.drain(..2);
        Ok(())
    }

    /// The bytes from the next CI field on; none while they are encrypted.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        if self.is_encrypted() { &[] } else { &self.body }
    }
}
