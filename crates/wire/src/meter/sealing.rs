//! Sealing and opening, both sides of every suite: docs/reference/protocol.md, "How it is sealed".

use super::{
    Address, Identity, MessageKind, MeterId, MeterKeys, PublicKey, Record, Suite, ascon, message_bytes,
};
use aes::Aes128;
use aes::cipher::{KeyIvInit, StreamCipher};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit, Nonce, Tag};
use hmac::{Hmac, Mac};
use p256::ecdsa::Signature;
use p256::ecdsa::signature::Signer;
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Bytes of an ephemeral key.
const EPHEMERAL: usize = 64;

/// A message that was not made by who holds the keys, or not for this receiver, meter, kind or
/// suite, or that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message that is not authentic")]
pub struct NotAuthentic;

/// The contents of an authentic message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its n or m, as it is sealed in it; `None` for an answer that is not sealed, where it does
    /// not stand.
    pub number: Option<u32>,
    /// The bytes that were sealed.
    pub plaintext: [u8; 16],
}

/// One side of what a meter and its collector say to each other.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'a> {
    /// The meter, as it was provisioned.
    pub meter: MeterId,
    /// The keys that both sides share.
    pub keys: &'a MeterKeys,
    /// This side's key pair.
    pub own: &'a Identity,
    /// The other side's public key.
    pub peer: &'a PublicKey,
}

/// The nonce of AES-GCM, and what Ascon's begins with. address: in an answer where the meter is,
/// else nothing.
fn nonce(kind: MessageKind, suite: Suite, meter: MeterId, address: Option<Address>, number: u32) -> [u8; 12] {
    let record = Record::<12>::new().with(&[kind.code(), suite.code()]).with(&meter.to_be_bytes());
    let address = address.map_or([0; 4], Address::to_bytes);
    record.with(&address).with(&number.to_be_bytes()).bytes
}

/// *context* of docs/reference/protocol.md.
type Context = [u8; 24];

fn context(
    kind: MessageKind,
    suite: Suite,
    meter: MeterId,
    sender: &PublicKey,
    recipient: &PublicKey,
) -> Context {
    let record = Record::<24>::new().with(b"WSM2").with(&[kind.code(), suite.code()]);
    let keys = [sender, recipient].map(|key| key.to_bytes());
    record.with(&meter.to_be_bytes()).with(&keys[0][..8]).with(&keys[1][..8]).bytes
}

/// X9.63's key derivation with SHA-256, SEC 1 version 2.0 section 3.6.1: 16 bytes to encrypt with,
/// 32 to authenticate with. info: what SharedInfo has behind the ephemeral key.
fn derive(shared: &[u8; 32], ephemeral: &[u8], info: &[u8]) -> Zeroizing<[u8; 64]> {
    let mut out = Zeroizing::new([0; 64]);
    for (counter, block) in (1u32..).zip(out.chunks_exact_mut(32)) {
        let hash = Sha256::new().chain_update(shared).chain_update(counter.to_be_bytes());
        block.copy_from_slice(&hash.chain_update(ephemeral).chain_update(info).finalize());
    }
    out
}

/// With a signature the ciphertext is bound to its sender by the key: else somebody else could sign
/// it as theirs. A code binds it itself.
fn derivation_info(suite: Suite, context: &Context) -> &[u8] {
    if suite == Suite::EciesEcdsa { context } else { &[] }
}

/// AES-128 in counter mode from a counter of zero.
fn crypt(key: &[u8], text: &mut [u8]) {
    let mut padded = Zeroizing::new([0; 16]);
    padded.copy_from_slice(&key[..16]);
    ctr::Ctr128BE::<Aes128>::new((&*padded).into(), &[0; 16].into()).apply_keystream(text);
}

/// The text that a signed message's signature is of: all of it before the signature, and *context*.
fn signed(sealed: &[u8], context: &Context) -> Vec<u8> {
    [sealed, context].concat()
}

/// Says if the meter signed a report in [`Suite::EciesEcdsa`] for this collector. It takes no
/// secret: an auditor can check the bytes that [`super::ReceivedReport::sealed`] holds. Only the
/// collector can show their contents.
#[must_use]
pub fn signature_holds(meter: MeterId, signer: &PublicKey, collector: &PublicKey, sealed: &[u8]) -> bool {
    let context = context(MessageKind::Report, Suite::EciesEcdsa, meter, signer, collector);
    sealed.len() == message_bytes(MessageKind::Report, Suite::EciesEcdsa)
        && verify(signer, &context, sealed).is_ok()
}

fn verify(signer: &PublicKey, context: &Context, sealed: &[u8]) -> Result<(), NotAuthentic> {
    let (text, signature) = sealed.split_at(sealed.len() - 64);
    signer.verify(&signed(text, context), signature)
}

impl Channel<'_> {
    /// Encrypts in place with the suite's AEAD, or with AES-128-GCM where it has none; the tag.
    pub(super) fn aead_seal(&self, suite: Suite, nonce: &[u8; 12], text: &mut [u8]) -> [u8; 16] {
        let gcm = Nonce::from_slice(nonce);
        let tag = match suite {
            Suite::AsconAead128 => return ascon::seal(self.keys, nonce, text),
            Suite::Aes256Gcm => {
                Aes256Gcm::new((&*self.keys.key256).into()).encrypt_in_place_detached(gcm, &[], text)
            }
            Suite::Aes256GcmRekeyed => {
                Aes256Gcm::new(self.keys.expose_epoch_key().into()).encrypt_in_place_detached(gcm, &[], text)
            }
            _ => Aes128Gcm::new((&*self.keys.key128).into()).encrypt_in_place_detached(gcm, &[], text),
        };
        // Refused are texts of 64 GB alone.
        tag.unwrap_or_default().into()
    }

    /// Decrypts in place what [`Channel::aead_seal`] made. After an error the buffer is of no use.
    pub(super) fn aead_open(
        &self,
        suite: Suite,
        nonce: &[u8; 12],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), NotAuthentic> {
        let tag: &[u8; 16] = tag.try_into().map_err(|_| NotAuthentic)?;
        let (gcm, of_gcm) = (Nonce::from_slice(nonce), Tag::from_slice(tag));
        match suite {
            Suite::AsconAead128 => return ascon::open(self.keys, nonce, text, tag),
            Suite::Aes256Gcm => {
                Aes256Gcm::new((&*self.keys.key256).into()).decrypt_in_place_detached(gcm, &[], text, of_gcm)
            }
            Suite::Aes256GcmRekeyed => {
                let key = Aes256Gcm::new(self.keys.expose_epoch_key().into());
                key.decrypt_in_place_detached(gcm, &[], text, of_gcm)
            }
            _ => {
                Aes128Gcm::new((&*self.keys.key128).into()).decrypt_in_place_detached(gcm, &[], text, of_gcm)
            }
        }
        .map_err(|_| NotAuthentic)
    }

    /// The authentication code of ECIES, with *context* and `key128` as its SharedInfo2.
    fn code(&self, key: &[u8], ciphertext: &[u8], context: &Context) -> Option<Hmac<Sha256>> {
        // HMAC takes keys of any length.
        let mac = <Hmac<Sha256> as Mac>::new_from_slice(key).ok()?;
        Some(mac.chain_update(ciphertext).chain_update(context).chain_update(&self.keys.key128[..]))
    }

    /// Number, ciphertext, tag.
    fn aead_message(&self, suite: Suite, nonce: &[u8; 12], number: u32, plaintext: &[u8; 16]) -> Vec<u8> {
        let mut text = *plaintext;
        let tag = self.aead_seal(suite, nonce, &mut text);
        [&number.to_be_bytes()[..], &text, &tag].concat()
    }

    /// The plaintext of [`Channel::aead_message`], which has its length.
    fn open_aead_message(
        &self,
        suite: Suite,
        nonce: &[u8; 12],
        sealed: &[u8],
    ) -> Result<[u8; 16], NotAuthentic> {
        let (_, rest) = sealed.split_first_chunk::<4>().ok_or(NotAuthentic)?;
        let (text, tag) = rest.split_first_chunk::<16>().ok_or(NotAuthentic)?;
        let mut plaintext = *text;
        self.aead_open(suite, nonce, &mut plaintext, tag)?;
        Ok(plaintext)
    }

    /// Seals a report or a command for the other side.
    ///
    /// in: number: n or m, never used before with another plaintext; the plaintext's first four
    /// bytes say the same. rng: makes the ephemeral key, where there is one.
    #[must_use]
    pub fn seal(
        &self,
        kind: MessageKind,
        suite: Suite,
        number: u32,
        plaintext: &[u8; 16],
        rng: &mut impl CryptoRng,
    ) -> Vec<u8> {
        if suite == Suite::None {
            return plaintext.to_vec();
        }
        if !suite.has_curve() {
            return self.aead_message(
                suite,
                &nonce(kind, suite, self.meter, None, number),
                number,
                plaintext,
            );
        }
        let mut text = *plaintext;
        let ephemeral = Identity::generate(rng);
        let public = ephemeral.public().to_bytes();
        // Every public key here is a point of the curve: what fails is a machine without memory,
        // and then nothing is sealed.
        let Ok(shared) = ephemeral.agree(&self.peer.to_bytes()) else { return Vec::new() };
        let context = context(kind, suite, self.meter, self.own.public(), self.peer);
        let keys = derive(&shared, &public, derivation_info(suite, &context));
        crypt(&keys[..16], &mut text);
        let mut sealed = [&public[..], &text].concat();
        if suite == Suite::EciesEcdsa {
            let signature: Signature = self.own.signing_key().sign(&signed(&sealed, &context));
            sealed.extend(signature.to_bytes());
        } else if let Some(code) = self.code(&keys[16..48], &text, &context) {
            sealed.extend(code.finalize().into_bytes());
        }
        sealed
    }

    /// Opens a report or a command of the other side. Any bytes.
    ///
    /// # Errors
    /// [`NotAuthentic`]; with [`Suite::None`] only for another length, everything else is taken for
    /// true.
    pub fn open(&self, kind: MessageKind, suite: Suite, sealed: &[u8]) -> Result<Opened, NotAuthentic> {
        if sealed.len() != message_bytes(kind, suite)
            || !matches!(kind, MessageKind::Report | MessageKind::Command)
        {
            return Err(NotAuthentic);
        }
        let plaintext = if suite == Suite::None {
            sealed.try_into().map_err(|_| NotAuthentic)?
        } else if !suite.has_curve() {
            let number = first_number(sealed);
            let nonce = nonce(kind, suite, self.meter, None, number);
            let plaintext = self.open_aead_message(suite, &nonce, sealed)?;
            if number != first_number(&plaintext) {
                return Err(NotAuthentic);
            }
            plaintext
        } else {
            self.open_to_key(kind, suite, sealed)?
        };
        Ok(Opened { number: Some(first_number(&plaintext)), plaintext })
    }

    /// Seals an answer for the collector: with an AEAD in every suite but [`Suite::None`].
    ///
    /// in: n: never used before with another plaintext. address: where the meter is after the
    /// command.
    #[must_use]
    pub fn answer(&self, suite: Suite, n: u32, address: Address, plaintext: &[u8; 16]) -> Vec<u8> {
        if suite == Suite::None {
            return plaintext.to_vec();
        }
        self.aead_message(
            suite,
            &nonce(MessageKind::Answer, suite, self.meter, Some(address), n),
            n,
            plaintext,
        )
    }

    /// Opens an answer of a meter that is at this address: of one that is elsewhere it is not
    /// authentic. Any bytes.
    ///
    /// # Errors
    /// [`NotAuthentic`]; with [`Suite::None`] only for another length, everything else is taken for
    /// true.
    pub fn open_answer(&self, suite: Suite, address: Address, sealed: &[u8]) -> Result<Opened, NotAuthentic> {
        if sealed.len() != message_bytes(MessageKind::Answer, suite) {
            return Err(NotAuthentic);
        }
        if suite == Suite::None {
            let plaintext = sealed.try_into().map_err(|_| NotAuthentic)?;
            return Ok(Opened { number: None, plaintext });
        }
        let n = first_number(sealed);
        let nonce = nonce(MessageKind::Answer, suite, self.meter, Some(address), n);
        Ok(Opened { number: Some(n), plaintext: self.open_aead_message(suite, &nonce, sealed)? })
    }

    /// ECIES and what comes after it.
    fn open_to_key(&self, kind: MessageKind, suite: Suite, sealed: &[u8]) -> Result<[u8; 16], NotAuthentic> {
        let context = context(kind, suite, self.meter, self.peer, self.own.public());
        if suite == Suite::EciesEcdsa {
            verify(self.peer, &context, sealed)?;
        }
        let (ephemeral, rest) = sealed.split_first_chunk::<EPHEMERAL>().ok_or(NotAuthentic)?;
        let (text, end) = rest.split_first_chunk::<16>().ok_or(NotAuthentic)?;
        let keys = derive(&*self.own.agree(ephemeral)?, ephemeral, derivation_info(suite, &context));
        if suite == Suite::Ecies {
            let code = self.code(&keys[16..48], text, &context).ok_or(NotAuthentic)?;
            code.verify_slice(end).map_err(|_| NotAuthentic)?;
        }
        let mut text = *text;
        crypt(&keys[..16], &mut text);
        Ok(text)
    }

    /// The acknowledgement of the report with this n: the same bytes however often it is made.
    #[must_use]
    pub fn acknowledge(&self, suite: Suite, n: u32) -> Vec<u8> {
        let mut sealed = n.to_be_bytes().to_vec();
        if suite != Suite::None {
            sealed.extend(self.aead_seal(
                suite,
                &nonce(MessageKind::Acknowledgement, suite, self.meter, None, n),
                &mut [],
            ));
        }
        sealed
    }

    /// The n of the report that an acknowledgement is of. Any bytes.
    ///
    /// # Errors
    /// [`NotAuthentic`]; with [`Suite::None`] only for another length.
    pub fn open_acknowledgement(&self, suite: Suite, sealed: &[u8]) -> Result<u32, NotAuthentic> {
        if sealed.len() != message_bytes(MessageKind::Acknowledgement, suite) {
            return Err(NotAuthentic);
        }
        let n = first_number(sealed);
        if suite != Suite::None {
            let nonce = nonce(MessageKind::Acknowledgement, suite, self.meter, None, n);
            self.aead_open(suite, &nonce, &mut [], &sealed[4..])?;
        }
        Ok(n)
    }
}

/// The number that something begins with.
fn first_number(bytes: &[u8]) -> u32 {
    super::Fields(bytes).u32()
}
