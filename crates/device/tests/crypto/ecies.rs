//! ECIES against a composition of RustCrypto's parts, and what opening must refuse.
//!
//! The seed is printed; `WATTSEAL_SEED` sets it.

use aes::cipher::{BlockEncrypt, KeyInit, KeyIvInit, StreamCipher};
use device::crypto::Drbg;
use device::crypto::ecies::*;
use hmac::Mac;
use p256::ecdsa::signature::Signer;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use sha2::{Digest, Sha256};

const FORMS: [Form; 2] = [Form::Whole, Form::Compressed];

fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(testkit::random::seed())
}

fn bytes(random: &mut fastrand::Rng, len: usize) -> Vec<u8> {
    std::iter::repeat_with(|| random.u8(..)).take(len).collect()
}

/// A key pair of the reference.
struct Pair {
    secret: p256::SecretKey,
}

impl Pair {
    fn new(random: &mut fastrand::Rng) -> Pair {
        loop {
            if let Ok(secret) = p256::SecretKey::from_slice(&bytes(random, 32)) {
                return Pair { secret };
            }
        }
    }

    fn private(&self) -> [u8; 32] {
        self.secret.to_bytes().into()
    }

    fn public(&self) -> [u8; 64] {
        self.secret.public_key().to_encoded_point(false).as_bytes()[1..].try_into().expect("64 bytes")
    }
}

/// A generator of the C's, from 48 random bytes.
fn generator(random: &mut fastrand::Rng) -> Drbg {
    let mut drbg = Drbg::default();
    assert_eq!(drbg.instantiate(&bytes(random, 48)), 0);
    drbg
}

/// Decrypts a packet without its end: the recipient's side of SEC 1 section 5.1.4. SharedInfo is
/// the ephemeral key as sent, and `info` behind it. Gives the plaintext and the 48 bytes of the key
/// derivation.
fn reference_open(form: Form, recipient: &Pair, info: &[u8], sealed: &[u8]) -> (Vec<u8>, [u8; 48]) {
    let (ephemeral, ciphertext) = sealed.split_at(form.ephemeral());
    let encoded = match form {
        Form::Whole => [&[4], ephemeral].concat(),
        Form::Compressed => ephemeral.to_vec(),
    };
    let point = p256::PublicKey::from_sec1_bytes(&encoded).expect("a point");
    let shared = p256::ecdh::diffie_hellman(recipient.secret.to_nonzero_scalar(), point.as_affine());
    let mut keys = [0; 48];
    for (block, counter) in keys.chunks_mut(32).zip(1u32..) {
        let digest = Sha256::new()
            .chain_update(shared.raw_secret_bytes())
            .chain_update(counter.to_be_bytes())
            .chain_update(ephemeral)
            .chain_update(info);
        block.copy_from_slice(&digest.finalize()[..block.len()]);
    }
    let mut plaintext = ciphertext.to_vec();
    let (key, counter) = (&keys[..16], [0; 16]);
    ctr::Ctr128BE::<aes::Aes128>::new(key.into(), &counter.into()).apply_keystream(&mut plaintext);
    (plaintext, keys)
}

fn reference_mac(key: &[u8], ciphertext: &[u8], info: &[u8]) -> Vec<u8> {
    let mut mac = <hmac::Hmac<Sha256> as Mac>::new_from_slice(key).expect("any length");
    mac.update(ciphertext);
    mac.update(info);
    mac.finalize().into_bytes().to_vec()
}

/// Returns the reference's signature of the bytes that the header names.
fn reference_signature(sender: &Pair, sealed: &[u8], info: &[u8]) -> Vec<u8> {
    let key = p256::ecdsa::SigningKey::from(&sender.secret);
    let signature: p256::ecdsa::Signature = key.sign(&[sealed, info].concat());
    signature.to_bytes().to_vec()
}

#[test]
fn packets_with_a_code_are_what_the_composition_opens() {
    let mut random = random();
    for form in FORMS {
        for (len, info_len) in [(0, 0), (1, 0), (10, 3), (16, 0), (16, 8), (17, 1), (100, 20), (300, 64)] {
            let recipient = Pair::new(&mut random);
            let (input, info) = (bytes(&mut random, len), bytes(&mut random, info_len));
            let mut drbg = generator(&mut random);
            let mut again = drbg.clone();
            let (result, packet) = seal(form, &mut drbg, &recipient.public(), &info, &input);
            assert_eq!(result, 0);
            let (sealed, mac) = packet.split_at(packet.len() - 32);
            let (plaintext, keys) = reference_open(form, &recipient, &[], sealed);
            assert_eq!(plaintext, input, "{form:?} {len}");
            assert_eq!(mac, reference_mac(&keys[16..], &sealed[form.ephemeral()..], &info));

            let (result, output) = open(form, &recipient.private(), &info, &packet);
            assert_eq!(result, 0);
            assert_eq!(output[..len], input);
            assert!(output[len..].iter().all(|&byte| byte == 0xa5), "wrote more than the plaintext");

            assert_eq!(seal_in_place(form, &mut again, &recipient.public(), &info, &input), packet);
            let mut packet = packet;
            assert!(open_in_place(form, &recipient.private(), &info, &mut packet));
            assert_eq!(packet[form.ephemeral()..][..len], input);
        }
    }
}

#[test]
fn packets_with_a_signature_are_what_the_composition_opens() {
    let mut random = random();
    for form in FORMS {
        // 24: what the meter's protocol has.
        for (len, info_len) in [(0, 0), (10, 3), (16, 0), (16, 24), (33, 20), (16, 100)] {
            let (recipient, sender) = (Pair::new(&mut random), Pair::new(&mut random));
            let (input, info) = (bytes(&mut random, len), bytes(&mut random, info_len));
            let mut drbg = generator(&mut random);
            let (to, from) = (recipient.public(), sender.private());
            let (result, packet) = seal_signed(form, &mut drbg, &to, &from, &info, &input);
            assert_eq!(result, 0);
            let (sealed, signature) = packet.split_at(packet.len() - 64);
            assert_eq!(reference_open(form, &recipient, &info, sealed).0, input);
            assert_eq!(signature, reference_signature(&sender, sealed, &info));

            let (result, output) = open_signed(form, &recipient.private(), &sender.public(), &info, &packet);
            assert_eq!(result, 0);
            assert_eq!(output[..len], input);
            assert!(output[len..].iter().all(|&byte| byte == 0xa5), "wrote more than the plaintext");
        }
    }
}

fn refused((result, output): (i32, Vec<u8>), what: &str) {
    assert_eq!(result, -1, "{what} is accepted");
    assert!(output.iter().all(|&byte| byte == 0xa5), "{what} is refused, and yet something is written");
}

/// A signature says who made a packet, not who made its ciphertext: with another's over it, it
/// opens to nothing of what was sealed, as `info` names the sender.
#[test]
fn ciphertext_under_another_sender_s_signature_is_refused() {
    let mut random = random();
    for form in FORMS {
        let [recipient, sender, thief] = [(); 3].map(|()| Pair::new(&mut random));
        let input = bytes(&mut random, 16);
        let mut drbg = generator(&mut random);
        let (to, from) = (recipient.public(), sender.private());
        let (_, packet) = seal_signed(form, &mut drbg, &to, &from, b"meter 1", &input);
        let sealed = &packet[..packet.len() - 64];
        let stolen = [sealed, &reference_signature(&thief, sealed, b"meter 2")].concat();
        let (result, output) = open_signed(form, &recipient.private(), &thief.public(), b"meter 2", &stolen);
        assert_eq!(result, 0, "the thief's signature is good");
        assert!(output.windows(4).all(|piece| !input.windows(4).any(|of| of == piece)), "{output:02x?}");
    }
}

/// Ephemeral keys that are no points: beyond p, off the curve, zero; a first byte that is none of a
/// compressed point's.
fn bad_ephemerals(form: Form) -> Vec<Vec<u8>> {
    let p = [&[0xff; 4][..], &[0, 0, 0, 1], &[0; 12], &[0xff; 12]].concat();
    let five = [&[0; 31][..], &[5]].concat();
    match form {
        Form::Whole => vec![
            vec![0; 64],
            vec![0xff; 64],
            [&five[..], &five].concat(),
            [&p[..], &[0; 32]].concat(),
            [&[0; 32][..], &p].concat(),
        ],
        Form::Compressed => {
            // 0, and 4 where an uncompressed point would be meant; x = p; x = 1 has no y.
            let one = [&[0; 31][..], &[1]].concat();
            vec![
                [&[0][..], &five].concat(),
                [&[4][..], &five].concat(),
                [&[1][..], &five].concat(),
                [&[2][..], &p].concat(),
                [&[3][..], &one].concat(),
                [&[2][..], &[0xff; 32]].concat(),
            ]
        }
    }
}

#[test]
fn open_refuses_a_changed_packet() {
    let mut random = random();
    for form in FORMS {
        let recipient = Pair::new(&mut random);
        let info = b"meter 1";
        let mut drbg = generator(&mut random);
        let (_, packet) = seal(form, &mut drbg, &recipient.public(), info, &bytes(&mut random, 16));
        let private = recipient.private();
        assert_eq!(open(form, &private, info, &packet).0, 0);
        for bit in 0..8 * packet.len() {
            let mut wrong = packet.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            refused(open(form, &private, info, &wrong), &format!("{form:?}, bit {bit}"));
        }
        for len in 0..packet.len() {
            refused(open(form, &private, info, &packet[..len]), &format!("{form:?}, {len} bytes"));
        }
        refused(open(form, &private, info, &[&packet[..], &[0]].concat()), "a byte more");
        for wrong in [&b"meter 2"[..], b"meter", b"meter 10", b""] {
            refused(open(form, &private, wrong, &packet), "other info");
        }
        refused(open(form, &Pair::new(&mut random).private(), info, &packet), "another's packet");
        for ephemeral in bad_ephemerals(form) {
            let wrong = [&ephemeral[..], &packet[form.ephemeral()..]].concat();
            refused(open(form, &private, info, &wrong), &format!("ephemeral key {ephemeral:x?}"));
        }
        for private in [[0; 32], [0xff; 32]] {
            refused(open(form, &private, info, &packet), "a private key out of range");
        }
    }
}

#[test]
fn open_signed_refuses_a_changed_packet() {
    let mut random = random();
    for form in FORMS {
        let (recipient, sender) = (Pair::new(&mut random), Pair::new(&mut random));
        let info = b"meter 1";
        let mut drbg = generator(&mut random);
        let (to, from) = (recipient.public(), sender.private());
        let (_, packet) = seal_signed(form, &mut drbg, &to, &from, info, &bytes(&mut random, 16));
        let (private, public) = (recipient.private(), sender.public());
        assert_eq!(open_signed(form, &private, &public, info, &packet).0, 0);
        for bit in 0..8 * packet.len() {
            let mut wrong = packet.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            refused(open_signed(form, &private, &public, info, &wrong), &format!("{form:?}, bit {bit}"));
        }
        for len in 0..packet.len() {
            refused(open_signed(form, &private, &public, info, &packet[..len]), &format!("{len} bytes"));
        }
        refused(open_signed(form, &private, &public, info, &[&packet[..], &[0]].concat()), "a byte more");
        refused(open_signed(form, &private, &public, b"meter 2", &packet), "other info");
        let other = Pair::new(&mut random);
        refused(open_signed(form, &private, &other.public(), info, &packet), "another sender");
        refused(open_signed(form, &private, &[0; 64], info, &packet), "a sender's key that is no point");
        refused(open_signed(form, &[0; 32], &public, info, &packet), "no private key");

        // With a good signature over it, an ephemeral key that is no point.
        for ephemeral in bad_ephemerals(form) {
            let sealed = [&ephemeral[..], &packet[form.ephemeral()..packet.len() - 64]].concat();
            let wrong = [&sealed[..], &reference_signature(&sender, &sealed, info)].concat();
            refused(open_signed(form, &private, &public, info, &wrong), &format!("{ephemeral:x?}"));
        }
    }
}

#[test]
fn sealing_refuses_what_is_no_key_and_leaves_zeros() {
    let mut random = random();
    let good = Pair::new(&mut random);
    for form in FORMS {
        for recipient in bad_ephemerals(Form::Whole) {
            let recipient = recipient.try_into().expect("64 bytes");
            let mut drbg = generator(&mut random);
            let (result, packet) = seal(form, &mut drbg, &recipient, b"", b"sixteen bytes...");
            assert_eq!((result, packet), (-1, vec![0; form.ephemeral() + 48]));
            let mut drbg = generator(&mut random);
            let sealed = seal_signed(form, &mut drbg, &recipient, &good.private(), b"", b"sixteen bytes...");
            assert_eq!(sealed, (-1, vec![0; form.ephemeral() + 80]));
        }
        // A generator without a seed; a sender without a key.
        let mut none = Drbg::default();
        let sealed = seal(form, &mut none, &good.public(), b"", b"sixteen bytes...");
        assert_eq!(sealed, (-1, vec![0; form.ephemeral() + 48]));
        let sealed = seal_signed(form, &mut none, &good.public(), &good.private(), b"", b"sixteen bytes...");
        assert_eq!(sealed, (-1, vec![0; form.ephemeral() + 80]));
        let mut drbg = generator(&mut random);
        for private in [[0; 32], [0xff; 32]] {
            let sealed = seal_signed(form, &mut drbg, &good.public(), &private, b"", b"sixteen bytes...");
            assert_eq!(sealed, (-1, vec![0; form.ephemeral() + 80]));
        }
    }
}

#[test]
fn two_nodes_of_the_paper_have_one_key() {
    let mut random = random();
    for _ in 0..8 {
        let (one, other) = (Pair::new(&mut random), Pair::new(&mut random));
        let block: [u8; 16] = bytes(&mut random, 16).try_into().expect("16 bytes");
        let point = other.secret.public_key();
        let shared = p256::ecdh::diffie_hellman(one.secret.to_nonzero_scalar(), point.as_affine());
        let x = shared.raw_secret_bytes();
        let derived = Sha256::new().chain_update(x).chain_update([0, 0, 0, 1]).finalize();
        for (raw, key) in [(false, &derived[..16]), (true, &x[..16])] {
            let mut expected = aes::Block::from(block);
            aes::Aes128::new(key.into()).encrypt_block(&mut expected);
            let expected = (0, expected.into());
            assert_eq!(ecdh_aes128(raw, &one.private(), &other.public(), &block), expected);
            assert_eq!(ecdh_aes128(raw, &other.private(), &one.public(), &block), expected);
            assert_eq!(ecdh_aes128(raw, &one.private(), &[1; 64], &block), (-1, [0; 16]));
            assert_eq!(ecdh_aes128(raw, &[0; 32], &one.public(), &block), (-1, [0; 16]));
        }
    }
}
