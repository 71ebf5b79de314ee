//! Nothing secret stays in RAM: after an operation the stopped machine's whole RAM is searched for eight bytes in a row of
//! anything that it had to keep to itself, in every form that an implementation may have held it in. The buffers that the
//! caller owns are left out, and so is the generator's present state. The operations' own outputs do not count as secrets.

use fips203::ml_kem_512;
use fips203::traits::{Encaps, KeyGen, SerDes};
use firmware::Firmware;
use lab::harness::Bench;
use lab::operations::{Catalogue, Operation};
use lab::reference::Case;
use lab::reference::curve::{Curve, agreement_case, generation_case, signing_case, x25519_case};
use lab::reference::drbg::{Drbg, HmacDrbg, SEED_BYTES};
use lab::reference::hybrid::Pair;
use lab::reference::sealing::{Seal, Sealed, seal, x963_kdf};
use lab::reference::symmetric::{block_case, expand};
use lab::reference::{ed25519, hybrid, ml_kem};
use lab::target::{Target, Workspace};
use mcu::MemoryKind;
use num_bigint::BigUint;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use sha2::{Digest, Sha512};
use std::collections::HashMap;

mod ml_dsa;
mod noise;

/// So many bytes of a secret in a row are a find.
const WINDOW: usize = 8;
/// Well above what the slowest operation takes.
const CYCLES: u64 = 1_000_000_000;

fn random(bytes: usize, rng: &mut StdRng) -> Vec<u8> {
    let mut buffer = vec![0; bytes];
    rng.fill_bytes(&mut buffer);
    buffer
}

/// The secrets of a run, each in all its forms, by what they are called.
#[derive(Default)]
struct Secrets {
    windows: HashMap<[u8; WINDOW], String>,
}

impl Secrets {
    /// Bytes as they are, backwards, and with the bytes of each word of four backwards, as hashes load them.
    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let backwards: Vec<u8> = bytes.iter().rev().copied().collect();
        let words: Vec<u8> = bytes.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        for form in [bytes, &backwards, &words] {
            for window in form.windows(WINDOW) {
                let window: [u8; WINDOW] = window.try_into().expect("of that length");
                // Leading zeros are no secret.
                if window.iter().any(|&byte| byte != window[0]) {
                    self.windows.insert(window, name.to_owned());
                }
            }
        }
    }

    /// A number, and it in Montgomery form.
    fn number(&mut self, name: &str, number: &BigUint, modulus: &BigUint, bits: u32) {
        let form = (number << bits) % modulus;
        for (name, number) in [(name.to_owned(), number), (format!("{name} in Montgomery form"), &form)] {
            self.bytes(&name, &number.to_bytes_be());
        }
    }

    /// A number below the order of a curve, with its inverse and what scalars are recoded to.
    fn scalar(&mut self, name: &str, scalar: &[u8], curve: Curve) {
        let (order, number) = (curve.order(), BigUint::from_bytes_be(scalar));
        let bits = if curve == Curve::P256 { 256 } else { 192 };
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

    /// What two sides share: a coordinate.
    fn shared(&mut self, shared: &[u8]) {
        let field =
            lab::reference::field::Field::named(if shared.len() == 32 { "p256" } else { "secp160r1" });
        let field = field.expect("a field");
        self.bytes("the shared secret", shared);
        self.number("the shared secret", &BigUint::from_bytes_be(shared), &field.p, 8 * field.bytes as u32);
    }

    /// A key of AES-128 and all of its round keys.
    fn aes_key(&mut self, name: &str, key: &[u8]) {
        self.bytes(name, &expand(key));
    }

    /// A key of HMAC, and the first blocks that it makes.
    fn mac_key(&mut self, name: &str, key: &[u8]) {
        self.bytes(name, key);
        for pad in [0x36, 0x5c] {
            self.bytes(name, &key.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>());
        }
    }

    /// A generator's state.
    fn state(&mut self, name: &str, [key, value]: [&[u8]; 2]) {
        self.mac_key(&format!("{name}, K"), key);
        self.bytes(&format!("{name}, V"), value);
    }

    /// All states of a generator on the way to so many bytes of a first request, the last excepted, and these.
    fn generator(&mut self, seed: &[u8], bytes: usize) {
        self.bytes("the seed", seed);
        let mut drbg = Drbg::new(seed);
        self.state("the generator before", drbg.state());
        let mut drawn = Vec::new();
        for _ in 0..bytes.div_ceil(32) {
            drawn.extend(drbg.draw(32));
        }
        self.bytes("what was drawn", &drawn);
        self.state("the generator on its way", [drbg.state()[0], &[]]);
    }

    /// All that a signature comes from.
    fn signature(&mut self, curve: Curve, private: &[u8], message: &[u8]) {
        self.scalar("the private key", private, curve);
        let k = curve.nonce(private, message);
        self.scalar("the nonce", &k, curve);
        let (order, number) = (curve.order(), BigUint::from_bytes_be(private));
        let signature = curve.sign(private, message).expect("a good key");
        let r = BigUint::from_bytes_be(&signature[..curve.coordinate_bytes()]);
        let bits = if curve == Curve::P256 { 256 } else { 192 };
        self.number("r d", &(r * number % &order), &order, bits);
        let seed = match curve {
            Curve::P256 => {
                use sha2::Digest;
                let hash = BigUint::from_bytes_be(&sha2::Sha256::digest(message)) % &order;
                let digits = hash.to_bytes_be();
                [private, &vec![0; 32 - digits.len()], &digits].concat()
            }
            Curve::Secp160r1 => {
                use sha1::Digest;
                [private, &[0], &sha1::Sha1::digest(message)].concat()
            }
        };
        match curve {
            Curve::P256 => self.nonce_states(HmacDrbg::<hmac::Hmac<sha2::Sha256>>::new(&seed), 32),
            Curve::Secp160r1 => self.nonce_states(HmacDrbg::<hmac::Hmac<sha1::Sha1>>::new(&seed), 29),
        }
    }

    fn nonce_states<M: hmac::Mac + hmac::digest::KeyInit>(&mut self, mut drbg: HmacDrbg<M>, bytes: usize) {
        self.state("the nonce's generator", drbg.state());
        let drawn = drbg.draw(bytes);
        self.bytes("what the nonce is made of", &drawn);
        self.state("the nonce's generator at the end", drbg.state());
    }

    fn sealed(&mut self, sealed: &Sealed) {
        self.scalar("the ephemeral key", &sealed.ephemeral, Curve::P256);
        self.opened(sealed);
    }

    fn opened(&mut self, sealed: &Sealed) {
        self.shared(&sealed.shared);
        self.bytes("the derived keys", &sealed.keys);
        self.aes_key("the encryption key", &sealed.keys[..16]);
        self.mac_key("the authentication key", &sealed.keys[16..]);
    }

    /// Noise of ML-KEM-512, the first polynomials of which, with eta = 3, are transformed: the bytes that it is sampled from, and what the
    /// transform makes, as residues from 0 and around 0.
    fn noise(&mut self, seed: &[u8], polynomials: u8) {
        self.bytes("the noise's seed", seed);
        for number in 0..polynomials {
            let sampled = noise::sampled_bytes(seed, number);
            self.bytes("what noise is sampled from", &sampled);
            if number < 2 {
                self.transformed(&noise::transformed(&sampled));
            }
        }
    }

    fn transformed(&mut self, residues: &[i16]) {
        let centred = |&residue: &i16| if residue > noise::Q / 2 { residue - noise::Q } else { residue };
        for form in [residues.to_vec(), residues.iter().map(centred).collect()] {
            self.bytes(
                "noise, transformed",
                &form.into_iter().flat_map(i16::to_le_bytes).collect::<Vec<u8>>(),
            );
        }
        self.bytes("noise, encoded", &noise::encoded(residues));
    }

    /// Every find in a memory that begins at `start`: what it is and where.
    fn find(&self, start: u32, memory: &[u8]) -> Vec<(u32, &str)> {
        let mut found: Vec<(u32, &str)> = Vec::new();
        for (offset, window) in memory.windows(WINDOW).enumerate() {
            let window: &[u8; WINDOW] = window.try_into().expect("of that length");
            if let Some(name) = self.windows.get(window) {
                let address = start + offset as u32;
                // A longer piece is one find.
                if found.last().is_none_or(|(last, what)| what != name || address - last > 64) {
                    found.push((address, name));
                }
            }
        }
        found
    }
}

const OPERATIONS: [&str; 18] = [
    "drbg-generate",
    "x25519-ecdh",
    "ed25519-keygen",
    "ed25519-sign",
    "p256-keygen",
    "p256-ecdh",
    "ecdsa-p256-sign",
    "secp160r1-keygen",
    "secp160r1-ecdh",
    "ecdsa-secp160r1-sign",
    "ecies-seal",
    "ecies-seal-compressed",
    "ecies-open",
    "ecies-open-compressed",
    "ecies-ecdsa-seal",
    "ecies-ecdsa-open",
    "ecdh-aes128-encrypt",
    "ecdh-aes128-encrypt-raw",
];

/// Those of a target that has room for them.
const ML_KEM: [&str; 6] = [
    "ml-kem-512-keygen",
    "ml-kem-512-encapsulate",
    "ml-kem-512-decapsulate",
    "ml-kem-512-keygen-pieces",
    "ml-kem-512-encapsulate-pieces",
    "ml-kem-512-decapsulate-pieces",
];

/// Those of a target that has room for them, too.
const ML_DSA: [&str; 4] = ["ml-dsa-44-keygen", "ml-dsa-44-sign", "ml-dsa-65-keygen", "ml-dsa-65-sign"];

/// Those of a target that has room for them, too.
const HYBRID: [&str; 6] = [
    "p256-ml-kem-512-keygen",
    "p256-ml-kem-512-respond",
    "p256-ml-kem-512-agree",
    "x25519-ml-kem-512-keygen",
    "x25519-ml-kem-512-respond",
    "x25519-ml-kem-512-agree",
];

/// A run of one of the hybrid agreement.
fn hybrid_run(operation: &str, rng: &mut StdRng) -> (Case, Secrets) {
    let mut secrets = Secrets::default();
    let (own, other) = (random(SEED_BYTES, rng), random(SEED_BYTES, rng));
    let (salt, info) = (random(32, rng), random(16, rng));
    let good = "good keys";
    let pair = if operation.starts_with("p256-") { Pair::P256MlKem512 } else { Pair::X25519MlKem512 };
    // Of X25519 the bytes that are clamped at both ends are left out.
    let scalar = |secrets: &mut Secrets, what: &str, bytes: &[u8]| match pair {
        Pair::P256MlKem512 => secrets.scalar(what, bytes, Curve::P256),
        _ => secrets.bytes(what, &bytes[1..31]),
    };
    if operation.ends_with("-keygen") {
        let (private_key, seeds) = hybrid::keys(pair, &own).expect(good);
        secrets.generator(&own, 40);
        scalar(&mut secrets, "the private key", &private_key[..32]);
        secrets.bytes("d and z", &seeds);
        secrets.noise(&noise::seeds(&[&seeds[..32], &[2]])[32..], 4);
        return (hybrid::keygen_case(own, private_key), secrets);
    }
    let responds = operation.ends_with("-respond");
    let seeds = if responds { [&*other, &own] } else { [&*own, &other] };
    let made = hybrid::agreement(pair, seeds, &salt, &info).expect(good);
    if pair == Pair::P256MlKem512 {
        secrets.shared(&made.secrets[..32]);
        secrets.bytes("T", &made.secrets[32..]);
    } else {
        secrets.bytes("T || Z", &made.secrets);
    }
    secrets.mac_key("the key-derivation key", &hybrid::extracted(&made.secrets, &salt));
    secrets.mac_key("the salt", &salt);
    secrets.bytes("the key", &made.key);
    secrets.bytes("m", &made.m);
    secrets.noise(&noise::seeds(&[&made.m, &noise::hash(&made.offer[64..])])[32..], 5);
    let case = if responds {
        secrets.generator(&own, 40);
        scalar(&mut secrets, "the ephemeral key", &made.ephemeral);
        hybrid::respond_case(&made, &own, &salt, info)
    } else {
        scalar(&mut secrets, "the private key", &made.private_key[..32]);
        hybrid::agree_case(&made, &salt, info)
    };
    (case, secrets)
}

/// A run of one of ML-KEM.
fn ml_kem_run(operation: &str, rng: &mut StdRng) -> (Case, Secrets) {
    let mut secrets = Secrets::default();
    let mut seed = || -> [u8; 32] { random(32, rng).try_into().expect("32 bytes") };
    let (d, z, m) = (seed(), seed(), seed());
    let (public, private) = ml_kem_512::KG::keygen_from_seed(d, z);
    let (shared, ciphertext) = public.encaps_from_seed(&m);
    let (public, private) = (public.into_bytes().to_vec(), private.into_bytes().to_vec());
    let (shared, ciphertext) = (shared.into_bytes().to_vec(), ciphertext.into_bytes().to_vec());
    // Algorithms 13 and 17, and s, which keys are made of.
    let sigma = noise::seeds(&[&d[..], &[2]])[32..].to_vec();
    let r = noise::seeds(&[&m[..], &noise::hash(&public)])[32..].to_vec();
    let key = [d, z].concat();
    if operation.starts_with("ml-kem-512-keygen") {
        secrets.bytes("d", &d);
        secrets.bytes("z", &z);
        secrets.noise(&sigma, 4);
        let case = match operation {
            "ml-kem-512-keygen-pieces" => ml_kem::keygen_pieces_case(key, &public),
            _ => ml_kem::keygen_case(key, &public, &private),
        };
        return (case, secrets);
    }
    secrets.bytes("m", &m);
    secrets.bytes("the shared secret", &shared);
    secrets.noise(&r, 5);
    let case = match operation {
        "ml-kem-512-encapsulate" => ml_kem::encapsulation_case(public, m.to_vec(), &ciphertext, &shared),
        "ml-kem-512-encapsulate-pieces" => {
            ml_kem::encapsulation_pieces_case(public, m.to_vec(), Some((&ciphertext, &shared)))
        }
        _ => {
            secrets.bytes("z", &z);
            (0..2).for_each(|number| {
                secrets.transformed(&noise::transformed(&noise::sampled_bytes(&sigma, number)));
            });
            if operation == "ml-kem-512-decapsulate-pieces" {
                secrets.bytes("d", &d);
                secrets.noise(&sigma, 2);
                ml_kem::decapsulation_pieces_case(key, &public, &ciphertext, Some(shared))
            } else {
                ml_kem::decapsulation_case(private, ciphertext, shared)
            }
        }
    };
    (case, secrets)
}

/// A private key that looks random in all its forms.
fn private_key(curve: Curve, rng: &mut StdRng) -> Vec<u8> {
    curve.generate(&mut Drbg::new(&random(SEED_BYTES, rng)))
}

/// A run of an operation, and what must be gone afterwards.
fn run_of(operation: &str, rng: &mut StdRng) -> (Case, Secrets) {
    let mut secrets = Secrets::default();
    let (message, seed) = (random(16, rng), random(SEED_BYTES, rng));
    let good = "a good key";
    let p256 = Curve::P256;
    let case = match operation {
        "drbg-generate" => {
            secrets.generator(&seed, 32);
            let output = Drbg::new(&seed).generate(32);
            // What it gave is the caller's, so what was drawn may stay with the caller alone.
            Case {
                inputs: vec![("key", seed), ("message", vec![0; 32])],
                outputs: vec![("output", output)],
                result: Some(0),
                ..Case::default()
            }
        }
        "p256-keygen" | "secp160r1-keygen" => {
            let curve = Curve::named(operation.split('-').next().expect("a name")).expect("a curve");
            secrets.generator(&seed, curve.private_bytes() + 8);
            secrets.scalar("the private key", &curve.generate(&mut Drbg::new(&seed)), curve);
            generation_case(curve, &seed).expect(good)
        }
        "p256-ecdh" | "secp160r1-ecdh" => {
            let curve = Curve::named(operation.split('-').next().expect("a name")).expect("a curve");
            let (private, peer) = (private_key(curve, rng), private_key(curve, rng));
            let public = curve.public(&peer).expect(good);
            secrets.scalar("the private key", &private, curve);
            secrets.shared(&curve.shared(&private, &public).expect(good));
            agreement_case(curve, &private, &public).expect(good)
        }
        "x25519-ecdh" => {
            let (private, peer) = (random(32, rng), random(32, rng));
            let case = x25519_case(&private, &peer).expect(good);
            secrets.bytes("the private key", &private[1..31]);
            secrets.bytes("what is shared", &case.outputs[0].1);
            case
        }
        "ed25519-keygen" | "ed25519-sign" => {
            let seed = random(32, rng);
            let order = (BigUint::from(1u8) << 252) + 27_742_317_777_372_353_535_851_937_790_883_648_493_u128;
            let scalar = |secrets: &mut Secrets, name: &str, bytes: &[u8]| {
                let number = BigUint::from_bytes_le(bytes) % &order;
                secrets.bytes(name, bytes);
                secrets.number(name, &number, &order, 256);
                secrets.bytes(&format!("L + {name}"), &(number + &order).to_bytes_be());
            };
            // RFC 8032 section 5.1.5.
            let mut hash = Sha512::digest(&seed).to_vec();
            hash[0] &= 248;
            hash[31] = hash[31] & 127 | 64;
            secrets.bytes("the seed", &seed);
            secrets.bytes("the prefix", &hash[32..]);
            scalar(&mut secrets, "the private scalar", &hash[..32]);
            if operation == "ed25519-keygen" {
                ed25519::keygen_case(&seed).expect(good)
            } else {
                scalar(&mut secrets, "the nonce", &Sha512::digest([&hash[32..], &message].concat()));
                ed25519::signing_case(&seed, message).expect(good)
            }
        }
        "ecdsa-p256-sign" | "ecdsa-secp160r1-sign" => {
            let curve = Curve::named(operation.split('-').nth(1).expect("a name")).expect("a curve");
            let private = private_key(curve, rng);
            secrets.signature(curve, &private, &message);
            signing_case(curve, &private, message).expect(good)
        }
        "ecdh-aes128-encrypt" | "ecdh-aes128-encrypt-raw" => {
            let (private, peer) = (private_key(p256, rng), private_key(p256, rng));
            let public = p256.public(&peer).expect(good);
            let shared = p256.shared(&private, &public).expect(good);
            let key =
                if operation.ends_with("-raw") { shared[..16].to_vec() } else { x963_kdf(&shared, &[], 16) };
            secrets.scalar("the private key", &private, p256);
            secrets.shared(&shared);
            secrets.aes_key("the encryption key", &key);
            let block = block_case(&key, lab::operations::Key::Raw, message.clone(), true);
            Case {
                inputs: vec![("key", [private, public].concat()), ("message", message)],
                outputs: block.outputs,
                result: Some(0),
                ..Case::default()
            }
        }
        _ => {
            let (name, compress) =
                operation.strip_suffix("-compressed").map_or((operation, false), |name| (name, true));
            let (recipient, sender) = (private_key(p256, rng), private_key(p256, rng));
            let (to, from) = (p256.public(&recipient).expect(good), p256.public(&sender).expect(good));
            let signed = name.contains("ecdsa");
            let end = if signed { Seal::Signature(&sender) } else { Seal::Mac };
            let info = if signed { random(16, rng) } else { Vec::new() };
            let sealed = seal(&seed, &to, compress, end, &info, &message).expect(good);
            let packet = sealed.packet.clone();
            let (key, input, output) = if name.ends_with("open") {
                secrets.scalar("the private key", &recipient, p256);
                secrets.opened(&sealed);
                (if signed { [recipient, from].concat() } else { recipient.clone() }, packet, message)
            } else {
                secrets.generator(&seed, 40);
                secrets.sealed(&sealed);
                if signed {
                    secrets.signature(p256, &sender, &sealed.signed);
                }
                let sender = if signed { sender.clone() } else { Vec::new() };
                ([to, sender, seed].concat(), message, packet)
            };
            Case {
                inputs: vec![("key", key), ("aad", info), ("message", input)],
                outputs: vec![("output", output)],
                result: Some(0),
                ..Case::default()
            }
        }
    };
    (case, secrets)
}

/// All RAM of the machine, what the bench's variables hold blotted out.
fn memories(bench: &mut Bench<'_>, target: &Target, firmware: &Firmware) -> Vec<(u32, Vec<u8>)> {
    let blots: Vec<(u32, u32)> = firmware
        .symbols()
        .iter()
        .filter(|(name, symbol)| name.starts_with("ws_bench_") && symbol.size > 0)
        .map(|(_, symbol)| (symbol.address, symbol.size))
        .collect();
    let ram = target.part.memories.iter();
    ram.filter(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
        .map(|memory| {
            let mut bytes = vec![0; memory.size as usize];
            assert!(bench.machine().peek(memory.start, &mut bytes), "{} can be read", memory.name);
            for (address, size) in &blots {
                for address in *address..address + size {
                    if let Some(byte) = bytes.get_mut(address.wrapping_sub(memory.start) as usize) {
                        *byte = 0;
                    }
                }
            }
            (memory.start, bytes)
        })
        .collect()
}

fn check(target: &str) {
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(target).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut operations = catalogue.built_as(&target, "fast").expect("the target's sets");
    let of = |names: &[&str], operation: &Operation| names.contains(&operation.name.as_str());
    let here = |names: &[&str]| operations.iter().filter(|operation| of(names, operation)).count();
    assert_eq!(here(&OPERATIONS), OPERATIONS.len(), "{} has the operations", target.name());
    assert_ne!(here(&ML_KEM), 0, "{} has some of ML-KEM", target.name());
    operations.retain(|operation| {
        let sets: [&[&str]; 4] = [&OPERATIONS, &ML_KEM, &ML_DSA, &HYBRID];
        sets.iter().any(|names| of(names, operation))
    });
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    let build = firmware::build(&workspace.source(&target, &point).expect("a toolchain"), "fast", &names)
        .expect("the firmware builds");
    let mut left = Vec::new();
    for operation in &operations {
        let firmware = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
        let mut bench =
            Bench::start(&target, &firmware, operation, point.clock_hz, CYCLES).expect("start-up ends");
        let name = operation.name.as_str();
        let (case, secrets) = if ML_KEM.contains(&name) {
            ml_kem_run(name, &mut rng)
        } else if HYBRID.contains(&name) {
            hybrid_run(name, &mut rng)
        } else if ML_DSA.contains(&name) {
            ml_dsa::run(name, &mut rng)
        } else {
            run_of(name, &mut rng)
        };
        let what = format!("{} {}", target.name(), operation.name);
        assert!(bench.measure(&case).expect("it returns").verified, "{what}");
        for (start, memory) in memories(&mut bench, &target, &firmware) {
            left.extend(secrets.find(start, &memory).iter().map(|(address, name)| {
                let place = firmware.object_at(*address).unwrap_or("the stack".into());
                format!("{what}: {name} at {address:#x}, {place}")
            }));
        }
        // A piece of a secret that somebody forgets far from the stack is found.
        let (start, size) = (target.part.memories.iter())
            .find(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
            .map(|memory| (memory.start, memory.size))
            .expect("it has RAM");
        let planted = start + size / 4 * 3 + 3;
        let piece = secrets.windows.keys().next().expect("it has secrets");
        assert!(bench.machine().poke(planted, piece));
        let finds = memories(&mut bench, &target, &firmware).iter().any(|(start, memory)| {
            secrets.find(*start, memory).iter().any(|(at, _)| at.abs_diff(planted) <= 64)
        });
        assert!(finds, "{what}: what was planted is found");
    }
    assert!(left.is_empty(), "left in RAM:\n{}", left.join("\n"));
}

macro_rules! targets {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )* };
}

targets! { atmega328p atmega128l msp430f5438a stm32f051 stm32f100 stm32f407 stm32f767 }
