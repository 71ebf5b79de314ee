//! The secrets of a run, each in the forms that an implementation may hold it in.

use lab::reference::curve::Curve;
use lab::reference::drbg::{Drbg, HmacDrbg};
use lab::reference::sealing::Sealed;
use lab::reference::symmetric::expand;
use num_bigint::BigUint;
use std::collections::{HashMap, HashSet};

use super::hashes::Sha256Trace;

/// Number of secret bytes in a row that are a find.
pub const WINDOW: usize = 8;

type Window = [u8; WINDOW];

/// A piece of a secret in a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    pub address: u32,
    pub bytes: usize,
    pub name: String,
}

/// The secrets of a run, each in all its forms, by what they are called.
#[derive(Clone, Default)]
pub struct Secrets {
    windows: HashMap<Window, u16>,
    names: Vec<String>,
    public: HashSet<Window>,
}

/// Bytes as they are, backwards, and with the bytes of each word of four backwards, as hashes load
/// them.
fn forms(bytes: &[u8]) -> [Vec<u8>; 3] {
    let words = bytes.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    [bytes.to_vec(), bytes.iter().rev().copied().collect(), words]
}

fn windows(bytes: &[u8]) -> impl Iterator<Item = Window> {
    bytes.windows(WINDOW).filter_map(|window| window.try_into().ok())
}

/// Words of 64 bits, of either end first, and with even and odd bits apart.
fn forms_of_words(words: &[u64]) -> [Vec<u8>; 3] {
    let bytes = |word: fn(u64) -> [u8; 8]| words.iter().flat_map(|&w| word(w)).collect();
    let apart = |word: u64| {
        let half =
            |from: u32| (0..32).fold(0u32, |half, bit| half | ((word >> (2 * bit + from)) as u32 & 1) << bit);
        (u64::from(half(1)) << 32 | u64::from(half(0))).to_le_bytes()
    };
    [bytes(u64::to_be_bytes), bytes(u64::to_le_bytes), words.iter().flat_map(|&w| apart(w)).collect()]
}

/// Bits of a scalar in memory, whole words of 32; of P-384's there is one more than a key has.
fn scalar_bits(curve: Curve) -> u32 {
    32 * (curve.private_bytes().div_ceil(4) + usize::from(curve == Curve::P384)) as u32
}

impl Secrets {
    fn name(&mut self, name: &str) -> u16 {
        let known = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        known.try_into().expect("few names")
    }

    /// Bytes in each of their forms.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let name = self.name(name);
        for form in forms(bytes) {
            for window in windows(&form) {
                // Leading zeros are no secret.
                if window.iter().any(|&byte| byte != window[0]) {
                    self.windows.insert(window, name);
                }
            }
        }
    }

    /// Words of 64 bits in each of their forms.
    pub fn words(&mut self, name: &str, words: &[u64]) {
        forms_of_words(words).iter().for_each(|form| self.bytes(name, form));
    }

    /// Bytes that anybody may see, as inputs and outputs are: what of a secret looks like them is
    /// none.
    pub fn public(&mut self, bytes: &[u8]) {
        self.public.extend(forms(bytes).iter().flat_map(|form| windows(form)));
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_be_bytes(word.try_into().expect("8 bytes"))).collect();
        for form in forms_of_words(&words) {
            self.public.extend(forms(&form).iter().flat_map(|form| windows(form)));
        }
    }

    /// A number, and it in Montgomery form.
    pub fn number(&mut self, name: &str, number: &BigUint, modulus: &BigUint, bits: u32) {
        let form = (number << bits) % modulus;
        for (name, number) in [(name.to_owned(), number), (format!("{name} in Montgomery form"), &form)] {
            self.bytes(&name, &number.to_bytes_be());
        }
    }

    /// A number below the order of a curve, with its inverse and what scalars are recoded to.
    pub fn scalar(&mut self, name: &str, scalar: &[u8], curve: Curve) {
        let (order, number) = (curve.order(), BigUint::from_bytes_be(scalar));
        let bits = scalar_bits(curve);
        self.bytes(name, scalar);
        self.number(name, &number, &order, bits);
        self.number(&format!("1/{name}"), &curve.inverse(&number), &order, bits);
        for (what, number) in [
            ("n -", &order - &number),
            ("n +", &order + &number),
            ("2n -", &order * 2u8 - &number),
            ("2n +", &order * 2u8 + &number),
        ] {
            self.bytes(&format!("{what} {name}"), &number.to_bytes_be());
        }
    }

    /// Secret that two sides share: a coordinate.
    pub fn shared(&mut self, shared: &[u8]) {
        let name = match shared.len() {
            48 => "p384",
            32 => "p256",
            28 => "p224",
            24 => "p192",
            _ => "secp160r1",
        };
        let field = lab::reference::field::Field::named(name).expect("a field");
        self.bytes("the shared secret", shared);
        self.number("the shared secret", &BigUint::from_bytes_be(shared), &field.p, 8 * field.bytes as u32);
    }

    /// A key of AES and all of its round keys.
    pub fn aes_key(&mut self, name: &str, key: &[u8]) {
        self.bytes(name, &expand(key));
    }

    /// The middle round keys of decryption, FIPS 197, section 5.3.5.
    pub fn decryption_keys(&mut self, name: &str, key: &[u8]) {
        let keys = expand(key);
        for middle in keys[16..keys.len() - 16].chunks(16) {
            let mut block = *aes::Block::from_slice(middle);
            aes::hazmat::inv_mix_columns(&mut block);
            self.bytes(name, &block);
        }
    }

    /// A key of HMAC, and the first blocks that it makes.
    pub fn mac_key(&mut self, name: &str, key: &[u8]) {
        self.bytes(name, key);
        for pad in [0x36, 0x5c] {
            let mut block = vec![pad; 64];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            if key.len() <= 64 {
                let mut trace = Sha256Trace::default();
                trace.block(self, name, &block, true);
            }
        }
    }

    /// A generator's state.
    fn state(&mut self, name: &str, [key, value]: [&[u8]; 2]) {
        self.mac_key(&format!("{name}, K"), key);
        self.bytes(&format!("{name}, V"), value);
    }

    /// All states of a generator on the way to `bytes` bytes of a first request, the last excepted,
    /// and these.
    pub fn generator(&mut self, seed: &[u8], bytes: usize) {
        self.bytes("the seed", seed);
        self.drawing(Drbg::new(seed), bytes);
    }

    /// The same from a state on.
    pub fn drawing(&mut self, mut drbg: Drbg, bytes: usize) {
        self.state("the generator before", drbg.state());
        let mut drawn = Vec::new();
        for _ in 0..bytes.div_ceil(32) {
            drawn.extend(drbg.draw(32));
        }
        self.bytes("what was drawn", &drawn);
        self.state("the generator on its way", [drbg.state()[0], &[]]);
    }

    /// All that a signature comes from.
    pub fn signature(&mut self, curve: Curve, private: &[u8], message: &[u8]) {
        self.scalar("the private key", private, curve);
        let k = curve.nonce(private, message);
        self.scalar("the nonce", &k, curve);
        let (order, number) = (curve.order(), BigUint::from_bytes_be(private));
        let signature = curve.sign(private, message).expect("a good key");
        let r = BigUint::from_bytes_be(&signature[..curve.coordinate_bytes()]);
        let bits = scalar_bits(curve);
        self.number("r d", &(r * number % &order), &order, bits);
        let seed = match curve {
            Curve::P256 => {
                use sha2::Digest;
                let hash = BigUint::from_bytes_be(&sha2::Sha256::digest(message)) % &order;
                let digits = hash.to_bytes_be();
                [private, &vec![0; 32 - digits.len()], &digits].concat()
            }
            Curve::P384 => {
                use sha2::Digest;
                let hash = BigUint::from_bytes_be(&sha2::Sha384::digest(message)) % &order;
                let digits = hash.to_bytes_be();
                [private, &vec![0; 48 - digits.len()], &digits].concat()
            }
            _ => {
                use sha1::Digest;
                [private, &[0], &sha1::Sha1::digest(message)].concat()
            }
        };
        match curve {
            Curve::P256 => self.nonce_states(HmacDrbg::<hmac::Hmac<sha2::Sha256>>::new(&seed), 32),
            Curve::P384 => self.nonce_states(HmacDrbg::<hmac::Hmac<sha2::Sha384>>::new(&seed), 48),
            _ => self.nonce_states(HmacDrbg::<hmac::Hmac<sha1::Sha1>>::new(&seed), 29),
        }
    }

    fn nonce_states<M: hmac::Mac + hmac::digest::KeyInit>(&mut self, mut drbg: HmacDrbg<M>, bytes: usize) {
        self.state("the nonce's generator", drbg.state());
        let drawn = drbg.draw(bytes);
        self.bytes("what the nonce is made of", &drawn);
        self.state("the nonce's generator at the end", drbg.state());
    }

    pub fn sealed(&mut self, sealed: &Sealed) {
        self.scalar("the ephemeral key", &sealed.ephemeral, Curve::P256);
        self.opened(sealed);
    }

    pub fn opened(&mut self, sealed: &Sealed) {
        self.shared(&sealed.shared);
        self.bytes("the derived keys", &sealed.keys);
        self.aes_key("the encryption key", &sealed.keys[..16]);
        self.mac_key("the authentication key", &sealed.keys[16..]);
    }

    /// Returns true if bytes of a secret may be shown all the same.
    pub fn is_known_and_public(&self, bytes: &[u8]) -> bool {
        windows(bytes).all(|window| self.windows.contains_key(&window) && self.public.contains(&window))
    }

    /// Any piece of it.
    pub fn piece(&self) -> Option<Window> {
        self.windows.keys().find(|window| !self.public.contains(*window)).copied()
    }

    /// Every find in a memory that begins at `start`.
    pub fn find(&self, start: u32, memory: &[u8]) -> Vec<Find> {
        let mut found: Vec<Find> = Vec::new();
        for (offset, window) in memory.windows(WINDOW).enumerate() {
            let window: &Window = window.try_into().expect("of that length");
            if *window == [0; WINDOW] || self.public.contains(window) {
                continue;
            }
            if let Some(&name) = self.windows.get(window) {
                let (address, name) = (start + offset as u32, &self.names[usize::from(name)]);
                match found.last_mut() {
                    Some(last) if last.name == *name && address < last.address + last.bytes as u32 => {
                        last.bytes = (address - last.address) as usize + WINDOW;
                    }
                    _ => found.push(Find { address, bytes: WINDOW, name: name.clone() }),
                }
            }
        }
        found
    }
}
