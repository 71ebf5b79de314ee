//! P-256 by AWS-LC, several times as fast as RustCrypto's; it clears all memory that it frees.

use super::{KeyError, uncompressed};
use crate::meter::NotAuthentic;
use aws_lc_rs::agreement::{self, ECDH_P256};
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A private key that agrees.
#[derive(Clone)]
pub(super) struct Agreement(Arc<agreement::PrivateKey>);

impl Agreement {
    /// From the private key, big-endian.
    pub(super) fn new(bytes: &[u8; 32]) -> Result<Agreement, KeyError> {
        let key =
            agreement::PrivateKey::from_private_key(&ECDH_P256, bytes).map_err(|_| KeyError::Private)?;
        Ok(Agreement(Arc::new(key)))
    }

    /// The public key, x and y.
    pub(super) fn public(&self) -> Result<[u8; 64], KeyError> {
        let public = self.0.compute_public_key().map_err(|_| KeyError::Private)?;
        public.as_ref().strip_prefix(&[4]).and_then(|point| point.try_into().ok()).ok_or(KeyError::Private)
    }

    /// The x-coordinate of what both sides share. peer: x and y, any bytes.
    pub(super) fn agree(&self, peer: &[u8; 64]) -> Result<Zeroizing<[u8; 32]>, NotAuthentic> {
        let peer = agreement::UnparsedPublicKey::new(&ECDH_P256, uncompressed(peer));
        agreement::agree(&self.0, peer, NotAuthentic, |shared| {
            let mut x = Zeroizing::new([0; 32]);
            // P-256's coordinates have 32 bytes.
            x.copy_from_slice(shared.get(..32).ok_or(NotAuthentic)?);
            Ok(x)
        })
    }
}

/// Verifies a signature of a text, r and s, with a public key. key: x and y. Any bytes.
pub(super) fn verify(key: &[u8; 64], text: &[u8], signature: &[u8]) -> Result<(), NotAuthentic> {
    let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, uncompressed(key));
    key.verify(text, signature).map_err(|_| NotAuthentic)
}
