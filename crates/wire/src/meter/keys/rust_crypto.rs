//! P-256 by RustCrypto, for programs that verify little and want no C compiler to work for a
//! minute.

use super::{KeyError, uncompressed};
use crate::meter::NotAuthentic;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::{PublicKey, SecretKey, ecdh};
use zeroize::Zeroizing;

/// A private key that agrees.
#[derive(Clone)]
pub(super) struct Agreement(SecretKey);

impl Agreement {
    /// From the private key, big-endian.
    pub(super) fn new(bytes: &[u8; 32]) -> Result<Agreement, KeyError> {
        SecretKey::from_slice(bytes).map(Agreement).map_err(|_| KeyError::Private)
    }

    /// The public key, x and y.
    pub(super) fn public(&self) -> Result<[u8; 64], KeyError> {
        let point = self.0.public_key().to_encoded_point(false);
        point.as_bytes().strip_prefix(&[4]).and_then(|point| point.try_into().ok()).ok_or(KeyError::Private)
    }

    /// The x-coordinate of what both sides share. peer: x and y, any bytes.
    pub(super) fn agree(&self, peer: &[u8; 64]) -> Result<Zeroizing<[u8; 32]>, NotAuthentic> {
        let peer = PublicKey::from_sec1_bytes(&uncompressed(peer)).map_err(|_| NotAuthentic)?;
        let shared = ecdh::diffie_hellman(self.0.to_nonzero_scalar(), peer.as_affine());
        let mut x = Zeroizing::new([0; 32]);
        x.copy_from_slice(shared.raw_secret_bytes());
        Ok(x)
    }
}

/// Verifies a signature of a text, r and s, with a public key. key: x and y. Any bytes.
pub(super) fn verify(key: &[u8; 64], text: &[u8], signature: &[u8]) -> Result<(), NotAuthentic> {
    let key = VerifyingKey::from_sec1_bytes(&uncompressed(key)).map_err(|_| NotAuthentic)?;
    let signature = Signature::from_slice(signature).map_err(|_| NotAuthentic)?;
    key.verify(text, &signature).map_err(|_| NotAuthentic)
}
