//! The renewal of suite 6's key, both sides' bytes and the collector's secrets: docs/reference/protocol.md,
//! "Renewal of the key".

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
pub struct RenewalPacket<'a> {
    /// Radio address of who is to hear it.
    pub address: u8,
    /// A command, the collector's, or an answer, the meter's.
    pub kind: MessageKind,
    /// The meter that sent it or is to hear it, as it was registered last.
    pub meter: MeterId,
    /// The lowest byte of the m of the command that began it.
    pub number_lsb: u8,
    /// The number of the piece that it carries, or asks for: 0 to 52.
    pub index: u8,
    sealed: &'a [u8],
}

impl<'a> RenewalPacket<'a> {
    /// `None` for what is none: any bytes.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<RenewalPacket<'a>> {
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

    /// Opens a packet of the renewal that began with m.
    ///
    /// # Errors
    /// [`NotAuthentic`].
    pub fn open_renewal_packet(
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

    /// Returns the names of the parties, of the epoch that begins, and of the command that began
    /// the renewal, for the derivation. The collector's side.
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

    /// Returns the data of the packet with this index: a piece of the offer; or zeros, if it asks
    /// for a piece of the response.
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
    /// [`NotAuthentic`] for a response that is none. One that is for another offer gives a key that
    /// the meter does not have.
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

#[cfg(test)]
mod tests {
    use super::super::MeterKeys;
    use super::*;
    use fips203::traits::Encaps;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    /// docs/reference/protocol.md and `device/crypto/p256_ml_kem_512.h`, written down once more, of any
    /// secrets.
    fn derived(salt: &[u8; 32], secrets: &[u8], info: &[u8], said: &[u8]) -> [u8; 32] {
        let fixed = [&b"P-256 ML-KEM-512"[..], &Sha256::digest([info, said].concat()), &[1]].concat();
        let once = |key: &[u8], text: &[u8]| -> [u8; 32] {
            let mac = <Hmac<Sha256> as Mac>::new_from_slice(key).expect("any key");
            mac.chain_update(text).finalize().into_bytes().into()
        };
        once(&once(salt, secrets), &fixed)
    }

    /// An attacker with a recorded renewal and the previous key needs both secrets: P-256 broken
    /// alone, or ML-KEM broken alone, does not give the next key.
    #[test]
    fn next_key_needs_both_secrets() {
        let mut rng = StdRng::seed_from_u64(1);
        let (own, meter) = (Identity::generate(&mut rng), Identity::generate(&mut rng));
        let keys = MeterKeys::generate(&mut rng);
        let channel = Channel { meter: 0x1234, keys: &keys, own: &own, peer: meter.public() };
        let initiator = Initiator::generate(&mut rng);
        // The meter's side.
        let ephemeral = Identity::generate(&mut rng);
        let offer = initiator.offer;
        let point = ephemeral.agree(offer[..64].try_into().expect("64 bytes")).expect("a point");
        let encapsulation_key = offer[64..].try_into().expect("800 bytes");
        let encapsulation_key = ml_kem_512::EncapsKey::try_from_bytes(encapsulation_key).expect("a key");
        let (shared, ciphertext) = encapsulation_key.encaps_from_seed(&[7; 32]);
        let (shared, ciphertext) = (shared.into_bytes(), ciphertext.into_bytes());
        let response = [&ephemeral.public().to_bytes()[..], &ciphertext].concat();
        let response: [u8; RESPONSE] = response.try_into().expect("832 bytes");

        let m = 9;
        let next = initiator.agree(&channel, m, &response).expect("a response");
        let info = [
            &b"WattSeal suite 6\x12\x34"[..],
            &meter.public().to_bytes()[..8],
            &own.public().to_bytes()[..8],
            &1u32.to_be_bytes(),
            &9u32.to_be_bytes(),
        ]
        .concat();
        let said = [&offer[..], &response].concat();
        let of = |salt: &[u8; 32], secrets: &[u8]| derived(salt, secrets, &info, &said);
        let (salt, nothing) = (keys.expose_epoch_key(), [0; 32]);
        assert_eq!(of(salt, &[&point[..], &shared].concat()), *next);
        let known = [
            &point[..],
            &shared,
            &[&point[..], &nothing].concat(),
            &[&nothing[..], &shared].concat(),
            &[&point[..], &point[..]].concat(),
            &[],
        ];
        for secrets in known {
            assert_ne!(of(salt, secrets), *next, "{secrets:02x?}");
        }
        assert_ne!(of(&nothing, &[&point[..], &shared].concat()), *next, "without the key of before");
        // A ciphertext that is for somebody else is no error, and gives another key.
        let mut other = response;
        other[64] ^= 1;
        assert_ne!(*initiator.agree(&channel, m, &other).expect("implicit rejection"), *next);
    }
}
