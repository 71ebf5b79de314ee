//! The renewal of suite 6's key, both sides' bytes and the collector's secrets: docs/protocol.md, "Renewal of the key".

use super::{Channel, Identity, MessageKind, MeterId, NotAuthentic, Record, Suite};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::{Aes256Gcm, KeyInit, Nonce, Tag};
use fips203::ml_kem_512::{self, CipherText, DecapsKey};
use fips203::traits::{Decaps, KeyGen, SerDes};
use hmac::{Hmac, Mac};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Bytes of a packet, of what it carries, and what its byte 1 has in its lowest three bits.
const PACKET_BYTES: usize = 54;
const DATA: usize = 32;
const PIECE: u8 = 6;
/// x || y of the initiator's key of P-256, and the encapsulation key.
pub(super) const OFFER: usize = 64 + ml_kem_512::EK_LEN;
/// x || y of the responder's key of P-256, and the ciphertext.
pub(super) const RESPONSE: usize = 64 + ml_kem_512::CT_LEN;
/// Pieces of the offer; behind them those of the response.
pub(super) const OFFER_PIECES: u8 = (OFFER / DATA) as u8;
/// Pieces of both.
pub(super) const PIECES: u8 = ((OFFER + RESPONSE) / DATA) as u8;

/// A packet of a renewal. Nothing of it is true before it has been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RenewalPacket<'a> {
    /// Radio address of who is to hear it.
    pub(super) address: u8,
    pub(super) kind: MessageKind,
    pub(super) meter: MeterId,
    /// The lowest byte of the m of the command that began it.
    pub(super) number_lsb: u8,
    pub(super) index: u8,
    sealed: &'a [u8],
}

impl<'a> RenewalPacket<'a> {
    /// `None` for what is none: any bytes.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<RenewalPacket<'a>> {
        let (header, sealed) = bytes.split_first_chunk::<6>()?;
        let [address, what, meter @ .., number_lsb, index] = *header;
        let meter = u16::from_be_bytes(meter);
        let kind = MessageKind::from_code(what >> 6);
        let is_one = bytes.len() == PACKET_BYTES
            && what & 0x3f == Suite::Aes256GcmRekeyed.code() << 3 | PIECE
            && matches!(kind, MessageKind::Answer | MessageKind::Command)
            && index < PIECES
            && meter != 0;
        is_one.then_some(RenewalPacket { address, kind, meter, number_lsb, index, sealed })
    }
}

fn nonce(kind: MessageKind, meter: MeterId, m: u32, index: u8) -> [u8; 12] {
    let record = Record::<12>::new().with(&[kind.code(), Suite::Aes256GcmRekeyed.code()]);
    record.with(&meter.to_be_bytes()).with(&[0, 0, 1, index]).with(&m.to_be_bytes()).bytes
}

impl Channel<'_> {
    /// A packet of a renewal to who is at `address` and named so.
    pub(super) fn renewal_packet(
        &self,
        kind: MessageKind,
        (address, name): (u8, MeterId),
        m: u32,
        index: u8,
        data: &[u8; DATA],
    ) -> Vec<u8> {
        let mut text = *data;
        let nonce = nonce(kind, self.meter, m, index);
        let key = Aes256Gcm::new(self.keys.expose_epoch_key().into());
        // Refused are texts of 64 GB alone.
        let tag =
            key.encrypt_in_place_detached(Nonce::from_slice(&nonce), &[], &mut text).unwrap_or_default();
        let [high, low] = name.to_be_bytes();
        let what = kind.code() << 6 | Suite::Aes256GcmRekeyed.code() << 3 | PIECE;
        [&[address, what, high, low, m as u8, index], &text[..], &tag[..]].concat()
    }

    /// What a packet of the renewal that began with m carries.
    ///
    /// # Errors
    /// [`NotAuthentic`].
    pub(super) fn open_renewal_packet(
        &self,
        packet: &RenewalPacket<'_>,
        m: u32,
    ) -> Result<[u8; DATA], NotAuthentic> {
        let (text, tag) = packet.sealed.split_first_chunk::<DATA>().ok_or(NotAuthentic)?;
        let mut data = *text;
        let nonce = nonce(packet.kind, self.meter, m, packet.index);
        let key = Aes256Gcm::new(self.keys.expose_epoch_key().into());
        key.decrypt_in_place_detached(Nonce::from_slice(&nonce), &[], &mut data, Tag::from_slice(tag))
            .map_err(|_| NotAuthentic)?;
        Ok(data)
    }

    /// What names the parties, the epoch that begins, and the command that began the renewal, for the derivation. The collector's side.
    fn renewal_info(&self, m: u32) -> [u8; 42] {
        let record = Record::<42>::new().with(b"WattSeal suite 6").with(&self.meter.to_be_bytes());
        let record = record.with(&self.peer.to_bytes()[..8]).with(&self.own.public().to_bytes()[..8]);
        record.with(&(self.keys.epoch() + 1).to_be_bytes()).with(&m.to_be_bytes()).bytes
    }
}

/// The collector's keys of one renewal. They are wiped when it is dropped.
pub(super) struct Initiator {
    identity: Identity,
    decapsulation_key: DecapsKey,
    offer: [u8; OFFER],
}

impl Initiator {
    pub(super) fn generate(rng: &mut impl CryptoRng) -> Initiator {
        let identity = Identity::generate(rng);
        let (mut d, mut z) = (Zeroizing::new([0; 32]), Zeroizing::new([0; 32]));
        rng.fill_bytes(&mut d[..]);
        rng.fill_bytes(&mut z[..]);
        let (encapsulation_key, decapsulation_key) = ml_kem_512::KG::keygen_from_seed(*d, *z);
        let mut offer = [0; OFFER];
        offer[..64].copy_from_slice(&identity.public().to_bytes());
        offer[64..].copy_from_slice(&encapsulation_key.into_bytes());
        Initiator { identity, decapsulation_key, offer }
    }

    /// What a packet with this index carries: a piece of the offer, or where one of the response is asked for zeros.
    pub(super) fn data(&self, index: u8) -> [u8; DATA] {
        let mut data = [0; DATA];
        if let Some(piece) = self.offer.chunks_exact(DATA).nth(usize::from(index)) {
            data.copy_from_slice(piece);
        }
        data
    }

    /// The next key: `device/crypto/p256_ml_kem_512.h`, with the present one as the salt.
    ///
    /// # Errors
    /// [`NotAuthentic`] for a response that is none. One that is for another offer gives a key that the meter does not have.
    pub(super) fn agree(
        &self,
        channel: &Channel<'_>,
        m: u32,
        response: &[u8; RESPONSE],
    ) -> Result<Zeroizing<[u8; 32]>, NotAuthentic> {
        let (point, ciphertext) = response.split_first_chunk::<64>().ok_or(NotAuthentic)?;
        let ciphertext: [u8; ml_kem_512::CT_LEN] = ciphertext.try_into().map_err(|_| NotAuthentic)?;
        let ciphertext = CipherText::try_from_bytes(ciphertext).map_err(|_| NotAuthentic)?;
        let mut secrets = Zeroizing::new([0; 64]);
        secrets[..32].copy_from_slice(&self.identity.agree(point)?[..]);
        let shared = self.decapsulation_key.try_decaps(&ciphertext).map_err(|_| NotAuthentic)?;
        secrets[32..].copy_from_slice(&Zeroizing::new(shared.into_bytes())[..]);
        let said = Sha256::new().chain_update(channel.renewal_info(m)).chain_update(self.offer);
        let fixed_info = [&b"P-256 ML-KEM-512"[..], &said.chain_update(response).finalize()].concat();
        let extracted = Zeroizing::new(hmac(channel.keys.expose_epoch_key(), &[&secrets[..]])?);
        Ok(Zeroizing::new(hmac(&extracted, &[&fixed_info, &[1]])?))
    }
}

impl std::fmt::Debug for Initiator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Initiator(..)")
    }
}

fn hmac(key: &[u8; 32], pieces: &[&[u8]]) -> Result<[u8; 32], NotAuthentic> {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).map_err(|_| NotAuthentic)?;
    pieces.iter().for_each(|piece| mac.update(piece));
    Ok(mac.finalize().into_bytes().into())
}
