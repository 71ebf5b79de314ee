//! Messages: their meter, their security, and what they say once they are opened.

use super::afl::{AuthenticationType, FragmentHeader};
use super::security::{Derivation, decrypt_cbc, derive, is_authentic, open_ccm};
use super::{
    Control, Datagram, Integrity, MeterAddress, MeterKey, SecurityMode, TransportError, TransportHeader,
};

/// The two bytes in front of a plaintext of AES-CBC. OMS volume 2, section 9.
const CHECK: [u8; 2] = [0x2f, 0x2f];
/// The code of a MAC of 8 bytes in mode 10. OMS volume 2, Table 23.
const TAG_OF_8: u8 = 1;
/// The count of mode 10 that stands for all bytes that follow.
const ALL_BYTES: u8 = 0xff;
/// The count of blocks that is the highest one, and of which longer messages cannot be told.
const BLOCKS_MAX: u8 = 15;

/// A message that is not opened. Nothing of it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The message is none of a meter.
    #[error("the message of {meter} has C field {control:02x}h, which no meter sends")]
    NotFromMeter {
        /// The datagram's address.
        meter: MeterAddress,
        /// The C field.
        control: u8,
    },
    /// A mode that is not opened.
    #[error("{meter} uses {mode}, which is refused")]
    Refused {
        /// The meter.
        meter: MeterAddress,
        /// The mode.
        mode: SecurityMode,
    },
    /// The message is encrypted, and there is no key.
    #[error("{0} encrypts, and there is no key of it; import its maker's key file")]
    NoKey(MeterAddress),
    /// The message's mode says that it is encrypted, and its count says that nothing is.
    #[error("the message of {0} names a mode that encrypts, and no encrypted bytes")]
    NothingEncrypted(MeterAddress),
    /// The encrypted bytes are not all there, or their end is not known.
    #[error("the message of {meter} says that {expected} bytes are encrypted, and has {found}")]
    EncryptedLength {
        /// The meter.
        meter: MeterAddress,
        /// Bytes by the configuration field.
        expected: usize,
        /// Bytes behind the header.
        found: usize,
    },
    /// An option of the mode that OMS does not have.
    #[error("the message of {meter} has {what}, which OMS does not have in {mode}")]
    Option {
        /// The meter.
        meter: MeterAddress,
        /// The mode.
        mode: SecurityMode,
        /// The option.
        what: &'static str,
    },
    /// The message is intact, and its plaintext does not begin with its two check bytes.
    #[error("the key of {0} does not fit: the message is intact, and its plaintext is none")]
    WrongKey(MeterAddress),
    /// The plaintext does not begin with its two check bytes, and nobody knows whether it is
    /// intact.
    #[error("the key of {0} does not fit, or the message is corrupted: its receiver removed the CRCs")]
    WrongKeyOrCorrupted(MeterAddress),
    /// The key fits, and the MAC does not: the message was altered.
    #[error("the message of {0} was altered: its key fits, and its MAC does not")]
    Altered(MeterAddress),
    /// The MAC does not fit, of a mode that does not tell a wrong key from an altered message.
    #[error("the message of {0} is not authentic: a wrong key, or an altered message")]
    NotAuthentic(MeterAddress),
}

/// A message, whole and not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The C field of its datagram.
    pub control: Control,
    /// The address of its datagram: the meter's, or that of a radio beside it.
    pub link: MeterAddress,
    /// The transport layer's header, which nothing authenticates before the message is opened.
    pub header: TransportHeader,
    fragmentation: Option<FragmentHeader>,
    integrity: Integrity,
    /// The message from its CI field on.
    bytes: Vec<u8>,
}

/// A message that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedMessage {
    /// The meter.
    pub meter: MeterAddress,
    /// The transport layer's header.
    pub header: TransportHeader,
    /// True if a MAC with the meter's key covers the payload. A reading without is anybody's word.
    pub authenticated: bool,
    /// The message counter, which is authentic if the message is.
    pub counter: Option<u32>,
    /// The application's data.
    pub payload: Vec<u8>,
}

impl Message {
    pub(super) fn new(
        datagram: &Datagram,
        fragmentation: Option<FragmentHeader>,
        bytes: Vec<u8>,
        integrity: Integrity,
    ) -> Result<Self, TransportError> {
        let header = TransportHeader::parse(datagram.address, &bytes)?;
        let Datagram { control, address: link, .. } = *datagram;
        Ok(Self { control, link, header, fragmentation, integrity, bytes })
    }

    /// The meter: the address of a long header, else that of the datagram.
    #[must_use]
    pub fn meter(&self) -> MeterAddress {
        self.header.address.unwrap_or(self.link)
    }

    /// Opens the message, with the meter's key if it is encrypted. Nothing is released that a
    /// profile with a MAC does not authenticate.
    pub fn open(&self, key: Option<&MeterKey>) -> Result<OpenedMessage, OpenError> {
        let meter = self.meter();
        if !self.control.is_from_meter() {
            return Err(OpenError::NotFromMeter { meter, control: self.control.0 });
        }
        let mode = self.header.configuration.mode;
        // A MAC that is not checked authenticates nothing, and would look as if it did.
        if self.mac().is_some() && mode != SecurityMode::AesCbcEphemeral {
            return Err(self.option("a MAC of the fragmentation layer"));
        }
        let key = || key.ok_or(OpenError::NoKey(meter));
        let (payload, authenticated) = match mode {
            SecurityMode::None => (self.payload().to_vec(), false),
            SecurityMode::AesCbc => (self.open_profile_a(key()?)?, false),
            SecurityMode::AesCbcEphemeral => (self.open_profile_b(key()?)?, true),
            SecurityMode::AesCcm => (self.open_profile_d(key()?)?, true),
            mode => return Err(OpenError::Refused { meter, mode }),
        };
        Ok(OpenedMessage { meter, header: self.header, authenticated, counter: self.counter(), payload })
    }

    /// The bytes behind the header.
    fn payload(&self) -> &[u8] {
        &self.bytes[self.header.bytes..]
    }

    fn mac(&self) -> Option<&[u8]> {
        self.fragmentation.as_ref()?.mac.as_deref()
    }

    /// The message counter: the transport layer's, else the fragmentation layer's.
    fn counter(&self) -> Option<u32> {
        self.header.configuration.counter.or(self.fragmentation.as_ref().and_then(|header| header.counter))
    }

    fn option(&self, what: &'static str) -> OpenError {
        OpenError::Option { meter: self.meter(), mode: self.header.configuration.mode, what }
    }

    /// The error of a plaintext without its check bytes.
    fn wrong_key(&self) -> OpenError {
        match self.integrity {
            Integrity::Checked => OpenError::WrongKey(self.meter()),
            Integrity::Unknown => OpenError::WrongKeyOrCorrupted(self.meter()),
        }
    }

    /// Bytes that AES-CBC encrypts, by the count of blocks.
    fn encrypted_bytes(&self) -> Result<usize, OpenError> {
        let (meter, blocks) = (self.meter(), self.header.configuration.encrypted);
        let (expected, found) = (usize::from(blocks) * 16, self.payload().len());
        match blocks {
            0 => Err(OpenError::NothingEncrypted(meter)),
            BLOCKS_MAX if found > expected => Err(OpenError::EncryptedLength { meter, expected, found }),
            _ if found < expected => Err(OpenError::EncryptedLength { meter, expected, found }),
            _ => Ok(expected),
        }
    }

    /// Mode 5: AES-CBC, the vector of address and access number. OMS volume 2, section 9, profile
    /// A.
    fn open_profile_a(&self, key: &MeterKey) -> Result<Vec<u8>, OpenError> {
        let encrypted = self.encrypted_bytes()?;
        let mut vector = [self.header.access_number.unwrap_or(0); 16];
        vector[..8].copy_from_slice(&self.meter().to_link());
        let mut payload = self.payload().to_vec();
        decrypt_cbc(key, &vector, &mut payload[..encrypted]);
        without_check(payload).ok_or(self.wrong_key())
    }

    /// Mode 7: a CMAC, then AES-CBC with a vector of zeros, both with keys of this message. OMS
    /// volume 2, section 9, profile B.
    fn open_profile_b(&self, key: &MeterKey) -> Result<Vec<u8>, OpenError> {
        let meter = self.meter();
        let Some(fragmentation) = &self.fragmentation else { return Err(self.option("no MAC")) };
        // OMS has 8 bytes, and gateways take 12 and 16, too. OMS volume 2, section 6.
        if !matches!(fragmentation.authentication(), AuthenticationType::Cmac(8 | 12 | 16)) {
            return Err(self.option("no CMAC of 8, 12 or 16 bytes"));
        }
        let information = fragmentation.key_information.map(|[information, _]| information >> 4 & 3);
        if information.unwrap_or(self.header.configuration.key_derivation) != 1 {
            return Err(self.option("no derived key"));
        }
        let counter = self.counter().ok_or(self.option("no message counter"))?;
        let encrypted = self.encrypted_bytes()?;
        let mut payload = self.payload().to_vec();
        decrypt_cbc(
            &derive(key, Derivation::Encryption, counter, meter),
            &[0; 16],
            &mut payload[..encrypted],
        );
        let parts = [&*fragmentation.authenticated_bytes(), &self.bytes];
        let authentication = derive(key, Derivation::Authentication, counter, meter);
        let is_authentic = is_authentic(&authentication, parts, self.mac().unwrap_or(&[]));
        match (is_authentic, without_check(payload)) {
            (true, Some(payload)) => Ok(payload),
            (false, Some(_)) => Err(OpenError::Altered(meter)),
            (true, None) => Err(self.option("a plaintext without its check bytes")),
            (false, None) => Err(self.wrong_key()),
        }
    }

    /// Mode 10: AES-CCM with a key of this message. The nonce is address, zero and message counter;
    /// the header up to the configuration's extension is authenticated. OMS volume 2, section 9,
    /// profile D; nonce and header by the telegrams that wmbusmeters' issue 1667 publishes, long
    /// header not compared.
    fn open_profile_d(&self, key: &MeterKey) -> Result<Vec<u8>, OpenError> {
        let (meter, configuration) = (self.meter(), self.header.configuration);
        if configuration.key_derivation != 1 {
            return Err(self.option("no derived key"));
        }
        if configuration.tag_length != TAG_OF_8 {
            return Err(self.option("a MAC of other than 8 bytes"));
        }
        let counter = self.counter().ok_or(self.option("no message counter"))?;
        if configuration.encrypted != ALL_BYTES {
            return Err(self.option("bytes that are not encrypted"));
        }
        let mut nonce = [0; 13];
        nonce[..8].copy_from_slice(&meter.to_link());
        nonce[9..].copy_from_slice(&counter.to_be_bytes());
        let key = derive(key, Derivation::Encryption, counter, meter);
        open_ccm(&key, &nonce, &self.bytes[..self.header.associated_bytes], self.payload())
            .ok_or(OpenError::NotAuthentic(meter))
    }
}

/// Takes the check bytes off a plaintext; `None` if it has none.
fn without_check(plaintext: Vec<u8>) -> Option<Vec<u8>> {
    plaintext.strip_prefix(&CHECK).map(<[u8]>::to_vec)
}
