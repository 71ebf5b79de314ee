//! Security modes, their keys and ciphers. OMS volume 2, section 9; EN 13757-7, 9; not compared
//! with the latter. AES and its modes are those of the RustCrypto crates.

use super::MeterAddress;
use aes::Aes128;
use cbc::cipher::{BlockDecryptMut, KeyIvInit, StreamCipher, block_padding::NoPadding};
use ccm::{
    Ccm,
    aead::{Aead, KeyInit, Payload},
    consts::{U8, U13},
};
use cmac::{Cmac, Mac};
use std::fmt;
use zeroize::Zeroizing;

/// The key of a meter, which is erased when it is dropped and which nothing prints.
#[derive(Clone)]
pub struct MeterKey(Zeroizing<[u8; 16]>);

impl MeterKey {
    /// Takes a key's bytes.
    #[must_use]
    pub fn new(bytes: [u8; 16]) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl fmt::Debug for MeterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MeterKey(..)")
    }
}

/// A security mode by its name. EN 13757-7, Table 19; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecurityMode {
    /// Mode 0: nothing is encrypted.
    None,
    /// Mode 1: a maker's own.
    Manufacturer,
    /// Modes 2 and 3: DES.
    Des,
    /// Mode 4: AES-CBC with a constant initialization vector.
    AesCbcConstant,
    /// Mode 5, profile A: AES-CBC with the meter's key.
    AesCbc,
    /// Mode 7, profile B: AES-CBC with a message's key, and a MAC.
    AesCbcEphemeral,
    /// Mode 8: AES-CTR with a MAC.
    AesCtrCmac,
    /// Mode 9: AES-GCM.
    AesGcm,
    /// Mode 10, profile D: AES-CCM with a message's key.
    AesCcm,
    /// Mode 13, profile C: TLS.
    Tls,
    /// A mode that is in no table.
    Reserved(u8),
}

impl SecurityMode {
    /// The mode of a code.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Self::None,
            1 => Self::Manufacturer,
            2 | 3 => Self::Des,
            4 => Self::AesCbcConstant,
            5 => Self::AesCbc,
            7 => Self::AesCbcEphemeral,
            8 => Self::AesCtrCmac,
            9 => Self::AesGcm,
            10 => Self::AesCcm,
            13 => Self::Tls,
            code => Self::Reserved(code),
        }
    }

    /// OMS's letter of the profile that has this mode. OMS volume 2, Table 43.
    #[must_use]
    pub fn profile(self) -> Option<char> {
        match self {
            Self::AesCbc => Some('A'),
            Self::AesCbcEphemeral => Some('B'),
            Self::Tls => Some('C'),
            Self::AesCcm => Some('D'),
            _ => None,
        }
    }
}

impl fmt::Display for SecurityMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "mode 0 (none)",
            Self::Manufacturer => "mode 1 (a maker's own)",
            Self::Des => "mode 2 or 3 (DES)",
            Self::AesCbcConstant => "mode 4 (AES-CBC, constant vector)",
            Self::AesCbc => "mode 5 (profile A)",
            Self::AesCbcEphemeral => "mode 7 (profile B)",
            Self::AesCtrCmac => "mode 8 (AES-CTR and CMAC)",
            Self::AesGcm => "mode 9 (AES-GCM)",
            Self::AesCcm => "mode 10 (profile D)",
            Self::Tls => "mode 13 (profile C, TLS)",
            Self::Reserved(code) => return write!(f, "mode {code} (reserved)"),
        })
    }
}

/// The use of a derived key, for messages of a meter. OMS volume 2, Table 46.
#[derive(Clone, Copy)]
pub(super) enum Derivation {
    /// Encryption, Kenc.
    Encryption = 0,
    /// Authentication, Kmac.
    Authentication = 1,
}

/// Derives a message's key: CMAC over the constant, the message counter, the identification number
/// and seven times 07h. OMS volume 2, section 9.3; EN 13757-7, 9.6.1; not compared with the latter.
pub(super) fn derive(key: &MeterKey, of: Derivation, counter: u32, meter: MeterAddress) -> MeterKey {
    let mut input = [7; 16];
    input[0] = of as u8;
    input[1..5].copy_from_slice(&counter.to_le_bytes());
    input[5..9].copy_from_slice(&meter.identification);
    MeterKey::new(cmac(key).chain_update(input).finalize().into_bytes().into())
}

/// Begins a CMAC.
fn cmac(key: &MeterKey) -> Cmac<Aes128> {
    <Cmac<Aes128> as Mac>::new((&*key.0).into())
}

/// True if the first bytes of the CMAC over the parts are those; compared in constant time.
pub(super) fn is_authentic(key: &MeterKey, parts: [&[u8]; 2], mac: &[u8]) -> bool {
    let [first, second] = parts;
    cmac(key).chain_update(first).chain_update(second).verify_truncated_left(mac).is_ok()
}

/// Decrypts whole blocks by AES-CBC. Bytes behind the last whole block stay as they are.
pub(super) fn decrypt_cbc(key: &MeterKey, vector: &[u8; 16], blocks: &mut [u8]) {
    let whole = blocks.len() / 16 * 16;
    let cipher = cbc::Decryptor::<Aes128>::new((&*key.0).into(), vector.into());
    cipher.decrypt_padded_mut::<NoPadding>(&mut blocks[..whole]).expect("whole blocks without padding");
}

/// Decrypts or encrypts by AES-CTR.
pub(super) fn apply_ctr(key: &MeterKey, counter: &[u8; 16], bytes: &mut [u8]) {
    ctr::Ctr128BE::<Aes128>::new((&*key.0).into(), counter.into()).apply_keystream(bytes);
}

/// Opens AES-CCM with a MAC of 8 bytes; `None` if it is not authentic.
pub(super) fn open_ccm(
    key: &MeterKey,
    nonce: &[u8; 13],
    associated: &[u8],
    sealed: &[u8],
) -> Option<Vec<u8>> {
    let cipher = Ccm::<Aes128, U8, U13>::new((&*key.0).into());
    cipher.decrypt(nonce.into(), Payload { msg: sealed, aad: associated }).ok()
}
