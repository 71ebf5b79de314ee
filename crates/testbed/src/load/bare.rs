//! Rate of the cryptographic libraries with nothing around them: those that `crates/wire` opens
//! messages with.

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadCore, AeadInPlace};
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit, Nonce, Tag};
use ascon_aead::AsconAead128;
use ascon_aead::aead::{AeadInOut, KeyInit as _};
use aws_lc_rs::agreement::{self, ECDH_P256};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use std::hint::black_box;
use std::time::{Duration, Instant};
use wire::meter::Suite;

/// Returns how many reports a second the library can open on `cores` cores. AES-GCM or Ascon has
/// its key set up and 16 bytes opened; ECIES has one agreement on P-256, with ECDSA one
/// verification more. `None` where the suite has none, or the library fails.
#[must_use]
pub fn bare_rate(suite: Suite, cores: usize, time: Duration) -> Option<f64> {
    if suite == Suite::None {
        return None;
    }
    let rates: Vec<Option<f64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(move || on_one_core(suite, time))).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    rates.into_iter().sum()
}

fn on_one_core(suite: Suite, time: Duration) -> Option<f64> {
    match suite {
        Suite::None => None,
        Suite::Aes128Gcm => gcm::<Aes128Gcm>(&[7; 16], time),
        Suite::Aes256Gcm | Suite::Aes256GcmRekeyed => gcm::<Aes256Gcm>(&[7; 32], time),
        Suite::Ecies => curves(false, time),
        Suite::EciesEcdsa => curves(true, time),
        Suite::AsconAead128 => ascon(time),
    }
}

/// Returns the rate of right results a second.
fn rate(time: Duration, mut once: impl FnMut() -> bool) -> Option<f64> {
    let (start, mut count) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        for _ in 0..64 {
            if !once() {
                return None;
            }
        }
        count += 64;
    }
    Some(count as f64 / start.elapsed().as_secs_f64())
}

fn gcm<C>(key: &[u8], time: Duration) -> Option<f64>
where
    C: KeyInit + AeadInPlace + AeadCore<NonceSize = U12, TagSize = U16>,
{
    let nonce = Nonce::from([1; 12]);
    let mut sealed = [9; 16];
    let tag: Tag = C::new_from_slice(key).ok()?.encrypt_in_place_detached(&nonce, &[], &mut sealed).ok()?;
    rate(time, || {
        let mut text = sealed;
        let opened = C::new_from_slice(black_box(key))
            .is_ok_and(|cipher| cipher.decrypt_in_place_detached(&nonce, &[], &mut text, &tag).is_ok());
        opened && black_box(text) == [9; 16]
    })
}

fn ascon(time: Duration) -> Option<f64> {
    let (key, nonce) = ([7; 16].into(), [1; 16].into());
    let mut sealed = [9; 16];
    let tag = AsconAead128::new(&key).encrypt_inout_detached(&nonce, &[], (&mut sealed[..]).into()).ok()?;
    rate(time, || {
        let mut text = sealed;
        let opened = AsconAead128::new(black_box(&key)).decrypt_inout_detached(
            &nonce,
            &[],
            (&mut text[..]).into(),
            &tag,
        );
        opened.is_ok() && black_box(text) == [9; 16]
    })
}

fn curves(signed: bool, time: Duration) -> Option<f64> {
    let own = agreement::PrivateKey::generate(&ECDH_P256).ok()?;
    let peer = agreement::PrivateKey::generate(&ECDH_P256).ok()?.compute_public_key().ok()?;
    let signer = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).ok()?;
    let signature = signer.sign(&SystemRandom::new(), &[5; 96]).ok()?;
    let public = signer.public_key().as_ref();
    rate(time, || {
        let peer = agreement::UnparsedPublicKey::new(&ECDH_P256, peer.as_ref());
        let agreed = agreement::agree(&own, peer, (), |shared| Ok(black_box(shared)[0])).is_ok();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
        agreed && (!signed || key.verify(&[5; 96], signature.as_ref()).is_ok())
    })
}
