//! HMAC_DRBG with SHA-256 or SHA-1, SP 800-90A Rev. 1 section 10.1.2, on RustCrypto's HMAC.

use super::Case;
use crate::LabError;
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Bytes of a seed: entropy of 256 bits and a nonce of 128.
pub const SEED_BYTES: usize = 48;

/// The generator's state over a keyed MAC.
pub struct HmacDrbg<M> {
    key: Vec<u8>,
    value: Vec<u8>,
    mac: std::marker::PhantomData<M>,
}

impl<M: Mac + KeyInit> HmacDrbg<M> {
    /// HMAC_DRBG_Instantiate of the joined seed material.
    #[must_use]
    pub fn new(seed: &[u8]) -> Self {
        let bytes = M::output_size();
        let mut drbg = HmacDrbg { key: vec![0; bytes], value: vec![1; bytes], mac: std::marker::PhantomData };
        drbg.update(seed);
        drbg
    }

    /// A generator that goes on from key and V.
    #[must_use]
    pub fn resumed(key: &[u8], value: &[u8]) -> Self {
        HmacDrbg { key: key.to_vec(), value: value.to_vec(), mac: std::marker::PhantomData }
    }

    fn hmac(&self, pieces: &[&[u8]]) -> Vec<u8> {
        // Of at most a block, so no length is refused.
        let Ok(mut mac) = <M as Mac>::new_from_slice(&self.key) else { return Vec::new() };
        for piece in pieces {
            mac.update(piece);
        }
        mac.finalize().into_bytes().to_vec()
    }

    /// HMAC_DRBG_Update.
    pub fn update(&mut self, data: &[u8]) {
        self.key = self.hmac(&[&self.value, &[0], data]);
        self.value = self.hmac(&[&self.value]);
        if !data.is_empty() {
            self.key = self.hmac(&[&self.value, &[1], data]);
            self.value = self.hmac(&[&self.value]);
        }
    }

    /// Bytes without the update after them: what RFC 6979 section 3.2 step h asks for.
    pub fn draw(&mut self, bytes: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < bytes {
            self.value = self.hmac(&[&self.value]);
            out.extend_from_slice(&self.value);
        }
        out.truncate(bytes);
        out
    }

    /// HMAC_DRBG_Generate without additional input.
    pub fn generate(&mut self, bytes: usize) -> Vec<u8> {
        let out = self.draw(bytes);
        self.update(&[]);
        out
    }

    /// Key and V, as they are now.
    #[must_use]
    pub fn state(&self) -> [&[u8]; 2] {
        [&self.key, &self.value]
    }
}

/// The generator of the firmware.
pub type Drbg = HmacDrbg<Hmac<Sha256>>;

/// The first `bytes` that come out of a generator with this seed. The message only tells how many.
pub(super) fn generate_case(seed: &[u8], bytes: usize) -> Result<Option<Case>, LabError> {
    let output = Drbg::new(seed).generate(bytes);
    Ok(Some(Case {
        inputs: vec![("key", seed.to_vec()), ("message", vec![0; bytes])],
        outputs: vec![("output", output)],
        result: Some(0),
        ..Case::default()
    }))
}
